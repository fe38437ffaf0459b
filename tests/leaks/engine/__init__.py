"""Tests: what a seat may not know, at the level of the engine."""
