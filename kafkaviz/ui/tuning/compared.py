"""Today beside what is considered, and the lines that change it."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import tuning
from kafkaviz.analyse.tuning import SETTING, At
from kafkaviz.analyse.tuning import words as tuning_words
from kafkaviz.figures import before_after
from kafkaviz.figures.listed import sentences
from kafkaviz.ui import parts
from kafkaviz.ui.tables import csv_of, download
from kafkaviz.ui.tuning.answers import tuned_object
from kafkaviz.ui.tuning.shown import Shown, called
from kafkaviz.ui.tuning.verdict import verdict_view
from kafkaviz.words import say


def compared(shown: Shown) -> None:
    """Today beside what is considered, and the line that changes it; without another interval
    beside its own replay.
    """
    now, other = shown.today, shown.considered
    is_same = now is other or now.interval_bytes == other.interval_bytes
    names = [units.size(one.interval_bytes) for one in (now, other)]
    parts.heading(
        say("tuning.today_alone")
        if is_same
        else say("tuning.against", today=names[0], other=names[1])
    )
    if is_same:
        other = next(
            (one for one in shown.answer.every if one.interval_bytes == now.interval_bytes), now
        )
        names = [say("tuning.as_it_is"), say("tuning.batch_by_batch")]
    st.space(10)
    rows = _rows(shown, other)
    heads = (
        say("tuning.for", of=called(shown)),
        *names,
        say("common.change"),
        say("tuning.how_known"),
    )
    before_after_table(heads, rows)
    _downloads(shown, rows)
    commands(
        shown, {} if is_same else {SETTING: other.interval_bytes}, verdict_view(shown).command_lead
    )


def _downloads(shown: Shown, rows: Sequence[before_after.Row]) -> None:
    """The table, and all that was worked out."""
    with st.container(horizontal=True, gap=12):
        download(
            say("tuning.csv"),
            lambda: csv_of(before_after.COLUMNS, before_after.cells(rows)),
            "before-after.csv",
            "kv_compared_csv",
        )
        whole = partial(
            tuned_object, shown.source, shown.answer, shown.budgets, shown.costs, shown.is_tiered
        )
        name = f"tuning-{shown.label.replace(' ', '-')}.json"
        look: dict[str, Any] = {
            "on_click": "ignore",
            "type": "tertiary",
            "icon": ":material/download:",
            "key": "kv_tuning_json",
        }
        st.download_button(say("tuning.json"), whole, name, "application/json", **look)


def _rows(shown: Shown, other: At) -> list[before_after.Row]:
    """Values side by side, today's and the other's."""
    now, measured = shown.today, shown.case.measured
    times = now.time_entries, other.time_entries
    ends = tuple(
        tuning.limits_at(measured, shown.config, one.interval_bytes).binding for one in (now, other)
    )
    return before_after.rows(now, other, shown.costs, shown.budgets, times, ends)


def before_after_table(heads: Sequence[str], rows: Iterable[before_after.Row]) -> None:
    """A change for the better green, for the worse ochre, with its sign."""
    head = "".join(
        f"<th{' class=r' if 0 < place < 4 else ''}>{parts.escape(one)}</th>"
        for place, one in enumerate(heads)
    )
    parts.table(
        head,
        (
            f'<tr><td>{parts.escape(one.name)}</td><td class="r">{parts.escape(one.before)}</td>'
            f'<td class="r"><b>{parts.escape(one.after)}</b></td>'
            f'<td class="r {f"kv-{one.kind}" if one.kind else "kv-fnt"}">'
            f"{parts.escape(one.change)}</td>"
            f'<td class="kv-fnt">{parts.escape(one.known)}</td></tr>'
            for one in rows
        ),
    )


def commands(shown: Shown, changed: dict[str, int], words: str, name: str = "interval") -> None:
    """What to run, and what it reaches."""
    topic = None if shown.kind == "broker" else shown.case.today.topic
    with st.container(key=f"kv_tune_cmd_{name}", gap=8):
        if not changed:
            lines = say("tuning.nothing_to_run", interval=shown.today.interval_bytes)
        else:
            st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2)">{parts.escape(words)}</p>')
            lines = "\n".join(
                tuning_words.alter_line(name, value, topic) for name, value in changed.items()
            )
        st.code(units.legible(lines), language=None, wrap_lines=True)
        at_once = [
            say("tuning.at_once", name=one)
            for one in changed
            if one not in tuning_words.NEW_SEGMENTS
        ]
        st.html(
            f'<p class="kv-sm kv-fnt">{parts.escape(sentences([say("tuning.reach"), *at_once]))}'
            "</p>"
        )
