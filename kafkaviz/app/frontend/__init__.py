"""The components that need JavaScript: one Python function each, with .css and .html files.

Each component has its own shadow root. Its style is page_legend.css and kit.css, followed by its
own CSS. Its script is one file in bundles/, made by `npm run bundle` from the modules in src/.
Streamlit gets the script as one text, so the script cannot import other files.
"""

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from kafkaviz import messages
from kafkaviz.figures import tokens

FRONTEND_FOLDER = Path(__file__).parent
ART = FRONTEND_FOLDER.parent / "art"


@dataclass(frozen=True)
class DrawnComponent:
    name: str
    markup: str
    style: str
    script: str
    data: Any


# collects drawn components instead of sending them to a page
_drawn_components: ContextVar[list[DrawnComponent] | None] = ContextVar("components", default=None)


def register_component(name: str, *shared_names: str) -> Callable[..., Any]:
    """Registers a component from its files. Returns the function that draws it.

    The script is bundles/NAME.js. NAME.css and NAME.html, if they exist, are added after those of
    `shared_names`.
    """
    style, markup = (
        "".join(_text(f"{stem}.{kind}") for stem in ("kit", *shared_names, name))
        for kind in ("css", "html")
    )
    style = tokens.PAGE_LEGEND + style
    script = (FRONTEND_FOLDER / "bundles" / f"{name}.js").read_text(encoding="utf-8")
    component = st.components.v2.component(f"kafkaviz.{name}", html=markup, css=style, js=script)

    def draw(**arguments: Any) -> Any:
        components = _drawn_components.get()
        if components is None:
            return component(**_without_lists(arguments))
        components.append(DrawnComponent(name, markup, style, script, arguments.get("data")))
        return None

    return draw


def _without_lists(arguments: dict[str, Any]) -> dict[str, Any]:
    """Replaces the lists in `arguments["data"]` by tuples. The JSON stays the same.

    Streamlit searches lists for dataframes, which is slow. It does not search tuples.
    """
    data = arguments.get("data")
    if not isinstance(data, dict):
        return arguments
    tuples = {name: tuple(value) for name, value in data.items() if isinstance(value, list)}
    return arguments | {"data": data | tuples}


def kept_component(draw: Callable[[], Any]) -> DrawnComponent:
    """Returns the component that `draw` draws, for an HTML file. Shows nothing on the page."""
    components: list[DrawnComponent] = []
    token = _drawn_components.set(components)
    try:
        draw()
    finally:
        _drawn_components.reset(token)
    return components[0]


def _text(file: str) -> str:
    path = FRONTEND_FOLDER / file
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _ignore() -> None:
    """Does nothing. Streamlit requires a callback for each value that has a default."""


_art, _theme_button = map(register_component, ("art", "theme_button"))
_copy_link = register_component("copy_link", "small_button")
_keys, _focus, _one_step, _address, _sidebar = (
    register_component(name, "hidden")
    for name in ("keys", "focus", "one_step", "address", "sidebar")
)


def _words(*keys: str) -> dict[str, str]:
    table = messages.table("frame")
    return {key: table[key] for key in keys}


@cache
def read_svg(name: str) -> str:
    return (ART / f"{name}.svg").read_text(encoding="utf-8")


def art(name: str, width: int, height: int, key: str = "") -> None:
    """Draws the picture `name` of app/art.

    If a page shows the same picture twice, give each a different `key`.
    """
    _art(key=f"kv_art_{name}_{key}", data={"svg": read_svg(name)}, width=width, height=height)


def copy_link(address: dict[str, str], private_parameters: Iterable[str], about: str) -> None:
    """Draws a button that copies the address of the current view, without `private_parameters`.

    `address` has parameters to add to the link if the address bar lacks them. `about` is a note
    about the link, shown when the pointer is on the button.
    """
    data = {
        "address": address,
        "left_out": list(private_parameters),
        "about": about,
        "words": _words("copy_link", "copied", "not_allowed"),
    }
    _copy_link(key="kv_copy_link", data=data, width="content")


def theme_button(paths: list[str]) -> None:
    """Draws a button that switches the theme of the pages at `paths`."""
    data = {"paths": paths, "words": _words("light_or_dark")}
    _theme_button(key="kv_theme", data=data, width="content")


def keys(listen: str) -> str | None:
    """Returns the key that was just pressed if it is in `listen` (such as "?[]"), else None.

    Keys are ignored while the focus is in a field. The component also announces the page to screen
    readers, and makes the arrow keys and Enter work in the dialog "Go to".
    """
    data = {"listen": listen, "language": messages.language(), "words": _words("pages", "where")}
    return _keys(key="kv_listener", data=data, on_pressed_change=_ignore, width="content").pressed


def focus() -> None:
    _focus(key="kv_focus", data={}, width="content")


def address(choices: dict[str, str | None]) -> None:
    """Writes choices into the page's address. The value None removes a parameter.

    Parameters that scripts in the browser wrote stay unchanged.
    """
    data = {"chosen": choices, "known": st.query_params.to_dict()}
    _address(key="kv_address", data=data, width="content")


def sidebar() -> None:
    """Makes links in the sidebar work even if Streamlit redraws them during the click."""
    _sidebar(key="kv_sidebar", data={}, width="content")


def one_step(query: str) -> None:
    """Makes the browser's Back undo a whole choice, even one that changed several parameters.

    `query` has the current parameters of the page's address.
    """
    _one_step(key="kv_one_step", data={"query": query}, width="content")


_stepper = register_component("stepper", "steps", "page_strip")


def bar() -> dict[str, Any]:
    return {"language": messages.language(), "bar": messages.table("steps")}


def stepper(data: dict[str, Any], on_slot: Callable[[], None] | None, key: str = "stepper") -> None:
    """Draws the steps of a lookup. `data` is from figures.lookup.stepper.browser_payload.

    A click on a slot of the index calls `on_slot` (see `chosen_slot`). Without it, slots cannot be
    clicked.
    """
    payload = data | bar() | {"picks": on_slot is not None}
    _stepper(key=key, data=payload, on_slot_change=on_slot or _ignore)


def chosen_slot(lookup_key: str) -> int | None:
    """Returns the slot that was clicked in the lookup `lookup_key`, or None."""
    value = (st.session_state.get("stepper") or {}).get("slot") or {}
    return value.get("slot") if value.get("key") == lookup_key else None


_growth = register_component("growth", "steps")


def growth(data: dict[str, Any], key: str = "growth") -> None:
    """Draws how a log grows, step by step. The page's address has the shown step as ?step=.

    `data` is from growth.browser_payload.
    """
    _growth(key=key, data=data | bar() | {"words": messages.table("growth")})


_ruler = register_component("ruler")


def ruler(data: bytes, key: str = "ruler") -> None:
    """Draws a segment's ruler. After a click, Streamlit runs the calling fragment again.

    `data` is from segment_ruler.browser_payload.
    """
    initial = {"pin": None, "slice": None}
    _ruler(key=key, data=data, default=initial, on_pin_change=_ignore, on_slice_change=_ignore)


def ruler_state(name: str, segment_key: str, key: str = "ruler") -> dict[str, Any]:
    """Returns what the ruler of this segment sent last under `name`, or {}.

    "pin" is the row that was clicked. "slice" is the part of a large segment that the browser needs
    next.
    """
    value = (st.session_state.get(key) or {}).get(name) or {}
    return value if value.get("key") == segment_key else {}


_bytes = register_component("bytes")


def bytes_view(data: bytes, key: str = "bytes_view") -> None:
    """Draws `data`, from segment_bytes.browser_payload. A `byte_request` reruns the fragment."""
    _bytes(key=key, data=data, default={"want": None}, on_want_change=_ignore)


def byte_request(content_key: str, key: str = "bytes_view") -> dict[str, Any]:
    """Returns the last request for bytes of this content, or {}.

    The browser gets only a part of a large file. It requests another part when the reader scrolls
    or moves to it. The request has up to one byte position per pane.
    """
    value = (st.session_state.get(key) or {}).get("want") or {}
    return value if value.get("key") == content_key else {}


_findings = register_component("findings")


def findings(data: dict[str, Any], key: str = "kv_findings") -> None:
    """Draws the findings, or the predicted broker start-up.

    The page's address keeps the selection.
    """
    _findings(key=key, data=data)


_search_race = register_component("search_race", "steps", "page_strip", "race_lanes")


def search_race(data: dict[str, Any], key: str = "search_race") -> None:
    """Draws plain and warm search from search_race.browser_payload.

    The page's address keeps the storage, as ?storage=.
    """
    _search_race(key=key, data=data | bar())


_tail_growth = register_component("tail_growth", "race_lanes")


def tail_growth(data: dict[str, Any]) -> None:
    """Draws how an index grows, from tail_growth.browser_payload.

    The page's address keeps the number of pages, as ?pages=.
    """
    _tail_growth(key="tail_growth", data=data)


_sql = register_component("sql")


def sql(data: dict[str, Any], on_run: Callable[[], None]) -> None:
    """Draws the query editor. Ctrl+Enter and the button call `on_run`.

    Args:
        data: `text` is the query. `wrong` is the range of characters to mark as wrong, or None.
            `longest` is the maximum length in characters. `run` is the label of the button.
        on_run: called without arguments. `last_query` returns the query to run.
    """
    _sql(key="kv_sql", data=data, on_asked_change=on_run)


def last_query() -> str | None:
    """Returns the query that the reader has just asked to run, or None."""
    return (st.session_state.get("kv_sql") or {}).get("asked")
