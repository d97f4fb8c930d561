"""Microseconds, headers and changes as the figures of Tuning write them."""

from kafkaviz.analyse.cost_model import Range
from kafkaviz.analyse.tuning.words import us as micros
from kafkaviz.units import MISSING
from kafkaviz.words import counted, say

__all__ = ["SAME", "between", "change", "headers_words", "is_same", "micros"]

SAME = 0.005  # of what was before: less is no change to speak of


def between(us: Range) -> str:
    """From the low to the high end: 7.8 to 22 µs."""
    low, high = micros(us.low), micros(us.high)
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    return say("curves.between", low=number if high.endswith(f" {unit}") else low, high=high)


def headers_words(headers: float) -> str:
    """3.7 headers, 1.0 header."""
    return counted("curves.headers", round(headers, 1), n=f"{headers:.1f}")


def is_same(before: float, after: float) -> bool:
    """Whether there is no change to speak of."""
    return before == after or bool(before and abs(after / before - 1) < SAME)


def change(before: float | None, after: float | None) -> str:
    """× 2.4, −71 %, +8 % or same."""
    if before is None or after is None:
        return MISSING
    if is_same(before, after):
        return say("curves.same")
    if not before:
        return MISSING
    times = after / before
    if times >= 2:
        return f"× {times:.1f}" if times < 100 else f"× {times:.0f}"
    return f"{'−' if times < 1 else '+'}{100 * abs(times - 1):.0f} %"
