"""Glicko-2 in decimal: the same numbers on every machine, and for any number of seats.

One match is one rating period with one result. Before it, every seat's deviation is grown by
the time it has been idle; then all seats are updated at once from that one snapshot, each
against every other by place, a pair weighing 1/(n - 1). Two seats are the case n = 2.

The steps are those of Mark E. Glickman, "Example of the Glicko-2 system" (2013), and carry its
numbers. All arithmetic runs in this module's own decimal context (20 digits, half-even), never
in the caller's, and what leaves it is quantised, so a rebuild gives equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import (
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    FloatOperation,
    InvalidOperation,
    Overflow,
    localcontext,
)
from functools import wraps
from typing import ParamSpec, TypeVar

import msgspec

ALGORITHM = 1
"""Version of everything in this module; a change of any number it gives needs the next one."""

PERIOD_MS = 403_056_000
"""Length of one rating period: 4.665 days."""

PROVISIONAL_RD = Decimal(110)
"""A rating whose deviation is at least this is provisional."""

WIN = Decimal(1)
DRAW = Decimal("0.5")
LOSS = Decimal(0)

_TAU = Decimal("0.5")
_RD_MIN, _RD_MAX = Decimal(45), Decimal(350)
_VOL_MIN, _VOL_MAX = Decimal("0.03"), Decimal("0.10")
_RATING_UNIT = Decimal("0.000001")
_VOL_UNIT = Decimal("0.000000001")
_CENTRE = Decimal(1500)
_SCALE = Decimal("173.7178")
"""Points to one unit of the inner scale, as rounded in the paper."""
_PI_SQUARED = Decimal("9.8696044010893586188")

_CONVERGED = Decimal("1e-15")
_MAX_STEPS = 20
"""Bound of the volatility search; no input tested needs more than 5 steps."""

_CONTEXT = Context(
    prec=20,
    rounding=ROUND_HALF_EVEN,
    Emin=-999_999,
    Emax=999_999,
    capitals=1,
    clamp=0,
    flags=[],
    traps=[DivisionByZero, FloatOperation, InvalidOperation, Overflow],
)

_X_MIN = _CONTEXT.multiply(2, _CONTEXT.ln(_VOL_MIN))
_X_MAX = _CONTEXT.multiply(2, _CONTEXT.ln(_VOL_MAX))
"""The bounds of the volatility as x = ln(vol^2); a logarithm is the dearest operation here."""

P = ParamSpec("P")
R = TypeVar("R")


class Glicko(msgspec.Struct, frozen=True):
    """What is held of one player: `rating` and `rd` in points, `vol` as such.

    Quantised: `rating` and `rd` to 6 places, `vol` to 9.
    """

    rating: Decimal
    rd: Decimal
    vol: Decimal


NEWCOMER = Glicko(Decimal("1500.000000"), Decimal("350.000000"), Decimal("0.060000000"))
"""Who has no rated match yet."""


class Score(msgspec.Struct, frozen=True):
    """One pairing of a period: WIN, DRAW or LOSS against `opponent`, and how much it weighs."""

    opponent: Glicko
    score: Decimal
    weight: Decimal = WIN


class Entrant(msgspec.Struct, frozen=True):
    """One seat of a match: its strength when last rated, the time since, and its place.

    `idle_ms` is 0 for a newcomer. `place` is 1 for the best; equal places drew.
    """

    glicko: Glicko
    idle_ms: int
    place: int


def _in_own_context(function: Callable[P, R]) -> Callable[P, R]:
    """Run `function` in this module's decimal context, whatever the caller's is."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with localcontext(_CONTEXT):
            return function(*args, **kwargs)

    return run


def is_provisional(glicko: Glicko) -> bool:
    """Tell whether too little is known of the player for a leaderboard."""
    return glicko.rd >= PROVISIONAL_RD


@_in_own_context
def grow(glicko: Glicko, *, idle_ms: int) -> Glicko:
    """Return the player after `idle_ms` without a rated match: the deviation widens, up to 350.

    Periods are fractional, so two waits in a row widen as one of their sum does (up to
    quantising). Raises ValueError where the time is negative.
    """
    if idle_ms < 0:
        raise ValueError(f"idle for {idle_ms} ms")
    periods = Decimal(idle_ms) / PERIOD_MS
    phi_squared = (glicko.rd / _SCALE) ** 2 + periods * glicko.vol**2
    rd = _between(_RD_MIN, _SCALE * _CONTEXT.sqrt(phi_squared), _RD_MAX)
    return Glicko(glicko.rating, rd.quantize(_RATING_UNIT), glicko.vol)


@_in_own_context
def settled_ms(glicko: Glicko) -> int:
    """Return how long the player may stay idle before the rating is provisional, in whole ms.

    0 where it is provisional already.
    """
    room = (PROVISIONAL_RD / _SCALE) ** 2 - (glicko.rd / _SCALE) ** 2
    if room <= 0:
        return 0
    return int(room / glicko.vol**2 * PERIOD_MS)


@_in_own_context
def expected(player: Glicko, opponent: Glicko) -> Decimal:
    """Return the share of a point that `player` may expect of `opponent`, to 6 places.

    Both deviations count: little known means little promised. The two sides sum to 1.

    >>> expected(NEWCOMER, NEWCOMER)
    Decimal('0.500000')
    """
    spread = (player.rd / _SCALE) ** 2 + (opponent.rd / _SCALE) ** 2
    lead = (player.rating - opponent.rating) / _SCALE
    win, _ = _chances(_damping(spread) * lead)
    return win.quantize(_RATING_UNIT)


@_in_own_context
def update(player: Glicko, scores: Sequence[Score]) -> Glicko:
    """Return the player after one period with these pairings: the paper's steps 2 to 8.

    No time is added; the order of `scores` does not matter. Raises ValueError for none.
    """
    rating, rd, vol = _update(player, scores)
    return Glicko(rating.quantize(_RATING_UNIT), rd.quantize(_RATING_UNIT), vol.quantize(_VOL_UNIT))


def rate(seats: Sequence[Entrant]) -> tuple[Glicko, ...]:
    """Return every seat's strength after the match, in the order of `seats`.

    Raises ValueError for fewer than two seats.
    """
    if len(seats) < 2:
        raise ValueError(f"a match of {len(seats)} seats")
    before = tuple(grow(seat.glicko, idle_ms=seat.idle_ms) for seat in seats)
    return tuple(update(before[i], _pairings(seats, before, i)) for i in range(len(seats)))


@_in_own_context
def _pairings(seats: Sequence[Entrant], before: Sequence[Glicko], i: int) -> list[Score]:
    """Seat `i` against every other, by place."""
    weight = WIN / (len(seats) - 1)
    mine = seats[i].place
    return [
        Score(before[j], _score(mine, other.place), weight)
        for j, other in enumerate(seats)
        if j != i
    ]


def _score(place: int, other: int) -> Decimal:
    if place == other:
        return DRAW
    return WIN if place < other else LOSS


def _update(player: Glicko, scores: Sequence[Score]) -> tuple[Decimal, Decimal, Decimal]:
    """(rating, rd, vol) within their bounds, not yet quantised."""
    if not scores:
        raise ValueError("a period without a pairing")
    mu = (player.rating - _CENTRE) / _SCALE
    phi_squared = (player.rd / _SCALE) ** 2
    precision, pull = _evidence(mu, scores)
    vol = _volatility(phi_squared, player.vol, 1 / precision, pull / precision)
    phi_squared = 1 / (1 / (phi_squared + vol**2) + precision)
    rating = _SCALE * (mu + phi_squared * pull) + _CENTRE
    rd = _between(_RD_MIN, _SCALE * _CONTEXT.sqrt(phi_squared), _RD_MAX)
    return rating, rd, vol


def _evidence(mu: Decimal, scores: Sequence[Score]) -> tuple[Decimal, Decimal]:
    """What the pairings say: 1/v of step 3, and the weighted sum of g(s - E) of step 4.

    A rounded sum depends on its order, so the pairings are put in one order first.
    """
    precision = pull = Decimal(0)
    for pairing in sorted(scores, key=_canonical):
        other = pairing.opponent
        g = _damping((other.rd / _SCALE) ** 2)
        win, loss = _chances(g * (mu - (other.rating - _CENTRE) / _SCALE))
        precision += pairing.weight * g * g * win * loss
        # s - E without cancellation: E = win and 1 - E = loss, each exact to 20 digits.
        pull += pairing.weight * g * (pairing.score * loss - (1 - pairing.score) * win)
    return precision, pull


def _canonical(pairing: Score) -> tuple[Decimal, ...]:
    other = pairing.opponent
    return other.rating, other.rd, pairing.score, pairing.weight


def _damping(phi_squared: Decimal) -> Decimal:
    """Return g of step 3: how much a result against so uncertain an opponent counts."""
    return 1 / _CONTEXT.sqrt(1 + 3 * phi_squared / _PI_SQUARED)


def _chances(x: Decimal) -> tuple[Decimal, Decimal]:
    """(E, 1 - E) of the logistic curve at `x`, neither ever rounded to 0."""
    return 1 / (1 + _CONTEXT.exp(-x)), 1 / (1 + _CONTEXT.exp(x))


def _volatility(phi_squared: Decimal, vol: Decimal, v: Decimal, delta: Decimal) -> Decimal:
    """Step 5: the volatility that best explains the result, by the Illinois method.

    It is sought between the bounds only. f falls throughout them: the slope of its first term is
    at most (exp(x) / 2) (delta / v)^2, and delta / v is at most the sum of the pairings' weights,
    so up to a sum of 28 (a match has 1) that stays below the 1/tau^2 of the second. Where f does
    not change its sign between the bounds, the answer is therefore the nearer bound.
    """
    centre = _CONTEXT.ln(vol**2)
    surprise = delta**2 - phi_squared - v

    def f(x: Decimal) -> Decimal:
        # The deviation squared, not the rating squared: with the latter the paper's own example
        # still comes out right, and a surprised player's volatility does not.
        spread = _CONTEXT.exp(x)
        total = phi_squared + v + spread
        return spread * (surprise - spread) / (2 * total**2) - (x - centre) / _TAU**2

    near, far = _X_MIN, _X_MAX
    f_near, f_far = f(near), f(far)
    if f_near <= 0:
        return _VOL_MIN
    if f_far >= 0:
        return _VOL_MAX
    for _ in range(_MAX_STEPS):
        middle = near + (near - far) * f_near / (f_far - f_near)
        f_middle = f(middle)
        if f_middle * f_far <= 0:
            near, f_near = far, f_far
        else:
            f_near /= 2
        far, f_far = middle, f_middle
        if abs(f_far) <= _CONVERGED:  # f falls by almost 4 a unit, so x is nearer still
            break
    return _CONTEXT.exp(far / 2)


def _between(low: Decimal, value: Decimal, high: Decimal) -> Decimal:
    return max(low, min(value, high))
