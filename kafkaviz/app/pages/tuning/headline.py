"""What is tuned, in figures; and the report of its broker directory."""

import time
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.pages.tuning.scopes import log_bytes
from kafkaviz.app.pages.tuning.tuning_context import TuningContext, subject_text
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import report_name
from kafkaviz.figures import inactive_segment_text
from kafkaviz.figures.join_text import join_sentences
from kafkaviz.words import say, say_count

REPORTED_BYTES = 1 << 30  # of .log, in a report that a page makes


def render_headline(context: TuningContext) -> None:
    """What is tuned, in figures."""
    with st.container(width="stretch"):
        left_out_text = inactive_segment_text.left_out_text(
            context.source.inactive_segments, is_metadata_left_out=context.source.metadata_left_out
        )
        elements.title(
            say("common.page_tuning"), join_sentences([_lead(context), left_out_text]), gap=0
        )
    if context.location.snapshot and context.kind != "workload":
        _render_report_button(context.location.snapshot)


def _render_report_button(snapshot: BrokerSnapshot) -> None:
    """The report of the whole directory, unless it would take too long."""
    widget_options: dict[str, Any] = {
        "on_click": "ignore",
        "icon": ":material/download:",
        "key": "kv_tuning_report",
    }
    size_bytes = sum(map(log_bytes, snapshot.broker.partitions))
    if size_bytes > REPORTED_BYTES:
        text = say("tuning.report_large", size=units.size(size_bytes))
        st.download_button(say("tuning.report"), "", disabled=True, help=text, **widget_options)
        return
    name = report_name(snapshot.broker)
    st.download_button(
        say("tuning.report"),
        lambda: report(snapshot),
        name,
        "text/html",
        help=say("tuning.report_help"),
        **widget_options,
    )


def _lead(context: TuningContext) -> str:
    """2 167 batches of 78 to 2 903 B, 2.38 MiB of log in 3 segments."""
    measurement = context.case.measurement
    sums = measurement.parts
    subject = subject_text(context)
    sizes = [
        segment_sizes["size_bytes"] for segment_sizes in measurement.sizes if len(segment_sizes)
    ]
    smallest, largest = (
        min(int(segment_sizes.min()) for segment_sizes in sizes),
        max(int(segment_sizes.max()) for segment_sizes in sizes),
    )
    low, high = units.group(smallest), f"{units.group(largest)} B"
    bytes_text = high if smallest == largest else say("curves.between", low=low, high=high)
    return say(
        "tuning.lead",
        of=subject,
        batches=say_count("common.n_batches", sums.batches, n=units.group(sums.batches)),
        bytes=bytes_text,
        log=units.size(sums.log_bytes),
        segments=say_count(
            "common.n_segments", measurement.segments, n=units.group(measurement.segments)
        ),
    )


def report(snapshot: BrokerSnapshot) -> str:
    """The report of a broker directory, dated now; of its checkup what the catalog tells, if it is
    fresh.
    """
    from kafkaviz import (
        report as html_report,  # it takes Plotly's own text, which no page needs before
    )

    return html_report.report(
        snapshot.broker, int(1000 * time.time()), checkup=broker_cache.catalog_health(snapshot)
    )
