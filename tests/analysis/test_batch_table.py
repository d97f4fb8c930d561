"""The table of batches by row, compared with the header walk in every window, row and byte."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafkaviz.analysis.segment import batch_table
from kafkaviz.analysis.segment.batch_table import (
    BLOCK_ROWS,
    NO_ROW,
    BatchTable,
    BatchTableBuilder,
    table_of_rows,
)
from kafkaviz.errors import CannotOpen
from kafkaviz.format.walk import observe_scan
from kafkaviz.log import file
from kafkaviz.log.segment import LogSegment
from tests.analysis import arrays
from tests.pipeline.whole_logs import START_MS, batch

COUNT = 2 * BLOCK_ROWS + 100


@pytest.fixture(scope="module")
def segment(tmp_path_factory) -> LogSegment:
    """Draws batches of one to three records, with gaps between their offsets."""
    return write(tmp_path_factory.mktemp("orders-0"), COUNT)


def write(folder: Path, count: int) -> LogSegment:
    sizes = [1 + number % 3 for number in range(count)]
    data = b"".join(
        batch(4 * number, [START_MS + number] * size) for number, size in enumerate(sizes)
    )
    path = folder / f"{0:020d}.log"
    path.write_bytes(data)
    return LogSegment(base_offset=0, state="active", log=file.info(path))


def table_of(segment: LogSegment, kept_rows: int) -> BatchTable:
    builder = BatchTableBuilder(segment, kept_rows)
    observe_scan(segment.full_scan(), builder)
    return builder.result()


@pytest.fixture(scope="module", params=["kept", "read again"])
def both(request, segment) -> tuple[BatchTable, np.ndarray]:
    """Returns a table and its expected content."""
    return table_of(segment, COUNT if request.param == "kept" else 0), segment.batches()


def test_how_it_is_kept(segment):
    assert table_of(segment, COUNT).block_rows == COUNT
    table = table_of(segment, COUNT - 1)
    assert (table.block_rows, len(table.blocks)) == (BLOCK_ROWS, 3)


@given(first=st.integers(-5, COUNT + 5), length=st.integers(-2, COUNT))
def test_any_window(both, first, length):
    table, rows = both
    assert np.array_equal(
        table.window(first, first + length), rows[max(0, first) : max(0, first, first + length)]
    )


@given(position=st.integers(-10, COUNT * 500))
def test_any_byte(both, position):
    table, rows = both
    is_inside = (rows["position"] <= position) & (position < rows["position"] + rows["size_bytes"])
    assert table.row_containing_byte(position) == (
        int(np.flatnonzero(is_inside)[0]) if is_inside.any() else NO_ROW
    )


@given(offset=st.integers(-10, COUNT * 4 + 10))
def test_any_offset(both, offset):
    """The first batch that ends at or after the offset."""
    table, rows = both
    reaching = np.flatnonzero(rows["last_offset"] >= offset)
    assert table.row_holding_offset(offset) == (int(reaching[0]) if len(reaching) else NO_ROW)


@given(end=st.integers(0, COUNT * 500))
def test_a_log_that_is_served_up_to_a_byte(both, end):
    """Batches that end at or before the byte are served, and no later row."""
    table, rows = both
    clipped = table.until(end)
    expected = rows[rows["position"] + rows["size_bytes"] <= end]
    assert len(clipped) == len(expected)
    assert np.array_equal(clipped.window(len(expected) - 3, COUNT), expected[-3:])
    assert clipped.row_holding_offset(COUNT * 4 - 10) == NO_ROW or len(expected) > COUNT - 4
    assert np.array_equal(np.concatenate(list(clipped)), expected)


@given(end=st.integers(0, COUNT * 500))
def test_times(both, end):
    table, _ = both
    times_ms = table.until(end).all_rows()["max_timestamp_ms"]
    known = (int(times_ms.min()), int(times_ms.max())) if len(times_ms) else None
    assert table.until(end).known_ms == known


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 40), max_size=6))
def test_blocks_do_not_depend_on_how_they_come(blocks_of_seven, segment, cuts):
    """A scan gives arrays of any length, so a block may be completed by a later array."""
    rows = segment.batches()[:40].copy()
    rows["max_timestamp_ms"][::3] = -1
    builder = BatchTableBuilder(segment, 0)
    for batches in np.split(rows, sorted(cuts)):
        builder.observe(batches)
    blocks = builder.result().blocks
    assert blocks["position"].tolist() == rows["position"][::7].tolist()
    for number, block in enumerate(blocks):
        mine = rows[7 * number : 7 * number + 7]
        known = mine[mine["max_timestamp_ms"] >= 0]
        assert block["last_offset"] == rows["last_offset"][: 7 * number + 7].max()
        assert block["base_offset"] == mine["base_offset"].max()
        assert block["newest_ms"] == mine["max_timestamp_ms"].max()
        assert block["oldest_ms"] == known["max_timestamp_ms"].min()
        assert block["start_ms"] == known["base_timestamp_ms"].min()


@pytest.fixture
def blocks_of_seven():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_table, "BLOCK_ROWS", 7)
        yield


def test_offsets_that_go_back():
    """The first batch that reaches an offset, by the running maximum."""
    table = table_of_rows(arrays.batches([100] * 3, [5, 1, 1]))
    rows = table.all_rows().copy()
    rows["last_offset"] = [9, 3, 12]
    assert [table_of_rows(rows).row_holding_offset(offset) for offset in (3, 10, 13)] == [
        0,
        2,
        NO_ROW,
    ]


def test_no_batch():
    table = table_of_rows(arrays.batches([]))
    assert (len(table), len(table.window(0, 9)), len(table.until(9))) == (0, 0, 0)
    assert (table.row_containing_byte(0), table.row_holding_offset(0)) == (NO_ROW, NO_ROW)


def test_windows_cannot_be_changed(both):
    table, _ = both
    with pytest.raises(ValueError, match="read-only"):
        table.window(0, 3)["position"][0] = 1


def test_another_file_in_its_place(tmp_path):
    """A block whose batches changed is refused, and so is a log that is gone."""
    segment = write(tmp_path, COUNT)
    table = table_of(segment, 0)
    data = segment.log.path.read_bytes()
    segment.log.path.write_bytes(data[1:] + data[:1])
    with pytest.raises(CannotOpen):
        table.row(COUNT - 1)
    segment.log.path.unlink()
    with pytest.raises(CannotOpen):
        table.row(0)


def test_few_blocks_are_kept(segment, monkeypatch):
    """A window that was read is not read again."""
    table = table_of(segment, 0)
    table.window(0, 10)
    monkeypatch.setattr(file, "reader", None)
    assert len(table.window(5, BLOCK_ROWS)) == BLOCK_ROWS - 5
