"""A lookup in a lesson, step by step."""

from functools import partial
from typing import Any, cast

from kafkaviz.app import frontend, page_state
from kafkaviz.app.cache import lookup_cache, lookup_source
from kafkaviz.app.cache.lookup_source import LookupSource
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.figures.stepper import LookupContext, stepper
from kafkaviz.messages import say
from kafkaviz.workshop.figures.block_location import locate
from kafkaviz.workshop.figures.figure import (
    Component,
    Destination,
    LessonFigure,
    Part,
    block_key,
    start_parameters,
    stepper_data,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock


def make_lookup(block: LessonBlock) -> LookupContext:
    warm = lookup_source.KAFKAS_WARM if block["warm"] is None else block["warm"]
    return lookup_cache.lookup_context(
        _source(block),
        block["by"],
        block["target"],
        lookup_cache.release_profile(_like(block), warm, block["by"]),
    )


def _like(block: LessonBlock) -> str:
    """Returns the release in lookup_cache.VERSIONS that searches like the block's release."""
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
        page_state.SEARCH: _like(block),
    }
    if not block["set"]:
        return "Lookup", locate(block).address | lookup_parameters
    warm = {} if block["warm"] is None else {page_state.WARM: str(block["warm"])}
    return "Lookup", {page_state.SET: block["set"]} | lookup_parameters | warm


def _draw_steps(context: LookupContext, block: LessonBlock, key: str) -> list[Part]:
    data = stepper.browser_payload(stepper.view(context), context, block_key(block))
    return [_stepper(data | stepper_data(block, key), key)]


def _draw_steps_question(context: LookupContext, block: LessonBlock, key: str) -> list[Part]:
    """Returns the index before the first probe."""
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
