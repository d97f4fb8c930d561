"""The sweep table of a catalog: one row per segment and interval, equal to analysis.sweep however
the segment was read.
"""

from operator import itemgetter
from pathlib import Path

import pytest

from kafkaviz.analysis import sweep
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.ingest import plan as plan_module
from tests.pipeline.small_logs import write_broker

KEYS = ("topic", "partition", "segment_base_offset", "interval_bytes")


def plainly(directory: Path) -> list[dict]:
    segments = []
    for partition in open_broker(directory).partitions:
        owner = {
            "broker": directory.name,
            "topic": partition.topic,
            "partition": partition.partition,
        }
        for segment in partition.segments:
            if segment.is_in_use and len(segment.batches()):
                segments += [
                    owner
                    | {"segment_base_offset": segment.base_offset}
                    | dict(zip(row.dtype.names, row.tolist(), strict=True))
                    for row in sweep.sweep(segment.batches())
                ]
    return sorted(segments, key=itemgetter(*KEYS))


def rows(out: Path) -> list[dict]:
    return sorted(catalog.read(out).table("sweep").to_pylist(), key=itemgetter(*KEYS))


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample",
    [*(pytest.param(name, marks=pytest.mark.nightly) for name in ("clean", "killed")), "damaged"],
)
def test_each_segment_is_swept(sample, request, in_process, tmp_path):
    directory = request.getfixturevalue(sample)
    in_process(directory, catalog=tmp_path / "catalog", findings=True)
    assert rows(tmp_path / "catalog") == plainly(directory)


@pytest.mark.slow
def test_a_segment_read_in_stretches_is_swept_once(
    some_partitions, in_process, tmp_path, monkeypatch
):
    monkeypatch.setattr(plan_module, "MAX_BYTES", 100_000)
    monkeypatch.setattr(plan_module, "MIN_BYTES", 100_000)
    in_process(some_partitions, catalog=tmp_path / "catalog", findings=True)
    assert rows(tmp_path / "catalog") == plainly(some_partitions)


def test_what_was_swept_is_kept(in_process, tmp_path):
    """An unchanged segment is not read for it again; the sweep needs findings."""
    out = tmp_path / "catalog"
    broker = write_broker(tmp_path / "made", {"a-0": [[100] * 50, [120] * 60], "b-1": [[]]})
    in_process(broker, catalog=out, findings=True)
    before = rows(out)
    assert before == plainly(broker) and len(before) == 2 * len(sweep.INTERVALS)
    log = broker / "a-0" / f"{100:020d}.log"
    log.write_bytes(log.read_bytes()[:-120])
    assert in_process(broker, catalog=out, findings=True).done.read_segments < 3
    after = rows(out)
    assert after == plainly(broker) and after[:50] == before[:50] and after[50:] != before[50:]
    in_process(broker, catalog=tmp_path / "other")
    assert rows(tmp_path / "other") == []
