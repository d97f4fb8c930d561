"""Rows without Spark: the same as Spark's reader and session give, in both isolations and all modes,
and as text where asked for.
"""

import base64
import json
import os
import shutil
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kafkaviz as kv
from kafkaviz import extras
from kafkaviz.format import record
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.pipeline.datasource import arrow_rows
from kafkaviz.pipeline.datasource.arrow_rows import ArrowRows, decode_text
from kafkaviz.pipeline.datasource.source_reader import Malformed
from kafkaviz.pipeline.datasource.source_schema import MODES, BadOption
from kafkaviz.search.fetch import ISOLATIONS, READ_COMMITTED, READ_UNCOMMITTED
from tests.pipeline import whole_logs
from tests.pipeline.processes import run_python
from tests.pipeline.source_reading import read
from tests.support.recorded_archives import RECORDED_ARCHIVES

START_MS = whole_logs.START_MS
FORMATS = {"kafka_records": kv.records, "kafka_batches": kv.batches, "kafka_segments": kv.segments}


def sorted_rows(table: pa.Table) -> list[str]:
    return sorted(repr(row) for row in table.to_pylist())


@pytest.fixture
def hurt(tmp_path) -> Path:
    """Returns a broker directory with a flipped byte in its second batch, and a torn tail."""
    directory = whole_logs.broker(tmp_path / "made")
    batches = [bytearray(whole_logs.batch(number * 10, [START_MS] * 10)) for number in range(5)]
    batches[1][-3] ^= 1
    batches[4] = batches[4][:-7]
    whole_logs.write(directory / "hurt-0", map(bytes, batches))
    return directory


# ---- the same rows as Spark's


@pytest.mark.parametrize(
    "isolation", [READ_UNCOMMITTED, pytest.param(READ_COMMITTED, marks=pytest.mark.nightly)]
)
def test_a_session_of_spark_gives_the_same_records(some_partitions, spark, isolation):
    """Row by row: columns, types, keys, values and headers."""
    kv.pipeline.register(spark)
    options = {"payload": "true", "isolation": isolation}
    frame = spark.read.format("kafka_records").options(**options).load(str(some_partitions))
    expected = frame.toArrow()
    rows = kv.records(some_partitions, payload=True, isolation=isolation).to_arrow()
    assert rows.num_rows > 1000
    assert rows.column_names == expected.column_names
    assert sorted_rows(rows) == sorted_rows(expected)


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize(
    "archive",
    [
        pytest.param(
            archive,
            marks=pytest.mark.slow if archive == "kafka-4.3.1-damaged" else pytest.mark.nightly,
        )
        for archive in RECORDED_ARCHIVES
    ],
)
def test_spark_reader_gives_the_same_records(shared, archive, isolation):
    """Of every recorded directory, in the order of the files, with damage as rows."""
    directory = unpack_if_archive(shared / "data" / f"{archive}.tar.gz")
    options = {"payload": "true", "isolation": isolation, "mode": "PERMISSIVE"}
    rows = kv.records(directory, **options).to_arrow()
    assert rows.equals(read("kafka_records", directory, **options)) and rows.num_rows > 1000


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_the_rows_of_its_spark_format(broker_directory, name):
    rows = FORMATS[name](broker_directory)
    expected = read(name, broker_directory)
    assert isinstance(rows, ArrowRows)
    assert rows.schema == expected.schema and rows.to_arrow().equals(expected)
    frame = rows.to_pandas()
    assert list(frame.columns) == expected.column_names and len(frame) == expected.num_rows


@pytest.mark.parametrize(
    "options",
    [
        {"offsets": "205-214", "topics": "b"},
        {"timestamps": f"{START_MS + 7}-{START_MS + 9}", "late_ms": 0},
        {"partitions": [1, 2]},
        {"columns": ["offset", "topic"], "task_bytes": 16384},
        {"topics": ("a", "b*"), "replicas": "all"},
    ],
)
def test_options_are_those_of_spark(broker_directory, options):
    texts = {
        name: ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for name, value in options.items()
    }
    rows = kv.records(broker_directory, **options).to_arrow()
    assert rows.equals(read("kafka_records", broker_directory, **texts))


def test_rows_of_what_was_opened(broker_directory):
    broker = kv.open_broker(broker_directory)
    partition = broker.partitions[1]
    of_partition = kv.records(partition, columns="topic,offset").to_arrow()
    assert set(of_partition["topic"].to_pylist()) == {"b"} and of_partition.num_rows == 1000
    assert kv.records(broker).to_arrow().equals(kv.records(broker_directory).to_arrow())
    assert kv.records([partition, str(broker_directory / "a-0")]).to_arrow().num_rows == 2000


def test_rows_can_be_read_again_and_as_a_stream(broker_directory):
    rows = kv.records(broker_directory, columns="offset")
    assert sum(batch.num_rows for batch in rows) == rows.to_arrow().num_rows == 2000
    assert pa.table(rows).equals(rows.reader().read_all())


BARE = """
import sys
for name in ("pyspark", "duckdb", "streamlit", "pandas"):
    sys.modules[name] = None
def refuse(event, arguments):
    assert event not in ("subprocess.Popen", "os.system", "os.exec"), arguments
sys.addaudithook(refuse)
from kafkaviz.__main__ import main
directory, *paths = sys.argv[1:]
for path in paths:
    assert main(["records", directory, "--payload=text", "--mode=PERMISSIVE", "-o", path]) == 0
"""


def test_the_command_needs_neither_spark_nor_pandas(hurt, tmp_path):
    """Nor Java, which Python's audit would see as a started process; also for a row of damage."""
    paths = [str(tmp_path / f"rows{suffix}") for suffix in arrow_rows.WRITERS]
    run_python(BARE, hurt, *paths)
    assert pq.read_table(paths[0]).num_rows == 32


def test_polars_is_named_where_it_is_missing(broker_directory, monkeypatch):
    monkeypatch.setattr(extras, "_missing", lambda names: tuple({"polars"} & {*names}))
    with pytest.raises(extras.MissingPackages, match=r"run: pip install polars$"):
        kv.records(broker_directory).to_polars()


# ---- what cannot be read


def test_a_broken_batch_ends_the_reading(hurt):
    with pytest.raises(Malformed, match=r"hurt-0/0{20}\.log.*mode=PERMISSIVE"):
        kv.records(hurt).to_arrow()


@pytest.mark.parametrize("mode", MODES[1:])
def test_damage_is_a_row_or_a_line(hurt, mode, caplog):
    rows = kv.records(hurt, mode=mode, columns="offset").to_arrow()
    offsets = [offset for offset in rows["offset"].to_pylist() if offset is not None]
    assert offsets == [*range(10), *range(20, 40)]
    problems = rows.num_rows - len(offsets)
    assert (problems, len(caplog.records)) == ((2, 0) if mode == "PERMISSIVE" else (0, 2))


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.nightly)])
def test_cut_and_flipped_bytes_are_problems(tmp_path, step):
    """At every eighth or every byte of a small log: a row with the problem, and the other records.

    No checksum covers a batch's first 17 bytes. A log may end in zeros, or where a batch ends.
    """
    partition = whole_logs.broker(tmp_path / "made") / "t-0"
    batches = [whole_logs.batch(number * 3, [START_MS] * 3, 5, "zstd") for number in range(3)]
    log = whole_logs.write(partition, batches).with_suffix(".log")
    whole = log.read_bytes()
    starts = [sum(map(len, batches[:number])) for number in range(4)]
    for place in {*range(0, len(whole), step), *starts[:3]}:
        number = max(number for number in range(3) if starts[number] <= place)
        flipped = bytearray(whole)
        flipped[place] ^= 0x91
        log.write_bytes(whole[:place])
        good, problems = offsets_and_problems(partition)
        rest = whole[starts[number] : place]
        assert (good, bool(problems)) == ([*range(3 * number)], any(rest))
        log.write_bytes(flipped)
        good, problems = offsets_and_problems(partition)
        if place - starts[number] >= 17:
            others = [offset for offset in range(9) if offset // 3 != number]
            assert (good, len(problems)) == (others, 1)


def offsets_and_problems(partition: Path) -> tuple[list[int], list[str]]:
    lines = json_lines(kv.records(partition, mode="PERMISSIVE", payload="text"))
    problems = [line["problem"] for line in lines if line["problem"] is not None]
    return [line["offset"] for line in lines if line["problem"] is None], problems


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"topcs": "a"}, "unknown option topcs"),
        ({"payload": "yes"}, "payload"),
        ({"replicas": 2}, "replicas"),
    ],
)
def test_a_wrong_option_is_refused_before_reading(tmp_path, options, words):
    with pytest.raises(BadOption, match=words):
        kv.records(tmp_path / "nowhere", **options)


# ---- text, and files


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (None, None),
        (b"", ""),
        ("naïve 値".encode(), "naïve 値"),
        (b"\xff\x00", "base64:" + base64.b64encode(b"\xff\x00").decode()),
        (b"base64:YQ==", "base64:" + base64.b64encode(b"base64:YQ==").decode()),
    ],
)
def test_text_from_which_the_bytes_can_be_restored(data, text):
    for column in (pa.array([data], pa.binary()), pa.array([data, b"\xfe"], pa.binary())):
        assert decode_text(column)[0].as_py() == text


def write_records(partition: Path, values: list[bytes | None], time_ms: int = START_MS) -> None:
    parts = [
        record.Record(
            offset_delta=number,
            timestamp_delta_ms=0,
            key=None,
            value=value,
            headers=(("h", value), ("n", None)),
        )
        for number, value in enumerate(values)
    ]
    batch = whole_logs.framed(0, record.build(parts), [time_ms] * len(values))
    whole_logs.write(partition, [batch])


def json_lines(rows: ArrowRows) -> list[dict]:
    output = BytesIO()
    arrow_rows.write_json_lines(output, rows.schema, rows.batches())
    return [json.loads(line) for line in output.getvalue().splitlines()]


def test_json_lines_of_text_and_of_bytes(tmp_path):
    partition = whole_logs.broker(tmp_path / "made") / "t-0"
    write_records(partition, [b"\xffx", "値".encode(), None])
    texts = json_lines(kv.records(partition, payload="text", columns="value,headers,timestamp"))
    assert [line["value"] for line in texts] == ["base64:/3g=", "値", None]
    assert texts[1]["headers"] == [["h", "値"], ["n", None]]
    assert texts[0]["timestamp"] == "2026-09-21T14:13:20.000000Z"
    plain = json_lines(kv.records(partition, payload="bytes", columns="value,headers"))
    assert plain[0] == {"value": "/3g=", "headers": [["h", "/3g="], ["n", None]]}


@pytest.mark.parametrize("time_ms", [-1, -(2**62), 2**62, 253_402_300_800_000])
def test_a_time_without_an_iso_form_is_null(tmp_path, time_ms):
    """Of the years 1 to 9999; timestamp_ms has it all the same, and so has Parquet."""
    partition = whole_logs.broker(tmp_path / "made") / "t-0"
    write_records(partition, [b"v"], time_ms)
    rows = kv.records(partition)
    assert [(line["timestamp_ms"], line["timestamp"]) for line in json_lines(rows)] == [
        (time_ms, None)
    ]
    output = BytesIO()
    arrow_rows.write_parquet(output, rows.schema, rows.batches())
    assert pq.read_table(output)["timestamp_ms"].to_pylist() == [time_ms]
    assert len(rows.to_pandas()) == 1


@pytest.mark.parametrize("payload", ["bytes", "text"])
def test_a_file_has_the_rows(broker_directory, payload, monkeypatch):
    monkeypatch.setattr(arrow_rows, "ROW_GROUP_ROWS", 300)
    rows = kv.records(broker_directory, payload=payload, task_bytes=16384)
    expected = rows.to_arrow()
    parquet, arrow = BytesIO(), BytesIO()
    arrow_rows.write_parquet(parquet, rows.schema, rows.batches())
    arrow_rows.write_arrow(arrow, rows.schema, rows.batches())
    assert pa.ipc.open_file(arrow).read_all().equals(expected)
    file = pq.ParquetFile(parquet)
    assert file.num_row_groups > 3
    assert file.read().to_pylist() == expected.to_pylist()


MEMORY = """
import sys
from pathlib import Path
from kafkaviz.__main__ import main
assert main(sys.argv[1:]) == 0
assert "pandas" not in sys.modules
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) << 10)
"""
MAX_BYTES = 300_000_000


def peak_bytes(*arguments: str) -> int:
    """Runs `kafkaviz records` in a process of its own, and returns the most memory it used."""
    return int(run_python(MEMORY, "records", *arguments).split()[-1])


@pytest.fixture(scope="module")
def equal_logs(tmp_path_factory) -> Path:
    """Returns a broker directory of eight links to a log of 24 MB."""
    directory = whole_logs.broker(tmp_path_factory.mktemp("memory") / "made")
    batches = [whole_logs.batch(number * 10, [START_MS] * 10, 6_000) for number in range(400)]
    whole_logs.write(directory / "t-0", batches)
    for number in range(1, 8):
        shutil.copytree(directory / "t-0", directory / f"t-{number}", copy_function=os.link)
    return directory


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "payload"),
    [
        (".parquet", "text"),
        (".jsonl", "text"),
        pytest.param(".parquet", "bytes", marks=pytest.mark.nightly),
        pytest.param(".arrow", "text", marks=pytest.mark.nightly),
    ],
)
def test_memory_does_not_follow_the_size_of_the_log(equal_logs, tmp_path, suffix, payload):
    """Four times as many bytes take at most an eighth more memory."""
    options = (str(equal_logs), "--payload", payload, "-o", str(tmp_path / f"rows{suffix}"))
    few_bytes = peak_bytes(*options, "--partitions", "0-1")
    most_bytes = peak_bytes(*options, "--partitions", "0-7")
    assert most_bytes < 1.125 * few_bytes
    assert most_bytes < MAX_BYTES
