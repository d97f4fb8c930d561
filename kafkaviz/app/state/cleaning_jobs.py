"""The cleanings of this server: one background job per listing and topic-partition.

The decisions about all compacted logs are read at once, because they need no record. A cleaning
reads the cleanable part twice and the clean part once, so only a small one starts by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import streamlit as st

from kafkaviz.app.cache.broker_cache import HASH_FUNCS, MAX_BROKERS, BrokerSnapshot
from kafkaviz.jobs import Job, JobRegistry, ReadProgress

if TYPE_CHECKING:
    from kafkaviz.analysis.compaction.compaction import CleanerDecisions, DecidedLog
    from kafkaviz.analysis.compaction.log_records import LogRecord
    from kafkaviz.simulate.cleaner.cleaner import Cleaning

CleaningJob: TypeAlias = "Job[CleanedLog, ReadProgress]"
MAX_JOBS = 32  # a result holds at most some megabytes
QUICK_S = 0.8  # a cleaning that takes no longer shows no progress
QUICK_BYTES = 64 << 20  # a cleaning that reads no more starts by itself


@dataclass(frozen=True, kw_only=True)
class CleanedLog:
    """A log and the result of one cleaning.

    Attributes:
        cleaning: None if the cleaner fails.
        error: the exception of Kafka's cleaner, or None.
        records: every record of a small log, otherwise None.
    """

    log: "DecidedLog"
    cleaning: "Cleaning | None"
    error: str | None
    records: "tuple[LogRecord, ...] | None"


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def decisions(snapshot: BrokerSnapshot) -> "CleanerDecisions":
    """Returns the decisions about the compacted logs.

    Raises:
        CannotOpen: one partition was opened, and it is not compacted.
    """
    from kafkaviz.analysis.compaction.compaction import decide_logs

    return decide_logs(snapshot.broker)


@st.cache_resource(show_spinner=False)
def cleaning_jobs() -> JobRegistry[tuple[str, str], CleaningJob]:
    """Returns the cleanings of this server by listing and topic-partition, shared by all tabs."""
    return JobRegistry(MAX_JOBS, forgets_running=True)


def bytes_to_read(log: "DecidedLog") -> int:
    """Returns how many bytes of .log files a cleaning reads."""
    return log.decision.total_bytes + log.decision.cleanable_bytes


def is_quick(log: "DecidedLog") -> bool:
    return bytes_to_read(log) <= QUICK_BYTES


def get(snapshot: BrokerSnapshot, partition: str) -> "CleaningJob | None":
    """Returns the cleaning of a topic-partition if it was started."""
    return cleaning_jobs().get((snapshot.key, partition))


def get_or_start(snapshot: BrokerSnapshot, log: "DecidedLog") -> CleaningJob:
    """Returns the cleaning of a log, whether the cleaner would take it now or not."""
    return cleaning_jobs().get_or_start(
        (snapshot.key, log.partition), partial(_start, snapshot, log)
    )


def restart(snapshot: BrokerSnapshot, log: "DecidedLog") -> None:
    """Starts a cleaning again after its end, as a button's on_click."""
    cleaning_jobs().restart((snapshot.key, log.partition), partial(_start, snapshot, log))


def _start(snapshot: BrokerSnapshot, log: "DecidedLog") -> CleaningJob:
    return Job(
        partial(_clean, decisions(snapshot), log),
        ReadProgress(0, bytes_to_read(log), log.partition),
    )


def _clean(
    decisions: "CleanerDecisions", log: "DecidedLog", report: Callable[[ReadProgress], None]
) -> CleanedLog:
    """Cleans a log; after a cancel `report` raises before the next part is read."""
    from kafkaviz.analysis.compaction.compaction import clean_log
    from kafkaviz.analysis.compaction.log_records import log_records
    from kafkaviz.simulate.cleaner.batch_chunks import CleaningFailed

    done_bytes = 0
    total_bytes = bytes_to_read(log)

    def on_read(size_bytes: int) -> None:
        nonlocal done_bytes
        # counting the passes of a map that was full reads more
        done_bytes = min(done_bytes + size_bytes, total_bytes)
        report(ReadProgress(done_bytes, total_bytes, log.partition))

    cleaning = None
    error = None
    try:
        cleaning = clean_log(decisions.plan, log, decisions.map, on_read=on_read)
    except CleaningFailed as failure:
        error = str(failure.exception)
    records = log_records(log, cleaning, decisions.plan.now_ms)
    return CleanedLog(log=log, cleaning=cleaning, error=error, records=records)
