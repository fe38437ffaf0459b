-- The log: streams of events, their heads, and when the service could be reached.
-- Released: never edited again. A change is a file with the next number and a migration that runs it.
--
-- Columns stand in an order without padding: eight bytes, four, two, one, then the byte-aligned.
-- Every key of the two growing tables begins with match_id, a uuidv7: they can be partitioned by
-- range of it (by month) whenever that is worth it.

CREATE SCHEMA es;

-- One row a match: where its stream ends. It alone is ever updated, by append_events only.
CREATE TABLE es.match_head (
    created_at_ms bigint NOT NULL,
    at_ms bigint NOT NULL,                      -- the instant of the newest event
    due_at_ms bigint,                           -- when to look at it, grace included
    ended_at_ms bigint,
    ended_order bigint,                         -- its place in the order of commits, see below
    version integer NOT NULL,
    rules_version integer NOT NULL,
    status smallint NOT NULL DEFAULT 1,         -- 1 live, 2 finished, 3 aborted
    winner smallint,                            -- a seat; null: a draw, or aborted
    due_is_deadline boolean NOT NULL DEFAULT false,
    rated boolean NOT NULL,
    match_id uuid PRIMARY KEY,
    head_hash bytea NOT NULL CHECK (length(head_hash) = 32),
    ruleset text NOT NULL,
    control text NOT NULL,
    reason text,
    scores integer[],
    CONSTRAINT match_head_ended CHECK (
        status = 1 AND ended_order IS NULL
        OR status IN (2, 3) AND ended_order IS NOT NULL AND due_at_ms IS NULL
    )
) WITH (fillfactor = 70);

CREATE INDEX match_head_due ON es.match_head (due_at_ms)
    WHERE status = 1 AND due_at_ms IS NOT NULL;
CREATE INDEX match_head_rated ON es.match_head (ended_order, match_id)
    WHERE status = 2 AND rated;

-- Readers across matches follow the ids of transactions, as far as all of them have ended. Those
-- begin low again in a cluster that a dump was loaded into: base is added to them, so that the order
-- goes on where it was (docs/adr/0013).
CREATE TABLE es.commit_order (
    base bigint NOT NULL,
    one boolean PRIMARY KEY DEFAULT true CHECK (one)
);
INSERT INTO es.commit_order (base) VALUES (0);

-- payload is json, not jsonb: the very bytes that were hashed, and smaller (docs/adr/0013).
CREATE TABLE es.match_event (
    at_ms bigint NOT NULL,                      -- the event's own instant
    fingerprint bigint,                         -- of the command's request
    seq integer NOT NULL CHECK (seq > 0),
    v smallint NOT NULL CHECK (v > 0),
    actor smallint,                             -- a seat; null: the table
    effects smallint CHECK (effects > 0),       -- how many events the command caused
    match_id uuid NOT NULL,
    command_id uuid,                            -- on the first event that a command caused
    kind text NOT NULL CHECK (kind ~ '^[a-z0-9_.]+$'),
    payload json NOT NULL,
    hash bytea NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (match_id, seq)
);
CREATE UNIQUE INDEX match_event_command ON es.match_event (match_id, command_id)
    WHERE command_id IS NOT NULL;

-- Who sits where: written with the event that says so.
CREATE TABLE es.match_seat (
    created_at_ms bigint NOT NULL,              -- of the match: lists are ordered by it
    seat smallint NOT NULL CHECK (seat >= 0),
    match_id uuid NOT NULL REFERENCES es.match_head,
    player uuid NOT NULL,
    PRIMARY KEY (match_id, seat)
);
-- It also keeps a player from sitting twice: all seats of a match have one created_at_ms.
CREATE UNIQUE INDEX match_seat_player ON es.match_seat (player, created_at_ms, match_id);

-- The request that created a match, so that its retry finds the match.
CREATE TABLE es.match_creation (
    fingerprint bigint NOT NULL,
    creator uuid NOT NULL,
    command_id uuid NOT NULL,
    match_id uuid NOT NULL,
    PRIMARY KEY (creator, command_id)
);

-- When players could last reach the service, and the times in which they could not.
CREATE TABLE es.heartbeat (
    alive_ms bigint NOT NULL,
    one boolean PRIMARY KEY DEFAULT true CHECK (one)
) WITH (fillfactor = 10);
CREATE TABLE es.service_gap (
    from_ms bigint NOT NULL,
    until_ms bigint PRIMARY KEY,
    CHECK (from_ms < until_ms)
);

-- Append-only, whoever asks: rights keep the app out, these keep the owner out too.
CREATE FUNCTION es.refuse_change() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% on %.% refused: append-only', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION es.protect(p_table regclass, p_row_operations text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format(
        'CREATE TRIGGER append_only_row BEFORE %s ON %s'
        ' FOR EACH ROW EXECUTE FUNCTION es.refuse_change()', p_row_operations, p_table);
    EXECUTE format(
        'CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON %s'
        ' FOR EACH STATEMENT EXECUTE FUNCTION es.refuse_change()', p_table);
    -- ALWAYS: also for a session that calls itself a replica.
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER append_only_row', p_table);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER append_only_truncate', p_table);
END $$;

SELECT es.protect('es.match_event', 'UPDATE OR DELETE');
SELECT es.protect('es.match_seat', 'UPDATE OR DELETE');
SELECT es.protect('es.match_creation', 'UPDATE OR DELETE');
SELECT es.protect('es.service_gap', 'UPDATE OR DELETE');
SELECT es.protect('es.match_head', 'DELETE');
