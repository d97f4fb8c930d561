"""What is tuned: the choice on the page, a workload of one's own, and what that means to be
measured.
"""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_words
from kafkaviz.ui import choice, parts, pick, state, workloads
from kafkaviz.ui.pick import Place
from kafkaviz.ui.tuning import options, scopes
from kafkaviz.ui.tuning.shown import go_to
from kafkaviz.words import say

NAME_CHARACTERS = 20


@dataclass(frozen=True)
class Scope:
    """What is tuned, of all that there is to choose from; choices and label as of scopes.scopes,
    name: of a workload its title.
    """

    place: Place
    choices: dict[str, tuple[str, str]]
    label: str
    kind: str
    name: str


def scope(place: Place) -> Scope:
    """What the address names; else the open topic-partition."""
    choices = scopes.scopes(place.broker, place.partition)
    own = units.legible(place.partition.directory) if place.partition else ""
    label = next(
        (one for one in (st.query_params.get(state.TUNING_OF), own) if one in choices),
        next(iter(choices)),
    )
    return Scope(place, choices, label, *choices[label])


def segmented(of: Scope) -> None:
    """The choice; another one is another address."""
    shown = {parts.middle(one, NAME_CHARACTERS): one for one in of.choices}
    middle = next(name for name, one in shown.items() if one == of.label)
    with st.container(width="content", gap=4):
        st.html(f'<div class="kv-lab">{say(f"tuning.of_{of.kind}")}</div>', width="content")
        look: dict[str, Any] = {
            "default": middle,
            "required": True,
            "label_visibility": "collapsed",
            "key": f"kv_tune_of_{of.label}",
        }
        label = shown.get(
            st.segmented_control(say("tuning.tuned"), list(shown), format_func=_words, **look)
            or middle,
            of.label,
        )
    if label != of.label:
        kind, name = of.choices[label]
        own = of.place.address.get(state.TOPIC_PARTITION, "")
        go_to(of.place, name if kind == "partition" else own, "" if kind == "partition" else label)


def _words(option: str) -> str:
    """What a choice is called; a topic-partition by its name, which is no Markdown."""
    return parts.plain(options.told(option))


def first_words(of: Scope) -> None:
    """What is tuned, where there is nothing to tell of it yet."""
    words = say("tuning.whole_broker") if of.kind == "broker" else options.told(of.label)
    parts.title(say("common.page_tuning"), say("tuning.lead_short", of=words), gap=0)


def wanted(of: Scope) -> scopes.Wanted | None:
    """What is to be measured; None where somebody's workload is none yet."""
    if of.kind != "workload":
        return scopes.wanted(pick.listed(of.place), of.kind, of.name, _release())
    text = st.session_state.get(state.OWN_TUNED, "")
    try:
        if of.name == workloads.OWN:
            workloads.own(text)
    except KafkavizError as fault:
        with parts.state("own", "error", say("workloads.no_workload"), fault_words.line(fault)):
            pass
        return None
    return scopes.wanted_workload(of.name, text, _release())


def _release() -> str | None:
    """The release that is asked for."""
    said = choice.adopt(state.READS_AS, options.RELEASES, options.AS_FOUND)
    return None if said == options.AS_FOUND else said


def workload() -> str:
    """Which workload, by its title, and the field for one's own."""
    names = [*workloads.by_title(), workloads.OWN]
    with st.container(key="kv_tune_workload", gap=8):
        with st.container(horizontal=True, vertical_alignment="center", gap=16):
            look: dict[str, Any] = {
                "says": workloads.told,
                "on_change": forget_considered,
                "label_visibility": "collapsed",
                "width": 320,
            }
            name = choice.ask(
                st.selectbox, say("workloads.workload"), names, names[0], state.WORKLOAD, **look
            )
            st.html(f'<span class="kv-sm kv-fnt">{parts.escape(scopes.story(name))}</span>')
        if name == workloads.OWN:
            _own_text()
    return name


def _own_text() -> None:
    """The field for a workload of one's own; it begins with one that works."""
    if state.OWN_TUNED not in st.session_state:
        st.session_state[state.OWN_TUNED] = workloads.own_text()
    look: dict[str, Any] = {
        "height": 220,
        "label_visibility": "collapsed",
        "on_change": forget_considered,
    }
    st.text_area(say("workloads.own_toml"), key=state.OWN_TUNED, **look)


def forget_considered() -> None:
    """Another log comes with its own recommendation."""
    st.session_state.pop(state.CONSIDERED, None)
    st.query_params.pop(state.CONSIDERED, None)


def forget_of_another(key: str) -> None:
    """Another log comes with its own recommendation and settings, unless its address brings
    others.
    """
    if st.session_state.get(state.TUNED) not in (None, key):
        for one in (state.CONSIDERED, *state.IF.values()):
            if one not in st.query_params:
                st.session_state.pop(one, None)
    st.session_state[state.TUNED] = key
