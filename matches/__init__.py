"""Matches: rules, the log, services and interfaces of the match server."""
