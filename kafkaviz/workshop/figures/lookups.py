"""Figures of lookups.

They show the skip list of segments, a search step by step, a race between two searches, and an
index above its batches.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import plotly.graph_objects as go

from kafkaviz import versions
from kafkaviz.analysis.lookup import lookup_source, search_race
from kafkaviz.analysis.lookup.lookup_source import LookupSource
from kafkaviz.app import frontend, page_state
from kafkaviz.app.cache import lookup_cache
from kafkaviz.app.frontend import register_component
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.figures import theme
from kafkaviz.figures.lookup import LookupContext, stepper
from kafkaviz.figures.lookup import search_race as race_figure
from kafkaviz.figures.lookup.search_race import SearchRaceView
from kafkaviz.figures.text.sentences import join_semicolon
from kafkaviz.messages import message, say
from kafkaviz.simulate import lesson_logs
from kafkaviz.units import format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.block_location import locate
from kafkaviz.workshop.figures.figure import (
    Component,
    Destination,
    LessonFigure,
    Part,
    block_key,
    drawn_figure,
    frame,
    start_parameters,
    stepper_data,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue


def _make_entries(block: LessonBlock) -> LookupContext:
    source = lookup_cache.practice_source(block["set"])
    return lookup_cache.lookup_context(
        source,
        "offset",
        block["target"],
        lookup_cache.release_profile(versions.NEWEST, lookup_source.KAFKAS_WARM, "offset"),
    )


def _draw_entries(context: LookupContext, block: LessonBlock, key: str) -> list[Part]:
    segment = context.log.segments[0]
    slot = context.result.searches[0].slot_search.slot
    title = _search_title(
        block["target"],
        slot,
        [int(entry["position"]) for entry in segment.offset_slots],
        _batch_position(context),
    )
    return _entries_parts(context, block, key, {"title": title, "revealed": True})


def _draw_entries_question(context: LookupContext, block: LessonBlock, key: str) -> list[Part]:
    title = say("workshop.entries_ask", target=block["target"])
    return _entries_parts(context, block, key, {"title": title, "revealed": False})


def _entries_parts(context: LookupContext, block: LessonBlock, key: str, head: dict) -> list[Part]:
    data = head | _search(context, block["target"]) | _rows(context)
    return [frame(key, Component(partial(entries, data, key)))]


def _rows(context: LookupContext) -> dict:
    slots = context.log.segments[0].offset_slots
    rows = context.batches(0).all_rows()
    return {
        "slots": [[int(entry["relative_offset"]), int(entry["position"])] for entry in slots],
        "batches": [
            [int(row[name]) for name in ("position", "size_bytes", "base_offset", "last_offset")]
            for row in rows
        ],
    }


def _search(context: LookupContext, target: int) -> dict:
    scan = context.result.scan
    batch = _batch_position(context)
    passed_positions = (
        [
            position
            for position in sorted({batch_read.position for batch_read in scan.reads})
            if position < batch
        ]
        if scan
        else []
    )
    return {
        "target": target,
        "slot": context.result.searches[0].slot_search.slot,
        "from": scan.from_position if scan else 0,
        "passed": passed_positions,
        "batch": batch,
        "below": say("workshop.entries_below"),
        "slot_word": say("workshop.slot"),
        "here": say("workshop.entries_here", target=target),
        "read": say(
            f"workshop.entries_read{'_one' if len(passed_positions) == 1 else ''}",
            count=len(passed_positions),
        )
        if passed_positions
        else "",
    }


def _batch_position(context: LookupContext) -> int:
    scan = context.result.scan
    return scan.batch.position if scan and scan.batch else -1


def _search_title(target: int, slot: int, positions: Sequence[int], batch: int) -> str:
    if slot < 0:
        return say("workshop.entries_none", target=target)
    own_slot = positions.index(batch) if batch in positions else slot
    return say(
        "workshop.entries_found" if own_slot == slot else "workshop.entries_found_not",
        target=target,
        slot=slot,
        own=own_slot,
    )


def _to_practice_lookup(block: LessonBlock) -> Destination:
    return "Lookup", {
        page_state.SET: block["set"],
        page_state.BY: "offset",
        page_state.TARGET: str(block["target"]),
    }


ENTRIES = LessonFigure(
    _make_entries,
    _draw_entries,
    _to_practice_lookup,
    paper=_draw_entries_question,
    question=_draw_entries_question,
)


_entries = register_component("entries")


def entries(data: dict[str, Any], key: str) -> None:
    """Draws an index above its batches.

    Args:
        data: `slots` holds (key, position), `batches` (position, size, first offset, last offset).
            After the answer also: `slot` (the slot that is found), and positions in the .log:
            `from` (where the read begins), `passed` (batches before `batch`), `batch` (the result).
    """
    _entries(key=key, data=data)


def make_lookup(block: LessonBlock) -> LookupContext:
    warm = lookup_source.KAFKAS_WARM if block["warm"] is None else block["warm"]
    return lookup_cache.lookup_context(
        _source(block),
        block["by"],
        block["target"],
        lookup_cache.release_profile(_search_release(block), warm, block["by"]),
    )


def _search_release(block: LessonBlock) -> str:
    """Returns the release of lookup_cache.VERSIONS that searches like the release in a block."""
    return cast(str, lookup_cache.equivalent_version(block["search"]))


def _source(block: LessonBlock) -> LookupSource:
    if block["set"]:
        return lookup_cache.practice_source(block["set"])
    location = locate(block)
    return lookup_cache.open_partition(location.snapshot, location.partition, location.segment)


def to_lookup(block: LessonBlock) -> Destination:
    lookup_parameters = {
        page_state.BY: block["by"],
        page_state.TARGET: str(block["target"]),
        page_state.SEARCH: _search_release(block),
    }
    if not block["set"]:
        return "Lookup", locate(block).address | lookup_parameters
    warm = {} if block["warm"] is None else {page_state.WARM: str(block["warm"])}
    return "Lookup", {page_state.SET: block["set"]} | lookup_parameters | warm


def _draw_steps(context: LookupContext, block: LessonBlock, key: str) -> list[Part]:
    data = stepper.browser_payload(stepper.view(context), context, block_key(block))
    return [_stepper(data | stepper_data(block, key), key)]


def _draw_steps_question(context: LookupContext, block: LessonBlock, key: str) -> list[Part]:
    data = stepper.base_payload(stepper.view(context), context, f"{block_key(block)} ?")
    return [_stepper(data | stepper_data(block, key) | {"begin": 0}, key)]


def _stepper(data: dict[str, Any], key: str) -> Component:
    return Component(partial(frontend.stepper, data, None, key=key))


def _steps_on_paper(context: LookupContext, block: LessonBlock, key: str) -> list[Part]:
    steps = enumerate(stepper.view(context).steps, 1)
    heads = (say("workshop.step"), say("workshop.what_happens"))
    return [table_html(heads, [(str(number), step.text) for number, step in steps], "rw")]


def _to_step(block: LessonBlock) -> Destination:
    page, address = to_lookup(block)
    return page, address | start_parameters(block)


STEPPER = LessonFigure(make_lookup, _draw_steps, _to_step, _steps_on_paper, _draw_steps_question)


# ---- the race of plain binary search and the warm-section-first search

MAX_RACE_ENTRIES = 40 * 512  # a page has 512 entries


def _make_race(block: LessonBlock) -> tuple[SearchRaceView, ...]:
    """Returns the race of Kafka's search and plain binary search for the newest entry.

    If plain search waits for the disk only because of the newest entry, also returns the race in
    the index without the newest entry.
    """
    entries = block["entries"]
    if not 0 < entries <= MAX_RACE_ENTRIES:
        raise NoValue(message("lesson.race_entries", most=MAX_RACE_ENTRIES))
    (segment,) = lesson_logs.log_of_keys(range(entries)).segments
    race = search_race.race(segment, lookup_source.OFFSET, entries - 1)
    before = search_race.race_without_last_entry(segment, entries - 1, race)
    return race_figure.views(race, before)


def _draw_race(
    views: Sequence[SearchRaceView], block: LessonBlock, key: str, *, is_question: bool = False
) -> list[Part]:
    payload = race_figure.browser_payload(views, block_key(block))
    payload["is_question"] = is_question
    if is_question:  # the caption would reveal the answer
        payload["races"] = [race | {"caption": ""} for race in payload["races"]]
    return [Component(partial(frontend.search_race, payload, key))]


SEARCH_RACE = LessonFigure(
    _make_race,
    _draw_race,
    lambda _block: ("Lookup", {page_state.SET: "full", page_state.BY: "offset"}),
    question=partial(_draw_race, is_question=True),
)


# ---- the segments as a skip list

SKIP_LIST_PX = 300
# half the width of a node, in keys, and half its height, in levels
NODE_HALF = 0.36
LEVEL_HALF = 0.2
HEAD = -1  # the index that stands for the node before the first key


@dataclass(frozen=True)
class KeyComparison:
    """One step of a search in a skip list: a key is compared with the target.

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
    """A skip list, and one search in it.

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


def skip_list_view(keys: Sequence[int], target: int, partition: str, source: str) -> SkipListView:
    heights = even_heights(len(keys))
    comparisons = search_skip_list(keys, heights, target)
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


def search_skip_list(
    keys: Sequence[int], heights: Sequence[int], target: int
) -> tuple[KeyComparison, ...]:
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


def skip_list_rows(skip_list: SkipListView) -> list[tuple[str, str, str]]:
    """Returns a row per comparison: level, key, direction."""
    return [
        (
            format_count(each.level),
            format_count(skip_list.keys[each.place]),
            say("skip_list.right" if each.is_right else "skip_list.down"),
        )
        for each in skip_list.comparisons
    ]


def describe_skip_list(skip_list: SkipListView) -> str:
    return join_semicolon(
        say("skip_list.step", level=level, key=key, where=where)
        for level, key, where in skip_list_rows(skip_list)
    )


def skip_list_figure(skip_list: SkipListView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    passed = {(each.level, each.place) for each in skip_list.comparisons if each.is_right}
    refused = {(each.level, each.place) for each in skip_list.comparisons if not each.is_right}
    chart = _skip_list_chart(skip_list, mode)
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
    way = _search_path(skip_list)
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


def skip_list_question_figure(skip_list: SkipListView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    chart = _skip_list_chart(skip_list, mode)
    for place, height in enumerate(skip_list.heights):
        for level in range(1, height + 1):
            _add_node(chart, place, level, colours["offset_soft"], colours["offset"], thick=False)
    return chart


def _search_path(skip_list: SkipListView) -> list[tuple[float, float]]:
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


def _skip_list_chart(skip_list: SkipListView, mode: str) -> go.Figure:
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
        theme.chart_layout(mode, SKIP_LIST_PX, (0, 8, 8, 62)),
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


SKIP_LIST_HEADS = ("skip_list.head_level", "report.base_offset", "skip_list.head_where")


def _make_skip_list(block: LessonBlock) -> SkipListView:
    partition = block_location.locate(block).partition
    keys = [segment.base_offset for segment in partition.live]
    return skip_list_view(keys, block["offset"], partition.directory, block["data"])


SKIP_LIST = drawn_figure(
    _make_skip_list,
    block_location.to_segment,
    (skip_list_figure, skip_list_question_figure),
    heads=SKIP_LIST_HEADS,
    rows=skip_list_rows,
    kinds="rrl",
    words=describe_skip_list,
)
