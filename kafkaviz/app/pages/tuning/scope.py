"""What is tuned: the choice on the page, a workload of one's own, and what that means to be
measured.
"""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.app import workloads
from kafkaviz.app.pages.tuning import options, scopes
from kafkaviz.app.pages.tuning.tuning_context import go_to
from kafkaviz.app.state import choice, page_location, page_state
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import error_text
from kafkaviz.words import say

NAME_CHARACTERS = 20


@dataclass(frozen=True)
class Scope:
    """What is tuned, of all that there is to choose from; choices and label as of scopes.scopes,
    name: of a workload its title.
    """

    location: Location
    choices: dict[str, tuple[str, str]]
    label: str
    kind: str
    name: str


def current_scope(location: Location) -> Scope:
    """What the address names; else the open topic-partition."""
    choices = scopes.scope_choices(location.broker, location.partition)
    own_directory = (
        units.escape_controls(location.partition.directory) if location.partition else ""
    )
    label = next(
        (
            name
            for name in (st.query_params.get(page_state.TUNING_SUBJECT), own_directory)
            if name in choices
        ),
        next(iter(choices)),
    )
    return Scope(location, choices, label, *choices[label])


def render_choice(tuning_scope: Scope) -> None:
    """The choice; another one is another address."""
    labels = {
        elements.cut_middle(option, NAME_CHARACTERS): option for option in tuning_scope.choices
    }
    middle = next(name for name, option in labels.items() if option == tuning_scope.label)
    with st.container(width="content", gap=4):
        st.html(
            f'<div class="kv-lab">{say(f"tuning.of_{tuning_scope.kind}")}</div>', width="content"
        )
        widget_options: dict[str, Any] = {
            "default": middle,
            "required": True,
            "label_visibility": "collapsed",
            "key": f"kv_tune_of_{tuning_scope.label}",
        }
        label = labels.get(
            st.segmented_control(
                say("tuning.tuned"), list(labels), format_func=_option_text, **widget_options
            )
            or middle,
            tuning_scope.label,
        )
    if label != tuning_scope.label:
        kind, name = tuning_scope.choices[label]
        own_directory = tuning_scope.location.address.get(page_state.TOPIC_PARTITION, "")
        go_to(
            tuning_scope.location,
            name if kind == "partition" else own_directory,
            "" if kind == "partition" else label,
        )


def _option_text(option: str) -> str:
    """What a choice is called; a topic-partition by its name, which is no Markdown."""
    return elements.escape_markdown(options.option_text(option))


def render_title(tuning_scope: Scope) -> None:
    """What is tuned, where there is nothing to tell of it yet."""
    text = (
        say("tuning.whole_broker")
        if tuning_scope.kind == "broker"
        else options.option_text(tuning_scope.label)
    )
    elements.title(say("common.page_tuning"), say("tuning.lead_short", of=text), gap=0)


def measure_request(tuning_scope: Scope) -> scopes.MeasureRequest | None:
    """What is to be measured; None where somebody's workload is none yet."""
    if tuning_scope.kind != "workload":
        return scopes.directory_request(
            page_location.snapshot(tuning_scope.location),
            tuning_scope.kind,
            tuning_scope.name,
            _release(),
        )
    text = st.session_state.get(page_state.TUNING_WORKLOAD_TEXT, "")
    try:
        if tuning_scope.name == workloads.OWN_TITLE:
            workloads.parse_own(text)
    except KafkavizError as fault:
        with elements.state(
            "own", "error", say("workloads.no_workload"), error_text.describe_sentence(fault)
        ):
            pass
        return None
    return scopes.workload_request(tuning_scope.name, text, _release())


def _release() -> str | None:
    """The release that is asked for."""
    version = choice.adopt(page_state.READ_RELEASE, options.RELEASES, options.AS_FOUND)
    return None if version == options.AS_FOUND else version


def choose_workload() -> str:
    """Which workload, by its title, and the field for one's own."""
    names = [*workloads.by_title(), workloads.OWN_TITLE]
    with st.container(key="kv_tune_workload", gap=8):
        with st.container(horizontal=True, vertical_alignment="center", gap=16):
            widget_options: dict[str, Any] = {
                "format_func": workloads.display_title,
                "on_change": forget_considered,
                "label_visibility": "collapsed",
                "width": 320,
            }
            name = choice.ask(
                st.selectbox,
                say("workloads.workload"),
                names,
                names[0],
                page_state.WORKLOAD,
                **widget_options,
            )
            st.html(
                '<span class="kv-sm kv-fnt">'
                f"{elements.escape(scopes.describe_workload(name))}</span>"
            )
        if name == workloads.OWN_TITLE:
            _render_own_text()
    return name


def _render_own_text() -> None:
    """The field for a workload of one's own; it begins with one that works."""
    if page_state.TUNING_WORKLOAD_TEXT not in st.session_state:
        st.session_state[page_state.TUNING_WORKLOAD_TEXT] = workloads.own_text()
    widget_options: dict[str, Any] = {
        "height": 220,
        "label_visibility": "collapsed",
        "on_change": forget_considered,
    }
    st.text_area(say("workloads.own_toml"), key=page_state.TUNING_WORKLOAD_TEXT, **widget_options)


def forget_considered() -> None:
    """Another log comes with its own recommendation."""
    st.session_state.pop(page_state.CONSIDERED_INTERVAL, None)
    st.query_params.pop(page_state.CONSIDERED_INTERVAL, None)


def reset_for_source(key: str) -> None:
    """Another log comes with its own recommendation and settings, unless its address brings
    others.
    """
    if st.session_state.get(page_state.LAST_TUNING) not in (None, key):
        for parameter in (page_state.CONSIDERED_INTERVAL, *page_state.REPLAY_SETTINGS.values()):
            if parameter not in st.query_params:
                st.session_state.pop(parameter, None)
    st.session_state[page_state.LAST_TUNING] = key
