"""Property tests here measure arithmetic, not the machine: a busy one must not fail them."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
