"""Tests: what HTTP tells a seat, in pairs of worlds."""
