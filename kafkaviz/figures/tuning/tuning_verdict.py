"""A recommendation in words: a headline, the reasons, and the numbers as text."""

from dataclasses import dataclass

from kafkaviz.analysis.cost.cost_model import Range
from kafkaviz.analysis.tuning.recommendation import Reason, Recommendation, TuningVerdict
from kafkaviz.analysis.tuning.tuning_case import TuningCase
from kafkaviz.analysis.tuning.tuning_text import describe_reason, main_reasons
from kafkaviz.html import tag
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.sentences import end_sentence, join_sentences, to_sentence
from kafkaviz.units import MISSING, format_bytes, format_count, format_percent, format_us

# messages of reasons that are given at length only among all reasons
SHORT_KEYS = {"faster-too-little": "verdict.worth", "tiny-batches": "verdict.tiny_batches"}
MARKS = {"keep": "ok", "unknown": "info", "lower": "warning", "raise": "info"}


@dataclass(frozen=True, kw_only=True)
class VerdictView:
    """The verdict in words."""

    mark: str  # the severity that the page shows next to the verdict
    headline: str
    reason: str  # the decisive reasons in one text, with a sentence for each


def view(recommendation: Recommendation) -> VerdictView:
    codes = {reason.code for reason in recommendation.reasons}
    kind = _verdict_kind(recommendation)
    reasons = [
        *main_reasons(recommendation),
        *(reason for reason in recommendation.not_fixed if reason.code == "tiny-batches"),
    ]
    return VerdictView(
        mark="info" if kind == "keep" and "over-budget" in codes else MARKS[kind],
        headline=headline(recommendation),
        reason=join_sentences(
            end_sentence(say(SHORT_KEYS[reason.code], **reason.values))
            if reason.code in SHORT_KEYS
            else reason_sentence(reason)
            for reason in reasons
        ),
    )


def headline(recommendation: Recommendation) -> str:
    """Returns the verdict in two or three words, such as "Keep 4 096"."""
    return say(
        f"verdict.headline_{_verdict_kind(recommendation)}",
        today=format_count(recommendation.current_cost.interval_bytes),
        value=format_count(recommendation.value),
    )


def figure_headline(recommendation: Recommendation) -> str:
    """Returns the verdict and the p99 time of the recommended interval.

    May add a sentence about other intervals.
    """
    allowed_us = _p99_budget_us(recommendation)
    cost = recommendation.proposed_cost
    if recommendation.verdict == TuningVerdict.KEEP:
        cost = recommendation.current_cost
    key = "p99"
    if allowed_us is not None:
        key = "p99_inside" if cost.p99_us.typical <= allowed_us else "p99_over"
    text = say(
        f"verdict.{key}",
        text=headline(recommendation),
        us=format_us(cost.p99_us.typical),
        worst=format_us(cost.p99_us.high),
        allowed=format_us(allowed_us or 0),
    )
    codes = {reason.code for reason in recommendation.reasons}
    more_bytes = int(recommendation.proposed_cost.row["index_bytes"] - cost.row["index_bytes"])
    if "unmeetable" in codes:
        return join_sentences([end_sentence(text), say("verdict.unmeetable")])
    if "faster-too-little" not in codes or more_bytes <= 0:
        return text
    other = say(
        "verdict.too_little",
        to=recommendation.considered_bytes,
        saved=recommendation.gain.p99_us.typical,
        size=more_bytes,
    )
    return join_sentences([end_sentence(text), other])


def misses_p99(recommendation: Recommendation) -> bool:
    """Returns whether today's interval is kept although its worst p99 is above the user's limit."""
    allowed_us = _p99_budget_us(recommendation) or float("inf")
    is_kept = recommendation.verdict == TuningVerdict.KEEP
    return is_kept and recommendation.current_cost.p99_us.high > allowed_us


def _p99_budget_us(recommendation: Recommendation) -> float | None:
    budgets = (reason.values.get("budgets") for reason in recommendation.reasons)
    return next(each for each in budgets if each).p99_us


def _verdict_kind(recommendation: Recommendation) -> str:
    if recommendation.verdict == TuningVerdict.KEEP:
        return "keep" if recommendation.is_today_known else "unknown"
    is_lower = recommendation.value < recommendation.current_cost.interval_bytes
    return "lower" if is_lower else "raise"


def range_text(us: Range) -> str:
    """Returns a range of times: 7.8 to 22 µs."""
    low = format_us(us.low)
    high = format_us(us.high)
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    return say("curves.between", low=number if high.endswith(f" {unit}") else low, high=high)


def headers_text(headers: float) -> str:
    """Returns a number of headers: 3.7 headers, 1.0 header."""
    return say_count("curves.headers", round(headers, 1), n=f"{headers:.1f}")


TOPIC_HEADS = (
    "topic", "log", "batch_mean", "interval", "index_share", "headers_mean", "warm_p99", "answer",
)  # fmt: skip


def topic_cells(case: TuningCase, recommendation: Recommendation | None) -> tuple[str, ...]:
    if recommendation is None:
        return case.name, "0 B", *[MISSING] * 5, say("tuning.no_batch")
    cost = recommendation.current_cost
    answer = say("curves.keep" if recommendation.is_today_known else "curves.no_change")
    if recommendation.verdict == TuningVerdict.CHANGE:
        answer = tag("b", format_count(recommendation.value))
    return (
        case.name,
        format_bytes(case.measurement.log_bytes),
        format_bytes(case.measurement.batch_bytes),
        format_count(cost.interval_bytes),
        format_percent(cost.index_share, 1),
        f"{cost.row['headers_mean']:.1f}",
        f"≈ {format_us(cost.p99_us.typical)}",
        answer,
    )


def describe_all(recommendation: Recommendation) -> list[str]:
    """Returns the reasons for a verdict, then faults that no interval fixes. One sentence each."""
    return [
        reason_sentence(reason) for reason in (*recommendation.reasons, *recommendation.not_fixed)
    ]


def reason_sentence(reason: Reason) -> str:
    return to_sentence(render(describe_reason(reason)))
