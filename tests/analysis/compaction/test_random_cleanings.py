"""Random compacted logs: the compiled cleaner against a plain loop over dictionaries."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.format import batch
from kafkaviz.format.batch_records import read_batch
from kafkaviz.search.log_view import SegmentView
from kafkaviz.simulate.cleaner.offset_map import OffsetMap
from tests.analysis.compaction.made_logs import (
    NOW_MS,
    build_batch,
    build_body,
    clean_segments,
    view,
)

KEYS = st.one_of(st.none(), st.integers(0, 12).map(lambda number: b"k%d" % number))
VALUES = st.one_of(st.none(), st.binary(max_size=20))
RECORDS = st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=5)
HORIZONS = st.sampled_from([None, None, NOW_MS - 1, NOW_MS + 1])
SEGMENTS = st.lists(
    st.lists(st.tuples(RECORDS, HORIZONS), min_size=1, max_size=6), min_size=1, max_size=5
)


def build_log(segments: list) -> tuple[list[SegmentView], list[tuple]]:
    """Returns the segments and an empty active one; and each record with its batch's horizon."""
    views = []
    records = []
    offset = 0
    for batches in segments:
        base_offset = offset
        data = b""
        for batch_records, horizon_ms in batches:
            header = {} if horizon_ms is None else horizon_header(horizon_ms)
            data += build_batch(offset, build_body(batch_records), len(batch_records), **header)
            batch_offset = offset
            for key, value in batch_records:
                records.append((offset, key, value, horizon_ms, batch_offset))
                offset += 1
        views.append(view(base_offset, data))
    return [*views, view(offset, b"")], records


def horizon_header(horizon_ms: int) -> dict[str, int]:
    times = {"base_timestamp_ms": horizon_ms, "max_timestamp_ms": horizon_ms}
    return {"attributes": batch.DELETE_HORIZON, **times}


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

    cleaning = clean_segments(
        views, OffsetMap(most_keys), first_dirty, segment_bytes=400, write=write
    )
    last, kept = clean_plainly(records, first_dirty, most_keys, end)
    sources = {base for segment in cleaning.segments for base in segment.sources}
    stop = min(view.base_offset for view in views if view.base_offset > max(sources))
    assert cleaning.next_first_dirty_offset - 1 == last
    cleaned_kept = [offset for offset in kept if offset < stop]
    assert offsets_of(cleaning.retained.ranges) == cleaned_kept
    assert cleaning.retained.records == len(cleaned_kept)
    removed = sorted({offset for offset, *_ in records if offset < stop} - set(cleaned_kept))
    assert offsets_of(cleaning.removed.ranges) == removed
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


def offsets_of(ranges: np.ndarray) -> list[int]:
    return [offset for first, last in ranges.tolist() for offset in range(first, last + 1)]
