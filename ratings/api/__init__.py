"""Ratings over REST: public facts, read only."""
