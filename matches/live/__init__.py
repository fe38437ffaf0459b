"""Streams that stay open: each viewer's lines of a match as they come."""
