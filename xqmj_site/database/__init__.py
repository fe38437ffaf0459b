"""Django's backend for PostgreSQL, on connections that wait for nobody for ever."""
