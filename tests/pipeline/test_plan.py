import os
import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.format import offset_index
from kafkaviz.log.batch_starts import MAX_TRIES
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.ingest import plan as plan_module
from kafkaviz.pipeline.ingest.plan import cuts, plan, tasks_per_segment
from kafkaviz.pipeline.ingest.segment_splits import DecodedSplit, SegmentSplit
from tests.pipeline.segment_tasks import segment_tasks_of
from tests.pipeline.small_logs import write_broker
from tests.pipeline.source_reading import counted


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    monkeypatch.setattr(plan_module, "MIN_BYTES", 2000)
    monkeypatch.setattr(plan_module, "MAX_BYTES", 4000)
    monkeypatch.setattr(plan_module, "SEGMENT_COST_BYTES", 100)


def splits_of(tasks: list) -> list[SegmentSplit]:
    return [split for task in tasks for split in task.splits]


def test_small_segments_share_a_task(tmp_path):
    """Forty segments of 500 bytes, 600 with the cost of opening: six per task of 4000, in order."""
    segment_tasks = segment_tasks_of(write_broker(tmp_path / "made", {"many-0": [[100] * 5] * 40}))
    tasks = list(plan(segment_tasks, cores=1))
    assert [len(task.splits) for task in tasks] == [6, 6, 6, 6, 6, 6, 4]
    assert [split.segment_task for split in splits_of(tasks)] == segment_tasks


def test_a_big_segment_is_cut_at_batches(tmp_path):
    """Five tasks of 4000 bytes; each begins with an indexed batch, together they are the whole."""
    (segment_task,) = segment_tasks_of(write_broker(tmp_path / "made", {"big-0": [[100] * 200]}))
    tasks = list(plan([segment_task], cores=1))
    edges = [0, 4000, 8000, 12_000, 16_000, 20_000]
    assert [(split.start, split.stop) for split in splits_of(tasks)] == list(pairwise(edges))
    assert [len(task.splits) for task in tasks] == [1] * 5


def test_what_is_read_again_costs_as_much_as_it_reads(tmp_path):
    """A wrongly cut segment costs its .log, one decoded in splits its rows."""
    directory = write_broker(tmp_path / "made", {"big-0": [[100] * 40, [100] * 30]})
    segment_tasks = segment_tasks_of(directory)
    decoded = {1: (DecodedSplit(1, 0, 3000, "decoded"),)}
    tasks = list(tasks_per_segment(segment_tasks, decoded))
    assert [task.cost for task in tasks] == [4000, 3000]
    assert [task.log_bytes for task in tasks] == [4000, 0]
    groups = plan_module.pack_by_cost(((task, task.cost) for task in tasks), plan_module.MIN_BYTES)
    assert len(list(groups)) == 2


def test_more_cores_take_smaller_tasks(tmp_path):
    (segment_task,) = segment_tasks_of(write_broker(tmp_path / "made", {"big-0": [[100] * 100]}))
    assert [len(list(plan([segment_task], cores))) for cores in (1, 2, 64)] == [4, 5, 5]


def test_a_big_segment_does_not_mix_with_small_ones(tmp_path):
    """The files of its splits must be droppable alone, should a cut prove wrong."""
    segment_tasks = segment_tasks_of(
        write_broker(tmp_path / "made", {"a-0": [[100] * 5, [100] * 100, [100] * 5]})
    )
    tasks = list(plan(segment_tasks, cores=1))
    counts = [len({split.segment_task.number for split in task.splits}) for task in tasks]
    assert sorted(counts) == [1, 1, 1, 2]
    assert all(
        (split.start, split.stop) == (0, split.segment_task.log_bytes)
        for task in tasks
        for split in task.splits
        if len(task.splits) > 1
    )


@pytest.fixture
def folder(tmp_path) -> Path:
    """Returns the partition directory of a log of a hundred batches of 100 bytes, all indexed."""
    return write_broker(tmp_path / "made", {"big-0": [[100] * 100]}) / "big-0"


def cuts_in(folder: Path, wanted_bytes: int) -> list[int]:
    (segment_task,) = segment_tasks_of(folder.parent)
    return cuts(segment_task.segment, wanted_bytes)


def test_without_an_index_nothing_is_cut(folder):
    (folder / "00000000000000000000.index").unlink()
    assert cuts_in(folder, 2000) == []


def test_an_index_without_a_log_is_a_stretch_of_nothing(tmp_path):
    directory = write_broker(tmp_path / "made", {"big-0": [[100] * 3]})
    (directory / "big-0" / "00000000000000000000.log").unlink()
    (segment_task,) = segment_tasks_of(directory)
    assert splits_of(plan([segment_task], cores=1)) == [SegmentSplit(segment_task, 0, 0)]


def other_key(entries):
    entries["relative_offset"] = np.arange(len(entries)) % 3 + 1


def other_positions_around_the_cut(entries):
    entries["position"][48:51] += 7  # those of positions 4900 to 5100


@pytest.mark.parametrize(
    ("change", "wanted_bytes", "places"),
    [
        pytest.param(lambda entries: entries["position"] + 1, 2000, [], id="next to a batch"),
        pytest.param(
            lambda entries: entries["position"] * 0 + 99_999, 2000, [], id="after the log"
        ),
        pytest.param(lambda entries: -entries["position"], 2000, [], id="negative"),
        pytest.param(lambda entries: entries["position"] * 0, 2000, [], id="all zero"),
        pytest.param(other_key, 2000, [2000, 4000, 6000, 8000], id="the key of another batch"),
        pytest.param(other_positions_around_the_cut, 5000, [5200], id="a right one follows"),
    ],
)
def test_a_cut_is_where_the_log_confirms_the_index(folder, change, wanted_bytes, places):
    """A batch with a right checksum begins at an entry's position, whichever offset it names."""
    path = folder / "00000000000000000000.index"
    entries = offset_index.parse(path.read_bytes()).astype(offset_index.ENTRY)
    positions = change(entries)
    if positions is not None:
        entries["position"] = positions
    path.write_bytes(offset_index.build(entries))
    assert cuts_in(folder, wanted_bytes) == places


@pytest.mark.parametrize(
    ("position", "data"),
    [
        pytest.param(5090, b"y", id="checksum"),
        *(
            (5008, length.to_bytes(4, "big", signed=True))
            for length in (-1, 13, 5001 - 12, 2**31 - 1)
        ),
    ],
)
def test_a_damaged_batch_is_refuted(folder, position, data):
    with open(folder / "00000000000000000000.log", "r+b") as log:
        log.seek(position)
        log.write(data)
    assert cuts_in(folder, 5000) == [5100]


def test_a_log_that_is_missing_is_not_cut(folder):
    (segment_task,) = segment_tasks_of(folder.parent)
    os.unlink(segment_task.segment.log.path)
    assert cuts(segment_task.segment, 2000) == []
    os.unlink(segment_task.segment.index.path)
    assert cuts(segment_task.segment, 2000) == []


def test_a_task_is_small_to_send(tmp_path):
    (segment_task,) = segment_tasks_of(write_broker(tmp_path / "made", {"big-0": [[100] * 100]}))
    fresh = replace(segment_task, segment=replace(segment_task.segment))
    assert cuts(segment_task.segment, 2000)
    sizes = [len(pickle.dumps(list(tasks_per_segment([task])))) for task in (fresh, segment_task)]
    assert sizes[0] == sizes[1]


def test_real_segments_are_cut_where_their_batches_start(clean):
    for partition in open_broker(clean).partitions:
        for segment in partition.live:
            starts = set(segment.batches()["position"].tolist())
            assert set(cuts(segment, 20_000)) <= starts
    assert len(cuts(open_broker(clean).partition("heartbeat-0").segments[0], 20_000)) > 50


def test_one_batch_and_a_few_slots_are_read_for_a_cut(tmp_path, monkeypatch):
    (segment_task,) = segment_tasks_of(write_broker(tmp_path / "made", {"big-0": [[100] * 1000]}))
    with counted(monkeypatch) as reads:
        assert cuts(segment_task.segment, 50_000) == [50_000]
    assert reads.by_suffix[".log"] <= 2 * 100
    assert reads.by_suffix[".index"] <= 8 * (MAX_TRIES + (1000).bit_length())
