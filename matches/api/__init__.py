"""REST, version 1: JSON in, JSON out, under /api/v1."""
