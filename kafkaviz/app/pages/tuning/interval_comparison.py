"""Today beside what is considered, and the lines that change it."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import tuning
from kafkaviz.analysis.tuning import SETTING, IntervalPrice
from kafkaviz.analysis.tuning import reason_text as tuning_text
from kafkaviz.app.pages.tuning.answers import tuning_json
from kafkaviz.app.pages.tuning.tuning_context import TuningContext, subject_text
from kafkaviz.app.pages.tuning.verdict import verdict_view
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import download, to_csv
from kafkaviz.figures import before_after
from kafkaviz.figures.join_text import join_sentences
from kafkaviz.words import say


def render_comparison(context: TuningContext) -> None:
    """Today beside what is considered, and the line that changes it; without another interval
    beside its own replay.
    """
    current, alternative = context.today, context.alternative
    is_same = current is alternative or current.interval_bytes == alternative.interval_bytes
    names = [units.size(interval.interval_bytes) for interval in (current, alternative)]
    elements.heading(
        say("tuning.today_alone")
        if is_same
        else say("tuning.against", today=names[0], other=names[1])
    )
    if is_same:
        alternative = next(
            (
                interval
                for interval in context.answer.priced_intervals
                if interval.interval_bytes == current.interval_bytes
            ),
            current,
        )
        names = [say("tuning.as_it_is"), say("tuning.batch_by_batch")]
    st.space(10)
    rows = _rows(context, alternative)
    heads = (
        say("tuning.for", of=subject_text(context)),
        *names,
        say("common.change"),
        say("tuning.how_known"),
    )
    render_before_after(heads, rows)
    _render_downloads(context, rows)
    render_commands(
        context,
        {} if is_same else {SETTING: alternative.interval_bytes},
        verdict_view(context).command_lead,
    )


def _render_downloads(context: TuningContext, rows: Sequence[before_after.ComparisonRow]) -> None:
    """The table, and all that was worked out."""
    with st.container(horizontal=True, gap=12):
        download(
            say("tuning.csv"),
            lambda: to_csv(before_after.COLUMNS, before_after.file_cells(rows)),
            "before-after.csv",
            "kv_compared_csv",
        )
        build_json = partial(
            tuning_json,
            context.source,
            context.answer,
            context.budgets,
            context.costs,
            context.is_tiered,
        )
        name = f"tuning-{context.label.replace(' ', '-')}.json"
        widget_options: dict[str, Any] = {
            "on_click": "ignore",
            "type": "tertiary",
            "icon": ":material/download:",
            "key": "kv_tuning_json",
        }
        st.download_button(
            say("tuning.json"), build_json, name, "application/json", **widget_options
        )


def _rows(context: TuningContext, alternative: IntervalPrice) -> list[before_after.ComparisonRow]:
    """Values side by side, today's and the other's."""
    current, measurement = context.today, context.case.measurement
    time_entries = current.time_entries, alternative.time_entries
    ends = tuple(
        tuning.limits_at(measurement, context.config, interval.interval_bytes).binding
        for interval in (current, alternative)
    )
    return before_after.rows(
        current,
        alternative,
        context.costs,
        budgets=context.budgets,
        times=time_entries,
        binding_limits=ends,
    )


def render_before_after(heads: Sequence[str], rows: Iterable[before_after.ComparisonRow]) -> None:
    """A change for the better green, for the worse ochre, with its sign."""
    head = "".join(
        f"<th{' class=r' if 0 < place < 4 else ''}>{elements.escape(label)}</th>"
        for place, label in enumerate(heads)
    )
    elements.table(
        head,
        (
            f'<tr><td>{elements.escape(row.name)}</td><td class="r">'
            f"{elements.escape(row.before)}</td>"
            f'<td class="r"><b>{elements.escape(row.after)}</b></td>'
            f'<td class="r {f"kv-{row.kind}" if row.kind else "kv-fnt"}">'
            f"{elements.escape(row.change)}</td>"
            f'<td class="kv-fnt">{elements.escape(row.basis)}</td></tr>'
            for row in rows
        ),
    )


def render_commands(
    context: TuningContext, settings: dict[str, int], text: str, name: str = "interval"
) -> None:
    """What to run, and what it reaches."""
    topic = None if context.kind == "broker" else context.case.today.topic
    with st.container(key=f"kv_tune_cmd_{name}", gap=8):
        if not settings:
            lines = say("tuning.nothing_to_run", interval=context.today.interval_bytes)
        else:
            st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2)">{elements.escape(text)}</p>')
            lines = "\n".join(
                tuning_text.alter_line(name, value, topic) for name, value in settings.items()
            )
        st.code(units.escape_controls(lines), language=None, wrap_lines=True)
        notes = [
            say("tuning.at_once", name=setting_name)
            for setting_name in settings
            if setting_name not in tuning_text.NEW_SEGMENTS
        ]
        st.html(
            '<p class="kv-sm kv-fnt">'
            f"{elements.escape(join_sentences([say('tuning.reach'), *notes]))}"
            "</p>"
        )
