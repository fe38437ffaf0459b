"""The servers of development: embedded PostgreSQL and Valkey, and the runner of `manage.py up`."""
