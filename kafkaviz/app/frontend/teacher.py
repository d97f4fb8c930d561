"""The teacher's tools: notes in a second window, and a session clock."""

from collections.abc import Callable

import streamlit as st

from kafkaviz import messages
from kafkaviz.app.frontend import register_component

_notes_button, _follow, _clock = map(
    register_component, ("notes_button", "follow", "session_clock")
)
FOLLOWER = "kv_follow"


def notes_button() -> None:
    """Draws a button that opens this page with ?notes=1 in a second window.

    From then on each window follows the other, see `follow`.
    """
    _notes_button(
        key="kv_notes_window",
        data={"words": messages.table("stage")},
        width="content",
        height="content",
    )


def follow(place: str, on_place: Callable[[str], None]) -> None:
    """Sends this window's location to the teacher's other window and receives that of the other.

    Args:
        place: the location shown in this window.
        on_place: called with the other window's location when it changes.
    """

    def hear() -> None:
        heard = (st.session_state.get(FOLLOWER) or {}).get("place")
        if heard:
            on_place(heard)

    _follow(
        key=FOLLOWER,
        data={"place": place},
        on_place_change=hear,
        width="content",
        height="content",
    )


def session_clock(first: float, last: float, total: float) -> None:
    """Draws the minutes since the session began, next to the plan.

    Args:
        first, last: the minutes planned for this step.
        total: the planned length of the session in minutes.
    """
    _clock(
        key="kv_session_clock",
        data={"plan": [first, last, total], "words": messages.table("stage")},
        width="stretch",
        height="content",
    )
