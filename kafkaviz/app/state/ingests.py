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

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import MAX_BROKERS, BrokerSnapshot
from kafkaviz.app.state import upload_expiry
from kafkaviz.errors import KafkavizError

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
        self._runs: dict[Path, tuple[Ingest, float]] = {}

    def get_or_start(self, snapshot: BrokerSnapshot) -> "Ingest | None":
        """The directory's ingest; one is started at the first visit, and when what the last one
        wrote is out of date.
        """
        with self._lock:
            ingest, since = self._runs.get(snapshot.broker.source, (None, 0.0))
            if broker_cache.is_fresh(snapshot) or (ingest and not _may_start_again(ingest, since)):
                return ingest
            return self._start(snapshot)

    def state(self, snapshot: BrokerSnapshot) -> str | None:
        """How the directory's ingest stands, without starting one; None where there was none."""
        with self._lock:
            ingest, _ = self._runs.get(snapshot.broker.source, (None, 0.0))
        return ingest.progress().state if ingest else None

    def restart(self, snapshot: BrokerSnapshot) -> "Ingest":
        """A new ingest, because somebody asked for one."""
        with self._lock:
            return self._start(snapshot)

    def cancel(self, snapshot: BrokerSnapshot) -> None:
        """Ends the directory's ingest, if one runs; what it has read is thrown away."""
        with self._lock:
            ingest, _ = self._runs.get(snapshot.broker.source, (None, 0.0))
        if ingest:
            ingest.cancel()
            with suppress(KafkavizError):
                # raises that it was cancelled, and is that from then on, even while Spark still
                # starts
                ingest.wait(0)

    def _start(self, snapshot: BrokerSnapshot) -> "Ingest":
        from kafkaviz.pipeline import job

        path = broker_cache.catalog_path(snapshot.broker)
        ingest = job.start_ingest(
            [snapshot.broker.source], path, master=os.environ.get("KAFKAVIZ_MASTER", "local[*]")
        )
        self._runs.pop(snapshot.broker.source, None)
        self._runs[snapshot.broker.source] = ingest, time.monotonic()
        self._forget_old()
        return ingest

    def _forget_old(self) -> None:
        """A run keeps the description of its catalog: of those that have ended only the last few
        are remembered.
        """
        ended_sources = [
            source
            for source, (ingest, _) in self._runs.items()
            if ingest.progress().state not in WORKING
        ]
        for source in ended_sources[: max(0, len(self._runs) - MAX_BROKERS)]:
            del self._runs[source]


def is_awaited(snapshot: BrokerSnapshot) -> bool:
    """Whether numbers still arrive: the catalog is not fresh, and the ingest did not end without
    one.
    """
    return not broker_cache.is_fresh(snapshot) and server_ingests().state(snapshot) in (
        None,
        *WORKING,
        "done",
        "fresh",
    )


def _may_start_again(ingest: "Ingest", since: float) -> bool:
    """Only what ended well is repeated by itself, and not at once; a failed or cancelled one waits
    for its button.
    """
    return ingest.progress().state in ("done", "fresh") and time.monotonic() - since > AGAIN_AFTER_S


@st.cache_resource(show_spinner=False)
def server_ingests() -> Ingests:
    """This server's ingests; with the first of them it looks what is left of old uploads."""
    upload_expiry.sweep()
    return Ingests()
