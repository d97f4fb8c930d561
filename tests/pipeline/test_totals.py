"""The numbers that pages and commands give for one broker: where two differ, they differ by named
logs and nothing else.
"""

from collections.abc import Iterable, Sequence
from functools import cache

import pyarrow.parquet as pq
import pytest

from kafkaviz.analysis import overview
from kafkaviz.analysis.overview import inactive_segments
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.segment import Segment
from kafkaviz.render.segment_text import left_out_text
from tests.pipeline.source_reading import read

FORMATS = ("kafka_segments", "kafka_batches", "kafka_offset_index", "kafka_time_index")
SAMPLES = ("clean", "damaged", "killed")
cached_source = cache(open_source)


def counted(segments: Iterable[Segment]) -> list[int]:
    """Returns segments, batches, offset and time entries, segment by segment."""
    segments = list(segments)
    return [
        len(segments),
        sum(len(segment.batches()) for segment in segments),
        sum(len(segment.offset_index) for segment in segments),
        sum(len(segment.time_index) for segment in segments),
    ]


def without(numbers: Sequence[int], *logs: Sequence[int]) -> list[int]:
    return [every - sum(parts) for every, *parts in zip(numbers, *logs, strict=True)]


@pytest.fixture(params=SAMPLES, scope="module")
def broker(request) -> Broker:
    return open_broker(request.getfixturevalue(request.param))


@pytest.fixture(scope="module")
def everything(broker) -> list[int]:
    return counted(segment for partition in broker.partitions for segment in partition.segments)


@pytest.fixture(scope="module")
def aside(broker) -> dict[str, list[int]]:
    """Returns the counts that some numbers leave out: files or directories with a suffix, indexes
    without a .log, KRaft's own log.
    """
    parts = broker.partitions
    usual = [part for part in parts if part.state == "current"]
    all_segments = [segment for part in parts for segment in part.segments]
    in_use = [segment for part in usual for segment in part.segments if segment.is_in_use]
    renamed = [segment for part in parts if part.state != "current" for segment in part.live]
    metadata = [part for part in usual if part.topic == "__cluster_metadata"]
    return {
        "files": counted(segment for segment in all_segments if not segment.is_in_use),
        "directories": counted(renamed),
        "alone": counted(segment for segment in in_use if not segment.log),
        "metadata": counted(segment for part in metadata for segment in part.live),
    }


def test_the_broker_page_counts_all(broker, everything, aside, in_process, tmp_path):
    """It reads names and indexes itself, and batches from the catalog, which has no rows of files
    with a suffix but those of their segments.
    """
    known = overview.with_entries(overview.inventory(broker)).total
    counts = [known.segments, known.offset_entries, known.time_entries]
    assert counts == [everything[0], *everything[2:]]
    in_process(broker.path, catalog=tmp_path / "catalog")
    names = ("segments", "batches", "offset_entries", "time_entries")
    tables = [pq.read_table(tmp_path / "catalog" / name) for name in names]
    assert sum(tables[0]["batches"].drop_null().to_pylist()) == everything[1]
    row_counts = [table.num_rows for table in tables]
    assert row_counts == without(everything, [0, *aside["files"][1:]])


def test_the_data_source_is_without_renamed_directories_too(broker, everything, aside):
    """Unless they are requested; segments of files with a suffix are rows."""
    files = [0, *aside["files"][1:]]
    options = {"mode": "DROPMALFORMED"}  # a tail without a batch is counted nowhere
    counts = [read(name, broker.path, **options).num_rows for name in FORMATS]
    assert counts == without(everything, files, aside["directories"])
    options["renamed"] = "true"
    counts = [read(name, broker.path, **options).num_rows for name in FORMATS]
    assert counts == without(everything, files)


def test_tuning_is_without_what_is_not_in_use_and_without_metadata(broker, everything, aside):
    """Segments without a batch are counted: they have files and maps."""
    source = cached_source(broker.path)
    health = source.total.measurement
    totals = [case.disk_entries for case in source.cases if case.disk_entries]
    left = without(everything, *aside.values())
    assert [health.segments, health.parts.batches] == left[:2]
    if len(totals) == len(source.cases):
        assert [sum(column) for column in zip(*totals, strict=True)] == left[2:]
    assert (
        len(source.inactive_segments)
        == aside["files"][0] + aside["directories"][0] + aside["alone"][0]
        == len(tuple(inactive_segments(broker.partitions)))
    )
    assert source.metadata_left_out == bool(aside["metadata"][0])


def test_the_samples_numbers(clean):
    source = cached_source(clean)
    partitions = open_broker(clean).partitions
    counts = counted(segment for partition in partitions for segment in partition.segments)
    assert counts == [94, 54_917, 5_442, 4_513]
    measured = source.total.measurement
    assert [measured.segments, measured.parts.batches] == [90, 54_196]
    assert (
        left_out_text(source.inactive_segments, is_metadata_left_out=source.metadata_left_out)
        == "Not counted: 3 segments that are not in use (-delete, .deleted), and __cluster_metadata."
    )
    marks = sorted(segment.mark for segment in source.inactive_segments)
    assert marks == ["-delete", ".deleted", ".deleted"]
