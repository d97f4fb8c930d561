"""The segments of a topic-partition as the skip list that a broker keeps in memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.figures import theme
from kafkaviz.figures.text.sentences import join_semicolon
from kafkaviz.messages import say
from kafkaviz.units import format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import drawn_figure
from kafkaviz.workshop.lessons.grammar import LessonBlock

HEIGHT_PX = 300
# half the width of a node, in keys, and half its height, in levels
NODE_HALF = 0.36
LEVEL_HALF = 0.2
HEAD = -1  # the index that stands for the node before the first key


@dataclass(frozen=True)
class KeyComparison:
    """A comparison of a key with the target.

    Attributes:
        level: the level of the list, from 1 at the bottom.
        place: the index of the key.
        is_right: whether the key is at most the target, so that the search moves right.
    """

    level: int
    place: int
    is_right: bool


@dataclass(frozen=True, kw_only=True)
class SkipListView:
    """A list, and one search in it.

    Attributes:
        heights: the number of levels of each key.
        floor: the index of the greatest key that is at most the target, or HEAD.
    """

    title: str
    question: str
    caption: str
    keys: tuple[int, ...]
    heights: tuple[int, ...]
    target: int
    comparisons: tuple[KeyComparison, ...]
    floor: int


def view(keys: Sequence[int], target: int, partition: str, source: str) -> SkipListView:
    heights = even_heights(len(keys))
    comparisons = search(keys, heights, target)
    floor = max((each.place for each in comparisons if each.is_right), default=HEAD)
    return SkipListView(
        title=say(
            "skip_list.title",
            target=target,
            base=keys[floor] if floor >= 0 else None,
            count=len(comparisons),
            one_by_one=min(floor + 2, len(keys)),
        )
        if floor >= 0
        else say("skip_list.title_none", target=target),
        question=say("skip_list.question", target=target, count=len(keys)),
        caption=say("skip_list.below", count=len(keys), partition=partition, source=source),
        keys=tuple(keys),
        heights=heights,
        target=target,
        comparisons=comparisons,
        floor=floor,
    )


def even_heights(count: int) -> tuple[int, ...]:
    """Returns the number of levels of each node.

    Java draws these numbers at random. Here they are distributed evenly: every 4th node has a
    second level, every 8th a third level, and so on.
    """
    heights = []
    for number in range(1, count + 1):
        height = 1
        step = 4
        while number % step == 0:
            height = height + 1
            step = step * 2
        heights.append(height)
    return tuple(heights)


def search(keys: Sequence[int], heights: Sequence[int], target: int) -> tuple[KeyComparison, ...]:
    comparisons = []
    place = HEAD
    for level in range(max(heights, default=0), 0, -1):
        for following in range(place + 1, len(keys)):
            if heights[following] < level:
                continue
            comparisons.append(KeyComparison(level, following, keys[following] <= target))
            if keys[following] > target:
                break
            place = following
    return tuple(comparisons)


def rows(skip_list: SkipListView) -> list[tuple[str, str, str]]:
    """Returns a row per comparison: level, key, direction."""
    return [
        (
            format_count(each.level),
            format_count(skip_list.keys[each.place]),
            say("skip_list.right" if each.is_right else "skip_list.down"),
        )
        for each in skip_list.comparisons
    ]


def describe(skip_list: SkipListView) -> str:
    return join_semicolon(
        say("skip_list.step", level=level, key=key, where=where)
        for level, key, where in rows(skip_list)
    )


def figure(skip_list: SkipListView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    passed = {(each.level, each.place) for each in skip_list.comparisons if each.is_right}
    refused = {(each.level, each.place) for each in skip_list.comparisons if not each.is_right}
    chart = _chart(skip_list, mode)
    for place, height in enumerate(skip_list.heights):
        for level in range(1, height + 1):
            if place == skip_list.floor and level == 1:
                name = "hit"
            elif (level, place) in passed:
                name = "scan"
            elif (level, place) in refused:
                name = "torn"
            else:
                name = "offset"
            is_plain = name == "offset"
            _add_node(
                chart, place, level, colours[f"{name}_soft"], colours[name], thick=not is_plain
            )
    way = _way(skip_list)
    chart.add_trace(
        go.Scatter(
            x=[x for x, _ in way],
            y=[y for _, y in way],
            mode="lines",
            line={"color": colours["scan"], "width": 3},
            hoverinfo="skip",
        )
    )
    return chart


def question_figure(skip_list: SkipListView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    chart = _chart(skip_list, mode)
    for place, height in enumerate(skip_list.heights):
        for level in range(1, height + 1):
            _add_node(chart, place, level, colours["offset_soft"], colours["offset"], thick=False)
    return chart


def _way(skip_list: SkipListView) -> list[tuple[float, float]]:
    level = max(skip_list.heights)
    place = HEAD
    way = [(HEAD, level)]
    for each in skip_list.comparisons:
        if each.level != level:
            way.append((place, each.level))
            level = each.level
        if each.is_right:
            place = each.place
            way.append((place, level))
    return [*way, (place, 1)]


def _chart(skip_list: SkipListView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    levels = max(skip_list.heights)
    chart = go.Figure()
    for level in range(1, levels + 1):
        last = max(place for place, height in enumerate(skip_list.heights) if height >= level)
        chart.add_shape(
            type="line", x0=HEAD, x1=last, y0=level, y1=level,
            line={"color": colours["ink_3"], "width": 1.5}, layer="below",
        )  # fmt: skip
        _add_node(chart, HEAD, level, colours["panel"], colours["ink_3"], thick=False)
    keys = [format_count(key) for key in skip_list.keys]
    chart.add_trace(
        go.Scatter(
            x=list(range(len(keys))),
            y=[1] * len(keys),
            mode="markers",
            marker={"opacity": 0, "size": 16},
            **theme.hover(keys),
        )
    )
    return chart.update_layout(
        theme.chart_layout(mode, HEIGHT_PX, (0, 8, 8, 62)),
        xaxis={
            "tickvals": [HEAD, *range(len(keys))],
            "ticktext": [say("skip_list.head"), *keys],
            "tickangle": -90,
            "tickfont": {"size": 12, "color": colours["ink_2"]},
            "range": [HEAD - 0.6, len(keys) - 0.4],
            "showgrid": False,
            "fixedrange": True,
        },
        yaxis={"visible": False, "range": [0.5, levels + 0.5], "fixedrange": True},
    )


def _add_node(
    chart: go.Figure, place: int, level: int, fill: str, line: str, *, thick: bool
) -> None:
    chart.add_shape(
        type="rect",
        x0=place - NODE_HALF,
        x1=place + NODE_HALF,
        y0=level - LEVEL_HALF,
        y1=level + LEVEL_HALF,
        fillcolor=fill,
        line={"color": line, "width": 2 if thick else 1},
    )


HEADS = ("skip_list.head_level", "report.base_offset", "skip_list.head_where")


def _make(block: LessonBlock) -> SkipListView:
    partition = block_location.locate(block).partition
    keys = [segment.base_offset for segment in partition.live]
    return view(keys, block["offset"], partition.directory, block["data"])


SKIP_LIST = drawn_figure(
    _make,
    block_location.to_segment,
    (figure, question_figure),
    heads=HEADS,
    rows=rows,
    kinds="rrl",
    words=describe,
)
