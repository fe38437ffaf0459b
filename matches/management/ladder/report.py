"""What a climb found: a table for a terminal, and the same as JSON for a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from matches.management.ladder.climb import Step, Tally

_HEADS = ("step", "score", "s.e.", "target", "met", "points", "decisions/s", "ms a decision")


def table(found: Mapping[Step, Tally]) -> list[str]:
    """Lines: each step with its score, the points a match of both, and the upper one's thinking.

    >>> step = Step(8, None, (0.5, 0.6))
    >>> tally = Tally(wins=5, draws=1, losses=4, points=(110, 99), decisions=400, thinking_s=0.1,
    ...     actions=800, playing_s=0.2)
    >>> for line in table({step: tally}):
    ...     print(line)
    step        score  s.e.   target        met  points      decisions/s  ms a decision
    8 v greedy  0.550  0.149  0.50 to 0.60  yes  11.0 : 9.9  4,000        0.250
    """
    rows = [_HEADS, *(_cells(step, tally) for step, tally in found.items())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def document(found: Mapping[Step, Tally], *, seed: str) -> bytes:
    """Everything as JSON; points are means a match, speeds in seconds of processor time."""
    steps = [_facts(step, tally) for step, tally in found.items()]
    return msgspec.json.format(msgspec.json.encode({"seed": seed, "steps": steps}), indent=1)


def _facts(step: Step, tally: Tally) -> dict[str, Any]:
    own, other = tally.points
    return {
        "level": step.level,
        "against": step.below or "greedy",
        "matches": tally.matches,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "score": tally.score,
        "error": tally.error,
        "target": step.target,
        "met": tally.meets(step.target),
        "points": (own / tally.matches, other / tally.matches),
        "decisions": tally.decisions,
        "decisions_per_s": tally.actions / tally.playing_s,
        "decision_ms": 1000 * tally.thinking_s / tally.decisions,
    }


def _cells(step: Step, tally: Tally) -> tuple[str, ...]:
    facts = _facts(step, tally)
    own, other = facts["points"]
    low, high = step.target
    return (
        step.name,
        f"{tally.score:.3f}",
        f"{tally.error:.3f}",
        f"{low:.2f} to {high:.2f}",
        "yes" if facts["met"] else "NO",
        f"{own:.1f} : {other:.1f}",
        f"{facts['decisions_per_s']:,.0f}",
        f"{facts['decision_ms']:.3f}",
    )
