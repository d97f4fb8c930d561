"""A broker topic by topic, each with its own answer."""

from collections.abc import Callable
from typing import Any, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import tuning
from kafkaviz.analyse.tuning import Recommendation
from kafkaviz.analyse.tuning.source import Case
from kafkaviz.figures import fault_words
from kafkaviz.figures.finding_words import ended
from kafkaviz.figures.listed import clauses
from kafkaviz.figures.tuning_terms import micros
from kafkaviz.ui import parts
from kafkaviz.ui.pick import InBroker
from kafkaviz.ui.tables import csv_of, download
from kafkaviz.ui.tuning.shown import Shown, go_to
from kafkaviz.words import counted, say

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


def _gaining(changing: int, count: int) -> str:
    """How many of the topics gain."""
    if not changing:
        return say("tuning.none_gains")
    return (
        say("tuning.one_gains") if count == 1 else say("tuning.some_gain", n=changing, count=count)
    )


def topics(shown: Shown) -> None:
    """Every topic with its own answer, the densest index first; a click opens it."""
    each, cases = shown.answer.each, sorted(shown.source.cases, key=lambda one: -one.index_share)
    changing = sum(
        one is not None and one.verdict == tuning.Verdict.CHANGE for one in each.values()
    )
    parts.heading(say("tuning.topics"), _gaining(changing, len(cases)))
    st.space(10)
    head = "".join(
        f"<th{' class=r' if 0 < place < 7 else ''}>{say(f'tuning.head_{one}')}</th>"
        for place, one in enumerate(TOPIC_HEADS)
    )
    with st.container(key="kv_topics"):
        parts.table(
            head, (topic_row(shown, one, each.get(one.name)) for one in cases[:MOST_TOPICS])
        )
    if len(cases) > MOST_TOPICS:
        st.html(
            '<p class="kv-sm kv-fnt">'
            f"{say('common.more_in_csv', n=units.group(len(cases) - MOST_TOPICS))}</p>"
        )
    st.space(12)
    with st.container(horizontal=True, vertical_alignment="center", gap=16, key="kv_topics_foot"):
        names = {first_partition(cast(InBroker, shown.place), one.name): one.name for one in cases}
        names.pop("", None)
        words = say("tuning.open_topic")
        look: dict[str, Any] = {
            "label_visibility": "collapsed",
            "index": None,
            "placeholder": words,
            "width": 260,
            "key": "kv_topic_open",
        }
        chosen = st.selectbox(
            words, list(names), format_func=lambda one: units.legible(names.get(one, one)), **look
        )
        if chosen:
            go_to(shown.place, chosen)
        download(
            say("tuning.topics_csv"),
            lambda: csv_of(TOPIC_COLUMNS, map(topic_values(each), cases)),
            "topics.csv",
            "kv_topics_csv",
        )
        if shown.source.metadata_left_out:
            st.html(f'<span class="kv-sm kv-fnt">{say("tuning.metadata_left")}</span>')
    left_out(shown)


def topic_row(shown: Shown, case: Case, one: Recommendation | None) -> str:
    """A topic, as a row; its name opens it."""
    name = parts.escape(units.legible(case.name))
    if one is None:
        return (
            f'<tr><td>{name}</td><td class="r">0 B</td>{"<td class=r>–</td>" * 5}<td '
            f'class="kv-fnt">{say("tuning.no_batch")}</td></tr>'
        )
    row, keeps = one.today.row, one.verdict == tuning.Verdict.KEEP
    said = say("curves.keep") if keeps else f"<b>{units.group(one.value)}</b>"
    return (
        f'<tr><td>{name}</td><td class="r">{units.size(case.measured.log_bytes)}</td>'
        f'<td class="r">{units.size(case.measured.batch_bytes)}</td>'
        f'<td class="r">{units.group(one.today.interval_bytes)}</td>'
        f'<td class="r">{100 * one.today.index_share:.2f} %</td>'
        f'<td class="r">{row["headers_mean"]:.1f}</td>'
        f'<td class="r">≈ {micros(one.today.p99_us.typical)}</td>'
        f'<td class="{"kv-fnt" if keeps else ""}">{said}</td></tr>'
    )


def topic_values(each: dict) -> Callable[[Case], tuple]:
    """A topic, as numbers."""

    def of(case: Case) -> tuple:
        one = each.get(case.name)
        if one is None:
            return (case.name, case.measured.log_bytes, *[""] * 7)
        row = one.today.row
        return (
            case.name,
            case.measured.log_bytes,
            round(case.measured.batch_bytes, 1),
            one.today.interval_bytes,
            int(row["index_bytes"]),
            round(float(row["headers_mean"]), 3),
            int(row["headers_p99"]),
            str(one.verdict),
            one.value,
        )

    return of


def first_partition(place: InBroker, topic: str) -> str:
    """A topic's partition with the longest log."""
    own = [one for one in place.broker.partitions if one.topic == topic and one.state == "current"]
    return max(own, key=lambda one: one.log_bytes).directory if own else ""


def left_out(shown: Shown) -> None:
    """What could not be read."""
    problems = shown.source.problems
    if problems:
        why = clauses(
            say("faults.of_path", path=one.path.name, what=fault_words.what(one.what))
            for one in problems[:3]
        )
        with parts.state(
            "left_out",
            "warning",
            counted("tuning.left_out", len(problems), n=len(problems)),
            ended(why),
        ):
            pass
