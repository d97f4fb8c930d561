"""A recommendation in words: a headline, its reason, boxes, and the words of its numbers.

The boxes tell apart certain numbers, modelled numbers, and changes without effect.
"""

from dataclasses import dataclass
from typing import cast

from kafkaviz.analysis.cost.cost_model import CALIBRATED, LookupCosts, Range
from kafkaviz.analysis.tuning import (
    Budgets,
    CurrentConfig,
    LogMeasurement,
    Reason,
    Recommendation,
    TuningVerdict,
    budget_usage,
)
from kafkaviz.analysis.tuning.tuning_case import EntryCounts
from kafkaviz.analysis.tuning.tuning_text import describe_reason, format_us
from kafkaviz.figures.text.sentences import join_comma, join_each_and, join_sentences, to_sentence
from kafkaviz.messages import language, say, say_count
from kafkaviz.units import MISSING, format_bytes, format_count, format_percent

KEEP = "keep"
LOWER = "lower"
RAISE = "raise"
# reasons to keep an interval, whatever another would gain
DECIDING_CODES = ("unmeetable", "on-disk", "coarser", "denser")
MARK_BY_KIND = {KEEP: "ok", LOWER: "warning", RAISE: "info"}


@dataclass(frozen=True, kw_only=True)
class VerdictView:
    """The verdict in words.

    Attributes:
        kind: "keep", "lower" or "raise".
        boxes: pairs of a heading and its content.
    """

    kind: str
    mark: str
    headline: str
    reason: str
    boxes: tuple[tuple[str, str], ...]
    command_lead: str


def view(
    recommendation: Recommendation,
    measured: LogMeasurement,
    today: CurrentConfig,
    *,
    budgets: Budgets,
    costs: LookupCosts,
    entries: EntryCounts,
) -> VerdictView:
    """Returns the verdict of a recommendation.

    Args:
        entries: entry counts of the replay and, if known, of the directory.
    """
    kind = _verdict_kind(recommendation)
    describe = _change_text
    if kind == KEEP:
        describe = _tiny_text if _has_tiny_batches(recommendation) else _keep_text
    reason = describe(recommendation, measured, budgets)
    is_unknown = kind == KEEP and not recommendation.is_today_known
    is_over_budget = kind == KEEP and _find_reason(recommendation, "over-budget")
    mark = "info" if is_unknown or is_over_budget else MARK_BY_KIND[kind]
    headline_key = "unknown" if is_unknown else kind
    return VerdictView(
        kind=kind,
        mark=mark,
        headline=say(
            f"verdict.headline_{headline_key}",
            today=format_count(recommendation.current_cost.interval_bytes),
            value=format_count(recommendation.value),
        ),
        reason=reason,
        boxes=_verdict_boxes(recommendation, measured, today, costs, entries),
        command_lead="" if kind == KEEP else say(f"verdict.command_{kind}"),
    )


def _verdict_boxes(
    recommendation: Recommendation,
    measured: LogMeasurement,
    today: CurrentConfig,
    costs: LookupCosts,
    entries: EntryCounts,
) -> tuple[tuple[str, str], ...]:
    """Returns the boxes that have a text.

    Their headings are certain, modelled, no effect, and not fixed by any interval.
    """
    least_bytes = measured.parts.least_batch_bytes
    has_plateau = least_bytes is not None and least_bytes > 64
    codes = {reason.code for reason in recommendation.not_fixed}
    keys = [code.replace("-", "_") for code in ("tiny-batches", "two-headers") if code in codes]
    text_by_box = {
        "estimated" if entries.sample else "sure": _entries_text(today, entries),
        "modelled": _modelled_text(costs),
        "no_effect": say("verdict.no_effect", least=format_count(least_bytes))
        if has_plateau
        else "",
        "not_fixed": say(f"verdict.{'_and_'.join(keys)}") if keys else "",
    }
    return tuple((say(f"verdict.box_{name}"), text) for name, text in text_by_box.items() if text)


def _has_tiny_batches(recommendation: Recommendation) -> bool:
    """Returns whether batches are so small that lookups miss their budget."""
    codes = {reason.code for reason in (*recommendation.reasons, *recommendation.not_fixed)}
    return (
        "tiny-batches" in codes
        and "over-budget" in codes
        and recommendation.considered_bytes < recommendation.current_cost.interval_bytes
    )


def _verdict_kind(recommendation: Recommendation) -> str:
    if recommendation.verdict == TuningVerdict.KEEP:
        return KEEP
    return LOWER if recommendation.value < recommendation.current_cost.interval_bytes else RAISE


def _find_reason(recommendation: Recommendation, code: str):
    return next((reason for reason in recommendation.reasons if reason.code == code), None)


# ---- the reason, a paragraph


def _keep_text(recommendation: Recommendation, measured: LogMeasurement, budgets: Budgets) -> str:
    all_indexed = _find_reason(recommendation, "every-batch-indexed")
    least_bytes = format_count(measured.parts.least_batch_bytes)
    texts = []
    if all_indexed:
        key = (
            "verdict.default_indexes_all"
            if all_indexed.values["is_default"]
            else "verdict.today_indexes_all"
        )
        texts.append(
            say(key, interval=format_count(all_indexed.values["interval"]), least=least_bytes)
        )
    texts.append(_budget_text(recommendation, budgets))
    topics = _find_reason(recommendation, "topic-by-topic")
    texts.append(reason_sentence(topics) if topics else _not_worth_text(recommendation, budgets))
    return join_sentences(texts)


def _not_worth_text(recommendation: Recommendation, budgets: Budgets) -> str:
    current = recommendation.current_cost
    considered = recommendation.considered_bytes
    deciding = next(
        (reason for reason in recommendation.reasons if reason.code in DECIDING_CODES), None
    )
    if deciding:
        return reason_sentence(deciding)
    if _find_reason(recommendation, "smaller-too-little"):
        saved_bytes = int(current.row["index_bytes"]) * (
            recommendation.gain.index_share.typical / current.index_share
            if current.index_share
            else 0.0
        )
        saved_share = format_percent(max(recommendation.gain.index_share.typical, 0.0), 1)
        return say(
            "verdict.up_too_little",
            interval=format_count(considered),
            saved=format_bytes(round(saved_bytes)),
            share=saved_share,
        )
    if _find_reason(recommendation, "faster-too-little"):
        return say(
            "verdict.down_too_little",
            interval=format_count(considered),
            saved=format_us(max(recommendation.gain.p99_us.low, 0.0)),
        )
    if considered != current.interval_bytes:
        return ""
    budget_use = budget_usage(current, budgets)
    if budget_use:
        return say(
            "verdict.smallest_that_fits"
            if budget_use.keys() == {"index"}
            else "verdict.largest_that_fits"
        )
    return ""


def _budget_text(recommendation: Recommendation, budgets: Budgets) -> str:
    current = recommendation.current_cost
    missed_reason = _find_reason(recommendation, "over-budget")
    values = {"p99": format_us(current.p99_us.typical), "range": range_text(current.p99_us)}
    if missed_reason:
        return say(
            "verdict.over",
            **values,
            budgets=join_comma(
                say(f"verdict.over_{budget}") for budget in missed_reason.values["missed"]
            ),
        )
    if budgets.p99_us is None:
        return say("verdict.unasked", **values)
    return say("verdict.inside", **values, allowed=f"{budgets.p99_us:g}")


def _tiny_text(recommendation: Recommendation, measured: LogMeasurement, _budgets: Budgets) -> str:
    current = recommendation.current_cost
    return say(
        "verdict.batch_single" if measured.single_share > 0.5 else "verdict.batch_tiny",
        batch=format_count(round(measured.batch_bytes)),
        interval=format_count(current.interval_bytes),
        headers=f"{current.row['headers_mean']:.0f}",
        p99=format_us(current.p99_us.typical),
        range=range_text(current.p99_us),
        other=format_count(recommendation.considered_bytes),
    )


def _change_text(
    recommendation: Recommendation, _measured: LogMeasurement, budgets: Budgets
) -> str:
    gain = recommendation.gain
    if recommendation.value < recommendation.current_cost.interval_bytes:
        growth = format_percent(max(-gain.index_share.typical, 0.0), 1)
        return join_sentences(
            [
                _budget_text(recommendation, budgets),
                say(
                    "verdict.lower",
                    value=format_count(recommendation.value),
                    less=format_us(max(gain.p99_us.typical, 0.0)),
                    range=range_text(gain.p99_us),
                    grows=growth,
                ),
            ]
        )
    saved_share = format_percent(max(gain.index_share.typical, 0.0), 1)
    texts = [
        say("verdict.raise", saved=saved_share, slower=format_us(max(-gain.p99_us.typical, 0.0)))
    ]
    return join_sentences(
        [
            *texts,
            say("verdict.remote_small")
            if _find_reason(recommendation, "smaller-for-tiered")
            else "",
        ]
    )


# ---- the boxes


def _entries_text(today: CurrentConfig, entries: EntryCounts) -> str:
    values = {
        "ours": join_each_and(map(format_count, entries.replay_counts)),
        "interval": format_count(today.interval_bytes),
    }
    if entries.sample:
        return say(
            "verdict.estimated",
            ours=values["ours"],
            sampled=format_bytes(entries.sample.sampled_bytes),
            log=format_bytes(entries.sample.log_bytes),
        )
    if entries.is_workload:
        return say("verdict.sure_workload", **values)
    topic_key = "one" if entries.topics == 1 else "each"
    if entries.directory_counts is None:
        return say(f"verdict.sure_{topic_key}_missing", **values)
    values["theirs"] = join_each_and(map(format_count, entries.directory_counts))
    if entries.directory_counts == entries.replay_counts:
        return say(f"verdict.sure_{topic_key}", **values)
    return say(
        f"verdict.sure_{topic_key}_other",
        **values,
        why=say(f"verdict.{_difference_key(today, entries)}"),
    )


def _difference_key(today: CurrentConfig, entries: EntryCounts) -> str:
    if today.is_coarse:
        return "differs_coarse"
    replay_offsets, replay_times = entries.replay_counts
    directory_offsets, directory_times = cast(tuple[int, int], entries.directory_counts)
    if replay_offsets == directory_offsets and directory_times < replay_times:
        return "differs_open"
    return "differs_unknown"


def _modelled_text(costs: LookupCosts) -> str:
    header_us = costs.header_us
    values = {
        "low": f"{header_us.low:.2g}",
        "high": f"{header_us.high:.2g}",
        "storage": say("verdict.own_disk")
        if costs.storage.name == CALIBRATED
        else costs.storage.name,
        "read": range_text(costs.storage.read_us),
    }
    if costs.calibrated:
        return say("verdict.modelled_here", **values, day=costs.calibrated)
    return say("verdict.modelled_new" if costs.reads_once else "verdict.modelled_old", **values)


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
    """Returns the reasons for an answer, then those that no interval fixes, one sentence each."""
    return [
        reason_sentence(reason) for reason in (*recommendation.reasons, *recommendation.not_fixed)
    ]


def reason_sentence(reason: Reason) -> str:
    return to_sentence(describe(reason))


def describe(reason: Reason) -> str:
    return describe_reason(reason).render(language())
