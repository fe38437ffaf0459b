"""The log in PostgreSQL: one trip to load a match, one call to append to it."""
