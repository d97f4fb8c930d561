"""The report's section on index.interval.bytes: whether to change the interval, and the costs."""

from collections.abc import Sequence
from functools import partial
from typing import TypeGuard

from kafkaviz.analysis.tuning import tuning_text
from kafkaviz.analysis.tuning.measurement import SETTING
from kafkaviz.analysis.tuning.recommendation import Recommendation, TuningVerdict
from kafkaviz.analysis.tuning.tuning_case import BROKER
from kafkaviz.figures.text.segment_text import left_out_text
from kafkaviz.figures.text.sentences import join_sentences
from kafkaviz.figures.tuning import tuning_curve, tuning_verdict
from kafkaviz.html import Html, join, tag, worded
from kafkaviz.messages import language, message, render, say
from kafkaviz.report.html import Drawing, ReportSection, details, mark, mono, note, table
from kafkaviz.report.subject import ReportTuning, Subject

TOPICS = 400
HEADING = message("report.tuning_heading")


def section(subject: Subject) -> ReportSection:
    """Returns the section on index.interval.bytes. If nothing can be tuned, it says why."""
    if subject.tuning is None:
        return ReportSection(
            "tuning",
            HEADING.render(language()),
            note(say("report.nothing_told", why=subject.untuned_reason)),
        )
    report_tuning = subject.tuning
    drawings = _curves(report_tuning)
    omissions = left_out_text(
        report_tuning.source.inactive_segments,
        is_metadata_left_out=report_tuning.source.metadata_left_out,
    )
    body = (
        _verdict(report_tuning),
        _command(report_tuning),
        *(drawing.html for drawing in drawings),
        _intervals(report_tuning),
        _topics(report_tuning),
        _omissions(report_tuning),
    )
    return ReportSection(
        "tuning",
        HEADING.render(language()),
        join((note(omissions), *body) if omissions else body),
        drawings,
    )


def verdict_view(report_tuning: ReportTuning) -> tuning_verdict.VerdictView:
    return tuning_verdict.view(report_tuning.overall)


def describe_own_intervals(report_tuning: ReportTuning) -> str:
    """Says how many topics would gain from their own interval; "" if there is only one topic."""
    changing_count = sum(map(_changes, report_tuning.answers.values()))
    if len(report_tuning.source.cases) < 2:
        return ""

    if not changing_count:
        return say("report.none_gains")
    return say("report.some_gain", n=changing_count, count=len(report_tuning.source.cases))


# ---- the answer


def _verdict(report_tuning: ReportTuning) -> Html:
    verdict = verdict_view(report_tuning)
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
            note(render(tuning_text.describe_known(report_tuning.case, report_tuning.costs))),
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
        least_batch_bytes=least,
        budgets=report_tuning.budgets,
        costs=report_tuning.costs,
        is_today_known=report_tuning.case.today.is_interval_known,
    )
    draw = partial(tuning_curve.figure, curve)
    return (Drawing("headers", curve.title, curve.caption, draw),)


def _intervals(report_tuning: ReportTuning) -> Html:
    heads, rows, today = tuning_curve.table(
        report_tuning.intervals,
        report_tuning.overall.current_cost.interval_bytes,
        has_share=True,
    )
    return details(
        say("tuning.every_interval"),
        table(say("report.every_interval_today"), heads, rows, "r" * len(heads), today),
    )


# ---- topic by topic


def _topics(report_tuning: ReportTuning) -> Html:
    if len(report_tuning.source.cases) < 2:
        return Html("")
    cases = sorted(report_tuning.source.cases, key=lambda case: (-case.index_share, case.name))
    heads = [say(f"tuning.head_{head}") for head in tuning_verdict.TOPIC_HEADS]
    answers = report_tuning.answers
    rows = (tuning_verdict.topic_cells(case, answers.get(case.name)) for case in cases[:TOPICS])
    more = say("report.topics_not_listed", n=len(cases) - TOPICS) if len(cases) > TOPICS else ""
    metadata = say("tuning.metadata_left") if report_tuning.source.metadata_left_out else ""
    foot = note(join_sentences((more, metadata))) if more or metadata else ""
    head = tag("h3", say("tuning.topics") + describe_own_intervals(report_tuning))
    return join(
        (
            head,
            table(say("report.topics_densest_first"), heads, rows, "crrrrrrl"),
            foot,
        )
    )


# ---- what to run


def _command(report_tuning: ReportTuning) -> Html:
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
        return note(say("report.no_change"))
    topic = None if report_tuning.source.kind == BROKER else report_tuning.case.today.topic
    return _lines(
        say("tuning.to_change"),
        [tuning_text.alter_line(SETTING, report_tuning.overall.value, topic)],
    )


def _changes(recommendation: Recommendation | None) -> TypeGuard[Recommendation]:
    return recommendation is not None and recommendation.verdict == TuningVerdict.CHANGE


def _lines(lead: str, lines: Sequence[str]) -> Html:
    code = tag("pre", tag("code", "\n".join(lines)), class_="command", tabindex="0")
    return join(
        (
            tag("p", lead, class_="lead"),
            code,
            note(tuning_text.describe_reach(SETTING).render(language())),
        )
    )


def _omissions(report_tuning: ReportTuning) -> Html:
    lines = [
        tag("li", worded("common.labelled", where=mono(problem.path.name), text=problem.what))
        for problem in report_tuning.source.problems
    ]
    if lines:
        return join((tag("h3", say("report.left_out_of_tuning")), tag("ul", *lines)))
    return Html("")
