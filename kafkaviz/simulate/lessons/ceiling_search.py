"""A binary search for the ceiling that a reader puts together, and what it does on a few keys.

    lo = 0, hi = entries
    while lo < hi:
        mid = (lo + hi) / 2          rounded down or up
        if key(mid) < target:        or <=
            lo = mid + 1             or mid
        else:
            hi = mid                 or mid - 1
    the ceiling is slot lo, or there is none if lo is entries

Of the sixteen ways one is right. With keys 6 14 22 26 31 and target 23 `lo = mid` comes to lo 2,
hi 3, mid 2, and again to lo 2 and hi 3: it never ends. `hi = mid - 1` throws slot 3 away, which is
the answer, and a middle that is rounded up can be slot 5, which is not there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product


class Rounding(StrEnum):
    """Of the middle of lo and hi."""

    DOWN = "down"
    UP = "up"


class Comparison(StrEnum):
    """Of the key in the middle with the target: what moves lo."""

    LESS = "less"
    AT_MOST = "at-most"


class Move(StrEnum):
    """Where an end goes: to the middle, or one slot beyond it."""

    MIDDLE = "middle"
    BEYOND = "beyond"


class Ending(StrEnum):
    """How a search ends."""

    RIGHT = "right"
    WRONG = "wrong"  # with another slot than the ceiling
    ENDLESS = "endless"  # lo and hi come again
    NO_SLOT = "no-slot"  # the middle is no slot


@dataclass(frozen=True)
class CeilingRule:
    """What a reader chose."""

    rounding: Rounding
    comparison: Comparison
    low: Move
    high: Move


RIGHT_RULE = CeilingRule(Rounding.DOWN, Comparison.LESS, Move.BEYOND, Move.MIDDLE)
RULES = tuple(
    CeilingRule(*parts) for parts in product(Rounding, Comparison, Move, Move)
)  # all there are


@dataclass(frozen=True)
class CeilingStep:
    """One turn of the loop.

    Attributes:
        key: of the middle, None where that is no slot.
        moves_low: whether lo moved, and not hi.
        loses_ceiling: whether the ceiling was still between lo and hi, and no longer is.
    """

    lo: int
    hi: int
    mid: int
    next_lo: int
    next_hi: int
    key: int | None = None
    moves_low: bool = False
    loses_ceiling: bool = False


@dataclass(frozen=True)
class CeilingRun:
    """A search for one target.

    Attributes:
        slot: what it gives, as many as there are keys for none; None where it does not end.
        ceiling: in the same way.
    """

    target: int
    steps: tuple[CeilingStep, ...]
    ending: Ending
    slot: int | None
    ceiling: int


def run_rule(rule: CeilingRule, keys: Sequence[int], target: int) -> CeilingRun:
    """A search by a rule.

    Args:
        keys: rising.
    """
    ceiling = next((slot for slot, key in enumerate(keys) if key >= target), len(keys))
    steps: list[CeilingStep] = []
    lo, hi, visited = 0, len(keys), set()
    while lo < hi:
        if (lo, hi) in visited:
            return CeilingRun(target, tuple(steps), Ending.ENDLESS, None, ceiling)
        visited.add((lo, hi))
        step = _step(rule, keys, target, lo=lo, hi=hi, ceiling=ceiling)
        steps.append(step)
        if step.key is None:
            return CeilingRun(target, tuple(steps), Ending.NO_SLOT, None, ceiling)
        lo, hi = step.next_lo, step.next_hi
    ending = Ending.RIGHT if lo == ceiling else Ending.WRONG
    return CeilingRun(target, tuple(steps), ending, lo, ceiling)


def _step(
    rule: CeilingRule, keys: Sequence[int], target: int, *, lo: int, hi: int, ceiling: int
) -> CeilingStep:
    mid = (lo + hi + (rule.rounding == Rounding.UP)) // 2
    if mid >= len(keys):
        return CeilingStep(lo, hi, mid, lo, hi)
    key = keys[mid]
    moves_low = key < target or (rule.comparison == Comparison.AT_MOST and key == target)
    next_lo = mid + (rule.low == Move.BEYOND) if moves_low else lo
    next_hi = hi if moves_low else mid - (rule.high == Move.BEYOND)
    return CeilingStep(
        lo,
        hi,
        mid,
        next_lo,
        next_hi,
        key,
        moves_low,
        loses_ceiling=lo <= ceiling <= hi and not next_lo <= ceiling <= next_hi,
    )


def targets(keys: Sequence[int]) -> tuple[int, ...]:
    """Every key, and just below and just above it."""
    return tuple(sorted({target for key in keys for target in (key - 1, key, key + 1)}))
