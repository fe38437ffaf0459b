"""`manage.py play`: a match against the computer in this terminal."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import msgspec
from django.core.management.base import BaseCommand

from matches.games.names import LANGS
from matches.management.demo.ink import ink_for
from matches.management.play.game import Game
from matches.management.terminal import add_server_options, screen, told

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
        add_server_options(parser, "--server")
        parser.add_argument("--control", default="10+5", help="minutes and seconds of increment")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Play; raises `CommandError` where there is no server or it refuses the match."""
        stream, lang, url = screen(), options["lang"], options["server"]
        ink = ink_for(stream)
        if lang == "zh-Hans":
            ink = msgspec.structs.replace(ink, script=lang)
        with told(url):
            game = Game(
                stream, url=url, ink=ink, lang=lang, ask=input, patience_s=options["patience"]
            )
            game.run(level=options["level"], control=options["control"])
