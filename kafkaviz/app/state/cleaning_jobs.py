"""The cleanings of this server: one background job per listing and topic-partition.

The decisions about all compacted logs are a job too. It reads no record, and only the first one of
a server takes longer than a second. A cleaning reads the cleanable part twice and the clean part
once, so only a small one starts by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

import streamlit as st

from kafkaviz.app.cache.broker_cache import MAX_BROKERS, BrokerSnapshot
from kafkaviz.errors import KafkavizError
from kafkaviz.jobs import Job, JobRegistry, ReadProgress
from kafkaviz.messages import message

if TYPE_CHECKING:
    from kafkaviz.analysis.compaction.compaction import CleanerDecisions, DecidedLog, UnreadLog
    from kafkaviz.analysis.compaction.key_story import KeyStory
    from kafkaviz.analysis.compaction.log_records import LogRecord
    from kafkaviz.log.broker import Broker
    from kafkaviz.simulate.cleaner.cleaner import Cleaning

DecisionJob: TypeAlias = "Job[CleanerDecisions, ReadProgress]"
StoryJob: TypeAlias = "Job[KeyStory, ReadProgress]"
CleaningJob: TypeAlias = "Job[CleanedLog, ReadProgress]"
MAX_JOBS = 32  # a result holds at most some megabytes
QUICK_S = 0.8  # a cleaning that takes no longer shows no progress
QUICK_BYTES = 64 << 20  # a cleaning that reads no more starts by itself


@dataclass(frozen=True, kw_only=True)
class CleanedLog:
    """The result of one cleaning.

    Attributes:
        cleaning: None if the cleaner fails.
        error: the exception of Kafka's cleaner, or None.
        records: every record of a small log, otherwise None.
    """

    cleaning: "Cleaning | None"
    error: str | None
    records: "tuple[LogRecord, ...] | None"


@st.cache_resource(show_spinner=False)
def decision_jobs() -> JobRegistry[str, DecisionJob]:
    """Returns the decisions of this server by listing, shared by all tabs."""
    return JobRegistry(MAX_BROKERS, forgets_running=True)


@st.cache_resource(show_spinner=False)
def cleaning_jobs() -> JobRegistry[tuple[str, str], CleaningJob]:
    """Returns the cleanings of this server by listing and topic-partition, shared by all tabs."""
    return JobRegistry(MAX_JOBS, forgets_running=True)


def decide(snapshot: BrokerSnapshot) -> DecisionJob:
    """Returns the decisions about all compacted logs.

    With several log directories `partition` begins with the log directory's name, because two of
    them may hold the same topic-partition. The job fails with CannotOpen if one partition was
    opened and it is not compacted.
    """
    return decision_jobs().get_or_start(
        snapshot.key, lambda: Job(lambda _report: _decide(snapshot.broker), ReadProgress())
    )


def decisions(snapshot: BrokerSnapshot) -> "CleanerDecisions":
    """Waits for the result of `decide`.

    Raises:
        CannotOpen: one partition was opened, and it is not compacted.
        JobCancelled: a visitor cancelled the job.
    """
    return cast("CleanerDecisions", decide(snapshot).wait())


def _decide(broker: "Broker") -> "CleanerDecisions":
    from kafkaviz.analysis.compaction.compaction import decide_logs

    decided = decide_logs(broker)

    def name(log: "DecidedLog | UnreadLog") -> str:
        return f"{broker.name_prefixes.get(log.log_directory or '', '')}{log.partition}"

    return replace(
        decided,
        logs=tuple(replace(log, partition=name(log)) for log in decided.logs),
        unread=tuple(replace(log, partition=name(log)) for log in decided.unread),
    )


@st.cache_resource(show_spinner=False)
def story_jobs() -> JobRegistry[tuple[str, str, bytes], StoryJob]:
    """Returns the stories of keys by listing, topic-partition and key, shared by all tabs."""
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


def superseded_bytes(snapshot: BrokerSnapshot) -> dict[tuple[str, str], int]:
    """Returns Cleaning.superseded_bytes of the logs that the cleaner takes and that were cleaned.

    The keys are the log directory and the name of the partition's directory.
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


def restart(snapshot: BrokerSnapshot, log: "DecidedLog") -> None:
    """Starts a cleaning, also after its end, as a button's on_click."""
    cleaning_jobs().restart((snapshot.key, log.partition), partial(_start, snapshot, log))


def story(snapshot: BrokerSnapshot, log: "DecidedLog", key: bytes) -> StoryJob:
    """Returns the records of a key; the job fails if the log cannot be read to its end."""
    size_bytes = sum(segment.size_bytes for segment in log.state.facts.segments)
    now_ms = decisions(snapshot).plan.now_ms
    return story_jobs().get_or_start(
        (snapshot.key, log.partition, key),
        lambda: Job(
            partial(_tell_story, now_ms, log, key), ReadProgress(0, size_bytes, log.partition)
        ),
    )


def _tell_story(
    now_ms: int,
    log: "DecidedLog",
    key: bytes,
    report: Callable[[ReadProgress], None],
) -> "KeyStory":
    """Finds the records of a key; after a cancel `report` raises before the next part is read.

    Raises:
        KafkavizError: the log cannot be read to its end.
    """
    from kafkaviz.analysis.compaction.key_story import key_story
    from kafkaviz.simulate.cleaner.batch_chunks import CleaningFailed

    on_read = _byte_counter(report, sum(segment.size_bytes for segment in log.state.facts.segments))
    try:
        return key_story(log, key, now_ms, on_read)
    except CleaningFailed as failure:
        text = message(
            "key_story.unreadable", partition=log.partition, error=str(failure.exception)
        )
        raise KafkavizError(text) from None


def _byte_counter(
    report: Callable[[ReadProgress], None], total_bytes: int
) -> Callable[[int], None]:
    """Returns a function that adds bytes to the progress of a job."""
    done_bytes = 0

    def on_read(size_bytes: int) -> None:
        nonlocal done_bytes
        # counting the passes of a map that was full reads more
        done_bytes = min(done_bytes + size_bytes, total_bytes)
        report(ReadProgress(done_bytes, total_bytes))

    return on_read


def _start(snapshot: BrokerSnapshot, log: "DecidedLog") -> CleaningJob:
    work = partial(_clean, decisions(snapshot), log)
    return Job(work, ReadProgress(0, bytes_to_read(log), log.partition))


def _clean(
    decided: "CleanerDecisions", log: "DecidedLog", report: Callable[[ReadProgress], None]
) -> CleanedLog:
    """Cleans a log; after a cancel `report` raises before the next part is read."""
    from kafkaviz.analysis.compaction.compaction import clean_log
    from kafkaviz.analysis.compaction.log_records import log_records
    from kafkaviz.simulate.cleaner.batch_chunks import CleaningFailed

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
