"""The sweep table of a catalog: one row per segment and interval, equal to analysis.sweep however
the segment was read.
"""

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
        for segment in [
            segment_ for segment_ in partition.segments if segment_.is_in_use and segment_.log
        ]:
            batches = segment.batches()
            owner = {
                "broker": directory.name,
                "topic": partition.topic,
                "partition": partition.partition,
            }
            owner["segment_base_offset"] = segment.base_offset
            rows = sweep.sweep(batches) if len(batches) else []
            segments += [
                owner | dict(zip(row.dtype.names, row.tolist(), strict=True)) for row in rows
            ]
    return sorted(segments, key=lambda row: [row[key] for key in KEYS])


def rows(out: Path) -> list[dict]:
    return sorted(
        catalog.read(out).table("sweep").to_pylist(), key=lambda row: [row[key] for key in KEYS]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample", [pytest.param("clean", marks=pytest.mark.nightly), "killed", "damaged"]
)
def test_each_segment_is_swept(sample, request, in_process, tmp_path):
    """Three real brokers: every interval of every segment that has a batch."""
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
    broker, out = (
        write_broker(tmp_path / "made", {"a-0": [[100] * 50, [120] * 60], "b-1": [[]]}),
        tmp_path / "catalog",
    )
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
