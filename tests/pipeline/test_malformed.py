"""Unreadable data ends the query, becomes a row, or becomes a line in the log, depending on mode.
Rows are never dropped silently.
"""

import os
import shutil
from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import CRC_START
from kafkaviz.log import file
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.datasource import source
from kafkaviz.pipeline.datasource.source import PushingReader
from kafkaviz.pipeline.datasource.source_reader import Malformed
from kafkaviz.pipeline.datasource.source_schema import FORMATS
from tests.pipeline import whole_logs
from tests.pipeline.source_reading import read, reader_of

START_MS = whole_logs.START_MS
FILE_OF = {"kafka_offset_index": "index", "kafka_time_index": "timeindex"}


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def corrupt(tmp_path: Path, codec_name: str = "none") -> tuple[Path, list[int]]:
    """Writes five batches: the second with a byte changed, the third no gzip, the fourth with a
    wrong count; returns where those three are.
    """
    batches = [whole_logs.batch(number * 10, [START_MS] * 5, 20, codec_name) for number in range(5)]
    batches[1] = flipped(batches[1], len(batches[1]) - 3)
    batches[2] = whole_logs.framed(20, b"no gzip at all", [START_MS], 1)
    batches[3] = whole_logs.batch(30, [START_MS] * 5, 20, codec_name, record_count=9)
    directory = whole_logs.broker(tmp_path / "made")
    whole_logs.write(directory / "hurt-0", batches)
    starts = [sum(map(len, batches[:number])) for number in range(5)]
    return directory, starts[1:4]


@pytest.mark.parametrize("codec_name", ["none", "zstd"])
def test_a_corrupt_batch_ends_the_query(tmp_path, codec_name):
    directory, (first, *_) = corrupt(tmp_path, codec_name)
    words = (
        rf"hurt-0/0+\.log, byte {first + 17}: Record is corrupt \(stored crc = .*; option "
        r"mode=PERMISSIVE returns the problem as a row"
    )
    for options in ({}, {"mode": "FAILFAST"}, {"task_bytes": "20000"}):
        with pytest.raises(Malformed, match=words):
            read("kafka_records", directory, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["kafka_records", pytest.param("kafka_files", marks=pytest.mark.nightly)]
)
def test_a_flipped_byte_of_a_brokers_log_ends_a_query_of_spark(spark, clean, tmp_path, name):
    """At any byte of the second batch that the checksum covers; the error names the file and the
    wrong checksum's byte. The intact log is read.
    """
    directory = whole_logs.broker(tmp_path / "made")
    shutil.copytree(clean / "nulls-0", directory / "nulls-0")
    source.register(spark)
    selection = "subscribe" if name == "kafka_files" else "topics"
    frame = spark.read.format(name).option(selection, "nulls").load(str(directory))
    records = frame.count()
    assert records == read(name, directory, **{selection: "nulls"}).num_rows > 100
    (log,) = (directory / "nulls-0").glob("*.log")
    data = log.read_bytes()
    second = open_broker(directory).partition("nulls-0").live[0].batches()[1]
    position, size_bytes = int(second["position"]), int(second["size_bytes"])
    for at in (position + CRC_START, position + size_bytes // 2, position + size_bytes - 1):
        log.write_bytes(flipped(data, at))
        with pytest.raises(PySparkException) as fault:
            frame.count()
        assert f"nulls-0/{log.name}, byte {position + 17}: Record is corrupt" in str(fault.value)
    log.write_bytes(data)
    assert frame.count() == records


@pytest.mark.parametrize("codec_name", ["none", "zstd"])
def test_corrupt_batches_are_rows_or_left_out(tmp_path, caplog, codec_name):
    """A wrong checksum, bytes that do not decompress, a wrong count: none of their records, and all
    of their neighbours'.
    """
    directory, starts = corrupt(tmp_path, codec_name)
    sound = [*range(5), *range(40, 45)]
    rows = read("kafka_records", directory, mode="permissive").to_pylist()
    assert [row["offset"] for row in rows if row["problem"] is None] == sound
    problems = [row for row in rows if row["problem"]]
    assert [(row["batch_position"], row["offset"]) for row in problems] == [
        (start, None) for start in starts
    ]
    assert all(f"{0:020d}.log, byte " in row["problem"] for row in problems)
    assert read("kafka_records", directory, problems="true").to_pylist() == rows
    table = read("kafka_records", directory, mode="DROPMALFORMED")
    assert table["offset"].to_pylist() == sound and "problem" not in table.column_names
    assert f"byte {starts[0] + 17}: Record is corrupt" in caplog.text


def test_batches_show_their_checksums(tmp_path):
    """crc_valid of each; no other column reads it, and no batch is left out for it."""
    directory, _ = corrupt(tmp_path)
    for options in ({}, {"columns": "crc_valid"}):
        are_valid = read("kafka_batches", directory, **options)["crc_valid"].to_pylist()
        assert are_valid == [True, False, True, True, True]


def test_checksums_are_read_where_a_query_needs_them(tmp_path, monkeypatch):
    """The column costs a second pass over the bytes, so it is computed only on request."""
    from kafkaviz.pipeline.datasource import records

    directory, _ = corrupt(tmp_path)
    monkeypatch.setattr(records, "crcs_valid", lambda read, batches: 1 / 0)
    assert read("kafka_batches", directory, columns="position,crc").num_rows == 5
    with pytest.raises(ZeroDivisionError):
        read("kafka_batches", directory, columns="crc_valid")


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_vanishes_ends_the_query(broker_directory, name):
    """Retention may delete it meanwhile; in mode PERMISSIVE it is a row."""
    for mode in ("FAILFAST", "DROPMALFORMED", "PERMISSIVE"):
        reader = reader_of(name, broker_directory, mode=mode)
        tasks = reader.partitions()
        path = broker_directory / "a-0" / f"{0:020d}.{FILE_OF.get(name, 'log')}"
        data = path.read_bytes()
        path.unlink()
        if mode == "PERMISSIVE":
            rows = [
                row for task in tasks for batch in reader.read(task) for row in batch.to_pylist()
            ]
            assert [row["topic"] for row in rows if row["problem"]] == ["a"] and len(rows) > 1
            assert "is not there" in next(row["problem"] for row in rows if row["problem"])
        else:
            with pytest.raises(Malformed, match=rf"a-0/{path.name}: is not there"):
                [list(reader.read(task)) for task in tasks]
        path.write_bytes(data)


@pytest.mark.parametrize("kind", ["log", "index"])
def test_a_file_that_may_not_be_read_ends_the_query(broker_directory, kind, monkeypatch):
    opened, hidden = open, f"{0:020d}.{kind}"

    def refusing(path, *arguments, **more):
        if Path(path).name == hidden and Path(path).parent.name == "a-0":
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **more)

    monkeypatch.setattr(file, "open", refusing, raising=False)
    with pytest.raises(Malformed, match=rf"a-0/{hidden}: may not be read"):
        read("kafka_batches", broker_directory)
    if kind == "index":
        assert read("kafka_records", broker_directory).num_rows == 2000
        with pytest.raises(Malformed, match="may not be read"):
            read("kafka_records", broker_directory, task_bytes="40000")
    else:
        with pytest.raises(Malformed, match="may not be read"):
            read("kafka_records", broker_directory, mode="DROPMALFORMED")
        rows = read("kafka_records", broker_directory, mode="PERMISSIVE").to_pylist()
        problems = [(row["topic"], row["offset"]) for row in rows if row["problem"]]
        assert len(rows) == 1000 + len(problems) and set(problems) == {("a", None)}


def test_a_directory_that_may_not_be_read_ends_the_query(broker_directory, monkeypatch, caplog):
    """A requested topic-partition; an empty checkpoint loses no row."""
    scandir = os.scandir

    def refusing(path):
        if Path(path).name == "a-0":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    (broker_directory / "recovery-point-offset-checkpoint").write_text("what is this")
    assert read("kafka_records", broker_directory).num_rows == 2000
    assert "recovery-point-offset-checkpoint" in caplog.text
    monkeypatch.setattr(os, "scandir", refusing)
    for name in FORMATS:
        for mode in ("FAILFAST", "DROPMALFORMED"):
            with pytest.raises(Malformed, match="a-0: may not be read"):
                read(name, broker_directory, mode=mode)
        rows = read(name, broker_directory, mode="PERMISSIVE").to_pylist()
        assert [row["topic"] for row in rows if row["problem"]] == ["a"] and len(rows) > 1
        assert read(name, broker_directory, topics="b").num_rows == len(rows) - 1
        assert read(name, broker_directory, topics="b", partitions="1-").num_rows == 0


def test_a_torn_tail_ends_the_query_and_zeros_do_not(broker_directory):
    log = broker_directory / "a-0" / f"{0:020d}.log"
    data = log.read_bytes()
    log.write_bytes(data + bytes(5000))
    assert read("kafka_records", broker_directory).num_rows == 2000
    assert read("kafka_batches", broker_directory).num_rows == 200
    log.write_bytes(data + whole_logs.batch(1000, [START_MS])[:70])
    for name in ("kafka_records", "kafka_batches"):
        with pytest.raises(Malformed, match=f"byte {len(data)}: 70 bytes are not a whole batch"):
            read(name, broker_directory)
    assert read("kafka_records", broker_directory, mode="DROPMALFORMED").num_rows == 2000


def test_an_archive_is_refused_on_a_cluster(tmp_path, broker_directory):
    """Its workers could not read it; a directory of any name is read."""
    packed = tmp_path / "made.tar.gz"
    packed.write_bytes(b"")
    for name in FORMATS:
        for pushes_filters in (True, False):
            reader = reader_of(name, packed, pushes_filters=pushes_filters, is_local=False)
            assert isinstance(reader, PushingReader) == pushes_filters
            with pytest.raises(
                CannotOpen,
                match=r"made\.tar\.gz: is an archive, and the workers of a cluster .*; unpack it",
            ):
                reader.partitions()
    directory = broker_directory.rename(tmp_path / "directory.zip")
    reader = reader_of("kafka_records", directory, is_local=False)
    assert (
        sum(batch.num_rows for task in reader.partitions() for batch in reader.read(task)) == 2000
    )
    assert len(open_broker(directory).partitions) == 2
