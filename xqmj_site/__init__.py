"""The Django project: settings, entry points, and the servers beside them."""
