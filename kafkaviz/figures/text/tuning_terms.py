"""Microseconds, headers and changes as the figures of Tuning write them."""

from kafkaviz.analysis.cost.cost_model import Range
from kafkaviz.analysis.tuning import Reason, Recommendation
from kafkaviz.analysis.tuning.tuning_text import describe_reason, format_us
from kafkaviz.figures.text.sentence_text import to_sentence
from kafkaviz.messages import language, say, say_count
from kafkaviz.units import MISSING

SAME_SHARE = 0.005  # share of the value before; a smaller change counts as none


def range_text(us: Range) -> str:
    """Returns a range: 7.8 to 22 µs."""
    low = format_us(us.low)
    high = format_us(us.high)
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    return say("curves.between", low=number if high.endswith(f" {unit}") else low, high=high)


def headers_text(headers: float) -> str:
    """Returns a number of headers: 3.7 headers, 1.0 header."""
    return say_count("curves.headers", round(headers, 1), n=f"{headers:.1f}")


def is_same(before: float, after: float) -> bool:
    """Returns whether a change is negligible."""
    return before == after or bool(before and abs(after / before - 1) < SAME_SHARE)


def change_text(before: float | None, after: float | None) -> str:
    """Returns a change: × 2.4, −71 %, +8 % or same."""
    if before is None or after is None:
        return MISSING
    if is_same(before, after):
        return say("curves.same")
    if not before:
        return MISSING
    ratio = after / before
    if ratio >= 2:
        return f"× {ratio:.1f}" if ratio < 100 else f"× {ratio:.0f}"
    return f"{'−' if ratio < 1 else '+'}{100 * abs(ratio - 1):.0f} %"


def describe_all(recommendation: Recommendation) -> list[str]:
    """Returns the reasons of an answer, then what no interval changes, one sentence each."""
    return [
        reason_sentence(reason) for reason in (*recommendation.reasons, *recommendation.not_fixed)
    ]


def reason_sentence(reason: Reason) -> str:
    return to_sentence(describe(reason))


def describe(reason: Reason) -> str:
    return describe_reason(reason).render(language())
