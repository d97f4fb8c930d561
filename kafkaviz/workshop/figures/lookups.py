"""Lookups step by step, an index above its batches, and the race between two searches."""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from kafkaviz import versions
from kafkaviz.analysis.lookup import search_race
from kafkaviz.app import frontend, page_state
from kafkaviz.app.cache import lookup_cache, lookup_source
from kafkaviz.app.cache.lookup_source import LookupSource
from kafkaviz.app.frontend import register_component
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.figures.lookup import search_race as race_figure
from kafkaviz.figures.lookup.search_race import SearchRaceView
from kafkaviz.figures.stepper import LookupContext, stepper
from kafkaviz.messages import message, say
from kafkaviz.simulate.lessons import practice
from kafkaviz.workshop.figures.block_location import locate
from kafkaviz.workshop.figures.figure import (
    Component,
    Destination,
    LessonFigure,
    Part,
    block_key,
    frame,
    start_parameters,
    stepper_data,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue


def _make_entries(block: LessonBlock) -> LookupContext:
    source = lookup_source.practice_source(block["set"])
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
        data: `slots` as (key, position), and `batches` as (position, size, first offset, last
            offset). After the answer also `slot`, `from`, `passed` and `batch` of the lookup.
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
    """Returns a release of lookup_cache.VERSIONS that searches like the block's release."""
    return cast(str, lookup_cache.equivalent_version(block["search"]))


def _source(block: LessonBlock) -> LookupSource:
    if block["set"]:
        return lookup_source.practice_source(block["set"])
    location = locate(block)
    return lookup_source.open_partition(location.snapshot, location.partition, location.segment)


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
    """Returns the race of two searches for an index's newest entry.

    If that entry made plain binary search wait, the race before the entry was added comes second.
    """
    entries = block["entries"]
    if not 0 < entries <= MAX_RACE_ENTRIES:
        raise NoValue(message("lesson.race_entries", most=MAX_RACE_ENTRIES))
    (segment,) = practice.log_of_keys(range(entries)).segments
    race = search_race.race(segment, lookup_source.OFFSET, entries - 1)
    before = search_race.race_before_jump(segment, entries - 1, race)
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
