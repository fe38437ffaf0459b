"""Settings: `base` holds what is true everywhere; `dev`, `test` and `prod` add where they run."""
