"""Tests of the event store's pure parts."""
