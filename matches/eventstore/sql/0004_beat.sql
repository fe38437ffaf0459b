-- A beat says that players can move, so it proves that an append would not wait for a table.
-- Released: never edited again. A change is a file with the next number and a migration that runs it.

CREATE OR REPLACE FUNCTION es.beat(p_threshold_ms bigint, OUT now_ms bigint)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_alive_ms bigint;
BEGIN
    -- The locks of an append, at once or not at all: nobody can move while they are not to be had.
    LOCK TABLE es.match_head, es.match_event, es.match_seat IN ROW EXCLUSIVE MODE NOWAIT;
    SELECT b.alive_ms INTO v_alive_ms FROM es.heartbeat b FOR UPDATE;
    IF NOT FOUND THEN
        now_ms := es.now_ms();
        INSERT INTO es.heartbeat (alive_ms) VALUES (now_ms) ON CONFLICT DO NOTHING;
        RETURN;
    END IF;
    now_ms := greatest(es.now_ms(), v_alive_ms);
    IF now_ms - v_alive_ms > p_threshold_ms THEN
        INSERT INTO es.service_gap (from_ms, until_ms) VALUES (v_alive_ms, now_ms);
    ELSE
        -- The only commit that may be lost in a crash: then the gap is a little longer. Whatever
        -- was decided by this beat was flushed after it, and it with that.
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    UPDATE es.heartbeat b SET alive_ms = now_ms;
END $$;
