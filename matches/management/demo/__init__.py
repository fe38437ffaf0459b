"""A real match through a running server, played by two clients and drawn in the terminal."""
