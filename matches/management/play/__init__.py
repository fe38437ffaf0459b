"""A match against the computer in the terminal, over the public API alone."""
