"""The simulated directory to take along: as an archive, or opened here like any other."""

import io
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.sending.workload import Workload
from kafkaviz.ui import state, upload
from kafkaviz.ui.rolls.options import MIB
from kafkaviz.ui.rolls.simulated import Simulated, archive
from kafkaviz.words import counted, say

MOST_ARCHIVE_BYTES = 256 * MIB  # of .log


def take_along(of: Workload, config: LogConfig, run: Simulated) -> None:
    """The directory as an archive, and opened here like any other."""
    st.space(16)
    size_bytes = run.lanes.log_bytes
    with st.container(horizontal=True, vertical_alignment="center", gap=16, key="kv_take"):
        if run.failed or run.is_cut or size_bytes > MOST_ARCHIVE_BYTES:
            why = (
                "rolls.take_refused"
                if run.failed
                else "rolls.take_cut"
                if run.is_cut
                else "rolls.take_large"
            )
            st.html(f'<p class="kv-sm kv-fnt">{say(why, size=units.size(size_bytes))}</p>')
            return
        name = f"{of.topic}.tar.gz"
        made = lambda: archive(of, config)  # noqa: E731 - made when it is asked for
        look: dict[str, Any] = {
            "on_click": "ignore",
            "icon": ":material/download:",
            "key": "kv_archive",
        }
        st.download_button(say("rolls.take_archive"), made, name, "application/gzip", **look)
        if st.button(say("rolls.open_result"), icon=":material/folder_open:", key="kv_open_result"):
            path = upload.save(io.BytesIO(made()), name)
            st.switch_page("app.py", query_params=state.address(path))
        count = len(run.lanes.lanes)
        words = say(
            "rolls.take_words",
            size=units.size(size_bytes),
            segments=counted("common.n_segments", count, n=units.group(count)),
        )
        st.html(f'<span class="kv-sm kv-fnt">{words}</span>')
