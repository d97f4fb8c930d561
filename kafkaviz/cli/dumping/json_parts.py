"""Builds JSON objects, columns with null, and lines about problems, for all kinds of files.

The problems come from the code of `kafkaviz check`, so dump and check report the same faults.
"""

import json
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from kafkaviz.analysis.checks import aborted_transactions, other_files
from kafkaviz.analysis.checks import segment as segment_checks
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.log_scan import ScanState, UnreadRange, ValidatedScan
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.checks.segment import SegmentFindings
from kafkaviz.analysis.findings import Finding
from kafkaviz.cli.dumping import java
from kafkaviz.cli.dumping.lines import OptionalNumber, Part, Word
from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.format.names import PartitionName
from kafkaviz.format.walk import observe_scan
from kafkaviz.log import file
from kafkaviz.log.broker import is_partition, open_broker
from kafkaviz.log.partition import SEGMENT_FILES, Partition, open_partition
from kafkaviz.log.segment import LogSegment, Segment, segment_of_files
from kafkaviz.units import replace_surrogates, ungroup

# codes that are not printed as problems; unwritten slots have lines of another kind
NO_PROBLEMS = ("timeindex-empty", "index-unwritten-slots")
# a column for `lines.render`, or a list of parts
Columns = dict[str, np.ndarray | Word | list[Part]]


def line(kind: str, **fields) -> bytes:
    return json.dumps({"kind": kind} | fields, separators=(",", ":")).encode() + b"\n"


def problem(code: str, position: int | None, size_bytes: int | None, message: str) -> bytes:
    text = replace_surrogates(message)
    return line("problem", code=code, position=position, size_bytes=size_bytes, message=text)


def unwritten_line(position: int, size_bytes: int) -> bytes:
    """Returns the line about preallocated bytes that were never written."""
    return line("unwritten", position=position, size_bytes=size_bytes)


def nullable(numbers: np.ndarray, is_present: np.ndarray) -> list[Part]:
    """Returns a column of numbers that is null where `is_present` is False."""
    return [Word(is_present, ("null", "")), OptionalNumber(numbers, is_present)]


def flag_or_null(flags: np.ndarray, is_present: np.ndarray) -> Word:
    return Word(np.where(is_present, flags.astype("i8"), 2), ("false", "true", "null"))


def objects(kind: str, columns: Columns) -> list[Part]:
    """Returns the parts from which `lines.render` makes a JSON object per row."""
    parts: list[Part] = [f'{{"kind":"{kind}"']
    for name, column in columns.items():
        parts.append(f',"{name}":')
        parts += column if isinstance(column, list) else [column]
    return [*parts, "}\n"]


class FileChecker:
    """Checks files as `kafkaviz check` does, one file after another.

    Keeps the last results, because a segment's .timeindex usually follows its .index.
    """

    def __init__(self) -> None:
        self.reading = lru_cache(maxsize=1)(_read_log)
        self._open_around = lru_cache(maxsize=1)(_open_around)
        self._segment_result: tuple[Segment, SegmentFindings] | None = None

    def unread_range_at(self, path: str, positions: np.ndarray) -> UnreadRange | None:
        """Returns the first unreadable range of a .log that starts at one of `positions`."""
        position_set = set(positions.tolist())
        unread_ranges = self.reading(path).unread_ranges
        return next((part for part in unread_ranges if part.start in position_set), None)

    def problems(self, path: str, base_offset: int) -> Iterator[bytes]:
        """Yields a line per finding about an .index or .timeindex.

        If the segment's .log cannot be read, also yields the findings about the .log.
        """
        file_path = Path(java.absolute(path))
        partition, facts = self._open_around(file_path.parent)
        segment = _segment(partition, file_path, base_offset)
        if self._segment_result is None or self._segment_result[0] != segment:
            self._segment_result = segment, segment_checks.check(segment, facts)
        result = self._segment_result[1]
        file_names = {file_path.name}
        if segment.log and result.summary is not None and result.summary.read_fault:
            file_names.add(segment.log.name)
        yield from _lines(
            finding
            for finding in result.findings
            if (finding.file or "").rpartition("/")[2] in file_names
        )

    def snapshot_problems(self, path: str) -> Iterator[bytes]:
        """Yields a line per fault that prevents Kafka from reading a .snapshot."""
        file_path = Path(java.absolute(path))
        _, facts = self._open_around(file_path.parent)
        return _lines(other_files.check_snapshot(file.info(file_path), facts))

    def txn_index_problems(self, path: str) -> Iterator[bytes]:
        """Yields a line per finding about a .txnindex. Does not read the .log."""
        file_path = Path(java.absolute(path))
        partition, facts = self._open_around(file_path.parent)
        parsed = names.parse_file(file_path.name)
        segment = _segment(partition, file_path, parsed.base_offset if parsed else 0)
        return _lines(aborted_transactions.check_file(segment, facts))


def _read_log(path: str) -> ScanState:
    """Returns what `kafkaviz check` finds while it reads a .log or .checkpoint once."""
    log_path = Path(java.absolute(path))
    index_path = log_path.with_suffix(".index")
    parsed = names.parse_file(log_path.name)
    segment = LogSegment(
        base_offset=parsed.base_offset if parsed and parsed.kind == "log" else 0,
        state="closed",
        log=file.info(log_path),
        index=_info(index_path) if index_path.exists() else None,
    )
    scan = ValidatedScan(segment)
    observe_scan(scan)
    return scan.state


def _lines(findings: Iterable[Finding]) -> Iterator[bytes]:
    problems = [finding for finding in findings if finding.code not in NO_PROBLEMS]
    problems.sort(key=lambda finding: -1 if finding.position is None else finding.position)
    for finding in problems:
        text = ungroup(str(finding.message))
        yield problem(finding.code, finding.position, finding.length, text)


def _open_around(directory: Path) -> tuple[Partition, PartitionFacts]:
    if is_partition(directory):
        broker = open_broker(directory)
        if broker.partitions:  # empty if the directory is deleted just now
            return broker.partitions[0], plan_check(broker).facts(broker.partitions[0])
    partition = open_partition(directory, PartitionName(directory.name, 0))
    return partition, PartitionFacts(partition=directory.name, clean=None)


def _segment(partition: Partition, path: Path, base_offset: int) -> Segment:
    """Returns the segment that a file belongs to.

    For a name that Kafka does not write, the segment consists of the files with the same stem.
    """
    for segment in partition.segments:
        if segment.is_in_use and path.name in (info.name for info in segment.files):
            return segment
    stem = path.name.partition(".")[0]
    infos = {}
    for kind in SEGMENT_FILES:
        other = path.parent / f"{stem}.{kind}"
        if os.path.exists(other) and (info := _info(other)):
            infos[kind] = info
    return segment_of_files(base_offset, "closed", infos)


def _info(path: Path) -> file.FileInfo | None:
    try:
        return file.info(path)
    except CannotOpen:
        return None
