"""What is tuned, in figures; and the report of its broker directory."""

import time
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.figures import unused_words
from kafkaviz.figures.listed import sentences
from kafkaviz.ui import cache, parts
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.tables import report_name
from kafkaviz.ui.tuning.scopes import log_bytes
from kafkaviz.ui.tuning.shown import Shown, called
from kafkaviz.words import counted, say

REPORTED_BYTES = 1 << 30  # of .log, in a report that a page makes


def headline(shown: Shown) -> None:
    """What is tuned, in figures."""
    with st.container(width="stretch"):
        left = unused_words.left_out(shown.source.unused, shown.source.metadata_left_out)
        parts.title(say("common.page_tuning"), sentences([_lead(shown), left]), gap=0)
    if shown.place.listed and shown.kind != "workload":
        _to_take_along(shown.place.listed)


def _to_take_along(here: Listed) -> None:
    """The report of the whole directory, unless it would take too long."""
    look: dict[str, Any] = {
        "on_click": "ignore",
        "icon": ":material/download:",
        "key": "kv_tuning_report",
    }
    size_bytes = sum(map(log_bytes, here.broker.partitions))
    if size_bytes > REPORTED_BYTES:
        words = say("tuning.report_large", size=units.size(size_bytes))
        st.download_button(say("tuning.report"), "", disabled=True, help=words, **look)
        return
    name = report_name(here.broker)
    st.download_button(
        say("tuning.report"),
        lambda: report(here),
        name,
        "text/html",
        help=say("tuning.report_help"),
        **look,
    )


def _lead(shown: Shown) -> str:
    """2 167 batches of 78 to 2 903 B, 2.38 MiB of log in 3 segments."""
    measured = shown.case.measured
    sums = measured.parts
    of = called(shown)
    sizes = [one["size_bytes"] for one in measured.sizes if len(one)]
    least, most = min(int(one.min()) for one in sizes), max(int(one.max()) for one in sizes)
    low, high = units.group(least), f"{units.group(most)} B"
    bytes_words = high if least == most else say("curves.between", low=low, high=high)
    return say(
        "tuning.lead",
        of=of,
        batches=counted("common.n_batches", sums.batches, n=units.group(sums.batches)),
        bytes=bytes_words,
        log=units.size(sums.log_bytes),
        segments=counted("common.n_segments", measured.segments, n=units.group(measured.segments)),
    )


def report(here: Listed) -> str:
    """The report of a broker directory, dated now; of its checkup what the catalog tells, if it is
    fresh.
    """
    from kafkaviz import report as html  # it takes Plotly's own text, which no page needs before

    return html.report(here.broker, int(1000 * time.time()), checked=cache.told_health(here))
