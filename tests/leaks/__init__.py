"""Tests: leaks."""
