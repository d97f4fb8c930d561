"""Choices that are kept in the address as one word, independent of their label on the page.

Examples are `search=3.9` for "Kafka 2.1 to 4.0", and `tab=Bytes` for 字节. A widget that Streamlit
binds to the address would write its label there. These widgets are bound here instead: `draw_bound`
sets the state of a control before it is drawn, and writes the word into the address.

- A link, or Back in the browser, changes the address and not the control: then the address wins.
  Otherwise the control wins, also after a change of language.
- In a run that was started by a control, the control wins. The browser sends the address it knows,
  which may be older than the choice if keys are pressed faster than runs finish.
- If the browser itself writes other parameters, it also has to write the word. Such pages use
  `take_from_address` alone, together with frontend.address.

Streamlit sends the state of a control to the browser only in the run that sets it. If a click
interrupts that run, the message may be lost, and the control would show its default. Therefore
every later run passes the word as the control's default (`initial`). The browser ignores it if the
control has a state already.

The parts of a page are tabs, and the open tab is such a choice too. Only the open tab is drawn, so
that the others cost nothing. A link that names no tab opens the one that has a control for one of
its parameters.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.state import get_session_state

from kafkaviz.app import page_state
from kafkaviz.app.widgets import elements

# maps each word to the control's state; in a plain iterable each word is its own state
Options = Mapping[str, str] | Iterable[str]
AddressParser = Callable[[str], str | None]
MOVES = "kv_moves"  # session key: how often a control was moved


def draw_bound(
    draw: Callable,
    label: str,
    options: Iterable[str],
    default: str,
    key: str,
    *,
    format_func: Callable[[str], str] = str,
    **arguments: object,
) -> str:
    """Draws a control that chooses one of several options, and returns the chosen one.

    The option itself is written into the address; the page shows it in the reader's language.

    Args:
        draw: st.segmented_control (with required=True), st.radio, st.selectbox or st.select_slider,
            or the same method of a container.
        key: the control's key, and the name of its parameter in the address.
        arguments: further arguments of `draw`.
    """
    options = list(options)
    word = bind_to_address(key, options, default)
    _draw(draw, label, options, key, format_func=format_func, **arguments)
    return word


def _draw(
    draw: Callable, label: str, options: Sequence[str], key: str, **arguments: object
) -> None:
    arguments["args"] = (arguments.get("on_change"),)
    arguments["on_change"] = count_move
    arguments |= initial(draw, key, options)
    draw(label, options, key=key, **arguments)


def initial(draw: Callable, key: str, options: Sequence[str]) -> dict[str, Any]:
    """Returns the argument that makes the current state of a control its default.

    Returns an empty dict in the run that sets the state, because the state is sent then.

    Args:
        draw, key, options: the arguments of `draw_bound`.
    """
    word = st.session_state.get(key)
    if word not in options or get_session_state().is_new_state_value(key):
        return {}
    kind = getattr(draw, "__name__", "")
    if kind in ("selectbox", "radio"):
        return {"index": options.index(word)}
    return {"value" if kind == "select_slider" else "default": word}


def count_move(callback: Callable[[], None] | None = None) -> None:
    """Counts a move of a control as its on_change, then calls `callback`."""
    st.session_state[MOVES] = st.session_state.get(MOVES, 0) + 1
    if callback:
        callback()


def slider(
    label: str,
    options: Iterable[str],
    default: str,
    key: str,
    format_func: Callable[[str], str] = str,
) -> str:
    """Draws a slider with its label and value above it, and returns the chosen option.

    For a topic setting the label also shows the name that a broker uses.
    """
    options = list(options)
    word = bind_to_address(key, options, default)
    st.html(elements.label(label, format_func(word)))
    _draw(
        st.select_slider, label, options, key, format_func=format_func, label_visibility="collapsed"
    )
    return word


def bind_to_address(
    name: str,
    options: Options,
    default: str,
    parse_other: AddressParser = lambda _text: None,
    *,
    writes_default: bool = False,
) -> str:
    """Takes the choice from the address, and writes it there unless the default goes without."""
    word = take_from_address(name, options, default, parse_other)
    is_left_out = word == default and not writes_default
    address_word = "" if is_left_out else word
    previous = _previous_run(name)
    if st.query_params.get(name, "") != address_word:  # each assignment is a message to the browser
        if address_word:
            st.query_params[name] = address_word
        else:
            st.query_params.pop(name, None)
    # what this script wrote last may have reached the browser after it sent its address
    elif previous.settled_word not in (None, address_word):
        st.query_params.update({})
    _remember(name, default, _labels(options), address_word)
    return word


def take_from_address(
    name: str,
    options: Options,
    default: str | None = None,
    parse_other: AddressParser = lambda _text: None,
) -> str:
    """Returns the chosen word and sets the state of the control that will be drawn with this key.

    Args:
        default: the word of an address without this parameter, by default the first option. If it
            is not an option, the first one is used.
        parse_other: returns the word for other texts in the address.
    """
    labels = _labels(options)
    default = next(iter(labels)) if default is None else default
    word = (
        _control_word(name, default, labels)
        or _parse_word(st.query_params.get(name, ""), labels, parse_other)
        or default
    )
    word = word if word in labels else next(iter(labels))
    if st.session_state.get(name) != labels[word]:
        st.session_state[name] = labels[word]
    _remember(name, default, labels)
    return word


def carry_over(names: Iterable[str], address: Mapping[str, str]) -> None:
    """Keeps choices when the reader moves to another location whose address does not name them.

    Call it before the controls are drawn. It writes the choices into the address again.

    Args:
        address: the address of the current location.
    """
    names = list(names)
    key = f"kv_stayed_{names[0]}"
    current = dict(address)
    previous = st.session_state.get(key)
    st.session_state[key] = current
    if previous in (None, current):
        return
    for name in names:
        if name not in st.query_params and st.session_state.get(name):
            st.query_params[name] = st.session_state[name]


def _labels(options: Options) -> Mapping[str, str]:
    return options if isinstance(options, Mapping) else {word: word for word in options}


@dataclass(frozen=True, kw_only=True)
class _PreviousRun:
    """The state of a choice at the end of the previous run."""

    address: str = ""  # the word in the address
    default: str | None = None
    state: str | None = None  # the state of the control
    words: Mapping[str, str] = field(default_factory=dict)  # the word for each state of the control
    moves: int = 0  # the value of MOVES
    settled_word: str | None = None  # the word last written by `bind_to_address`, or None


def _previous_run(name: str) -> _PreviousRun:
    return st.session_state.get(f"kv_adopted_{name}", _PreviousRun())


def _control_word(name: str, default: str, labels: Mapping[str, str]) -> str | None:
    """Returns the word that the control holds, None if the address has changed or decides."""
    previous = _previous_run(name)
    state = st.session_state.get(name)
    has_moved = state != previous.state or st.session_state.get(MOVES, 0) != previous.moves
    if previous.default != default or not (
        has_moved or previous.address == st.query_params.get(name, "")
    ):
        return None
    word = {label: word for word, label in labels.items()}.get(state, previous.words.get(state))
    return word if word in labels else None


def _remember(
    name: str, default: str, labels: Mapping[str, str], settled_word: str | None = None
) -> None:
    """Stores the choice's address, and the word that each label stands for, for the next run.

    The labels of the next run may be in another language.
    """
    words = {label: word for word, label in labels.items()}
    settled_word = _previous_run(name).settled_word if settled_word is None else settled_word
    st.session_state[f"kv_adopted_{name}"] = _PreviousRun(
        address=st.query_params.get(name, ""),
        default=default,
        state=st.session_state.get(name),
        words=words,
        moves=st.session_state.get(MOVES, 0),
        settled_word=settled_word,
    )


def _parse_word(text: str, labels: Mapping[str, str], parse_other: AddressParser) -> str | None:
    """Returns the word that an address means, which may be a word or a label.

    Case, and spaces that group digits, are ignored.
    """
    matches = (
        word
        for word, label in labels.items()
        if _normalize(text) in (_normalize(word), _normalize(label))
    )
    return next(matches, None) or (parse_other(text) if text else None)


def _normalize(text: str) -> str:
    return re.sub(r"(?<=\d)[\s\u202f](?=\d{3})", "", text).casefold()


Controls = Mapping[str, Iterable[str]]  # the address parameters that each tab has a control for


def open_by_address(controls: Controls) -> None:
    """Adds the tab that has one of the address's parameters. Call it before all else."""
    part = next((part for part, names in controls.items() if _has_any(names)), None)
    if part and page_state.TAB not in st.query_params:
        st.query_params[page_state.TAB] = part


def render_tabs(parts: Mapping[str, str], controls: Controls) -> tuple[str, DeltaGenerator]:
    """Draws the tabs.

    Args:
        parts: the label of each tab, by its word in the address.
        controls: the address parameters of each tab. While the address has any of them, it also
            names the open tab, even the first one. Otherwise `open_by_address` would open another
            tab.

    Returns:
        The word of the open tab, and its container.
    """
    parameters = [name for names in controls.values() for name in names]
    first = next(iter(parts))
    word = bind_to_address(page_state.TAB, parts, first, writes_default=_has_any(parameters))
    containers = st.tabs(list(parts.values()), key=page_state.TAB, on_change=count_move)
    return word, containers[list(parts).index(word)]


def _has_any(names: Iterable[str]) -> bool:
    return any(name in st.query_params for name in names)
