"""Random compacted logs: the compiled cleaner against a plain loop over dictionaries."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.binary.file_view import in_memory
from kafkaviz.format import batch, producer_snapshot, record
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.format.batch_records import read_batch
from kafkaviz.search.log_view import SegmentView
from kafkaviz.simulate.cleaner.cleaner import CleanerConfig, CleaningRange, clean
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.batch_encoder import seal

NOW_MS = 1_000_000
RETENTION_MS = 1000
KEYS = st.one_of(st.none(), st.integers(0, 12).map(lambda number: b"k%d" % number))
VALUES = st.one_of(st.none(), st.binary(max_size=20))
RECORDS = st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=5)
HORIZONS = st.sampled_from([None, None, NOW_MS - 1, NOW_MS + 1])
SEGMENTS = st.lists(
    st.lists(st.tuples(RECORDS, HORIZONS), min_size=1, max_size=6), min_size=1, max_size=5
)


def build_batch(base_offset: int, records: list, horizon_ms: int | None) -> bytes:
    body = record.build(
        [
            record.Record(offset_delta=delta, timestamp_delta_ms=delta, key=key, value=value)
            for delta, (key, value) in enumerate(records)
        ]
    )
    row = np.zeros(1, batch.BATCH)
    row["size_bytes"] = HEADER_BYTES + len(body)
    row["base_offset"] = base_offset
    row["last_offset"] = base_offset + len(records) - 1
    row["magic"] = 2
    row["attributes"] = 0 if horizon_ms is None else batch.DELETE_HORIZON
    row["base_timestamp_ms"] = base_offset if horizon_ms is None else horizon_ms
    row["max_timestamp_ms"] = row["base_timestamp_ms"] + len(records) - 1
    row["producer_id"] = -1
    row["producer_epoch"] = -1
    row["base_sequence"] = -1
    row["record_count"] = len(records)
    data = np.zeros(HEADER_BYTES + len(body), np.uint8)
    data[HEADER_BYTES:] = np.frombuffer(body, np.uint8)
    seal(row, data)
    return data.tobytes()


def build_log(segments: list) -> tuple[list[SegmentView], list[tuple]]:
    """Returns the segments and an empty active one; and each record with its batch's horizon."""
    views = []
    records = []
    offset = 0
    for batches in segments:
        base_offset = offset
        data = b""
        for batch_records, horizon_ms in batches:
            data += build_batch(offset, batch_records, horizon_ms)
            batch_offset = offset
            for key, value in batch_records:
                records.append((offset, key, value, horizon_ms, batch_offset))
                offset += 1
        views.append(SegmentView(base_offset=base_offset, log=in_memory("log", data)))
    views.append(SegmentView(base_offset=offset, log=in_memory("log", b"")))
    return views, records


def clean_plainly(records: list[tuple], first_dirty: int, most_keys: int, end: int) -> tuple:
    """Returns the end of the map, and the offsets of the records that stay."""
    latest: dict[bytes, int] = {}
    last = end - 1
    for offset, key, _, _, batch_offset in records:
        if offset < first_dirty or key is None:
            continue
        if len(latest) >= most_keys:
            # the map ends at its last key, or at the last batch that was read completely
            last = max([*latest.values(), batch_offset - 1])
            break
        latest[key] = offset
    kept = []
    for offset, key, value, horizon_ms, _ in records:
        is_late = horizon_ms is not None and horizon_ms <= NOW_MS
        is_kept = key is not None and offset >= latest.get(key, -1)
        if offset > last or (is_kept and (value is not None or not is_late)):
            kept.append(offset)
    return last, kept


@settings(max_examples=60, deadline=None)
@given(SEGMENTS, st.integers(1, 15), st.floats(0, 1))
def test_the_compiled_cleaner_equals_a_plain_loop(segments, most_keys, share):
    views, records = build_log(segments)
    end = views[-1].base_offset
    first_dirty = int(share * (end - 1))
    logs: dict[int, bytes] = {}

    def write(base_offset: int, data: bytes) -> None:
        logs[base_offset] = logs.get(base_offset, b"") + data

    cleaning = clean(
        CleaningRange(
            segments=views,
            log_start_offset=0,
            high_watermark=-1,
            first_dirty_offset=first_dirty,
            stop_offset=end,
            producers=np.empty(0, producer_snapshot.PRODUCER),
        ),
        CleanerConfig(
            log=LogConfig(segment_bytes=400),
            delete_retention_ms=RETENTION_MS,
            most_keys=most_keys,
            io_buffer_bytes=1000,
        ),
        (4, 4),
        NOW_MS,
        write=write,
    )
    last, kept = clean_plainly(records, first_dirty, most_keys, end)
    sources = {base for segment in cleaning.segments for base in segment.sources}
    stop = min(view.base_offset for view in views if view.base_offset > max(sources))
    assert cleaning.next_first_dirty_offset - 1 == last
    cleaned_kept = [offset for offset in kept if offset < stop]
    assert cleaning.retained.ranges.tolist() == ranges_of(cleaned_kept)
    assert cleaning.retained.records == len(cleaned_kept)
    removed = sorted({offset for offset, *_ in records if offset < stop} - set(cleaned_kept))
    assert cleaning.removed.ranges.tolist() == ranges_of(removed)
    by_offset = {offset: (key, value) for offset, key, value, *_ in records}
    written = [
        (found.offset, found.key, found.value) for data in logs.values() for found in parsed(data)
    ]
    assert written == [(offset, *by_offset[offset]) for offset in cleaned_kept]


def parsed(data: bytes) -> list:
    records = []
    while data:
        size_bytes = 12 + int.from_bytes(data[8:12], "big")
        records += read_batch(data[:size_bytes])
        data = data[size_bytes:]
    return records


def ranges_of(offsets: list[int]) -> list[list[int]]:
    """Returns the first and last of each run of consecutive offsets."""
    ranges: list[list[int]] = []
    for offset in offsets:
        if ranges and ranges[-1][1] == offset - 1:
            ranges[-1][1] = offset
        else:
            ranges.append([offset, offset])
    return ranges
