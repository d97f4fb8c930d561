"""The ingests of this server, in threads of their own.

One a directory, started at the first visit, and when its catalog is out of date.
"""

import os
import time
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import MAX_BROKERS, BrokerSnapshot
from kafkaviz.app.state import upload_expiry
from kafkaviz.jobs import JobRegistry

if TYPE_CHECKING:
    from kafkaviz.pipeline.ingest.job import Ingest

# Spark's start takes both processors of a small machine: the browser draws the page first
DRAWING_S = 1.0
AGAIN_AFTER_S = 30  # a directory that keeps changing is not ingested more often


@st.cache_resource(show_spinner=False)
def server_ingests() -> "JobRegistry[str, Ingest]":
    """The ingests of this server by directory.

    Shared by all tabs, so that no directory is read twice at once. With the first of them it looks
    what is left of old uploads.
    """
    upload_expiry.sweep()
    return JobRegistry(MAX_BROKERS)  # each keeps the description of its catalog


def get_or_start(snapshot: BrokerSnapshot) -> "Ingest | None":
    """The directory's ingest.

    One is started at the first visit, and when what the last one wrote is out of date.
    """
    directory = snapshot.directory
    if broker_cache.is_fresh(snapshot):
        return server_ingests().get(directory)
    return server_ingests().get_or_start(directory, partial(_start, snapshot), _may_start_again)


def restart(snapshot: BrokerSnapshot) -> None:
    """Starts a new ingest where none runs. For a button's on_click."""
    server_ingests().restart(snapshot.directory, partial(_start, snapshot))


def state(snapshot: BrokerSnapshot) -> str | None:
    """How the directory's ingest stands, without starting one.

    Returns:
        None where there was none.
    """
    ingest = server_ingests().get(snapshot.directory)
    return ingest.state if ingest else None


def is_awaited(snapshot: BrokerSnapshot) -> bool:
    """Whether numbers still arrive.

    The catalog is not fresh, and the ingest did not end without one.
    """
    return not broker_cache.is_fresh(snapshot) and state(snapshot) not in ("failed", "cancelled")


def _start(snapshot: BrokerSnapshot) -> "Ingest":
    from kafkaviz.pipeline.ingest import job

    path = broker_cache.catalog_path(snapshot.broker)
    master = os.environ.get("KAFKAVIZ_MASTER", "local[*]")
    return job.start_ingest([snapshot.broker.sources], path, master=master, delay_s=DRAWING_S)


def _may_start_again(ingest: "Ingest") -> bool:
    """Only what ended well is repeated by itself, and not at once.

    A failed or cancelled one waits for its button.
    """
    age_s = time.monotonic() - ingest.started_at
    return ingest.state in ("done", "fresh") and age_s > AGAIN_AFTER_S
