"""Reads the .log of a segment once, for all checks.

A broker cannot read past a batch with a wrong length. This scan continues at the next valid batch
(log.scans), so that one fault does not hide others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kafkaviz.analysis.segment import links
from kafkaviz.analysis.segment.anatomy import Tail, read_tail
from kafkaviz.binary.layouts import field_names
from kafkaviz.format.batch import HEADER, HEADER_BYTES, LENGTH_END
from kafkaviz.format.deep_scan import CHECKED_BATCH, BatchFault, CheckLevel
from kafkaviz.format.names import MAX_OFFSET
from kafkaviz.format.walk import BatchObserver
from kafkaviz.log import file
from kafkaviz.log.batch_starts import open_batch_starts
from kafkaviz.log.scans import BatchWalk, CheckedScan, Hole
from kafkaviz.log.segment import LogSegment

ROWS_AT_ONCE = 16_384
MAX_FAULTS = 1000  # at most this many faults are kept with their texts
MAX_UNSOUND = 10_000
MAX_MISPLACED = 1000
# A CHECKED_BATCH whose base_offset is also filled in for compressed wrappers of magic 0 and 1.
# `is_sound` means that the header can be trusted: the checksum is valid, and the offsets fit
# between those of the neighbouring batches.
VALIDATED_BATCH: np.dtype = np.dtype([*CHECKED_BATCH.descr, ("is_sound", "?")])


@dataclass(frozen=True)
class UnreadRange:
    """Bytes that cannot be read as batches."""

    start: int  # the position of the first of these bytes
    stop: int  # the position of the next valid batch
    stored_length: int | None  # the length field at `start`; None: the file ends inside a header
    # the length that would lead to `stop`; None: `start` has no batch header
    expected_length: int | None


@dataclass(frozen=True)
class MisplacedBatch:
    """A batch whose offsets do not fit between the offsets of its neighbours."""

    row: np.void
    previous_offset: int  # the last offset of the trusted batch before this batch


@dataclass(kw_only=True)
class ScanState:
    """The faults and counts from scanning a .log for its checks."""

    unread_ranges: list[UnreadRange] = field(default_factory=list)
    misplaced_batches: list[MisplacedBatch] = field(default_factory=list)
    # the first MAX_FAULTS faults in records, by the position of the batch
    faults: dict[int, BatchFault] = field(default_factory=dict)
    # (first, last) ranges of offsets whose batches cannot be trusted
    unsound_offsets: list[tuple[int, int]] = field(default_factory=list)
    end_bytes: int = 0  # the position at which the last batch ends
    tail: Tail | None = None

    def is_unsound(self, offsets: np.ndarray) -> np.ndarray:
        if not self.unsound_offsets or not len(offsets):
            return np.zeros(len(offsets), bool)
        first_offsets, last_offsets = np.array(sorted(self.unsound_offsets)).T
        indices = np.searchsorted(first_offsets, offsets, "right") - 1
        return (indices >= 0) & (offsets <= np.maximum.accumulate(last_offsets)[indices])

    def add_unsound(self, first: int, last: int) -> None:
        """Adds a range of offsets whose batches cannot be trusted.

        If there are MAX_UNSOUND ranges already, extends the last range to MAX_OFFSET instead.
        """
        if len(self.unsound_offsets) < MAX_UNSOUND:
            self.unsound_offsets.append((first, last))
        else:
            self.unsound_offsets[-1] = min(first, self.unsound_offsets[-1][0]), MAX_OFFSET


class ValidatedScan:
    """Reads the batches of a .log as arrays of VALIDATED_BATCH.

    Iterate once, then read `state`. The iteration raises CannotOpen if the file cannot be read.

    Args:
        observer: receives every batch as CHECKED_BATCH, even if the batch cannot be trusted.
        decoded_walk: batches from byte 0 on that were checked before and have no fault.
        level: how much of each batch is checked.
    """

    def __init__(
        self,
        segment: LogSegment,
        observer: BatchObserver[Any] | None = None,
        decoded_walk: BatchWalk | None = None,
        level: CheckLevel = CheckLevel.RECORDS,
    ) -> None:
        self._segment = segment
        self.state = ScanState()
        self._observer = observer
        self._decoded_walk = decoded_walk
        self._level = level
        self._validator = _BatchValidator(segment.base_offset, self.state)

    def __iter__(self) -> Iterator[np.ndarray]:
        log = self._segment.log
        with open_batch_starts(self._segment) as batch_starts:
            scan = CheckedScan(
                batch_starts,
                log.size_bytes,
                self._segment.base_offset,
                self._keep_faults,
                decoded_walk=self._decoded_walk,
                level=self._level,
            )
            for part in scan:
                if isinstance(part, Hole):
                    self._record_unread(part.start, part.stop)
                else:
                    if self._observer is not None:
                        self._observer.observe(part)
                    yield from self._validator.add(part)
        self._read_tail(scan.end.position)
        yield from self._validator.flush_rest()
        if self.state.tail is not None or self._validator.is_broken:
            self.state.add_unsound(self._validator.last_offset + 1, MAX_OFFSET)

    def _record_unread(self, start: int, stop: int) -> None:
        data = file.read(self._segment.log.path, start, HEADER_BYTES)
        header = np.frombuffer(data, HEADER)[0] if len(data) == HEADER_BYTES else None
        stored_length = None
        expected_length = None
        if header is not None:
            stored_length = int(header["batch_length_bytes"])
            is_ascending = header["base_offset"] >= self._validator.last_offset
            if header["magic"] in (0, 1, 2) and is_ascending:
                expected_length = stop - start - LENGTH_END
        self.state.unread_ranges.append(UnreadRange(start, stop, stored_length, expected_length))
        self._validator.is_broken = True

    def _keep_faults(self, faults: Sequence[BatchFault]) -> None:
        room = MAX_FAULTS - len(self.state.faults)
        self.state.faults.update((fault.batch_position, fault) for fault in faults[:room])

    def _read_tail(self, position: int) -> None:
        log = self._segment.log
        last = self._validator.last_offset
        self.state.end_bytes = position
        # if the file has grown, a broker is writing it and these bytes are new
        if position < log.size_bytes and file.info(log.path).size_bytes == log.size_bytes:
            known_last = last if last >= self._segment.base_offset else None
            self.state.tail = read_tail(log, position, known_last)


class _BatchValidator:
    """Decides which batches can be trusted.

    A batch can be trusted if its checksum is valid and its offsets fit between those of up to two
    neighbours on each side.
    """

    def __init__(self, base_offset: int, state: ScanState) -> None:
        self._base_offset = base_offset
        self._state = state
        self.last_offset = base_offset - 1  # of the last added batch with a valid checksum
        self._sound_offset = base_offset - 1  # last offset of the last trusted batch yielded
        self.is_broken = False  # whether bytes were skipped since the last added batch
        self._is_unsound = False  # whether the last batch that was yielded cannot be trusted
        self._previous_rows = np.empty(0, VALIDATED_BATCH)
        self._rows = []
        self._count = 0

    def add(self, checked_rows: np.ndarray) -> Iterator[np.ndarray]:
        """Adds batches. Yields a batch once its neighbours have been added."""
        if not len(checked_rows):
            return
        rows = np.empty(len(checked_rows), VALIDATED_BATCH)
        rows[list(field_names(CHECKED_BATCH))] = checked_rows
        rows["base_offset"] = links.first_offsets(rows, self.last_offset + 1)
        valid_rows = np.flatnonzero(rows["crc_valid"])
        if len(valid_rows):
            self.last_offset = int(rows["last_offset"][valid_rows[-1]])
        if self.is_broken:
            yield from self._flush(0)
            self._is_unsound = True
            self.is_broken = False
        self._rows.append(rows)
        self._count += len(rows)
        if self._count >= ROWS_AT_ONCE:
            yield from self._flush(2)

    def flush_rest(self) -> Iterator[np.ndarray]:
        yield from self._flush(0)
        if self._is_unsound:
            self._state.add_unsound(self._sound_offset + 1, MAX_OFFSET)

    def _flush(self, keep: int) -> Iterator[np.ndarray]:
        if not self._count:
            return
        rows = np.concatenate((self._previous_rows, *self._rows))
        rows["is_sound"] = rows["crc_valid"]
        rows["is_sound"][self._misplaced_rows(rows)] = False
        first = len(self._previous_rows)
        last = len(rows) - keep
        self._note(rows[first:last])
        self._previous_rows = rows[max(0, last - 2) : last]
        self._rows = [rows[last:]]
        self._count = len(rows) - last
        yield rows[first:last]

    def _misplaced_rows(self, rows: np.ndarray) -> np.ndarray:
        valid_rows = np.flatnonzero(rows["crc_valid"])
        base = rows["base_offset"][valid_rows]
        last = rows["last_offset"][valid_rows]
        # no offset of the segment's first batches may be below the segment's base offset
        is_first = not len(self._previous_rows)
        lower_bound = self._base_offset - 1 if is_first else -(2**63)
        previous_last = np.concatenate(([lower_bound], last[:-1])) if len(last) else last
        misplaced = set(np.flatnonzero(last < base).tolist())
        for index in np.flatnonzero(base <= previous_last).tolist():
            misplaced.add(self._misplaced_of_two(base, last, index, lower_bound))
        return valid_rows[sorted(misplaced)] if misplaced else np.empty(0, int)

    @staticmethod
    def _misplaced_of_two(base: np.ndarray, last: np.ndarray, index: int, lower_bound: int) -> int:
        """Returns which of two batches is misplaced, either `index - 1` or `index`.

        Batch `index` begins at or below the last offset of batch `index - 1`. If only one of the
        two follows or precedes its other neighbour without a gap, the other batch is misplaced.
        """
        if index == 0:
            return 0
        previous_last = int(last[index - 2]) if index > 1 else lower_bound
        goes_in = int(base[index - 1]) == previous_last + 1 or (
            index == 1 and lower_bound < -1 and int(base[0]) > previous_last
        )
        goes_out = index + 1 < len(base) and int(base[index + 1]) == int(last[index]) + 1
        if goes_in != goes_out:
            return index if goes_in else index - 1
        # whether offsets would ascend if the first of the two batches were left out
        without_first = int(base[index]) > previous_last
        if without_first and index + 1 < len(base) and int(base[index + 1]) <= int(last[index - 1]):
            return index - 1
        return index

    def _note(self, rows: np.ndarray) -> None:
        is_sound = rows["is_sound"]
        room = MAX_MISPLACED - len(self._state.misplaced_batches)
        for index in np.flatnonzero(rows["crc_valid"] & ~is_sound)[:room].tolist():
            earlier_rows = np.flatnonzero(is_sound[:index])
            previous_offset = self._sound_offset
            if len(earlier_rows):
                previous_offset = int(rows["last_offset"][earlier_rows[-1]])
            misplaced = MisplacedBatch(rows[index].copy(), previous_offset)
            self._state.misplaced_batches.append(misplaced)
        sound_rows = np.flatnonzero(is_sound)
        if len(sound_rows):
            last_offsets = np.concatenate(([self._sound_offset], rows["last_offset"][sound_rows]))
            is_jump = np.diff(sound_rows, prepend=-1) > 1
            is_jump[0] |= self._is_unsound
            base_offsets = rows["base_offset"][sound_rows]
            for index in np.flatnonzero(is_jump).tolist():
                self._state.add_unsound(int(last_offsets[index]) + 1, int(base_offsets[index]) - 1)
            self._sound_offset = int(last_offsets[-1])
        self._is_unsound = not is_sound[-1] if len(is_sound) else self._is_unsound
