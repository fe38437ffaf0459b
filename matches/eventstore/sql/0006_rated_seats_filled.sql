-- The seats of the rated matches that live already. Whoever sits in several keeps the newest.
-- Released: never edited again. A change is a file with the next number and a migration that runs it.
--
-- A statement of its own after 0005 is in force. It locks the heads one by one, so that none of these
-- matches can end before its seats are there to be given back.
INSERT INTO es.rated_seat (player, match_id)
SELECT s.player, s.match_id
  FROM (SELECT h.match_id, h.created_at_ms FROM es.match_head h
         WHERE h.status = 1 AND h.rated
         ORDER BY h.match_id FOR SHARE) live
  JOIN es.match_seat s USING (match_id)
 ORDER BY live.created_at_ms DESC, s.match_id DESC
ON CONFLICT (player) DO NOTHING;
