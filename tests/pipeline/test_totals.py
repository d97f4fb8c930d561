"""The numbers that pages and commands give for one broker: where two differ, they differ by named
logs and nothing else.
"""

from collections.abc import Iterable, Sequence

import pyarrow.parquet as pq
import pytest

from kafkaviz.analysis import overview
from kafkaviz.analysis.overview import inactive_segments
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.figures.text.segment_text import left_out_text
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.segment import Segment
from tests.pipeline.source_reading import read

FORMATS = ("kafka_segments", "kafka_batches", "kafka_offset_index", "kafka_time_index")
SAMPLES = ("clean", "damaged", "killed")


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


@pytest.fixture(params=SAMPLES)
def broker(request) -> Broker:
    return open_broker(request.getfixturevalue(request.param))


@pytest.fixture
def everything(broker) -> list[int]:
    return counted(segment for partition in broker.partitions for segment in partition.segments)


@pytest.fixture
def aside(broker) -> dict[str, list[int]]:
    """Returns the counts that some numbers leave out: files or directories with a suffix, indexes
    without a .log, KRaft's own log.
    """
    parts = broker.partitions
    usual = [part for part in parts if part.state == "current"]
    return {
        "files": counted(
            segment for part in parts for segment in part.segments if not segment.is_in_use
        ),
        "directories": counted(
            segment for part in parts if part.state != "current" for segment in part.live
        ),
        "alone": counted(
            segment
            for part in usual
            for segment in part.segments
            if segment.is_in_use and not segment.log
        ),
        "metadata": counted(
            segment for part in usual if part.topic == "__cluster_metadata" for segment in part.live
        ),
    }


def test_the_broker_page_counts_all(broker, everything, in_process, tmp_path):
    """It reads names and indexes itself, and batches from the catalog."""
    known = overview.with_entries(overview.inventory(broker)).total
    assert [known.segments, known.offset_entries, known.time_entries] == [
        everything[0],
        *everything[2:],
    ]
    in_process(broker.path, catalog=tmp_path / "catalog")
    assert (
        sum(pq.read_table(tmp_path / "catalog" / "segments")["batches"].drop_null().to_pylist())
        == everything[1]
    )


def test_the_catalog_has_no_rows_of_files_with_a_suffix(
    broker, everything, aside, in_process, tmp_path
):
    """Only their segments."""
    in_process(broker.path, catalog=tmp_path / "catalog")
    tables = ("segments", "batches", "offset_entries", "time_entries")
    rows = [pq.read_table(tmp_path / "catalog" / name).num_rows for name in tables]
    assert rows == without(everything, [0, *aside["files"][1:]])


def test_the_data_source_is_without_renamed_directories_too(broker, everything, aside):
    """Unless they are requested; segments of files with a suffix are rows."""
    files = [0, *aside["files"][1:]]
    options = {"mode": "DROPMALFORMED"}  # a tail without a batch is counted nowhere
    assert [read(name, broker.path, **options).num_rows for name in FORMATS] == without(
        everything, files, aside["directories"]
    )
    assert [
        read(name, broker.path, **options, renamed="true").num_rows for name in FORMATS
    ] == without(everything, files)


def test_tuning_is_without_what_is_not_in_use_and_without_metadata(broker, everything, aside):
    """Segments without a batch are counted: they have files and maps."""
    source = open_source(broker.path)
    health, totals = (
        source.total.measurement,
        [case.disk_entries for case in source.cases if case.disk_entries],
    )
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
    source = open_source(clean)
    assert counted(
        segment for partition in open_broker(clean).partitions for segment in partition.segments
    ) == [94, 54_917, 5_442, 4_513]
    assert [source.total.measurement.segments, source.total.measurement.parts.batches] == [
        90,
        54_196,
    ]
    assert (
        left_out_text(source.inactive_segments, is_metadata_left_out=source.metadata_left_out)
        == "Not counted: 3 segments that are not in use (-delete, .deleted), and __cluster_metadata."
    )
    assert sorted(segment.mark for segment in source.inactive_segments) == [
        "-delete",
        ".deleted",
        ".deleted",
    ]
