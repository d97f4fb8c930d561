"""A figure of a log's size as written, compressed, in larger batches, and with both changes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import plotly.graph_objects as go
import streamlit as st

from kafkaviz.analysis.batching.packing import cut_batches
from kafkaviz.analysis.batching.record_sample import read_sample, record_bodies
from kafkaviz.analysis.tuning.log_windows import choose_windows
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.binary import codec
from kafkaviz.figures import theme
from kafkaviz.format import batch
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, say
from kafkaviz.render.sentences import join_semicolon
from kafkaviz.units import format_bytes, format_count, format_percent
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import drawn_figure, note
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

BATCH_BYTES = 16 << 10  # Kafka's default of batch.size
CODEC = "zstd"
ROW_PX = 62
BAR_PX = 30
HEADS = (
    "topic_bytes.head_written",
    "common.batches",
    "lookup.count_headers",
    "common.records",
    "broker.column_log",
)


class WrittenLog(NamedTuple):
    """The size of a log if its records were written in one of four ways (`kind`)."""

    kind: str  # "today" (as written), "codec" (compressed), "batches" (larger ones) or "both"
    batches: int
    record_bytes: int  # the bytes after the batch headers

    @property
    def header_bytes(self) -> int:
        return HEADER_BYTES * self.batches

    @property
    def log_bytes(self) -> int:
        return self.header_bytes + self.record_bytes


@dataclass(frozen=True)
class TopicBytesView:
    """A log as written, then compressed, with larger batches, and with both."""

    title: str
    question: str
    caption: str
    logs: tuple[WrittenLog, ...]


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=HASH_FUNCS)
def _written_logs(snapshot: BrokerSnapshot, directory: str) -> tuple[WrittenLog, ...]:
    """Returns a log's sizes for the kinds "today", "codec", "batches" and "both", in order."""
    partition = snapshot.broker.partition(directory)
    segments = [segment for segment in partition.live if isinstance(segment, LogSegment)]
    log_bytes = sum(segment.log.size_bytes for segment in segments)
    sample = read_sample(choose_windows([(partition, segments)], None), log_bytes)
    if sample.skipped or not sample.has_records or batch.codec(sample.batches).any():
        raise NoValue(message("topic_bytes.packed", partition=directory))
    today = record_bodies(sample.data, sample.records, sample.batches["first_record"])
    starts = cut_batches(sample.records, BATCH_BYTES)
    larger = record_bodies(sample.data, sample.records, starts)
    return (
        WrittenLog("today", len(today), sum(map(len, today))),
        WrittenLog("codec", len(today), _packed_bytes(today)),
        WrittenLog("batches", len(larger), sum(map(len, larger))),
        WrittenLog("both", len(larger), _packed_bytes(larger)),
    )


def _packed_bytes(bodies: Sequence[bytes]) -> int:
    return sum(len(codec.compress_as_broker(CODEC, body)) for body in bodies)


def _make(block: LessonBlock) -> TopicBytesView:
    location = block_location.locate(block)
    partition = location.partition.directory
    logs = _written_logs(location.snapshot, partition)
    today = logs[0]
    share = format_percent(today.header_bytes, today.log_bytes)
    factor = today.log_bytes / logs[-1].log_bytes
    size = format_bytes(today.log_bytes)
    return TopicBytesView(
        title=say("topic_bytes.title", share=share, factor=factor),
        question=say("topic_bytes.question", partition=partition, size=size),
        caption=say("topic_bytes.below", source=block["data"], batch_bytes=BATCH_BYTES),
        logs=logs,
    )


def rows(view: TopicBytesView) -> list[tuple[str, ...]]:
    """Returns a row per log of the view: name, batches, header bytes, record bytes, all bytes."""
    return [
        (
            _label(log),
            format_count(log.batches),
            format_bytes(log.header_bytes),
            format_bytes(log.record_bytes),
            format_bytes(log.log_bytes),
        )
        for log in view.logs
    ]


def _label(log: WrittenLog) -> str:
    return say(f"topic_bytes.{log.kind}", codec=CODEC, batch_bytes=BATCH_BYTES)


def _describe(view: TopicBytesView) -> str:
    return join_semicolon(f"{_label(log)} {format_bytes(log.log_bytes)}" for log in view.logs)


def question_figure(view: TopicBytesView, mode: str) -> go.Figure:
    return figure(view, mode, is_answered=False)


def figure(view: TopicBytesView, mode: str, *, is_answered: bool = True) -> go.Figure:
    """Draws one bar per log. A bar's length is the log's size. y counts pixels from the top."""
    colours = theme.colours(mode)
    longest = max(log.log_bytes for log in view.logs)
    shapes = []
    notes = []
    for number, log in enumerate(view.logs):
        top = number * ROW_PX + ROW_PX - BAR_PX
        middle = top + BAR_PX / 2
        label = note(0, top - 4, _label(log), colours["ink_2"], xanchor="left", yanchor="bottom")
        notes.append(label)
        if number and not is_answered:
            notes.append(note(0, middle, "?", colours["ink_3"], xanchor="left", yanchor="middle"))
            continue
        bar = theme.area(colours["log_soft"], x0=0, x1=log.log_bytes, y0=top, y1=top + BAR_PX)
        shapes.append(bar)
        text = format_bytes(log.log_bytes)
        if is_answered:
            shapes.append(bar | {"x1": log.header_bytes, "fillcolor": colours["log"]})
            share = format_percent(log.header_bytes, log.log_bytes)
            text = say("topic_bytes.bar", size=text, share=share)
        is_inside = log.log_bytes > longest / 2
        anchor = "right" if is_inside else "left"
        size = note(log.log_bytes, middle, text, colours["ink"], xanchor=anchor, yanchor="middle")
        notes.append(size | {"xshift": -8 if is_inside else 8})
    height = ROW_PX * len(view.logs) + 8
    axis = {"visible": False, "fixedrange": True}
    return go.Figure().update_layout(
        theme.chart_layout(mode, height, (0, 0, 0, 0)),
        xaxis=axis | {"range": [0, longest]},
        yaxis=axis | {"range": [height, 0]},
        shapes=shapes,
        annotations=notes,
    )


TOPIC_BYTES = drawn_figure(
    _make,
    partial(block_location.to_tab, block_location.to_tuning, "Batches"),
    (figure, question_figure),
    heads=HEADS,
    rows=rows,
    kinds="lrrrr",
    words=_describe,
    question_words=lambda view: _describe(replace(view, logs=view.logs[:1])),
)
