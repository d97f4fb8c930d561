"""What is asked: offset or timestamp, which one, in what, as which release, by which consumer."""

from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from kafkaviz.search.bounds import ISOLATIONS, READ_UNCOMMITTED
from kafkaviz.search.profile import SearchProfile
from kafkaviz.ui import choice, parts, state
from kafkaviz.ui.lookup import practice, releases, target
from kafkaviz.ui.lookup.practice import OWN, SETS
from kafkaviz.ui.lookup.releases import KAFKAS_WARM, VERSIONS
from kafkaviz.ui.lookup.source import Source
from kafkaviz.ui.lookup.targets import OFFSET, TARGETS
from kafkaviz.words import say, text_in

DEFAULT_KEYS = "6 14 22 26 31 40 47 55 58 66 71 80"
FEW_WARM = {"twenty": 4}  # entries, of the lessons with a small warm section


@dataclass(frozen=True)
class Asked:
    """What the controls say, all but the target. by: offset or timestamp; of: the release that
    searches.
    """

    by: str
    of: SearchProfile
    isolation: str


def controls(source: Source, sets: dict[str, str], assumed: str) -> Asked:
    """Both rows. sets: what there is to look things up in, by word; assumed: the release that
    searches unless another is chosen.
    """
    kinds, own = TARGETS[:1] if source.is_alone else TARGETS, cast(str, releases.like(assumed))
    by = choice.settle(state.BY, kinds, OFFSET)
    name = choice.settle(state.SET, sets.keys(), OWN, set_named)
    version = choice.settle(state.SEARCH, VERSIONS.keys(), own, releases.like)
    with st.container(horizontal=True, vertical_alignment="bottom", gap=16, key="kv_ctl"):
        look: dict[str, Any] = {
            "required": True,
            "format_func": _target_words,
            "on_change": target.start_anew,
        }
        st.segmented_control(say("lookup.by"), kinds, key=state.BY, **look)
        target.field(source, by, name)
        look = {"required": True, "format_func": sets.__getitem__, "on_change": _another_index}
        st.segmented_control(say("lookup.index"), list(sets), key=state.SET, **look)
        about = say("lookup.search_about", version=assumed) if name == OWN else None
        look = {"width": 172, "help": about, "on_change": choice.moved}
        st.selectbox(
            say("lookup.search_as"),
            list(VERSIONS),
            key=state.SEARCH,
            format_func=_release_words,
            **look,
        )
    warm_entries, isolation = _second_row(source, by, name)
    st.space(16)
    if source.is_alone:
        _wrong_keys()
    return Asked(
        by, releases.release(assumed if version == own else version, warm_entries, by), isolation
    )


def set_named(said: str) -> str | None:
    """Links may name an index as the page does in English."""
    return next(
        (one for one in SETS if text_in("en", f"lookup.set_{one}").casefold() == said.casefold()),
        None,
    )


def _target_words(by: str) -> str:
    """Offset or timestamp."""
    return say(f"lookup.by_{by}")


def _release_words(version: str) -> str:
    """Which releases search as this one does."""
    return say(f"lookup.search_{VERSIONS[version]}")


def _another_index() -> None:
    """Its warm section is its own too."""
    target.start_anew()
    st.session_state.pop(state.WARM, None)
    st.query_params.pop(state.WARM, None)


def _second_row(source: Source, by: str, name: str) -> tuple[int, str]:
    """What moves the target; the consumer, or of a lesson how many entries are warm: these, and the
    consumer's isolation.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap=16, key="kv_ctl2"):
        if source.is_alone:
            look: dict[str, Any] = {"bind": "query-params", "on_change": target.start_anew}
            st.text_input(say("lookup.own_keys"), DEFAULT_KEYS, key=state.KEYS, **look)
        target.along(source, by)
        if source.is_made:
            return _warm_entries(name), READ_UNCOMMITTED
        isolation = choice.ask(
            st.selectbox,
            say("lookup.consumer"),
            ISOLATIONS,
            READ_UNCOMMITTED,
            state.ISOLATION,
            width=172,
        )
        return KAFKAS_WARM, isolation


def _warm_entries(name: str) -> int:
    """How many entries of a lesson's index are warm."""
    usual = str(FEW_WARM.get(name, KAFKAS_WARM))
    return int(
        choice.ask(
            st.selectbox,
            say("lookup.warm"),
            map(str, releases.WARM_ENTRIES),
            usual,
            state.WARM,
            width=172,
        )
    )


def typed() -> Source:
    """The index whose keys somebody typed; where they are none, the last that were."""
    text = st.session_state.get(state.KEYS) or st.query_params.get(state.KEYS) or DEFAULT_KEYS
    try:
        return practice.of_keys(practice.parsed_keys(text))
    except ValueError:
        return practice.of_keys(practice.parsed_keys(DEFAULT_KEYS))


def _wrong_keys() -> None:
    """What the field of the keys holds, where it holds none; the page then shows others."""
    try:
        practice.parsed_keys(st.session_state.get(state.KEYS) or "")
    except ValueError as fault:
        with parts.state("keys", "info", str(fault), say("lookup.keys_below", keys=DEFAULT_KEYS)):
            pass
        st.space(16)
