-- The three roles of a cluster. Run as a superuser; safe to run again.
-- Passwords come in as settings of the session (xqmj.owner_password and so on), so that the same
-- file serves the embedded server, tests, and a container's first start.
DO $$
DECLARE
    who text;
BEGIN
    FOREACH who IN ARRAY ARRAY['owner', 'app', 'auditor'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'xqmj_' || who) THEN
            EXECUTE format('CREATE ROLE %I', 'xqmj_' || who);
        END IF;
        EXECUTE format(
            'ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD %L',
            'xqmj_' || who,
            current_setting('xqmj.' || who || '_password')
        );
    END LOOP;
END
$$;
