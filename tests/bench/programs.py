"""What a process of the bench does: Django first, then lines in and JSON out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


def serve(answer: Callable[..., Any]) -> None:
    """Say that everything is set up, then answer the words of every line until there is none."""
    _say("ready")
    for line in sys.stdin:
        _say(answer(*line.split()))


def _say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()
