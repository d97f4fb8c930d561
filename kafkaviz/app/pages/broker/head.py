"""The head of the Broker page: a title, chips, numbers, and three links to other pages."""

from collections.abc import Generator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.analysis import overview as overview_table
from kafkaviz.analysis.overview import BrokerOverview, inactive_segments
from kafkaviz.app import page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import pages
from kafkaviz.app.frontend import art
from kafkaviz.app.state import ingests
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.elements import describe_writer
from kafkaviz.figures.text.segment_text import included_text
from kafkaviz.figures.text.sentences import join_details
from kafkaviz.log.broker import Broker
from kafkaviz.messages import render, say, say_count

WRITTEN_KINDS = ("log", "index", "timeindex")  # files that Kafka creates with each segment


def render_head(snapshot: BrokerSnapshot, overview: BrokerOverview) -> None:
    total = overview.total
    count = len(overview.partitions)
    values = {
        "partitions": say_count("common.n_topic_partitions", count),
        "log": units.format_bytes(total.log_bytes),
    }
    is_unread = total.index_bytes is None
    title = (
        say("broker.title_unread", **values)
        if is_unread
        else say("broker.title", **values, index=units.format_bytes(total.index_bytes))
    )
    directories = len(snapshot.broker.log_directories)
    if directories > 1:
        title = say("broker.title_directories", title=title, n=directories)
    elements.title(
        say("broker.title_simulated", title=title) if snapshot.broker.is_simulated else title,
        gap=12,
    )
    _render_chips(snapshot, overview)
    elements.metrics(_metrics(overview), is_pending=ingests.is_awaited(snapshot))
    if unused_text := included_text(tuple(inactive_segments(snapshot.broker.partitions))):
        st.html(
            f'<div class="kv-sm kv-fnt" style="margin-top:8px">{elements.escape(unused_text)}</div>'
        )


def _metrics(overview: BrokerOverview) -> list[tuple[str, str, str]]:
    """Returns the cells of the metrics strip: (label, value, detail)."""
    total = overview.total
    group = units.format_count
    empty_count = sum(row.sums.log_bytes == 0 for row in overview.partitions)
    bytes_per_entry = None if total.bytes_per_entry is None else round(total.bytes_per_entry)
    by_length = (
        "broker.by_length_sparse"
        if total.allocated_bytes < total.length_bytes
        else "broker.by_length"
    )
    counts = {"batches": total.batches, "records": total.records}
    batches_text = say(
        "broker.batches_records",
        **{  # say_count takes the plural for an unknown count
            name: say_count(f"common.n_{name}", count) for name, count in counts.items()
        },
    )
    entries_text = say(
        "broker.entries", offset=group(total.offset_entries), time=group(total.time_entries)
    )
    return [
        (
            say("common.topic_partitions"),
            group(len(overview.partitions)),
            say_count("broker.n_empty", empty_count),
        ),
        (say("common.segments"), group(total.segments), _describe_kinds(overview)),
        (say("broker.log"), units.format_bytes(total.log_bytes), batches_text),
        (
            say("common.index"),
            units.format_bytes(total.index_bytes),
            say("broker.share_of_log", share=units.format_percent(total.index_share, 1)),
        ),
        (say("broker.covers"), units.format_bytes(bytes_per_entry), entries_text),
        (
            say("broker.on_disk"),
            units.format_bytes(total.allocated_bytes),
            say(by_length, size=units.format_bytes(total.length_bytes)),
        ),
    ]


def _describe_kinds(overview: BrokerOverview) -> str:
    """Returns how many segments of each kind there are, without the closed ones."""
    counts = {kind: overview.count_kind(kind) for kind in overview_table.KINDS if kind != "closed"}
    texts = [
        say_count(f"broker.kinds_{kind}", count)
        for kind, count in counts.items()
        if count or kind == "active"
    ]
    return join_details(texts)


def _render_chips(snapshot: BrokerSnapshot, overview: BrokerOverview) -> None:
    broker = snapshot.broker
    writer_traces = broker_cache.inferred_release(snapshot)
    chips = []
    warning = elements.icon("warning", small=True)
    unread_count = len(overview.problems)
    if broker.is_simulated:
        chips.append(("info", elements.icon("science", small=True) + say("broker.simulated")))
    chips.append(
        {
            "clean": ("ok", elements.icon("check", small=True) + say("broker.stopped_cleanly")),
            "unclean": ("warning", warning + say("broker.not_stopped_cleanly")),
            "unknown": ("", say("broker.alone")),
        }[broker.shutdown_state]
    )
    if missing := _missing_kinds(broker):
        chips.append(("warning", warning + say("broker.without_files", names=missing)))
    if unread_count:
        chips.append(
            (
                "warning",
                warning + say_count("broker.not_read", unread_count),
            )
        )
    if broker.lacks_metadata_log:
        chips.append(("warning", warning + say("broker.lacks_metadata_log")))
    chips.append(("", elements.escape(describe_writer(writer_traces))))
    if broker.node_id:
        chips.append(("", say("broker.node", id=elements.escape(broker.node_id))))
    ids = [("broker.cluster", broker.cluster_id)]
    if len(broker.log_directories) == 1:
        ids.append(("broker.directory", broker.directory_id))
    chips += [("", say(key, id=elements.mono(value))) for key, value in ids if value]
    reason = writer_traces.reason
    elements.chips(chips, note=render(reason) if reason else "")


def _missing_kinds(broker: Broker) -> tuple[str, ...]:
    """Returns the missing files of a segment that was opened alone. A broker writes all three."""
    segments = [segment for partition in broker.partitions for segment in partition.segments]
    if not broker.is_lone or len(segments) != 1:
        return ()
    return tuple(f".{kind}" for kind in WRITTEN_KINDS if getattr(segments[0], kind) is None)


def render_page_links(location: Location, overview: BrokerOverview) -> None:
    st.space(16)
    default_segment = overview_table.default_segment(overview) or overview_table.largest_segment(
        overview
    )
    largest_segment = overview_table.largest_segment(overview)
    learn, inspect, tune = st.columns(3, gap=12)
    with _card(learn, "learn"):
        _render_segment_link("learn", location, default_segment)
    with _card(inspect, "inspect"):
        _render_segment_link("inspect", location, largest_segment)
    with _card(tune, "tune"):
        tuning_address = page_state.address(location.directory) | {
            page_state.TUNING_SUBJECT: page_state.WHOLE_BROKER
        }
        st.page_link(
            pages()["Tuning"].script, label=say("broker.tune"), query_params=tuning_address
        )


@contextmanager
def _card(column: DeltaGenerator, name: str) -> Generator[None]:
    """Draws a card. The with block draws a link that covers the whole card."""
    with column.container(key=f"kv_door_{name}"):
        yield
        with st.container(horizontal=True, gap=14, wrap=False):
            art(name, 64, 46)
            st.html(f'<div class="kv-door">{say(f"broker.{name}_below")}</div>')


def _render_segment_link(name: str, location: Location, target: tuple[str, int] | None) -> None:
    """Draws a link to a segment, or to the Broker page if `target` is None."""
    script = pages()["Segment"].script if target else "app.py"
    st.page_link(
        script,
        label=say(f"broker.{name}"),
        query_params=page_state.address(location.directory, *(target or ())),
    )
