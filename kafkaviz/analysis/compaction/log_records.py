"""Every record of a small log, and what one cleaning does to it.

The fates mean the same as in compaction.key_story. Here, a cleaning in memory shows which
transaction markers are removed, and where the offset map was full.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kafkaviz.analysis.compaction.compaction import DecidedLog, log_transactions
from kafkaviz.analysis.compaction.key_story import GOES, Fate, FoundRecord, find_fate
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, control
from kafkaviz.format.batch import has_delete_horizon, is_control
from kafkaviz.search.log_view import SegmentView
from kafkaviz.simulate.cleaner.batch_chunks import BatchChunk, BatchChunks, CleaningFailed
from kafkaviz.simulate.cleaner.cleaner import Cleaning, OffsetRanges

MAX_RECORDS = 100
MAX_BYTES = 1 << 20  # a larger log is not read
NONE = -1


@dataclass(frozen=True, kw_only=True)
class LogRecord(FoundRecord):
    """A record of a log.

    Attributes:
        marker: the type of a control record, such as "COMMIT"; None: another record.
        new_horizon_ms: the delete horizon after the cleaning; None: no horizon.
        replaced_by: the offset of the key's next record that is not aborted; None: the last one.
        is_mapped: whether this is the offset that the cleaner's map has for the key.
    """

    key: bytes | None
    value: bytes | None
    marker: str | None
    new_horizon_ms: int | None = None
    replaced_by: int | None = None
    is_mapped: bool = False
    fate: Fate = Fate.LATEST

    @property
    def is_tombstone(self) -> bool:
        return self.value_bytes < 0 and self.marker is None


def log_records(
    log: DecidedLog, cleaning: Cleaning | None, now_ms: int, max_records: int = MAX_RECORDS
) -> tuple[LogRecord, ...] | None:
    """Returns every record of a small log, with its fate in a cleaning.

    None: the log has more than `max_records` or MAX_BYTES, or a closed segment is unreadable. An
    unreadable end of the active segment is left out.

    Args:
        cleaning: the result of the cleaning; None: there was none, and every marker stays.
    """
    if sum(view.size_bytes for view in log.state.views) > MAX_BYTES:
        return None
    records: list[LogRecord] = []
    try:
        for record in _read(log):
            records.append(record)
            if len(records) > max_records:
                return None
    except (CleaningFailed, CorruptBytes):
        return None
    return _with_fates(log, cleaning, now_ms, records)


def _read(log: DecidedLog) -> Iterator[LogRecord]:
    transactions = log_transactions(log.state)
    for view in log.state.views:
        try:
            for chunk in BatchChunks(view.log):
                can_discard, _ = transactions.take(chunk)
                for row in range(len(chunk.batches)):
                    yield from _read_batch(view, chunk, row, can_discard=bool(can_discard[row]))
        except (CleaningFailed, CorruptBytes):
            if view is not log.state.views[-1]:
                raise


def _read_batch(
    view: SegmentView, chunk: BatchChunk, row: int, *, can_discard: bool
) -> Iterator[LogRecord]:
    batch = chunk.batches[row]
    position = int(batch["position"])
    start = position - chunk.position
    data = chunk.data[start : start + int(batch["size_bytes"])].data
    is_marker = bool(is_control(chunk.batches[row : row + 1])[0])
    has_horizon = bool(has_delete_horizon(chunk.batches[row : row + 1])[0])
    for record in batch_records.iterate(data):
        yield LogRecord(
            segment=view.base_offset,
            position=position,
            offset=record.offset,
            timestamp_ms=record.timestamp_ms,
            size_bytes=record.size_bytes,
            value_bytes=NONE if record.value is None else len(record.value),
            is_aborted=can_discard and not is_marker,
            delete_horizon_ms=int(batch["base_timestamp_ms"]) if has_horizon else None,
            key=record.key,
            value=record.value,
            marker=control.decode(record.key, record.value).name if is_marker else None,
        )


def _with_fates(
    log: DecidedLog, cleaning: Cleaning | None, now_ms: int, unjudged: Sequence[LogRecord]
) -> tuple[LogRecord, ...]:
    decision = log.decision
    stop = decision.first_uncleanable_segment
    removed: set[int] = set()
    new_horizons: dict[int, int | None] = {}
    if cleaning:
        stop = min(stop, cleaning.next_first_dirty_offset)
        removed = _offsets(cleaning.removed)
        new_horizons = dict(cleaning.tombstones_left + cleaning.markers_left)
    mapped = {
        record.key: record.offset
        for record in unjudged
        if decision.first_dirty_offset <= record.offset < stop and _has_place_in_map(record)
    }
    records = []
    replaced_by: dict[bytes | None, int] = {}
    for record in reversed(unjudged):
        next_offset = replaced_by.get(record.key)
        mapped_offset = mapped.get(record.key, NONE)
        if record.marker is not None:
            fate = Fate.MARKER_DUE if record.offset in removed else Fate.MARKER
        elif record.key is None and not record.is_aborted:
            fate = Fate.KEYLESS if record.offset < stop else Fate.KEYLESS_UNCLEANABLE
        else:
            fate = find_fate(record, next_offset, mapped_offset, decision, now_ms)
            fate = _limit_to_map(
                fate, record, next_offset, stop, decision.first_uncleanable_segment
            )
        if record.offset in removed and fate not in GOES:
            fate = Fate.TOMBSTONE_DUE  # a tombstone of magic 0 or 1, which has no delete horizon
        records.append(
            replace(
                record,
                new_horizon_ms=new_horizons.get(record.offset, record.delete_horizon_ms),
                replaced_by=next_offset,
                is_mapped=record.offset == mapped_offset,
                fate=fate,
            )
        )
        if _has_place_in_map(record):
            replaced_by[record.key] = record.offset
    return tuple(records[::-1])


def _has_place_in_map(record: LogRecord) -> bool:
    return record.key is not None and record.marker is None and not record.is_aborted


def _limit_to_map(
    fate: Fate, record: LogRecord, replaced_by: int | None, stop: int, uncleanable: int
) -> Fate:
    """Returns the fate of a record if the cleaner's map became full at `stop`.

    Args:
        fate: the record's fate if the map had room for all keys.
        uncleanable: the base offset of the first segment that cannot be cleaned.
    """
    if stop <= record.offset < uncleanable:
        return Fate.AFTER_MAP
    if fate == Fate.NEITHER_IS_DIRTY and replaced_by is not None and replaced_by >= stop:
        return Fate.REPLACED_AFTER_MAP
    return fate


def _offsets(ranges: OffsetRanges) -> set[int]:
    return {offset for first, last in ranges.ranges.tolist() for offset in range(first, last + 1)}
