"""The ingests of this server, in threads of their own: one a directory, started at the first visit,
and when its catalog is out of date.
"""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.errors import KafkavizError
from kafkaviz.ui import cache, leftovers
from kafkaviz.ui.cache import KEPT, Listed

if TYPE_CHECKING:
    from kafkaviz.pipeline.job import Ingest

AGAIN_AFTER_S = 30  # a directory that keeps changing is not ingested more often
WORKING = ("starting", "reading", "writing")  # states of an ingest that has not ended


class Ingests:
    """The ingests of this server, by directory: shared by all tabs, so that no directory is read
    twice at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: dict[Path, tuple[Ingest, float]] = {}

    def of(self, here: Listed) -> "Ingest | None":
        """The directory's ingest; one is started at the first visit, and when what the last one
        wrote is out of date.
        """
        with self._lock:
            ingest, since = self._started.get(here.broker.source, (None, 0.0))
            if cache.is_fresh(here) or (ingest and not _may_start_again(ingest, since)):
                return ingest
            return self._start(here)

    def state(self, here: Listed) -> str | None:
        """How the directory's ingest stands, without starting one; None where there was none."""
        with self._lock:
            ingest, _ = self._started.get(here.broker.source, (None, 0.0))
        return ingest.progress().state if ingest else None

    def again(self, here: Listed) -> "Ingest":
        """A new ingest, because somebody asked for one."""
        with self._lock:
            return self._start(here)

    def cancel(self, here: Listed) -> None:
        """Ends the directory's ingest, if one runs; what it has read is thrown away."""
        with self._lock:
            ingest, _ = self._started.get(here.broker.source, (None, 0.0))
        if ingest:
            ingest.cancel()
            with suppress(KafkavizError):
                # raises that it was cancelled, and is that from then on, even while Spark still
                # starts
                ingest.wait(0)

    def _start(self, here: Listed) -> "Ingest":
        from kafkaviz.pipeline import job

        path = cache.catalog_path(here.broker)
        ingest = job.start_ingest(
            [here.broker.source], path, master=os.environ.get("KAFKAVIZ_MASTER", "local[*]")
        )
        self._started.pop(here.broker.source, None)
        self._started[here.broker.source] = ingest, time.monotonic()
        self._forget_old()
        return ingest

    def _forget_old(self) -> None:
        """A run keeps the description of its catalog: of those that have ended only the last few
        are remembered.
        """
        ended = [
            source
            for source, (ingest, _) in self._started.items()
            if ingest.progress().state not in WORKING
        ]
        for source in ended[: max(0, len(self._started) - KEPT)]:
            del self._started[source]


def is_awaited(here: Listed) -> bool:
    """Whether numbers still arrive: the catalog is not fresh, and the ingest did not end without
    one.
    """
    return not cache.is_fresh(here) and shared().state(here) in (None, *WORKING, "done", "fresh")


def _may_start_again(ingest: "Ingest", since: float) -> bool:
    """Only what ended well is repeated by itself, and not at once; a failed or cancelled one waits
    for its button.
    """
    return ingest.progress().state in ("done", "fresh") and time.monotonic() - since > AGAIN_AFTER_S


@st.cache_resource(show_spinner=False)
def shared() -> Ingests:
    """This server's ingests; with the first of them it looks what is left of old uploads."""
    leftovers.sweep()
    return Ingests()
