-- One live rated match a player, whoever asks and however many at a time: held by a key.
-- Released: never edited again. A change is a file with the next number and a migration that runs it.
--
-- append_events and create_match take the seats before they touch a head, in the order of players,
-- and give them back with the end: so no two of them wait for each other. Another outcome of both:
-- busy, a player sits in another live rated match; nothing was done.

-- Without a reference to es.match_head: that would lock it while this runs.
CREATE TABLE es.rated_seat (
    player uuid PRIMARY KEY,
    match_id uuid NOT NULL
) WITH (fillfactor = 70);

-- How many of the players now sit in the match who did not before; null, and nothing changed, where
-- one of them sits in another.
CREATE FUNCTION es.take_rated_seats(p_match_id uuid, p_seats json) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_taken integer;
    v_held integer;
BEGIN
    INSERT INTO es.rated_seat (player, match_id)
    SELECT t.player, p_match_id FROM json_to_recordset(p_seats) AS t (player uuid)
     ORDER BY t.player
    ON CONFLICT (player) DO NOTHING;
    GET DIAGNOSTICS v_taken = ROW_COUNT;
    SELECT count(*) INTO v_held FROM es.rated_seat r
     WHERE r.match_id = p_match_id
       AND r.player IN (SELECT t.player FROM json_to_recordset(p_seats) AS t (player uuid));
    -- Whoever is missing was held by another match when the seats were to be taken.
    IF v_held < json_array_length(p_seats) THEN
        PERFORM es.leave_rated_seats(p_match_id, p_seats);
        RETURN NULL;
    END IF;
    RETURN v_taken;
END $$;

-- Undo take_rated_seats, by whoever took them in this transaction.
CREATE FUNCTION es.leave_rated_seats(p_match_id uuid, p_seats json) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM es.rated_seat r
     WHERE r.match_id = p_match_id
       AND r.player IN (SELECT t.player FROM json_to_recordset(p_seats) AS t (player uuid));
END $$;

-- Whether create_match has made a match for this request, or under this id.
CREATE FUNCTION es.was_created(p_match_id uuid, p_creator uuid, p_command_id uuid) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN EXISTS (SELECT FROM es.match_head h WHERE h.match_id = p_match_id) OR EXISTS (
        SELECT FROM es.match_creation c WHERE c.creator = p_creator AND c.command_id = p_command_id
    );
END $$;

-- As in 0002, and the seats with it.
CREATE OR REPLACE FUNCTION es.append_events(
    p_match_id uuid, p_expected integer, p_prev_hash bytea,
    p_rows json, p_count integer, p_hash bytea, p_at_ms bigint, p_command_id uuid,
    p_status smallint, p_due_at_ms bigint, p_due_is_deadline boolean,
    p_taken json, p_reason text, p_winner smallint, p_scores integer[],
    OUT outcome text, OUT version integer
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_created_at_ms bigint;
    v_inserted integer;
    v_rated boolean;
    v_seated integer := 0;
    v_status smallint;
BEGIN
    IF p_command_id IS NOT NULL THEN
        SELECT e.seq INTO version FROM es.match_event e
         WHERE e.match_id = p_match_id AND e.command_id = p_command_id;
        IF FOUND THEN
            outcome := 'replayed';
            RETURN;
        END IF;
    END IF;
    IF p_taken IS NOT NULL AND EXISTS (
        SELECT FROM es.match_head h WHERE h.match_id = p_match_id AND h.rated
    ) THEN
        v_seated := es.take_rated_seats(p_match_id, p_taken);
        IF v_seated IS NULL THEN
            outcome := 'busy';
            RETURN;
        END IF;
    END IF;
    UPDATE es.match_head h
       SET version = p_expected + p_count, at_ms = p_at_ms, head_hash = p_hash,
           status = p_status, due_at_ms = p_due_at_ms, due_is_deadline = p_due_is_deadline,
           ended_at_ms = CASE WHEN p_status <> 1 THEN p_at_ms END,
           ended_order = CASE WHEN p_status <> 1 THEN es.order_of(pg_current_xact_id()) END,
           reason = p_reason, winner = p_winner, scores = p_scores
     WHERE h.match_id = p_match_id AND h.version = p_expected AND h.head_hash = p_prev_hash
       AND h.status = 1
    RETURNING h.version, h.created_at_ms, h.rated INTO version, v_created_at_ms, v_rated;
    IF FOUND THEN
        INSERT INTO es.match_event (match_id, seq, kind, v, actor, at_ms, payload, hash,
                                    command_id, fingerprint, effects)
        SELECT p_match_id, p_expected + r.n, r.kind, r.v, r.actor, r.at_ms, r.payload,
               decode(r.hash, 'hex'), r.command_id, r.fingerprint, r.effects
          FROM ROWS FROM (json_to_recordset(p_rows) AS (
                   kind text, v smallint, actor smallint, at_ms bigint, payload json, hash text,
                   command_id uuid, fingerprint bigint, effects smallint
               )) WITH ORDINALITY AS r (kind, v, actor, at_ms, payload, hash,
                                        command_id, fingerprint, effects, n);
        GET DIAGNOSTICS v_inserted = ROW_COUNT;
        IF v_inserted <> p_count THEN
            RAISE EXCEPTION '% rows where % were announced', v_inserted, p_count;
        END IF;
        IF p_taken IS NOT NULL THEN
            INSERT INTO es.match_seat (match_id, seat, player, created_at_ms)
            SELECT p_match_id, t.seat, t.player, v_created_at_ms
              FROM json_to_recordset(p_taken) AS t (seat smallint, player uuid);
        END IF;
        IF v_rated AND p_status <> 1 THEN
            -- By player: each has one row, and whoever sat before there were any may have another's.
            DELETE FROM es.rated_seat r USING es.match_seat s
             WHERE s.match_id = p_match_id AND r.player = s.player AND r.match_id = p_match_id;
        END IF;
        outcome := 'ok';
        RETURN;
    END IF;
    IF v_seated > 0 THEN
        PERFORM es.leave_rated_seats(p_match_id, p_taken);
    END IF;
    IF p_command_id IS NOT NULL THEN
        SELECT e.seq INTO version FROM es.match_event e
         WHERE e.match_id = p_match_id AND e.command_id = p_command_id;
        IF FOUND THEN
            outcome := 'replayed';
            RETURN;
        END IF;
    END IF;
    SELECT h.version, h.status INTO version, v_status
      FROM es.match_head h WHERE h.match_id = p_match_id;
    outcome := CASE WHEN version IS NULL THEN 'unknown'
                    WHEN v_status <> 1 THEN 'closed'
                    ELSE 'stale' END;
END $$;

-- As in 0002, and the seats with it.
CREATE OR REPLACE FUNCTION es.create_match(
    p_match_id uuid, p_creator uuid, p_command_id uuid, p_fingerprint bigint,
    p_ruleset text, p_rules_version integer, p_control text, p_rated boolean,
    p_rows json, p_count integer, p_hash bytea, p_at_ms bigint,
    p_due_at_ms bigint, p_due_is_deadline boolean, p_seats json,
    OUT outcome text, OUT match_id uuid
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_genesis CONSTANT bytea := '\x0000000000000000000000000000000000000000000000000000000000000000';
    v_fingerprint bigint;
    v_seated integer := 0;
BEGIN
    -- A request that made a match finds it, whoever is busy by now.
    IF p_rated AND NOT es.was_created(p_match_id, p_creator, p_command_id) THEN
        v_seated := es.take_rated_seats(p_match_id, p_seats);
        -- Looked for again: its twin may have been faster, and be what the players are busy with.
        IF v_seated IS NULL AND NOT es.was_created(p_match_id, p_creator, p_command_id) THEN
            match_id := p_match_id;
            outcome := 'busy';
            RETURN;
        END IF;
    END IF;
    IF p_command_id IS NOT NULL THEN
        INSERT INTO es.match_creation (creator, command_id, fingerprint, match_id)
        VALUES (p_creator, p_command_id, p_fingerprint, p_match_id)
        ON CONFLICT (creator, command_id) DO NOTHING;
        IF NOT FOUND THEN
            IF v_seated > 0 THEN
                PERFORM es.leave_rated_seats(p_match_id, p_seats);
            END IF;
            SELECT c.match_id, c.fingerprint INTO match_id, v_fingerprint
              FROM es.match_creation c
             WHERE c.creator = p_creator AND c.command_id = p_command_id;
            outcome := CASE WHEN v_fingerprint = p_fingerprint THEN 'replayed' ELSE 'key_reused' END;
            RETURN;
        END IF;
    END IF;
    match_id := p_match_id;
    INSERT INTO es.match_head (match_id, version, head_hash, created_at_ms, at_ms,
                               ruleset, rules_version, control, rated)
    VALUES (p_match_id, 0, v_genesis, p_at_ms, p_at_ms,
            p_ruleset, p_rules_version, p_control, p_rated)
    ON CONFLICT ON CONSTRAINT match_head_pkey DO NOTHING;
    IF NOT FOUND THEN
        IF v_seated > 0 THEN
            PERFORM es.leave_rated_seats(p_match_id, p_seats);
        END IF;
        outcome := 'replayed';
        RETURN;
    END IF;
    SELECT a.outcome INTO STRICT outcome
      FROM es.append_events(
               p_match_id, 0, v_genesis, p_rows, p_count, p_hash, p_at_ms, NULL,
               1::smallint, p_due_at_ms, p_due_is_deadline, p_seats, NULL, NULL, NULL) a;
END $$;
