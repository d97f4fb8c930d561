from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkaviz.pipeline.catalog.catalog_info import RowRange
from kafkaviz.pipeline.catalog.schema import TABLES
from kafkaviz.pipeline.ingest import merge_files
from kafkaviz.pipeline.ingest.merge_files import RowRuns, RowSource, merge, plan_layout

SLOTS = TABLES["time_entries"]


def source(folder: Path, name: str, numbers: range, *spans: tuple[int, int]) -> RowSource:
    """Returns a file with these slots, of which `spans` count, by default all."""
    path = folder / f"time_entries-{name}.parquet"
    rows = [dict.fromkeys(SLOTS.names) | {"slot": number} for number in numbers]
    pq.write_table(pa.Table.from_pylist(rows, SLOTS), path, row_group_size=4)
    runs = RowRuns()
    for first_row, count in spans or [(0, len(numbers))]:
        runs.add(RowRange(path.name, first_row, count))
    return RowSource(path, runs.joined(), len(numbers), path.stat().st_size)


@pytest.fixture
def staging(tmp_path) -> Path:
    (tmp_path / "time_entries").mkdir()
    return tmp_path


def slots(staging: Path, name: str) -> list[int]:
    return pq.read_table(staging / "time_entries" / name)["slot"].to_pylist()


def test_small_files_become_one(staging):
    first = source(staging, "a", range(10))
    second = source(staging, "b", range(10, 20), (7, 3), (0, 2))
    (task,) = plan_layout("time_entries", [first, second]).merges
    assert merge(task, staging) == task.name and task.rows == 15
    assert slots(staging, task.name) == [*range(12), 17, 18, 19]


def test_each_span_is_found_again(staging):
    files = [source(staging, "a", range(10)), source(staging, "b", range(10, 20), (7, 3), (0, 2))]
    layout = plan_layout("time_entries", files)
    (task,) = layout.merges
    rows = slots(staging, merge(task, staging))
    for name, first_row, count in (("a", 0, 10), ("a", 4, 3), ("b", 0, 2), ("b", 8, 1)):
        expected = slots(staging.parent, staging / f"time_entries-{name}.parquet")
        new = layout.find(RowRange(f"time_entries-{name}.parquet", first_row, count))
        assert (
            rows[new.first_row : new.first_row + new.rows]
            == expected[first_row : first_row + count]
        )


def test_a_large_file_stays(staging, monkeypatch):
    large, small = source(staging, "a", range(10_000)), source(staging, "b", range(10))
    monkeypatch.setattr(merge_files, "LARGE_BYTES", large.file_bytes)
    layout = plan_layout("time_entries", [large, small, small])
    assert layout.unchanged == [large] and [task.rows for task in layout.merges] == [20]
    assert layout.find(RowRange(large.path.name, 7, 3)) == RowRange(large.path.name, 7, 3)
    partial = source(staging, "c", range(10_000), (0, 9_999))
    assert [task.rows for task in plan_layout("time_entries", [partial]).merges] == [9_999]


def test_a_file_alone_stays(staging):
    small = source(staging, "a", range(10))
    layout = plan_layout("time_entries", [small])
    assert layout.unchanged == [small] and not layout.merges


def test_a_file_is_full_at_its_size(staging, monkeypatch):
    files = [source(staging, str(number), range(10)) for number in range(7)]
    monkeypatch.setattr(merge_files, "FILE_BYTES", 2 * files[0].file_bytes + 1)
    monkeypatch.setattr(merge_files, "LARGE_BYTES", files[0].file_bytes + 1)
    layout = plan_layout("time_entries", files)
    assert [len(task.sources) for task in layout.merges] == [3, 3] and len(layout.unchanged) == 1


def test_row_groups_are_put_together(staging):
    files = [source(staging, str(number), range(10)) for number in range(30)]
    (task,) = plan_layout("time_entries", files).merges
    path = staging / "time_entries" / merge(task, staging)
    assert pq.read_metadata(path).num_row_groups == 1
