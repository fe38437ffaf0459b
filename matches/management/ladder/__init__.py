"""Levels of the computer against each other, for `manage.py ladder`."""
