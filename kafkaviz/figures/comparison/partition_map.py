"""The map of a comparison: one row per topic-partition.

Each row has the log of side `a` above the log of side `b`. A text at the end of the row says how
the two logs relate.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from kafkaviz import units
from kafkaviz.analysis.comparison.comparison import (
    NO_RECORDS,
    SIDES,
    BrokerComparison,
    PartitionComparison,
    Relation,
)
from kafkaviz.figures import theme
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.comparison_text import describe_relation, offsets_text
from kafkaviz.render.sentences import join_details
from kafkaviz.units import escape_controls

ROWS_PER_PAGE = 40
ROW_PX = 24
LANE_PX = 7
TOP_PX = 4
BOTTOM_PX = 6
LEFT_PX = 176
RIGHT_PX = 232
NAME_CHARACTERS = 26
MAX_RANGES = 120  # most ranges that are drawn one by one; of more, those close together are joined
MAX_NAMES = 5  # most names in the title
MARK_SHARE = 0.003  # least width of a bar, as a share of the row, so that it stays visible
WRONG = (Relation.DOOMED_TAIL, Relation.DIVERGED, Relation.ALTERED, Relation.DAMAGED)
ONE_SIDED = (Relation.ONLY_IN_A, Relation.ONLY_IN_B)
EQUAL = (Relation.IDENTICAL, Relation.INDEX_FILES_DIFFER, Relation.SEGMENTS_DIFFER)
COLOURS = {"both": "log", "alone": "scan", "other": "torn"}


@dataclass(frozen=True)
class LaneBar:
    """A bar in the figure: a range of offsets in one of the two compared logs."""

    row: int
    side: int
    # start, stop: shares of the row's width
    start: float
    stop: float
    kind: str  # a key of COLOURS


@dataclass(frozen=True, kw_only=True)
class PartitionLanes:
    directory: str
    name: str
    text: str  # a short description of how the sides relate
    severity: str  # "error", "warning", "info" or "ok"
    hover: str


@dataclass(frozen=True, kw_only=True)
class PartitionMapView:
    title: str
    caption: str
    rows: tuple[PartitionLanes, ...]
    bars: tuple[LaneBar, ...]

    @property
    def alt(self) -> str:
        rows = join_details(
            say("broker.mark_of", name=row.name, words=row.text)
            for row in self.rows
            if row.severity != "ok"
        )
        return say("common.titled", title=self.title, below=rows)


def severity(relation: Relation) -> str:
    """Returns the severity of a relation of two logs: "error", "warning", "info" or "ok"."""
    if relation in WRONG:
        return "error"
    if relation in ONE_SIDED or relation is Relation.CLEANED_DIFFERENTLY:
        return "warning"
    return "ok" if relation in EQUAL else "info"


def view(comparison: BrokerComparison, page: int = 0) -> PartitionMapView:
    """Returns one page of the rows. The most serious relations come first."""
    partitions = comparison.worst_first[page * ROWS_PER_PAGE : (page + 1) * ROWS_PER_PAGE]
    return PartitionMapView(
        title=title(comparison),
        caption=say("compare.map_below"),
        rows=tuple(map(_row, partitions)),
        bars=tuple(
            bar for row, partition in enumerate(partitions) for bar in _bars(row, partition)
        ),
    )


def title(comparison: BrokerComparison) -> str:
    """Names the diverged and damaged partitions. If there are none, says how many differ."""
    total = len(comparison.partitions)
    wrong = [item for item in comparison.worst_first if set(item.relations) & set(WRONG)]
    if wrong:
        names = join_details(escape_controls(item.partition) for item in wrong[:MAX_NAMES])
        key = "title_wrong" if len(wrong) <= MAX_NAMES else "title_wrong_many"
        return say_count(f"compare.{key}", len(wrong), names=names, total=units.format_count(total))
    if comparison.has_equal_records:
        return say_count("compare.title_equal", total)
    others = sum(item.relation not in EQUAL for item in comparison.partitions)
    return say_count("compare.title_other", others, total=units.format_count(total))


def relation_label(relation: Relation) -> str:
    return say(f"compare.relation_{relation.value.replace('-', '_')}")


def partition_label(comparison: PartitionComparison) -> str:
    if comparison.is_torn_alone:
        return say("compare.torn_alone")
    return relation_label(comparison.relation)


def describe_row(comparison: PartitionComparison) -> str:
    """Says how the two logs relate, with the first divergent offset or the lag."""
    label = partition_label(comparison)
    lag = comparison.lag
    if comparison.first_divergent_offset is not None:
        offset = units.format_count(comparison.first_divergent_offset)
        return say("compare.at_offset", relation=label, offset=offset)
    if lag and comparison.relation is Relation.DOOMED_TAIL:
        doomed_side = SIDES[1 - SIDES.index(lag.side)]
        return say_count("compare.doomed", lag.offsets, relation=label, side=doomed_side)
    if lag and comparison.relation is Relation.BEHIND:
        return say_count("compare.by_offsets", lag.offsets, relation=label, side=lag.side)
    return label


def _row(comparison: PartitionComparison) -> PartitionLanes:
    name = escape_controls(comparison.partition)
    lines = [
        f"<b>{escape(name, quote=False)}</b>",
        escape(render(describe_relation(comparison)), quote=False),
    ]
    for side, replica in zip(SIDES, comparison.replicas, strict=True):
        if replica:
            offsets = offsets_text(replica, units.format_count)
            lines.append(say("compare.hover_side", side=side, offsets=offsets))
    return PartitionLanes(
        directory=comparison.partition,
        name=name,
        text=describe_row(comparison),
        severity=severity(comparison.relation),
        hover="<br>".join(lines),
    )


def _bars(row: int, comparison: PartitionComparison) -> Iterable[LaneBar]:
    replicas = [replica for replica in comparison.replicas if replica]
    low = min(replica.log_start_offset for replica in replicas)
    length = max(max(replica.log_end_offset for replica in replicas) - low, 1)

    def bar(side: int, first: int, stop: int, kind: str) -> LaneBar:
        start = (first - low) / length
        return LaneBar(row, side, start, max((stop - low) / length, start + MARK_SHARE), kind)

    for side, replica in enumerate(comparison.replicas):
        if replica is None:
            continue
        if replica.log_end_offset > replica.log_start_offset:
            kind = "both" if len(replicas) == 2 else "alone"
            yield bar(side, replica.log_start_offset, replica.log_end_offset, kind)
        if len(replicas) == 1:
            continue
        unreadable = comparison.unreadable if comparison.damaged_batches[side] else NO_RECORDS
        for kind, records in (
            ("alone", comparison.only_in[side]),
            ("other", comparison.different),
            ("other", unreadable),
        ):
            for first, last in merge_ranges(records.ranges, length):
                yield bar(side, first, last + 1, kind)


def merge_ranges(ranges: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Joins ranges up to `length / MAX_RANGES` apart, if there are more than `MAX_RANGES`."""
    if len(ranges) <= MAX_RANGES:
        return list(ranges)
    cell = max(1, length // MAX_RANGES)
    merged = [ranges[0]]
    for first, last in ranges[1:]:
        if first - merged[-1][1] <= cell:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


def figure(map_view: PartitionMapView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    rows = len(map_view.rows)
    fig = go.Figure([_trace(map_view, kind, colours) for kind in COLOURS])
    axis = theme.PLAIN_AXIS | {"ticks": "", "showticklabels": False, "showgrid": False}
    return fig.update_layout(
        theme.chart_layout(
            mode, max(rows, 1) * ROW_PX + TOP_PX + BOTTOM_PX, (LEFT_PX, RIGHT_PX, TOP_PX, BOTTOM_PX)
        ),
        barmode="overlay",
        xaxis=axis | {"range": [0, 1]},
        yaxis=axis | {"range": [max(rows, 1), 0]},
        annotations=[
            note
            for number, row in enumerate(map_view.rows)
            for note in _annotations(number, row, colours)
        ],
    )


def _trace(map_view: PartitionMapView, kind: str, colours: Mapping[str, str]) -> go.Bar:
    bars = [bar for bar in map_view.bars if bar.kind == kind]
    marker: dict = {"color": colours[COLOURS[kind]]}
    if kind == "other":
        pattern = {"shape": "x", "fgcolor": colours["raised"], "size": 5, "solidity": 0.2}
        marker["pattern"] = pattern | {"fillmode": "overlay"}
    return go.Bar(
        orientation="h",
        y=[bar.row + (3 + bar.side * (LANE_PX + 1)) / ROW_PX for bar in bars],
        base=[bar.start for bar in bars],
        x=[bar.stop - bar.start for bar in bars],
        width=LANE_PX / ROW_PX,
        offset=0,
        marker=marker,
        name=kind,
        customdata=[map_view.rows[bar.row].directory for bar in bars],
        hovertext=[map_view.rows[bar.row].hover for bar in bars],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _annotations(number: int, row: PartitionLanes, colours: Mapping[str, str]) -> list[dict]:
    y = number + (3 + LANE_PX) / ROW_PX
    plain = {"xref": "paper", "xanchor": "left", "y": y, "yanchor": "middle", "borderpad": 0}
    name = row.name
    if len(name) > NAME_CHARACTERS:
        name = f"{name[: NAME_CHARACTERS - 9]}…{name[-8:]}"
    words = colours[f"{row.severity}_text"]
    return [
        theme.note(escape(name, quote=False), colours["ink"], 13, x=0, xshift=-LEFT_PX, **plain),
        theme.note(escape(row.text, quote=False), words, 12.5, x=1, xshift=12, **plain),
    ]
