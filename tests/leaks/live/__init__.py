"""Tests: what live streams tell, in pairs of worlds."""
