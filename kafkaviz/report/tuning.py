"""The report's section on index.interval.bytes.

It recommends to keep or change it, and shows the cost curves, a comparison with today's interval,
limits and assumptions.
"""

from collections.abc import Sequence
from typing import TypeGuard, cast

from kafkaviz import units
from kafkaviz.analysis import tuning
from kafkaviz.analysis.tuning import SETTING, IntervalCost, Recommendation, tuning_text
from kafkaviz.analysis.tuning.tuning_case import BROKER, TuningCase
from kafkaviz.analysis.tuning.tuning_text import format_us
from kafkaviz.figures.text.segment_text import left_out_text
from kafkaviz.figures.text.sentences import join_sentences
from kafkaviz.figures.tuning import before_after, limit_map, tornado, tuning_curve, tuning_verdict
from kafkaviz.figures.tuning.tuning_verdict import range_text
from kafkaviz.html import Html, join, tag, worded
from kafkaviz.messages import language, message, say
from kafkaviz.report.html import Drawing, ReportSection, details, mark, mono, note, table
from kafkaviz.report.subject import ReportTuning, Subject

TOPICS = 400
ELSEWHERE = tuning_curve.COMPARED_BYTES
CHANGES = {before_after.BETTER: "better", before_after.WORSE: "worse"}
HEADING = message("report.tuning_heading")


def section(subject: Subject) -> ReportSection:
    """Returns the section. If nothing can be tuned, it says why."""
    if subject.tuning is None:
        return ReportSection(
            "tuning",
            HEADING.render(language()),
            note(say("report.nothing_told", why=subject.untuned_reason)),
        )
    report_tuning = subject.tuning
    curves = _curves(report_tuning)
    other_drawings = _other_drawings(report_tuning)
    drawings = (*curves, *other_drawings)
    omissions = left_out_text(
        report_tuning.source.inactive_segments,
        is_metadata_left_out=report_tuning.source.metadata_left_out,
    )
    middle = _intervals(report_tuning), _topics(report_tuning), _comparison(report_tuning)
    body = (
        _verdict(report_tuning),
        *(drawing.html for drawing in curves),
        *middle,
        *(drawing.html for drawing in other_drawings),
        _omissions(report_tuning),
    )
    return ReportSection(
        "tuning",
        HEADING.render(language()),
        join((note(omissions), *body) if omissions else body),
        drawings,
    )


def verdict_view(report_tuning: ReportTuning) -> tuning_verdict.VerdictView:
    return tuning_verdict.view(
        report_tuning.overall,
        report_tuning.case.measurement,
        report_tuning.case.today,
        budgets=report_tuning.budgets,
        costs=report_tuning.costs,
        entries=report_tuning.source.entry_counts,
    )


def describe_own_intervals(report_tuning: ReportTuning) -> str:
    """Says how many of several topics would gain from their own interval; "" for one topic."""
    changing_count = sum(map(_changes, report_tuning.answers.values()))
    if len(report_tuning.source.cases) < 2:
        return ""

    if not changing_count:
        return say("report.none_gains")
    return say("report.some_gain", n=changing_count, count=len(report_tuning.source.cases))


def compared_interval(report_tuning: ReportTuning) -> IntervalCost:
    """Returns the interval to compare with today's.

    It is the one that the budgets alone would choose. If that is today's, a longer interval is
    returned, to show its cost.
    """
    overall = report_tuning.overall
    if overall.considered_bytes != overall.current_cost.interval_bytes:
        return next(
            interval
            for interval in report_tuning.intervals
            if interval.interval_bytes == overall.considered_bytes
        )
    return next(
        (interval for interval in report_tuning.intervals if interval.interval_bytes >= ELSEWHERE),
        overall.current_cost,
    )


# ---- the answer


def _verdict(report_tuning: ReportTuning) -> Html:
    verdict = verdict_view(report_tuning)
    boxes = (
        tag("p", tag("b", f"{say('tuning.box_head', word=word)} "), text)
        for word, text in verdict.boxes
    )
    reasons = (
        tag("li", tuning_text.describe_reason(why).render(language()))
        for why in report_tuning.overall.reasons
    )
    head = tag(
        "div", mark(verdict.mark), tag("div", tag("h3", verdict.headline), tag("p", verdict.reason))
    )
    why = details(say("tuning.every_reason"), tag("ul", *reasons))
    return join(
        (
            tag("div", head, class_=f"verdict {verdict.mark}"),
            tag("div", *boxes, class_="boxes"),
            why,
        )
    )


def _curves(report_tuning: ReportTuning) -> tuple[Drawing, ...]:
    overall = report_tuning.overall
    measured = report_tuning.case.measurement
    least = measured.parts.least_batch_bytes
    curve = tuning_curve.view(
        report_tuning.intervals,
        overall.current_cost,
        overall.considered_bytes,
        log_bytes=measured.log_bytes,
        least_batch_bytes=least,
        budgets=report_tuning.budgets,
        costs=report_tuning.costs,
        is_today_known=report_tuning.case.today.is_interval_known,
    )
    draw = tuning_curve.headers_figure, tuning_curve.bytes_figure
    captions = tuning_curve.captions(curve)
    return tuple(
        Drawing(name, title, words, lambda mode, how=how: how(curve, mode))
        for name, title, words, how in zip(
            ("headers", "bytes"), curve.titles, captions, draw, strict=True
        )
    )


def _intervals(report_tuning: ReportTuning) -> Html:
    heads = (
        say("tuning.head_interval"),
        say("tuning.head_entries"),
        say("common.both_indexes"),
        say("report.of_the_log"),
        say("tuning.head_headers_mean"),
        "p50",
        "p99",
        say("cli_tune.head_max"),
        say("report.warm_p99_modelled"),
    )
    rows = [
        (
            units.format_count(interval.interval_bytes),
            units.format_count(int(interval.row["entries"])),
            units.format_bytes(int(interval.row["index_bytes"])),
            units.format_percent(interval.index_share, 1),
            f"{interval.row['headers_mean']:.1f}",
            *(
                units.format_count(int(interval.row[f"headers_{name}"]))
                for name in ("p50", "p99", "max")
            ),
            range_text(interval.p99_us),
        )
        for interval in report_tuning.intervals
    ]
    today = next(
        place
        for place, interval in enumerate(report_tuning.intervals)
        if interval.interval_bytes == report_tuning.overall.current_cost.interval_bytes
    )
    return details(
        say("tuning.every_interval"),
        table(say("report.every_interval_today"), heads, rows, "rrrrrrrrr", today),
    )


# ---- topic by topic


def _topics(report_tuning: ReportTuning) -> Html:
    if len(report_tuning.source.cases) < 2:
        return Html("")
    cases = sorted(report_tuning.source.cases, key=lambda case: (-case.index_share, case.name))
    heads = (
        say("tuning.head_topic"),
        say("tuning.head_log"),
        say("tuning.head_batch_mean"),
        say("tuning.head_interval"),
        say("tuning.head_index_share"),
        say("tuning.head_headers_mean"),
        say("report.warm_p99"),
        say("tuning.head_answer"),
    )
    rows = (_topic(report_tuning, case) for case in cases[:TOPICS])
    more = say("report.topics_not_listed", n=len(cases) - TOPICS) if len(cases) > TOPICS else ""
    metadata = say("tuning.metadata_left") if report_tuning.source.metadata_left_out else ""
    foot = note(join_sentences((more, metadata))) if more or metadata else ""
    head = tag("h3", say("tuning.topics") + describe_own_intervals(report_tuning))
    return join((head, table(say("report.topics_densest_first"), heads, rows, "crrrrrrl"), foot))


def _topic(report_tuning: ReportTuning, case: TuningCase) -> tuple:
    answer = report_tuning.answers.get(case.name)
    if answer is None:
        return case.name, "0 B", *[units.MISSING] * 5, say("tuning.no_batch")
    kept_text = say("curves.keep" if answer.is_today_known else "curves.no_change")
    says = (
        kept_text
        if answer.verdict == tuning.TuningVerdict.KEEP
        else tag("b", units.format_count(answer.value))
    )
    return (
        case.name,
        units.format_bytes(case.measurement.log_bytes),
        units.format_bytes(case.measurement.batch_bytes),
        units.format_count(answer.current_cost.interval_bytes),
        units.format_percent(answer.current_cost.index_share, 1),
        f"{answer.current_cost.row['headers_mean']:.1f}",
        f"≈ {format_us(answer.current_cost.p99_us.typical)}",
        says,
    )


# ---- before and after


def _comparison(report_tuning: ReportTuning) -> Html:
    today = report_tuning.overall.current_cost
    other = compared_interval(report_tuning)
    if today.interval_bytes == other.interval_bytes:
        return Html("")
    measured = report_tuning.case.measurement
    names = [units.format_bytes(interval.interval_bytes) for interval in (today, other)]
    times = today.time_entries, other.time_entries
    config = report_tuning.case.today.config
    limit_before, limit_after = (
        tuning.limits_at(measured, config, interval.interval_bytes).binding
        for interval in (today, other)
    )
    rows = [
        (
            row.name,
            row.before,
            row.after,
            tag("span", row.change, class_=CHANGES.get(row.kind)),
            row.basis,
        )
        for row in before_after.rows(
            today,
            other,
            report_tuning.costs,
            budgets=report_tuning.budgets,
            times=times,
            binding_limits=(limit_before, limit_after),
        )
    ]
    head = tag("h3", say("report.as_it_is_beside", today=names[0], other=names[1]))
    heads = (
        say("health.column_what"),
        names[0],
        names[1],
        say("common.change"),
        say("tuning.how_known"),
    )
    return join(
        (
            head,
            table(say("report.beside", today=names[0], other=names[1]), heads, rows, "wrrrw"),
            _command(report_tuning, other),
        )
    )


def _command(report_tuning: ReportTuning, other: IntervalCost) -> Html:
    """Returns the command that makes the recommended change, or a note that none is recommended.

    If topics differ, there is one command per topic that changes.
    """
    if any(reason.code == "topic-by-topic" for reason in report_tuning.overall.reasons):
        lines = [
            tuning_text.alter_line(SETTING, answer.value, name)
            for name, answer in sorted(report_tuning.answers.items())
            if _changes(answer)
        ]
        if lines:
            return _lines(say("report.where_another"), lines)
        return note(say("report.no_change"))
    if not _changes(report_tuning.overall):
        is_longer = other.interval_bytes != report_tuning.overall.considered_bytes
        return note(say("report.no_change_longer" if is_longer else "report.no_change"))
    topic = None if report_tuning.source.kind == BROKER else report_tuning.case.today.topic
    return _lines(
        verdict_view(report_tuning).command_lead,
        [tuning_text.alter_line(SETTING, report_tuning.overall.value, topic)],
    )


def _changes(recommendation: Recommendation | None) -> TypeGuard[Recommendation]:
    return recommendation is not None and recommendation.verdict == tuning.TuningVerdict.CHANGE


def _lines(lead: str, lines: Sequence[str]) -> Html:
    code = tag("pre", tag("code", "\n".join(lines)), class_="command", tabindex="0")
    return join(
        (
            tag("p", lead, class_="lead"),
            code,
            note(tuning_text.describe_reach(SETTING).render(language())),
        )
    )


# ---- limits and assumptions


def _other_drawings(report_tuning: ReportTuning) -> tuple[Drawing, ...]:
    config = report_tuning.case.today.config
    overall = report_tuning.overall
    limits = limit_map.view(
        report_tuning.case.measurement, config, overall.considered_bytes, config.segment_index_bytes
    )
    words = limit_map.index_size_text(report_tuning.case.measurement, config)
    heads = (say("tuning.head_interval"), say("tuning.head_safe"), say("tuning.head_first_today"))
    rows = (
        (units.format_count(interval), units.format_count(safe), cause)
        for interval, safe, cause in limit_map.rows(limits)
    )
    safe = details(
        say("common.limits_table"),
        note(words),
        table(limits.title, heads, rows, "rrl"),
    )
    inputs = (
        report_tuning.case.measurement,
        report_tuning.case.today,
        report_tuning.budgets,
        report_tuning.costs,
    )
    recommendation = cast(Recommendation, tuning.recommend(*inputs))
    tornado_view = tornado.view(
        tuning.tornado(*inputs),
        (str(recommendation.verdict), recommendation.value),
        recommendation.current_cost.p99_us.typical,
        report_tuning.budgets.p99_us,
    )
    ends = details(
        say("common.as_table"),
        table(tornado_view.title, tornado.column_titles(), tornado.rows(tornado_view), "wrrrrll"),
    )
    return (
        Drawing(
            "limits",
            limits.title,
            limits.caption,
            lambda mode: limit_map.figure(limits, mode),
            safe,
        ),
        Drawing(
            "assumptions",
            tornado_view.title,
            tornado_view.caption,
            lambda mode: tornado.figure(tornado_view, mode),
            ends,
        ),
    )


def _omissions(report_tuning: ReportTuning) -> Html:
    lines = [
        tag("li", worded("common.labelled", where=mono(problem.path.name), text=problem.what))
        for problem in report_tuning.source.problems
    ]
    if lines:
        return join((tag("h3", say("report.left_out_of_tuning")), tag("ul", *lines)))
    return Html("")
