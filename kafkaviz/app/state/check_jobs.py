"""The checks of this server: one background job per directory and release.

Directories larger than LARGE_BYTES are checked by the pipeline instead. If the catalog is up to
date, the job gets the result from it at once.
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
from kafkaviz.jobs import Job, JobRegistry, ReadMeter, ReadProgress

if TYPE_CHECKING:
    from kafkaviz.analysis.broker_health import Health

# the job fails with a KafkavizError if the directory cannot be checked; other exceptions are bugs
CheckJob: TypeAlias = "Job[Health, ReadProgress]"
LARGE_BYTES = 2 << 30  # bytes of .log; the pipeline reads larger directories, on all cores


@st.cache_resource(show_spinner=False)
def check_jobs() -> JobRegistry[tuple[str, str], CheckJob]:
    """Returns the check jobs of all tabs. The key of a job is (BrokerSnapshot.key, release)."""
    return JobRegistry(MAX_BROKERS, forgets_running=True)


def get_or_start(snapshot: BrokerSnapshot, release: str) -> CheckJob:
    """Returns the check job, started if needed. The release "" means the inferred release."""
    return check_jobs().get_or_start((snapshot.key, release), partial(_start, snapshot, release))


def error_count(snapshot: BrokerSnapshot) -> int:
    """Returns how many errors the check or the catalog found, for the inferred release."""
    job = check_jobs().get((snapshot.key, ""))
    if job and job.result:
        return job.result.counts["error"]
    return broker_cache.catalog_error_count(snapshot)


def restart(snapshot: BrokerSnapshot, release: str) -> None:
    """Forgets all checks of the directory. Starts a new one unless the directory is large."""
    check_jobs().forget(lambda key: key[0] == snapshot.key)
    if not is_large(snapshot):
        check_jobs().restart((snapshot.key, release), partial(_start_reading, snapshot, release))


def log_bytes(snapshot: BrokerSnapshot) -> int:
    return sum(partition.log_bytes for partition in snapshot.broker.partitions)


def is_large(snapshot: BrokerSnapshot) -> bool:
    """Returns whether the directory is so large that the pipeline checks it.

    The pipeline always assumes the inferred release.
    """
    return log_bytes(snapshot) > LARGE_BYTES


def is_for_spark(snapshot: BrokerSnapshot) -> bool:
    """Returns whether a directory is large and still waits for the pipeline's check."""
    return is_large(snapshot) and ingests.is_awaited(snapshot)


def check_again(snapshot: BrokerSnapshot, release: str) -> None:
    """Lists the directory again, and checks it again. The pipeline checks a large directory."""
    broker_cache.clear_all()
    with suppress(CannotOpen):  # the page reports the error
        current = broker_cache.open_snapshot(snapshot.directory)
        restart(current, release)
        if is_large(current) and not broker_cache.is_fresh(current):
            ingests.restart(current)


def _start(snapshot: BrokerSnapshot, release: str) -> CheckJob:
    """Returns a job that has the findings of an up-to-date catalog, or that reads the files."""
    health = None if release else broker_cache.catalog_health(snapshot)
    return Job(lambda _: health, ReadProgress()) if health else _start_reading(snapshot, release)


def _start_reading(snapshot: BrokerSnapshot, release: str) -> CheckJob:
    return Job(partial(_check, snapshot, release), ReadProgress(0, log_bytes(snapshot)))


def _check(
    snapshot: BrokerSnapshot, release: str, report: Callable[[ReadProgress], None]
) -> "Health":
    from kafkaviz.analysis.broker_health import check

    name_of = snapshot.broker.partition_name
    sizes = {name_of(partition): partition.log_bytes for partition in snapshot.broker.partitions}
    meter = ReadMeter(report, sizes)
    return check(
        snapshot.broker,
        release or None,
        on_partition=lambda partition: meter.show(name_of(partition)),
    )
