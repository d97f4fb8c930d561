"""The checkups of this server.

Each directory is checked once in a thread of its own, while the page shows how far it is.

The page must not wait for it: a checkup of 20 MB takes a second, one of 1 GiB three. A fresh
catalog has the same at once, and what is larger is left to the pipeline.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import streamlit as st

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import MAX_BROKERS, BrokerSnapshot
from kafkaviz.app.state import ingests
from kafkaviz.errors import CannotOpen
from kafkaviz.jobs import Job, JobRegistry, ReadProgress

if TYPE_CHECKING:
    from kafkaviz.analysis.health.broker_health import Health
    from kafkaviz.log.partition import Partition

# fails with a KafkavizError where the directory cannot be checked; anything else is a fault of ours
Checkup: TypeAlias = "Job[Health, ReadProgress]"
LARGE_BYTES = 2 << 30  # of .log; what is larger is read by the pipeline, on all cores


@st.cache_resource(show_spinner=False)
def checkups() -> JobRegistry[tuple[str, str], Checkup]:
    """The checkups of this server by listing and release.

    Shared by all tabs, so that no directory is read twice at once.
    """
    return JobRegistry(MAX_BROKERS, forgets_running=True)


def get_or_start(snapshot: BrokerSnapshot, release: str) -> Checkup:
    """The directory's checkup by this release ("" for what its traces say).

    Started at the first call.
    """
    return checkups().get_or_start((snapshot.key, release), partial(_start, snapshot, release))


def error_count(snapshot: BrokerSnapshot) -> int:
    """How many errors the directory has, 0 where no checkup has ended.

    By the checkup by the directory's own traces, else by a fresh catalog.
    """
    checkup = checkups().get((snapshot.key, ""))
    return (
        checkup.result.counts["error"]
        if checkup and checkup.result
        else broker_cache.catalog_error_count(snapshot)
    )


def restart(snapshot: BrokerSnapshot, release: str) -> None:
    """Forgets the directory's checkups, and starts one that reads its files.

    None is started if there are too many files for that.
    """
    checkups().forget(lambda key: key[0] == snapshot.key)
    if not is_large(snapshot):
        checkups().restart((snapshot.key, release), partial(_start_reading, snapshot, release))


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
    """Whether it is so large that its catalog must have the findings, and that is not there yet."""
    return is_large(snapshot) and ingests.is_awaited(snapshot)


def check_again(snapshot: BrokerSnapshot, release: str) -> None:
    """Lists the directory anew and reads it once more.

    Of a large one the pipeline reads what has changed. For a button's on_click.
    """
    broker_cache.clear_all()
    with suppress(CannotOpen):  # the page says what is wrong with it
        current = broker_cache.open_snapshot(snapshot.directory)
        restart(current, release)
        if is_large(current) and not broker_cache.is_fresh(current):
            ingests.restart(current)


def _start(snapshot: BrokerSnapshot, release: str) -> Checkup:
    """By the directory's traces a fresh catalog has all; else its files are read."""
    health = None if release else broker_cache.catalog_health(snapshot)
    return Job(lambda _: health, ReadProgress()) if health else _start_reading(snapshot, release)


def _start_reading(snapshot: BrokerSnapshot, release: str) -> Checkup:
    return Job(partial(_check, snapshot, release), ReadProgress(0, log_bytes(snapshot)))


def _check(
    snapshot: BrokerSnapshot, release: str, report: Callable[[ReadProgress], None]
) -> "Health":
    """Where it is cancelled it ends before the next topic-partition."""
    from kafkaviz.analysis.health.broker_health import check

    done_bytes, total_bytes = 0, log_bytes(snapshot)

    def on_partition(partition: "Partition") -> None:
        nonlocal done_bytes
        report(ReadProgress(done_bytes, total_bytes, partition.directory))
        done_bytes += sum(segment.log.size_bytes for segment in partition.segments if segment.log)

    return check(snapshot.broker, release or None, on_partition=on_partition)
