"""The controls of a lookup: offset or timestamp, target, index, release and isolation level.

The target is typed, moved with a slider, or chosen with a button. Instead of an index on disk, the
reader can type the keys of an index. Controls that are needed less often are in a popover.
"""

import re
import secrets
from dataclasses import dataclass
from typing import cast

import streamlit as st

from kafkaviz import units, versions
from kafkaviz.analysis.cost.page_replay import COLD_AFTER_BYTES
from kafkaviz.analysis.lookup.lookup_targets import KAFKAS_WARM, OFFSET, TIMESTAMP, LookupSource
from kafkaviz.app import page_state
from kafkaviz.app.cache import lookup_cache
from kafkaviz.app.cache.lookup_cache import FEW_WARM, OWN_LOG, SOURCES, TYPED_KEYS, VERSIONS
from kafkaviz.app.frontend import chosen_slot
from kafkaviz.app.widgets import choice, elements
from kafkaviz.figures.lookup import LookupContext
from kafkaviz.format import names
from kafkaviz.html import Html, tag
from kafkaviz.messages import say, say_count, text_in
from kafkaviz.render.sentences import join_comma, join_sentences
from kafkaviz.search import by_time
from kafkaviz.search.fetch import ISOLATIONS, READ_UNCOMMITTED, OffsetOutOfRange
from kafkaviz.simulate import lesson_logs
from kafkaviz.units import format_count, format_megabytes
from kafkaviz.versions import SearchProfile

SLIDER_LIMIT = 1 << 53  # 2**53: a browser's slider cannot represent larger integers exactly
TIME_NAMES = ("earliest", "latest", "max")  # Kafka's names for special timestamps
MAX_RANGES = 3  # most ranges in the alternative text; the figure shows all
WARM_ENTRIES = (2, 4, 8, 16, 64, 256, KAFKAS_WARM)  # choices for practice logs and typed keys
DEFAULT_KEYS = "6 14 22 26 31 40 47 55 58 66 71 80"
MAX_KEYS = 4096


@dataclass(frozen=True)
class LookupQuery:
    """The values of the controls, except the target. `target_kind` is OFFSET or TIMESTAMP."""

    target_kind: str
    search_profile: SearchProfile
    isolation: str
    lagging_target: int | None  # the target of the button for a lagging reader


def render_controls(
    source: LookupSource, labels: dict[str, str], default_version: str
) -> LookupQuery:
    """Draws the controls and returns their values.

    Args:
        labels: the label of each source that can be chosen, by the name of the source.
    """
    own_version = cast(str, lookup_cache.equivalent_version(default_version))
    target_kind = choice.bind_to_address(page_state.BY, source.kinds, source.kinds[0])
    name = choice.bind_to_address(page_state.SET, labels.keys(), OWN_LOG, parse_source)
    version = choice.bind_to_address(
        page_state.SEARCH, VERSIONS.keys(), own_version, lookup_cache.equivalent_version
    )
    is_warm = versions.search_profile(version).is_warm
    warm_entries = _warm_entries(source, name)
    with st.container(horizontal=True, vertical_alignment="bottom", gap=8, key="kv_ctl"):
        choice.draw_bound(
            st.segmented_control,
            say("lookup.by"),
            source.kinds,
            source.kinds[0],
            page_state.BY,
            format_func=lambda kind: say(f"lookup.by_{kind}"),
            on_change=_reset_target,
            required=True,
        )
        _render_field(source, target_kind, name)
        lagging_target = _render_warm_targets(source, target_kind, warm_entries)
        help_text = say("lookup.search_about", version=default_version) if name == OWN_LOG else None
        choice.draw_bound(
            st.selectbox,
            say("lookup.search_as"),
            VERSIONS,
            own_version,
            page_state.SEARCH,
            format_func=lambda name: say(f"lookup.search_{VERSIONS[name]}"),
            help=help_text,
            width=160,
        )
        if name == TYPED_KEYS:
            st.text_input(
                say("lookup.own_keys"),
                DEFAULT_KEYS,
                key=page_state.KEYS,
                bind="query-params",
                on_change=_reset_target,
            )
        with st.popover(say("lookup.more"), width="content"):
            with st.expander(say("lookup.how_to_read")):
                st.markdown(say("lookup.help", cold=format_megabytes(COLD_AFTER_BYTES)))
            warm_entries, isolation = _render_more(
                source, target_kind, name, warm_entries, is_warm=is_warm
            )
    if name == TYPED_KEYS:
        render_fault()
    release = default_version if version == own_version else version
    profile = lookup_cache.release_profile(release, warm_entries, target_kind)
    return LookupQuery(target_kind, profile, isolation, lagging_target)


def render_sources(labels: dict[str, str]) -> None:
    choice.draw_bound(
        st.segmented_control,
        say("common.index"),
        labels,
        OWN_LOG,
        page_state.SET,
        format_func=labels.__getitem__,
        on_change=_reset_target_and_warm,
        required=True,
    )


def parse_source(label: str) -> str | None:
    """Returns the source with this English label, or None. Used for links that have the label."""
    labels = {text_in("en", f"lookup.set_{name}").casefold(): name for name in SOURCES}
    return labels.get(label.casefold())


def _reset_target_and_warm() -> None:
    _reset_target()
    st.session_state.pop(page_state.WARM, None)
    st.query_params.pop(page_state.WARM, None)


def _render_more(
    source: LookupSource, target_kind: str, name: str, warm_entries: int, *, is_warm: bool
) -> tuple[int, str]:
    """Draws the popover's controls. Returns the warm entry count and the isolation level."""
    _render_slider(source, target_kind, is_warm=is_warm, warm_entries=warm_entries)
    if source.is_synthetic:
        return _choose_warm_entries(name), READ_UNCOMMITTED
    isolation = choice.draw_bound(
        st.selectbox, say("lookup.consumer"), ISOLATIONS, READ_UNCOMMITTED, page_state.ISOLATION
    )
    return KAFKAS_WARM, isolation


def _choose_warm_entries(name: str) -> int:
    default = str(FEW_WARM.get(name, KAFKAS_WARM))
    entries = map(str, WARM_ENTRIES)
    label = say("lookup.warm")
    return int(choice.draw_bound(st.selectbox, label, entries, default, page_state.WARM))


def _render_field(source: LookupSource, target_kind: str, name: str) -> None:
    _reset_stale_target(source, target_kind, name)
    st.text_input(
        _target_label(source, target_kind), key=page_state.TARGET, bind="query-params", width=172
    )


def _target_label(source: LookupSource, target_kind: str) -> str:
    if target_kind == OFFSET:
        return say("lookup.target_offset", first=source.first_offset, last=source.last_offset)
    target = _typed_target(target_kind)
    if target is None or by_time.name_of(target):
        return say("lookup.target_none" if target is None else "lookup.target_named")
    return say("lookup.target_ms", time=target)


def _reset_stale_target(source: LookupSource, target_kind: str, name: str) -> None:
    previous_subject = st.session_state.get(page_state.TARGET_SOURCE)
    subject = f"{name} {target_kind}"
    is_first_run = page_state.TARGET not in st.session_state and not st.query_params.get(
        page_state.TARGET
    )
    if is_first_run or previous_subject not in (None, subject):
        st.session_state[page_state.TARGET] = format_target(
            lookup_cache.default_target(source, target_kind), target_kind
        )
    elif page_state.TARGET not in st.session_state:
        st.session_state[page_state.TARGET] = st.query_params[page_state.TARGET]
    st.session_state[page_state.TARGET_SOURCE] = subject


def _reset_target() -> None:
    st.session_state[page_state.TARGET_SOURCE] = ""


def _typed_target(target_kind: str) -> int | None:
    try:
        return parse_target(st.session_state.get(page_state.TARGET) or "", target_kind)
    except (ValueError, OverflowError):
        return None


def _render_slider(
    source: LookupSource, target_kind: str, *, is_warm: bool, warm_entries: int
) -> None:
    span = source.span(target_kind)
    target = _typed_target(target_kind)
    if span and span[1] < SLIDER_LIMIT:
        # the slider cannot show an offset outside the log
        if target_kind == TIMESTAMP or target is None or span[0] <= target <= span[1]:
            st.session_state[page_state.SLIDER] = min(
                max(span[0] if target is None else target, span[0]), span[1]
            )
            with st.container(gap=None, key="kv_target"):
                ranges = lookup_cache.warm_ranges(source, target_kind, warm_entries)
                st.html(_band_html(ranges if is_warm else [], span, target_kind))
                st.slider(
                    say("lookup.slider"),
                    *span,
                    key=page_state.SLIDER,
                    label_visibility="collapsed",
                    on_change=lambda: _set_target(st.session_state[page_state.SLIDER], target_kind),
                )
        st.button(
            say("lookup.surprise"),
            type="tertiary",
            key="kv_random",
            icon=":material/casino:",
            on_click=lambda: _set_target(
                span[0] + secrets.randbelow(span[1] - span[0] + 1), target_kind
            ),
        )
    if target_kind == TIMESTAMP and not source.is_index_only:
        for time_name in TIME_NAMES:
            st.button(
                say(f"lookup.{time_name}"),
                type="tertiary",
                key=f"kv_{time_name}",
                on_click=_set_target,
                args=(by_time.NAMES[time_name], target_kind),
            )


def _band_html(ranges: list[tuple[int, int]], span: tuple[int, int], target_kind: str) -> Html:
    low, high = span
    clipped = ((max(first, low), min(last, high)) for first, last in ranges)
    inside = [(first, last) for first, last in clipped if first <= last]
    if not inside:
        return tag("div", class_="kv-band")
    label = say("lookup.band_all" if inside == [span] else "lookup.band")
    texts = []
    for bounds in inside[-MAX_RANGES:]:
        first_text, last_text = (_describe_target(target, target_kind) for target in bounds)
        texts.append(say("release.between", first=first_text, last=last_text))
    share = 100 / (high - low)
    bars = (
        tag("i", style=f"right:{share * (high - last):.4f}%;width:{share * (last - first):.4f}%")
        for first, last in inside
    )
    about = say("lookup.band_about", ranges=join_comma(texts))
    words = tag("span", label)
    return tag("div", *bars, words, class_="kv-band", role="img", aria_label=about, title=about)


def _render_warm_targets(source: LookupSource, target_kind: str, warm_entries: int) -> int | None:
    """Draws a button for each target that shows the effect of the warm section.

    Returns a lagging reader's target, which is before the warm section. None: no such target.
    """
    targets = lookup_cache.choose_targets(source, target_kind, warm_entries)
    for place, target in (("tail", targets.tail), ("behind", targets.before_warm)):
        if target is not None:
            st.button(
                say(f"lookup.{place}"),
                key=f"kv_{place}",
                type="primary" if target == _typed_target(target_kind) else "secondary",
                help=say(f"lookup.{place}_about"),
                on_click=_set_target,
                args=(target, target_kind),
            )
    return targets.before_warm


def _warm_entries(source: LookupSource, name: str) -> int:
    word = st.session_state.get(page_state.WARM) or st.query_params.get(page_state.WARM)
    is_choice = source.is_synthetic and word in map(str, WARM_ENTRIES)
    return int(word) if is_choice and word else FEW_WARM.get(name, KAFKAS_WARM)


def _describe_target(target: int, target_kind: str) -> str:
    return format_count(target) if target_kind == OFFSET else format_target(target, target_kind)


def _set_target(target: int, target_kind: str) -> None:
    st.session_state[page_state.TARGET] = format_target(target, target_kind)


def set_from_slot(key: str, context: LookupContext, target_kind: str) -> None:
    """Makes the key of the clicked index slot the next target."""
    slot = chosen_slot(key)
    segment = context.searched_segment
    if slot is None or segment is None:
        return
    if target_kind == TIMESTAMP:
        target = int(segment.time_slots[slot]["timestamp_ms"])
    else:
        target = int(segment.offset_slots[slot]["relative_offset"]) + segment.base_offset
    _set_target(target, target_kind)


def render_out_of_range(source: LookupSource, offset: int, error: OffsetOutOfRange) -> None:
    """Draws the error for an offset outside the log, with buttons for the first and last offset."""
    nearest = min(max(offset, source.first_offset), source.last_offset)
    key = "lookup.past_end" if offset > nearest else "lookup.before_start"
    finding = say(key, offset=offset, near=nearest)
    ends = {"first": source.first_offset, "last": source.last_offset}
    reason = join_sentences([str(error), say("lookup.outside")])
    with elements.state("outside", "info", finding, reason):
        for name in sorted(ends, key=lambda end: abs(ends[end] - offset)):
            st.button(
                say(f"lookup.{name}_offset", offset=units.format_count(ends[name])),
                on_click=_set_target,
                args=(ends[name], OFFSET),
                type="primary" if ends[name] == nearest else "secondary",
                key=f"kv_{name}_offset",
            )


def require_target(source: LookupSource, target_kind: str) -> int | None:
    """Returns the target in the field. If it is not valid, returns None and draws a notice."""
    target = _typed_target(target_kind)
    if target is None or (source.is_index_only and target_kind == TIMESTAMP and target < 0):
        target = None
        text = st.session_state.get(page_state.TARGET) or say("lookup.nothing")
        key = "lookup.no_offset" if target_kind == OFFSET else "lookup.no_time"
        finding = say(key, text=text[:40])
        with elements.state("target", "info", finding, say("lookup.choose")):
            default = lookup_cache.default_target(source, target_kind)
            label = say("lookup.offer", target=_describe_target(default, target_kind))
            st.button(label, key="kv_offer", on_click=_reset_target)
    elif target_kind == TIMESTAMP:
        _render_other_unit(target)
    return target


def _render_other_unit(target: int) -> None:
    suggestion = units.other_unit(target)
    if suggestion:
        unit = say(f"lookup.unit_{suggestion.unit}")
        detail = say("lookup.unit_below", time=target, unit=unit, would=suggestion.timestamp_ms)
        finding = say("lookup.unit", target=target, unit=unit)
        label = say("lookup.unit_use", ms=suggestion.timestamp_ms)
        arguments = (suggestion.timestamp_ms, TIMESTAMP)
        with elements.state("unit", "warning", finding, detail):
            st.button(label, key="kv_unit", on_click=_set_target, args=arguments)
        st.space(16)


def parse_target(text: str, target_kind: str) -> int:
    """Returns a typed target: an offset such as 2 247 or 2_247, or a timestamp in milliseconds.

    A timestamp can be a UTC date such as 2026-11-21 09:29:44.123. It can also be earliest, latest
    or max, for which Kafka uses negative numbers.

    Raises:
        ValueError: the text is anything else, or out of range.
    """
    if target_kind == TIMESTAMP and text.strip().lower() in by_time.NAMES:
        return by_time.NAMES[text.strip().lower()]
    digits = re.sub(r"[\s_,\u202f]", "", text)  # the app itself groups digits with U+202F
    if re.fullmatch(r"-?\d{1,19}", digits):
        target = int(digits)
    elif target_kind == TIMESTAMP:
        target = units.timestamp_ms(text)
    else:
        raise ValueError(text)
    if not (0 if target_kind == TIMESTAMP else -names.MAX_OFFSET) <= target <= names.MAX_OFFSET:
        raise ValueError(text)
    return target


def format_target(target: int, target_kind: str) -> str:
    """Returns a target as text: digits, or the name of a special timestamp such as latest."""
    return (by_time.name_of(target) if target_kind == TIMESTAMP else "") or str(target)


def open_source() -> LookupSource:
    """Returns an index with the keys that the user typed, or with `DEFAULT_KEYS`."""
    text = st.session_state.get(page_state.KEYS) or st.query_params.get(page_state.KEYS)
    try:
        keys = parse_keys(text or DEFAULT_KEYS)
    except ValueError:
        keys = parse_keys(DEFAULT_KEYS)
    key = f"keys {' '.join(map(str, keys))}"
    return lookup_cache.index_only_source(key, lesson_logs.log_of_keys(keys))


def parse_keys(text: str) -> list[int]:
    """Returns the whole numbers in a text. Raises ValueError if the text has other parts."""
    parts = re.split(r"[\s,;]+", text.strip()) if text.strip() else []
    for part in parts:
        if not re.fullmatch(r"-?\d{1,10}", part) or abs(int(part)) >= 1 << 31:
            raise ValueError(say("lookup.no_key", text=part[:20]))
    if len(parts) > MAX_KEYS:
        raise ValueError(say_count("lookup.many_keys", len(parts), most=MAX_KEYS))
    return [int(part) for part in parts]


def render_fault() -> None:
    """If the typed keys are not valid, draws why, and that the page shows DEFAULT_KEYS."""
    try:
        parse_keys(st.session_state.get(page_state.KEYS) or "")
    except ValueError as fault:
        elements.state("keys", "info", str(fault), say("lookup.keys_below", keys=DEFAULT_KEYS))
        st.space(16)
