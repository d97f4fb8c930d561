"""Health: what is wrong with a broker directory, with the bytes that show it, and what its next
start will do.
"""

from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.ui import pick, work
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.checkups import checkups, is_for_spark, is_large
from kafkaviz.ui.frame import frame
from kafkaviz.ui.health.found import not_ended, told
from kafkaviz.ui.health.head import by_traces, head, release
from kafkaviz.ui.health.rebuilt_indexes import rebuilt_indexes
from kafkaviz.ui.health.waiting import waiting
from kafkaviz.ui.printed import printed

if TYPE_CHECKING:
    from kafkaviz.analyse.health import Health

QUICK_S = 0.8  # a checkup that takes no longer shows no progress


def main() -> None:
    """The page; a directory too large for a checkup of its own waits for the pipeline, which judges
    by its traces alone.
    """
    place = frame("Health")
    printed()
    here, wanted = pick.listed(place), release()
    asked = "" if is_large(here) else wanted
    if is_for_spark(here):
        head(here, None, asked)
        by_traces(here, wanted)
        return work.strip(here)
    checked(here, asked, wanted)


def checked(here: Listed, asked: str, wanted: str) -> None:
    """The checkup: how far it is, why it has not come to an end, or what it found and the indexes
    anew.

    asked: the release that it goes by; wanted: the one that was chosen.
    """
    shown = checkups().errors(here)
    checkup = checkups().of(here, asked)
    is_over = checkup.over.wait(QUICK_S)
    if is_over and checkups().errors(here) != shown:
        st.rerun()  # the sidebar was drawn before their number was known
    head(here, checkup.health if is_over else None, asked)
    by_traces(here, wanted)
    if not is_over:
        return waiting(here, asked)
    if checkup.error is not None:
        return not_ended(here, checkup.error, asked)
    health = cast("Health", checkup.health)
    told(here, health, asked)
    rebuilt_indexes(here, health.findings, asked or health.version.text)


main()
