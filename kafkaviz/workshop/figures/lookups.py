"""Figures of lookups.

They show the skip list of segments, a search step by step, a race between two searches, and an
index above its batches.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import plotly.graph_objects as go

from kafkaviz import versions
from kafkaviz.analysis.lookup import lookup_targets, search_race
from kafkaviz.analysis.lookup.lookup_targets import LookupSource
from kafkaviz.app import frontend, page_state
from kafkaviz.app.cache import lookup_cache
from kafkaviz.app.frontend import register_component
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.figures import theme
from kafkaviz.figures.lookup import LookupContext, stepper
from kafkaviz.figures.lookup import search_race as race_figure
from kafkaviz.figures.lookup.search_race import SearchRaceView
from kafkaviz.messages import message, say
from kafkaviz.render.sentences import join_semicolon
from kafkaviz.simulate import lesson_logs
from kafkaviz.units import format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.block_location import locate
from kafkaviz.workshop.figures.figure import (
    Component,
    Destination,
    Part,
    block_key,
    drawn_figure,
    frame,
    hover_points,
    quiz_figure,
    start_parameters,
    stepper_data,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

_entries = register_component("entries")


def _make_entries(block: LessonBlock) -> LookupContext:
    source = lookup_cache.practice_source(block["set"])
    profile = lookup_cache.release_profile(versions.NEWEST, lookup_targets.KAFKAS_WARM, "offset")
    return lookup_cache.lookup_context(source, "offset", block["target"], profile)


def _draw_entries(
    context: LookupContext, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    target = block["target"]
    title = say("workshop.entries_ask", target=target)
    if is_answered:
        title = _search_title(context, target)
    head = {"title": title, "revealed": is_answered}
    data = head | _search(context, target) | _rows(context)
    return [frame(key, Component(partial(_entries, key=key, data=data)))]


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
    reads = {batch_read.position for batch_read in scan.reads} if scan else set()
    passed_positions = sorted(position for position in reads if position < batch)
    read_text = ""
    if passed_positions:
        count = len(passed_positions)
        end = "_one" if count == 1 else ""
        read_text = say(f"workshop.entries_read{end}", count=count)
    return {
        "target": target,
        "slot": context.result.searches[0].slot_search.slot,
        "from": scan.from_position if scan else 0,  # where the read of the .log begins
        "passed": passed_positions,  # batches before the result
        "batch": batch,  # the result
        "below": say("workshop.entries_below"),
        "slot_word": say("workshop.slot"),
        "here": say("workshop.entries_here", target=target),
        "read": read_text,
    }


def _batch_position(context: LookupContext) -> int:
    scan = context.result.scan
    return scan.batch.position if scan and scan.batch else -1


def _search_title(context: LookupContext, target: int) -> str:
    slot = context.result.searches[0].slot_search.slot
    if slot < 0:
        return say("workshop.entries_none", target=target)
    positions = context.log.segments[0].offset_slots["position"].tolist()
    batch = _batch_position(context)
    own_slot = positions.index(batch) if batch in positions else slot
    key = "workshop.entries_found" if own_slot == slot else "workshop.entries_found_not"
    return say(key, target=target, slot=slot, own=own_slot)


def _to_practice_lookup(block: LessonBlock) -> Destination:
    target = {page_state.BY: "offset", page_state.TARGET: str(block["target"])}
    return "Lookup", {page_state.SET: block["set"]} | target


ENTRIES = quiz_figure(
    _make_entries, _draw_entries, _to_practice_lookup, partial(_draw_entries, is_answered=False)
)


def make_lookup(block: LessonBlock, by: str = "") -> LookupContext:
    """Returns the lookup that a block describes. `by` replaces the value of the key "by"."""
    by = by or block["by"]
    warm = lookup_targets.KAFKAS_WARM if block["warm"] is None else block["warm"]
    profile = lookup_cache.release_profile(_search_release(block), warm, by)
    return lookup_cache.lookup_context(_source(block), by, block["target"], profile)


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


def _draw_steps(
    context: LookupContext, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    view = stepper.view(context)
    if is_answered:
        data = stepper.browser_payload(view, context, block_key(block)) | stepper_data(block, key)
    else:
        data = stepper.base_payload(view, context, f"{block_key(block)} ?")
        data |= {"name": key, "begin": 0}
    return [Component(partial(frontend.stepper, data, None, key=key))]


def _steps_on_paper(context: LookupContext, block: LessonBlock, key: str) -> list[Part]:
    steps = enumerate(stepper.view(context).steps, 1)
    heads = (say("workshop.step"), say("workshop.what_happens"))
    return [table_html(heads, [(str(number), step.text) for number, step in steps], "rw")]


def _to_step(block: LessonBlock) -> Destination:
    page, address = to_lookup(block)
    return page, address | start_parameters(block)


STEPPER = quiz_figure(make_lookup, _draw_steps, _to_step, _steps_on_paper)

MAX_RACE_ENTRIES = 40 * 512  # a page has 512 entries


def _make_race(block: LessonBlock) -> tuple[SearchRaceView, ...]:
    """Returns the race of Kafka's search against plain binary search for the newest entry.

    If plain search waits for the disk, but would not wait without the newest entry, also returns
    the race in the index without that entry.
    """
    entries = block["entries"]
    if not 0 < entries <= MAX_RACE_ENTRIES:
        raise NoValue(message("lesson.race_entries", most=MAX_RACE_ENTRIES))
    (segment,) = lesson_logs.log_of_keys(range(entries)).segments
    race = search_race.race(segment, lookup_targets.OFFSET, entries - 1)
    before = search_race.race_without_last_entry(segment, entries - 1, race)
    return race_figure.views(race, before)


def _draw_race(
    views: Sequence[SearchRaceView], block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    payload = race_figure.browser_payload(views, block_key(block))
    payload["is_question"] = not is_answered
    if not is_answered:  # the caption would reveal the answer
        payload["races"] = [race | {"caption": ""} for race in payload["races"]]
    return [Component(partial(frontend.search_race, payload, key))]


SEARCH_RACE = quiz_figure(
    _make_race,
    _draw_race,
    lambda _block: ("Lookup", {page_state.SET: "full", page_state.BY: "offset"}),
)

SKIP_LIST_PX = 300
NODE_HALF = 0.36  # half the width of a node, in keys
LEVEL_HALF = 0.2  # half its height, in levels
HEAD = -1  # the index that stands for the node before the first key


@dataclass(frozen=True)
class KeyComparison:
    """One step of a search in a skip list: a key is compared with the target."""

    level: int  # the level of the list, from 1 at the bottom
    place: int  # the index of the key
    is_right: bool  # whether the key is at most the target, so that the search moves right


@dataclass(frozen=True, kw_only=True)
class SkipListView:
    """A skip list, and one search in it."""

    title: str
    question: str
    caption: str
    keys: tuple[int, ...]
    heights: tuple[int, ...]  # the number of levels of each key
    target: int
    comparisons: tuple[KeyComparison, ...]
    floor: int  # the index of the greatest key that is at most the target, or HEAD


def skip_list_view(keys: Sequence[int], target: int, partition: str, source: str) -> SkipListView:
    heights = even_heights(len(keys))
    comparisons = search_skip_list(keys, heights, target)
    floor = max((each.place for each in comparisons if each.is_right), default=HEAD)
    title = say("skip_list.title_none", target=target)
    if floor >= 0:
        title = say(
            "skip_list.title",
            target=target,
            base=keys[floor],
            count=len(comparisons),
            one_by_one=min(floor + 2, len(keys)),
        )
    return SkipListView(
        title=title,
        question=say("skip_list.question", target=target, count=len(keys)),
        caption=say("skip_list.below", count=len(keys), partition=partition, source=source),
        keys=tuple(keys),
        heights=heights,
        target=target,
        comparisons=comparisons,
        floor=floor,
    )


def even_heights(count: int) -> tuple[int, ...]:
    """Returns the number of levels of each node. Java draws these numbers at random.

    Here every 4th node has a second level, every 8th a third level, and so on.
    """
    levels = [4 << level for level in range(count.bit_length())]
    return tuple(1 + sum(number % nodes == 0 for nodes in levels) for number in range(1, count + 1))


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
    names = {
        (each.level, each.place): "scan" if each.is_right else "torn"
        for each in skip_list.comparisons
    }
    chart = _skip_list_chart(skip_list, mode, names | {(1, skip_list.floor): "hit"})
    way = _search_path(skip_list)
    return chart.add_scatter(
        x=[x for x, _ in way],
        y=[y for _, y in way],
        mode="lines",
        line={"color": theme.colours(mode)["scan"], "width": 3},
        hoverinfo="skip",
    )


def skip_list_question_figure(skip_list: SkipListView, mode: str) -> go.Figure:
    return _skip_list_chart(skip_list, mode, {})


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


def _skip_list_chart(
    skip_list: SkipListView, mode: str, names: Mapping[tuple[int, int], str]
) -> go.Figure:
    """Draws a skip list. `names` has the colour of a node by (level, index of the key)."""
    colours = theme.colours(mode)
    levels = max(skip_list.heights)
    shapes = []
    for level in range(1, levels + 1):
        last = max(place for place, height in enumerate(skip_list.heights) if height >= level)
        line = {"color": colours["ink_3"], "width": 1.5}
        shapes.append(theme.straight_line(HEAD, last, level, level, line=line, layer="below"))
        shapes.append(_node(HEAD, level, colours["panel"], line | {"width": 1}))
    for place, height in enumerate(skip_list.heights):
        for level in range(1, height + 1):
            name = names.get((level, place), "offset")
            line = {"color": colours[name], "width": 1 if name == "offset" else 2}
            shapes.append(_node(place, level, colours[f"{name}_soft"], line))
    keys = [format_count(key) for key in skip_list.keys]
    places = list(range(len(keys)))
    return go.Figure(hover_points(None, places, [1] * len(keys), keys, size=16)).update_layout(
        theme.chart_layout(mode, SKIP_LIST_PX, (0, 8, 8, 62)),
        shapes=shapes,
        xaxis={
            "tickvals": [HEAD, *places],
            "ticktext": [say("skip_list.head"), *keys],
            "tickangle": -90,
            "tickfont": {"size": 12, "color": colours["ink_2"]},
            "range": [HEAD - 0.6, len(keys) - 0.4],
            "showgrid": False,
            "fixedrange": True,
        },
        yaxis={"visible": False, "range": [0.5, levels + 0.5], "fixedrange": True},
    )


def _node(place: int, level: int, fill: str, line: dict) -> dict:
    return theme.rectangle(
        place - NODE_HALF,
        place + NODE_HALF,
        level - LEVEL_HALF,
        level + LEVEL_HALF,
        fillcolor=fill,
        line=line,
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
