"""kafka_files: the options of Spark's own kafka source, and the offsets that they mean here."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.datasource import EqualTo, GreaterThanOrEqual, LessThan
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import CONTROL, LOG_APPEND_TIME
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.datasource.consumer_options import (
    ConsumerOptions,
    DataLoss,
    compile_java_pattern,
    consumer_columns,
    parse_consumer_options,
)
from kafkaviz.pipeline.datasource.source import FilesSource
from kafkaviz.pipeline.datasource.source_reader import Malformed
from kafkaviz.pipeline.datasource.source_request import directories, expand
from kafkaviz.pipeline.datasource.source_schema import BadOption
from tests.pipeline import whole_logs
from tests.pipeline.source_reading import read, reader_of

START_MS = whole_logs.START_MS
LEVEL = "kafka.isolation.level"


@pytest.fixture(scope="module")
def broker_directory(tmp_path_factory) -> Path:
    """Returns t-0 of offsets 100 to 199 in two segments with log start 110, t-1 of 0 to 49, and
    other-0 of 0 to 9. A batch has ten records, a second apart.
    """
    directory = whole_logs.broker(tmp_path_factory.mktemp("files") / "made")
    for name, first, end in (
        ("t-0", 100, 150),
        ("t-0", 150, 200),
        ("t-1", 0, 50),
        ("other-0", 0, 10),
    ):
        batches = [
            whole_logs.batch(at, range(START_MS + at * 1000, START_MS + at * 1000 + 10_000, 1000))
            for at in range(first, end, 10)
        ]
        whole_logs.write(directory / name, batches, first, interval_bytes=100)
    (directory / "log-start-offset-checkpoint").write_text("0\n1\nt 0 110\n")
    return directory


def offsets(directory: Path, **options: str) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row in read("kafka_files", directory, **options).to_pylist():
        rows.setdefault(f"{row['topic']}-{row['partition']}", []).append(row["offset"])
    return rows


def spans(directory: Path, **options: str) -> dict[str, tuple[int, int]]:
    """Returns the first and last offset of each topic-partition, and asserts no gap."""
    given = offsets(directory, **options)
    assert all(row == list(range(row[0], row[-1] + 1)) for row in given.values())
    return {label: (row[0], row[-1]) for label, row in given.items()}


def subscribed(options: dict[str, str]) -> dict[str, str]:
    """Adds topic t unless the options name topics."""
    has_topics = any(name.lower().startswith(("subscribe", "assign")) for name in options)
    return options if has_topics else {"subscribe": "t", **options}


def test_the_schema_is_that_of_sparks_own_source():
    """Each column and its nullability, by KafkaRecordToRowConverter of 4.3."""
    headers = ArrayType(StructType().add("key", StringType()).add("value", BinaryType()))
    expected = StructType().add("key", BinaryType()).add("value", BinaryType())
    expected.add("topic", StringType()).add("partition", IntegerType()).add("offset", LongType())
    expected.add("timestamp", TimestampType()).add("timestampType", IntegerType())
    assert from_arrow_schema(consumer_columns(ConsumerOptions())) == expected
    with_headers = parse_consumer_options({"subscribe": "t", "INCLUDEHEADERS": "true"})
    assert from_arrow_schema(consumer_columns(with_headers)) == expected.add("headers", headers)


def test_rows_are_those_of_kafka_records(clean):
    topics = "clicks-mixed,nulls,append-time"
    rows = read("kafka_files", clean, subscribe=topics, includeHeaders="true").to_pylist()
    expected = read("kafka_records", clean, topics=topics, payload="true").to_pylist()
    assert len(rows) == len(expected) > 1000
    for row, record in zip(rows, expected, strict=True):
        names = ("key", "value", "topic", "partition", "offset", "timestamp")
        assert {name: row[name] for name in names} == {name: record[name] for name in names}
        assert row["timestampType"] == (1 if row["topic"] == "append-time" else 0)
        pairs = [(header["name"], header["value"]) for header in record["headers"]]
        assert [(header["key"], header["value"]) for header in row["headers"] or ()] == pairs
        assert (row["headers"] is None) == (not pairs)
    assert max(len(row["headers"] or ()) for row in rows) == 42


def test_a_record_without_a_time_is_before_1970(shared, tmp_path):
    """Kafka's -1 is one millisecond before 1970, as in Spark's source; for magic 0 its type is -1."""
    directory = unpack_if_archive(shared / "data" / "kafka-2.8.2-legacy.tar.gz")
    rows = read("kafka_files", directory, subscribePattern="v0.*").to_pylist()
    assert {(row["timestamp"].timestamp(), row["timestampType"]) for row in rows} == {(-0.001, -1)}


def test_control_records_are_not_given(tmp_path):
    """The records around them are returned; LogAppendTime is type 1."""
    directory = whole_logs.broker(tmp_path / "made")
    batches = [
        whole_logs.batch(0, [START_MS] * 3),
        whole_logs.batch(3, [START_MS], attributes=CONTROL),
        whole_logs.batch(4, [START_MS, START_MS + 5], attributes=LOG_APPEND_TIME),
    ]
    whole_logs.write(directory / "t-0", batches)
    rows = read("kafka_files", directory, subscribe="t").to_pylist()
    types = [(row["offset"], row["timestampType"]) for row in rows]
    assert types == [(0, 0), (1, 0), (2, 0), (4, 1), (5, 1)]
    assert rows[3]["timestamp"] == rows[4]["timestamp"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"subscribe": " t , other"}, {"t-0": (110, 199), "t-1": (0, 49), "other-0": (0, 9)}),
        ({"subscribepattern": "^t$"}, {"t-0": (110, 199), "t-1": (0, 49)}),
        ({"subscribePattern": "the"}, {"other-0": (0, 9)}),
        ({"assign": '{"t":[1],"other":[0]}'}, {"t-1": (0, 49), "other-0": (0, 9)}),
        ({"startingOffsets": '{"t":{"0":150,"1":-2}}'}, {"t-0": (150, 199), "t-1": (0, 49)}),
        ({"endingOffsets": '{"t":{"0":150,"1":-1}}'}, {"t-0": (110, 149), "t-1": (0, 49)}),
        ({"startingOffsets": "EARLIEST"}, {"t-0": (110, 199), "t-1": (0, 49)}),
        (
            {
                "assign": '{"t":[0]}',
                "startingOffsets": '{"t":{"0":120}}',
                "endingOffsets": '{"t":{"0":123}}',
            },
            {"t-0": (120, 122)},
        ),
        (
            {"assign": '{"t":[0]}', "startingTimestamp": str(START_MS + 160_500)},
            {"t-0": (161, 199)},
        ),
        ({"assign": '{"t":[0]}', "endingTimestamp": str(START_MS + 160_500)}, {"t-0": (110, 160)}),
        ({"assign": '{"t":[0]}', "endingTimestamp": str(START_MS * 2)}, {"t-0": (110, 199)}),
        ({"assign": '{"t":[0]}', "startingTimestamp": "0"}, {"t-0": (110, 199)}),
        ({"assign": '{"t":[0]}', "startingTimestamp": "-2"}, {"t-0": (110, 199)}),
        ({"assign": '{"t":[0]}', "startingTimestamp": "-1"}, {}),
        ({"assign": '{"t":[0]}', "startingTimestamp": "-3"}, {"t-0": (199, 199)}),
        ({"assign": '{"t":[0]}', "endingTimestamp": "-1"}, {"t-0": (110, 199)}),
        (
            {"startingOffsetsByTimestamp": '{"t":{"0":-2,"1":-3}}'},
            {"t-0": (110, 199), "t-1": (49, 49)},
        ),
        (
            {"startingTimestamp": str(START_MS + 40_000), "startingOffsets": '{"t":{"0":1}}'},
            {"t-0": (110, 199), "t-1": (40, 49)},
        ),
        (
            {
                "startingOffsetsByTimestamp": f'{{"t":{{"0":{START_MS + 190_000},"1":5}}}}',
                "endingOffsetsByTimestamp": f'{{"t":{{"0":{START_MS * 2},"1":{START_MS + 7000}}}}}',
                "startingOffsets": "earliest",
            },
            {"t-0": (190, 199), "t-1": (0, 6)},
        ),
        (
            {
                "startingTimestamp": str(START_MS + 50_000),
                "startingOffsetsByTimestampStrategy": "LATEST",
            },
            {"t-0": (110, 199)},
        ),
    ],
)
def test_offsets_are_those_that_the_options_mean(broker_directory, options, expected):
    """The end is exclusive; a time has priority over an offset, and one time over many."""
    assert spans(broker_directory, **subscribed(options)) == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "subscribe or subscribePattern or assign, not 0"),
        ({"subscribe": "t", "assign": '{"t":[0]}'}, "not 2 of them"),
        ({"subscribe": " , "}, "option subscribe names no topic"),
        ({"assign": "t"}, "option assign takes {.topicA"),
        ({"assign": '{"t":0}'}, "option assign takes"),
        ({"assign": '{"t":[true]}'}, "option assign takes"),
        ({"subscribe": "__consumer_offsets"}, "is Kafka's own"),
        ({"startingOffsets": "latest"}, "option startingOffsets cannot be latest in a batch"),
        ({"startingOffsets": '{"t":{"0":-1,"1":0}}'}, "option startingOffsets cannot be latest"),
        ({"endingOffsets": "earliest"}, "option endingOffsets cannot be earliest"),
        ({"endingOffsets": '{"t":{"0":-2,"1":0}}'}, "option endingOffsets cannot be earliest"),
        ({"startingOffsets": "soon"}, "option startingOffsets takes earliest or latest or {"),
        ({"startingOffsets": '{"t":{"0":-3}}'}, "option startingOffsets takes"),
        ({"startingOffsets": '{"t":{"' + "1" * 5000 + '":3}}'}, "option startingOffsets takes"),
        ({"startingOffsets": '{"t":{"0":120}}'}, "every partition that is read: t-1 are missing"),
        (
            {"startingOffsets": '{"t":{"0":120,"1":0},"other":{"0":0}}'},
            "names partitions that are not read: other-0",
        ),
        (
            {"startingOffsets": '{"t":{"0":120,"1":0}}', "endingOffsets": '{"t":{"0":130}}'},
            "must name the same partitions; t-1",
        ),
        (
            {"startingOffsets": '{"t":{"0":130,"1":0}}', "endingOffsets": '{"t":{"0":120,"1":1}}'},
            "t-0: the start 130 is past the end 120",
        ),
        (
            {"startingTimestamp": str(START_MS + 20_000), "endingTimestamp": str(START_MS)},
            "t-1: the start 20 is past the end 0",
        ),
        ({"startingTimestamp": "soon"}, "option startingTimestamp is a whole number"),
        ({"startingTimestamp": str(-(2**63) - 1)}, "option startingTimestamp is a whole number"),
        ({"startingTimestamp": str(START_MS + 50_000)}, "no record of t-1 has timestamp"),
        ({"startingOffsetsByTimestamp": "earliest"}, "option startingOffsetsByTimestamp takes {"),
        ({"startingOffsetsByTimestampStrategy": "none"}, "is error or latest, not none"),
        ({"minPartitions": "0"}, "option minPartitions is a whole number from 1"),
        ({"failOnDataLoss": "maybe"}, "option failOnDataLoss is true or false"),
        ({LEVEL: "serializable"}, "option kafka.isolation.level"),
        ({"kafka.auto.offset.reset": "latest"}, "option kafka.auto.offset.reset is not accepted"),
        ({"topics": "t"}, "unknown option topics; the options are subscribe, subscribePattern"),
        ({"columns": "offset,headers"}, "kafka_files has no column headers"),
        ({"mode": "STRICT"}, "option mode is FAILFAST"),
    ],
)
def test_an_option_that_means_nothing_is_refused(broker_directory, options, words):
    with pytest.raises(BadOption, match=words):
        read("kafka_files", broker_directory, **(subscribed(options) if options else {}))


@pytest.mark.parametrize(
    ("options", "words", "rest"),
    [
        ({"subscribe": "other,gone"}, "gone are in none", {"other-0": (0, 9)}),
        ({"assign": '{"t":[1,7]}'}, "t-7 are in none", {"t-1": (0, 49)}),
        (
            {"assign": '{"t":[0]}', "startingOffsets": '{"t":{"0":100}}'},
            "t-0: offset 100 is before the log start offset 110",
            {"t-0": (110, 199)},
        ),
        (
            {"assign": '{"t":[0]}', "endingOffsets": '{"t":{"0":201}}'},
            "t-0: offset 201 is past the log end offset 200",
            {"t-0": (110, 199)},
        ),
        (
            {"assign": '{"t":[0]}', "startingOffsets": '{"t":{"0":201}}'},
            "t-0: offset 201 is past the log end offset 200",
            {},
        ),
        (
            {"subscribe": "t", "endingOffsets": '{"t":{"0":120,"1":5,"2":5}}'},
            "t-2 are in none",
            {"t-0": (110, 119), "t-1": (0, 4)},
        ),
    ],
)
def test_what_is_lost_ends_the_query(broker_directory, caplog, options, words, rest):
    """With failOnDataLoss=false the query continues, and a line is logged."""
    with pytest.raises(DataLoss, match=rf"{words}.*; with option failOnDataLoss=false"):
        read("kafka_files", broker_directory, **options)
    assert spans(broker_directory, **options, failOnDataLoss="false") == rest
    assert re.search(words, caplog.text)


def test_an_end_at_the_end_of_the_log_loses_nothing(broker_directory):
    options = {"assign": '{"t":[0]}', "startingOffsets": '{"t":{"0":110}}'}
    options["endingOffsets"] = '{"t":{"0":200}}'
    assert spans(broker_directory, **options) == {"t-0": (110, 199)}


def test_what_names_a_cluster_has_no_effect(broker_directory):
    options = {
        "kafka.bootstrap.servers": "kafka:9093",
        "kafka.security.protocol": "SASL_SSL",
        "kafka.group.id": "backfill",
        "groupIdPrefix": "x",
        "fetchOffset.numRetries": "3",
        "kafkaConsumer.pollTimeoutMs": "1000",
        "maxOffsetsPerTrigger": "5",
    }
    assert spans(broker_directory, subscribe="other", **options) == {"other-0": (0, 9)}


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"minPartitions": "10"}, 10),
        ({"maxRecordsPerPartition": "7"}, 21),
        ({"maxRecordsPerPartition": "50", "minPartitions": "1"}, 3),
        ({"maxRecordsPerPartition": "1"}, 140),
    ],
)
def test_rows_are_the_same_however_they_are_divided(broker_directory, options, parts):
    source = FilesSource({"path": str(broker_directory), "subscribe": "t", **options})
    reader = source.reader(source.schema())
    tasks = reader.partitions()
    most = int(options.get("maxRecordsPerPartition", 10**9))
    sizes = [sum(batch.num_rows for batch in reader.read(task)) for task in tasks]
    assert len(tasks) >= parts and max(sizes) <= most and sum(sizes) == 140
    assert offsets(broker_directory, subscribe="t", **options) == offsets(
        broker_directory, subscribe="t"
    )


def test_the_isolation_of_a_consumer(clean):
    """kafka.isolation.level is read_uncommitted by default, as in Kafka."""
    plain, committed = (
        offsets(clean, subscribe="payments", **options)["payments-0"]
        for options in ({}, {LEVEL: "read_committed"})
    )
    kinds = {
        isolation: read("kafka_records", clean, topics="payments", isolation=isolation).to_pylist()
        for isolation in ("read_uncommitted", "read_committed")
    }
    assert plain == [row["offset"] for row in kinds["read_uncommitted"] if not row["is_control"]]
    assert committed == [row["offset"] for row in kinds["read_committed"] if not row["is_control"]]
    assert len(plain) > len(committed) > 10_000
    end = json.dumps({"payments": {"0": plain[-1]}})
    with pytest.raises(DataLoss, match="is past the last stable offset"):
        offsets(clean, subscribe="payments", endingOffsets=end, **{LEVEL: "read_committed"})


def test_times_are_looked_up_as_brokers_do(clean):
    """kafkaviz.search gives the answers of 4.3.1's own broker to every time."""
    from kafkaviz import versions
    from kafkaviz.search.by_time import list_offset
    from kafkaviz.search.fetch import find_bounds
    from kafkaviz.search.log_view import view_partition

    partition = open_broker(clean).partition("sensors-late-0")
    log, profile = view_partition(partition), versions.search_profile()
    times_ms = sorted(
        read("kafka_records", clean, topics="sensors-late")["timestamp_ms"].to_pylist()
    )
    for time_ms in times_ms[:: len(times_ms) // 5]:
        answer = list_offset(log, time_ms, profile, find_bounds(log, profile)).answer
        given = offsets(clean, subscribe="sensors-late", startingTimestamp=str(time_ms))
        assert given["sensors-late-0"][0] == answer.offset


def test_times_are_found_where_a_broker_runs(tmp_path):
    """The newest segment has a preallocated index with few entries."""
    directory = whole_logs.broker(tmp_path / "running")
    batches = [
        whole_logs.batch(at, range(START_MS + at * 1000, START_MS + at * 1000 + 10_000, 1000))
        for at in range(0, 50, 10)
    ]
    stem = whole_logs.write(directory / "t-0", batches, interval_bytes=100)
    for suffix, entry_bytes in ((".index", 8), (".timeindex", 12)):
        index = stem.with_suffix(suffix)
        index.write_bytes(index.read_bytes()[:entry_bytes] + bytes(10 * entry_bytes))
    time = str(START_MS + 33_500)
    assert spans(directory, subscribe="t", startingTimestamp=time) == {"t-0": (34, 49)}
    assert spans(directory, subscribe="t", endingTimestamp=time) == {"t-0": (0, 33)}
    assert spans(directory, subscribe="t", startingTimestamp="-3") == {"t-0": (49, 49)}


@pytest.mark.parametrize(
    "pattern", [r"orders", r"(?i)ORD.*", r"[a-z&]+", r"a{2,3}+x", r"\d+\.\w", r"a\[b", r"[\[\]]"]
)
def test_a_pattern_that_is_the_same_in_java_is_taken(pattern):
    """Its classes are ASCII, as in Java."""
    assert compile_java_pattern(pattern).flags & re.ASCII


@pytest.mark.parametrize(
    "pattern",
    [
        r"\p{Alpha}+",
        r"\Qa.b\E",
        r"(?<name>a)",
        r"[a-z&&[^b]]",
        r"[a[bc]]",
        r"(?<=a+)b",
        r"a\zb",
        "(",
    ],
)
def test_a_pattern_that_python_takes_otherwise_is_refused(pattern):
    with pytest.raises(BadOption, match=r"option subscribePattern: .* not mean the same in Java"):
        compile_java_pattern(pattern)


def test_a_pattern_finds_no_topic_of_kafkas_own(clean):
    """Spark's source leaves them out too."""
    table = read("kafka_files", clean, subscribePattern=".", columns="topic")
    topics = set(table["topic"].to_pylist())
    assert "orders" in topics and not any(topic.startswith("__") for topic in topics)


def test_one_flipped_byte_ends_the_query(broker_directory, tmp_path):
    """With the file and the byte; PERMISSIVE makes it a row, DROPMALFORMED leaves it out."""
    directory = whole_logs.broker(tmp_path / "made")
    data = bytearray((broker_directory / "t-1" / f"{0:020d}.log").read_bytes())
    data[len(data) // 5 * 2 + 90] ^= 1
    (directory / "t-1").mkdir()
    log = directory / "t-1" / f"{0:020d}.log"
    log.write_bytes(data)
    rest = [*range(20), *range(30, 50)]
    with pytest.raises(Malformed, match=rf"t-1/{log.name}, byte \d+: Record is corrupt"):
        read("kafka_files", directory, subscribe="t")
    rows = read("kafka_files", directory, subscribe="t", mode="PERMISSIVE").to_pylist()
    assert [row["offset"] for row in rows if row["problem"] is None] == rest
    problems = [row["problem"] for row in rows if row["problem"]]
    assert len(problems) == 1 and "Record is corrupt" in problems[0]
    assert offsets(directory, subscribe="t", mode="DROPMALFORMED") == {"t-1": rest}


def test_filters_that_are_pushed_are_not_looked_at_again(broker_directory):
    """Spark shows them as PushedFilters, and they are exact."""
    reader = reader_of("kafka_files", broker_directory, pushes_filters=True, subscribe="t")
    filters = [
        EqualTo(("topic",), "t"),
        EqualTo(("partition",), 0),
        GreaterThanOrEqual(("offset",), 145),
        LessThan(("offset",), 155),
    ]
    kept = EqualTo(("timestampType",), 0)
    assert list(reader.pushFilters([*filters, kept])) == [kept]
    tables = [pa.Table.from_batches(reader.read(task)) for task in reader.partitions()]
    rows = pa.concat_tables(tables).select(["partition", "offset"]).to_pylist()
    assert rows == [{"partition": 0, "offset": at} for at in range(145, 155)]
    reader = reader_of(
        "kafka_files", broker_directory, pushes_filters=True, subscribe="t", mode="PERMISSIVE"
    )
    assert list(reader.pushFilters(filters)) == filters


@pytest.mark.parametrize("pattern", ["made-*", "made-{1,2}", "mad[e]-?"])
def test_a_pattern_matches_directories(tmp_path, pattern):
    """As in Spark's own file sources; a pattern that matches nothing is reported."""
    for number in (1, 2):
        directory = whole_logs.broker(tmp_path / f"made-{number}")
        whole_logs.write(directory / f"t-{number}", [whole_logs.batch(0, [START_MS] * number)])
    (tmp_path / ".made-3").mkdir()
    assert offsets(tmp_path / pattern, subscribe="t") == {"t-1": [0], "t-2": [0, 1]}
    with pytest.raises(CannotOpen, match=r"gone-\*: matches no file or directory"):
        offsets(tmp_path / "gone-*", subscribe="t")


def test_a_path_with_the_letters_of_a_pattern_is_itself(tmp_path):
    for name in ("a[1]", "a1"):
        directory = whole_logs.broker(tmp_path / name)
        whole_logs.write(directory / "t-0", [whole_logs.batch(0, [START_MS] * len(name))])
    assert offsets(tmp_path / "a[1]", subscribe="t") == {"t-0": [0, 1, 2, 3]}


@pytest.mark.parametrize("text", ["/a,/b", '"/a"', "[1]", "{"])
def test_paths_are_a_list(text):
    with pytest.raises(BadOption, match="option paths takes"):
        directories({"paths": text})


def test_the_replica_is_named_on_request(broker_directory):
    rows = read("kafka_files", broker_directory, subscribe="other", includeReplica="true")
    assert rows.column_names[-2:] == ["broker", "replica_reason"]
    assert set(rows["broker"].to_pylist()) == {"made"}
    assert set(rows["replica_reason"].to_pylist()) == {"only replica"}
    columns = read("kafka_files", broker_directory, subscribe="other", columns="OFFSET,Broker")
    assert columns.column_names == ["offset", "broker"] and columns.num_rows == 10
    source = FilesSource({"path": str(broker_directory), "subscribe": "other"})
    schema = StructType().add("Replica_Reason", StringType()).add("OFFSET", LongType())
    reader = source.reader(schema)
    given = [row for task in reader.partitions() for row in reader.read(task)]
    assert [batch.schema.names for batch in given] == [["Replica_Reason", "OFFSET"]]


def test_braces_stand_for_alternatives(tmp_path):
    """Also within braces; a pair without a comma is part of the name."""
    for name in ("a1", "a2", "b", "{c}"):
        (tmp_path / name).mkdir()
    pattern = f"{tmp_path}/{{a{{1,2}},b,x}}"
    assert expand(pattern) == [f"{tmp_path}/{name}" for name in ("a1", "a2", "b")]
    assert expand(f"{tmp_path}/{{c}}*") == [f"{tmp_path}/{{c}}"]


def test_a_caret_negates_a_class_as_in_hadoop(tmp_path):
    """Python takes it for a character, and would read exactly the excluded topics."""
    for name in ("10", "11", "1^"):
        (tmp_path / name).mkdir()
    for pattern in ("1[^0]", "1[!0]"):
        assert expand(f"{tmp_path}/{pattern}") == [f"{tmp_path}/11", f"{tmp_path}/1^"]


@pytest.mark.parametrize(
    "pattern",
    ["{a,b}" * 30, "{a,b}" * 1200, "{" + "," * 20_000 + "}", "{a," * 1200 + "b" + "}" * 1200],
)
def test_a_pattern_of_too_many_alternatives_is_refused(tmp_path, pattern):
    """It is refused before any lookup."""
    with pytest.raises(CannotOpen, match=r"10,?000 patterns") as caught:
        expand(f"{tmp_path}/{pattern}")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 1000


def test_an_open_brace_takes_no_time_per_pair_of_commas(tmp_path):
    """The pattern must not look at each pair of commas."""
    with pytest.raises(CannotOpen, match="matches"):
        expand(f"{tmp_path}/*{{{',' * 200_000}")
