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

from kafkaviz.analyse import links, tail
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.tail import Tail
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch_records
from kafkaviz.format.batch import CRC_START, HEADER, HEADER_BYTES, LENGTH_END, MAGIC_2
from kafkaviz.format.deep_scan import CHECKED, DeepScan, Fault
from kafkaviz.format.walk import End
from kafkaviz.log import file
from kafkaviz.log.segment import Segment

ROWS_AT_ONCE = 16_384
LOOKED_THROUGH_BYTES = 16 << 20  # for the next batch behind a break
TRIED = 64  # places where the next batch may be
MOST_BREAKS = 100
MOST_FAULTS = 1000  # kept with Kafka's words
MOST_UNSOUND, MOST_MISPLACED = 10_000, 1000
MOST_OFFSET = 2**63 - 1


@dataclass(frozen=True)
class Break:
    """A place from which no batch can be stepped over.

    length_found: what the header there says; length_expected: what it should say, None where it is
    no header. resumed: where the next batch starts.
    """

    position: int
    length_found: int | None
    length_expected: int | None
    resumed: int


@dataclass(frozen=True)
class Misplaced:
    """A batch whose offsets do not go on from its neighbours': its row, and the last offset before
    it.
    """

    row: np.void
    after: int


@dataclass(frozen=True)
class Chunk:
    """Some batches that follow one another.

    batches: format.deep_scan.CHECKED, the first offset of a compressed magic 0 or 1 wrapper put in.
    sound: whether a batch's header can be believed: its checksum is right, and its offsets go on
    from its neighbours'.
    """

    batches: np.ndarray
    sound: np.ndarray


@dataclass
class Reading:
    """What a pass found, once it is over.

    end_bytes: the end of the last batch; tail: what follows it. faults: by the batch's position.
    unsound_offsets: (first, last) between the believed neighbours of what cannot be believed.
    """

    breaks: list[Break] = field(default_factory=list)
    misplaced: list[Misplaced] = field(default_factory=list)
    faults: dict[int, Fault] = field(default_factory=dict)
    unsound_offsets: list[tuple[int, int]] = field(default_factory=list)
    end_bytes: int = 0
    tail: Tail | None = None

    def unsound(self, offsets: np.ndarray) -> np.ndarray:
        """Which of these offsets lie where nothing can be believed."""
        if not self.unsound_offsets or not len(offsets):
            return np.zeros(len(offsets), bool)
        firsts, lasts = np.array(sorted(self.unsound_offsets)).T
        before = np.searchsorted(firsts, offsets, "right") - 1
        return (before >= 0) & (offsets <= np.maximum.accumulate(lasts)[before])

    def add_unsound(self, first: int, last: int) -> None:
        """One more stretch of offsets; a log with very many is not believed from the last of them
        on.
        """
        if len(self.unsound_offsets) < MOST_UNSOUND:
            self.unsound_offsets.append((first, last))
        else:
            self.unsound_offsets[-1] = min(first, self.unsound_offsets[-1][0]), MOST_OFFSET


class Pass:
    """The pass itself: iterate over it once, then look at .reading."""

    def __init__(self, segment: Segment) -> None:
        """Nothing is read yet."""
        self._segment, self.reading = segment, Reading()
        self._judge = _Judge(segment.base_offset, self.reading)

    def __iter__(self) -> Iterator[Chunk]:
        """The chunks; memory is bounded by 16 384 rows and a chunk of bytes.

        Raises CannotOpen where the file cannot be read.
        """
        log, start = self._segment.log, 0
        if log is None:
            return
        with file.reader(log.path) as read:
            while start is not None:
                start = yield from self._run(DeepScan(read, start, log.size_bytes))
        yield from self._judge.rest()
        self._finish()

    def _run(self, scan: DeepScan) -> Generator[Chunk, None, int | None]:
        """The chunks up to the next break; gives back where to go on, None at the end."""
        held = np.empty(0, CHECKED)
        for part in scan:
            self._keep_faults(part.faults)
            rows = np.concatenate((held, part.batches))
            covering = next(
                (
                    row
                    for row in np.flatnonzero(~rows["crc_valid"][:-1])[:TRIED].tolist()
                    if self._covers(rows, row)
                ),
                None,
            )
            if covering is not None:
                yield from self._judge.add(rows[:covering])
                found = self._within(rows[covering], int(rows["size_bytes"][covering]))
                return self._resume(rows[covering], cast(int, found))
            yield from self._judge.add(rows[:-1])
            held = rows[-1:]
        return (yield from self._ended(held, scan.end))

    def _covers(self, rows: np.ndarray, at: int) -> bool:
        """Whether a batch with a wrong checksum holds the start of the next one, so that its length
        is wrong.
        """
        goes_on = int(rows["base_offset"][at + 1]) == int(rows["last_offset"][at]) + 1
        return not goes_on and self._within(rows[at], int(rows["size_bytes"][at])) is not None

    def _ended(self, held: np.ndarray, end: End) -> Generator[Chunk, None, int | None]:
        """The last row of a run, and what is behind it."""
        size_bytes = existing(self._segment.log).size_bytes
        if len(held) and not held["crc_valid"][0] and end.reason != "end":
            found = self._within(held[0], LOOKED_THROUGH_BYTES) or self._to_the_end(
                int(held["position"][0])
            )
            if found is not None:
                return self._resume(held[0], found)
        yield from self._judge.add(held)
        if end.reason == "end":
            self._end_at(end.position)
            return None
        header = self._header(end.position)
        found = self._behind(end.position, header)
        if found is None or len(self.reading.breaks) >= MOST_BREAKS:
            self._end_at(end.position)
            return None
        return self._resume_at(end.position, header, found if found < size_bytes else size_bytes)

    def _resume(self, row: np.void, found: int) -> int:
        position = int(row["position"])
        return self._resume_at(position, self._header(position), found)

    def _resume_at(self, position: int, header: np.void | None, found: int) -> int:
        """Remembers a break, and where the batches go on behind it."""
        believed = (
            header is not None
            and int(header["magic"]) in (0, 1, 2)
            and int(header["base_offset"]) >= self._judge.last_offset
        )
        length = int(header["batch_length_bytes"]) if header is not None else None
        self.reading.breaks.append(
            Break(position, length, found - position - LENGTH_END if believed else None, found)
        )
        self._judge.broken = True
        return found

    def _behind(self, position: int, header: np.void | None) -> int | None:
        """Where the batches go on behind a place that starts none: the next batch, or a place that
        an entry names.
        """
        if header is not None and int(header["magic"]) == MAGIC_2:
            found = self._to_the_end(position)
            following = int(header["base_offset"]) + int(header["last_offset_delta"]) + 1
            found = (
                self._searched(following, position + HEADER_BYTES, LOOKED_THROUGH_BYTES)
                if found is None
                else found
            )
            if found is not None:
                return found
        found = self._searched(self._judge.last_offset + 1, position + 1, LOOKED_THROUGH_BYTES)
        return found if found is not None else self._by_entry(position)

    def _within(self, row: np.void, size_bytes: int) -> int | None:
        """The next batch, in that many bytes from a batch's start on."""
        if row["magic"] != MAGIC_2:
            return None
        return self._searched(
            int(row["last_offset"]) + 1,
            int(row["position"]) + HEADER_BYTES,
            size_bytes - HEADER_BYTES,
        )

    def _searched(self, base_offset: int, position: int, size_bytes: int) -> int | None:
        """The first whole batch with this base offset and a right checksum, in that many bytes from
        a position on.
        """
        if not 0 <= base_offset <= MOST_OFFSET:
            return None
        data, wanted = (
            file.read(existing(self._segment.log).path, position, size_bytes + 8),
            base_offset.to_bytes(8, "big"),
        )
        at, tried = data.find(wanted), 0
        while at >= 0 and tried < TRIED:
            if self._is_batch(position + at):
                return position + at
            at, tried = data.find(wanted, at + 1), tried + 1
        return None

    def _by_entry(self, position: int) -> int | None:
        """The first batch behind a position that an entry of the .index names, and that is one."""
        positions = np.unique(self._segment.offset_index["position"])
        return next(
            (
                one
                for one in positions[positions > position][:TRIED].tolist()
                if self._is_batch(one)
            ),
            None,
        )

    def _is_batch(self, position: int) -> bool:
        try:
            return batch_records.crc_valid(self._segment.batch_bytes(position))
        except KafkavizError:
            return False

    def _to_the_end(self, position: int) -> int | None:
        """The file's size, if the batch at this byte reaches exactly so far, by its checksum."""
        size_bytes = existing(self._segment.log).size_bytes
        header = self._header(position)
        if (
            size_bytes - position > LOOKED_THROUGH_BYTES
            or header is None
            or int(header["magic"]) != MAGIC_2
        ):
            return None
        matches = crc32c(file.read(existing(self._segment.log).path, position + CRC_START)) == int(
            header["crc"]
        )
        return size_bytes if matches else None

    def _header(self, position: int) -> np.void | None:
        data = file.read(existing(self._segment.log).path, position, HEADER_BYTES)
        return np.frombuffer(data, HEADER)[0] if len(data) == HEADER_BYTES else None

    def _keep_faults(self, faults: tuple[Fault, ...]) -> None:
        room = MOST_FAULTS - len(self.reading.faults)
        self.reading.faults.update((one.batch_position, one) for one in faults[:room])

    def _end_at(self, position: int) -> None:
        log, last = existing(self._segment.log), self._judge.last_offset
        self.reading.end_bytes = position
        # else a broker is writing: what follows is new
        if position < log.size_bytes and file.info(log.path).size_bytes == log.size_bytes:
            self.reading.tail = tail.read(
                log, position, last if last >= self._segment.base_offset else None
            )

    def _finish(self) -> None:
        """What a tail held cannot be judged by."""
        if self.reading.tail is not None or self._judge.broken:
            self.reading.add_unsound(self._judge.last_offset + 1, MOST_OFFSET)


class _Judge:
    """Says which batches can be believed: two neighbours on each side are looked at."""

    def __init__(self, base_offset: int, reading: Reading) -> None:
        self._base_offset, self._reading = base_offset, reading
        self.last_offset = base_offset - 1  # of the last batch taken that had a right checksum
        self._sound_offset = base_offset - 1  # of the last believed one given out
        self.broken = False  # bytes were passed over since then
        self._unsound = False  # the last one given out was not believed
        self._before, self._rows, self._count = np.empty(0, CHECKED), [], 0

    def add(self, rows: np.ndarray) -> Iterator[Chunk]:
        """More rows; chunks of those that can be judged now."""
        if not len(rows):
            return
        rows = rows.copy()
        rows["base_offset"] = links.first_offsets(rows, self.last_offset + 1)
        right = np.flatnonzero(rows["crc_valid"])
        self.last_offset = int(rows["last_offset"][right[-1]]) if len(right) else self.last_offset
        if self.broken:
            yield from self._flush(0)
            self._unsound, self.broken = True, False
        self._rows.append(rows)
        self._count += len(rows)
        if self._count >= ROWS_AT_ONCE:
            yield from self._flush(2)

    def rest(self) -> Iterator[Chunk]:
        """What is left."""
        yield from self._flush(0)
        if self._unsound:
            self._reading.add_unsound(self._sound_offset + 1, MOST_OFFSET)

    def _flush(self, keep: int) -> Iterator[Chunk]:
        if not self._count:
            return
        rows = np.concatenate((self._before, *self._rows))
        sound = rows["crc_valid"].copy()
        sound[self._misplaced(rows)] = False
        first, last = len(self._before), len(rows) - keep
        self._note(rows[first:last], sound[first:last], rows[:first])
        self._before, self._rows, self._count = (
            rows[max(0, last - 2) : last],
            [rows[last:]],
            len(rows) - last,
        )
        yield Chunk(rows[first:last], sound[first:last])

    def _misplaced(self, rows: np.ndarray) -> np.ndarray:
        """The rows whose offsets are at odds with their neighbours'."""
        right = np.flatnonzero(rows["crc_valid"])
        base = rows["base_offset"][right]
        last = rows["last_offset"][right]
        # the first rows of the segment: nothing lies below its base offset
        opens = not len(self._before)
        edge = self._base_offset - 1 if opens else -(2**63)
        before = np.concatenate(([edge], last[:-1])) if len(last) else last
        found = set(np.flatnonzero(last < base).tolist())
        for at in np.flatnonzero(base <= before).tolist():
            found.add(self._culprit(base, last, at, edge))
        return right[sorted(found)] if found else np.empty(0, int)

    @staticmethod
    def _culprit(base: np.ndarray, last: np.ndarray, at: int, edge: int) -> int:
        """Which of two neighbours that run backwards is wrong: the one that does not go on from, or
        into, its other neighbour.
        """
        if at == 0:
            return 0
        before = int(last[at - 2]) if at > 1 else edge
        goes_in = int(base[at - 1]) == before + 1 or (
            at == 1 and edge < -1 and int(base[0]) > before
        )
        goes_out = at + 1 < len(base) and int(base[at + 1]) == int(last[at]) + 1
        if goes_in != goes_out:
            return at if goes_in else at - 1
        # the order that is left if the first of both is taken out
        without_first = int(base[at]) > before
        return (
            at - 1
            if without_first and at + 1 < len(base) and int(base[at + 1]) <= int(last[at - 1])
            else at
        )

    def _note(self, rows: np.ndarray, sound: np.ndarray, before: np.ndarray) -> None:
        """Remembers what was misplaced, and the offsets that cannot be judged by."""
        room = MOST_MISPLACED - len(self._reading.misplaced)
        for at in np.flatnonzero(rows["crc_valid"] & ~sound)[:room].tolist():
            earlier = np.flatnonzero(sound[:at])
            after = int(rows["last_offset"][earlier[-1]]) if len(earlier) else self._sound_offset
            self._reading.misplaced.append(Misplaced(rows[at].copy(), after))
        good = np.flatnonzero(sound)
        if len(good):
            lasts = np.concatenate(([self._sound_offset], rows["last_offset"][good]))
            jumps = np.diff(good, prepend=-1) > 1
            jumps[0] |= self._unsound
            for at in np.flatnonzero(jumps).tolist():
                self._reading.add_unsound(
                    int(lasts[at]) + 1, int(rows["base_offset"][good[at]]) - 1
                )
            self._sound_offset = int(lasts[-1])
        self._unsound = not sound[-1] if len(sound) else self._unsound
