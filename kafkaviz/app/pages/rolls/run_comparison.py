"""Change a setting, compare: what this run came to, beside the run before or the one that was
kept.
"""

import streamlit as st

from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.app.pages.rolls import options
from kafkaviz.app.state import page_state
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table
from kafkaviz.app.workloads import OWN_TITLE, format_setting
from kafkaviz.figures import roll_summary
from kafkaviz.figures.roll_summary import RunSummary
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.words import say

WORKLOAD_KEYS = ("workload", "throughput", "batches")


def render_comparison(workload: Workload, config: LogConfig, history: RollHistory) -> None:
    """What this run came to, beside the run before or the one that was kept."""
    current = roll_summary.summarize(history, _setting_texts(workload, config))
    previous = _previous_run(current)
    st.space(32)
    _render_head()
    st.space(8)
    if previous is None or previous == current:
        text = say("rolls.run_kept" if previous == current else "rolls.run_first")
        st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2)">{text}</p>')
        return
    changes = roll_summary.describe_changes(previous, current, _setting_text)
    st.html(
        '<p class="kv-sm" style="color:var(--kv-ink-2);margin-bottom:8px">'
        f"{elements.escape(changes)}"
        "</p>"
    )
    first = say(
        "rolls.kept" if st.session_state.get(page_state.KEEPS_PREVIOUS_RUN) else "rolls.before"
    )
    table(
        ("", first, say("rolls.now"), say("common.change")),
        roll_summary.rows(previous, current),
        "lrrr",
    )


def _previous_run(current: RunSummary) -> RunSummary | None:
    """The run that this one is compared with; this one is kept for the next."""
    last, st.session_state[page_state.RUN] = st.session_state.get(page_state.RUN), current
    if last not in (None, current) and not st.session_state.get(page_state.KEEPS_PREVIOUS_RUN):
        st.session_state[page_state.PREVIOUS_RUN] = last
    return st.session_state.get(page_state.PREVIOUS_RUN)


def _render_head() -> None:
    """The heading, and the button that keeps a run or lets it go."""
    with st.container(horizontal=True, vertical_alignment="center", key="kv_compare_head"):
        elements.heading(say("rolls.before_after"), say("rolls.before_after_how"))
        if st.session_state.get(page_state.KEEPS_PREVIOUS_RUN):
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


def _setting_texts(workload: Workload, config: LogConfig) -> dict[str, str]:
    """What may have been changed; its words are those of links, the same in every language."""
    texts = {"workload": workload.title or OWN_TITLE}
    texts |= {
        name: format_setting(name, getattr(config, name.replace(".", "_")))
        for name in page_state.SETTING
    }
    return texts | {
        "throughput": st.session_state.get(page_state.SPEED, options.AS_IT_IS),
        "batches": st.session_state.get(page_state.BATCH_SIZE, options.AS_IT_IS),
    }


def _setting_text(text: str) -> str:
    """A name or a value of _told_settings in the reader's language."""
    return say(f"rolls.changed_{text}") if text in WORKLOAD_KEYS else options.option_text(text)


def _pin() -> None:
    """What is shown now stays the one that is compared with."""
    st.session_state[page_state.PREVIOUS_RUN], st.session_state[page_state.KEEPS_PREVIOUS_RUN] = (
        st.session_state.get(page_state.RUN),
        True,
    )


def _unpin() -> None:
    """The run before the last change counts again."""
    st.session_state[page_state.KEEPS_PREVIOUS_RUN] = False
