"""Change a setting, compare: what this run came to, beside the run before or the one that was
kept.
"""

import streamlit as st

from kafkaviz.analyse.lanes import Lanes
from kafkaviz.figures import roll_summary
from kafkaviz.figures.roll_summary import Summary
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.sending.workload import Workload
from kafkaviz.ui import parts, state
from kafkaviz.ui.rolls import options
from kafkaviz.ui.tables import table
from kafkaviz.ui.workloads import OWN, written
from kafkaviz.words import say

CHANGED = ("workload", "throughput", "batches")


def compared(of: Workload, config: LogConfig, shown: Lanes) -> None:
    """What this run came to, beside the run before or the one that was kept."""
    now = roll_summary.summary(shown, _told_settings(of, config))
    before = _before(now)
    st.space(32)
    _head()
    st.space(8)
    if before is None or before == now:
        words = say("rolls.run_kept" if before == now else "rolls.run_first")
        st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2)">{words}</p>')
        return
    changes = roll_summary.changes(before, now, _setting_words)
    st.html(
        f'<p class="kv-sm" style="color:var(--kv-ink-2);margin-bottom:8px">{parts.escape(changes)}'
        "</p>"
    )
    first = say("rolls.kept" if st.session_state.get(state.PINNED) else "rolls.before")
    table(
        ("", first, say("rolls.now"), say("common.change")), roll_summary.rows(before, now), "lrrr"
    )


def _before(now: Summary) -> Summary | None:
    """The run that this one is compared with; this one is kept for the next."""
    last, st.session_state[state.RUN] = st.session_state.get(state.RUN), now
    if last not in (None, now) and not st.session_state.get(state.PINNED):
        st.session_state[state.BEFORE] = last
    return st.session_state.get(state.BEFORE)


def _head() -> None:
    """The heading, and the button that keeps a run or lets it go."""
    with st.container(horizontal=True, vertical_alignment="center", key="kv_compare_head"):
        parts.heading(say("rolls.before_after"), say("rolls.before_after_how"))
        if st.session_state.get(state.PINNED):
            st.button(
                say("rolls.unpin"),
                type="tertiary",
                icon=":material/keep_off:",
                key="kv_unpin",
                on_click=_unpin,
            )
        else:
            st.button(
                say("rolls.pin"),
                type="tertiary",
                icon=":material/keep:",
                key="kv_pin",
                on_click=_pin,
            )


def _told_settings(of: Workload, config: LogConfig) -> dict[str, str]:
    """What may have been changed; its words are those of links, the same in every language."""
    found = {"workload": of.title or OWN}
    found |= {
        name: written(name, getattr(config, name.replace(".", "_"))) for name in state.SETTING
    }
    return found | {
        "throughput": st.session_state.get(state.SPEED, options.AS_IT_IS),
        "batches": st.session_state.get(state.BATCH_SIZE, options.AS_IT_IS),
    }


def _setting_words(told: str) -> str:
    """A name or a value of _told_settings in the reader's language."""
    return say(f"rolls.changed_{told}") if told in CHANGED else options.told(told)


def _pin() -> None:
    """What is shown now stays the one that is compared with."""
    st.session_state[state.BEFORE], st.session_state[state.PINNED] = (
        st.session_state.get(state.RUN),
        True,
    )


def _unpin() -> None:
    """The run before the last change counts again."""
    st.session_state[state.PINNED] = False
