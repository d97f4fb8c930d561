"""Simulated cleanings of compacted logs: one background job per listing and topic-partition.

One more job per listing decides which logs the cleaner takes. It reads no records. A cleaning reads
most of the log. So the cleaning of a large log starts only after a click.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, cast

import streamlit as st

from kafkaviz.analysis.compaction.compaction import (
    CleanerDecisions,
    DecidedLog,
    UnreadLog,
    clean_log,
    decide_logs,
)
from kafkaviz.analysis.compaction.record_fates import KeyStory, LogRecord, key_story, log_records
from kafkaviz.app.cache.broker_cache import MAX_BROKERS, BrokerSnapshot
from kafkaviz.errors import KafkavizError
from kafkaviz.jobs import Job, JobRegistry, ReadProgress
from kafkaviz.log.broker import Broker
from kafkaviz.messages import message
from kafkaviz.simulate.cleaner.batch_chunks import CleaningFailed
from kafkaviz.simulate.cleaner.cleaner import Cleaning

DecisionJob: TypeAlias = Job[CleanerDecisions, ReadProgress]
StoryJob: TypeAlias = Job[KeyStory, ReadProgress]
CleaningJob: TypeAlias = "Job[CleanedLog, ReadProgress]"
MAX_JOBS = 32  # a result holds at most some megabytes
QUICK_BYTES = 64 << 20  # a cleaning that reads at most this much starts without a click


@dataclass(frozen=True, kw_only=True)
class CleanedLog:
    """The result of one cleaning."""

    cleaning: Cleaning | None  # None if the cleaner fails
    error: str | None  # the exception of Kafka's cleaner
    records: tuple[LogRecord, ...] | None  # every record, if the log is small


@st.cache_resource(show_spinner=False)
def decision_jobs() -> JobRegistry[str, DecisionJob]:
    """Returns the jobs that decide which logs the cleaner takes, by BrokerSnapshot.key."""
    return JobRegistry(MAX_BROKERS, forgets_running=True)


@st.cache_resource(show_spinner=False)
def cleaning_jobs() -> JobRegistry[tuple[str, str], CleaningJob]:
    """Returns the cleanings of this server, by (BrokerSnapshot.key, topic-partition)."""
    return JobRegistry(MAX_JOBS, forgets_running=True)


def decide(snapshot: BrokerSnapshot) -> DecisionJob:
    """Returns the job that decides for each compacted log whether the cleaner takes the log.

    Starts the job if needed. If the broker has several log directories, the `partition` of each log
    begins with the name of the log directory. The job fails with CannotOpen if a single partition
    was opened and is not compacted.
    """
    return decision_jobs().get_or_start(
        snapshot.key, lambda: Job(lambda _report: _decide(snapshot.broker), ReadProgress())
    )


def decisions(snapshot: BrokerSnapshot) -> CleanerDecisions:
    """Waits for the job of `decide`, and returns its result.

    Raises:
        CannotOpen: a single partition was opened that is not compacted.
        JobCancelled: a visitor cancelled the job.
    """
    return cast(CleanerDecisions, decide(snapshot).wait())


def _decide(broker: Broker) -> CleanerDecisions:
    decided = decide_logs(broker)

    def name(log: DecidedLog | UnreadLog) -> str:
        return f"{broker.name_prefixes.get(log.log_directory or '', '')}{log.partition}"

    return replace(
        decided,
        logs=tuple(replace(log, partition=name(log)) for log in decided.logs),
        unread=tuple(replace(log, partition=name(log)) for log in decided.unread),
    )


@st.cache_resource(show_spinner=False)
def story_jobs() -> JobRegistry[tuple[str, str, bytes], StoryJob]:
    """Returns the jobs of `story`, by (BrokerSnapshot.key, topic-partition, key of the records)."""
    return JobRegistry(MAX_JOBS, forgets_running=True)


def bytes_to_read(log: DecidedLog) -> int:
    return log.decision.total_bytes + log.decision.cleanable_bytes


def is_quick(log: DecidedLog) -> bool:
    return bytes_to_read(log) <= QUICK_BYTES


def get(snapshot: BrokerSnapshot, partition: str) -> "CleaningJob | None":
    return cleaning_jobs().get((snapshot.key, partition))


def get_or_start(snapshot: BrokerSnapshot, log: DecidedLog) -> CleaningJob:
    """Returns the job that cleans a log. Starts it if needed, even if Kafka would not clean now."""
    key = snapshot.key, log.partition
    return cleaning_jobs().get_or_start(key, partial(_start, snapshot, log))


def superseded_bytes(snapshot: BrokerSnapshot) -> dict[tuple[str, str], int]:
    """Returns the bytes of superseded records in each log whose cleaning has finished.

    Contains only logs that Kafka's cleaner would clean now. The keys are (log directory,
    partition's directory name).
    """
    decided = decision_jobs().get(snapshot.key)
    if not decided or not decided.result:
        return {}
    prefixes = snapshot.broker.name_prefixes
    sizes = {}
    for log in decided.result.logs:
        job = get(snapshot, log.partition)
        cleaning = job.result.cleaning if job and job.result else None
        if cleaning and log.decision.is_eligible:
            directory = log.log_directory or snapshot.broker.main_directory.text
            name = log.partition.removeprefix(prefixes.get(directory, ""))
            sizes[directory, name] = cleaning.superseded_bytes
    return sizes


def restart(snapshot: BrokerSnapshot, log: DecidedLog) -> None:
    """Starts a cleaning, or repeats one that has ended. Used as a button's on_click."""
    cleaning_jobs().restart((snapshot.key, log.partition), partial(_start, snapshot, log))


def story(snapshot: BrokerSnapshot, log: DecidedLog, key: bytes) -> StoryJob:
    """Returns the job that finds the records of a key. The job fails if the log is unreadable."""
    size_bytes = sum(segment.size_bytes for segment in log.state.facts.segments)
    now_ms = decisions(snapshot).plan.now_ms
    return story_jobs().get_or_start(
        (snapshot.key, log.partition, key),
        lambda: Job(
            partial(_find_key_records, now_ms, log, key), ReadProgress(0, size_bytes, log.partition)
        ),
    )


def _find_key_records(
    now_ms: int, log: DecidedLog, key: bytes, report: Callable[[ReadProgress], None]
) -> KeyStory:
    """Finds the records of a key. Raises KafkavizError if the log cannot be read to its end.

    If the job is cancelled, the next call of `report` raises an exception.
    """
    on_read = _byte_counter(report, sum(segment.size_bytes for segment in log.state.facts.segments))
    try:
        return key_story(log, key, now_ms, on_read)
    except CleaningFailed as failure:
        error = str(failure.exception)
        text = message("key_story.unreadable", partition=log.partition, error=error)
        raise KafkavizError(text) from None


def _byte_counter(
    report: Callable[[ReadProgress], None], total_bytes: int
) -> Callable[[int], None]:
    done_bytes = 0

    def on_read(size_bytes: int) -> None:
        nonlocal done_bytes
        # if the cleaner's offset map gets full, it needs further passes, and more bytes are read
        done_bytes = min(done_bytes + size_bytes, total_bytes)
        report(ReadProgress(done_bytes, total_bytes))

    return on_read


def _start(snapshot: BrokerSnapshot, log: DecidedLog) -> CleaningJob:
    work = partial(_clean, decisions(snapshot), log)
    return Job(work, ReadProgress(0, bytes_to_read(log), log.partition))


def _clean(
    decided: CleanerDecisions, log: DecidedLog, report: Callable[[ReadProgress], None]
) -> CleanedLog:
    cleaning = None
    error = None
    try:
        cleaning = clean_log(
            decided.plan, log, decided.map, on_read=_byte_counter(report, bytes_to_read(log))
        )
    except CleaningFailed as failure:
        error = str(failure.exception)
    records = log_records(log, cleaning, decided.plan.now_ms)
    return CleanedLog(cleaning=cleaning, error=error, records=records)
