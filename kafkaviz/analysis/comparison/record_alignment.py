"""Compares two logs of a partition by offset: which records differ, or are in only one log?

Equal bytes are skipped fast: first whole segments, then runs of batches. Where batches differ,
their records are decoded and matched by offset, even if the batches have different boundaries:

    a   [0 .. 9] [10 .. 19] [20 .. 29]
    b   [0 .. 9] [10 .. 14] [15 .. 24]     0 to 9 skipped, 10 to 24 compared, 25 to 29 only in a

All bytes are compared: a bit that flips in the records does not change the batch header. Only one
chunk of each log, and the batches that are being matched, are in memory.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from kafkaviz.analysis.comparison.batches import BatchStream, LogTail, UnreadableRange
from kafkaviz.analysis.comparison.byte_differences import (
    MAX_DIFFERENCES,
    ByteDifference,
    FileLocation,
    describe_batches,
    describe_records,
    differing_chunks,
    is_equal_file,
    one_sided,
    pair,
)
from kafkaviz.analysis.comparison.comparison import OffsetCollector
from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records
from kafkaviz.format.batch import BATCH, is_control, is_transactional
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.names import MAX_OFFSET
from kafkaviz.log import file
from kafkaviz.log.segment import LogSegment

HEADER_FIELDS = [name for name in BATCH.names or () if name != "position"]
# magic 2's CRC does not cover base_offset and leader_epoch; last_offset is base_offset + a delta
UNCOVERED_FIELDS = ("base_offset", "last_offset", "leader_epoch")


class RecordAlignment:
    """The result of comparing two logs, called sides. Pairs and lists have one value per side.

    Attributes:
        only_in: the offsets of the records that only this side has.
        different: offsets that both sides have, with different content or leader epochs.
        unreadable: offsets that cannot be read on at least one side.
        diverged: the number of offsets in `different` with different leader epochs.
        altered: the number of offsets in `different` with equal leader epochs, in sound batches.
        leader_epochs_there: each side's leader epoch at `first_divergent_offset`.
        damaged_batches: the number of batches with a wrong checksum or unreadable records, plus
            the number of unreadable ranges.
        lag_bytes: the size of this side's batches after the end of the other side.
        end_offsets: the offset after the last batch that was read.
    """

    def __init__(self) -> None:
        self.only_in = OffsetCollector(), OffsetCollector()
        self.different = OffsetCollector()
        self.unreadable = OffsetCollector()
        self.diverged = 0
        self.altered = 0
        self.first_divergent_offset: int | None = None
        self.leader_epochs_there: tuple[int, int] | None = None
        self.rewritten_batches = 0
        self.damaged_batches = [0, 0]
        self.lag_bytes = [0, 0]
        self.newest_ms: list[int | None] = [None, None]
        self.end_offsets: list[int | None] = [None, None]
        self.tails: list[LogTail | None] = [None, None]
        self.differing_segments: set[int] = set()
        self.differences: list[ByteDifference] = []
        self.difference_count = 0

    def add_differences(self, differences: Sequence[ByteDifference]) -> None:
        self.difference_count += len(differences)
        room = MAX_DIFFERENCES - len(self.differences)
        self.differences += differences[: max(0, room)]

    def set_end(self, side: int, stream: BatchStream) -> None:
        """Stores a side's log end, newest timestamp and tail. Call it after the last batch."""
        self.end_offsets[side] = stream.next_offset
        self.newest_ms[side] = stream.max_timestamp_ms
        self.tails[side] = stream.tail

    def add_different(
        self, offsets: np.ndarray, epochs: tuple[int, int], *, is_damaged: bool = False
    ) -> None:
        """Adds ascending offsets that both sides have with different records.

        Records of a damaged batch do not count as altered.
        """
        if not len(offsets):
            return
        self.different.add_offsets(offsets)
        first = int(offsets[0])
        if self.first_divergent_offset is None or first < self.first_divergent_offset:
            self.first_divergent_offset = first
            self.leader_epochs_there = epochs
        if epochs[0] != epochs[1]:
            self.diverged += len(offsets)
        elif not is_damaged:
            self.altered += len(offsets)


def segment_groups(
    a: Sequence[LogSegment], b: Sequence[LogSegment]
) -> Iterator[tuple[int, Sequence[LogSegment], Sequence[LogSegment]]]:
    """Yields (base offset, segments of a, segments of b) for each group of segments.

    A new group begins at each base offset that both logs have. Segments before the first such
    offset form a group at 0.
    """
    common = sorted({segment.base_offset for segment in a} & {segment.base_offset for segment in b})
    places = [(0, 0)]
    bases = [[segment.base_offset for segment in segments] for segments in (a, b)]
    places += [(bisect_left(bases[0], base), bisect_left(bases[1], base)) for base in common]
    places.append((len(a), len(b)))
    for start, (first, stop) in zip([0, *common], pairwise(places), strict=True):
        if first != stop:
            yield start, a[first[0] : stop[0]], b[first[1] : stop[1]]


def align(a: Sequence[LogSegment], b: Sequence[LogSegment]) -> RecordAlignment:
    """Compares two logs, each given by its segments.

    Raises CannotOpen if a .log cannot be read.
    """
    alignment = RecordAlignment()
    for start, group_a, group_b in segment_groups(a, b):
        is_pair = len(group_a) == len(group_b) == 1
        if is_pair and is_equal_file(group_a[0].log, group_b[0].log):
            continue
        alignment.differing_segments.update(segment.base_offset for segment in (*group_a, *group_b))
        with _stream(group_a, a, start) as stream_a, _stream(group_b, b, start) as stream_b:
            _Alignment((stream_a, stream_b), alignment).run()
    for side, segments in enumerate((a, b)):
        if segments and segments[-1].base_offset not in alignment.differing_segments:
            with BatchStream(segments[-1:], next_offset=segments[-1].base_offset) as stream:
                for _ in stream.readable_rows():
                    pass
                alignment.set_end(side, stream)
    return alignment


def _stream(part: Sequence[LogSegment], segments: Sequence[LogSegment], start: int) -> BatchStream:
    if not part:
        has_ended = bool(segments) and segments[0].base_offset < start
        return BatchStream((), None, start if has_ended else MAX_OFFSET)
    place = bisect_right(segments, part[-1].base_offset, key=lambda segment: segment.base_offset)
    next_base = segments[place].base_offset if place < len(segments) else None
    return BatchStream(part, next_base, part[0].base_offset)


class _OpenBatch:
    """A batch whose records are matched by offset. It can be used after its .log is closed.

    `offsets` has the offsets that were not matched yet. If the batch is larger than LIMIT_BYTES,
    `data` is empty.
    """

    def __init__(self, stream: BatchStream) -> None:
        self.segment = stream.segment
        self.row = stream.rows[0].copy()
        self.is_crc_valid = batch_records.has_valid_crc(stream.read, self.row)
        is_large = int(self.row["size_bytes"]) > LIMIT_BYTES
        self.data = b"" if is_large else stream.batch_bytes(self.row)
        self.epoch = int(self.row["leader_epoch"])
        self.last = int(self.row["last_offset"])
        self.first = int(self.row["base_offset"])
        self.is_readable = True
        count = int(self.row["record_count"])
        if count == self.last - self.first + 1:
            self.offsets = np.arange(self.first, self.last + 1)
        elif count == 0:
            self.offsets = np.empty(0, np.int64)
        else:
            self.offsets = np.array(sorted(self.records), np.int64)

    @cached_property
    def records(self) -> dict[int, BatchRecord]:
        """The records by offset, up to the first fault. A fault sets `is_readable` to False."""
        records = {}
        try:
            for record in batch_records.iterate(self.data):
                records[record.offset] = record
        except CorruptBytes:
            self.is_readable = False
        return records

    def take_to(self, offset: int) -> np.ndarray:
        count = int(np.searchsorted(self.offsets, offset, "right"))
        taken_offsets = self.offsets[:count]
        self.offsets = self.offsets[count:]
        return taken_offsets


class _Alignment:
    def __init__(self, streams: Sequence[BatchStream], alignment: RecordAlignment) -> None:
        self._streams = streams
        self._result = alignment
        # the last unreadable range of each side
        self._hidden: list[UnreadableRange | None] = [None, None]

    def run(self) -> None:
        a, b = self._streams
        while True:
            has_a = a.fill()
            has_b = b.fill()
            if not has_a and not has_b:
                break
            if self._pass_unreadable():
                continue
            if not has_a or not has_b:
                self._take_alone(1 if has_b else 0, None)
            elif not self._take_equal_run() and not self._take_damaged_pair():
                self._take_by_offset()
        for side, stream in enumerate(self._streams):
            if stream.segments:
                self._result.set_end(side, stream)

    def _pass_unreadable(self) -> bool:
        """Skips an unreadable range of one log, or the batches of the other log in such a range.

        Returns whether anything was skipped.
        """
        for side, stream in enumerate(self._streams):
            hidden = stream.unreadable
            if hidden is None:
                continue
            self._hidden[side] = hidden
            stream.unreadable = None
            self._result.damaged_batches[side] += 1
            self._result.add_differences(self._describe_hole(hidden, side))
            return True
        for side, stream in enumerate(self._streams):
            hidden = self._hidden[1 - side]
            if hidden is None or not len(stream.rows):
                continue
            starts = stream.rows["base_offset"]
            count = int(np.argmin(np.append((starts >= hidden.first) & (starts <= hidden.last), 0)))
            if count:
                rows = stream.take(count)
                self._result.unreadable.add_ranges(rows["base_offset"], rows["last_offset"])
                return True
        return False

    def _describe_hole(self, hidden: UnreadableRange, side: int) -> list[ByteDifference]:
        """Describes an unreadable range of the log `side`.

        If the other log has a batch at the same position, also describes how the bytes differ.
        """
        location = FileLocation(hidden.segment.log.name, hidden.position, hidden.size_bytes)
        crcs = one_sided(side, value=False)
        hole = ByteDifference(one_sided(side, location), "hole", (None, None), hidden.first, crcs)
        other = self._streams[1 - side]
        if not len(other.rows) or hidden.segment.base_offset != other.segment.base_offset:
            return [hole]
        row = other.rows[0]
        size_bytes = int(row["size_bytes"])
        if row["position"] != hidden.position or size_bytes > LIMIT_BYTES:
            return [hole]
        data = file.read(hidden.segment.log.path, hidden.position, size_bytes)
        damaged = (hidden.segment, row, data)
        sound = (other.segment, row, other.batch_bytes(row))
        sides = (damaged, sound) if side == 0 else (sound, damaged)
        return [hole, *describe_batches(sides, (side != 0, side == 0))]

    def _take_equal_run(self) -> bool:
        a, b = self._streams
        count = min(len(a.rows), len(b.rows))
        is_equal = np.ones(count, bool)
        for name in HEADER_FIELDS:
            is_equal &= a.rows[name][:count] == b.rows[name][:count]
        run = count if is_equal.all() else int(np.argmin(is_equal))
        if not run:
            return False
        rows = a.rows[:run]
        starts = [int(stream.rows["position"][0]) for stream in (a, b)]
        size_bytes = int(rows["position"][-1] + rows["size_bytes"][-1]) - starts[0]
        differing: set[int] = set()
        ends = rows["position"] + rows["size_bytes"] - starts[0]
        for position, places in differing_chunks(
            a.read, starts[0], b.read, starts[1], size_bytes=size_bytes
        ):
            if len(places):
                differing.update(np.searchsorted(ends, position + places, "right").tolist())
        done = 0
        for number in sorted(differing):
            self._take_both(number - done)
            self._match_records()
            done = number + 1
        self._take_both(run - done)
        return True

    def _take_both(self, count: int) -> None:
        for stream in self._streams:
            stream.take(count)

    def _take_damaged_pair(self) -> bool:
        """Takes a batch from each side if only damage made their offsets differ.

        Otherwise takes nothing and returns False. The two batches must have the same size, and be
        followed by equal batches. Also, at least one has a wrong checksum, or the batches differ
        only in header fields that the checksum does not cover.
        """
        a, b = (stream.rows[0] for stream in self._streams)
        if a["size_bytes"] != b["size_bytes"] or not self._is_followed_alike():
            return False
        if (a["base_offset"], a["last_offset"]) == (b["base_offset"], b["last_offset"]):
            return False  # with equal offsets, their records are matched by offset
        valid_crcs = pair(
            batch_records.has_valid_crc(stream.read, stream.rows[0]) for stream in self._streams
        )
        is_same_content = all(
            a[name] == b[name] for name in HEADER_FIELDS if name not in UNCOVERED_FIELDS
        )
        if all(valid_crcs) and not is_same_content:
            return False
        damaged = [side for side in (0, 1) if not valid_crcs[side]]
        expected = max(stream.next_offset for stream in self._streams)
        nearest_row = min((a, b), key=lambda row: abs(int(row["base_offset"]) - expected))
        sound_row = (a, b)[1 - damaged[0]] if len(damaged) == 1 else nearest_row
        first = int(sound_row["base_offset"])
        last = int(sound_row["last_offset"])
        if damaged:
            for side in damaged:
                self._result.damaged_batches[side] += 1
            self._result.unreadable.add(first, last)
        else:
            epochs = int(a["leader_epoch"]), int(b["leader_epoch"])
            self._result.add_different(np.arange(first, last + 1), epochs)
        sides = [
            (stream.segment, stream.rows[0], stream.batch_bytes(stream.rows[0]))
            for stream in self._streams
        ]
        self._result.add_differences(describe_batches(sides, valid_crcs))
        next_offset = max(last + 1, expected)
        self._take_both(1)
        for stream in self._streams:
            stream.next_offset = next_offset
        return True

    def _is_followed_alike(self) -> bool:
        a, b = self._streams
        if len(a.rows) > 1 and len(b.rows) > 1:
            return all(a.rows[1][name] == b.rows[1][name] for name in HEADER_FIELDS)
        is_same_segment = a.segment.base_offset == b.segment.base_offset
        return is_same_segment and bool(a.rows[0]["position"] == b.rows[0]["position"])

    def _take_by_offset(self) -> None:
        a, b = self._streams
        if a.rows[0]["last_offset"] < b.rows[0]["base_offset"]:
            self._take_alone(0, int(b.rows[0]["base_offset"]))
        elif b.rows[0]["last_offset"] < a.rows[0]["base_offset"]:
            self._take_alone(1, int(a.rows[0]["base_offset"]))
        else:
            self._match_records()

    def _take_alone(self, side: int, end: int | None) -> None:
        stream = self._streams[side]
        lasts = stream.rows["last_offset"]
        count = len(lasts) if end is None else int(np.argmin(np.append(lasts < end, 0)))
        rows = stream.rows[:count]
        is_behind = rows["base_offset"] >= self._streams[1 - side].next_offset
        self._result.lag_bytes[side] += int(rows["size_bytes"][is_behind].sum())
        is_full = rows["record_count"] == rows["last_offset"] - rows["base_offset"] + 1
        is_full |= rows["record_count"] == 0
        gaps = np.append(np.flatnonzero(~is_full), count)
        start = 0
        collector = self._result.only_in[side]
        for gap in gaps.tolist():
            run = stream.rows[: gap - start]
            with_records = run[run["record_count"] != 0]
            collector.add_ranges(with_records["base_offset"], with_records["last_offset"])
            stream.take(len(run))
            if gap < count:
                collector.add_offsets(_OpenBatch(stream).offsets)
                stream.take(1)
            start = gap + 1

    def _open(self, side: int) -> _OpenBatch:
        stream = self._streams[side]
        batch = _OpenBatch(stream)
        if not batch.is_crc_valid:
            self._result.damaged_batches[side] += 1
        stream.take(1)
        stream.fill()
        return batch

    def _match_records(self) -> None:
        """Compares the records of overlapping batches, until the next batches do not overlap."""
        first_batches = self._open(0), self._open(1)
        self._describe(*first_batches)
        batches: list[_OpenBatch | None] = list(first_batches)
        while True:
            for side in (0, 1):
                other = batches[1 - side]
                starts = self._streams[side].rows["base_offset"][:1]
                if batches[side] is None and other and (starts <= other.last).any():
                    batches[side] = self._open(side)
            a, b = batches
            if a is None or b is None:
                break
            self._match(a, b)
            batches = [a if a.last > b.last else None, b if b.last > a.last else None]
        for side, batch in enumerate(batches):
            if batch:
                self._result.only_in[side].add_offsets(batch.take_to(batch.last))

    def _match(self, a: _OpenBatch, b: _OpenBatch) -> None:
        end = min(a.last, b.last)
        offsets_a = a.take_to(end)
        offsets_b = b.take_to(end)
        common = np.intersect1d(offsets_a, offsets_b, assume_unique=True)
        different = common
        if a.epoch == b.epoch or not (a.is_crc_valid and b.is_crc_valid):
            records_a = a.records
            records_b = b.records
            for side, batch in enumerate((a, b)):
                if batch.is_crc_valid and not batch.is_readable:  # to count the batch only once
                    self._result.damaged_batches[side] += 1
                    batch.is_crc_valid = False
            is_there = [offset in records_a and offset in records_b for offset in common.tolist()]
            self._result.unreadable.add_offsets(common[~np.array(is_there, bool)])
            different = common[np.array(is_there, bool)]
            if a.epoch == b.epoch:
                is_other = [
                    _content(a, records_a[offset]) != _content(b, records_b[offset])
                    for offset in different.tolist()
                ]
                different = different[np.array(is_other, bool)]
        is_damaged = not (a.is_crc_valid and b.is_crc_valid)
        self._result.add_different(different, (a.epoch, b.epoch), is_damaged=is_damaged)
        sides = (offsets_a, offsets_b, b), (offsets_b, offsets_a, a)
        for side, (own, other, batch) in enumerate(sides):
            alone = np.setdiff1d(own, other, assume_unique=True)
            if not batch.is_readable:
                hidden = (alone >= batch.first) & (alone <= batch.last)
                self._result.unreadable.add_offsets(alone[hidden])
                alone = alone[~hidden]
            self._result.only_in[side].add_offsets(alone)

    def _describe(self, a: _OpenBatch, b: _OpenBatch) -> None:
        sides = [(batch.segment, batch.row, batch.data) for batch in (a, b)]
        is_same_range = (a.first, a.last) == (b.first, b.last)
        valid_crcs = a.is_crc_valid, b.is_crc_valid
        if a.epoch != b.epoch and len(self._result.differences) >= MAX_DIFFERENCES:
            self._result.difference_count += 1
            return
        if a.epoch != b.epoch or not all(valid_crcs):
            self._result.add_differences(describe_batches(sides, valid_crcs))
            return
        is_altered = any(
            _content(a, a.records[offset]) != _content(b, b.records[offset])
            for offset in a.records.keys() & b.records.keys()
        )
        if is_altered and is_same_range:
            self._result.add_differences(describe_batches(sides, valid_crcs))
        elif is_altered:
            self._result.add_differences(describe_records(sides, (a.records, b.records)))
        else:
            self._result.rewritten_batches += 1


def _content(batch: _OpenBatch, record: BatchRecord) -> tuple:
    row = batch.row
    return (
        record.timestamp_ms,
        record.key,
        record.value,
        record.headers,
        record.sequence,
        int(row["producer_id"]),
        int(row["producer_epoch"]),
        bool(is_control(row)),
        bool(is_transactional(row)),
        int(row["magic"]),
    )
