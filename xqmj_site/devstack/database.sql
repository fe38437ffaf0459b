-- What the roles may do in one database. Run in it as a superuser; safe to run again.
-- Ordinary tables of the schema public are the app's to read and write. The log lives in a schema
-- of its own, where nothing is granted but by name: see the migrations.
DO $$
BEGIN
    EXECUTE format('ALTER DATABASE %I OWNER TO xqmj_owner', current_database());
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO xqmj_app, xqmj_auditor', current_database());
END
$$;
ALTER SCHEMA public OWNER TO xqmj_owner;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO xqmj_app, xqmj_auditor;
ALTER DEFAULT PRIVILEGES FOR ROLE xqmj_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO xqmj_app;
ALTER DEFAULT PRIVILEGES FOR ROLE xqmj_owner IN SCHEMA public
    GRANT USAGE, SELECT ON SEQUENCES TO xqmj_app;
