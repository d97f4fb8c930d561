"""Lookup: follow one offset or one timestamp through the indexes to its record, step by step."""

from typing import cast

import streamlit as st

from kafkaviz import units, versions
from kafkaviz.errors import CorruptFile, KafkavizError
from kafkaviz.figures import fault_words, stepper
from kafkaviz.figures.lookup_made import Made
from kafkaviz.search.fetch import OffsetOutOfRange
from kafkaviz.ui import choice, parts, pick, state
from kafkaviz.ui.components import stepper as components
from kafkaviz.ui.frame import frame
from kafkaviz.ui.lookup import on_disk, practice, releases, searched, target
from kafkaviz.ui.lookup.around import below, every_step, onward, why
from kafkaviz.ui.lookup.controls import Asked, controls, set_named, typed
from kafkaviz.ui.lookup.practice import OWN, PRACTICE, SETS
from kafkaviz.ui.lookup.source import Source
from kafkaviz.ui.lookup.targets import OFFSET, TIMESTAMP
from kafkaviz.ui.pick import InPartition, InSegment, Place
from kafkaviz.ui.printed import printed
from kafkaviz.words import say

LABEL_CHARACTERS = 20


def main() -> None:
    """The page, or the sentence that says why there is none."""
    place = frame("Lookup")
    printed()
    has_log = place.segment is not None and place.segment.log is not None
    own = (
        {
            OWN: parts.middle(
                units.legible(cast(InSegment, place).partition.directory), LABEL_CHARACTERS
            )
        }
        if has_log
        else {}
    )
    sets = own | {one: say(f"lookup.set_{one}") for one in SETS}
    wanted = choice.adopt(state.SET, sets.keys(), OWN, set_named)
    if wanted == OWN or (not own and asks_for_place(place)):
        return of_place(place, sets)
    show(practice.of_practice(wanted) if wanted in PRACTICE else typed(), sets, versions.NEWEST)


def asks_for_place(place: Place) -> bool:
    """Whether the address names a place that could not be opened, and no practice log."""
    return bool(place.fault or place.segment) and state.SET not in st.query_params


def of_place(place: Place, sets: dict[str, str]) -> None:
    """The open topic-partition."""
    segment = pick.segment(place)
    here = cast(InSegment, place)
    if segment.log is None:
        with parts.state(
            "no_log", "warning", say("lookup.no_log"), say("lookup.no_log_below"), level=1
        ):
            st.page_link(
                "app.py",
                label=say("common.show_broker"),
                icon=":material/dns:",
                query_params=state.address(place.directory),
            )
        return
    try:
        source = on_disk.of_place(here)
    except KafkavizError as fault:
        return damaged(fault)
    show(source, sets, releases.assumed(here).text, place)


def show(source: Source, sets: dict[str, str], assumed: str, place: Place | None = None) -> None:
    """Controls, stepper, comparison and distribution. assumed: the release that searches unless
    another is chosen.
    """
    head(source)
    asked = controls(source, sets, assumed)
    sought = target.asked(source, asked.by)
    if sought is None:
        return
    try:
        found = searched.made(source, asked.by, sought, asked.of, asked.isolation)
    except KafkavizError as fault:
        return damaged(fault)
    drawn(source, asked, found, f"{source.key}|{sought}|{asked}", place)


def drawn(source: Source, asked: Asked, found: Made, key: str, place: Place | None) -> None:
    """The lookup step by step, and what is around it; of an offset outside the log there are no
    steps. key: of all that was asked.
    """
    if isinstance(found.found.error, OffsetOutOfRange):
        return target.outside(source, cast(int, found.found.offset), found.found.error)
    shown, by = stepper.view(found), asked.by
    components.stepper(stepper.message(shown, found, key), lambda: target.take_slot(key, found, by))
    if place and found.found.record:
        onward(cast(InPartition, place), found)
    if found.found.searches:
        below(source, found, OFFSET if found.special else by, asked.of, key)
    if by == TIMESTAMP and not found.special:
        why(source, found, asked.of, key)
    every_step(shown, found)


def head(source: Source) -> None:
    """Which index this is."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        lead = say(
            "common.titled" if source.note else "lookup.alone",
            title=source.title,
            below=source.note,
        )
        parts.title(say("lookup.title"), lead, gap=0)
        with st.popover(
            say("lookup.how_to_read"), type="tertiary", icon=":material/help:", width="content"
        ):
            st.markdown(say("lookup.help"))


def damaged(fault: KafkavizError) -> None:
    """The way leads into bytes that cannot be read; or there is no way, whatever the bytes."""
    is_damage = isinstance(fault, CorruptFile)
    why = (
        say("lookup.damaged_below", fault=fault_words.told(fault))
        if is_damage
        else fault_words.line(fault)
    )
    with parts.state(
        "damaged", "error", say("lookup.damaged" if is_damage else "lookup.refused"), why
    ):
        st.button(say("common.try_again"), key="kv_again")


main()
