"""Choices that are kept in the address as one word, independent of their label on the page.

Examples are `search=3.9` for the label "Kafka 2.1 to 4.0", and `tab=Bytes` for the label 字节.
Streamlit's own binding would write the label into the address. So `draw_bound` sets the state of a
control before it is drawn, and writes the word into the address.

- After a link or Back, the address decides. Otherwise the control decides.
- In a page run that a control or the end of a job (`rerun_page`) started, the address from the
  browser may be older than the control. So the control decides.
- A page whose address is also written by a script in the browser does not use `bind_to_address`. It
  calls `take_from_address`, and writes the address with frontend.address.

Streamlit sends a control's state to the browser only in the page run that sets the state. If a
click interrupts this run, the state may be lost. So each later page run passes the word as the
control's default (`initial`).

The open tab of a page is such a choice too. Only the open tab is drawn. If the address names no
tab, the first tab with a control for one of the address parameters opens.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.state import get_session_state

from kafkaviz.app import page_state
from kafkaviz.app.widgets import elements

# maps each word to the control's state; an iterable means that state and word are equal
Options = Mapping[str, str] | Iterable[str]
AddressParser = Callable[[str], str | None]
MOVES = "kv_moves"  # session key: how often controls were moved


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
    """Draws a control with several options. Returns the chosen option.

    The option itself is written into the address. The page shows `format_func(option)`.

    Args:
        draw: st.segmented_control (with required=True), st.radio, st.selectbox or st.select_slider,
            or the same method of a container.
        key: the key of the control, and the name of the address parameter.
        arguments: further arguments of `draw`.
    """
    options = list(options)
    word = bind_to_address(key, options, default)
    _draw(draw, label, options, key, format_func=format_func, **arguments)
    return word


def buttons(
    label: str,
    options: Iterable[str],
    default: str,
    key: str,
    format_func: Callable[[str], str] = str,
) -> str:
    """Draws one button per option, and the label for screen readers. Returns the chosen option."""
    return draw_bound(
        st.segmented_control,
        label,
        options,
        default,
        key,
        format_func=format_func,
        required=True,
        label_visibility="collapsed",
    )


def _draw(
    draw: Callable, label: str, options: Sequence[str], key: str, **arguments: object
) -> None:
    arguments["args"] = (arguments.get("on_change"),)
    arguments["on_change"] = count_move
    arguments |= initial(draw, key, options)
    draw(label, options, key=key, **arguments)


def initial(draw: Callable, key: str, options: Sequence[str]) -> dict[str, Any]:
    """Returns the argument of `draw` that has the control's current state, such as {"index": 1}.

    Returns {} if the state is unknown, or if code (not the user) has set it during this page run.
    """
    word = st.session_state.get(key)
    if word not in options or get_session_state().is_new_state_value(key):
        return {}
    kind = getattr(draw, "__name__", "")
    if kind in ("selectbox", "radio"):
        return {"index": options.index(word)}
    return {"value" if kind == "select_slider" else "default": word}


def count_move(callback: Callable[[], None] | None = None) -> None:
    """Counts that a control was moved, then calls `callback`. Used as an on_change."""
    st.session_state[MOVES] = st.session_state.get(MOVES, 0) + 1
    if callback:
        callback()


def rerun_page() -> NoReturn:
    """Reruns the page from a fragment that runs by itself, such as the progress of a job.

    The controls decide in this page run, because the address that the browser sent for the fragment
    may be older than the last choice.
    """
    count_move()
    st.rerun()


def slider(
    label: str,
    options: Iterable[str],
    default: str,
    key: str,
    format_func: Callable[[str], str] = str,
) -> str:
    """Draws a slider with label and value above it. Returns the chosen option.

    If `label` is a topic setting, the page also shows the name of the broker's setting.
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
    """Returns the chosen word (see `take_from_address`), and writes it into the address.

    The default word is left out of the address unless `writes_default`.
    """
    word = take_from_address(name, options, default, parse_other)
    address_word = word if writes_default or word != default else ""
    previous = _previous_run(name)
    if st.query_params.get(name, "") != address_word:  # each assignment is a message to the browser
        if address_word:
            st.query_params[name] = address_word
        else:
            st.query_params.pop(name, None)
    # the browser may have sent this address before it got the word that the previous run wrote
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
    """Returns the chosen word. Sets the state of the control with the key `name`.

    Args:
        default: the word if the address lacks this parameter. If not given or not an option: the
            first option.
        parse_other: returns the word for a text in the address that is neither a word nor a label.
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
    """Writes the current choices into the address after a move to another location.

    Parameters that the address already has stay unchanged. Call this before the controls are drawn.
    `address` has the parameters of the current location.
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
    address: str = ""  # the word in the address
    default: str | None = None
    state: str | None = None  # the state of the control
    words: Mapping[str, str] = field(default_factory=dict)  # the words by state of the control
    moves: int = 0  # the value of MOVES
    settled_word: str | None = None  # the word last written by `bind_to_address`, or None


def _previous_run(name: str) -> _PreviousRun:
    return st.session_state.get(f"kv_adopted_{name}", _PreviousRun())


def _control_word(name: str, default: str, labels: Mapping[str, str]) -> str | None:
    """Returns the word that the control holds. None if the address decides."""
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
    """Stores the state of a choice for the next run, in which `_control_word` reads it.

    The word of each label is stored too, because the next run may be in another language.
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
    """Returns the word for a text in the address, which may be a word or a label.

    Ignores case, and spaces that group digits.
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
    """Adds to the address the first tab with a control for an address parameter.

    A tab that is already in the address stays. Call this before drawing.
    """
    part = next((part for part, names in controls.items() if _has_any(names)), None)
    if part and page_state.TAB not in st.query_params:
        st.query_params[page_state.TAB] = part


def render_tabs(parts: Mapping[str, str], controls: Controls) -> tuple[str, DeltaGenerator]:
    """Draws the tabs. Returns the word of the open tab, and its container.

    Args:
        parts: the label of each tab, by its word in the address.
        controls: the address parameters of each tab. If the address has one of them, even the
            default tab is written into the address, so that `open_by_address` opens no other tab
            at a reload.
    """
    parameters = [name for names in controls.values() for name in names]
    first = next(iter(parts))
    word = bind_to_address(page_state.TAB, parts, first, writes_default=_has_any(parameters))
    containers = st.tabs(list(parts.values()), key=page_state.TAB, on_change=count_move)
    return word, containers[list(parts).index(word)]


def _has_any(names: Iterable[str]) -> bool:
    return any(name in st.query_params for name in names)
