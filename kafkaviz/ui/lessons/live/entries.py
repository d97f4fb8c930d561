"""An index of a practice log above its batches, and where a search for an offset begins; before the
answer only what is asked.
"""

from collections.abc import Sequence

import streamlit as st

from kafkaviz import versions
from kafkaviz.figures.lookup_made import Made
from kafkaviz.ui import state
from kafkaviz.ui.components.entries import entries
from kafkaviz.ui.lessons.grammar import Block
from kafkaviz.ui.lessons.live.figure import Live, Onward
from kafkaviz.ui.lookup import practice, releases, searched
from kafkaviz.words import say


def _made(block: Block) -> Made:
    """A lookup by offset in a practice log."""
    source = practice.of_practice(block["set"])
    return searched.made(
        source,
        "offset",
        block["target"],
        releases.release(versions.NEWEST, releases.KAFKAS_WARM, "offset"),
    )


def _draw(found: Made, block: Block, key: str) -> None:
    segment, slot = found.log.segments[0], found.found.searches[0].found.slot
    title = _found_words(
        block["target"],
        slot,
        [int(one["position"]) for one in segment.offset_slots],
        _batch_found(found),
    )
    _framed(found, block, key, {"title": title, "revealed": True})


def _draw_asked(found: Made, block: Block, key: str) -> None:
    _framed(
        found,
        block,
        key,
        {"title": say("workshop.entries_ask", target=block["target"]), "revealed": False},
    )


def _framed(found: Made, block: Block, key: str, head: dict) -> None:
    with st.container(key=f"kv_fig_{key}"):
        entries(head | _search(found, block["target"]) | _rows(found), key)


def _rows(found: Made) -> dict:
    """The slots of the index, and the batches below them."""
    slots, rows = found.log.segments[0].offset_slots, found.batches(0)
    return {
        "slots": [[int(one["relative_offset"]), int(one["position"])] for one in slots],
        "batches": [
            [int(one[name]) for name in ("position", "size_bytes", "base_offset", "last_offset")]
            for one in rows
        ],
    }


def _search(found: Made, target: int) -> dict:
    """Where the search went: the slot, the batches it passed, the one it found; and what stands
    beside them.
    """
    scan, batch = found.found.scan, _batch_found(found)
    passed = (
        [one for one in sorted({read.position for read in scan.reads}) if one < batch]
        if scan
        else []
    )
    return {
        "target": target,
        "slot": found.found.searches[0].found.slot,
        "from": scan.from_position if scan else 0,
        "passed": passed,
        "batch": batch,
        "below": say("workshop.entries_below"),
        "slot_word": say("workshop.slot"),
        "here": say("workshop.entries_here", target=target),
        "read": say(f"workshop.entries_read{'_one' if len(passed) == 1 else ''}", count=len(passed))
        if passed
        else "",
    }


def _batch_found(found: Made) -> int:
    """The position of the batch that was found, or -1."""
    scan = found.found.scan
    return scan.batch.position if scan and scan.batch else -1


def _found_words(target: int, slot: int, positions: Sequence[int], batch: int) -> str:
    """Where the search began; and the entry of the target's own batch, where it is another one."""
    if slot < 0:
        return say("workshop.entries_none", target=target)
    own = positions.index(batch) if batch in positions else slot
    return say(
        "workshop.entries_found" if own == slot else "workshop.entries_found_not",
        target=target,
        slot=slot,
        own=own,
    )


def _onward(block: Block) -> Onward:
    return "Lookup", {
        state.SET: block["set"],
        state.BY: "offset",
        state.TARGET: str(block["target"]),
    }


ENTRIES = Live(_made, _draw, _onward, paper=_draw_asked, asked=_draw_asked)
