"""A choice with a short word in the address, whatever the label that it has on the page: `search=3.9` for "Kafka 2.1 to 4.0".

A widget that Streamlit binds to the address writes its label there. These are not bound: before such a control is drawn `adopt` gives
it its state, behind it `tell` writes the address. Whoever comes by a link, or goes back in the browser, changes the address and not
the control: then the address counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import streamlit as st


def _nothing(said: str) -> str | None:
    return None


def adopt(name: str, labels: Mapping[str, str], default: str, other: Callable[[str], str | None] = _nothing) -> str:
    """The short word that is chosen; the state of the control with this key is its label.

    labels: by short word; default: the one that the address leaves out; where it is no choice here the first one stands in, and is
    told. other: what else the address may say, for which word.
    """
    said = st.query_params.get(name, "")
    if st.session_state.get(_told(name)) != (said, default) or st.session_state.get(name) not in labels.values():
        st.session_state[name] = labels.get(_word(said, labels, other) or default, next(iter(labels.values())))
    return _chosen(name, labels)


def tell(name: str, labels: Mapping[str, str], default: str) -> str:
    """The short word that is chosen, written into the address where it is not what goes without saying."""
    chosen = _chosen(name, labels)
    if chosen == default:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != chosen:  # each assignment is a message to the browser
        st.query_params[name] = chosen
    st.session_state[_told(name)] = st.query_params.get(name, ""), default
    return chosen


def choice(
    draw: Callable, label: str, options: Iterable[str], default: str, key: str, says: Callable[[str], str] = str, **look: object
) -> str:
    """One of several options, which is in the address as it is while the page shows its words in the reader's language.

    draw: st.segmented_control (with required=True), st.radio, st.selectbox or st.select_slider, or the same of a container; key: of the
    control, and its name in the address; says: the words of an option; look: further arguments of draw.
    """
    own = {one: one for one in options}
    adopt(key, own, default)
    draw(label, list(own), key=key, format_func=says, **look)
    return tell(key, own, default)


def pass_over(key: str, choices: Sequence[str]) -> None:
    """An address may say anything of a control that is bound to it: what is none of its choices is forgotten."""
    if st.session_state.get(key, choices[0]) not in choices:
        del st.session_state[key]
    if key not in st.session_state and st.query_params.get(key, choices[0]) not in choices:
        st.query_params.pop(key)


def stay(names: Iterable[str], place: Mapping[str, str]) -> None:
    """Keeps choices where their reader went on to another place, whose address does not name them: they go into it again.

    place: the address of what is looked at; before the controls are drawn.
    """
    names = list(names)
    last, here = st.session_state.get(_told(names[0] + "_at")), dict(place)
    st.session_state[_told(names[0] + "_at")] = here
    if last in (None, here):
        return
    for name in names:
        if name not in st.query_params and st.session_state.get(name):
            st.query_params[name] = st.session_state[name]


def _chosen(name: str, labels: Mapping[str, str]) -> str:
    return next(word for word, label in labels.items() if label == st.session_state[name])


def _word(said: str, labels: Mapping[str, str], other: Callable[[str], str | None]) -> str | None:
    """What an address means: a short word, or a label; capitals do not count."""
    fitting = (word for word, label in labels.items() if said.casefold() in (word.casefold(), label.casefold()))
    return next(fitting, None) or (other(said) if said else None)


def _told(name: str) -> str:
    return f"kv_told_{name}"
