"""Tests: ratings, without a database."""
