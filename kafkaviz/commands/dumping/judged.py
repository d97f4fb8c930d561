"""What is wrong with a small file, and where a .log breaks off: as `kafkaviz check` has it, so that
both say the same of the same bytes.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

import numpy as np

from kafkaviz.analyse.checks import segment as segment_checks
from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.other_files import aborted, snapshots
from kafkaviz.analyse.checks.reading import Break, Pass, Reading
from kafkaviz.analyse.checks.segment import Checked
from kafkaviz.analyse.finding import Finding
from kafkaviz.analyse.health import plan
from kafkaviz.commands.dumping import java
from kafkaviz.commands.dumping.json_words import problem
from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.format.names import PartitionName
from kafkaviz.log import file
from kafkaviz.log.broker import is_partition, open_broker
from kafkaviz.log.partition import SEGMENT_FILES, Partition, open_partition
from kafkaviz.log.segment import Segment
from kafkaviz.units import ungrouped

# of the second a line of its own kind tells
NO_PROBLEMS = ("timeindex-empty", "index-unwritten-slots")


class Judge:
    """Checks the segment of one file after another; what it was told of the last segment is kept
    for its other index.
    """

    def __init__(self) -> None:
        self._directory: Path | None = None
        self._around: tuple[Partition, Facts] | None = None
        self._checked: tuple[Segment, Checked] | None = None
        self._read: tuple[str, Reading] | None = None

    def reading(self, path: str) -> Reading:
        """What a pass over a .log or .checkpoint finds; it is made once something is wrong with the
        file.
        """
        if self._read is None or self._read[0] != path:
            found = Path(java.absolute(path))
            beside = found.with_suffix(".index")
            segment = Segment(
                _base_offset(found.name),
                "closed",
                log=file.info(found),
                index=_info(beside) if beside.exists() else None,
            )
            steps = Pass(segment)
            for _ in steps:
                pass
            self._read = path, steps.reading
        return self._read[1]

    def break_at(self, path: str, positions: np.ndarray) -> Break | None:
        """The first break of a .log that is at one of these bytes."""
        wanted = set(positions.tolist())
        return next((one for one in self.reading(path).breaks if one.position in wanted), None)

    def problems(self, path: str, base_offset: int) -> Iterator[bytes]:
        """A line for each finding about an .index or .timeindex; what keeps its .log from being
        read is among them.
        """
        found = Path(java.absolute(path))
        partition, facts = self._of(found.parent)
        segment = _segment(partition, found, base_offset)
        if self._checked is None or self._checked[0] != segment:
            self._checked = segment, segment_checks.check(segment, facts)
        about = {found.name, segment.log.name if segment.log and self._is_unreadable else None}
        yield from _lines(
            one for one in self._checked[1].findings if (one.file or "").rpartition("/")[2] in about
        )

    def of_snapshot(self, path: str) -> Iterator[bytes]:
        """A line for what keeps a .snapshot from being read."""
        found = Path(java.absolute(path))
        return _lines(snapshots.of_file(file.info(found), self._of(found.parent)[1]))

    def of_txn_index(self, path: str) -> Iterator[bytes]:
        """A line for each finding about a .txnindex that needs no .log; whether it tells all that
        was aborted takes the whole partition.
        """
        found = Path(java.absolute(path))
        partition, facts = self._of(found.parent)
        parsed = names.parse_file(found.name)
        return _lines(
            aborted.of_file(_segment(partition, found, parsed.base_offset if parsed else 0), facts)
        )

    @property
    def _is_unreadable(self) -> bool:
        summary = cast("tuple[Segment, Checked]", self._checked)[1].summary
        return summary is not None and bool(summary.unreadable)

    def _of(self, directory: Path) -> tuple[Partition, Facts]:
        if directory != self._directory:
            self._directory, self._around, self._checked = directory, _around(directory), None
        return cast("tuple[Partition, Facts]", self._around)


def _lines(told: Iterable[Finding]) -> Iterator[bytes]:
    """A line each, in the order of their places."""
    for one in sorted(told, key=lambda one: -1 if one.position is None else one.position):
        if one.code not in NO_PROBLEMS:
            yield problem(one.code, one.position, one.length, ungrouped(one.message))


def _base_offset(name: str) -> int:
    """The base offset that the name of a .log says; 0 of any other name."""
    parsed = names.parse_file(name)
    return parsed.base_offset if parsed and parsed.kind == "log" else 0


def _around(directory: Path) -> tuple[Partition, Facts]:
    """The partition directory, and what its broker directory tells of it."""
    if is_partition(directory):
        broker = open_broker(directory)
        if broker.partitions:  # none where it vanishes just now
            return broker.partitions[0], plan(broker).facts(broker.partitions[0])
    return open_partition(directory, PartitionName(directory.name, 0)), Facts(
        directory.name, clean=None
    )


def _segment(partition: Partition, path: Path, base_offset: int) -> Segment:
    """The segment that the file belongs to; one made of the files beside it where its name is not
    as Kafka writes it.
    """
    for one in partition.segments:
        if one.in_use and path.name in (found.name for found in one.files):
            return one
    stem = path.name.partition(".")[0]
    beside = {kind: path.parent / f"{stem}.{kind}" for kind in SEGMENT_FILES}
    return Segment(
        base_offset,
        "closed",
        **{kind: _info(other) for kind, other in beside.items() if os.path.exists(other)},
    )


def _info(path: Path) -> file.FileInfo | None:
    try:
        return file.info(path)
    except CannotOpen:
        return None
