"""Health: what is wrong with a broker directory, with the bytes that show it, and what its next
start will do.
"""

from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.health.checkup_progress import render_checkup_progress
from kafkaviz.app.pages.health.checkup_result import render_failure, render_findings
from kafkaviz.app.pages.health.head import address_release, render_head, render_traces_notice
from kafkaviz.app.pages.health.rebuilt_indexes import render_rebuilt_indexes
from kafkaviz.app.state import checkups, page_location
from kafkaviz.app.state.checkups import is_for_spark, is_large
from kafkaviz.app.widgets import ingest_status
from kafkaviz.app.widgets.print_view import apply_print_style

if TYPE_CHECKING:
    from kafkaviz.analysis.health import Health

QUICK_S = 0.8  # a checkup that takes no longer shows no progress


def main() -> None:
    """The page; a directory too large for a checkup of its own waits for the pipeline, which judges
    by its traces alone.
    """
    location = frame("Health")
    apply_print_style()
    snapshot, chosen_release = page_location.snapshot(location), address_release()
    checked_release = "" if is_large(snapshot) else chosen_release
    if is_for_spark(snapshot):
        render_head(snapshot, None, checked_release)
        render_traces_notice(snapshot, chosen_release)
        return ingest_status.render_strip(snapshot)
    render_checkup(snapshot, checked_release, chosen_release)


def render_checkup(snapshot: BrokerSnapshot, checked_release: str, chosen_release: str) -> None:
    """The checkup: how far it is, why it has not come to an end, or what it found and the indexes
    anew.

    checked_release: the release that it goes by; chosen_release: the one that was chosen.
    """
    error_count = checkups.error_count(snapshot)
    checkup = checkups.get_or_start(snapshot, checked_release)
    is_over = checkup.ends_within(QUICK_S)
    if is_over and checkups.error_count(snapshot) != error_count:
        st.rerun()  # the sidebar was drawn before their number was known
    render_head(snapshot, checkup.result if is_over else None, checked_release)
    render_traces_notice(snapshot, chosen_release)
    if not is_over:
        return render_checkup_progress(snapshot, checked_release)
    if checkup.error is not None:
        return render_failure(snapshot, checkup.error, checked_release)
    health = cast("Health", checkup.result)
    render_findings(snapshot, health, checked_release)
    render_rebuilt_indexes(snapshot, health.findings, checked_release or health.version.text)


main()
