"""A compressed segment that is decoded in splits gives what one pass gives."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.format.batch import codec
from kafkaviz.format.walk import walk
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.catalog.schema import TABLES
from kafkaviz.pipeline.ingest import job
from kafkaviz.pipeline.ingest import plan as plan_module
from kafkaviz.pipeline.ingest.plan import Task, plan, sort_by_cost, startup_tasks
from kafkaviz.pipeline.ingest.segment_splits import (
    DecodedSplit,
    DecodeTask,
    IngestTask,
    decode,
    is_whole,
)
from kafkaviz.pipeline.read.tasks import SegmentTask
from tests.pipeline.whole_logs import START_MS, batch, broker, write

TIMES_MS = range(START_MS, START_MS + 10)


@pytest.fixture
def small_shares(monkeypatch):
    """Makes every compressed segment be decoded, and cut where its index allows it."""
    monkeypatch.setattr(plan_module, "MIN_BYTES", 1)
    monkeypatch.setattr(plan_module, "TASKS_PER_CORE", 1000)
    monkeypatch.setattr(plan_module, "SAMPLED_FROM_BYTES", 0)


@pytest.fixture
def jobs(monkeypatch) -> list[list[Task]]:
    jobs, run_tasks = [], job.run_tasks

    def run_and_note(run, runner, tasks, staging):
        jobs.append([task.unpack() for task in tasks])
        return run_tasks(run, runner, tasks, staging)

    monkeypatch.setattr(job, "run_tasks", run_and_note)
    return jobs


def tables(path: Path) -> dict[str, list]:
    """Returns every row of a catalog without digests and without the places of rows in files."""
    stored = catalog.read(path)
    rows = {
        name: stored.table(
            name, [column for column in TABLES[name].names if column != "digest"]
        ).to_pylist()
        for name in TABLES
    }
    for row in rows["stamps"]:
        row["json"] = {key: text for key, text in json.loads(row["json"]).items() if key != "spans"}
    return {name: sorted(map(repr, each)) for name, each in rows.items()}


def segment_task(directory: Path, number: int = 0) -> SegmentTask:
    partition = open_broker(directory).partitions[0]
    segment: Segment = partition.segments[number]
    facts = PartitionFacts(partition=partition.directory)
    return SegmentTask(
        number=number,
        broker="made",
        topic=partition.topic,
        partition=0,
        segment=segment,
        facts=facts,
        needs_sweep=True,
    )


def write_partition(directory: Path, codec_name: str, batches: int, value_bytes: int) -> Path:
    data = [batch(10 * number, TIMES_MS, value_bytes, codec_name) for number in range(batches)]
    write(broker(directory) / "a-0", data)
    return directory


def assert_alike(directory: Path, tmp_path: Path, request, in_process, jobs) -> dict[str, bool]:
    """Asserts that every table is the same however the checks were cut.

    Returns:
        Whether each cut segment was put together from its splits, by its .log.
    """
    in_process(directory, catalog=tmp_path / "whole", findings=True)
    request.getfixturevalue("small_shares")
    in_process(directory, catalog=tmp_path / "cut", findings=True)
    assert tables(tmp_path / "cut") == tables(tmp_path / "whole")
    cut = {task.number for task in jobs[1] if isinstance(task, DecodeTask)}
    ranges = [task.splits[0] for task in jobs[2]]
    assert {split.segment_task.number for split in ranges} == cut
    return {
        str(split.segment_task.segment.log.path.relative_to(directory)): bool(split.decoded)
        for split in ranges
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample",
    [
        "some_partitions",
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ("clean", "damaged")),
    ],
)
def test_a_catalog_is_the_same_however_its_checks_were_cut(
    sample, request, in_process, tmp_path, jobs
):
    directory = request.getfixturevalue(sample)
    decoded = assert_alike(directory, tmp_path, request, in_process, jobs)
    assert len(decoded) > 5 and all(decoded.values())


@pytest.mark.slow
def test_segments_with_faults_are_read_in_one_piece(
    some_partitions, request, in_process, tmp_path, jobs
):
    directory = shutil.copytree(some_partitions, tmp_path / "broker")
    logs = [
        log
        for log in directory.glob("*/*.log")
        if log.stat().st_size and codec(walk(log.read_bytes())[0])[0]
    ]
    logs = sorted(logs, key=lambda log: log.stat().st_size)[-3:]
    for log, damage in zip(logs, (61 + 9, 8, None), strict=True):
        data = bytearray(log.read_bytes())
        row = walk(bytes(data))[0][50]
        if damage is None:
            data += bytes(100)
        else:
            data[int(row["position"]) + damage] ^= 0x11
        log.write_bytes(data)
    decoded = assert_alike(directory, tmp_path, request, in_process, jobs)
    names = [str(log.relative_to(directory)) for log in logs]
    assert [decoded[name] for name in names] == [False, False, True]
    assert all(is_whole for name, is_whole in decoded.items() if name not in names)


@pytest.fixture
def zstd(tmp_path, small_shares) -> SegmentTask:
    """Returns a segment of 200 batches in zstd, and its index."""
    return segment_task(write_partition(tmp_path / "zstd", "zstd", 200, 300))


def decode_tasks_of(segment_task: SegmentTask) -> list[DecodeTask]:
    tasks = plan([segment_task], cores=1)
    return [task for task in tasks if isinstance(task, DecodeTask)]


def test_a_costly_segment_is_cut_where_batches_begin(zstd):
    """Each byte is in one split; a segment that costs only its share is not cut."""
    tasks = decode_tasks_of(zstd)
    positions = walk(zstd.segment.with_log().log.path.read_bytes())[0]["position"]
    assert len(tasks) > 10 and {task.start for task in tasks} <= set(positions.tolist())
    assert [task.start for task in tasks[1:]] == [task.stop for task in tasks[:-1]]
    assert (tasks[0].start, tasks[-1].stop) == (0, zstd.log_bytes)
    assert all(task.cost > 5 * task.log_bytes for task in tasks)


def test_what_is_not_compressed_is_not_cut(tmp_path, small_shares):
    plain = segment_task(write_partition(tmp_path / "plain", "none", 200, 300))
    assert [type(task) for task in plan([plain], cores=1)] == [IngestTask]


def test_a_share_of_many_is_a_task(tmp_path, monkeypatch, small_shares):
    monkeypatch.setattr(plan_module, "TASKS_PER_CORE", 3)
    task = segment_task(write_partition(tmp_path / "zstd", "zstd", 50, 300))
    assert {type(task) for task in plan([task] * 20, cores=2)} == {IngestTask}
    assert {type(task) for task in plan([task] * 2, cores=2)} == {DecodeTask}


def test_the_costliest_comes_first(zstd, tmp_path):
    plain = segment_task(write_partition(tmp_path / "plain", "none", 400, 300))
    tasks = sort_by_cost([*plan([plain, zstd], cores=1), *startup_tasks(lambda: [], 1)])
    costs = [task.cost for task in tasks]
    assert costs == sorted(costs, reverse=True) and len(set(costs)) > 2


@pytest.fixture
def staging(tmp_path) -> Path:
    (tmp_path / "staging").mkdir()
    return tmp_path / "staging"


def test_stretches_together_are_one_walk(zstd, staging):
    ranges = [decode(task, staging) for task in decode_tasks_of(zstd)]
    assert len({part.file for part in ranges}) == len(ranges) and is_whole(ranges)


@pytest.mark.parametrize("at", [61 + 5, 8], ids=["record", "length"])
def test_a_stretch_with_a_fault_is_not_believed(zstd, staging, at):
    log = zstd.segment.with_log().log.path
    tasks = decode_tasks_of(zstd)
    data = bytearray(log.read_bytes())
    data[tasks[3].start + at] ^= 0x11
    log.write_bytes(data)
    ranges = [decode(task, staging) for task in tasks]
    assert not is_whole(ranges)
    assert is_whole(ranges[:3])


def test_a_wrong_cut_is_not_believed(zstd, staging):
    (first, second, *_) = decode_tasks_of(zstd)
    wrong = DecodeTask(0, first.log, 0, second.start + 1, 1)
    assert not is_whole([decode(wrong, staging), DecodedSplit(0, second.start + 1, second.stop)])


def test_a_lost_log_is_no_failure(zstd, staging):
    (task, *_) = decode_tasks_of(zstd)
    task.log.unlink()
    assert decode(task, staging).file is None


@pytest.mark.parametrize(
    ("codec_name", "batch_bytes", "least", "most"),
    [("none", 16_000, 1, 1), ("zstd", 8_000, 6, 12), ("gzip", 8_000, 12, 13), ("lz4", 900, 9, 40)],
)
def test_cost_follows_codec_and_size(tmp_path, small_shares, codec_name, batch_bytes, least, most):
    directory = write_partition(tmp_path / "made", codec_name, 20, batch_bytes // 10)
    segment = segment_task(directory).segment.with_log()
    assert least <= plan_module.check_cost(segment) / segment.log.size_bytes <= most


def test_an_index_that_misleads_costs_no_error(zstd):
    """Only the first batch is then read; a missing index costs no error either."""
    segment = zstd.segment.with_log()
    cost = plan_module.check_cost(segment)
    index = segment.index.path
    index.write_bytes(np.full(index.stat().st_size, 255, np.uint8).tobytes())
    assert plan_module.check_cost(segment) == pytest.approx(cost, rel=0.2)
    index.unlink()
    assert plan_module.check_cost(segment) == segment.log.size_bytes
