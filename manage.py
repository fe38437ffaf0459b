#!/usr/bin/env python3
"""Run a management command of xqmj."""

import os
import sys

from xqmj_site.devstack import environment

DEVELOPMENT = "xqmj_site.settings.dev"


def main() -> None:
    """Adopt the running development servers, if it is development, and hand over to Django."""
    development = os.environ.setdefault("DJANGO_SETTINGS_MODULE", DEVELOPMENT) == DEVELOPMENT
    # `up` is who starts them: to it, an address that is set means a server of somebody else's.
    if development and sys.argv[1:2] != ["up"]:
        environment.adopt()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
