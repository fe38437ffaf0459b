"""`manage.py demo`: a real rated match through a running server, drawn, proven and rated."""

from __future__ import annotations

import io
import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from matches.management.client import DEFAULT_URL, Refused, Unreachable
from matches.management.demo.ink import ink_for
from matches.management.demo.show import Demo, DemoFailed

GAMES = ("xqmj-32-2p",)
"""The rulesets that the demo's players can play."""


class Command(BaseCommand):
    """Play one match with two clients over HTTP."""

    help = (
        "Register two players, play a rated match between them over HTTP, draw it, verify its "
        "export offline, and show what it did to their ratings. Takes about two minutes."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own way to say: none

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to play what."""
        parser.add_argument(
            "--url",
            default=os.environ.get("XQMJ_URL") or DEFAULT_URL,
            help="the server; by default the one that `manage.py up` runs",
        )
        parser.add_argument("--game", default=os.environ.get("GAME") or GAMES[0], choices=GAMES)
        parser.add_argument("--control", default="3+2", help="one of the rated clock controls")
        parser.add_argument(
            "--patience",
            type=float,
            default=60.0,
            help="seconds for which a server in trouble is asked again",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Play; raises `CommandError` unless the match was played, proven and rated."""
        stream = sys.stdout
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character shows another one; the match goes on.
            stream.reconfigure(errors="replace")
        try:
            demo = Demo(
                stream,
                url=options["url"],
                ink=ink_for(stream),
                patience_s=options["patience"],
            )
            demo.run(ruleset=options["game"], control=options["control"])
        except Unreachable as error:
            url = options["url"]
            raise CommandError(f"No server at {url} ({error}). Start one with make up.") from error
        except (DemoFailed, Refused, ValueError) as error:
            raise CommandError(str(error)) from error
