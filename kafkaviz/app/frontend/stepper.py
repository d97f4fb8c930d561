"""The stepper of a lookup, drawn and stepped in the browser."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from kafkaviz import messages
from kafkaviz.app.frontend import register_component

_stepper = register_component("stepper", "steps")


def bar() -> dict[str, Any]:
    """What steps.js takes besides the steps: which language this is, and the words of the bar."""
    return {"language": messages.language(), "bar": messages.table("steps")}


def stepper(
    data: dict[str, Any],
    on_slot: Callable[[], None] | None,
    key: str = "stepper",
    *,
    is_compact: bool = True,
) -> None:
    """Draws what figures.stepper.stepper.browser_payload has packed.

    Args:
        on_slot: called when a slot of the index is chosen, see `slot`; None: none can.
        is_compact: all of it on one screen, each file once it is read.
    """
    payload = data | bar() | {"picks": on_slot is not None, "is_compact": is_compact}
    _stepper(
        key=key,
        data=payload,
        on_slot_change=on_slot or (lambda: None),
        width="stretch",
        height="content",
    )


def slot(lookup_key: str, key: str = "stepper") -> int | None:
    """The slot that was clicked of the lookup with this key.

    Returns:
        None where none was.
    """
    value = (st.session_state.get(key) or {}).get("slot") or {}
    return value.get("slot") if value.get("key") == lookup_key else None
