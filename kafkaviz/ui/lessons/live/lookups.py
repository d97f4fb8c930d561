"""A lookup in a lesson: step by step, as lanes beside the other search, and why a timestamp gave
its offset.
"""

from typing import cast

from kafkaviz.figures import lookup_lanes, stepper
from kafkaviz.figures import why_offset as why_figure
from kafkaviz.figures.lookup_lanes import LanesView
from kafkaviz.figures.lookup_made import Made
from kafkaviz.figures.why_offset import WhyView
from kafkaviz.ui import parts, state
from kafkaviz.ui.components import stepper as stepper_door
from kafkaviz.ui.lessons.grammar import Block, NoValue
from kafkaviz.ui.lessons.live.figure import Live, Onward, begins, framed, position, told
from kafkaviz.ui.lessons.live.places import place
from kafkaviz.ui.lookup import on_disk, practice, releases, searched
from kafkaviz.ui.lookup.source import Source
from kafkaviz.ui.tables import table
from kafkaviz.words import say


def made(block: Block) -> Made:
    """The lookup of a block."""
    warm = releases.KAFKAS_WARM if block["warm"] is None else block["warm"]
    return searched.made(
        _source(block),
        block["by"],
        block["target"],
        releases.release(_like(block), warm, block["by"]),
    )


def _like(block: Block) -> str:
    """The release that searches as the block's, which is one, does."""
    return cast(str, releases.like(block["search"]))


def _source(block: Block) -> Source:
    return practice.of_practice(block["set"]) if block["set"] else on_disk.of_place(place(block))


def _to_lookup(block: Block) -> Onward:
    asked = {
        state.BY: block["by"],
        state.TARGET: str(block["target"]),
        state.SEARCH: _like(block),
    }
    if not block["set"]:
        return "Lookup", place(block).address | asked
    warm = {} if block["warm"] is None else {state.WARM: str(block["warm"])}
    return "Lookup", {state.SET: block["set"]} | asked | warm


def _draw_steps(found: Made, block: Block, key: str) -> None:
    stepper_door.stepper(
        stepper.message(stepper.view(found), found, told(block)) | position(block, key),
        None,
        key=key,
    )


def _steps_on_paper(found: Made, block: Block, key: str) -> None:
    steps = enumerate(stepper.view(found).steps, 1)
    table(
        (say("workshop.step"), say("workshop.what_happens")),
        [(str(number), one.text) for number, one in steps],
        "rw",
    )


def _draw_lanes(found: Made, block: Block, key: str) -> None:
    stepper_door.lanes(
        lookup_lanes.message(cast(LanesView, lookup_lanes.view(found)), told(block)), key=key
    )


def _make_why(block: Block) -> WhyView:
    if block["by"] != "timestamp":
        raise NoValue("why tells of a timestamp: by is timestamp")
    of = releases.release(_like(block), releases.KAFKAS_WARM, block["by"])
    source = _source(block)
    return searched.why(source, searched.made(source, block["by"], block["target"], of), of)


def _draw_why(shown: WhyView, block: Block, key: str) -> None:
    framed(
        why_figure.figure,
        shown,
        block,
        key,
        "".join(f'<p class="kv-sm">{parts.escape(note)}</p>' for note in shown.notes),
    )


def _to_step(block: Block) -> Onward:
    page, address = _to_lookup(block)
    return page, address | begins(block)


STEPPER = Live(made, _draw_steps, _to_step, _steps_on_paper)
LANES = Live(made, _draw_lanes, _to_lookup)
WHY = Live(_make_why, _draw_why, _to_lookup)
