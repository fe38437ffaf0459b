-- The only ways into the log, and the one trip that reads a match.
-- Released: never edited again. A change is a file with the next number and a migration that runs it.
--
-- All run as the owner (SECURITY DEFINER) under a fixed search_path and name every object in full.
-- An outcome is a value, never an exception: ok, replayed, stale, closed, unknown, key_reused.

CREATE FUNCTION es.now_ms() RETURNS bigint
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- The place of a transaction in the order of commits that goes on over restores.
CREATE FUNCTION es.order_of(p_xid xid8) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT c.base FROM es.commit_order c) + p_xid::text::bigint;

-- Append p_count events to a live match whose version and head hash are as expected.
--
-- p_rows is one JSON document, [{kind, v, actor, at_ms, payload, hash, command_id, fingerprint,
-- effects}, ...], hashes in hex; payloads keep their very bytes. p_hash and p_at_ms are those of
-- the last row. p_taken is [{seat, player}, ...] or null. With a p_status other than 1 the match
-- ends, and reason, winner and scores are how.
--
-- The UPDATE is the whole concurrency check: a loser waits for the row, then sees the new version.
-- The command is looked for before it (a retry may come with a refreshed version) and after it (two
-- retries may race). version: of the match after "ok", of the command's first event when "replayed".
CREATE FUNCTION es.append_events(
    p_match_id uuid, p_expected integer, p_prev_hash bytea,
    p_rows json, p_count integer, p_hash bytea, p_at_ms bigint, p_command_id uuid,
    p_status smallint, p_due_at_ms bigint, p_due_is_deadline boolean,
    p_taken json, p_reason text, p_winner smallint, p_scores integer[],
    OUT outcome text, OUT version integer
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_created_at_ms bigint;
    v_inserted integer;
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
    UPDATE es.match_head h
       SET version = p_expected + p_count, at_ms = p_at_ms, head_hash = p_hash,
           status = p_status, due_at_ms = p_due_at_ms, due_is_deadline = p_due_is_deadline,
           ended_at_ms = CASE WHEN p_status <> 1 THEN p_at_ms END,
           ended_order = CASE WHEN p_status <> 1 THEN es.order_of(pg_current_xact_id()) END,
           reason = p_reason, winner = p_winner, scores = p_scores
     WHERE h.match_id = p_match_id AND h.version = p_expected AND h.head_hash = p_prev_hash
       AND h.status = 1
    RETURNING h.version, h.created_at_ms INTO version, v_created_at_ms;
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
        outcome := 'ok';
        RETURN;
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

-- Create a match with its first events. p_creator and p_command_id name the request: its retry
-- gets the match it made ("replayed"), another request under the same name "key_reused". So does
-- a retry without a name under the same match_id.
CREATE FUNCTION es.create_match(
    p_match_id uuid, p_creator uuid, p_command_id uuid, p_fingerprint bigint,
    p_ruleset text, p_rules_version integer, p_control text, p_rated boolean,
    p_rows json, p_count integer, p_hash bytea, p_at_ms bigint,
    p_due_at_ms bigint, p_due_is_deadline boolean, p_seats json,
    OUT outcome text, OUT match_id uuid
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_genesis CONSTANT bytea := '\x0000000000000000000000000000000000000000000000000000000000000000';
    v_fingerprint bigint;
BEGIN
    IF p_command_id IS NOT NULL THEN
        INSERT INTO es.match_creation (creator, command_id, fingerprint, match_id)
        VALUES (p_creator, p_command_id, p_fingerprint, p_match_id)
        ON CONFLICT (creator, command_id) DO NOTHING;
        IF NOT FOUND THEN
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
        outcome := 'replayed';
        RETURN;
    END IF;
    SELECT a.outcome INTO STRICT outcome
      FROM es.append_events(
               p_match_id, 0, v_genesis, p_rows, p_count, p_hash, p_at_ms, NULL,
               1::smallint, p_due_at_ms, p_due_is_deadline, p_seats, NULL, NULL, NULL) a;
END $$;

-- Everything a command needs, in one trip and one snapshot: the head, the clock, the heartbeat, the
-- gaps in service since the newest event, and the events after p_after as one JSON array of
-- [seq, kind, v, payload, actor, command_id, fingerprint, effects, at_ms, hash], hashes in base64.
-- An unknown match has no version. hash_at is the hash of event p_after: that of another history
-- than the caller's shows that his is not true any more.
CREATE FUNCTION es.load_match(
    p_match_id uuid, p_after integer,
    OUT ruleset text, OUT rules_version integer, OUT version integer, OUT status smallint,
    OUT due_at_ms bigint, OUT head_hash bytea, OUT now_ms bigint, OUT alive_ms bigint,
    OUT hash_at bytea, OUT gaps bigint[], OUT events text
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_at_ms bigint;
BEGIN
    SELECT h.ruleset, h.rules_version, h.version, h.status, h.due_at_ms, h.head_hash, h.at_ms,
           (SELECT b.alive_ms FROM es.heartbeat b)
      INTO ruleset, rules_version, version, status, due_at_ms, head_hash, v_at_ms, alive_ms
      FROM es.match_head h WHERE h.match_id = p_match_id;
    now_ms := es.now_ms();
    IF version IS NULL THEN
        RETURN;
    END IF;
    IF status = 1 THEN
        SELECT array_agg(ARRAY[g.from_ms, g.until_ms] ORDER BY g.until_ms) INTO gaps
          FROM es.service_gap g WHERE g.until_ms > v_at_ms;
    END IF;
    IF p_after = version THEN
        hash_at := head_hash;
        RETURN;
    END IF;
    IF p_after > 0 THEN
        SELECT e.hash INTO hash_at FROM es.match_event e
         WHERE e.match_id = p_match_id AND e.seq = p_after;
    END IF;
    SELECT '[' || string_agg(format(
               '[%s,"%s",%s,%s,%s,%s,%s,%s,%s,"%s"]', e.seq, e.kind, e.v, e.payload,
               coalesce(e.actor::text, 'null'), coalesce('"' || e.command_id || '"', 'null'),
               coalesce(e.fingerprint::text, 'null'), coalesce(e.effects::text, 'null'),
               e.at_ms, encode(e.hash, 'base64')), ',' ORDER BY e.seq) || ']'
      INTO events
      FROM es.match_event e
     WHERE e.match_id = p_match_id AND e.seq > p_after AND e.seq <= version;
END $$;

-- Say that players can reach the service now. If nobody has said so for longer than p_threshold_ms,
-- the time between is recorded as a gap, for ever, and no clock has run in it.
CREATE FUNCTION es.beat(p_threshold_ms bigint, OUT now_ms bigint)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_alive_ms bigint;
BEGIN
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

-- Matches whose table has something to do, longest due first. A deadline waits until the service
-- has been reachable up to it: p_grace_ms is what due_at_ms allows for beyond the deadline itself.
-- Rows that an append holds are skipped; the locks end with the call, appending decides who acts.
CREATE FUNCTION es.due_matches(
    p_limit integer, p_exclude uuid[], p_grace_ms bigint,
    OUT now_ms bigint, OUT match_ids uuid[], OUT dues_ms bigint[]
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_alive_ms bigint;
BEGIN
    SELECT b.alive_ms INTO v_alive_ms FROM es.heartbeat b;
    now_ms := es.now_ms();
    WITH due AS (
        SELECT h.match_id, h.due_at_ms FROM es.match_head h
         WHERE h.status = 1 AND h.due_at_ms <= now_ms
           AND (NOT h.due_is_deadline OR h.due_at_ms - p_grace_ms <= v_alive_ms)
           AND h.match_id <> ALL (p_exclude)
         ORDER BY h.due_at_ms LIMIT p_limit
           FOR UPDATE SKIP LOCKED
    )
    SELECT array_agg(d.match_id ORDER BY d.due_at_ms), array_agg(d.due_at_ms ORDER BY d.due_at_ms)
      INTO match_ids, dues_ms FROM due d;
END $$;

-- After a dump was loaded into another cluster: let its transactions come after all of the old ones.
-- Without effect where they do already. For the owner, before anything is served.
CREATE FUNCTION es.go_on_in_order() RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_next bigint := es.order_of(pg_snapshot_xmax(pg_current_snapshot()));
    v_newest bigint;
BEGIN
    SELECT max(h.ended_order) INTO v_newest FROM es.match_head h WHERE h.ended_order IS NOT NULL;
    IF v_newest >= v_next THEN
        UPDATE es.commit_order c SET base = c.base + v_newest - v_next + 1;
    END IF;
END $$;
