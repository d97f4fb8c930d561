"""What the directory holds, in a line, in chips and in figures."""

from typing import cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse.overview import Overview
from kafkaviz.analyse.unused import unused
from kafkaviz.figures import unused_words
from kafkaviz.ui import cache, ingests, parts, wrote
from kafkaviz.ui.broker import kinds
from kafkaviz.ui.cache import Listed
from kafkaviz.words import counted, say


def head(here: Listed, known: Overview) -> None:
    """What the directory holds, in a line, in chips and in figures."""
    total = known.total
    number = len(known.partitions)
    held = {
        "partitions": counted("common.n_topic_partitions", number, n=units.group(number)),
        "log": units.size(total.log_bytes),
    }
    unread = total.index_bytes is None
    title = (
        say("broker.title_unread", **held)
        if unread
        else say("broker.title", **held, index=units.size(total.index_bytes))
    )
    parts.title(
        say("broker.title_simulated", title=title) if here.broker.is_simulated else title, gap=12
    )
    _chips(here, known)
    parts.metrics(_metrics(known), owed=ingests.is_awaited(here))
    if also := unused_words.counted_too(tuple(unused(here.broker.partitions))):
        st.html(f'<div class="kv-sm kv-fnt" style="margin-top:8px">{parts.escape(also)}</div>')


def _metrics(known: Overview) -> list[tuple[str, str, str]]:
    """The strip of figures: label, value, detail."""
    total, group = known.total, units.group
    empty = sum(row.sums.log_bytes == 0 for row in known.partitions)
    covered = None if total.bytes_an_entry is None else round(total.bytes_an_entry)
    by_length = (
        "broker.by_length_sparse"
        if total.allocated_bytes < total.length_bytes
        else "broker.by_length"
    )
    counts = {"batches": total.batches, "records": total.records}
    held = say(
        "broker.batches_records",
        **{  # what is not known reads as many do
            name: counted(f"common.n_{name}", cast(int, count), n=group(count))
            for name, count in counts.items()
        },
    )
    entries = say(
        "broker.entries", offset=group(total.offset_entries), time=group(total.time_entries)
    )
    return [
        (
            say("common.topic_partitions"),
            group(len(known.partitions)),
            say("broker.n_empty", n=group(empty)),
        ),
        (say("common.segments"), group(total.segments), kinds.counted(known)),
        (say("broker.log"), units.size(total.log_bytes), held),
        (
            say("broker.index"),
            units.size(total.index_bytes),
            say("broker.share_of_log", share=units.share(total.index_share, 1)),
        ),
        (say("broker.covers"), units.size(covered), entries),
        (
            say("broker.on_disk"),
            units.size(total.allocated_bytes),
            say(by_length, size=units.size(total.length_bytes)),
        ),
    ]


def _chips(here: Listed, known: Overview) -> None:
    """How it was left, what wrote it, and what it calls itself."""
    broker, looks = here.broker, cache.looks(here)
    told, warning, unread = [], parts.icon("warning", True), len(known.problems)
    if broker.is_simulated:
        told.append(("info", parts.icon("science", True) + say("broker.simulated")))
    told.append(
        {
            "clean": ("ok", parts.icon("check", True) + say("broker.stopped_cleanly")),
            "unclean": ("warning", warning + say("broker.not_stopped_cleanly")),
            "unknown": ("", say("broker.alone")),
        }[broker.left]
    )
    if unread:
        told.append(
            ("warning", warning + counted("broker.not_read", unread, n=units.group(unread)))
        )
    told.append(("", parts.escape(wrote.kafka(looks))))
    if broker.node_id:
        told.append(("", say("broker.node", id=parts.escape(broker.node_id))))
    ids = (("broker.cluster", broker.cluster_id), ("broker.directory", broker.directory_id))
    told += [("", say(key, id=parts.mono(value))) for key, value in ids if value]
    parts.chips(told, after=wrote.because(looks.because))
