"""Tests: rules of one hand."""
