"""Tests of the audit against a real PostgreSQL."""
