"""The report's section on index.interval.bytes: whether to change the interval, and the costs."""

from functools import partial
from typing import TypeGuard

from kafkaviz.analysis.tuning import tuning_text
from kafkaviz.analysis.tuning.measurement import SETTING
from kafkaviz.analysis.tuning.recommendation import Recommendation, TuningVerdict
from kafkaviz.analysis.tuning.tuning_case import BROKER
from kafkaviz.figures.tuning import tuning_curve, tuning_verdict
from kafkaviz.html import Html, join, tag, worded
from kafkaviz.messages import render, say
from kafkaviz.render.segment_text import left_out_text
from kafkaviz.render.sentences import join_sentences
from kafkaviz.report.html import Drawing, ReportSection, details, mono, note, table, verdict_box
from kafkaviz.report.subject import ReportTuning, Subject

TOPICS = 400


def section(subject: Subject) -> ReportSection:
    """Returns the section on index.interval.bytes. The section says why if nothing can be tuned."""
    heading = say("report.tuning_heading")
    if subject.tuning is None:
        why = note(say("report.nothing_told", why=subject.untuned_reason))
        return ReportSection("tuning", heading, [why])
    report_tuning = subject.tuning
    drawing = _curve(report_tuning)
    omissions = left_out_text(
        report_tuning.source.inactive_segments,
        is_metadata_left_out=report_tuning.source.metadata_left_out,
    )
    body = (
        note(omissions) if omissions else "",
        *_verdict(report_tuning),
        _command(report_tuning),
        drawing.html,
        _intervals(report_tuning),
        *_topics(report_tuning),
        *_omissions(report_tuning),
    )
    return ReportSection("tuning", heading, body, (drawing,))


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


def _verdict(report_tuning: ReportTuning) -> list[Html]:
    verdict = verdict_view(report_tuning)
    reasons = (
        tag("li", render(tuning_text.describe_reason(why))) for why in report_tuning.overall.reasons
    )
    known = tuning_text.describe_known(report_tuning.case, report_tuning.costs)
    return [
        verdict_box(verdict.mark, verdict.headline, verdict.reason),
        note(render(known)),
        details(say("tuning.every_reason"), tag("ul", *reasons)),
    ]


def _curve(report_tuning: ReportTuning) -> Drawing:
    overall = report_tuning.overall
    curve = tuning_curve.view(
        report_tuning.intervals,
        overall.current_cost,
        overall.considered_bytes,
        least_batch_bytes=report_tuning.case.measurement.parts.least_batch_bytes,
        budgets=report_tuning.budgets,
        costs=report_tuning.costs,
        is_today_known=report_tuning.case.today.is_interval_known,
    )
    return Drawing("headers", curve.title, curve.caption, partial(tuning_curve.figure, curve))


def _intervals(report_tuning: ReportTuning) -> Html:
    heads, rows, today = tuning_curve.table(
        report_tuning.intervals, report_tuning.overall.current_cost.interval_bytes, has_share=True
    )
    return details(
        say("tuning.every_interval"),
        table(say("report.every_interval_today"), heads, rows, "r" * len(heads), today),
    )


def _topics(report_tuning: ReportTuning) -> list[Html]:
    if len(report_tuning.source.cases) < 2:
        return []
    cases = sorted(report_tuning.source.cases, key=lambda case: (-case.index_share, case.name))
    heads = [say(f"tuning.head_{head}") for head in tuning_verdict.TOPIC_HEADS]
    answers = report_tuning.answers
    rows = (tuning_verdict.topic_cells(case, answers.get(case.name)) for case in cases[:TOPICS])
    parts = [
        tag("h3", say("tuning.topics") + describe_own_intervals(report_tuning)),
        table(say("report.topics_densest_first"), heads, rows, "crrrrrrl"),
    ]
    more = say("report.topics_not_listed", n=len(cases) - TOPICS) if len(cases) > TOPICS else ""
    metadata = say("tuning.metadata_left") if report_tuning.source.metadata_left_out else ""
    if more or metadata:
        parts.append(note(join_sentences((more, metadata))))
    return parts


def _command(report_tuning: ReportTuning) -> Html:
    lines = []
    lead = ""
    if any(reason.code == "topic-by-topic" for reason in report_tuning.overall.reasons):
        lines = [
            tuning_text.alter_line(SETTING, answer.value, name)
            for name, answer in sorted(report_tuning.answers.items())
            if _changes(answer)
        ]
        lead = say("report.where_another")
    elif _changes(report_tuning.overall):
        topic = None if report_tuning.source.kind == BROKER else report_tuning.case.today.topic
        lines = [tuning_text.alter_line(SETTING, report_tuning.overall.value, topic)]
        lead = say("tuning.to_change")
    if not lines:
        return note(say("report.no_change"))
    code = tag("pre", tag("code", "\n".join(lines)), class_="command", tabindex="0")
    reach = note(render(tuning_text.describe_reach(SETTING)))
    return join([tag("p", lead, class_="lead"), code, reach])


def _changes(recommendation: Recommendation | None) -> TypeGuard[Recommendation]:
    return recommendation is not None and recommendation.verdict == TuningVerdict.CHANGE


def _omissions(report_tuning: ReportTuning) -> list[Html]:
    lines = [
        tag("li", worded("common.labelled", where=mono(problem.path.name), text=problem.what))
        for problem in report_tuning.source.problems
    ]
    return [tag("h3", say("report.left_out_of_tuning")), tag("ul", *lines)] if lines else []
