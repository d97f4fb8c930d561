"""One pass over a segment's .log, for all checks together: its batches in chunks, and the places
where they break off.

A batch whose length is wrong hides all that follows it from a broker. Here the next batch behind it
is looked for, so that one broken place does not hide its neighbours: it must go on with the
offsets, and its checksum must be right.

    position 0      offsets 0 to 9
    position 500    offsets 10 to 19, length 2 000 000 000: a break; a whole batch that begins with
    offset 20 is found at 1000
    position 1000   offsets 20 to 29
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from kafkaviz.analysis import links, tail
from kafkaviz.analysis.tail import Tail
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch_records
from kafkaviz.format.batch import CRC_START, HEADER, HEADER_BYTES, LENGTH_END, MAGIC_2
from kafkaviz.format.deep_scan import CHECKED_BATCH, BatchFault, DeepScan
from kafkaviz.format.walk import WalkEnd
from kafkaviz.log import file
from kafkaviz.log.segment import LogSegment

ROWS_AT_ONCE = 16_384
LOOKED_THROUGH_BYTES = 16 << 20  # for the next batch behind a break
TRIED = 64  # places where the next batch may be
MOST_BREAKS = 100
MOST_FAULTS = 1000  # kept with Kafka's words
MOST_UNSOUND, MOST_MISPLACED = 10_000, 1000
MOST_OFFSET = 2**63 - 1
# one batch, the first offset of a compressed magic 0 or 1 wrapper put in; is_sound: its header can
# be believed, its checksum is right and its offsets go on from its neighbours'
VALIDATED_BATCH: np.dtype = np.dtype([*CHECKED_BATCH.descr, ("is_sound", "?")])


@dataclass(frozen=True)
class Break:
    """A place from which no batch can be stepped over.

    stored_length: what the header there says; expected_length: what it should say, None where it is
    no header. resume_position: where the next batch starts.
    """

    position: int
    stored_length: int | None
    expected_length: int | None
    resume_position: int


@dataclass(frozen=True)
class MisplacedBatch:
    """A batch whose offsets do not go on from its neighbours': its row, and the last offset before
    it.
    """

    row: np.void
    previous_offset: int


@dataclass
class ScanState:
    """What a pass found, once it is over.

    end_bytes: the end of the last batch; tail: what follows it. faults: by the batch's position.
    unsound_offsets: (first, last) between the believed neighbours of what cannot be believed.
    """

    breaks: list[Break] = field(default_factory=list)
    misplaced_batches: list[MisplacedBatch] = field(default_factory=list)
    faults: dict[int, BatchFault] = field(default_factory=dict)
    unsound_offsets: list[tuple[int, int]] = field(default_factory=list)
    end_bytes: int = 0
    tail: Tail | None = None

    def is_unsound(self, offsets: np.ndarray) -> np.ndarray:
        """Which of these offsets lie where nothing can be believed."""
        if not self.unsound_offsets or not len(offsets):
            return np.zeros(len(offsets), bool)
        first_offsets, last_offsets = np.array(sorted(self.unsound_offsets)).T
        indices = np.searchsorted(first_offsets, offsets, "right") - 1
        return (indices >= 0) & (offsets <= np.maximum.accumulate(last_offsets)[indices])

    def add_unsound(self, first: int, last: int) -> None:
        """One more stretch of offsets; a log with very many is not believed from the last of them
        on.
        """
        if len(self.unsound_offsets) < MOST_UNSOUND:
            self.unsound_offsets.append((first, last))
        else:
            self.unsound_offsets[-1] = min(first, self.unsound_offsets[-1][0]), MOST_OFFSET


class CheckScan:
    """The pass itself: iterate over it once, then look at .state."""

    def __init__(self, segment: LogSegment) -> None:
        """Nothing is read yet."""
        self._segment, self.state = segment, ScanState()
        self._validator = _BatchValidator(segment.base_offset, self.state)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Arrays of VALIDATED_BATCH; memory is bounded by 16 384 rows and a chunk of bytes.

        Raises CannotOpen where the file cannot be read.
        """
        log, start = self._segment.log, 0
        if log is None:
            return
        with file.reader(log.path) as reader:
            while start is not None:
                start = yield from self._run(DeepScan(reader, start, log.size_bytes))
        yield from self._validator.flush_rest()
        self._finish()

    def _run(self, scan: DeepScan) -> Generator[np.ndarray, None, int | None]:
        """The chunks up to the next break; gives back where to go on, None at the end."""
        last_rows = np.empty(0, CHECKED_BATCH)
        for part in scan:
            self._keep_faults(part.faults)
            rows = np.concatenate((last_rows, part.batches))
            covering_row = next(
                (
                    row
                    for row in np.flatnonzero(~rows["crc_valid"][:-1])[:TRIED].tolist()
                    if self._hides_next(rows, row)
                ),
                None,
            )
            if covering_row is not None:
                yield from self._validator.add(rows[:covering_row])
                resume_position = self._find_within(
                    rows[covering_row], int(rows["size_bytes"][covering_row])
                )
                return self._resume(rows[covering_row], cast(int, resume_position))
            yield from self._validator.add(rows[:-1])
            last_rows = rows[-1:]
        return (yield from self._finish_run(last_rows, scan.end))

    def _hides_next(self, rows: np.ndarray, index: int) -> bool:
        """Whether a batch with a wrong checksum holds the start of the next one, so that its length
        is wrong.
        """
        is_continuous = int(rows["base_offset"][index + 1]) == int(rows["last_offset"][index]) + 1
        return (
            not is_continuous
            and self._find_within(rows[index], int(rows["size_bytes"][index])) is not None
        )

    def _finish_run(
        self, last_rows: np.ndarray, end: WalkEnd
    ) -> Generator[np.ndarray, None, int | None]:
        """The last row of a run, and what is behind it."""
        size_bytes = self._segment.log.size_bytes
        if len(last_rows) and not last_rows["crc_valid"][0] and end.reason != "end":
            resume_position = self._find_within(
                last_rows[0], LOOKED_THROUGH_BYTES
            ) or self._whole_end(int(last_rows["position"][0]))
            if resume_position is not None:
                return self._resume(last_rows[0], resume_position)
        yield from self._validator.add(last_rows)
        if end.reason == "end":
            self._end_at(end.position)
            return None
        header = self._header(end.position)
        resume_position = self._find_next(end.position, header)
        if resume_position is None or len(self.state.breaks) >= MOST_BREAKS:
            self._end_at(end.position)
            return None
        return self._record_break(
            end.position, header, resume_position if resume_position < size_bytes else size_bytes
        )

    def _resume(self, row: np.void, resume_position: int) -> int:
        position = int(row["position"])
        return self._record_break(position, self._header(position), resume_position)

    def _record_break(self, position: int, header: np.void | None, resume_position: int) -> int:
        """Remembers a break, and where the batches go on behind it."""
        is_header = (
            header is not None
            and int(header["magic"]) in (0, 1, 2)
            and int(header["base_offset"]) >= self._validator.last_offset
        )
        length = int(header["batch_length_bytes"]) if header is not None else None
        self.state.breaks.append(
            Break(
                position,
                length,
                resume_position - position - LENGTH_END if is_header else None,
                resume_position,
            )
        )
        self._validator.is_broken = True
        return resume_position

    def _find_next(self, position: int, header: np.void | None) -> int | None:
        """Where the batches go on behind a place that starts none: the next batch, or a place that
        an entry names.
        """
        if header is not None and int(header["magic"]) == MAGIC_2:
            next_position = self._whole_end(position)
            next_offset = int(header["base_offset"]) + int(header["last_offset_delta"]) + 1
            next_position = (
                self._find_batch(next_offset, position + HEADER_BYTES, LOOKED_THROUGH_BYTES)
                if next_position is None
                else next_position
            )
            if next_position is not None:
                return next_position
        next_position = self._find_batch(
            self._validator.last_offset + 1, position + 1, LOOKED_THROUGH_BYTES
        )
        return next_position if next_position is not None else self._find_by_entry(position)

    def _find_within(self, row: np.void, size_bytes: int) -> int | None:
        """The next batch, in that many bytes from a batch's start on."""
        if row["magic"] != MAGIC_2:
            return None
        return self._find_batch(
            int(row["last_offset"]) + 1,
            int(row["position"]) + HEADER_BYTES,
            size_bytes - HEADER_BYTES,
        )

    def _find_batch(self, base_offset: int, position: int, size_bytes: int) -> int | None:
        """The first whole batch with this base offset and a right checksum, in that many bytes from
        a position on.
        """
        if not 0 <= base_offset <= MOST_OFFSET:
            return None
        data, pattern = (
            file.read(self._segment.log.path, position, size_bytes + 8),
            base_offset.to_bytes(8, "big"),
        )
        index, tries = data.find(pattern), 0
        while index >= 0 and tries < TRIED:
            if self._is_batch(position + index):
                return position + index
            index, tries = data.find(pattern, index + 1), tries + 1
        return None

    def _find_by_entry(self, position: int) -> int | None:
        """The first batch behind a position that an entry of the .index names, and that is one."""
        positions = np.unique(self._segment.offset_index["position"])
        return next(
            (
                entry_position
                for entry_position in positions[positions > position][:TRIED].tolist()
                if self._is_batch(entry_position)
            ),
            None,
        )

    def _is_batch(self, position: int) -> bool:
        try:
            return batch_records.is_crc_valid(self._segment.batch_bytes(position))
        except KafkavizError:
            return False

    def _whole_end(self, position: int) -> int | None:
        """The file's size, if the batch at this byte reaches exactly so far, by its checksum."""
        size_bytes = self._segment.log.size_bytes
        header = self._header(position)
        if (
            size_bytes - position > LOOKED_THROUGH_BYTES
            or header is None
            or int(header["magic"]) != MAGIC_2
        ):
            return None
        has_valid_crc = crc32c(file.read(self._segment.log.path, position + CRC_START)) == int(
            header["crc"]
        )
        return size_bytes if has_valid_crc else None

    def _header(self, position: int) -> np.void | None:
        data = file.read(self._segment.log.path, position, HEADER_BYTES)
        return np.frombuffer(data, HEADER)[0] if len(data) == HEADER_BYTES else None

    def _keep_faults(self, faults: tuple[BatchFault, ...]) -> None:
        room = MOST_FAULTS - len(self.state.faults)
        self.state.faults.update((fault.batch_position, fault) for fault in faults[:room])

    def _end_at(self, position: int) -> None:
        log, last = self._segment.log, self._validator.last_offset
        self.state.end_bytes = position
        # else a broker is writing: what follows is new
        if position < log.size_bytes and file.info(log.path).size_bytes == log.size_bytes:
            self.state.tail = tail.read(
                log, position, last if last >= self._segment.base_offset else None
            )

    def _finish(self) -> None:
        """What a tail held cannot be judged by."""
        if self.state.tail is not None or self._validator.is_broken:
            self.state.add_unsound(self._validator.last_offset + 1, MOST_OFFSET)


class _BatchValidator:
    """Says which batches can be believed: two neighbours on each side are looked at."""

    def __init__(self, base_offset: int, state: ScanState) -> None:
        self._base_offset, self._state = base_offset, state
        self.last_offset = base_offset - 1  # of the last batch taken that had a right checksum
        self._sound_offset = base_offset - 1  # of the last believed one given out
        self.is_broken = False  # bytes were passed over since then
        self._is_unsound = False  # the last one given out was not believed
        self._previous_rows, self._rows, self._count = np.empty(0, VALIDATED_BATCH), [], 0

    def add(self, checked_rows: np.ndarray) -> Iterator[np.ndarray]:
        """More rows; arrays of those that can be judged now."""
        if not len(checked_rows):
            return
        rows = np.empty(len(checked_rows), VALIDATED_BATCH)
        rows[list(field_names(CHECKED_BATCH))] = checked_rows
        rows["base_offset"] = links.first_offsets(rows, self.last_offset + 1)
        valid_rows = np.flatnonzero(rows["crc_valid"])
        self.last_offset = (
            int(rows["last_offset"][valid_rows[-1]]) if len(valid_rows) else self.last_offset
        )
        if self.is_broken:
            yield from self._flush(0)
            self._is_unsound, self.is_broken = True, False
        self._rows.append(rows)
        self._count += len(rows)
        if self._count >= ROWS_AT_ONCE:
            yield from self._flush(2)

    def flush_rest(self) -> Iterator[np.ndarray]:
        """What is left."""
        yield from self._flush(0)
        if self._is_unsound:
            self._state.add_unsound(self._sound_offset + 1, MOST_OFFSET)

    def _flush(self, keep: int) -> Iterator[np.ndarray]:
        if not self._count:
            return
        rows = np.concatenate((self._previous_rows, *self._rows))
        rows["is_sound"] = rows["crc_valid"]
        rows["is_sound"][self._misplaced_rows(rows)] = False
        first, last = len(self._previous_rows), len(rows) - keep
        self._note(rows[first:last])
        self._previous_rows, self._rows, self._count = (
            rows[max(0, last - 2) : last],
            [rows[last:]],
            len(rows) - last,
        )
        yield rows[first:last]

    def _misplaced_rows(self, rows: np.ndarray) -> np.ndarray:
        """The rows whose offsets are at odds with their neighbours'."""
        valid_rows = np.flatnonzero(rows["crc_valid"])
        base = rows["base_offset"][valid_rows]
        last = rows["last_offset"][valid_rows]
        # the first rows of the segment: nothing lies below its base offset
        is_first = not len(self._previous_rows)
        lower_bound = self._base_offset - 1 if is_first else -(2**63)
        previous_last = np.concatenate(([lower_bound], last[:-1])) if len(last) else last
        misplaced = set(np.flatnonzero(last < base).tolist())
        for index in np.flatnonzero(base <= previous_last).tolist():
            misplaced.add(self._culprit(base, last, index, lower_bound))
        return valid_rows[sorted(misplaced)] if misplaced else np.empty(0, int)

    @staticmethod
    def _culprit(base: np.ndarray, last: np.ndarray, index: int, lower_bound: int) -> int:
        """Which of two neighbours that run backwards is wrong: the one that does not go on from, or
        into, its other neighbour.
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
        # the order that is left if the first of both is taken out
        without_first = int(base[index]) > previous_last
        return (
            index - 1
            if without_first
            and index + 1 < len(base)
            and int(base[index + 1]) <= int(last[index - 1])
            else index
        )

    def _note(self, rows: np.ndarray) -> None:
        """Remembers what was misplaced, and the offsets that cannot be judged by."""
        is_sound = rows["is_sound"]
        room = MOST_MISPLACED - len(self._state.misplaced_batches)
        for index in np.flatnonzero(rows["crc_valid"] & ~is_sound)[:room].tolist():
            earlier_rows = np.flatnonzero(is_sound[:index])
            previous_offset = (
                int(rows["last_offset"][earlier_rows[-1]])
                if len(earlier_rows)
                else self._sound_offset
            )
            self._state.misplaced_batches.append(
                MisplacedBatch(rows[index].copy(), previous_offset)
            )
        sound_rows = np.flatnonzero(is_sound)
        if len(sound_rows):
            last_offsets = np.concatenate(([self._sound_offset], rows["last_offset"][sound_rows]))
            is_jump = np.diff(sound_rows, prepend=-1) > 1
            is_jump[0] |= self._is_unsound
            for index in np.flatnonzero(is_jump).tolist():
                self._state.add_unsound(
                    int(last_offsets[index]) + 1, int(rows["base_offset"][sound_rows[index]]) - 1
                )
            self._sound_offset = int(last_offsets[-1])
        self._is_unsound = not is_sound[-1] if len(is_sound) else self._is_unsound
