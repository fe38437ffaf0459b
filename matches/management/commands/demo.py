"""`manage.py demo`: a real rated match through a running server, drawn, proven and rated."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from matches.management.demo.ink import ink_for
from matches.management.demo.show import Demo, DemoFailed
from matches.management.terminal import add_server_options, screen, told

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
        add_server_options(parser, "--url")
        parser.add_argument("--game", default=os.environ.get("GAME") or GAMES[0], choices=GAMES)
        parser.add_argument("--control", default="3+2", help="one of the rated clock controls")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Play; raises `CommandError` unless the match was played, proven and rated."""
        stream, url = screen(), options["url"]
        with told(url, DemoFailed):
            demo = Demo(
                stream,
                url=url,
                ink=ink_for(stream),
                patience_s=options["patience"],
            )
            demo.run(ruleset=options["game"], control=options["control"])
