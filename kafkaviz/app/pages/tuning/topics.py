"""A broker topic by topic, each with its own answer."""

from collections.abc import Callable
from typing import Any, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import tuning
from kafkaviz.analysis.tuning import Recommendation
from kafkaviz.analysis.tuning.source import TuningCase
from kafkaviz.app.pages.tuning.tuning_context import TuningContext, go_to
from kafkaviz.app.state.page_location import BrokerLocation
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import download, to_csv
from kafkaviz.figures import error_text
from kafkaviz.figures.finding_text import end_sentence
from kafkaviz.figures.join_text import join_semicolon
from kafkaviz.figures.tuning_terms import micros
from kafkaviz.words import say, say_count

MOST_TOPICS = 400
TOPIC_HEADS = (
    "topic",
    "log",
    "batch_mean",
    "interval",
    "index_share",
    "headers_mean",
    "warm_p99",
    "answer",
)
TOPIC_COLUMNS = (
    "topic",
    "log_bytes",
    "batch_bytes_mean",
    "interval_bytes",
    "index_bytes",
    "headers_mean",
    "headers_p99",
    "answer",
    "value",
)


def _gain_text(gaining_count: int, count: int) -> str:
    """How many of the topics gain."""
    if not gaining_count:
        return say("tuning.none_gains")
    return (
        say("tuning.one_gains")
        if count == 1
        else say("tuning.some_gain", n=gaining_count, count=count)
    )


def render_topics(context: TuningContext) -> None:
    """Every topic with its own answer, the densest index first; a click opens it."""
    recommendations, cases = (
        context.answer.recommendations,
        sorted(context.source.cases, key=lambda case: -case.index_share),
    )
    changing = sum(
        recommendation is not None and recommendation.verdict == tuning.TuningVerdict.CHANGE
        for recommendation in recommendations.values()
    )
    elements.heading(say("tuning.topics"), _gain_text(changing, len(cases)))
    st.space(10)
    head = "".join(
        f"<th{' class=r' if 0 < place < 7 else ''}>{say(f'tuning.head_{column}')}</th>"
        for place, column in enumerate(TOPIC_HEADS)
    )
    with st.container(key="kv_topics"):
        elements.table(
            head,
            (
                topic_row_html(context, case, recommendations.get(case.name))
                for case in cases[:MOST_TOPICS]
            ),
        )
    if len(cases) > MOST_TOPICS:
        st.html(
            '<p class="kv-sm kv-fnt">'
            f"{say('common.more_in_csv', n=units.group(len(cases) - MOST_TOPICS))}</p>"
        )
    st.space(12)
    with st.container(horizontal=True, vertical_alignment="center", gap=16, key="kv_topics_foot"):
        names = {
            first_partition(cast(BrokerLocation, context.location), case.name): case.name
            for case in cases
        }
        names.pop("", None)
        text = say("tuning.open_topic")
        widget_options: dict[str, Any] = {
            "label_visibility": "collapsed",
            "index": None,
            "placeholder": text,
            "width": 260,
            "key": "kv_topic_open",
        }
        directory = st.selectbox(
            text,
            list(names),
            format_func=lambda name: units.escape_controls(names.get(name, name)),
            **widget_options,
        )
        if directory:
            go_to(context.location, directory)
        download(
            say("tuning.topics_csv"),
            lambda: to_csv(TOPIC_COLUMNS, map(topic_values(recommendations), cases)),
            "topics.csv",
            "kv_topics_csv",
        )
        if context.source.metadata_left_out:
            st.html(f'<span class="kv-sm kv-fnt">{say("tuning.metadata_left")}</span>')
    render_left_out(context)


def topic_row_html(
    context: TuningContext, case: TuningCase, recommendation: Recommendation | None
) -> str:
    """A topic, as a row; its name opens it."""
    name = elements.escape(units.escape_controls(case.name))
    if recommendation is None:
        return (
            f'<tr><td>{name}</td><td class="r">0 B</td>{"<td class=r>–</td>" * 5}<td '
            f'class="kv-fnt">{say("tuning.no_batch")}</td></tr>'
        )
    row, is_kept = (
        recommendation.current_price.row,
        recommendation.verdict == tuning.TuningVerdict.KEEP,
    )
    answer_html = say("curves.keep") if is_kept else f"<b>{units.group(recommendation.value)}</b>"
    return (
        f'<tr><td>{name}</td><td class="r">{units.size(case.measurement.log_bytes)}</td>'
        f'<td class="r">{units.size(case.measurement.batch_bytes)}</td>'
        f'<td class="r">{units.group(recommendation.current_price.interval_bytes)}</td>'
        f'<td class="r">{100 * recommendation.current_price.index_share:.2f} %</td>'
        f'<td class="r">{row["headers_mean"]:.1f}</td>'
        f'<td class="r">≈ {micros(recommendation.current_price.p99_us.typical)}</td>'
        f'<td class="{"kv-fnt" if is_kept else ""}">{answer_html}</td></tr>'
    )


def topic_values(recommendations: dict) -> Callable[[TuningCase], tuple]:
    """A topic, as numbers."""

    def values(case: TuningCase) -> tuple:
        recommendation = recommendations.get(case.name)
        if recommendation is None:
            return (case.name, case.measurement.log_bytes, *[""] * 7)
        row = recommendation.today.row
        return (
            case.name,
            case.measurement.log_bytes,
            round(case.measurement.batch_bytes, 1),
            recommendation.today.interval_bytes,
            int(row["index_bytes"]),
            round(float(row["headers_mean"]), 3),
            int(row["headers_p99"]),
            str(recommendation.verdict),
            recommendation.value,
        )

    return values


def first_partition(location: BrokerLocation, topic: str) -> str:
    """A topic's partition with the longest log."""
    partitions = [
        partition
        for partition in location.broker.partitions
        if partition.topic == topic and partition.state == "current"
    ]
    return (
        max(partitions, key=lambda partition: partition.log_bytes).directory if partitions else ""
    )


def render_left_out(context: TuningContext) -> None:
    """What could not be read."""
    problems = context.source.problems
    if problems:
        reason = join_semicolon(
            say(
                "faults.of_path",
                path=problem.path.name,
                what=error_text.describe_part(problem.what),
            )
            for problem in problems[:3]
        )
        with elements.state(
            "left_out",
            "warning",
            say_count("tuning.left_out", len(problems), n=len(problems)),
            end_sentence(reason),
        ):
            pass
