"""Tests: ratings, against PostgreSQL."""
