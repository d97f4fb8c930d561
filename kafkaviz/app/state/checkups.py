"""The checkups of this server: each directory is checked once in a thread of its own, while the
page shows how far it is.

The page must not wait for it: a checkup of 20 MB takes a second, one of 1 GiB three. A fresh
catalog tells the same at once, and what is larger is left to the pipeline.
"""

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import MAX_BROKERS, BrokerSnapshot
from kafkaviz.app.state import ingests
from kafkaviz.errors import CannotOpen, KafkavizError

if TYPE_CHECKING:
    from kafkaviz.analysis.health import Health
    from kafkaviz.log.partition import Partition

LARGE_BYTES = 2 << 30  # of .log; what is larger is read by the pipeline, on all cores


class CheckupCancelled(Exception):
    """Nobody waits for this checkup any more."""


@dataclass
class Checkup:
    """A checkup that runs, or has ended: then one of health and error is there. error: Stopped
    where it was cancelled, KafkavizError where the directory cannot be checked, anything else is a
    fault of ours.
    """

    total_bytes: int  # of .log
    done_bytes: int = 0
    partition: str = ""  # that is being read
    health: "Health | None" = None
    error: Exception | None = None
    is_cancelled: bool = False
    end_event: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        """Ends it before the next topic-partition."""
        self.is_cancelled = True


class Checkups:
    """The checkups by listing and release: shared by all tabs, so that no directory is read twice
    at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._checkups: dict[tuple[str, str], Checkup] = {}

    def get_or_start(self, snapshot: BrokerSnapshot, release: str) -> Checkup:
        """The directory's checkup by this release ("" for what its traces say); started at the
        first call.
        """
        with self._lock:
            key = snapshot.key, release
            if key not in self._checkups:
                self._checkups[key] = _start_checkup(snapshot, release)
                for old_key in list(self._checkups)[:-MAX_BROKERS]:
                    self._checkups.pop(old_key).cancel()
            return self._checkups[key]

    def error_count(self, snapshot: BrokerSnapshot) -> int:
        """How many errors the checkup by the directory's own traces has found, else what a fresh
        catalog tells; 0 where none has ended.
        """
        with self._lock:
            checkup = self._checkups.get((snapshot.key, ""))
        return (
            checkup.health.counts["error"]
            if checkup and checkup.health
            else broker_cache.catalog_error_count(snapshot)
        )

    def restart(self, snapshot: BrokerSnapshot, release: str) -> None:
        """Forgets the directory's checkups, and starts one that reads its files, unless they are
        too many for that.
        """
        with self._lock:
            for key in [
                checkup_key for checkup_key in self._checkups if checkup_key[0] == snapshot.key
            ]:
                self._checkups.pop(key).cancel()
            if not is_large(snapshot):
                self._checkups[snapshot.key, release] = _start_thread(snapshot, release)


def log_bytes(snapshot: BrokerSnapshot) -> int:
    """How much a checkup reads."""
    logs = (
        segment.log for partition in snapshot.broker.partitions for segment in partition.segments
    )
    return sum(log.size_bytes for log in logs if log)


def is_large(snapshot: BrokerSnapshot) -> bool:
    """Whether the pipeline has to read it, which judges by the directory's own traces alone."""
    return log_bytes(snapshot) > LARGE_BYTES


def is_for_spark(snapshot: BrokerSnapshot) -> bool:
    """Whether it is so large that its catalog must tell the findings, and that is not there yet."""
    return is_large(snapshot) and ingests.is_awaited(snapshot)


def check_again(snapshot: BrokerSnapshot, release: str) -> None:
    """Lists the directory anew and reads it once more; of a large one the pipeline reads what has
    changed. For a button's on_click.
    """
    broker_cache.clear_all()
    with suppress(CannotOpen):  # the page says what is wrong with it
        current = broker_cache.open_snapshot(snapshot.broker.source)
        checkups().restart(current, release)
        if (
            is_large(current)
            and not broker_cache.is_fresh(current)
            and ingests.server_ingests().state(current) not in ingests.WORKING
        ):
            ingests.server_ingests().restart(current)


def _start_checkup(snapshot: BrokerSnapshot, release: str) -> Checkup:
    """By the directory's traces a fresh catalog tells all; else a thread reads it."""
    health = None if release else broker_cache.catalog_health(snapshot)
    if not health:
        return _start_thread(snapshot, release)
    checkup = Checkup(log_bytes(snapshot), health=health)
    checkup.end_event.set()
    return checkup


def _start_thread(snapshot: BrokerSnapshot, release: str) -> Checkup:
    checkup = Checkup(log_bytes(snapshot))
    threading.Thread(
        target=_run, args=(checkup, snapshot, release), name="kafkaviz-checkup", daemon=True
    ).start()
    return checkup


def _run(checkup: Checkup, snapshot: BrokerSnapshot, release: str) -> None:
    from kafkaviz.analysis.health import check

    read_bytes = 0

    def watch(partition: "Partition") -> None:
        nonlocal read_bytes
        if checkup.is_cancelled:
            raise CheckupCancelled
        checkup.done_bytes, checkup.partition = read_bytes, partition.directory
        read_bytes += sum(segment.log.size_bytes for segment in partition.segments if segment.log)

    try:
        checkup.health = check(snapshot.broker, release or None, watch=watch)
    except (CheckupCancelled, KafkavizError) as fault:
        checkup.error = fault.with_traceback(None)
    except Exception as fault:  # the page must say so, and the server's log have all of it
        checkup.error = fault
        raise
    finally:
        checkup.end_event.set()


@st.cache_resource(show_spinner=False)
def checkups() -> Checkups:
    """This server's checkups."""
    return Checkups()
