"""The ingests of this server, one background job per directory.

An ingest starts when a directory is first visited, and again when its catalog is out of date.
"""

import os
import time
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.app import uploads
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import MAX_BROKERS, BrokerSnapshot
from kafkaviz.jobs import JobRegistry

if TYPE_CHECKING:
    from kafkaviz.pipeline.ingest.job import Ingest

# delay before Spark starts and takes both cores of a small machine, so that the page is drawn first
DRAWING_S = 1.0
AGAIN_AFTER_S = 30  # seconds between two ingests of a directory that keeps changing


@st.cache_resource(show_spinner=False)
def server_ingests() -> "JobRegistry[str, Ingest]":
    """Returns the ingests of this server by directory. The first call removes expired uploads."""
    uploads.sweep()
    # limited, because each ingest holds the description of its catalog
    return JobRegistry(MAX_BROKERS)


def get_or_start(snapshot: BrokerSnapshot) -> "Ingest | None":
    """Returns the last ingest, or None. Starts one first if the catalog is out of date.

    Starts none if the last ingest is still running, or if `_may_start_again` is False for it.
    """
    directory = snapshot.directory
    if broker_cache.is_fresh(snapshot):
        return server_ingests().get(directory)
    return server_ingests().get_or_start(directory, partial(_start, snapshot), _may_start_again)


def restart(snapshot: BrokerSnapshot) -> None:
    """Starts a new ingest unless one is running. Used as a button's on_click."""
    server_ingests().restart(snapshot.directory, partial(_start, snapshot))


def state(snapshot: BrokerSnapshot) -> str | None:
    ingest = server_ingests().get(snapshot.directory)
    return ingest.state if ingest else None


def is_awaited(snapshot: BrokerSnapshot) -> bool:
    """Returns whether the catalog is out of date and the last ingest may still update it."""
    return not broker_cache.is_fresh(snapshot) and state(snapshot) not in ("failed", "cancelled")


def _start(snapshot: BrokerSnapshot) -> "Ingest":
    from kafkaviz.pipeline.ingest import job

    path = broker_cache.catalog_path(snapshot.broker)
    master = os.environ.get("KAFKAVIZ_MASTER", "local[*]")
    return job.start_ingest([snapshot.broker.sources], path, master=master, delay_s=DRAWING_S)


def _may_start_again(ingest: "Ingest") -> bool:
    """Returns whether an ingest may be repeated without a click.

    True if it succeeded and started more than AGAIN_AFTER_S seconds ago.
    """
    age_s = time.monotonic() - ingest.started_at
    return ingest.state in ("done", "fresh") and age_s > AGAIN_AFTER_S
