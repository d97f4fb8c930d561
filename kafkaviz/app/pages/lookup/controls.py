"""What is asked: offset or timestamp, which one, in what, as which release, by which consumer."""

from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from kafkaviz.app.pages.lookup import practice_source, releases, target
from kafkaviz.app.pages.lookup.practice_source import OWN_SET, SETS
from kafkaviz.app.pages.lookup.releases import KAFKAS_WARM, VERSIONS
from kafkaviz.app.pages.lookup.source import LookupSource
from kafkaviz.app.pages.lookup.targets import OFFSET, TARGETS
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.widgets import elements
from kafkaviz.search.bounds import ISOLATIONS, READ_UNCOMMITTED
from kafkaviz.search.profile import SearchProfile
from kafkaviz.words import say, text_in

DEFAULT_KEYS = "6 14 22 26 31 40 47 55 58 66 71 80"
FEW_WARM = {"twenty": 4}  # entries, of the lessons with a small warm section


@dataclass(frozen=True)
class LookupQuery:
    """What the controls say, all but the target. target_kind: offset or timestamp; search_profile:
    the release that searches.
    """

    target_kind: str
    search_profile: SearchProfile
    isolation: str


def render_controls(
    source: LookupSource, sets: dict[str, str], default_version: str
) -> LookupQuery:
    """Both rows. sets: what there is to look things up in, by word; default_version: the release
    that searches unless another is chosen.
    """
    kinds, own_version = (
        TARGETS[:1] if source.is_index_only else TARGETS,
        cast(str, releases.equivalent_version(default_version)),
    )
    target_kind = choice.settle(page_state.BY, kinds, OFFSET)
    name = choice.settle(page_state.SET, sets.keys(), OWN_SET, parse_set)
    version = choice.settle(
        page_state.SEARCH, VERSIONS.keys(), own_version, releases.equivalent_version
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap=16, key="kv_ctl"):
        widget_options: dict[str, Any] = {
            "required": True,
            "format_func": _target_kind_text,
            "on_change": target.reset_target,
        }
        st.segmented_control(say("lookup.by"), kinds, key=page_state.BY, **widget_options)
        target.render_field(source, target_kind, name)
        widget_options = {
            "required": True,
            "format_func": sets.__getitem__,
            "on_change": _reset_target,
        }
        st.segmented_control(say("lookup.index"), list(sets), key=page_state.SET, **widget_options)
        help_text = say("lookup.search_about", version=default_version) if name == OWN_SET else None
        widget_options = {"width": 172, "help": help_text, "on_change": choice.count_move}
        st.selectbox(
            say("lookup.search_as"),
            list(VERSIONS),
            key=page_state.SEARCH,
            format_func=_release_text,
            **widget_options,
        )
    warm_entries, isolation = _render_second_row(source, target_kind, name)
    st.space(16)
    if source.is_index_only:
        _render_wrong_keys()
    return LookupQuery(
        target_kind,
        releases.search_profile(
            default_version if version == own_version else version, warm_entries, target_kind
        ),
        isolation,
    )


def parse_set(set_text: str) -> str | None:
    """Links may name an index as the page does in English."""
    return next(
        (
            name
            for name in SETS
            if text_in("en", f"lookup.set_{name}").casefold() == set_text.casefold()
        ),
        None,
    )


def _target_kind_text(target_kind: str) -> str:
    """Offset or timestamp."""
    return say(f"lookup.by_{target_kind}")


def _release_text(version: str) -> str:
    """Which releases search as this one does."""
    return say(f"lookup.search_{VERSIONS[version]}")


def _reset_target() -> None:
    """Its warm section is its own too."""
    target.reset_target()
    st.session_state.pop(page_state.WARM, None)
    st.query_params.pop(page_state.WARM, None)


def _render_second_row(source: LookupSource, target_kind: str, name: str) -> tuple[int, str]:
    """What moves the target; the consumer, or of a lesson how many entries are warm: these, and the
    consumer's isolation.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap=16, key="kv_ctl2"):
        if source.is_index_only:
            widget_options: dict[str, Any] = {
                "bind": "query-params",
                "on_change": target.reset_target,
            }
            st.text_input(
                say("lookup.own_keys"), DEFAULT_KEYS, key=page_state.KEYS, **widget_options
            )
        target.render_slider(source, target_kind)
        if source.is_synthetic:
            return _choose_warm_entries(name), READ_UNCOMMITTED
        isolation = choice.ask(
            st.selectbox,
            say("lookup.consumer"),
            ISOLATIONS,
            READ_UNCOMMITTED,
            page_state.ISOLATION,
            width=172,
        )
        return KAFKAS_WARM, isolation


def _choose_warm_entries(name: str) -> int:
    """How many entries of a lesson's index are warm."""
    default = str(FEW_WARM.get(name, KAFKAS_WARM))
    return int(
        choice.ask(
            st.selectbox,
            say("lookup.warm"),
            map(str, releases.WARM_ENTRIES),
            default,
            page_state.WARM,
            width=172,
        )
    )


def typed_keys_source() -> LookupSource:
    """The index whose keys somebody typed; where they are none, the last that were."""
    text = (
        st.session_state.get(page_state.KEYS)
        or st.query_params.get(page_state.KEYS)
        or DEFAULT_KEYS
    )
    try:
        return practice_source.keys_source(practice_source.parse_keys(text))
    except ValueError:
        return practice_source.keys_source(practice_source.parse_keys(DEFAULT_KEYS))


def _render_wrong_keys() -> None:
    """What the field of the keys holds, where it holds none; the page then shows others."""
    try:
        practice_source.parse_keys(st.session_state.get(page_state.KEYS) or "")
    except ValueError as fault:
        with elements.state(
            "keys", "info", str(fault), say("lookup.keys_below", keys=DEFAULT_KEYS)
        ):
            pass
        st.space(16)
