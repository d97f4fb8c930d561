"""The simulated directory to take along: as an archive, or opened here like any other."""

import io
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.app.pages.rolls.options import MIB
from kafkaviz.app.pages.rolls.simulated_log import RollSimulation, archive
from kafkaviz.app.state import page_state
from kafkaviz.app.widgets import upload
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.words import say, say_count

MOST_ARCHIVE_BYTES = 256 * MIB  # of .log


def render_download(workload: Workload, config: LogConfig, run: RollSimulation) -> None:
    """The directory as an archive, and opened here like any other."""
    st.space(16)
    size_bytes = run.history.log_bytes
    with st.container(horizontal=True, vertical_alignment="center", gap=16, key="kv_take"):
        if run.error or run.is_cut or size_bytes > MOST_ARCHIVE_BYTES:
            text_key = (
                "rolls.take_refused"
                if run.error
                else "rolls.take_cut"
                if run.is_cut
                else "rolls.take_large"
            )
            st.html(f'<p class="kv-sm kv-fnt">{say(text_key, size=units.size(size_bytes))}</p>')
            return
        name = f"{workload.topic}.tar.gz"
        build_archive = lambda: archive(workload, config)  # noqa: E731 - made when it is asked for
        widget_options: dict[str, Any] = {
            "on_click": "ignore",
            "icon": ":material/download:",
            "key": "kv_archive",
        }
        st.download_button(
            say("rolls.take_archive"), build_archive, name, "application/gzip", **widget_options
        )
        if st.button(say("rolls.open_result"), icon=":material/folder_open:", key="kv_open_result"):
            path = upload.save(io.BytesIO(build_archive()), name)
            st.switch_page("app.py", query_params=page_state.address(path))
        count = len(run.history.segments)
        text = say(
            "rolls.take_words",
            size=units.size(size_bytes),
            segments=say_count("common.n_segments", count, n=units.group(count)),
        )
        st.html(f'<span class="kv-sm kv-fnt">{text}</span>')
