"""The answer of a recommendation in words: one line, its reason, and below what is sure, what is
modelled, what has no effect.
"""

from dataclasses import dataclass
from typing import cast

from kafkaviz.analyse.cost_model import CALIBRATED, Costs
from kafkaviz.analyse.tuning import Budgets, Measured, Recommendation, Today, Verdict, spent
from kafkaviz.figures import tuning_reasons
from kafkaviz.figures.listed import both, listed, sentences
from kafkaviz.figures.tuning_terms import between, micros
from kafkaviz.units import group, share, size
from kafkaviz.words import say

BATCH_FIRST, KEEP, LOWER, RAISE = "batch first", "keep", "lower", "raise"
# reasons to keep an interval, whatever another would bring
DECIDE = ("unmeetable", "on-disk", "coarser", "denser")
MARKS = {KEEP: "ok", BATCH_FIRST: "info", LOWER: "warning", RAISE: "info"}


@dataclass(frozen=True)
class Entries:
    """Of both indexes: replayed at today's interval, and held by the directory; None where an index
    is missing.

    is_made: a workload has no directory. topics: how many, each replayed at its own interval.
    """

    replayed: tuple[int, int]
    held: tuple[int, int] | None
    is_made: bool = False
    topics: int = 1


@dataclass(frozen=True)
class VerdictView:
    """kind: "keep", "batch first", "lower" or "raise". boxes: (a word, what it heads). flips: what
    would have to be true for another.
    """

    kind: str
    mark: str
    headline: str
    why: str
    boxes: tuple[tuple[str, str], ...]
    command_lead: str


def view(
    found: Recommendation,
    measured: Measured,
    today: Today,
    budgets: Budgets,
    costs: Costs,
    entries: Entries,
) -> VerdictView:
    """entries: what the replay gives, and what there is to hold against it."""
    kind = _kind(found)
    key = kind.replace(" ", "_")
    why = {KEEP: _keep, BATCH_FIRST: _batch_first}.get(kind, _change)(found, measured, budgets)
    mark = "info" if kind == KEEP and _reason(found, "over-budget") else MARKS[kind]
    return VerdictView(
        kind,
        mark,
        say(f"verdict.headline_{key}", value=group(found.value)),
        why,
        _boxes(found, measured, today, costs, entries),
        say(f"verdict.command_{key}"),
    )


def _boxes(
    found: Recommendation, measured: Measured, today: Today, costs: Costs, entries: Entries
) -> tuple[tuple[str, str], ...]:
    """What is sure, what is modelled, what has no effect and what no interval changes: of each what
    there is.
    """
    told = {
        "sure": _sure(today, entries),
        "modelled": _modelled(costs),
        "no_effect": _no_effect(measured),
        "not_fixed": _not_fixed(found),
    }
    return tuple((say(f"verdict.box_{name}"), text) for name, text in told.items() if text)


def _kind(found: Recommendation) -> str:
    codes = {one.code for one in (*found.because, *found.not_fixed)}
    if (
        "tiny-batches" in codes
        and "over-budget" in codes
        and found.considered < found.today.interval_bytes
    ):
        return BATCH_FIRST
    if found.verdict == Verdict.KEEP:
        return KEEP
    return LOWER if found.value < found.today.interval_bytes else RAISE


def _reason(found: Recommendation, code: str):
    return next((one for one in found.because if one.code == code), None)


# ---- the reason, a paragraph


def _keep(found: Recommendation, measured: Measured, budgets: Budgets) -> str:
    every = _reason(found, "every-batch-indexed")
    least = group(measured.parts.least_batch_bytes)
    words = []
    if every:
        key = (
            "verdict.default_indexes_all"
            if every.values["is_default"]
            else "verdict.today_indexes_all"
        )
        words.append(say(key, interval=group(every.values["interval"]), least=least))
    words.append(_within(found, budgets))
    topics = _reason(found, "topic-by-topic")
    words.append(tuning_reasons.sentence(topics) if topics else _not_worth(found, budgets))
    return sentences(words)


def _not_worth(found: Recommendation, budgets: Budgets) -> str:
    """What another interval would bring, where that is too little or nothing."""
    now, other = found.today, found.considered
    decides = next((one for one in found.because if one.code in DECIDE), None)
    if decides:
        return tuning_reasons.sentence(decides)
    if _reason(found, "smaller-too-little"):
        saved = int(now.row["index_bytes"]) * (
            found.gain.index_share.typical / now.index_share if now.index_share else 0.0
        )
        part = share(max(found.gain.index_share.typical, 0.0), 1)
        return say(
            "verdict.up_too_little", interval=group(other), saved=size(round(saved)), share=part
        )
    if _reason(found, "faster-too-little"):
        return say(
            "verdict.down_too_little",
            interval=group(other),
            saved=micros(max(found.gain.p99_us.low, 0.0)),
        )
    if other != now.interval_bytes:
        return ""
    asked = spent(now, budgets)
    return (
        say(
            "verdict.smallest_that_fits"
            if asked.keys() == {"index"}
            else "verdict.largest_that_fits"
        )
        if asked
        else ""
    )


def _within(found: Recommendation, budgets: Budgets) -> str:
    """At today's interval the p99 lookup takes about 19 µs warm, inside the 50 µs you allow."""
    now, missed = found.today, _reason(found, "over-budget")
    told = {"p99": micros(now.p99_us.typical), "range": between(now.p99_us)}
    if missed:
        return say(
            "verdict.over",
            **told,
            which=listed(say(f"verdict.over_{one}") for one in missed.values["missed"]),
        )
    if budgets.p99_us is None:
        return say("verdict.unasked", **told)
    return say("verdict.inside", **told, allowed=f"{budgets.p99_us:g}")


def _batch_first(found: Recommendation, measured: Measured, budgets: Budgets) -> str:
    now = found.today
    return say(
        "verdict.batch_single" if measured.single_share > 0.5 else "verdict.batch_tiny",
        batch=group(round(measured.batch_bytes)),
        interval=group(now.interval_bytes),
        headers=f"{now.row['headers_mean']:.0f}",
        p99=micros(now.p99_us.typical),
        range=between(now.p99_us),
        other=group(found.considered),
    )


def _change(found: Recommendation, measured: Measured, budgets: Budgets) -> str:
    gain = found.gain
    if found.value < found.today.interval_bytes:
        grows = share(max(-gain.index_share.typical, 0.0), 1)
        less = {"less": micros(max(gain.p99_us.typical, 0.0)), "range": between(gain.p99_us)}
        return sentences(
            [
                _within(found, budgets),
                say("verdict.lower", value=group(found.value), **less, grows=grows),
            ]
        )
    saved = share(max(gain.index_share.typical, 0.0), 1)
    words = [say("verdict.raise", saved=saved, slower=micros(max(-gain.p99_us.typical, 0.0)))]
    return sentences(
        [*words, say("verdict.remote_small") if _reason(found, "smaller-for-tiered") else ""]
    )


# ---- what stands below


def _sure(today: Today, entries: Entries) -> str:
    told = {"ours": both(map(group, entries.replayed)), "interval": group(today.interval_bytes)}
    if entries.is_made:
        return say("verdict.sure_workload", **told)
    of = "one" if entries.topics == 1 else "each"
    if entries.held is None:
        return say(f"verdict.sure_{of}_missing", **told)
    told["theirs"] = both(map(group, entries.held))
    if entries.held == entries.replayed:
        return say(f"verdict.sure_{of}", **told)
    return say(
        f"verdict.sure_{of}_other", **told, why=say(f"verdict.{_why_not_the_same(today, entries)}")
    )


def _why_not_the_same(today: Today, entries: Entries) -> str:
    """What is known, else what it can be."""
    if today.is_coarse:
        return "differs_coarse"
    ours, our_times = entries.replayed
    theirs, their_times = cast(tuple[int, int], entries.held)
    return "differs_open" if ours == theirs and their_times < our_times else "differs_unknown"


def _modelled(costs: Costs) -> str:
    each = costs.header_us
    told = {
        "low": f"{each.low:.3g}",
        "high": f"{each.high:.3g}",
        "storage": _storage(costs),
        "read": between(costs.storage.read_us),
    }
    if costs.calibrated:
        return say("verdict.modelled_here", **told, day=costs.calibrated)
    return say("verdict.modelled_new" if costs.is_modelled else "verdict.modelled_old", **told)


def _storage(costs: Costs) -> str:
    """Where a read goes, in a sentence: a preset by its name."""
    return say("verdict.own_disk") if costs.storage.name == CALIBRATED else costs.storage.name


def _no_effect(measured: Measured) -> str:
    least = measured.parts.least_batch_bytes
    return say("verdict.no_effect", least=group(least)) if least and least > 64 else ""


def _not_fixed(found: Recommendation) -> str:
    """What no interval changes."""
    codes = {one.code for one in found.not_fixed}
    told = [one.replace("-", "_") for one in ("tiny-batches", "two-headers") if one in codes]
    return say(f"verdict.{'_and_'.join(told)}") if told else ""
