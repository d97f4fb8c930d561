"""What the report says of the index interval: keep or change, with both curves, today beside
another, limits and assumptions.
"""

from collections.abc import Iterable, Sequence
from typing import TypeGuard, cast

from kafkaviz import units
from kafkaviz.analyse import tuning
from kafkaviz.analyse.tuning import SETTING, At, Recommendation
from kafkaviz.analyse.tuning import words as tuning_words
from kafkaviz.analyse.tuning.source import BROKER, Case
from kafkaviz.figures import (
    before_after,
    limit_map,
    tornado,
    tuning_curve,
    tuning_verdict,
    unused_words,
)
from kafkaviz.figures.tuning_terms import between, micros
from kafkaviz.reporting.html import Drawing, Html, Part, folded, join, mark, mono, note, table, tag
from kafkaviz.reporting.subject import Subject, Tuned

TOPICS = 400
ELSEWHERE = tuning_curve.ELSEWHERE
CHANGES = {before_after.BETTER: "better", before_after.WORSE: "worse"}
HEADING = "What another index interval would have cost"


def part(subject: Subject) -> Part:
    """The section; of a directory where nothing can be tuned, why."""
    if subject.tuned is None:
        return Part("tuning", HEADING, note(f"Nothing is told of it: {subject.untuned}."))
    of = subject.tuned
    curves, others = _curves(of), _others(of)
    drawings = (*curves, *others)
    left = unused_words.left_out(of.source.unused, of.source.metadata_left_out)
    middle = _intervals(of), _topics(of), _compared(of)
    body = (
        _verdict(of),
        *(one.html for one in curves),
        *middle,
        *(one.html for one in others),
        _left_out(of),
    )
    return Part("tuning", HEADING, join((note(left), *body) if left else body), drawings)


def verdict_view(of: Tuned) -> tuning_verdict.VerdictView:
    """The answer in words, as on the Tuning page."""
    cases = of.source.cases
    known = [one.held for one in cases if one.held is not None]
    held = _summed(known) if len(known) == len(cases) else None
    entries = tuning_verdict.Entries(
        _summed(one.replayed for one in cases), held, topics=len(cases)
    )
    return tuning_verdict.view(
        of.whole, of.case.measured, of.case.today, of.budgets, of.costs, entries
    )


def _summed(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    offsets, times = zip(*pairs, strict=True)
    return sum(offsets), sum(times)


def own_words(of: Tuned) -> str:
    """Of several topics, how many would gain by an interval of their own; empty of one."""
    changing = sum(map(_changes, of.answers.values()))
    if len(of.source.cases) < 2:
        return ""
    many = (
        f"{units.group(changing)} of {units.group(len(of.source.cases))} topics would gain by an "
        "interval of their own"
    )
    return f"; {many if changing else 'no topic would gain by another interval'}"


def considered(of: Tuned) -> At:
    """What today is held against: what the budgets alone would choose, or where that is today's a
    longer interval, to see the price.
    """
    whole = of.whole
    if whole.considered != whole.today.interval_bytes:
        return next(one for one in of.every if one.interval_bytes == whole.considered)
    return next((one for one in of.every if one.interval_bytes >= ELSEWHERE), whole.today)


# ---- the answer


def _verdict(of: Tuned) -> Html:
    shown = verdict_view(of)
    boxes = (tag("p", tag("b", f"{word}: "), text) for word, text in shown.boxes)
    reasons = (tag("li", tuning_words.words(why)) for why in of.whole.because)
    head = tag("div", mark(shown.mark), tag("div", tag("h3", shown.headline), tag("p", shown.why)))
    why = folded("Every reason", tag("ul", *reasons))
    return join(
        (tag("div", head, class_=f"verdict {shown.mark}"), tag("div", *boxes, class_="boxes"), why)
    )


def _curves(of: Tuned) -> tuple[Drawing, ...]:
    whole, measured = of.whole, of.case.measured
    least = measured.parts.least_batch_bytes
    shown = tuning_curve.view(
        of.every, whole.today, whole.considered, measured.log_bytes, least, of.budgets, of.costs
    )
    draw = tuning_curve.headers_figure, tuning_curve.bytes_figure
    below = tuning_curve.below()
    return tuple(
        Drawing(name, title, words, lambda mode, how=how: how(shown, mode))
        for name, title, words, how in zip(
            ("headers", "bytes"), shown.titles, below, draw, strict=True
        )
    )


def _intervals(of: Tuned) -> Html:
    heads = (
        "Interval",
        "Entries",
        "Both indexes",
        "Of the log",
        "Headers, mean",
        "p50",
        "p99",
        "max",
        "p99 in page cache, modelled",
    )
    rows = [
        (
            units.group(one.interval_bytes),
            units.group(int(one.row["entries"])),
            units.size(int(one.row["index_bytes"])),
            units.share(one.index_share, 1),
            f"{one.row['headers_mean']:.1f}",
            *(units.group(int(one.row[f"headers_{name}"])) for name in ("p50", "p99", "max")),
            between(one.p99_us),
        )
        for one in of.every
    ]
    today = next(
        place
        for place, one in enumerate(of.every)
        if one.interval_bytes == of.whole.today.interval_bytes
    )
    return folded(
        "Every interval as a table",
        table("Every interval, today’s marked", heads, rows, "rrrrrrrrr", today),
    )


# ---- topic by topic


def _topics(of: Tuned) -> Html:
    if len(of.source.cases) < 2:
        return Html("")
    cases = sorted(of.source.cases, key=lambda one: (-one.index_share, one.name))
    heads = (
        "Topic",
        "Log",
        "Batch, mean",
        "Interval",
        "Index, of the log",
        "Headers, mean",
        "p99 in page cache",
        "Answer",
    )
    rows = (_topic(of, one) for one in cases[:TOPICS])
    more = (
        f"{units.group(len(cases) - TOPICS)} more are not listed. " if len(cases) > TOPICS else ""
    )
    metadata = (
        "__cluster_metadata is left as it is: its small batches need their index."
        if of.source.metadata_left_out
        else ""
    )
    foot = note(more + metadata) if more or metadata else ""
    head = tag("h3", f"Topic by topic, the densest index first{own_words(of)}")
    return join((head, table("Topics, the densest index first", heads, rows, "crrrrrrl"), foot))


def _topic(of: Tuned, case: Case) -> tuple:
    one = of.answers.get(case.name)
    if one is None:
        return case.name, "0 B", *[units.MISSING] * 5, "no batch"
    says = "keep" if one.verdict == tuning.Verdict.KEEP else tag("b", units.group(one.value))
    return (
        case.name,
        units.size(case.measured.log_bytes),
        units.size(case.measured.batch_bytes),
        units.group(one.today.interval_bytes),
        units.share(one.today.index_share, 1),
        f"{one.today.row['headers_mean']:.1f}",
        f"≈ {micros(one.today.p99_us.typical)}",
        says,
    )


# ---- before and after


def _compared(of: Tuned) -> Html:
    now, other = of.whole.today, considered(of)
    if now.interval_bytes == other.interval_bytes:
        return Html("")
    measured, names = of.case.measured, [units.size(one.interval_bytes) for one in (now, other)]
    times = now.time_entries, other.time_entries
    config = of.case.today.config
    before, after = (
        tuning.limits_at(measured, config, one.interval_bytes).binding for one in (now, other)
    )
    rows = [
        (
            one.name,
            one.before,
            one.after,
            tag("span", one.change, class_=CHANGES.get(one.kind)),
            one.known,
        )
        for one in before_after.rows(now, other, of.costs, of.budgets, times, (before, after))
    ]
    head = tag("h3", f"{names[0]}, as it is, beside {names[1]}")
    heads = ("What", names[0], names[1], "Change", "How it is known")
    return join(
        (head, table(f"{names[0]} beside {names[1]}", heads, rows, "wrrrw"), _command(of, other))
    )


def _command(of: Tuned, other: At) -> Html:
    """The line that changes it, where that is proposed or was considered; where topics differ one
    for each that changes.
    """
    if any(one.code == "topic-by-topic" for one in of.whole.because):
        lines = [
            tuning_words.alter_line(SETTING, one.value, name)
            for name, one in sorted(of.answers.items())
            if _changes(one)
        ]
        return (
            _lines("Topic by topic, where the answer is another interval:", lines)
            if lines
            else note("No change is proposed.")
        )
    if other.interval_bytes != of.whole.considered:
        return note(
            "No change is proposed: the right column shows what a longer interval would cost."
        )
    topic = None if of.source.kind == BROKER else of.case.today.topic
    return _lines(
        verdict_view(of).command_lead,
        [tuning_words.alter_line(SETTING, other.interval_bytes, topic)],
    )


def _changes(one: Recommendation | None) -> TypeGuard[Recommendation]:
    return one is not None and one.verdict == tuning.Verdict.CHANGE


def _lines(lead: str, lines: Sequence[str]) -> Html:
    shown = tag("pre", tag("code", "\n".join(lines)), class_="command", tabindex="0")
    return join((tag("p", lead, class_="lead"), shown, note(tuning_words.reach_words(SETTING))))


# ---- limits and assumptions


def _others(of: Tuned) -> tuple[Drawing, ...]:
    config, whole = of.case.today.config, of.whole
    limits = limit_map.view(of.case.measured, config, whole.considered, config.segment_index_bytes)
    words = limit_map.words(limits, of.case.measured, config)
    heads = ("Interval", "Safe segment.index.bytes", "First with today’s")
    rows = (
        (units.group(interval), units.group(safe), cause)
        for interval, safe, cause in limit_map.rows(limits)
    )
    safe = folded(
        "As a table, and the index that is safe",
        note(words),
        table(limits.title, heads, rows, "rrl"),
    )
    asked = of.case.measured, of.case.today, of.budgets, of.costs
    found = cast(Recommendation, tuning.recommend(*asked))
    moved = tornado.view(
        tuning.tornado(*asked),
        (str(found.verdict), found.value),
        found.today.p99_us.typical,
        of.budgets.p99_us,
    )
    ends = folded(
        "As a table", table(moved.title, tornado.columns(), tornado.rows(moved), "wrrrrll")
    )
    return (
        Drawing(
            "limits",
            limits.title,
            limit_map.below(),
            lambda mode: limit_map.figure(limits, mode),
            safe,
        ),
        Drawing(
            "assumptions",
            moved.title,
            tornado.below(),
            lambda mode: tornado.figure(moved, mode),
            ends,
        ),
    )


def _left_out(of: Tuned) -> Html:
    """What could not be read for it."""
    told = [tag("li", mono(one.path.name), f": {one.what}") for one in of.source.problems]
    return join((tag("h3", "Left out of the tuning"), tag("ul", *told))) if told else Html("")
