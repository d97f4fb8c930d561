"""Two logs of a topic-partition on one offset axis.

Each log has two rows: its leader epochs, and its segments below. If a side is chosen as the leader,
the figure shows what the follower truncates in each step.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle

import plotly.graph_objects as go

from kafkaviz import units
from kafkaviz.analysis.comparison.comparison import NO_RECORDS, SIDES, PartitionComparison, Replica
from kafkaviz.analysis.comparison.leader_epochs import UNDEFINED, FollowerTruncation
from kafkaviz.figures import theme
from kafkaviz.figures.comparison.partition_map import merge_ranges
from kafkaviz.messages import say, say_count
from kafkaviz.render.comparison_text import join_ranges
from kafkaviz.render.sentences import join_comma

LANE_PX = 30
GAP_PX = 48
MARK_PX = 5
TITLE_PX = 26
TOP_PX = 4
BOTTOM_PX = 34
LEFT_PX = 34
RIGHT_PX = 18
EPOCH_COLOURS = ("log", "hit", "time", "warm", "scan", "offset")  # colours of consecutive epochs
LABEL_SHARE = 0.07  # share of the axis below which an epoch or a segment has no label
MAX_SEGMENTS = 400  # more segments are not drawn
AROUND_OFFSETS = 8  # least number of offsets shown before the one where the logs diverge
ZOOM_SHARE = 0.5  # a zoom is offered only if the range is below this share of the axis


@dataclass(frozen=True, kw_only=True)
class EpochBar:
    """A bar for the records of one leader epoch. `colour` is a name in tokens.css."""

    side: int
    epoch: int
    first: int
    stop: int
    colour: str


@dataclass(frozen=True, kw_only=True)
class AxisMark:
    """A mark on the axis for a range of records that only one side has."""

    side: int
    first: int
    stop: int
    is_other: bool  # whether the other side has different records at these offsets


@dataclass(frozen=True, kw_only=True)
class ReplicaAxisView:
    title: str
    caption: str
    epochs: tuple[EpochBar, ...]
    marks: tuple[AxisMark, ...]
    segments: tuple[tuple[int, ...], tuple[int, ...]]
    watermarks: tuple[int | None, int | None]  # the high watermark of each side
    # side, first offset and end offset (exclusive) of the records that the follower drops
    dropped: tuple[int, int, int] | None
    # the offset where the logs diverge or the shorter one ends; None if they are equal
    parting: int | None
    parting_text: str
    range: tuple[int, int]  # the offsets that the axis shows


def first_difference(comparison: PartitionComparison) -> int | None:
    """Returns the lowest offset at which the logs differ. None: equal, or one log is missing."""
    if comparison.first_divergent_offset is not None:
        return comparison.first_divergent_offset
    a, b = comparison.replicas
    if a is None or b is None:
        return None
    record_sets = (*comparison.only_in, comparison.unreadable)
    starts = [records.ranges[0][0] for records in record_sets if records.ranges]
    if a.log_end_offset != b.log_end_offset:
        starts.append(min(a.log_end_offset, b.log_end_offset))
    return min(starts, default=None)


def view(
    comparison: PartitionComparison,
    leader: int | None = None,
    steps: int = 0,
    *,
    is_around: bool = False,
) -> ReplicaAxisView:
    """Returns both logs after `steps` truncation steps of the follower.

    `leader` is the side that is the leader, 0 or 1. None: without a leader, nothing is truncated.
    If `is_around`, the axis shows only the offsets around the first difference.
    """
    dropped = _dropped(comparison, leader, steps)
    parting = first_difference(comparison)
    return ReplicaAxisView(
        title=_title(comparison, leader, parting),
        caption=say("compare.axis_below"),
        epochs=tuple(_epoch_bars(comparison)),
        marks=tuple(_marks(comparison)),
        segments=tuple(  # ty: ignore[invalid-argument-type] - of the two sides
            replica.segments if replica and len(replica.segments) <= MAX_SEGMENTS else ()
            for replica in comparison.replicas
        ),
        watermarks=tuple(  # ty: ignore[invalid-argument-type] - of the two sides
            replica.high_watermark if replica else None for replica in comparison.replicas
        ),
        dropped=dropped,
        parting=parting,
        parting_text=_parting_text(comparison, parting),
        range=_range(comparison, parting, is_around=is_around),
    )


def can_zoom(comparison: PartitionComparison) -> bool:
    """Returns whether showing only the first difference makes the axis much shorter."""
    parting = first_difference(comparison)
    full, around = (_range(comparison, parting, is_around=is_around) for is_around in (False, True))
    return around[1] - around[0] < ZOOM_SHARE * (full[1] - full[0])


def follower_truncation(
    comparison: PartitionComparison, leader: int | None
) -> FollowerTruncation | None:
    """Returns the truncation steps of the follower. None: no leader, or the steps are unknown."""
    return comparison.truncations[leader] if comparison.truncations and leader is not None else None


def _dropped(
    comparison: PartitionComparison, leader: int | None, steps: int
) -> tuple[int, int, int] | None:
    truncation = follower_truncation(comparison, leader)
    if truncation is None or not steps or leader is None:
        return None
    follower = comparison.replicas[1 - leader]
    end = truncation.steps[min(steps, len(truncation.steps)) - 1].truncates_to
    if follower is None or end >= follower.log_end_offset:
        return None
    return 1 - leader, max(end, follower.log_start_offset), follower.log_end_offset


def _title(comparison: PartitionComparison, leader: int | None, parting: int | None) -> str:
    truncation = follower_truncation(comparison, leader)
    if truncation is not None and leader is not None:
        values = {"leader": SIDES[leader], "follower": SIDES[1 - leader]}
        if not truncation.drop_count:
            return say("compare.drops_nothing", **values)
        first = units.format_count(truncation.follower_loses[0][0])
        last = units.format_count(truncation.follower_loses[-1][1])
        return say_count("compare.drops", truncation.drop_count, first=first, last=last, **values)
    epochs = comparison.leader_epochs_there
    if comparison.first_divergent_offset is not None and epochs and epochs[0] != epochs[1]:
        offset = units.format_count(comparison.first_divergent_offset)
        return say("compare.title_parted", offset=offset, a=epochs[0], b=epochs[1])
    if parting is not None:
        return say("compare.title_same_below", offset=units.format_count(parting))
    if None in comparison.replicas:
        return say("compare.title_one_side")
    return say("compare.title_same")


def _parting_text(comparison: PartitionComparison, parting: int | None) -> str:
    if parting is None:
        return ""
    if comparison.first_divergent_offset == parting:
        return say("compare.differs_at", offset=units.format_count(parting))
    unreadable = comparison.unreadable.ranges
    if unreadable and unreadable[0].first == parting:
        ranges = join_ranges(unreadable[:1], has_more=len(unreadable) > 1)
        sides = join_comma(comparison.unreadable_sides)
        return say("comparison.unreadable", sides=sides, ranges=ranges)
    for side, records in zip(SIDES, comparison.only_in, strict=True):
        if records.ranges and records.ranges[0].first == parting:
            ranges = join_ranges(records.ranges[:1], has_more=len(records.ranges) > 1)
            return say("compare.alone", side=side, ranges=ranges)
    assert comparison.lag is not None
    return say("compare.ends_at", side=comparison.lag.side, offset=units.format_count(parting))


def _range(
    comparison: PartitionComparison, parting: int | None, *, is_around: bool
) -> tuple[int, int]:
    replicas = [replica for replica in comparison.replicas if replica]
    low = min(replica.log_start_offset for replica in replicas)
    high = max(max(replica.log_end_offset for replica in replicas), low + 1)
    if not is_around or parting is None:
        return low, high
    ends = [comparison.different.ranges, *(records.ranges for records in comparison.only_in)]
    last = max((ranges[-1][1] + 1 for ranges in ends if ranges), default=parting)
    before = max(AROUND_OFFSETS, (last - parting) // 2)
    return max(low, parting - before), min(high, max(last, parting + AROUND_OFFSETS))


def _epoch_bars(comparison: PartitionComparison) -> Iterator[EpochBar]:
    replicas = [(side, replica) for side, replica in enumerate(comparison.replicas) if replica]
    epochs = {epoch for _, replica in replicas for epoch, _ in replica.epochs.entries}
    colours = dict(zip(sorted(epochs), cycle(EPOCH_COLOURS), strict=False))
    for side, replica in replicas:
        for epoch, first, stop in epoch_ranges(replica):
            colour = colours.get(epoch, EPOCH_COLOURS[0])
            yield EpochBar(side=side, epoch=epoch, first=first, stop=stop, colour=colour)


def epoch_ranges(replica: Replica) -> Iterator[tuple[int, int, int]]:
    """Yields (epoch, first offset, end offset) of each leader epoch in the log."""
    entries = list(replica.epochs.entries) or [(UNDEFINED, replica.log_start_offset)]
    stops = [start for _, start in entries[1:]] + [replica.log_end_offset]
    for (epoch, start), stop in zip(entries, stops, strict=True):
        first = max(start, replica.log_start_offset)
        stop = min(stop, replica.log_end_offset)
        if first < stop:
            yield epoch, first, stop


def _marks(comparison: PartitionComparison) -> Iterator[AxisMark]:
    if None in comparison.replicas:
        return
    length = (comparison.compared_to or 1) - (comparison.compared_from or 0)
    for side in (0, 1):
        unreadable = comparison.unreadable if comparison.damaged_batches[side] else NO_RECORDS
        for is_other, records in (
            (False, comparison.only_in[side]),
            (True, comparison.different),
            (True, unreadable),
        ):
            for first, last in merge_ranges(records.ranges, length):
                yield AxisMark(side=side, first=first, stop=last + 1, is_other=is_other)


def figure(axis_view: ReplicaAxisView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    height_px = 2 * LANE_PX + 2 * GAP_PX
    low, high = axis_view.range
    fig = go.Figure(
        [
            _epoch_trace(axis_view, colours),
            *_mark_traces(axis_view, colours),
            _watermark_trace(axis_view, colours),
        ]
    )
    return fig.update_layout(
        theme.chart_layout(
            mode, height_px + TITLE_PX + TOP_PX + BOTTOM_PX, (LEFT_PX, RIGHT_PX, TOP_PX, BOTTOM_PX)
        ),
        barmode="overlay",
        xaxis=theme.PLAIN_AXIS
        | theme.outside_ticks(colours)
        | {
            "range": [low - (high - low) * 0.004, high + (high - low) * 0.004],
            "nticks": 8,
            "tickformat": ",d",
            "separatethousands": True,
        },
        yaxis=theme.PLAIN_AXIS
        | {"range": [height_px, -TITLE_PX]}
        | {"showticklabels": False, "showgrid": False, "ticks": ""},
        shapes=list(_shapes(axis_view, colours)),
        annotations=[
            *_annotations(axis_view, colours),
            theme.axis_name(say("compare.axis"), colours, shift_px=-18),
        ],
    )


def _lane_top(side: int) -> float:
    return side * (LANE_PX + GAP_PX)


def _clip(axis_view: ReplicaAxisView, first: int, stop: int) -> tuple[int, int]:
    low, high = axis_view.range
    return max(first, low), min(stop, high)


def _epoch_trace(axis_view: ReplicaAxisView, colours: Mapping[str, str]) -> go.Bar:
    bars = axis_view.epochs
    return go.Bar(
        orientation="h",
        y=[_lane_top(bar.side) for bar in bars],
        base=[bar.first for bar in bars],
        x=[bar.stop - bar.first for bar in bars],
        width=LANE_PX,
        offset=0,
        marker={
            "color": [colours[f"{bar.colour}_soft"] for bar in bars],
            "line": {"color": [colours[bar.colour] for bar in bars], "width": 1.5},
        },
        hovertext=[_hover_text("compare.hover_epoch", bar, epoch=bar.epoch) for bar in bars],
        hovertemplate="%{hovertext}<extra></extra>",
        name="epochs",
    )


def _hover_text(key: str, bar: EpochBar | AxisMark, **values: int) -> str:
    first = units.format_count(bar.first)
    last = units.format_count(bar.stop - 1)
    return say(key, side=SIDES[bar.side], first=first, last=last, **values)


def _mark_traces(axis_view: ReplicaAxisView, colours: Mapping[str, str]) -> list[go.Bar]:
    low, high = axis_view.range
    least = (high - low) * 0.003
    traces = []
    for is_other, colour, key in ((False, "scan", "hover_alone"), (True, "torn", "hover_other")):
        marks = [mark for mark in axis_view.marks if mark.is_other == is_other]
        traces.append(
            go.Bar(
                orientation="h",
                y=[_lane_top(mark.side) + LANE_PX + 2 for mark in marks],
                base=[mark.first for mark in marks],
                x=[max(mark.stop - mark.first, least) for mark in marks],
                width=MARK_PX,
                offset=0,
                marker={"color": colours[colour]},
                hovertext=[_hover_text(f"compare.{key}", mark) for mark in marks],
                hovertemplate="%{hovertext}<extra></extra>",
                name=colour,
            )
        )
    return traces


def _watermark_trace(axis_view: ReplicaAxisView, colours: Mapping[str, str]) -> go.Scatter:
    low, high = axis_view.range
    places = [
        (side, offset)
        for side, offset in enumerate(axis_view.watermarks)
        if offset is not None and low <= offset <= high
    ]
    return go.Scatter(
        mode="markers",
        x=[offset for _, offset in places],
        y=[_lane_top(side) - 5 for side, _ in places],
        marker={"symbol": "triangle-down", "size": 9, "color": colours["ink_2"]},
        cliponaxis=False,
        hovertext=[
            say("compare.hover_watermark", side=SIDES[side], offset=units.format_count(offset))
            for side, offset in places
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        name="watermarks",
    )


def _shapes(axis_view: ReplicaAxisView, colours: Mapping[str, str]) -> Iterator[dict]:
    low, high = axis_view.range
    line = {"color": colours["ink_3"], "width": 1}
    for side, bases in enumerate(axis_view.segments):
        top = _lane_top(side) + LANE_PX + MARK_PX + 4
        for base in bases:
            if low <= base <= high:
                yield theme.straight_line(base, base, top, top + 6, line=line)
    if axis_view.dropped:
        side, first, stop = axis_view.dropped
        first, stop = _clip(axis_view, first, stop)
        top = _lane_top(side)
        lane = theme.rectangle(first, stop, top, top + LANE_PX)
        line = {"color": colours["torn"], "width": 1.5}
        yield lane | {"fillcolor": colours["raised"], "opacity": 0.72, "line": {"width": 0}}
        yield lane | {"line": line | {"dash": "dot"}}
        yield theme.straight_line(first, stop, top, top + LANE_PX, line=line)
        yield theme.straight_line(first, stop, top + LANE_PX, top, line=line)
    if axis_view.parting is not None:
        line = {"color": colours["ink"], "width": 1.2, "dash": "dash"}
        bottom = _lane_top(1) + LANE_PX + MARK_PX + 4
        x = axis_view.parting
        yield theme.straight_line(x, x, -6, bottom, line=line)


def _annotations(axis_view: ReplicaAxisView, colours: Mapping[str, str]) -> Iterator[dict]:
    low, high = axis_view.range
    length = high - low
    plain = {"borderpad": 0, "yanchor": "middle"}
    left = plain | {"xref": "paper", "x": 0, "xanchor": "left", "xshift": -LEFT_PX + 4}
    for side, name in enumerate(SIDES):
        middle = _lane_top(side) + LANE_PX / 2
        yield theme.note(f"<b>{name}</b>", colours["ink"], 15, y=middle, **left)
    dropped_side, dropped_from, _ = axis_view.dropped or (None, 0, 0)
    for bar in axis_view.epochs:
        first, stop = _clip(axis_view, bar.first, bar.stop)
        if stop - first < LABEL_SHARE * length:
            continue
        text = say("compare.epoch", epoch=bar.epoch)
        if bar.epoch == UNDEFINED:
            text = say("compare.no_epoch")
        is_dropped = bar.side == dropped_side and dropped_from <= bar.first
        colour = colours["ink_2" if is_dropped else f"{bar.colour}_text"]
        middle = _lane_top(bar.side) + LANE_PX / 2
        yield theme.note(text, colour, 12.5, x=first, xanchor="left", xshift=7, y=middle, **plain)
    for side, bases in enumerate(axis_view.segments):
        labelled = None
        for base in bases:
            is_near = labelled is not None and base - labelled < LABEL_SHARE * length
            if low <= base <= high and not is_near:
                labelled = base
                text = units.format_count(base)
                y = _lane_top(side) + LANE_PX + MARK_PX + 19
                yield theme.note(
                    text, colours["ink_3"], 11.5, x=base, xanchor="center", y=y, **plain
                )
    if axis_view.parting is not None:
        is_left = axis_view.parting - low > length / 2
        anchor = "right" if is_left else "left"
        shift = -5 if is_left else 5
        text = f"<b>{axis_view.parting_text}</b>"
        place = plain | {"x": axis_view.parting, "xanchor": anchor, "xshift": shift, "y": -14}
        yield theme.note(text, colours["ink"], 12.5, **place)
