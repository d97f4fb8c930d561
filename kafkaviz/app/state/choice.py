"""A choice that stands in the address in one word, whatever it is called on the page.

`search=3.9` for "Kafka 2.1 to 4.0", `tab=Bytes` for 字节.

A widget that Streamlit binds to the address writes its label there. These are not bound: `ask`
gives a control its state before it is drawn, and writes the word. Whoever comes by a link, or goes
back in the browser, changes the address and not the control: then the address counts; else what was
chosen, in another language too. A run that a control began never takes the address for its
reader's: the browser sends the one it knows, and where keys come quicker than runs that is older
than what they have chosen since. Where other parts of a page write the address in the browser the
word has to be written there as well: then `adopt` alone, and frontend.address.

A control is sent to the browser with its state once, in the run that gives it one. A click that
interrupts this run may take that message with it, and the next one would stand at its default. So
its word is the default of a control in every later run (`initial`); the browser passes it over
where the control has a state already.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.state import get_session_state

from kafkaviz.app.widgets import elements
from kafkaviz.figures.text import setting_text

# what the control has as its state, by word; or words, which are their own
Options = Mapping[str, str] | Iterable[str]
AddressParser = Callable[[str], str | None]
MOVES = "kv_moves"  # session key: how often a control was moved


def ask(
    draw: Callable,
    label: str,
    options: Iterable[str],
    default: str,
    key: str,
    *,
    format_func: Callable[[str], str] = str,
    **arguments: object,
) -> str:
    """One of several options.

    It is in the address as it is, while the page shows its words in the reader's language.

    Args:
        draw: st.segmented_control (with required=True), st.radio, st.selectbox or st.select_slider,
            or the same of a container.
        key: of the control, and its name in the address.
        format_func: the words of an option.
        arguments: further arguments of draw.
    """
    options = list(options)
    word = settle(key, options, default)
    _draw(draw, label, options, key, format_func=format_func, **arguments)
    return word


def _draw(
    draw: Callable, label: str, options: Sequence[str], key: str, **arguments: object
) -> None:
    """The control, whose state is there."""
    arguments["on_change"], arguments["args"] = count_move, (arguments.get("on_change"),)
    arguments |= initial(draw, key, options)
    draw(label, options, key=key, **arguments)


def initial(draw: Callable, key: str, options: Sequence[str]) -> dict[str, Any]:
    """The default of a control that has its state: it stands there though no message said so.

    Nothing in the run that gives it this state, which is sent along then.

    Args:
        draw, key, options: as of `ask`.
    """
    word = st.session_state.get(key)
    if word not in options or get_session_state().is_new_state_value(key):
        return {}
    kind = getattr(draw, "__name__", "")
    if kind in ("selectbox", "radio"):
        return {"index": options.index(word)}
    return {"value" if kind == "select_slider" else "default": word}


def count_move(callback: Callable[[], None] | None = None) -> None:
    """A control of this session was moved: its on_change, and what else is to happen then."""
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
    """The same by a slider, its label on the left and its value on the right above it.

    A topic's setting says what a broker calls it.
    """
    options = list(options)
    word = settle(key, options, default)
    st.html(elements.label(label, format_func(word), setting_text.broker_names_text(label)))
    look = {"format_func": format_func, "label_visibility": "collapsed"}
    _draw(st.select_slider, label, options, key, **look)
    return word


def settle(
    name: str,
    options: Options,
    default: str,
    parse_other: AddressParser = lambda _text: None,
    *,
    writes_default: bool = False,
) -> str:
    """As `adopt`, and writes the word into the address where it is not the default.

    Args:
        writes_default: the default is written too, since without it the address means another word.
    """
    word = adopt(name, options, default, parse_other)
    is_left_out = word == default and not writes_default
    address_word, previous = "" if is_left_out else word, _previous_run(name)
    if st.query_params.get(name, "") != address_word:  # each assignment is a message to the browser
        if address_word:
            st.query_params[name] = address_word
        else:
            st.query_params.pop(name, None)
    # what was written may have reached the browser since it sent its address
    elif previous.settled_word not in (None, address_word):
        st.query_params.update({})
    _remember(name, default, _labels(options), address_word)
    return word


def adopt(
    name: str,
    options: Options,
    default: str | None = None,
    parse_other: AddressParser = lambda _text: None,
) -> str:
    """The word that is chosen.

    The control with this key, which is drawn after this, gets its state.

    Args:
        default: what the address leaves out, the first option where it is not said; where it is no
            choice here the first one stands in.
        parse_other: what else the address may say, for which word.
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
    """Keeps choices where their reader went on to another place, whose address does not name them.

    They go into it again.

    Args:
        address: the address of what is looked at; before the controls are drawn.
    """
    names = list(names)
    key, current = f"kv_stayed_{names[0]}", dict(address)
    previous, st.session_state[key] = st.session_state.get(key), current
    if previous in (None, current):
        return
    for name in names:
        if name not in st.query_params and st.session_state.get(name):
            st.query_params[name] = st.session_state[name]


def _labels(options: Options) -> Mapping[str, str]:
    return options if isinstance(options, Mapping) else {word: word for word in options}


@dataclass(frozen=True, kw_only=True)
class _PreviousRun:
    """What the run before left of a choice.

    The address, the default, the control's state and what each state meant, and all moves so far.

    Attributes:
        settled_word: what `settle` wrote last; None where nothing did.
    """

    address: str = ""
    default: str | None = None
    state: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    moves: int = 0
    settled_word: str | None = None


def _previous_run(name: str) -> _PreviousRun:
    return st.session_state.get(f"kv_adopted_{name}", _PreviousRun())


def _control_word(name: str, default: str, labels: Mapping[str, str]) -> str | None:
    """The word of what the control holds.

    Returns:
        None where the address or its default changed, or where it holds no choice of this page.
    """
    previous, state = _previous_run(name), st.session_state.get(name)
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
    """Remembers the address that was adopted, and what each label means.

    In the next run the labels may be of another language.
    """
    words, settled_word = (
        {label: word for word, label in labels.items()},
        _previous_run(name).settled_word if settled_word is None else settled_word,
    )
    st.session_state[f"kv_adopted_{name}"] = _PreviousRun(
        address=st.query_params.get(name, ""),
        default=default,
        state=st.session_state.get(name),
        words=words,
        moves=st.session_state.get(MOVES, 0),
        settled_word=settled_word,
    )


def _parse_word(text: str, labels: Mapping[str, str], parse_other: AddressParser) -> str | None:
    """What an address means: a word, or a label.

    Capitals and the spaces that group digits do not count.
    """
    matches = (
        word
        for word, label in labels.items()
        if _normalize(text) in (_normalize(word), _normalize(label))
    )
    return next(matches, None) or (parse_other(text) if text else None)


def _normalize(text: str) -> str:
    return re.sub(r"(?<=\d)[\s\u202f](?=\d{3})", "", text).casefold()
