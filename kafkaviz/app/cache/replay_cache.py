"""Replays of growing indexes, shared by all tabs and kept between reruns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from kafkaviz.analysis.page_cache import page_replay
from kafkaviz.analysis.page_cache.page_replay import IndexGrowth, Memory, Readers, Replay
from kafkaviz.figures.page_cache.page_faults import COLUMNS

CACHE_ENTRIES = 128


@dataclass(frozen=True)
class ReplaySettings:
    """The settings of a replay.

    Attributes:
        warm_bytes: the size of the warm section, None if the search has none.
        key: identifies a real index, "" for an invented one.
    """

    growth: IndexGrowth
    memory: Memory
    readers: Readers
    warm_bytes: int | None
    key: str = ""


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def replays(settings: ReplaySettings, _clock: np.ndarray | None = None) -> tuple[Replay, Replay]:
    """Replays the growth with a plain search and with a search of the warm section first."""
    options: dict[str, Any] = {"columns": COLUMNS, "clock": _clock}
    plain, warm = (
        page_replay.replay(
            settings.growth, settings.memory, settings.readers, warm_bytes, **options
        )
        for warm_bytes in (None, settings.warm_bytes)
    )
    return plain, warm
