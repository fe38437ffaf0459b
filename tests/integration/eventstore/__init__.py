"""Tests of the event store against a real PostgreSQL, as the app's role."""
