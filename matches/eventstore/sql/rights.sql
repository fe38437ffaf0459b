-- Who may do what. Run after every migrate, as the owner: a role made later gets its rights then.
-- The settings xqmj.app_role and xqmj.auditor_role name the roles; one that is missing is left out.
--
-- The app reads the log and calls its functions, and nothing more. In the schema public it has the
-- ordinary rights on every table of ours, except that one with a trigger append_only_row is insert
-- and select only, and the record of migrations select only.
DO $$
DECLARE
    v_app text := current_setting('xqmj.app_role');
    v_auditor text := current_setting('xqmj.auditor_role');
    v_role text;
    v_table record;
BEGIN
    REVOKE ALL ON ALL TABLES IN SCHEMA es FROM PUBLIC;
    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA es FROM PUBLIC;
    FOREACH v_role IN ARRAY ARRAY[v_app, v_auditor] LOOP
        CONTINUE WHEN v_role = current_user
            OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = v_role);
        EXECUTE format('GRANT USAGE ON SCHEMA es TO %I', v_role);
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA es TO %I', v_role);
    END LOOP;
    IF v_app = current_user OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = v_app) THEN
        RETURN;
    END IF;
    EXECUTE format(
        'GRANT EXECUTE ON FUNCTION es.now_ms, es.order_of, es.append_events, es.create_match, es.load_match,'
        ' es.beat, es.due_matches TO %I', v_app);
    EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', v_app);
    FOR v_table IN
        SELECT c.oid, c.oid::regclass AS name,
               EXISTS (SELECT FROM pg_trigger t
                        WHERE t.tgrelid = c.oid AND t.tgname = 'append_only_row') AS append_only,
               c.relname = 'django_migrations' AS ours_to_write
          FROM pg_class c
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
           AND pg_has_role(c.relowner, 'MEMBER')
    LOOP
        -- A migration may have given less than this on purpose: only what has nothing gets it.
        IF NOT has_table_privilege(v_app, v_table.oid, 'SELECT') THEN
            EXECUTE format(
                'GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %I', v_table.name, v_app);
        END IF;
        IF v_table.append_only THEN
            EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %s FROM %I', v_table.name, v_app);
        ELSIF v_table.ours_to_write THEN
            EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON %s FROM %I', v_table.name, v_app);
        END IF;
    END LOOP;
    EXECUTE format('GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO %I', v_app);
END $$;
