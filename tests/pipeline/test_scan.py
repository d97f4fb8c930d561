"""The scan of a task: its rows, its summaries, and its behaviour on unreadable bytes."""

import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkaviz.analysis.checks import segment as checks
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.binary import codec
from kafkaviz.format import offset_index
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import Problem, open_broker
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog.schema import ROW_TABLES, TASK_TABLES
from kafkaviz.pipeline.ingest import row_file, stored_checks
from kafkaviz.pipeline.ingest.plan import tasks_per_segment
from kafkaviz.pipeline.ingest.segment_splits import (
    IngestTask,
    SegmentSplit,
    SplitSummary,
    merge_splits,
)
from kafkaviz.pipeline.ingest.split_scan import scan
from kafkaviz.pipeline.read.tasks import SegmentTask
from tests.pipeline.catalog_rows import without_checked
from tests.pipeline.plain_rows import tables, tables_of
from tests.pipeline.segment_tasks import empty_task, segment_tasks_of
from tests.pipeline.small_logs import write_broker
from tests.pipeline.source_reading import counted


@pytest.fixture
def staging(tmp_path) -> Path:
    for table in TASK_TABLES:
        (tmp_path / "staging" / table).mkdir(parents=True)
    return tmp_path / "staging"


def task_of(directory: Path, topic: str) -> SegmentTask:
    """Returns the task of the topic's first segment."""
    return next(task for task in segment_tasks_of(directory) if task.topic == topic)


def checked_tasks_of(directory: Path) -> list[SegmentTask]:
    """Returns every segment of a broker directory as a task with checks and sweep."""
    broker = open_broker(directory)
    checks = plan_check(broker)
    facts = [checks.facts(partition) for partition in broker.partitions for _ in partition.segments]
    return [
        replace(segment_task, facts=facts_of_segment, needs_sweep=True)
        for segment_task, facts_of_segment in zip(segment_tasks_of(directory), facts, strict=True)
    ]


def write_log(directory: Path, partition: str, data: bytes) -> Path:
    """Writes a segment of a .log alone."""
    log = directory / partition / f"{0:020d}.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(data)
    return log


def together(segment_tasks: list[SegmentTask]) -> IngestTask:
    tasks = tasks_per_segment(segment_tasks)
    return IngestTask(tuple(split for task in tasks for split in task.splits))


def merged_stretches(segment_task: SegmentTask, cut: int, staging: Path) -> SplitSummary | None:
    """Returns the summary of a segment that is read in two tasks."""
    edges = (0, cut, segment_task.log_bytes)
    tasks = [IngestTask((SegmentSplit(segment_task, *pair),)) for pair in pairwise(edges)]
    return merge_splits([summary for task in tasks for summary in scan(task, staging)])


def rows_of(summaries: list[SplitSummary], table: str, staging: Path) -> list[dict]:
    files = {path.name: pq.read_table(path) for path in (staging / table).iterdir()}
    spans = [summary.spans[table] for summary in summaries if table in summary.spans]
    parts = [files[span.file].slice(span.first_row, span.rows) for span in spans]
    return pa.concat_tables(parts).to_pylist() if parts else []


def test_magic_0_and_1_have_nulls(shared, staging):
    """A 2.8.2 broker's directory: hidden values are read inside wrappers."""
    directory = unpack_if_archive(shared / "data" / "kafka-2.8.2-legacy.tar.gz")
    summaries = scan(together(segment_tasks_of(directory)), staging)
    rows = rows_of(summaries, "batches", staging)
    assert rows == tables_of(directory)["batches"]
    wrappers = [row for row in rows if row["magic"] < 2 and row["codec"] != "none"]
    assert len(wrappers) == 1166 and all(
        row["record_count"] >= 1 and row["base_offset"] <= row["last_offset"] for row in wrappers
    )
    assert {row["max_timestamp_ms"] is None for row in rows if row["magic"] == 0} == {True}
    assert {row["leader_epoch"] for row in rows if row["magic"] < 2} == {None}


def assert_checked_alike(directory: Path, staging: Path) -> None:
    """Asserts that one pass with checks and sweep gives the rows and summaries of a pass without
    them, and the findings of the checks alone.
    """
    plain = scan(together(segment_tasks_of(directory)), staging)
    checked_tasks = checked_tasks_of(directory)
    checked = scan(together(checked_tasks), staging)
    for table in ROW_TABLES:
        plain_rows = rows_of(plain, table, staging)
        assert without_checked(rows_of(checked, table, staging)) == without_checked(plain_rows)
    assert [replace(summary, spans={}, check_json=None) for summary in checked] == [
        replace(summary, spans={}) for summary in plain
    ]
    for segment_task, summary in zip(checked_tasks, checked, strict=True):
        assert summary.check_json == stored_checks.to_json(
            checks.check(segment_task.segment, segment_task.facts)
        )


@pytest.mark.parametrize("sample", ["damaged", "unstartable", "restarted_4_4"])
def test_a_pass_with_checks_gives_the_same_rows(sample, request, staging):
    assert_checked_alike(request.getfixturevalue(sample), staging)


def test_a_check_knows_the_uncompressed_size_of_each_batch(clean, staging):
    """A broker packed the records of this sample with each codec."""
    tasks = checked_tasks_of(clean)
    packed = set()
    for task, summary in zip(tasks, scan(together(tasks), staging), strict=True):
        log = task.segment.log.path.read_bytes()
        for row in rows_of([summary], "batches", staging):
            data = log[row["position"] + HEADER_BYTES : row["position"] + row["size_bytes"]]
            records = codec.decompress(row["codec"], data)
            assert row["uncompressed_bytes"] == len(records)
            packed.add(row["codec"])
    assert packed == set(codec.CODECS)


def test_the_size_of_records_that_were_not_read_is_unknown(clean, staging, tmp_path):
    """A check cannot read the records of the first batch; a check of checksums reads none."""
    source = task_of(clean, "payments").segment
    data = bytearray(source.log.path.read_bytes())
    data[HEADER_BYTES] ^= 0x40  # the length of the first record
    write_log(tmp_path / "made", "payments-0", data)
    tasks = checked_tasks_of(tmp_path / "made")
    rows = rows_of(scan(together(tasks), staging), "batches", staging)
    sizes = [row["uncompressed_bytes"] for row in rows]
    assert sizes == [None, *(row["size_bytes"] - HEADER_BYTES for row in rows[1:])]
    tasks = [replace(task, facts=replace(task.facts, level=CheckLevel.CRC)) for task in tasks]
    rows = rows_of(scan(together(tasks), staging), "batches", staging)
    assert {row["uncompressed_bytes"] for row in rows if row["record_count"]} == {None}


@pytest.mark.parametrize("flipped", range(12))
def test_a_pass_with_checks_gives_the_same_rows_after_a_wrong_length(
    clean, staging, tmp_path, flipped
):
    """Base offset and length of a batch in the middle are changed byte by byte: the checks continue
    after it, while a broker's reader stops or skips batches.
    """
    source = task_of(clean, "payments").segment
    starts = source.batches()["position"]
    data = bytearray(source.log.path.read_bytes()[: starts[8]])
    data[starts[3] + flipped] ^= 0x02
    write_log(tmp_path / "made", "payments-0", data)
    assert_checked_alike(tmp_path / "made", staging)


@pytest.mark.slow
def test_a_pass_with_checks_gives_the_same_rows_of_magic_0_and_1(shared, staging):
    assert_checked_alike(unpack_if_archive(shared / "data" / "kafka-2.8.2-legacy.tar.gz"), staging)


@pytest.mark.parametrize("kept", [1.0, 0.7])
def test_a_pass_with_checks_reads_a_log_once(clean, staging, tmp_path, monkeypatch, kept):
    """Each byte once, also a torn tail's, and some headers a second time."""
    source = max(segment_tasks_of(clean), key=lambda segment_task: segment_task.log_bytes).segment
    data = source.log.path.read_bytes()[: int(source.log.size_bytes * kept)]
    log = write_log(tmp_path / "made", "tiny-0", data)
    tasks = checked_tasks_of(tmp_path / "made")
    with counted(monkeypatch) as reads:
        (summary,) = scan(together(tasks), staging)
    assert summary.check_json is not None
    assert log.stat().st_size <= reads.bytes <= 1.05 * log.stat().st_size


@pytest.mark.slow
def test_few_rows_at_once_are_the_same_rows(clean, staging, monkeypatch):
    monkeypatch.setattr(row_file, "ROWS_AT_ONCE", 100)
    expected = tables_of(clean)
    summaries = scan(together(segment_tasks_of(clean)), staging)
    for table in ROW_TABLES:
        assert rows_of(summaries, table, staging) == expected[table]
    assert pq.ParquetFile(next((staging / "batches").iterdir())).num_row_groups > 50


def test_stretches_are_together_the_whole(clean, staging):
    segment_task = task_of(clean, "heartbeat")
    (uncut,) = scan(together([segment_task]), staging)
    positions = replace(segment_task.segment).offset_index["position"][[100, 101, 200]].tolist()
    edges = [0, *positions, segment_task.log_bytes]
    tasks = [IngestTask((SegmentSplit(segment_task, *pair),)) for pair in pairwise(edges)]
    summaries = [summary for task in reversed(tasks) for summary in scan(task, staging)]
    merged, expected = merge_splits(summaries), merge_splits([uncut])
    assert replace(merged, spans=expected.spans) == expected
    in_order = sorted(summaries, key=lambda summary: summary.start)
    for table in ROW_TABLES:
        assert rows_of(in_order, table, staging) == rows_of([uncut], table, staging)


@pytest.mark.parametrize("beside", [1, -1, 17, 60])
def test_a_cut_that_is_no_batch_start_is_noticed(clean, staging, beside):
    """The split before does not end there, so the segment does not count as read."""
    segment_task = task_of(clean, "heartbeat")
    cut = int(replace(segment_task.segment).offset_index["position"][100]) + beside
    assert merged_stretches(segment_task, cut, staging) is None


def test_a_log_torn_in_its_middle_is_not_read_after_that(tmp_path, staging):
    """The split after a bad length must not give rows that a walk from the start would not."""
    directory = write_broker(tmp_path / "made", {"a-0": [[100] * 50]})
    log = directory / "a-0" / "00000000000000000000.log"
    content = bytearray(log.read_bytes())
    content[1008:1012] = b"\xff\xff\xff\xff"
    log.write_bytes(content)
    (segment_task,) = segment_tasks_of(directory)
    assert merged_stretches(segment_task, 3000, staging) is None
    (uncut,) = scan(together([segment_task]), staging)
    assert (uncut.content.batches, uncut.end_position) == (10, 1000)


def test_a_second_attempt_writes_files_of_its_own(clean, staging):
    task = together(segment_tasks_of(clean)[:3])
    first, second = scan(task, staging), scan(task, staging)
    assert len(list((staging / "batches").iterdir())) == 2
    assert {summary.spans["batches"].file for summary in first} & {
        summary.spans["batches"].file for summary in second
    } == set()


def test_deleted_cleaned_and_swapped_files_have_no_rows(tmp_path, staging):
    directory = write_broker(tmp_path / "made", {"a-0": [[100] * 5, [100] * 7]})
    for path in (directory / "a-0").glob("*" + "0.*"):
        if path.name.startswith("0" * 20):
            path.rename(path.with_name(f"{path.name}.deleted"))
    summaries = scan(together(segment_tasks_of(directory)), staging)
    assert [(summary.content.batches, set(summary.spans)) for summary in summaries] == [
        (5, set()),
        (7, set(ROW_TABLES)),
    ]
    assert {row["segment_base_offset"] for row in rows_of(summaries, "batches", staging)} == {10}


def test_an_index_without_its_log_has_rows(tmp_path, staging):
    directory = write_broker(tmp_path / "made", {"a-0": [[100] * 4]})
    for kind in ("log", "timeindex"):
        (directory / "a-0" / f"00000000000000000000.{kind}").unlink()
    (summary,) = scan(together(segment_tasks_of(directory)), staging)
    slots = summary.slots
    assert (slots.offset_entries, slots.time_entries) == (3, None)
    assert (summary.end_position, summary.content.batches) == (None, 0)
    rows = rows_of([summary], "offset_entries", staging)
    assert [row["position"] for row in rows] == [100, 200, 300]


@pytest.mark.parametrize(
    ("vanished", "row_counts"),
    [("log", {"offset_entries", "time_entries"}), ("index", {"batches", "time_entries"})],
)
def test_a_file_that_vanished_is_a_problem_of_its_segment_alone(
    tmp_path, staging, vanished, row_counts
):
    directory = write_broker(tmp_path / "made", {"a-0": [[100] * 5, [100] * 7, [100] * 9]})
    segment_tasks = segment_tasks_of(directory)
    os.unlink(getattr(segment_tasks[1].segment, vanished).path)
    summaries = scan(together(segment_tasks), staging)
    gone = getattr(segment_tasks[1].segment, vanished).path
    problem = Problem(gone, message("errors.not_there"))
    assert [summary.problems for summary in summaries] == [(), (problem,), ()]
    assert set(summaries[1].spans) == row_counts
    counts = [summary.content.batches for summary in summaries]
    assert counts == [5, 0 if vanished == "log" else 7, 9]


def test_a_log_that_cannot_be_read_to_its_end_keeps_what_was_read(tmp_path, staging, monkeypatch):
    directory = write_broker(tmp_path / "made", {"a-0": [[100] * 30_000]})
    (segment_task,) = segment_tasks_of(directory)
    preadv = os.preadv

    def failing(number: int, buffers: list, position: int) -> int:
        if position > 2_000_000:
            raise OSError(5, "Input/output error")
        return preadv(number, buffers, position)

    monkeypatch.setattr(os, "preadv", failing)
    (summary,) = scan(together([segment_task]), staging)
    assert summary.problems == (Problem(segment_task.segment.log.path, message("system.eio")),)
    assert 0 < summary.content.batches < 30_000
    assert (
        summary.end_position == 100 * summary.content.batches == 100 * summary.spans["batches"].rows
    )


def test_every_file_is_reported_once(tmp_path, staging):
    """A segment read in two splits, both without their index and log."""
    directory = write_broker(tmp_path / "made", {"a-0": [[100] * 50]})
    (segment_task,) = segment_tasks_of(directory)
    for file_info in (segment_task.segment.index, segment_task.segment.log):
        file_info.path.unlink()
    tasks = [
        IngestTask((SegmentSplit(segment_task, 0, 3000),)),
        IngestTask((SegmentSplit(segment_task, 3000, 5000),)),
    ]
    summaries = [
        replace(summary, end_position=summary.stop)
        for task in tasks
        for summary in scan(task, staging)
    ]
    files = (segment_task.segment.index, segment_task.segment.log)
    both = tuple(Problem(lost.path, message("errors.not_there")) for lost in files)
    assert [summary.problems for summary in summaries] == [both, both]
    assert merge_splits(summaries).problems == both


def test_a_log_shorter_than_listed_ends_where_it_ends(tmp_path, staging):
    """Its broker truncated it meanwhile."""
    directory = write_broker(tmp_path / "made", {"a-0": [[100] * 50]})
    (segment_task,) = segment_tasks_of(directory)
    os.truncate(segment_task.segment.log.path, 1234)
    (summary,) = scan(together([segment_task]), staging)
    assert (summary.end_position, summary.content.batches, summary.problems) == (1200, 12, ())


def test_of_two_entries_for_a_batch_the_one_it_holds_counts(tmp_path, staging):
    """In the damaged index slot 3 points where slot 6 does."""
    directory = write_broker(tmp_path / "made", {"a-0": [[100] * 10]})
    path = directory / "a-0" / "00000000000000000000.index"
    entries = offset_index.parse(path.read_bytes()).astype(offset_index.ENTRY)
    entries["position"][3] = entries["position"][6]
    path.write_bytes(offset_index.build(entries))
    summaries = scan(together(segment_tasks_of(directory)), staging)
    slots = [row["entry_slot"] for row in rows_of(summaries, "batches", staging)]
    assert slots == [None, 0, 1, 2, None, 4, 5, 6, 7, 8]


def test_bytes_changed_at_random_end_no_task(clean, staging, tmp_path):
    rng = np.random.default_rng(7)
    partition = tmp_path / "made" / "tiny-0"
    partition.mkdir(parents=True)
    source = task_of(clean, "payments").segment
    for round_ in range(30):
        paths = {}
        for kind in ("log", "index", "timeindex"):
            content = bytearray(getattr(source, kind).path.read_bytes()[:20_000])
            for place in rng.integers(0, len(content), rng.integers(1, 40)):
                content[place] = rng.integers(0, 256)
            paths[kind] = partition / f"{source.base_offset + round_:020d}.{kind}"
            paths[kind].write_bytes(content)
    directory = tmp_path / "made"
    assert_checked_alike(directory, staging)
    summaries = scan(together(segment_tasks_of(directory)), staging)
    assert len(summaries) == 30 and not any(summary.problems for summary in summaries)
    expected = tables(open_broker(directory), "made")
    for table in ("offset_entries", "time_entries"):
        assert rows_of(summaries, table, staging) == expected[table]
    places, expected_places = (
        [(row["position"], row["size_bytes"], row["last_offset"]) for row in rows]
        for rows in (rows_of(summaries, "batches", staging), expected["batches"])
    )
    assert places == expected_places


def test_a_task_of_nothing_writes_nothing(staging):
    (summary,) = scan(together([empty_task(0)]), staging)
    assert summary.spans == {}
    assert [path for table in ROW_TABLES for path in (staging / table).iterdir()] == []
