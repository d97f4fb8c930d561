"""The Disk page: what fills the log directories, what retention deletes, what the cleaner removes.

The map is drawn first from the directory listing, and again when the check has ended.
"""

from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.disk import compaction_tab, map_tab, retention_tab
from kafkaviz.app.registry import PAGES
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state import check_jobs
from kafkaviz.app.widgets import choice, elements, faults, progress_strip
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.messages import say

if TYPE_CHECKING:
    from kafkaviz.analysis.broker_health import Health

MAP, RETENTION, COMPACTION = PAGES["Disk"].tabs
CONTROLS = {
    RETENTION: retention_tab.CONTROLS,
    COMPACTION: compaction_tab.CONTROLS,
}


@in_turn
def render_page() -> None:
    location = frame("Disk")
    apply_print_style()
    snapshot = faults.require_snapshot(location)
    elements.title(say("common.page_disk"), map_tab.lead(snapshot), gap=4)
    choice.open_by_address(CONTROLS)
    with st.container(gap=None, key="kv_lab"):
        tab, container = choice.render_tabs(PAGES["Disk"].tab_labels, CONTROLS)
        with container, st.container(gap=None):
            _render_tab(tab, snapshot)


def _render_tab(tab: str, snapshot: BrokerSnapshot) -> None:
    if tab == COMPACTION:
        return compaction_tab.render(snapshot)
    health = _checked(snapshot)
    if tab == MAP:
        map_tab.render(snapshot, health)
    elif health is not None:
        retention_tab.render(snapshot, health)


def _checked(snapshot: BrokerSnapshot) -> "Health | None":
    """Returns the result of the check. Without one, draws the progress or the failure."""
    if check_jobs.is_for_spark(snapshot):
        progress_strip.render_ingest_strip(snapshot)
        return None
    job = check_jobs.get_or_start(snapshot, "")
    if job.wait_until_over(check_jobs.QUICK_S) and job.error is None:
        return cast("Health", job.result)
    progress_strip.render_unfinished_check(snapshot, "")
    return None
