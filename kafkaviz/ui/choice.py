"""A choice that is named in the reader's language on the page, and always in the same word in the address: `tab=Bytes` for 字节.

A widget that Streamlit binds to the address writes its label there. These are not bound: before such a control is drawn `adopt` gives
it its state, and components.address lets the browser write the word, beside what other components of the page write there.
Whoever comes by a link changes the address and not the control: then the address counts.
"""

from collections.abc import Mapping

import streamlit as st


def adopt(name: str, options: Mapping[str, object]) -> str:
    """The word that is chosen; the state of the control with this key becomes its option. The first word goes without saying."""
    said, default = st.query_params.get(name, ""), next(iter(options))
    before, words = st.session_state.get(_drawn(name), (None, {}))
    is_new = said != before or name not in st.session_state
    word = (said if said in options else default) if is_new else words.get(st.session_state[name], default)
    st.session_state[name] = options[word]
    st.session_state[_drawn(name)] = said, {option: one for one, option in options.items()}
    return word


def _drawn(name: str) -> str:
    """Where the address's word and the options of the run before are kept."""
    return f"kv_drawn_{name}"
