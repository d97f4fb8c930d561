"""The target of a lookup: its field, a slider along all of them, the buttons that choose one; and
what is wrong with what was typed.
"""

import secrets
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.app.components import stepper as stepper_component
from kafkaviz.app.pages.lookup import lookup_cache, targets
from kafkaviz.app.pages.lookup.source import LookupSource
from kafkaviz.app.pages.lookup.targets import OFFSET, TIMESTAMP
from kafkaviz.app.state import page_state
from kafkaviz.app.widgets import elements
from kafkaviz.figures.join_text import join_sentences
from kafkaviz.figures.stepper.context import LookupContext
from kafkaviz.search.by_time import NAMES
from kafkaviz.search.fetch import OffsetOutOfRange
from kafkaviz.words import say

TIME_NAMES = ("earliest", "latest", "max")  # times with a name


def render_field(source: LookupSource, target_kind: str, name: str) -> None:
    """Where the target is typed. name: of what it is looked up in."""
    _reset_stale_target(source, target_kind, name)
    st.text_input(
        _label(source, target_kind), key=page_state.TARGET, bind="query-params", width=172
    )


def _label(source: LookupSource, target_kind: str) -> str:
    """What the field of the target takes."""
    if target_kind == OFFSET:
        return say(
            "lookup.target_offset",
            first=units.group(source.first_offset),
            last=units.group(source.last_offset),
        )
    target = _value(target_kind)
    if target is None or targets.time_name(target):
        return say("lookup.target_none" if target is None else "lookup.target_named")
    return say("lookup.target_ms", time=units.clock(target))


def _reset_stale_target(source: LookupSource, target_kind: str, name: str) -> None:
    """A target that was chosen for another index, or none, gives way to one worth a look."""
    previous_subject, subject = (
        st.session_state.get(page_state.TARGET_SOURCE),
        f"{name} {target_kind}",
    )
    is_first_run = page_state.TARGET not in st.session_state and not st.query_params.get(
        page_state.TARGET
    )
    if is_first_run or previous_subject not in (None, subject):
        st.session_state[page_state.TARGET] = targets.format_target(
            source.default(target_kind), target_kind
        )
    elif page_state.TARGET not in st.session_state:
        st.session_state[page_state.TARGET] = st.query_params[page_state.TARGET]
    st.session_state[page_state.TARGET_SOURCE] = subject


def reset_target() -> None:
    """Another index, or another kind of target: the old target means nothing there."""
    st.session_state[page_state.TARGET_SOURCE] = ""


def _value(target_kind: str) -> int | None:
    """The target that the field holds; None for what is none."""
    try:
        return targets.parse(st.session_state.get(page_state.TARGET) or "", target_kind)
    except (ValueError, OverflowError):
        return None


def render_slider(source: LookupSource, target_kind: str) -> None:
    """A slider along all targets, one at random; the times with a name."""
    span, target = source.span(target_kind), _value(target_kind)
    if span:
        # an offset outside has no place on it
        if target_kind == TIMESTAMP or target is None or span[0] <= target <= span[1]:
            st.session_state[page_state.SLIDER] = min(
                max(span[0] if target is None else target, span[0]), span[1]
            )
            st.slider(
                say("lookup.slider"),
                *span,
                key=page_state.SLIDER,
                label_visibility="collapsed",
                on_change=_set_from_slider,
                args=(target_kind,),
            )
        widget_options: dict[str, Any] = {
            "icon": ":material/casino:",
            "on_click": _set_random,
            "args": (span, target_kind),
        }
        st.button(say("lookup.surprise"), type="tertiary", key="kv_random", **widget_options)
    if target_kind == TIMESTAMP:
        for time_name in TIME_NAMES:
            st.button(
                say(f"lookup.{time_name}"),
                type="tertiary",
                key=f"kv_{time_name}",
                on_click=_set_target,
                args=(NAMES[time_name], target_kind),
            )


def _set_target(target: int, target_kind: str) -> None:
    """Looks this up next."""
    st.session_state[page_state.TARGET] = targets.format_target(target, target_kind)


def _set_from_slider(target_kind: str) -> None:
    """The slider was moved."""
    _set_target(st.session_state[page_state.SLIDER], target_kind)


def _set_random(span: tuple[int, int], target_kind: str) -> None:
    """Any target."""
    _set_target(span[0] + secrets.randbelow(span[1] - span[0] + 1), target_kind)


def set_from_slot(key: str, context: LookupContext, target_kind: str) -> None:
    """A slot of the index was clicked: its key is the next target."""
    slot, segment = stepper_component.slot(key), lookup_cache.searched_segment(context)
    if slot is None or segment is None:
        return
    is_time = target_kind == TIMESTAMP
    entry = (segment.time_slots if is_time else segment.offset_slots)[slot]
    _set_target(
        int(entry["timestamp_ms"])
        if is_time
        else int(entry["relative_offset"]) + segment.base_offset,
        target_kind,
    )


def render_out_of_range(source: LookupSource, offset: int, error: OffsetOutOfRange) -> None:
    """The broker answers with an error: its words, what a consumer does then, and the offsets at
    both ends, the nearer one first.
    """
    nearest = min(max(offset, source.first_offset), source.last_offset)
    finding = say(
        "lookup.past_end" if offset > nearest else "lookup.before_start",
        offset=units.group(offset),
        near=units.group(nearest),
    )
    ends = {"first": source.first_offset, "last": source.last_offset}
    with elements.state(
        "outside", "info", finding, join_sentences([str(error), say("lookup.outside")])
    ):
        for name in sorted(ends, key=lambda end: abs(ends[end] - offset)):
            widget_options: dict[str, Any] = {
                "type": "primary" if ends[name] == nearest else "secondary",
                "key": f"kv_{name}_offset",
            }
            st.button(
                say(f"lookup.{name}_offset", offset=units.group(ends[name])),
                on_click=_set_target,
                args=(ends[name], OFFSET),
                **widget_options,
            )


def require_target(source: LookupSource, target_kind: str) -> int | None:
    """The target; where the field holds none the page says so."""
    target = _value(target_kind)
    if target is None:
        text = st.session_state.get(page_state.TARGET) or say("lookup.nothing")
        finding = say(
            "lookup.no_offset" if target_kind == OFFSET else "lookup.no_time", said=text[:40]
        )
        with elements.state("target", "info", finding, say("lookup.choose")):
            default = source.default(target_kind)
            label = say(
                "lookup.offer",
                target=units.group(default)
                if target_kind == OFFSET
                else targets.format_target(default, target_kind),
            )
            st.button(label, key="kv_offer", on_click=reset_target)
    elif target_kind == TIMESTAMP:
        _render_other_unit(target)
    return target


def _render_other_unit(target: int) -> None:
    """Seconds or microseconds that were meant to be milliseconds."""
    suggestion = units.other_unit(target)
    if suggestion:
        unit = say(f"lookup.unit_{suggestion.unit}")
        detail = say(
            "lookup.unit_below",
            meant=units.moment(target),
            unit=unit,
            would=units.moment(suggestion.timestamp_ms),
        )
        with elements.state(
            "unit", "warning", say("lookup.unit", target=target, unit=unit), detail
        ):
            st.button(
                say("lookup.unit_use", ms=suggestion.timestamp_ms),
                key="kv_unit",
                on_click=_set_target,
                args=(suggestion.timestamp_ms, TIMESTAMP),
            )
        st.space(16)
