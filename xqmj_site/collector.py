"""How often Python looks for garbage that holds itself."""

from __future__ import annotations

import gc

THRESHOLDS = (10_000, 20, 50)


def seldom() -> None:
    """Look seldom, and never again at what is there now; to be called when all is imported.

    A process that serves remembers thousands of matches, of which next to
    nothing is ever garbage in a cycle, and each look at all of them stops every
    request (docs/adr/0014).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
