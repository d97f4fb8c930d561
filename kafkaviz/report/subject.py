"""Computes everything that a report shows, before any HTML is written."""

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import cast

import numpy as np

from kafkaviz import units
from kafkaviz.analysis import broker_health, overview
from kafkaviz.analysis.broker_health import Health
from kafkaviz.analysis.checks.plan import is_lone
from kafkaviz.analysis.cost import calibration, cost_model
from kafkaviz.analysis.cost.cost_model import LookupCosts
from kafkaviz.analysis.inferred_release import InferredRelease, assume_release, infer_release
from kafkaviz.analysis.overview import UNKNOWN, BrokerOverview
from kafkaviz.analysis.segment.anatomy import read_tail
from kafkaviz.analysis.tuning.interval_cost import Budgets, IntervalCost, compute_costs
from kafkaviz.analysis.tuning.recommendation import Recommendation, recommend_all
from kafkaviz.analysis.tuning.source import open_broker_source, open_source
from kafkaviz.analysis.tuning.tuning_case import TuningCase, TuningSource
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import is_control
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.walk import observe_scan
from kafkaviz.log import byte_ranges, file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, Problem
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.log.settings import open_settings
from kafkaviz.messages import Message, message, say
from kafkaviz.pipeline.read.rows import codec_names
from kafkaviz.pipeline.read.segment_scan import BatchStatistics, BatchStatisticsBuilder

ProgressListener = Callable[[Message], None]  # called with progress messages
PIECE_BYTES = 4 << 20  # bytes of a file that are read at once
TOPICS = 200
RECORDS = 3
STRETCH_BYTES = 1 << 20  # headers are read from this many bytes of a .log at once
CHARACTERS = 160  # most characters per key, value or header
HEX_BYTES = 32  # most bytes in hexadecimal digits
HEADERS = 6  # most headers per record


@dataclass(frozen=True)
class Digest:
    """The checksum of a file or an opened archive, to check later whether it is still the same."""

    name: str  # a path relative to the directory
    size_bytes: int
    sha256: str | None
    fault: str | Message = ""  # says why `sha256` is None
    is_archive: bool = False


@dataclass(frozen=True)
class Sample:
    """The last records of one topic-partition, as text."""

    partition: str
    rows: tuple[tuple[str, str, str, str, str], ...] = ()  # offset, time, key, value, headers
    fault: str | Message = ""  # says why the records could not be read, or ""


@dataclass(frozen=True, kw_only=True)
class ReportTuning:
    """The recommendations for everything that was opened."""

    source: TuningSource
    answers: Mapping[str, Recommendation | None]  # by topic; None for a topic without a batch
    overall: Recommendation  # the recommendation for all topics together
    intervals: tuple[IntervalCost, ...]  # each possible interval with its costs
    budgets: Budgets
    costs: LookupCosts

    @property
    def case(self) -> TuningCase:
        return self.source.total


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The content of a report."""

    overview: BrokerOverview
    looks: InferredRelease  # the releases that may have written the directory
    # texts about the bytes after a segment's last complete batch, by (topic-partition directory,
    # base offset)
    tails: Mapping[tuple[str, int], Message]
    health: Health
    tuning: ReportTuning | None  # None if nothing can be tuned; then `untuned_reason` says why
    untuned_reason: str | Message = ""
    samples: tuple[Sample, ...] | None = None  # None if records were not requested
    digests: tuple[Digest, ...] | None = None  # None if checksums were not requested

    @property
    def broker(self) -> Broker:
        return self.overview.broker


def gather(
    broker: Broker,
    version: str | None = None,
    overrides: Mapping[str, str] | None = None,
    known_health: Health | None = None,
    *,
    with_payload: bool = False,
    with_sha256: bool = False,
    on_progress: ProgressListener = lambda _what: None,
) -> Subject:
    """Reads the content of a report. An unreadable segment becomes a problem in the report.

    Args:
        version: the Kafka release to assume, as in `kafkaviz check`.
        overrides: settings to use instead of those found, as in `kafkaviz check`.
        known_health: the result of an earlier check with this release. None: the directory is
            checked.

    Raises:
        RefusedSetting: a setting has a value that Kafka refuses.
        CannotOpen: the directory cannot be read.
    """
    settings = None
    if overrides:
        settings = open_settings(broker, assume_release(broker, version).release, overrides)
    health = known_health or broker_health.check(
        broker,
        version,
        settings=settings,
        on_partition=lambda partition: on_progress(
            message("report_progress.checking", name=partition.directory)
        ),
    )
    inventory, tails = _count_segments(broker, on_progress)
    report_tuning, why = _tune(broker, health.assumed_release.version, overrides or {}, on_progress)
    return Subject(
        overview=inventory,
        looks=infer_release(broker),
        tails=tails,
        health=health,
        tuning=report_tuning,
        untuned_reason=why,
        samples=tuple(read_samples(broker, on_progress)) if with_payload else None,
        digests=tuple(read_digests(broker, on_progress)) if with_sha256 else None,
    )


def _count_segments(
    broker: Broker, on_progress: ProgressListener
) -> tuple[BrokerOverview, dict[tuple[str, int], Message]]:
    """Reads all batch headers and indexes. Returns (inventory with counts, `Subject.tails`)."""
    inventory = overview.inventory(broker)
    problems = list(broker.problems)
    tails = {}
    rows = inventory.segments.copy()
    codecs = {}
    entry_places = [np.empty(0, np.int32)]
    entry_positions = [np.empty(0, np.int64)]
    for place, partition in enumerate(broker.partitions):
        on_progress(message("report_progress.counting", name=partition.directory))
        name = broker.partition_name(partition)
        position_before = 0
        used_codecs = 0
        own_rows = rows[inventory.starts[place] : inventory.starts[place + 1]]
        for row, segment in zip(own_rows, partition.segments, strict=True):
            try:
                positions, segment_content, tail_text = _count_segment(segment, row)
            except KafkavizError as fault:
                row["left_out"] = True
                problems.append(Problem.from_fault(segment.files[0].path, fault))
            else:
                inside = positions[(positions >= 0) & (positions < row["log_bytes"])]
                entry_positions.append(inside + position_before)
                entry_places.append(np.full(len(inside), place, np.int32))
                used_codecs |= segment_content.codecs
                if tail_text:
                    tails[name, segment.base_offset] = tail_text
            position_before += int(row["log_bytes"])
        codecs[name] = codec_names(used_codecs)
    counted = replace(
        inventory,
        segments=rows,
        entries=overview.EntryPositions(
            np.concatenate(entry_places), np.concatenate(entry_positions)
        ),
        codecs=codecs,
        problems=tuple({problem.path: problem for problem in problems}.values()),
    )
    return counted, tails


def _count_segment(
    segment: Segment, row: np.void
) -> tuple[np.ndarray, BatchStatistics, Message | None]:
    """Writes the counts of a segment into `row`, its row of the inventory.

    Returns (positions in the offset index, statistics, text about bytes after the last batch).
    """
    segment_copy = replace(segment)  # a copy, because a segment caches the indexes it has read
    positions = segment_copy.offset_index["position"]
    scan = segment_copy.scan() if segment_copy.log else None
    builder = BatchStatisticsBuilder()
    observe_scan(scan or (), builder)
    segment_content = builder.result()
    valid_bytes = scan.end.position if scan else 0
    values = {
        "batches": segment_content.batches,
        "records": segment_content.records,
        "valid_bytes": valid_bytes,
        "torn_bytes": int(row["log_bytes"]) - valid_bytes,
        "last_offset": segment_content.last_offset,
        "max_timestamp_ms": segment_content.max_timestamp_ms,
        "offset_entries": len(positions),
        "time_entries": len(segment_copy.time_index),
    }
    for name, value in values.items():
        row[name] = UNKNOWN if value is None else value
    tail = None
    if segment_copy.log and segment.is_in_use:
        tail = read_tail(segment_copy.log, valid_bytes, segment_content.last_offset)
    return positions, segment_content, tail.summary if tail else None


def _tune(
    broker: Broker, version: str, overrides: Mapping[str, str], on_progress: ProgressListener
) -> tuple[ReportTuning | None, str | Message]:
    """Returns (tuning, ""), or None and the reason why nothing can be tuned."""

    def show_name(name: str, _share: float) -> None:
        on_progress(message("report_progress.tuning", name=name))

    try:
        if len(broker.log_directories) > 1:
            source = open_broker_source(
                broker, None, version, overrides=overrides, on_progress=show_name
            )
        else:
            source = open_source(broker.source, version, overrides, on_progress=show_name)
        costs = cost_model.lookup_costs(
            by_base_offset=source.by_base_offset,
            storage=None,
            calibration=calibration.load_calibration(),
        )
    except KafkavizError as fault:
        return None, fault.message
    budgets = Budgets()
    answers, overall = recommend_all(source.cases, source.total, budgets, costs)
    if overall is None:
        return None, message("report.no_batch")
    report_tuning = ReportTuning(
        source=source,
        answers=answers,
        overall=overall,
        intervals=compute_costs(source.total.measurement, costs),
        budgets=budgets,
        costs=costs,
    )
    return report_tuning, ""


def read_digests(
    broker: Broker, on_progress: ProgressListener = lambda _what: None
) -> Iterator[Digest]:
    """Yields the checksums of the opened archives, then of the files, sorted by name."""
    for source in filter(archive.is_archive, broker.sources):
        on_progress(message("report_progress.sha256", name=source.name))
        yield replace(_digest(source, source.name), is_archive=True)
    if is_lone(broker):
        yield from _file_digests(broker.partitions[0].path, broker.path, on_progress)
        return
    for directory in broker.log_directories:
        has_others = len(broker.log_directories) > 1
        base = directory.path.parent if has_others else directory.path
        yield from _file_digests(directory.path, base, on_progress)


def _file_digests(root: Path, base: Path, on_progress: ProgressListener) -> Iterator[Digest]:
    for folder, subfolders, names in os.walk(root):
        subfolders.sort()
        on_progress(message("report_progress.sha256", name=Path(folder).name))
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield _digest(path, str(path.relative_to(base)))


def _digest(path: Path, name: str) -> Digest:
    digest = hashlib.sha256()
    buffer = np.empty(PIECE_BYTES, np.uint8)
    done_bytes = 0
    try:
        with file.reader(path) as read:
            while length := read(done_bytes, buffer):
                digest.update(buffer[:length].data)
                done_bytes += length
    except KafkavizError as fault:
        return Digest(name, done_bytes, None, getattr(fault, "what", fault.message))
    return Digest(name, done_bytes, digest.hexdigest())


def read_samples(broker: Broker, on_progress: ProgressListener) -> Iterator[Sample]:
    """Yields the last records of each topic's largest partition, sorted by topic.

    Leaves out internal topics (`__` prefix) and empty topics. Stops after `TOPICS` topics.
    """
    largest: dict[str, Partition] = {}
    # of equally large partitions, the last one stays
    for partition in sorted(broker.partitions, key=attrgetter("live_log_bytes")):
        if partition.state == "current" and not partition.topic.startswith("__"):
            largest[partition.topic] = partition
    for topic in sorted(largest)[:TOPICS]:
        on_progress(message("report_progress.records", name=largest[topic].directory))
        sample = _read_sample(largest[topic])
        if sample.rows or sample.fault:
            yield sample


def _read_sample(partition: Partition) -> Sample:
    try:
        for segment in reversed(partition.live):
            for position in _from_the_end(segment):
                if last_records := deque(segment.iterate(position), RECORDS):
                    return Sample(partition.directory, tuple(map(_sample_row, last_records)))
    except KafkavizError as fault:
        return Sample(partition.directory, fault=getattr(fault, "what", fault.message))
    return Sample(partition.directory)


def _from_the_end(segment: LogSegment) -> Iterator[int]:
    """Yields the positions of all batches except control batches, the last batch first."""
    log = byte_ranges.LogFile(segment.log)
    stop = segment.log.size_bytes
    while stop:
        start = log.batch_start_before(max(0, stop - STRETCH_BYTES))
        positions_by_chunk = [
            batches["position"][~is_control(batches)] for batches in segment.scan(start, stop)
        ]
        for positions in reversed(positions_by_chunk):
            yield from positions[::-1].tolist()
        stop = start


def _sample_row(record: BatchRecord) -> tuple[str, str, str, str, str]:
    headers = [f"{_text(name)}: {_text(value)}" for name, value in record.headers[:HEADERS]]
    if len(record.headers) > HEADERS:
        headers.append(say("common.n_more", n=len(record.headers) - HEADERS))
    return (
        units.format_count(record.offset),
        units.moment(record.timestamp_ms),
        _text(record.key),
        _text(record.value),
        ", ".join(headers),
    )


def _text(data: bytes | str | None) -> str:
    """Returns the first `CHARACTERS` characters of UTF-8 data, else hexadecimal digits."""
    if data is None:
        return "null"
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError:
        more = "…" if len(data) > HEX_BYTES else ""
        return f"{cast(bytes, data)[:HEX_BYTES].hex(' ')}{more} ({units.format_bytes(len(data))})"
    return text if len(text) <= CHARACTERS else f"{text[:CHARACTERS]}…"
