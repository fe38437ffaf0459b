"""A line on stderr that says how far something is."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.core.management.base import OutputWrapper

PAINT_EVERY_S = 0.1
TELL_EVERY_S = 5.0
"""How often progress is told where it cannot be painted over."""
_CLEAR = "\r\x1b[2K"


class ProgressLine:
    """Painted over in a terminal, else told now and then."""

    def __init__(self, out: OutputWrapper, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._told_s = clock()

    def tell(self, line: str) -> None:
        """Show the line if it is time for it again."""
        terminal, now_s = self._out.isatty(), self._clock()
        if now_s - self._told_s < (PAINT_EVERY_S if terminal else TELL_EVERY_S):
            return
        self._told_s = now_s
        if terminal:
            self._out.write(f"{_CLEAR}{line}", ending="")
        else:
            self._out.write(line)

    def clear(self) -> None:
        """Take the line away that is painted over, before something else is written."""
        if self._out.isatty():
            self._out.write(_CLEAR, ending="")
