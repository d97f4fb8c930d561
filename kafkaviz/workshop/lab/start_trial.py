"""Starts a simulated broker on a damaged copy of a log, and reads the log with a client.

Broker and client follow kafkaviz's model of Kafka 4.3.1: the log loader at start-up, then fetch and
list-offsets requests. The client's result is compared with the result from the undamaged copy. For
example, `run_trial(copy, fault, place)` may return
`StartTrial(start=StartOutcome.CUT, read=ReadOutcome.FEWER, ...)`.

`check_copy` returns what `kafkaviz check` finds in the copy.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from threading import Lock
from weakref import WeakKeyDictionary

from kafkaviz import versions
from kafkaviz.analysis import broker_health
from kafkaviz.analysis.findings import Finding
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import MAGIC_2
from kafkaviz.format.java import CORRUPT_RECORD
from kafkaviz.format.names import OWN_FILES
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.file import is_there, read
from kafkaviz.messages import Text, verbatim
from kafkaviz.search.fetch import Bounds, find_bounds
from kafkaviz.search.log_view import LogView, view_files
from kafkaviz.search.lookup import by_offset, by_timestamp
from kafkaviz.simulate.config import release_behaviour
from kafkaviz.simulate.startup.log_loader import LogLoader
from kafkaviz.simulate.startup.restart import Restart, join_steps
from kafkaviz.simulate.steps import StartupStep
from kafkaviz.versions import SearchProfile
from kafkaviz.workshop.lab import Client, Damage, Fault, LogCopy

RELEASE = "4.3.1"  # tests compare our loader and searches with Kafka's own classes of this release


class StartOutcome(StrEnum):
    """The most severe thing that broker start-up does to the log."""

    NOTHING = "nothing"  # the start accepts the files without change
    REBUILD = "rebuild"  # the start rebuilds an index from the batches
    EMPTY = "empty"  # the start creates an index without entries
    CUT = "cut"  # the start removes records
    FAIL = "fail"


class ReadOutcome(StrEnum):
    """The client's result, compared with the result from the undamaged copy."""

    SAME = "same"
    FEWER = "fewer"  # fewer records at the end, or no answer, without an error
    OTHER = "other"  # records missing in the middle, or different ones, without an error
    ERROR = "error"
    NOT_SERVED = "not-served"  # the broker does not open the log


@dataclass(frozen=True)
class DeliveredRange:
    """The records that a consumer got from one batch: first and last offset, batch position."""

    first: int
    last: int
    segment: int
    position: int


@dataclass(frozen=True, kw_only=True)
class ClientReading:
    """The result of a client that reads the log."""

    ranges: tuple[DeliveredRange, ...] = ()  # the delivered records in order; empty for TIMESTAMP
    answer: int | None = None  # the offset that was found for a timestamp, or None
    error: Text | None = None
    error_class: str = ""  # the class in Kafka; "" if Kafka has none
    error_offset: int | None = None  # the requested offset when the error came
    start_offset: int = 0  # of the log
    end_offset: int = 0  # of the log

    @property
    def record_count(self) -> int:
        """The number of delivered records, computed from offsets because the logs have no gaps."""
        return sum(part.last - part.first + 1 for part in self.ranges)


@dataclass(frozen=True, kw_only=True)
class StartTrial:
    """Broker start-up on a damaged copy, and what a client reads afterwards."""

    copy: LogCopy  # the undamaged copy
    damage: Damage
    client: Client
    restart: Restart
    start: StartOutcome
    read: ReadOutcome
    reading: ClientReading  # empty if the broker does not open the log
    expected_reading: ClientReading  # the result from the undamaged copy
    timestamp_ms: int | None = None  # what the client looks up; None for other clients

    @property
    def steps(self) -> tuple[StartupStep, ...]:
        """The start-up steps, without "keep" and without those that are normal at any start-up."""
        return tuple(
            step for step in self.restart.steps if not step.is_expected and step.action != "keep"
        )


class InvalidMagic(KafkavizError):
    """A consumer's exception for a batch with an unknown magic."""

    class_name = CORRUPT_RECORD

    def __init__(self, magic: int) -> None:
        super().__init__(verbatim(f"Invalid magic found in record: {magic}"))
        self.magic = magic


def run_trial(copy: LogCopy, fault: Fault, place: int) -> StartTrial:
    """Damages a copy, and simulates a broker start-up on it and a client that reads the log."""
    stopped_copy = copy.after_kill() if fault.has_kill else copy
    damage = fault.damage(stopped_copy, place)
    restart, log_view = start(damage.copy)
    target_offset = damage.target_offset if fault.client is Client.TIMESTAMP else None
    timestamp_ms, expected_reading = _read_undamaged(copy, target_offset)
    if log_view is None:
        reading = ClientReading()
        outcome = ReadOutcome.NOT_SERVED
    else:
        reading = read_log(log_view, timestamp_ms)
        outcome = _read_outcome(reading, expected_reading)
    return StartTrial(
        copy=copy,
        damage=damage,
        client=fault.client,
        restart=restart,
        start=_start_outcome(restart.steps),
        read=outcome,
        reading=reading,
        expected_reading=expected_reading,
        timestamp_ms=timestamp_ms,
    )


def start(copy: LogCopy) -> tuple[Restart, LogView | None]:
    """Starts a broker on a copy. Returns (start-up, log); the log is None if start-up fails."""
    log = copy.log
    behaviour = release_behaviour(versions.parse(RELEASE))
    loader = LogLoader(log, clean=copy.is_clean, behaviour=behaviour)
    restart = join_steps([(log.directory, loader.run())], clean=copy.is_clean)
    if not restart.starts:
        return restart, None
    return restart, view_files(log.directory, loader.files(), log.log_start_offset or None)


def _start_outcome(steps: Sequence[StartupStep]) -> StartOutcome:
    causes = {step.cause for step in steps if step.action == "rebuild" and not step.is_expected}
    actions = {step.action for step in steps}
    if "fail" in actions:
        return StartOutcome.FAIL
    if "truncate" in actions:
        return StartOutcome.CUT
    if causes - {"timeindex-missing"}:
        return StartOutcome.REBUILD
    return StartOutcome.EMPTY if causes else StartOutcome.NOTHING


def read_log(log_view: LogView, timestamp_ms: int | None = None) -> ClientReading:
    """Reads the whole log, or looks up a timestamp.

    To read the log, the consumer fetches each batch on its own (max.partition.fetch.bytes=1). The
    consumer verifies checksums, as by default.
    """
    profile = versions.search_profile(RELEASE)
    ranges: list[DeliveredRange] = []
    reading = ClientReading(start_offset=log_view.log_start_offset)
    try:
        bounds = find_bounds(log_view, profile)
        reading = ClientReading(start_offset=bounds.start_offset, end_offset=bounds.end_offset)
        if timestamp_ms is not None:
            lookup = by_timestamp(log_view, timestamp_ms, profile, bounds=bounds)
            if lookup.error:
                raise lookup.error
            return replace(reading, answer=lookup.answer.offset if lookup.answer else None)
        ranges.extend(_deliver(log_view, profile, bounds))
    except KafkavizError as error:
        return replace(
            reading,
            ranges=tuple(ranges),
            error=error.message,
            error_class=getattr(error, "class_name", "") or "",
            error_offset=ranges[-1].last + 1 if ranges else reading.start_offset,
        )
    return replace(reading, ranges=tuple(ranges))


def _deliver(log_view: LogView, profile: SearchProfile, bounds: Bounds) -> Iterator[DeliveredRange]:
    offset = bounds.start_offset
    while offset < bounds.end_offset:
        lookup = by_offset(log_view, offset, profile, bounds=bounds)
        if lookup.error:
            raise lookup.error
        batch = lookup.fetches[-1].batch
        record = lookup.record
        if batch is None or record is None or batch.last_offset < offset:
            return
        # the broker serves a batch with such a magic; the consumer's ByteBufferLogInputStream
        # refuses it
        if batch.magic > MAGIC_2:
            raise InvalidMagic(batch.magic)
        yield DeliveredRange(
            record.offset, batch.last_offset, record.segment_base_offset, record.batch_position
        )
        offset = batch.last_offset + 1


# by copy, and by the offset of the record whose timestamp is looked up
_undamaged_readings: WeakKeyDictionary[
    LogCopy, dict[int | None, tuple[int | None, ClientReading]]
] = WeakKeyDictionary()
_lock = Lock()


def _read_undamaged(copy: LogCopy, target_offset: int | None) -> tuple[int | None, ClientReading]:
    """Returns (timestamp at `target_offset`, what a client reads in the undamaged copy).

    The timestamp is None if `target_offset` is None. The result is cached while the copy exists.
    """
    with _lock:
        readings = _undamaged_readings.setdefault(copy, {})
    if target_offset not in readings:
        _, log_view = start(copy)
        timestamp_ms = None
        if log_view is None:
            reading = ClientReading()
        else:
            if target_offset is not None:
                profile = versions.search_profile(RELEASE)
                record = by_offset(log_view, target_offset, profile).record
                timestamp_ms = record.timestamp_ms if record else 0
            reading = read_log(log_view, timestamp_ms)
        readings[target_offset] = timestamp_ms, reading
    return readings[target_offset]


def _read_outcome(reading: ClientReading, expected_reading: ClientReading) -> ReadOutcome:
    if reading.error is not None:
        return ReadOutcome.ERROR
    if (reading.ranges, reading.answer) == (expected_reading.ranges, expected_reading.answer):
        return ReadOutcome.SAME
    if reading.ranges == expected_reading.ranges[: len(reading.ranges)] and reading.answer is None:
        return ReadOutcome.FEWER
    return ReadOutcome.OTHER


FORECAST = "recovery-will-"  # prefix of the codes of findings that predict the next broker start


def new_findings(
    findings: Iterable[Finding], undamaged: Iterable[Finding], damage: Damage
) -> tuple[Finding, ...]:
    """Returns the damaged file's findings that the undamaged copy does not have.

    Leaves out findings of severity "info" and predictions of broker start-up.
    """
    stems = {Path(name).stem for name in (damage.file, damage.new_name) if name}
    undamaged_identities = {_identity(finding) for finding in undamaged}
    return tuple(
        finding
        for finding in findings
        if _identity(finding) not in undamaged_identities
        and finding.severity != "info"
        and not finding.code.startswith(FORECAST)
        and Path(finding.file or "").stem in stems
    )


def check_copy(broker: Broker, copy: LogCopy) -> tuple[Finding, ...]:
    """Returns the findings about a copy, checked in a temporary directory.

    Checkpoints and .kafka_cleanshutdown come from `broker`, the original directory, even if the
    copy is one after a kill. Raises CannotOpen if the copy cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="kafkaviz-copy-") as folder:
        root = Path(folder)
        for name in filter(lambda name: is_there(broker.path / name), OWN_FILES):
            (root / name).write_bytes(read(broker.path / name))
        directory = root / copy.log.directory
        directory.mkdir()
        for file in copy.log.files:
            path = directory / file.name
            path.write_bytes(file.content())
            modified_ns = file.modified_ms * 1_000_000
            os.utime(path, ns=(modified_ns, modified_ns))
        return broker_health.check(open_broker(root), partition=copy.log.directory).findings


def _identity(finding: Finding) -> tuple:
    return finding.code, finding.file, finding.message
