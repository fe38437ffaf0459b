"""Password hashing where thousands of made-up players are made."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class CheapArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2 at its smallest cost: for tests and benches, never for people."""

    time_cost = 1
    memory_cost = 8
    parallelism = 1
