"""A choice that stands in the address in one word, whatever it is called on the page: `search=3.9`
for "Kafka 2.1 to 4.0", `tab=Bytes` for 字节.

A widget that Streamlit binds to the address writes its label there. These are not bound: `ask`
gives a control its state before it is drawn, and writes the word. Whoever comes by a link, or goes
back in the browser, changes the address and not the control: then the address counts; else what was
chosen, in another language too. A run that a control began never takes the address for its
reader's: the browser sends the one it knows, and where keys come quicker than runs that is older
than what they have chosen since. Where other parts of a page write the address in the browser the
word has to be written there as well: then `adopt` alone, and components.address.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import streamlit as st

from kafkaviz.ui import parts

# what the control has as its state, by word; or words, which are their own
Options = Mapping[str, str] | Iterable[str]
Other = Callable[[str], str | None]
MOVES = "kv_moves"  # session key: how often a control was moved


def ask(
    draw: Callable,
    label: str,
    options: Iterable[str],
    default: str,
    key: str,
    says: Callable[[str], str] = str,
    **look: object,
) -> str:
    """One of several options, which is in the address as it is while the page shows its words in
    the reader's language.

    draw: st.segmented_control (with required=True), st.radio, st.selectbox or st.select_slider, or
    the same of a container; key: of the control, and its name in the address; says: the words of an
    option; look: further arguments of draw.
    """
    options = list(options)
    chosen = settle(key, options, default)
    look["on_change"], look["args"] = moved, (look.get("on_change"),)
    draw(label, options, key=key, format_func=says, **look)
    return chosen


def moved(then: Callable[[], None] | None = None) -> None:
    """A control of this session was moved: its on_change, and what else is to happen then."""
    st.session_state[MOVES] = st.session_state.get(MOVES, 0) + 1
    if then:
        then()


def slider(
    label: str, options: Iterable[str], default: str, key: str, says: Callable[[str], str] = str
) -> str:
    """The same by a slider, its label on the left and its value on the right above it."""
    above = st.empty()
    chosen = ask(st.select_slider, label, options, default, key, says, label_visibility="collapsed")
    above.html(parts.label(label, says(chosen)))
    return chosen


def settle(name: str, options: Options, default: str, other: Other = lambda said: None) -> str:
    """As `adopt`, and the word is written into the address where it is not what goes without
    saying.
    """
    chosen = adopt(name, options, default, other)
    now, last = "" if chosen == default else chosen, _last(name)
    if st.query_params.get(name, "") != now:  # each assignment is a message to the browser
        if now:
            st.query_params[name] = now
        else:
            st.query_params.pop(name, None)
    # what was written may have reached the browser since it sent its address
    elif last.written not in (None, now):
        st.query_params.update({})
    _keep(name, default, _labels(options), now)
    return chosen


def adopt(
    name: str, options: Options, default: str | None = None, other: Other = lambda said: None
) -> str:
    """The word that is chosen; the control with this key, which is drawn after this, gets its
    state.

    default: what the address leaves out, the first option where it is not said; where it is no
    choice here the first one stands in. other: what else the address may say, for which word.
    """
    labels = _labels(options)
    default = next(iter(labels)) if default is None else default
    word = (
        _kept(name, default, labels)
        or _meant(st.query_params.get(name, ""), labels, other)
        or default
    )
    word = word if word in labels else next(iter(labels))
    if st.session_state.get(name) != labels[word]:
        st.session_state[name] = labels[word]
    _keep(name, default, labels)
    return word


def stay(names: Iterable[str], place: Mapping[str, str]) -> None:
    """Keeps choices where their reader went on to another place, whose address does not name them:
    they go into it again.

    place: the address of what is looked at; before the controls are drawn.
    """
    names = list(names)
    key, here = f"kv_stayed_{names[0]}", dict(place)
    last, st.session_state[key] = st.session_state.get(key), here
    if last in (None, here):
        return
    for name in names:
        if name not in st.query_params and st.session_state.get(name):
            st.query_params[name] = st.session_state[name]


def _labels(options: Options) -> Mapping[str, str]:
    return options if isinstance(options, Mapping) else {one: one for one in options}


@dataclass(frozen=True)
class _Last:
    """What the run before left of a choice: the address, the default, the control's state and what
    each state meant, and all moves so far.

    written: what `settle` wrote last; None where nothing did.
    """

    address: str = ""
    default: str | None = None
    state: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    moves: int = 0
    written: str | None = None


def _last(name: str) -> _Last:
    return st.session_state.get(f"kv_adopted_{name}", _Last())


def _kept(name: str, default: str, labels: Mapping[str, str]) -> str | None:
    """The word of what the control holds; None where the address or its default changed, or where
    it holds no choice of this page.
    """
    last, state = _last(name), st.session_state.get(name)
    is_led = state != last.state or st.session_state.get(MOVES, 0) != last.moves
    if last.default != default or not (is_led or last.address == st.query_params.get(name, "")):
        return None
    word = {label: word for word, label in labels.items()}.get(state, last.words.get(state))
    return word if word in labels else None


def _keep(name: str, default: str, labels: Mapping[str, str], written: str | None = None) -> None:
    """Remembers the address that was adopted, and what each label means: in the next run the labels
    may be of another language.
    """
    words, written = (
        {label: word for word, label in labels.items()},
        _last(name).written if written is None else written,
    )
    now = (
        st.query_params.get(name, ""),
        default,
        st.session_state.get(name),
        words,
        st.session_state.get(MOVES, 0),
        written,
    )
    st.session_state[f"kv_adopted_{name}"] = _Last(*now)


def _meant(said: str, labels: Mapping[str, str], other: Other) -> str | None:
    """What an address means: a word, or a label; capitals and the spaces that group digits do not
    count.
    """
    fitting = (
        word for word, label in labels.items() if _plain(said) in (_plain(word), _plain(label))
    )
    return next(fitting, None) or (other(said) if said else None)


def _plain(said: str) -> str:
    return re.sub(r"(?<=\d)[\s\u202f](?=\d{3})", "", said).casefold()
