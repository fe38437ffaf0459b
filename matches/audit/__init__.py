"""Proves a match from its log alone: what an admin, a player and a stranger may rely on."""
