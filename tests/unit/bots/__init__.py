"""Tests: computer players."""
