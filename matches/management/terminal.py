"""What commands share that play over HTTP in a terminal: options, the screen, how they fail."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import TextIO

from django.core.management.base import CommandError

from matches.management.client import DEFAULT_URL, Refused, Unreachable


def add_server_options(parser: ArgumentParser, name: str) -> None:
    """The server under the option of that name, and `--patience` with it."""
    parser.add_argument(
        name,
        default=os.environ.get("XQMJ_URL") or DEFAULT_URL,
        help="the server; by default the one that `manage.py up` runs",
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=60.0,
        help="seconds for which a server in trouble is asked again",
    )


def screen() -> TextIO:
    """Standard output; a terminal that lacks a character shows another one, and play goes on."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return sys.stdout


@contextlib.contextmanager
def told(url: str, *failures: type[Exception]) -> Iterator[None]:
    """Raise `CommandError` where the server at `url` is not there or refuses, or one of these."""
    wrong: tuple[type[Exception], ...] = (*failures, Refused, ValueError)
    try:
        yield
    except Unreachable as error:
        raise CommandError(f"No server at {url} ({error}). Start one with make up.") from error
    except wrong as error:
        raise CommandError(str(error)) from error
