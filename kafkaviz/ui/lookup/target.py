"""The target of a lookup: its field, a slider along all of them, the buttons that choose one; and
what is wrong with what was typed.
"""

import secrets
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.figures.listed import sentences
from kafkaviz.figures.lookup_made import Made
from kafkaviz.search.by_time import NAMES
from kafkaviz.search.fetch import OffsetOutOfRange
from kafkaviz.ui import parts, state
from kafkaviz.ui.components import stepper as components
from kafkaviz.ui.lookup import searched, targets
from kafkaviz.ui.lookup.source import Source
from kafkaviz.ui.lookup.targets import OFFSET, TIMESTAMP
from kafkaviz.words import say

NAMED = ("earliest", "latest", "max")  # times with a name


def field(source: Source, by: str, name: str) -> None:
    """Where the target is typed. name: of what it is looked up in."""
    _fresh(source, by, name)
    st.text_input(_label(source, by), key=state.TARGET, bind="query-params", width=172)


def _label(source: Source, by: str) -> str:
    """What the field of the target takes."""
    if by == OFFSET:
        return say(
            "lookup.target_offset", first=units.group(source.first), last=units.group(source.last)
        )
    now = _value(by)
    if now is None or targets.named(now):
        return say("lookup.target_none" if now is None else "lookup.target_named")
    return say("lookup.target_ms", time=units.clock(now))


def _fresh(source: Source, by: str, name: str) -> None:
    """A target that was chosen for another index, or none, gives way to one worth a look."""
    chosen_for, now = st.session_state.get(state.ASKED), f"{name} {by}"
    begins = state.TARGET not in st.session_state and not st.query_params.get(state.TARGET)
    if begins or chosen_for not in (None, now):
        st.session_state[state.TARGET] = targets.written(source.default(by), by)
    elif state.TARGET not in st.session_state:
        st.session_state[state.TARGET] = st.query_params[state.TARGET]
    st.session_state[state.ASKED] = now


def start_anew() -> None:
    """Another index, or another kind of target: the old target means nothing there."""
    st.session_state[state.ASKED] = ""


def _value(by: str) -> int | None:
    """The target that the field holds; None for what is none."""
    try:
        return targets.parsed(st.session_state.get(state.TARGET) or "", by)
    except (ValueError, OverflowError):
        return None


def along(source: Source, by: str) -> None:
    """A slider along all targets, one at random; the times with a name."""
    span, now = source.span(by), _value(by)
    if span:
        # an offset outside has no place on it
        if by == TIMESTAMP or now is None or span[0] <= now <= span[1]:
            st.session_state[state.SLIDER] = min(
                max(span[0] if now is None else now, span[0]), span[1]
            )
            st.slider(
                say("lookup.slider"),
                *span,
                key=state.SLIDER,
                label_visibility="collapsed",
                on_change=_take_slider,
                args=(by,),
            )
        dice: dict[str, Any] = {
            "icon": ":material/casino:",
            "on_click": _take_random,
            "args": (span, by),
        }
        st.button(say("lookup.surprise"), type="tertiary", key="kv_random", **dice)
    if by == TIMESTAMP:
        for named in NAMED:
            st.button(
                say(f"lookup.{named}"),
                type="tertiary",
                key=f"kv_{named}",
                on_click=_take,
                args=(NAMES[named], by),
            )


def _take(target: int, by: str) -> None:
    """Looks this up next."""
    st.session_state[state.TARGET] = targets.written(target, by)


def _take_slider(by: str) -> None:
    """The slider was moved."""
    _take(st.session_state[state.SLIDER], by)


def _take_random(span: tuple[int, int], by: str) -> None:
    """Any target."""
    _take(span[0] + secrets.randbelow(span[1] - span[0] + 1), by)


def take_slot(key: str, found: Made, by: str) -> None:
    """A slot of the index was clicked: its key is the next target."""
    slot, segment = components.slot(key), searched.chosen(found)
    if slot is None or segment is None:
        return
    is_time = by == TIMESTAMP
    entry = (segment.time_slots if is_time else segment.offset_slots)[slot]
    _take(
        int(entry["timestamp_ms"])
        if is_time
        else int(entry["relative_offset"]) + segment.base_offset,
        by,
    )


def outside(source: Source, offset: int, error: OffsetOutOfRange) -> None:
    """The broker answers with an error: its words, what a consumer does then, and the offsets at
    both ends, the nearer one first.
    """
    near = min(max(offset, source.first), source.last)
    what = say(
        "lookup.past_end" if offset > near else "lookup.before_start",
        offset=units.group(offset),
        near=units.group(near),
    )
    ends = {"first": source.first, "last": source.last}
    with parts.state("outside", "info", what, sentences([str(error), say("lookup.outside")])):
        for name in sorted(ends, key=lambda one: abs(ends[one] - offset)):
            look: dict[str, Any] = {
                "type": "primary" if ends[name] == near else "secondary",
                "key": f"kv_{name}_offset",
            }
            st.button(
                say(f"lookup.{name}_offset", offset=units.group(ends[name])),
                on_click=_take,
                args=(ends[name], OFFSET),
                **look,
            )


def asked(source: Source, by: str) -> int | None:
    """The target; where the field holds none the page says so."""
    target = _value(by)
    if target is None:
        shown = st.session_state.get(state.TARGET) or say("lookup.nothing")
        what = say("lookup.no_offset" if by == OFFSET else "lookup.no_time", said=shown[:40])
        with parts.state("target", "info", what, say("lookup.choose")):
            default = source.default(by)
            offered = say(
                "lookup.offer",
                target=units.group(default) if by == OFFSET else targets.written(default, by),
            )
            st.button(offered, key="kv_offer", on_click=start_anew)
    elif by == TIMESTAMP:
        _other_unit(target)
    return target


def _other_unit(target: int) -> None:
    """Seconds or microseconds that were meant to be milliseconds."""
    odd = units.other_unit(target)
    if odd:
        unit = say(f"lookup.unit_{odd.unit}")
        means = say(
            "lookup.unit_below",
            meant=units.moment(target),
            unit=unit,
            would=units.moment(odd.timestamp_ms),
        )
        with parts.state("unit", "warning", say("lookup.unit", target=target, unit=unit), means):
            st.button(
                say("lookup.unit_use", ms=odd.timestamp_ms),
                key="kv_unit",
                on_click=_take,
                args=(odd.timestamp_ms, TIMESTAMP),
            )
        st.space(16)
