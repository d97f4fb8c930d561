"""What a teacher has beside the page: notes in a second window, and the clock of a session."""

from collections.abc import Callable

import streamlit as st

from kafkaviz import messages
from kafkaviz.app.frontend import register_component

_notes_button, _follow, _clock = map(
    register_component, ("notes_button", "follow", "session_clock")
)
FOLLOWER = "kv_follow"


def notes_button() -> None:
    """A button that opens this page with ?notes=1 in a second window.

    From then on both windows tell each other where they are, see `follow`.
    """
    _notes_button(
        key="kv_notes_window",
        data={"words": messages.table("stage")},
        width="content",
        height="content",
    )


def follow(place: str, on_place: Callable[[str], None]) -> None:
    """Tells the teacher's other window where this one is, and hears where that one went.

    Args:
        place: what is shown here.
        on_place: called with the other window's.
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
    """The minutes since the session began, beside those that were planned for this step."""
    _clock(
        key="kv_session_clock",
        data={"plan": [first, last, total], "words": messages.table("stage")},
        width="stretch",
        height="content",
    )
