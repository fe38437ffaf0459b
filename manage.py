#!/usr/bin/env python3
"""Run a management command of xqmj."""

import os
import sys


def main() -> None:
    """Adopt the running development servers, if any, and hand over to Django."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xqmj_site.settings.dev")
    from xqmj_site.devstack import environment

    environment.adopt()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
