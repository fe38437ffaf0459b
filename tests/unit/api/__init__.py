"""Tests: the parts of the API that need no server."""
