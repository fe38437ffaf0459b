"""The one terminal that many processes write to."""

from __future__ import annotations

import os
import sys
import threading
from typing import IO, TextIO

COLOURS = (36, 33, 32, 35, 34, 31)
"""Cyan, yellow, green, magenta, blue, red: one a process, in turn."""


class Console:
    """Prints whole lines, each under the name of the process it came from."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._colours: dict[str, int] = {}
        self._lock = threading.Lock()
        self._coloured = self._stream.isatty() and "NO_COLOR" not in os.environ

    def say(self, name: str, line: str) -> None:
        """Print one line; a terminal that went away is no reason to stop serving."""
        with self._lock:
            colour = self._colours.setdefault(name, COLOURS[len(self._colours) % len(COLOURS)])
            head = f"{name:>8} |"
            if self._coloured:
                head = f"\033[{colour}m{head}\033[0m"
            try:
                self._stream.write(f"{head} {line}\n")
                self._stream.flush()
            except (OSError, ValueError):
                self._coloured = False

    def copy(self, name: str, source: IO[bytes]) -> None:
        """Print every line of `source` until it ends."""
        for raw in iter(source.readline, b""):
            self.say(name, raw.decode(errors="replace").rstrip("\r\n"))
