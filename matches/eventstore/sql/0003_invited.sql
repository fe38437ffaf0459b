-- Whose list of matches an invitation stands in: read from the event that says so.
-- Released: never edited again. A change is a file with the next number and a migration that runs it.

CREATE INDEX CONCURRENTLY match_event_invited ON es.match_event ((payload ->> 'invited'), at_ms, match_id)
    WHERE seq = 1 AND payload ->> 'invited' IS NOT NULL;
