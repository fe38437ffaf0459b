"""What a bench finds: figures, each beside what it is held against, and how they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, Literal

import msgspec


class Target(msgspec.Struct, frozen=True):
    """A bound that the figure must keep to."""

    bound: Literal[">=", "<=", "=="]
    limit: float

    def met(self, value: float) -> bool:
        """Whether the value keeps to it."""
        match self.bound:
            case ">=":
                return value >= self.limit
            case "<=":
                return value <= self.limit
            case _:
                return value == self.limit

    def __str__(self) -> str:
        return f"{self.bound} {self.limit:g}"


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One measured figure.

    `beside` was measured in the same run, in turn with `value`, and is what
    `compared` names; `ratio` is then what the target is about, else `value` is.
    Without a target it is there to be known.
    """

    bench: str
    name: str
    value: float
    unit: str
    compared: str | None = None
    beside: float | None = None
    ratio: float | None = None
    target: Target | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met, None without one."""
        if self.target is None:
            return None
        return self.target.met(self.value if self.ratio is None else self.ratio)


def side_by_side(
    *,
    bench: str,
    name: str,
    unit: str,
    compared: str,
    pairs: Sequence[tuple[float, float]],
    target: Target,
    note: str = "",
) -> Figure:
    """The figure of rounds that alternated: medians, and the median of the rounds' ratios."""
    ratios = sorted(value / beside for value, beside in pairs)
    spread = f"ratio of {len(pairs)} rounds {ratios[0]:.2f} to {ratios[-1]:.2f}"
    return Figure(
        bench=bench,
        name=name,
        value=median(value for value, _ in pairs),
        unit=unit,
        compared=compared,
        beside=median(beside for _, beside in pairs),
        ratio=median(ratios),
        target=target,
        note=f"{note}; {spread}" if note else spread,
    )


_HEADS = ("figure", "value", "beside it", "", "ratio", "target", "met")


def table(figures: Sequence[Figure]) -> str:
    """The figures as a table for a terminal; notes below it, by number."""
    rows: list[tuple[str, ...]] = [_HEADS]
    notes: list[str] = []
    for figure in figures:
        name = figure.name
        if figure.note:
            notes.append(f"[{len(notes) + 1}] {figure.note}")
            name += f" [{len(notes)}]"
        rows.append((name, *_cells(figure)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], "", *notes])


def _cells(figure: Figure) -> tuple[str, ...]:
    met = {None: "", True: "yes", False: "NO"}[figure.met]
    return (
        f"{shown(figure.value)} {figure.unit}".rstrip(),
        "" if figure.beside is None else shown(figure.beside),
        figure.compared or "",
        "" if figure.ratio is None else f"{figure.ratio:.2f}",
        "" if figure.target is None else str(figure.target),
        met,
    )


def shown(value: float) -> str:
    """A number with three significant digits or more.

    >>> shown(1234.5), shown(0.1234), shown(2.0)
    ('1,234', '0.123', '2')
    """
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def document(figures: Sequence[Figure], **facts: Any) -> bytes:
    """Everything as JSON, for a machine to compare with another run."""
    listed = [
        {**msgspec.to_builtins(figure), "target": str(figure.target or ""), "met": figure.met}
        for figure in figures
    ]
    return msgspec.json.format(msgspec.json.encode({**facts, "figures": listed}), indent=1)
