"""The answer of a recommendation in words: one line, its reason, and below what is sure, what is modelled, what has no effect."""

from dataclasses import dataclass

from kafkaviz.analyse import tuning_words
from kafkaviz.analyse.cost_model import Costs
from kafkaviz.analyse.tuning import Budgets, Measured, Recommendation, Today, Verdict
from kafkaviz.figures.tuning_terms import between, micros
from kafkaviz.units import group, share, size

BATCH_FIRST, KEEP, LOWER, RAISE = "batch first", "keep", "lower", "raise"
MARKS = {KEEP: "ok", BATCH_FIRST: "info", LOWER: "warning", RAISE: "info"}
OVER = {"p99": "the p99 lookup", "cold-p99": "the p99 lookup from the device", "cores": "all lookups together", "index": "the index"}
COMMAND_LEADS = {
    KEEP: "If you change it all the same:",
    BATCH_FIRST: "If the producers cannot batch:",
    LOWER: "To change it:",
    RAISE: "To change it:",
}


@dataclass(frozen=True)
class Entries:
    """Of both indexes: replayed at today's interval, and held by the directory; None where an index is missing.

    is_made: a workload has no directory. topics: how many, each replayed at its own interval.
    """

    replayed: tuple[int, int]
    held: tuple[int, int] | None
    is_made: bool = False
    topics: int = 1


@dataclass(frozen=True)
class VerdictView:
    """kind: "keep", "batch first", "lower" or "raise". boxes: (a word, what it heads). flips: what would have to be true for another."""

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
    headline = {KEEP: f"Keep {group(found.value)}", BATCH_FIRST: "Batch first"}.get(kind) or f"{kind.capitalize()} to {group(found.value)}"
    why = {KEEP: _keep, BATCH_FIRST: _batch_first}.get(kind, _change)(found, measured, budgets)
    boxes = [("Sure", _sure(today, entries)), ("Modelled", _modelled(costs)), *_no_effect(measured), *_not_fixed(found)]
    mark = "info" if kind == KEEP and _reason(found, "over-budget") else MARKS[kind]
    return VerdictView(kind, mark, headline, why, tuple(boxes), COMMAND_LEADS[kind])


def _kind(found: Recommendation) -> str:
    codes = {one.code for one in (*found.because, *found.not_fixed)}
    if "tiny-batches" in codes and "over-budget" in codes and found.considered < found.today.interval_bytes:
        return BATCH_FIRST
    if found.verdict == Verdict.KEEP:
        return KEEP
    return LOWER if found.value < found.today.interval_bytes else RAISE


def _reason(found: Recommendation, code: str):
    return next((one for one in found.because if one.code == code), None)


# ---- the reason, a paragraph


def _keep(found: Recommendation, measured: Measured, budgets: Budgets) -> str:
    now, other = found.today, found.considered
    every = _reason(found, "every-batch-indexed")
    words = []
    if every:
        words.append(f"{_default(every.values)} already indexes every batch: the smallest has {group(measured.parts.least_batch_bytes)} B.")
    words.append(_within(found, budgets))
    topics = _reason(found, "topic-by-topic")
    if topics:
        return " ".join([*words, _sentence(tuning_words.words(topics))])
    if _reason(found, "smaller-too-little"):
        saved = int(now.row["index_bytes"]) * (found.gain.index_share.typical / now.index_share if now.index_share else 0.0)
        part = share(max(found.gain.index_share.typical, 0.0), 1)
        words.append(
            f"Going up to {group(other)} would still fit and save {size(round(saved))}, {part} of the log: too little to be worth a change."
        )
    elif _reason(found, "faster-too-little"):
        words.append(
            f"Going down to {group(other)} would save {micros(max(found.gain.p99_us.low, 0.0))} for sure: too little to be worth a change."
        )
    elif other == now.interval_bytes:
        words.append("It is the largest round interval that does." if found.meets_budgets else "No interval comes nearer.")
    return " ".join(words)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _default(values) -> str:
    return f"The default, {group(values['interval'])}," if values["is_default"] else f"Today’s {group(values['interval'])}"


def _within(found: Recommendation, budgets: Budgets) -> str:
    """At today's interval the p99 lookup takes about 19 µs warm, inside the 50 µs you allow."""
    now, missed = found.today, _reason(found, "over-budget")
    told = f"At today’s interval the p99 lookup takes about {micros(now.p99_us.typical)} warm ({between(now.p99_us)})"
    if missed:
        return f"{told}. Over its budget: {', '.join(OVER[one] for one in missed.values['missed'])}."
    allowed = f", inside the {budgets.p99_us:g} µs you allow" if budgets.p99_us is not None else ", and no budget is given for it"
    return f"{told}{allowed}."


def _batch_first(found: Recommendation, measured: Measured, budgets: Budgets) -> str:
    now = found.today
    who = "Records arrive one to a batch" if measured.single_share > 0.5 else "Batches are tiny,"
    return (
        f"{who} of about {group(round(measured.batch_bytes))} B. At {group(now.interval_bytes)} a lookup reads "
        f"{now.row['headers_mean']:.0f} headers, p99 about {micros(now.p99_us.typical)} ({between(now.p99_us)}). Letting the producer "
        "wait a few milliseconds (linger.ms) cuts headers and log; an interval of "
        f"{group(found.considered)} would only trade them for index."
    )


def _change(found: Recommendation, measured: Measured, budgets: Budgets) -> str:
    now, gain = found.today, found.gain
    if found.value < now.interval_bytes:
        grows = share(max(-gain.index_share.typical, 0.0), 1)
        return (
            f"{_within(found, budgets)} {group(found.value)} takes {micros(max(gain.p99_us.typical, 0.0))} off it, {between(gain.p99_us)} "
            f"with the range of the model, for {grows} of the log more in index."
        )
    saved = share(max(gain.index_share.typical, 0.0), 1)
    slower = micros(max(-gain.p99_us.typical, 0.0))
    tiered = " Remote reads stay small beside a fetch." if _reason(found, "smaller-for-tiered") else ""
    return f"It saves {saved} of the log and stays within what you allow: the p99 lookup takes about {slower} more.{tiered}"


# ---- what stands below


def _sure(today: Today, entries: Entries) -> str:
    ours = " and ".join(map(group, entries.replayed))
    if entries.is_made:
        words = "entries, bytes and headers are replayed from the workload’s own batches"
        return f"{words}; {group(today.interval_bytes)} gives {ours} entries."
    of = group(today.interval_bytes) if entries.topics == 1 else "each topic’s own interval"
    told = f"entries, bytes and headers are replayed from the copied log; the replay of {of} gives {ours} entries"
    if entries.held is None:
        return f"{told}. An index is missing, so nothing can be held against it."
    theirs = " and ".join(map(group, entries.held))
    if entries.held == entries.replayed:
        return f"{told}, the directory holds {theirs}."
    return f"{told}, the directory holds {theirs}: {_why_not_the_same(today, entries)}."


def _why_not_the_same(today: Today, entries: Entries) -> str:
    """What is known, else what it can be."""
    if today.is_coarse:
        return "its entries stand for whole appends (KAFKA-806)"
    (ours, our_times), (theirs, their_times) = entries.replayed, entries.held
    if ours == theirs and their_times < our_times:
        return "a segment that was not closed lacks its last time entry"
    return "a restart, a truncation, whole appends (KAFKA-806) or damage can be why"


def _modelled(costs: Costs) -> str:
    each = costs.header_us
    reads = "half of what was measured, for a header took two reads up to 4.0 and takes one from 4.1 on" if costs.is_modelled else (
        "measured on one machine with the two reads a header that Kafka does up to 4.0"
    )  # fmt: skip
    source = f"this machine’s own, of {costs.calibrated}" if costs.calibrated else reads
    device = f" A read from {costs.storage.name} costs {between(costs.storage.read_us)}."
    return f"time. {each.low:g} to {each.high:g} µs a header in page cache, {source}.{device}"


def _no_effect(measured: Measured) -> list[tuple[str, str]]:
    least = measured.parts.least_batch_bytes
    if not least or least <= 64:
        return []
    return [("No effect", f"every interval below {group(least)} gives the same index: no batch is smaller.")]


def _not_fixed(found: Recommendation) -> list[tuple[str, str]]:
    """What no interval changes."""
    codes = {one.code for one in found.not_fixed}
    told = []
    if "tiny-batches" in codes:
        told.append("tiny batches: headers and bookkeeping weigh more than records")
    if "two-headers" in codes:
        told.append("two headers at least: an entry’s key is its batch’s last offset, so a lookup starts one entry earlier")
    return [("Not fixed by any interval", "; ".join(told) + ".")] if told else []
