"""The data source: the plain reader's rows for any number of tasks, and few bytes."""

import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.functions import spark_partition_id
from pyspark.sql.types import LongType, StringType, StructType

from kafkaviz.errors import CannotOpen
from kafkaviz.format import offset_index, producer_snapshot, time_index
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.datasource import probes, source_plan
from kafkaviz.pipeline.datasource.pushdown import NumberRange, PushedFilters
from kafkaviz.pipeline.datasource.source import RecordsSource, directories, register
from kafkaviz.pipeline.datasource.source_reader import Malformed
from kafkaviz.pipeline.datasource.source_schema import (
    FORMATS,
    PARTITION_COLUMNS,
    BadOption,
    SourceOptions,
)
from kafkaviz.pipeline.read.inventory import inventory
from tests.pipeline import whole_logs
from tests.pipeline.plain_rows import tables_of
from tests.pipeline.source_reading import counted, read, reader_of

TABLES = {
    "kafka_segments": "segments",
    "kafka_batches": "batches",
    "kafka_offset_index": "offset_entries",
    "kafka_time_index": "time_entries",
}
START_MS = whole_logs.START_MS
# whole batches, even in damaged segments
EVERYTHING = {"mode": "DROPMALFORMED", "isolation": "read_uncommitted"}
RECORD_COLUMNS = ("offset", "timestamp_ms", "key", "value")
OWN = {"meta.properties"}  # what a broker directory is known by


def rows_of_source(directory: Path, table: str) -> list[dict]:
    """Returns a table's rows without the columns that only a catalog has."""
    without = {*PARTITION_COLUMNS, "uncompressed_bytes"}
    return [
        {name: value for name, value in row.items() if name not in without}
        for row in tables_of(directory)[table]
    ]


def plain_records(directory: Path, patterns: Sequence[str]) -> list[dict]:
    rows_ = []
    for partition in open_broker(directory).partitions:
        if not any(fnmatch(partition.topic, pattern) for pattern in patterns):
            continue
        owner = {
            "broker": directory.name,
            "topic": partition.topic,
            "partition": partition.partition,
        }
        for segment in partition.segments:
            if not (segment.is_in_use and segment.log):
                continue
            for position in segment.batches()["position"].tolist():
                place = {"segment_base_offset": segment.base_offset, "batch_position": position}
                rows_ += [
                    owner
                    | place
                    | {name: getattr(record, name) for name in RECORD_COLUMNS}
                    | {"headers": [{"name": key, "value": value} for key, value in record.headers]}
                    for record in segment.records(position)
                ]
    return rows_


@pytest.fixture(scope="module")
def big(tmp_path_factory) -> Path:
    """Returns a broker directory of two topic-partitions; orders-0 has six segments of 400 batches
    of 16 KB with growing times.

    Each segment begins with a producer snapshot, as Kafka writes one when it rolls.
    """
    directory = whole_logs.broker(tmp_path_factory.mktemp("source") / "made")
    for first in range(0, 2400, 400):
        starts_ms = {number: START_MS + number * 10_000 for number in range(first, first + 400)}
        batches = (
            whole_logs.batch(number * 16, range(at, at + 160, 10), 1000)
            for number, at in starts_ms.items()
        )
        stem = whole_logs.write(directory / "orders-0", batches, first * 16)
        stem.with_suffix(".snapshot").write_bytes(
            producer_snapshot.build(np.empty(0, producer_snapshot.PRODUCER))
        )
    whole_logs.write(
        directory / "clicks-3",
        [whole_logs.batch(number, [START_MS + number]) for number in range(500)],
    )
    return directory


def between(column: str, least: int, most: int) -> list[Filter]:
    return [GreaterThanOrEqual((column,), least), LessThanOrEqual((column,), most)]


def files_of(base_offset: int) -> set[str]:
    return {f"{base_offset:020d}.{suffix}" for suffix in ("log", "index", "timeindex")}


def size_of(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*.log"))


@pytest.mark.slow
@pytest.mark.parametrize("sample", ["some_partitions", "killed", "damaged"])
@pytest.mark.parametrize("name", TABLES)
def test_rows_are_those_of_the_plain_reader(name, sample, request):
    directory = request.getfixturevalue(sample)
    expected = rows_of_source(directory, TABLES[name])
    options = {"renamed": "true", "mode": "DROPMALFORMED", "columns": ",".join(expected[0])}
    whole = read(name, directory, task_bytes="1000000000", **options)
    cut = read(name, directory, task_bytes="40000", **options)
    assert whole.to_pylist() == expected and cut.equals(whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample", ["damaged", "killed", pytest.param("clean", marks=pytest.mark.nightly)]
)
def test_records_are_those_of_the_plain_reader(sample, request):
    directory = request.getfixturevalue(sample)
    topics = ["clicks-mixed" if sample == "clean" else "clicks-*", "append-time"]
    topics += ["__transaction_state", "refunds"]
    expected = plain_records(directory, topics)
    selection = {"topics": ",".join(topics), **EVERYTHING}
    options = {"payload": "true", "columns": ",".join(expected[0]), **selection}
    whole = read("kafka_records", directory, task_bytes="1000000000", **options)
    cut = read("kafka_records", directory, task_bytes="100000", **options)
    assert whole.to_pylist() == expected and cut.equals(whole)
    sizes = read("kafka_records", directory, **selection)
    for name in ("key", "value"):
        lengths = [None if record[name] is None else len(record[name]) for record in expected]
        assert sizes[f"{name}_size_bytes"].to_pylist() == lengths
    assert "key" not in sizes.column_names
    owner = ["topic", "partition", "segment_base_offset"]
    columns = ",".join([*owner, "position", "is_control"])
    batches = read("kafka_batches", directory, mode="DROPMALFORMED", columns=columns).to_pylist()
    controls = {tuple(row.values())[:-1]: row["is_control"] for row in batches}
    rows_ = sizes.select([*owner, "batch_position", "is_control"]).to_pylist()
    assert all(row["is_control"] == controls[tuple(row.values())[:-1]] for row in rows_)


@pytest.mark.nightly
def test_rows_of_every_recorded_broker(shared):
    """2.8.2 to 4.3.1, all three magics, killed and damaged, in one task and in many."""
    checked, archives = 0, sorted((shared / "data").glob("kafka-*.tar.gz"))
    for packed in [archive for archive in archives if ".expected." not in archive.name]:
        directory = unpack_if_archive(packed)
        expected = rows_of_source(directory, "batches")
        options = {"task_bytes": "200000", "renamed": "true", "mode": "DROPMALFORMED"}
        columns = ",".join(expected[0])
        table = read("kafka_batches", directory, columns=columns, **options)
        assert table.to_pylist() == expected, packed.name
        topics = ["mixed.*", "native.*", "v?.*", "weblogs", "clicks-*"]
        records = plain_records(directory, topics)
        options |= {"topics": ",".join(topics), "payload": "true", **EVERYTHING}
        values = read("kafka_records", directory, **options)["value"].to_pylist()
        assert values == [record["value"] for record in records], packed.name
        checked += len(records)
    assert checked > 50_000


def test_a_topic_a_partition_and_a_segment_open_no_other_file(big, monkeypatch):
    with counted(monkeypatch) as reads:
        rows = read(
            "kafka_batches",
            big,
            [EqualTo(("topic",), "clicks"), IsNotNull(("topic",)), EqualTo(("partition",), 3)],
        )
    assert rows.num_rows == 500 and reads.names - OWN == files_of(0)
    assert read("kafka_batches", big, topics="cl*,gone").num_rows == 500
    assert read("kafka_batches", big, [In(("topic",), ("clicks", "gone"))]).num_rows == 500
    assert read("kafka_batches", big, [EqualTo(("partition",), 9)]).num_rows == 0
    with counted(monkeypatch) as reads:
        assert read("kafka_batches", big, [EqualTo(("segment_base_offset",), 6400)]).num_rows == 400
    assert reads.names - OWN == files_of(6400)


@pytest.mark.parametrize("task_bytes", ["1000000000", "1000000"])
def test_an_offset_range_reads_a_fraction(big, task_bytes, monkeypatch):
    """50 records of 38 400: less than 2 % of the bytes, for records and for batches."""
    range_ = [GreaterThanOrEqual(("offset",), 20_000), LessThan(("offset",), 20_050)]
    with counted(monkeypatch) as reads:
        rows = read("kafka_records", big, range_, task_bytes=task_bytes)
    assert rows["offset"].to_pylist() == list(range(20_000, 20_050))
    assert reads.bytes < 0.02 * size_of(big)
    with counted(monkeypatch) as reads:
        range_ = [GreaterThan(("last_offset",), 20_000), LessThanOrEqual(("base_offset",), 20_049)]
        rows = read("kafka_batches", big, range_, task_bytes=task_bytes)
    assert rows["base_offset"].to_pylist() == [20_000, 20_016, 20_032, 20_048]
    assert reads.bytes < 0.02 * size_of(big)


@pytest.mark.parametrize("task_bytes", ["1000000000", "4000000"])
def test_a_time_range_reads_a_fraction(big, task_bytes, monkeypatch):
    """A minute of 400: the .timeindex skips older batches, late_ms newer ones."""
    least, most = START_MS + 1000 * 10_000, START_MS + 1006 * 10_000 - 1
    range_ = between("timestamp_ms", least, most)
    with counted(monkeypatch) as reads:
        rows = read("kafka_records", big, range_, task_bytes=task_bytes, late_ms="60000")
    assert rows["offset"].to_pylist() == list(range(16_000, 16_096))
    assert reads.bytes < 0.02 * size_of(big)
    assert read("kafka_records", big, range_, task_bytes=task_bytes) == rows
    with counted(monkeypatch) as reads:
        assert read("kafka_records", big, range_, task_bytes=task_bytes, late_ms="0").num_rows == 96
    assert reads.bytes < 0.018 * size_of(big)
    with counted(monkeypatch) as reads:
        assert read("kafka_batches", big, between("max_timestamp_ms", least, most)).num_rows == 6
    assert reads.bytes < 0.02 * size_of(big)


@pytest.fixture(scope="module")
def late(tmp_path_factory) -> Path:
    """Returns a log in which every tenth batch is an hour old, and record times vary."""
    directory = whole_logs.broker(tmp_path_factory.mktemp("late") / "made")
    random, batches = np.random.default_rng(3), []
    for number in range(600):
        at = START_MS + number * 1000 - (3_600_000 if number % 10 == 9 else 0)
        codec_name = ("none", "gzip", "snappy", "lz4", "zstd")[number % 5]
        attributes = 8 if number % 7 == 0 else 0
        times_ms = (at + random.integers(-20_000, 20_000, 4)).tolist()
        batches.append(whole_logs.batch(number * 4, times_ms, 300, codec_name, attributes))
    for first in range(0, 600, 200):
        whole_logs.write(directory / "late-0", batches[first : first + 200], first * 4, 2000)
    return directory


def test_late_ms_says_what_may_be_taken_for_granted(tmp_path):
    """A record two minutes older than its batch's first is found, unless late_ms excludes it."""
    directory = whole_logs.broker(tmp_path / "made")
    batches = [
        whole_logs.batch(0, [START_MS]),
        whole_logs.batch(1, [START_MS + 200_000, START_MS + 80_000]),
    ]
    whole_logs.write(directory / "odd-0", batches)
    range_ = [LessThan(("timestamp_ms",), START_MS + 100_000)]
    assert read("kafka_records", directory, range_)["offset"].to_pylist() == [0, 2]
    for late_ms, expected in (("any", [0, 2]), ("60000", [0]), ("120000", [0, 2])):
        rows = read("kafka_records", directory, range_, late_ms=late_ms)
        assert rows["offset"].to_pylist() == expected


def rows_of_ranges(directory: Path, topics: str, count: int, **more: str) -> int:
    """Counts the rows of many ranges of times and offsets, each compared with all records filtered;
    edges are at record times, or next to one.
    """
    options = {
        "topics": topics,
        "columns": "topic,partition,offset,timestamp_ms",
        "mode": "DROPMALFORMED",  # a broker that was killed left torn ends
    }
    everything = read("kafka_records", directory, **options).to_pylist()
    random, rows = np.random.default_rng(11), 0
    for number in range(count):
        first, other, above = (everything[row] for row in random.integers(0, len(everything), 3))
        near = [row["timestamp_ms"] + int(random.integers(-1, 2)) for row in (first, other)]
        least = min(near)
        most = max(near) if random.random() < 0.5 else least + 5
        filters = between("timestamp_ms", least, most)
        after = -1
        if number % 2:
            after = above["offset"]
            filters.append(GreaterThan(("offset",), after))
        table = read("kafka_records", directory, filters, **options, **more)
        expected = [
            row
            for row in everything
            if least <= row["timestamp_ms"] <= most and row["offset"] > after
        ]
        assert table.to_pylist() == expected
        rows += len(expected)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("task_bytes", ["1000000000", "50000"])
def test_no_late_record_is_missed(late, task_bytes):
    assert rows_of_ranges(late, "late", 40, task_bytes=task_bytes) > 1000


def test_ranges_of_a_real_broker_are_whole(clean):
    assert rows_of_ranges(clean, "sensors-*", 12) > 1000


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "topics"),
    [
        ("kafka-3.9.0-follower", "late-*,clicks*,orders"),
        ("kafka-4.3.1-killed", "clicks*,orders,sensors*"),
        ("kafka-2.8.2-legacy", "mixed*,v?.late,v1.gzip,v0.none"),
    ],
)
def test_ranges_of_recorded_brokers_are_whole(shared, name, topics):
    """Batches whose records are minutes older than their first, and records of every magic."""
    assert rows_of_ranges(unpack_if_archive(shared / "data" / f"{name}.tar.gz"), topics, 12) > 1000


def test_what_a_time_index_lacks_is_found_without_it(tmp_path):
    """All entries are true, but the newest batch has none: Kafka misses it, and so does a range;
    `any` reads every header.
    """
    directory = whole_logs.broker(tmp_path / "made")
    times_ms = [START_MS + 100_000, START_MS + 500_000, START_MS + 200_000]
    stem = whole_logs.write(
        directory / "odd-0",
        [whole_logs.batch(number, [at], 5000) for number, at in enumerate(times_ms)],
    )
    entries = np.array([(times_ms[0], 0), (times_ms[2], 2)], time_index.ENTRY)
    stem.with_suffix(".timeindex").write_bytes(time_index.build(entries))
    range_ = [GreaterThanOrEqual(("timestamp_ms",), START_MS + 300_000)]
    assert read("kafka_records", directory, range_)["offset"].to_pylist() == []
    assert read("kafka_records", directory, range_, late_ms="any")["offset"].to_pylist() == [1]


def test_a_renamed_directory_repeats_nothing(tmp_path):
    """Directories that Kafka copies or deletes are read only on request, or opened alone."""
    directory, odd = whole_logs.broker(tmp_path / "made"), "x-0." + "a" * 32 + "-future"
    for name in ("x-0", odd):
        whole_logs.write(directory / name, [whole_logs.batch(0, [START_MS])])
    for name in FORMATS:
        rows = read(name, directory).num_rows
        assert read(name, directory, renamed="true").num_rows == 2 * rows
        assert read(name, directory / odd).num_rows == rows
    assert read("kafka_records", directory)["offset"].to_pylist() == [0]


def test_indexes_are_left_out_by_their_names(tmp_path, monkeypatch):
    """An entry's offset is within 2^31 of its segment's base offset, whatever its value."""
    directory = whole_logs.broker(tmp_path / "made")
    for first in (0, 1 << 33):
        whole_logs.write(
            directory / "far-0",
            [whole_logs.batch(first + number, [START_MS + number], 5000) for number in range(3)],
            first,
        )
    with counted(monkeypatch) as reads:
        rows = read("kafka_offset_index", directory, [GreaterThan(("offset",), 1 << 33)])
    assert set(rows["offset"].to_pylist()) == {(1 << 33) + 1, (1 << 33) + 2}
    assert reads.names - OWN == {f"{1 << 33:020d}.index"}


def test_a_plan_of_many_segments_is_quick(tmp_path):
    directory, worked_out = whole_logs.broker(tmp_path / "made"), []
    for number in range(50):
        whole_logs.write(directory / "many-0", [whole_logs.batch(number, [START_MS])], number)
    stock, ends = inventory([open_broker(directory)]), source_plan._live_bases
    filters = PushedFilters(numbers={"offset": NumberRange(40, 41)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            source_plan, "_live_bases", lambda partition: worked_out.append(1) or ends(partition)
        )
        plan = source_plan.SourcePlan("kafka_records", stock, filters, SourceOptions())
        assert sum(map(len, plan.tasks(reads_log=True))) == 2
    assert len(worked_out) == 1


@pytest.fixture
def indexed(tmp_path) -> Path:
    """Returns a broker directory of 300 batches with ten records each, a millisecond apart."""
    directory = whole_logs.broker(tmp_path / "made")
    batches = [whole_logs.batch(number * 10, [START_MS + number] * 10, 80) for number in range(300)]
    whole_logs.write(directory / "lied-0", batches)
    return directory


@pytest.mark.slow
@pytest.mark.parametrize(
    "lie", ["shifted", "keys up", "keys down", "reversed", "zeros", "gone", "random", "foreign"]
)
def test_a_wrong_index_hides_nothing(indexed, lie):
    path = indexed / "lied-0" / f"{0:020d}.index"
    entries = offset_index.parse(path.read_bytes()).copy()
    random = np.random.default_rng(1)
    if lie == "shifted":
        entries["position"] += 7
    elif lie == "keys up":
        entries["relative_offset"] += 500
    elif lie == "keys down":
        entries["relative_offset"] -= 500
    elif lie == "reversed":
        entries = entries[::-1]
    elif lie == "zeros":
        entries[len(entries) // 2 :] = 0
    elif lie == "random":
        for name in entries.dtype.names:
            entries[name] = random.integers(-(2**31), 2**31, len(entries))
    elif lie == "foreign":
        entries["position"] = random.permutation(entries["position"])
    path.unlink() if lie == "gone" else path.write_bytes(offset_index.build(entries))
    for task_bytes in ("1000000000", "50000"):
        everything = read("kafka_records", indexed, task_bytes=task_bytes)
        assert everything["offset"].to_pylist() == list(range(3000))
        for first in range(0, 3000, 271):
            range_ = between("offset", first, first + 14)
            table = read("kafka_records", indexed, range_, task_bytes=task_bytes)
            assert table["offset"].to_pylist() == list(range(first, min(first + 15, 3000)))


@pytest.mark.slow
@pytest.mark.parametrize("lie", ["times down", "offsets up", "random", "zeros", "torn", "gone"])
def test_a_wrong_time_index_changes_no_answer(indexed, lie):
    """An entry counts only if the batch it names has its time."""
    path = indexed / "lied-0" / f"{0:020d}.timeindex"
    entries = time_index.parse(path.read_bytes()).copy()
    random = np.random.default_rng(1)
    if lie == "times down":
        entries["timestamp_ms"] -= 50
    elif lie == "offsets up":
        entries["relative_offset"] += 505
    elif lie == "random":
        entries["timestamp_ms"] = START_MS + random.integers(0, 300, len(entries))
    elif lie == "zeros":
        entries[len(entries) // 2 :] = 0
    data = time_index.build(entries)
    path.unlink() if lie == "gone" else path.write_bytes(data[:-5] if lie == "torn" else data)
    for task_bytes in ("1000000000", "50000"):
        for at in range(0, 300, 23):
            range_ = between("timestamp_ms", START_MS + at, START_MS + at + 1)
            table = read("kafka_records", indexed, range_, task_bytes=task_bytes)
            assert table["offset"].to_pylist() == list(range(at * 10, min(at * 10 + 20, 3000)))


def test_damage_hides_neither_neighbours_nor_later_batches(tmp_path, caplog):
    directory = whole_logs.broker(tmp_path / "made")
    batches = [whole_logs.batch(number * 10, [START_MS + number] * 10, 80) for number in range(100)]
    for partition in range(3):
        whole_logs.write(directory / f"hurt-{partition}", batches)
    hurt_at = sum(map(len, batches[:20]))
    for partition, length in ((0, 0), (1, 8000)):
        log = directory / f"hurt-{partition}" / f"{0:020d}.log"
        data = bytearray(log.read_bytes())
        data[hurt_at + 8 : hurt_at + 12] = length.to_bytes(4, "big")
        log.write_bytes(data)
    (directory / "hurt-2" / f"{0:020d}.log").unlink()
    (directory / "hurt-2" / f"{0:020d}.log").symlink_to(directory)  # a directory, not a file
    for task_bytes in ("1000000000", "20000"):
        rows = read("kafka_batches", directory, task_bytes=task_bytes, problems="true").to_pylist()
        good = [row for row in rows if row["problem"] is None]
        batch_keys = {(row["partition"], row["base_offset"]) for row in good}
        assert len(batch_keys) == len(good)
        for partition in (0, 1):
            bases = {base_offset for number, base_offset in batch_keys if number == partition}
            assert bases >= {number * 10 for number in range(20)} and len(bases) >= 90
        problems = [row for row in rows if row["problem"]]
        places = {(row["partition"], row["position"]) for row in problems}
        assert places == {(0, hurt_at), (1, hurt_at)}
        assert all(f"byte {hurt_at}" in row["problem"] for row in problems)
        with pytest.raises(Malformed, match=f"byte {hurt_at}: .* not a whole batch"):
            read("kafka_batches", directory, task_bytes=task_bytes)
        dropped = read("kafka_batches", directory, task_bytes=task_bytes, mode="DROPMALFORMED")
        assert dropped.num_rows == len(good)
    assert f"byte {hurt_at}" in caplog.text


def test_a_segment_that_cannot_be_read_is_a_row(tmp_path):
    directory = whole_logs.broker(tmp_path / "made")
    whole_logs.write(directory / "a-0", [whole_logs.batch(0, [START_MS])])
    stem = whole_logs.write(directory / "a-0", [whole_logs.batch(1, [START_MS])], 1)
    os.truncate(stem.with_suffix(".log"), 40)
    (stem.with_suffix(".index")).unlink()
    rows = read("kafka_segments", directory, problems="true").to_pylist()
    names = ("base_offset", "batches", "torn_bytes", "problem")
    found = [tuple(row[name] for name in names) for row in rows]
    assert found == [(0, 1, 0, None), (1, 0, 40, None)]


def test_names_and_sizes_open_no_file(big, monkeypatch):
    with counted(monkeypatch) as reads:
        rows = read("kafka_segments", big, columns="topic,partition,base_offset,log_bytes")
    assert reads.names == OWN and rows.num_rows == 7
    assert rows.column_names == ["topic", "partition", "base_offset", "log_bytes"]
    assert sum(rows["log_bytes"].to_pylist()) == size_of(big)


def test_many_small_segments_share_tasks(tmp_path):
    directory = whole_logs.broker(tmp_path / "made")
    for number in range(200):
        whole_logs.write(directory / "many-0", [whole_logs.batch(number, [START_MS])], number)
    stock = inventory([open_broker(directory)])
    options = SourceOptions(task_bytes=16 << 20)
    batches, segments = (
        source_plan.SourcePlan(name, stock, PushedFilters(), options)
        for name in ("kafka_batches", "kafka_segments")
    )
    assert len(batches.tasks(reads_log=True)) == 4
    assert len(segments.tasks(reads_log=False)) == 1
    assert read("kafka_batches", directory)["base_offset"].to_pylist() == list(range(200))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": "topic,nothing"}, "kafka_records has no column nothing; it has broker"),
        ({"columns": "offset,key"}, "with option payload=true also key"),
        ({"columns": "offset,topic,offset"}, "offset is given twice in option columns"),
        ({"payload": "maybe"}, "option payload"),
        ({"late_ms": "-1"}, "option late_ms"),
        ({"late_ms": "1" + 30 * "0"}, "option late_ms"),
        ({"task_bytes": "1"}, "option task_bytes is a whole number from 16384"),
        ({"topic": "orders"}, "unknown option topic; the options are columns, topics"),
        ({"offsets": "5-3"}, "option offsets selects nothing"),
        ({"offsets": "-"}, "option offsets takes a number or a range such as 5000-5999"),
        ({"offsets": "9" * 50}, "64 bits"),
        ({"partitions": "0,x"}, "option partitions takes"),
        ({"timestamps": "2026-09-21"}, "takes a range such as 2026-09-21T18:22/2026"),
        ({"timestamps": "soon/"}, "soon is neither milliseconds since 1970 nor a time"),
        ({"timestamps": "2/1"}, "ends before it begins"),
        ({"mode": "STRICT"}, "option mode is FAILFAST or PERMISSIVE or DROPMALFORMED, not STRICT"),
        ({"mode": "failfast", "problems": "true"}, "leave one of them out"),
        ({"isolation": "serializable"}, "option isolation"),
        ({"columns": "aborted"}, "kafka_records has no column aborted"),
    ],
)
def test_an_option_that_means_nothing_is_refused(big, options, words):
    with pytest.raises(BadOption, match=words):
        read("kafka_records", big, **options)


def test_a_schema_of_ones_own_has_known_columns(big):
    """Another name, or another type of a known column, is refused; a subset of the columns is not."""
    source = RecordsSource({"path": str(big)})
    assert source.reader(StructType().add("offset", LongType()))
    for name, kind in (("offset", StringType()), ("nothing", LongType())):
        with pytest.raises(BadOption, match=f"no column {name} of type"):
            source.reader(StructType().add(name, kind))


@pytest.mark.parametrize(
    ("master", "environ", "conf", "is_this"),
    [
        ("local[2]", {}, {}, True),
        ("local[2]", {"PYSPARK_PYTHON": "python3"}, {}, False),
        ("local[2]", {}, {"spark.pyspark.python": "python3"}, False),
        ("spark://there:7077", {}, {}, False),
    ],
)
def test_workers_of_a_local_session_run_this_python(monkeypatch, master, environ, conf, is_this):
    """Spark's default, the first python3 on PATH, may lack kafkaviz. A configured Python counts, a
    cluster has its own, and a foreign Python is probed.
    """
    probed = []
    monkeypatch.setattr(
        probes, "require_kafkaviz", lambda spark, *, is_connect: probed.append(is_connect)
    )
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    context = SimpleNamespace(
        pythonExec="python3", getConf=lambda: SimpleNamespace(contains=conf.__contains__)
    )
    settings = SimpleNamespace(
        get=lambda name, default: master if name == "spark.master" else default
    )
    register(
        SimpleNamespace(
            sparkContext=context,
            dataSource=SimpleNamespace(register=lambda row_source: None),
            conf=settings,
        )
    )
    assert context.pythonExec == (sys.executable if is_this else "python3")
    assert probed == ([] if is_this else [False])


def test_a_directory_may_be_named_by_a_uri(big):
    """file: is a path of this machine, s3: stays an address, and anything else is refused."""
    assert directories({"path": big.as_uri()}) == [str(big)]
    assert directories({"path": f"file:{big}"}) == [str(big)]
    assert directories({"path": "s3://bucket/kafka"}) == ["s3://bucket/kafka"]
    with pytest.raises(CannotOpen, match="ftp is not a store that can be read"):
        directories({"path": "ftp://host/kafka"})


def test_a_path_that_is_not_a_directory_is_refused(tmp_path):
    with pytest.raises(CannotOpen):
        read("kafka_batches", tmp_path / "gone")
    with pytest.raises(
        CannotOpen,
        match=r"gone: does not exist relative to .*, where Spark plans the query; give the whole path",
    ):
        read("kafka_batches", Path("gone"))


@pytest.mark.slow
def test_spark_gives_the_same_rows(spark, some_partitions, big):
    """All formats through Spark: pushed filters, N partitions, and SQL on top.

    Small topics, with every codec, nulls, transactions and several segments.
    """
    register(spark)
    topics = "clicks-mixed,nulls,refunds"
    for name in FORMATS:
        task_bytes = 16_384 if "index" in name else 200_000
        options = {"topics": topics, "task_bytes": task_bytes}
        frame = spark.read.format(name).options(**options).load(str(some_partitions))
        assert frame.columns == FORMATS[name].names
        rows = frame.withColumn("task", spark_partition_id()).toArrow()
        assert len(rows["task"].unique()) > 1
        expected = read(name, some_partitions, topics=topics).to_pylist()
        assert sorted(map(str, rows.drop("task").to_pylist())) == sorted(map(str, expected))
    frame = spark.read.format("kafka_records").option("payload", "true").load(str(big))
    rows = (
        frame.where("topic = 'orders' and offset between 20000 and 20004 and value is not null")
        .orderBy("offset")
        .collect()
    )
    assert [row["offset"] for row in rows] == [20_000, 20_001, 20_002, 20_003, 20_004]
    headers = rows[2]["headers"]
    assert (headers[0]["name"], headers[1]["value"], rows[0]["key"]) == ("trace", None, None)
    both = spark.read.format("kafka_batches").option("topics", "nulls,clicks")
    both = both.load([str(some_partitions), str(big)])
    assert both.select("broker").distinct().count() == 2


@pytest.mark.parametrize(
    "name", ["kafka_records", "kafka_batches", "kafka_segments", "kafka_files"]
)
@pytest.mark.parametrize("position", [7, "a batch"])
def test_a_log_that_is_cut_after_the_plan_is_lost_data(tmp_path, name, position):
    """Cut at a batch or within one, like a deleted file; a configured end is different."""
    directory = whole_logs.broker(tmp_path / "made")
    batches = [whole_logs.batch(offset, [whole_logs.START_MS]) for offset in range(40)]
    whole_logs.write(directory / "t-0", batches[:20])
    whole_logs.write(directory / "t-0", batches[20:], 20)
    options = {"subscribe": "t"} if name == "kafka_files" else {}
    for base, task_bytes in ((0, "16384"), (20, "134217728")):
        log = directory / "t-0" / f"{base:020}.log"
        data = log.read_bytes()
        for mode in ("FAILFAST", "PERMISSIVE", "DROPMALFORMED"):
            reader = reader_of(name, directory, mode=mode, task_bytes=task_bytes, **options)
            tasks = reader.partitions()
            cut = len(batches[0]) * 3 if position == "a batch" else position
            log.write_bytes(data[:cut])
            if mode == "PERMISSIVE":
                rows = [
                    row for task in tasks for part in reader.read(task) for row in part.to_pylist()
                ]
                assert any("when the query was planned" in (row["problem"] or "") for row in rows)
            else:
                with pytest.raises(Malformed, match=f"{log.name}: the file has {cut} bytes now"):
                    [part for task in tasks for part in reader.read(task)]
            log.write_bytes(data)
