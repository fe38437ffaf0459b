"""Ratings of finished matches: Glicko-2 over an append-only log of its own."""
