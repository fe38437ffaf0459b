"""Tests: the match around the hands."""
