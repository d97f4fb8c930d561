"""The parts that need JavaScript: each a Python function, with its .css (and .html) beside it.

A component has its own shadow root. Its style is kit.css followed by its own. Its script is one
file of bundles/, which `npm run bundle` makes of the modules in src/: Streamlit takes one text, in
which ES imports between files do not work. Files are read once, when the module that registers
them is imported.
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
    """A component as it was drawn: what it was registered with, and its data."""

    name: str
    markup: str
    style: str
    script: str
    data: Any


# where what is drawn goes instead of into a page, in a run whose outcome is kept
_drawn_components: ContextVar[list[DrawnComponent] | None] = ContextVar("components", default=None)


def register_component(name: str, *shared_names: str) -> Callable[..., Any]:
    """Registers a component from its files.

    Bundles/NAME.js, and NAME.css and NAME.html where there are any; the styles and HTML of
    `shared_names` before them.
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
    """The arguments of a component with tuples for lists.

    Streamlit looks for a dataframe in each list, and in no tuple; the browser is sent the same.
    """
    data = arguments.get("data")
    if not isinstance(data, dict):
        return arguments
    tuples = {name: tuple(value) for name, value in data.items() if isinstance(value, list)}
    return arguments | {"data": data | tuples}


def keep_components(components: list[DrawnComponent]) -> None:
    """From here on this thread keeps what its components draw; a mark stands in their place."""
    _drawn_components.set(components)


def kept_number(html: str) -> int | None:
    """Which of the kept components a text of HTML stands for; None for any other text."""
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
    """Texts of the frame by these keys, which Streamlit looks through and sends with each run."""
    table = messages.table("frame")
    return {key: table[key] for key in keys}


@cache
def _read_svg(name: str) -> str:
    return (ART / f"{name}.svg").read_text(encoding="utf-8")


def art(name: str, width: int, height: int, key: str = "") -> None:
    """One of the drawings in app/art; st.html would drop the SVG.

    Drawn twice on a page, each needs its own key.
    """
    _art(key=f"kv_art_{name}_{key}", data={"svg": _read_svg(name)}, width=width, height=height)


def copy_link(
    address: dict[str, str], private_parameters: Iterable[str] = (), about: str = ""
) -> None:
    """A button that copies the address of what is shown.

    What the address bar leaves to a default is filled in from `address`.

    Args:
        private_parameters: parameters that are their reader's own.
        about: what is said of the link when the button is pointed at.
    """
    data = {
        "address": address,
        "left_out": list(private_parameters),
        "about": about,
        "words": _words("copy_link", "copied", "not_allowed"),
    }
    _copy_link(key="kv_copy_link", data=data, width="content", height="content")


def theme_button(paths: list[str]) -> None:
    """Switches between light and dark, for every page of the app.

    Streamlit keeps the choice by the page's path.
    """
    _theme_button(
        key="kv_theme",
        data={"paths": paths, "words": _words("light_or_dark")},
        width="content",
        height="content",
    )


def keys(listen: str) -> str | None:
    """The key of `listen` that was pressed on the page's body, not in a field.

    None in every other run.

    Also tells screen readers which page is the current one and in which language it is, and makes
    arrows and Enter work in Go to.
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
    """Puts the cursor into the field of the dialog that this stands in."""
    _focus(key="kv_focus", data={}, width="content", height="content")


def address(choices: dict[str, str | None]) -> None:
    """Writes choices into the address, None taking one out of it.

    What the browser itself wrote there stays.
    """
    _address(
        key="kv_address",
        data={"chosen": choices, "known": st.query_params.to_dict()},
        width="content",
        height="content",
    )


def sidebar() -> None:
    """Keeps clicks on the links of the sidebar from being lost or leading astray.

    No link leads to a directory that is no longer the open one.
    """
    _sidebar(key="kv_sidebar", data={}, width="content", height="content")


def one_step(query: str) -> None:
    """Makes a change of page one step of the browser's history.

    Args:
        query: the address that this run of the page was given.
    """
    _one_step(key="kv_one_step", data={"query": query}, width="content", height="content")
