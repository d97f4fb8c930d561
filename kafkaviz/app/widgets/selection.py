"""The last click in a figure or table, kept until the page has acted on it.

If the contents of a figure change in the run that a click starts, st.plotly_chart returns no
selection. A callback is called before that run, and still gets the click. The same holds for
st.dataframe.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

Target = TypeVar("Target")


def keep(key: str, read: Callable[[Any], Target | None]) -> Callable[[], None]:
    """Returns a callback for the `on_select` of the element `key`.

    Args:
        read: returns the target of a selection (with `points` or `rows`), or None.
    """

    def keep_target() -> None:
        target = read(st.session_state[key].selection)
        if target is not None:
            st.session_state[_state_key(key)] = (_address(), target)

    return keep_target


def take(key: str) -> Any:
    """Returns the target of the last click in the element `key`, once. None without a click."""
    address, target = st.session_state.pop(_state_key(key), ("", None))
    return target if address == _address() else None


def first_point(selection: Any) -> Any:
    """Returns the customdata of the first selected point of a figure, or None."""
    return selection.points[0].get("customdata") if selection.points else None


def _address() -> str:
    """Returns the address of the run. A click must not count at another address."""
    return f"{st.context.url} {st.query_params.to_dict()}"


def _state_key(key: str) -> str:
    return f"{key}_clicked"
