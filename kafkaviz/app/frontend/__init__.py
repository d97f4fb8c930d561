"""The components that need JavaScript: one Python function each, next to its .css and .html.

Each component has its own shadow root. Its style is kit.css followed by its own CSS. Its script is
one file of bundles/, made by `npm run bundle` from the modules in src/, because Streamlit takes a
single text and ES imports between files do not work there. Files are read once, when the module
that registers them is imported.
"""

import re
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from kafkaviz import messages

FRONTEND_FOLDER = Path(__file__).parent
ART = FRONTEND_FOLDER.parent / "art"


@dataclass(frozen=True)
class DrawnComponent:
    name: str
    markup: str
    style: str
    script: str
    data: Any


# collects drawn components instead of sending them to a page, in a run whose output is kept
_drawn_components: ContextVar[list[DrawnComponent] | None] = ContextVar("components", default=None)


def register_component(name: str, *shared_names: str) -> Callable[..., Any]:
    """Registers a component from its files and returns the function that draws it.

    The files are bundles/NAME.js and, if they exist, NAME.css and NAME.html. The CSS and HTML of
    `shared_names` come before the component's own.
    """
    style, markup = (
        "".join(_text(f"{stem}.{kind}") for stem in ("kit", *shared_names, name))
        for kind in ("css", "html")
    )
    script = (FRONTEND_FOLDER / "bundles" / f"{name}.js").read_text(encoding="utf-8")
    component = st.components.v2.component(f"kafkaviz.{name}", html=markup, css=style, js=script)

    def draw(**arguments: Any) -> Any:
        components = _drawn_components.get()
        if components is None:
            return component(**_without_lists(arguments))
        components.append(DrawnComponent(name, markup, style, script, arguments.get("data")))
        st.html(f'<i data-kept="{len(components) - 1}"></i>')
        return None

    return draw


def _without_lists(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments with tuples in place of lists in `data`.

    Streamlit searches every list for dataframes, but no tuples. The browser receives the same JSON.
    """
    data = arguments.get("data")
    if not isinstance(data, dict):
        return arguments
    tuples = {name: tuple(value) for name, value in data.items() if isinstance(value, list)}
    return arguments | {"data": data | tuples}


def keep_components(components: list[DrawnComponent]) -> None:
    """Makes components of this thread collect their output; the page gets placeholders."""
    _drawn_components.set(components)


def kept_number(html: str) -> int | None:
    """Returns the index of the kept component for which the HTML is a placeholder, or None."""
    match = re.fullmatch(r'<i data-kept="(\d+)"></i>', html)
    return int(match[1]) if match else None


def _text(file: str) -> str:
    path = FRONTEND_FOLDER / file
    return path.read_text(encoding="utf-8") if path.exists() else ""


_art, _copy_link, _theme_button, _keys, _focus = map(
    register_component, ("art", "copy_link", "theme_button", "keys", "focus")
)
_one_step, _address, _sidebar = map(register_component, ("one_step", "address", "sidebar"))


def _words(*keys: str) -> dict[str, str]:
    """Returns only these texts of the frame, because Streamlit sends them with each run."""
    table = messages.table("frame")
    return {key: table[key] for key in keys}


@cache
def _read_svg(name: str) -> str:
    return (ART / f"{name}.svg").read_text(encoding="utf-8")


def art(name: str, width: int, height: int, key: str = "") -> None:
    """Draws one of the drawings in app/art, because st.html would drop the SVG.

    A drawing that appears twice on a page needs a different key each time.
    """
    _art(key=f"kv_art_{name}_{key}", data={"svg": _read_svg(name)}, width=width, height=height)


def copy_link(
    address: dict[str, str], private_parameters: Iterable[str] = (), about: str = ""
) -> None:
    """Draws a button that copies the address of the current view.

    Parameters missing in the address bar are filled in from `address`.

    Args:
        private_parameters: parameters that are left out.
        about: a note about the link, shown when the pointer is on the button.
    """
    data = {
        "address": address,
        "left_out": list(private_parameters),
        "about": about,
        "words": _words("copy_link", "copied", "not_allowed"),
    }
    _copy_link(key="kv_copy_link", data=data, width="content", height="content")


def theme_button(paths: list[str]) -> None:
    """Draws the button that switches between the light and dark theme for every page.

    Streamlit stores the choice per path, so all paths of the app are needed.
    """
    _theme_button(
        key="kv_theme",
        data={"paths": paths, "words": _words("light_or_dark")},
        width="content",
        height="content",
    )


def keys(listen: str) -> str | None:
    """Returns the key of `listen` that was just pressed, or None in every other run.

    Keys count on the page's body only, not in a field. The component also tells screen readers the
    current page and its language, and makes arrows and Enter work in Go to.
    """
    data = {"listen": listen, "language": messages.language(), "words": _words("pages", "where")}
    return _keys(
        key="kv_listener",
        data=data,
        on_pressed_change=lambda: None,
        width="content",
        height="content",
    ).pressed


def focus() -> None:
    """Puts the cursor into the field of the dialog that contains this component."""
    _focus(key="kv_focus", data={}, width="content", height="content")


def address(choices: dict[str, str | None]) -> None:
    """Writes choices into the address; None removes a parameter.

    Parameters that the browser itself wrote stay.
    """
    _address(
        key="kv_address",
        data={"chosen": choices, "known": st.query_params.to_dict()},
        width="content",
        height="content",
    )


def sidebar() -> None:
    """Protects clicks on the links of the sidebar while a run changes them.

    No click is lost, and no link leads to a directory that is no longer open.
    """
    _sidebar(key="kv_sidebar", data={}, width="content", height="content")


def one_step(query: str) -> None:
    """Makes a change of page a single step of the browser's history.

    Args:
        query: the address parameters of this run.
    """
    _one_step(key="kv_one_step", data={"query": query}, width="content", height="content")
