"""The stepper of a lookup, drawn and stepped in the browser."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from kafkaviz import messages
from kafkaviz.app.frontend import register_component

_stepper = register_component("stepper", "steps")


def bar() -> dict[str, Any]:
    """Returns the language and the words of the step bar, which steps.js needs."""
    return {"language": messages.language(), "bar": messages.table("steps")}


def stepper(
    data: dict[str, Any],
    on_slot: Callable[[], None] | None,
    key: str = "stepper",
    *,
    is_compact: bool = True,
) -> None:
    """Draws the data packed by figures.stepper.stepper.browser_payload.

    Args:
        on_slot: called when a slot of the index is chosen, see `slot`. None disables choosing.
        is_compact: fits everything on one screen and shows each file once it is read.
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
    """Returns the slot that was clicked in the lookup with this key, or None."""
    value = (st.session_state.get(key) or {}).get("slot") or {}
    return value.get("slot") if value.get("key") == lookup_key else None
