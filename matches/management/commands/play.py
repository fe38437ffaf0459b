"""`manage.py play`: a match against the computer in this terminal."""

from __future__ import annotations

import io
import os
import sys
from argparse import ArgumentParser
from typing import Any

import msgspec
from django.core.management.base import BaseCommand, CommandError

from matches.games.names import LANGS
from matches.management.client import DEFAULT_URL, Refused, Unreachable
from matches.management.demo.ink import ink_for
from matches.management.play.game import Game

LEVELS = range(1, 9)


class Command(BaseCommand):
    """Play Misty over HTTP, as a guest."""

    help = (
        "Play six hands of two-player xiangqi mahjong against the computer. What you may do is "
        "numbered; type the number. Ctrl-C leaves the table, which loses the match."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own way to say: none

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Against whom, where, and in which language."""
        parser.add_argument("--lang", default="en", choices=LANGS)
        parser.add_argument("--level", type=int, default=3, choices=LEVELS, metavar="1..8")
        parser.add_argument(
            "--server",
            default=os.environ.get("XQMJ_URL") or DEFAULT_URL,
            help="by default the one that `manage.py up` runs",
        )
        parser.add_argument("--control", default="10+5", help="minutes and seconds of increment")
        parser.add_argument(
            "--patience",
            type=float,
            default=60.0,
            help="seconds for which a server in trouble is asked again",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Play; raises `CommandError` where there is no server or it refuses the match."""
        stream = sys.stdout
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character shows another one; the match goes on.
            stream.reconfigure(errors="replace")
        lang, url = options["lang"], options["server"]
        ink = ink_for(stream)
        if lang == "zh-Hans":
            ink = msgspec.structs.replace(ink, script=lang)
        try:
            game = Game(
                stream, url=url, ink=ink, lang=lang, ask=input, patience_s=options["patience"]
            )
            game.run(level=options["level"], control=options["control"])
        except Unreachable as error:
            raise CommandError(f"No server at {url} ({error}). Start one with make up.") from error
        except (Refused, ValueError) as error:
            raise CommandError(str(error)) from error
