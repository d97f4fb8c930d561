"""The columns of each format of the data source, and the parsing of its options.

The columns equal those of the catalog's tables, with these exceptions:

- The catalog lacks a table like kafka_records, and the columns crc_valid, base_timestamp,
  max_timestamp, problem and replica_reason.
- The data source lacks columns that depend on all segments of a partition.
- The data source lacks uncompressed_bytes, which requires decompressing all records.
"""

import json
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import TYPE_CHECKING

import pyarrow as pa

from kafkaviz import units
from kafkaviz.errors import KafkavizError
from kafkaviz.format.names import MAX_OFFSET
from kafkaviz.messages import Message, message
from kafkaviz.pipeline.catalog import schema
from kafkaviz.pipeline.catalog.schema import BOOL, INT, LONG, STRING
from kafkaviz.pipeline.datasource.pushdown import ALL, NumberRange
from kafkaviz.pipeline.datasource.records import HEADERS, TIMESTAMP
from kafkaviz.search.fetch import READ_COMMITTED, READ_UNCOMMITTED

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

RECORDS = schema.table_schema(
    ("segment_base_offset", LONG),
    ("batch_position", LONG),
    ("offset", LONG),
    ("timestamp_ms", LONG),
    ("is_control", BOOL),  # a transaction marker or another record that consumers never get
    ("key_size_bytes", INT),  # null if the key is null
    ("value_size_bytes", INT),
    ("header_count", INT),
)
# columns from the header of a record's batch, and the record's time in Spark's type
RECORD_ORIGIN = pa.schema(
    [
        ("timestamp", TIMESTAMP),  # null if timestamp_ms is -1
        ("leader_epoch", INT),  # this and the two producer columns are null below magic 2
        ("producer_id", LONG),
        ("producer_epoch", INT),
        ("is_transactional", BOOL),
    ]
)
BATCH_TIMES = pa.schema([("base_timestamp", TIMESTAMP), ("max_timestamp", TIMESTAMP)])
PAYLOAD = pa.schema([("key", pa.binary()), ("value", pa.binary()), ("headers", HEADERS)])
ABORTED = pa.field("aborted", BOOL)  # null if the transaction of the record is still open
PROBLEM = pa.field("problem", STRING)
REPLICA_REASON = pa.field("replica_reason", STRING)  # why this replica was chosen
PROBLEM_ROW_COLUMNS = ("broker", "topic", "partition")
PARTITION_COLUMNS = ("roll_reason", "segment_bytes", "segment_bytes_source")
OLDER_COLUMNS: dict[str, pa.Schema] = {
    "kafka_segments": pa.schema(
        [field for field in schema.SEGMENTS if field.name not in PARTITION_COLUMNS]
    ),
    "kafka_batches": pa.schema(
        [
            *(field for field in schema.BATCHES if field.name != "uncompressed_bytes"),
            ("crc_valid", BOOL),
        ]
    ),
    "kafka_records": RECORDS,
    "kafka_offset_index": schema.OFFSET_ENTRIES,
    "kafka_time_index": schema.TIME_ENTRIES,
}
# Columns that a later release has added. They come after the columns that options add, so that no
# column changes its position.
NEWER_COLUMNS: dict[str, pa.Schema] = {
    "kafka_batches": BATCH_TIMES,
    "kafka_records": pa.schema([*RECORD_ORIGIN, REPLICA_REASON]),
}
FORMATS: dict[str, pa.Schema] = {
    name: pa.schema([*columns, *NEWER_COLUMNS.get(name, ())])
    for name, columns in OLDER_COLUMNS.items()
}
# Columns that are never null. If problems become rows, only `PROBLEM_ROW_COLUMNS` are never null.
NOT_NULL: dict[str, frozenset[str]] = {
    name: frozenset((*PROBLEM_ROW_COLUMNS, *names.split()))
    for name, names in {
        "kafka_segments": "base_offset state",
        "kafka_batches": (
            "segment_base_offset position size_bytes last_offset magic codec is_transactional "
            "is_control crc crc_valid"
        ),
        "kafka_records": (
            "segment_base_offset batch_position offset timestamp_ms is_control header_count "
            "headers is_transactional"
        ),
        "kafka_offset_index": "segment_base_offset slot relative_offset offset position",
        "kafka_time_index": "segment_base_offset slot timestamp_ms relative_offset offset",
    }.items()
}
TASK_BYTES = 128 << 20
MIN_TASK_BYTES = 16 << 10
RECORD_FORMATS = ("kafka_records", "kafka_files")  # each further replica would repeat every row
ANY = "any"
# values of option mode, as in Spark's own sources
FAILFAST = "FAILFAST"
PERMISSIVE = "PERMISSIVE"
DROPMALFORMED = "DROPMALFORMED"
MODES = (FAILFAST, PERMISSIVE, DROPMALFORMED)
ONE_REPLICA = "one"
ALL_REPLICAS = "all"
REPLICAS = (ONE_REPLICA, ALL_REPLICAS)
# formats whose rows have a timestamp without further reading
TIMED_FORMATS = ("kafka_batches", "kafka_records", "kafka_time_index")
NUMBERS = re.compile("([0-9]*)-([0-9]*)|[0-9]+")
SPARK_OPTIONS = ("path", "paths")  # options that load() adds
PROVIDER = "provider"  # TableCatalog.PROP_PROVIDER, a property that tables have and loads do not
OPTION_PREFIX = "option."  # TableCatalog.OPTION_PREFIX
METADATA_KEY = "kafkaviz.options"
SECRETS = "kafka."  # prefix of consumer options; all but ISOLATION_LEVEL may be passwords
ISOLATION_LEVEL = "kafka.isolation.level"


class BadOption(KafkavizError):
    """An invalid option of the data source."""

    def __init__(self, what: Message) -> None:
        shortened = {
            name: units.excerpt(value) for name, value in what.values if isinstance(value, str)
        }
        super().__init__(what.with_values(**shortened))


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """The options of a read, for spark.read.option. For kafka_files see consumer_options.py.

    Attributes:
        columns: names of the columns to return, separated by commas. Default: all.
        topics: topic names or patterns with * and ?, separated by commas.
        partitions: partition numbers or ranges, such as 0,4-7.
        offsets: a range, both ends included. Rows outside of it are not returned.
        timestamps: a range, both ends included. Rows outside of it are not returned.
        payload: "true" adds key, value and headers to kafka_records.
        problems: "true" is an older form of mode=PERMISSIVE.
        mode: how unreadable data is handled. FAILFAST ends the query. PERMISSIVE adds the column
            problem and a row per problem. DROPMALFORMED leaves out damaged bytes and reports them
            in the worker's log; a file that cannot be opened still ends the query.
        isolation: the isolation level of kafka_records. read_uncommitted also returns records of
            aborted and open transactions, and adds the column aborted.
        replicas: "one" reads one replica of each topic-partition, "all" reads every replica.
            Default: "one" in kafka_records, "all" in other formats.
        late_ms: the most ms by which a record may be older than an earlier record. Default: no
            limit. "any": no limit, and the .timeindex is not used.
        renamed: "true" also reads directories that Kafka has renamed to end in -delete, -stray or
            -future.
        task_bytes: the bytes of .log per task.
        tiered: the path or URL of tiered storage, whose segments are read before the local
            segments.
        explain: "true" logs which files are read and which are skipped. Spark shows these lines.
    """

    columns: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    partitions: tuple[NumberRange, ...] = ()
    offsets: NumberRange = ALL
    timestamps: NumberRange = ALL
    payload: bool = False
    problems: bool = False
    mode: str = FAILFAST
    isolation: str = READ_COMMITTED
    replicas: str | None = None
    late_ms: int | str | None = None
    renamed: bool = False
    task_bytes: int = TASK_BYTES
    tiered: str | None = None
    explain: bool = False


NAMES = tuple(field.name for field in fields(SourceOptions))


def parse_options(values: Mapping[str, str]) -> SourceOptions:
    """Parses the options of a format. Raises BadOption for unknown and invalid options."""
    unknown = [name for name in values if name.lower() not in (*NAMES, *SPARK_OPTIONS)]
    if unknown:
        raise BadOption(message("option.unknown", name=unknown[0], names=NAMES))
    late = values.get("late_ms")
    replicas = values.get("replicas")
    problems = parse_bool("problems", values.get("problems", "false"))
    default_mode = PERMISSIVE if problems else FAILFAST
    mode = parse_choice("mode", values.get("mode", default_mode).upper(), MODES)
    if problems and mode != PERMISSIVE:
        raise BadOption(message("option.problems_and_mode", mode=mode))
    return SourceOptions(
        columns=_parse_names(values.get("columns", "")),
        topics=_parse_names(values.get("topics", "")),
        partitions=tuple(
            _parse_range("partitions", text) for text in _parse_names(values.get("partitions", ""))
        ),
        offsets=_parse_range("offsets", values["offsets"]) if "offsets" in values else ALL,
        timestamps=_parse_times(values["timestamps"]) if "timestamps" in values else ALL,
        payload=parse_bool("payload", values.get("payload", "false")),
        problems=problems,
        mode=mode,
        isolation=parse_choice(
            "isolation", values.get("isolation", READ_COMMITTED), (READ_COMMITTED, READ_UNCOMMITTED)
        ),
        replicas=None if replicas is None else parse_choice("replicas", replicas, REPLICAS),
        late_ms=late if late in (None, ANY) else parse_number("late_ms", late, 0),
        renamed=parse_bool("renamed", values.get("renamed", "false")),
        task_bytes=parse_number(
            "task_bytes", values.get("task_bytes", str(TASK_BYTES)), MIN_TASK_BYTES
        ),
        tiered=values.get("tiered"),
        explain=parse_bool("explain", values.get("explain", "false")),
    )


def columns(name: str, read_options: SourceOptions) -> pa.Schema:
    """Returns the columns of a format with these options.

    Raises BadOption if the format lacks a requested column. Also raises BadOption if the format has
    no times, but option `timestamps` is given.
    """
    if read_options.timestamps.is_limited and name not in TIMED_FORMATS:
        raise BadOption(message("option.no_timestamps", names=TIMED_FORMATS, name=name))
    not_null = PROBLEM_ROW_COLUMNS if read_options.mode == PERMISSIVE else NOT_NULL[name]
    available = _available_columns(name, read_options)
    return select_columns(name, available, read_options.columns, not_null=not_null)


def select_columns(
    name: str, available: Sequence[pa.Field], names: Sequence[str], *, not_null: Container[str]
) -> pa.Schema:
    """Returns the columns with these names, in this order. If `names` is empty, returns all.

    `name` is the format. Raises BadOption if a column is unknown or occurs twice.
    """
    by_name = {field.name: field for field in available}
    names = match_case(names, by_name)
    unknown = [column for column in names if column not in by_name]
    if unknown:
        has_payload = name != "kafka_records" or not set(PAYLOAD.names).isdisjoint(by_name)
        key = "option.no_column" if has_payload else "option.no_column_payload"
        raise BadOption(message(key, format=name, name=unknown[0], columns=tuple(by_name)))
    twice = [column for column in names if names.count(column) > 1]
    if twice:
        raise BadOption(message("option.column_twice", name=twice[0]))
    return pa.schema(
        [by_name[column].with_nullable(column not in not_null) for column in names or by_name]
    )


def match_case(names: Sequence[str], known: Iterable[str]) -> list[str]:
    """Returns names in the spelling of the known columns. Spark ignores case in names."""
    by_lower = {name.lower(): name for name in known}
    return [by_lower.get(name.lower(), name) for name in names]


def _available_columns(name: str, read_options: SourceOptions) -> list[pa.Field]:
    is_of_records = name == "kafka_records"
    return [
        *OLDER_COLUMNS[name],
        *(PAYLOAD if is_of_records and read_options.payload else ()),
        *([ABORTED] if is_of_records and read_options.isolation == READ_UNCOMMITTED else ()),
        *([PROBLEM] if read_options.mode == PERMISSIVE else ()),
        *NEWER_COLUMNS.get(name, ()),
        *([REPLICA_REASON] if not is_of_records and read_options.replicas == ONE_REPLICA else ()),
    ]


def _parse_names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _parse_range(option: str, text: str) -> NumberRange:
    """Parses "5000-5999", "5000-", "-5999" or "5000"."""
    match = NUMBERS.fullmatch(text.strip())
    if not match or text.strip() == "-":
        raise BadOption(message("option.no_range", option=option, value=text))
    first, last = (match[1], match[2]) if "-" in text else (match[0], match[0])
    return _build_range(option, text, *(int(end[:40]) if end else None for end in (first, last)))


def _parse_times(text: str) -> NumberRange:
    """Parses "FROM/TO", "FROM/" or "/TO": milliseconds since 1970, or ISO 8601 times.

    A range in the form of `_parse_range` is allowed too.
    """
    if "/" not in text and NUMBERS.fullmatch(text.strip()):
        return _parse_range("timestamps", text)
    first, slash, last = (end.strip() for end in text.partition("/"))
    if not slash or not (first or last):
        raise BadOption(message("option.no_times", option="timestamps", value=text))
    ends = (_parse_timestamp(end) if end else None for end in (first, last))
    return _build_range("timestamps", text, *ends)


def _parse_timestamp(text: str) -> int:
    if re.fullmatch("-?[0-9]{1,40}", text):
        return int(text)
    try:
        return units.timestamp_ms(text)
    except (ValueError, OverflowError):
        raise BadOption(message("option.no_time", option="timestamps", value=text)) from None


def _build_range(option: str, text: str, first: int | None, last: int | None) -> NumberRange:
    limits = NumberRange(-inf if first is None else first, inf if last is None else last)
    if limits.least > limits.most or any(
        end is not None and abs(end) > MAX_OFFSET for end in (first, last)
    ):
        raise BadOption(message("option.empty_range", option=option, value=text))
    return limits


def parse_choice(option: str, text: str, words: tuple[str, ...]) -> str:
    """Returns `text`. Raises BadOption if `text` is not in `words`."""
    if text not in words:
        raise BadOption(message("option.no_choice", option=option, words=words, value=text))
    return text


def parse_bool(option: str, text: str) -> bool:
    """Parses "true" or "false" in any case. Raises BadOption for other texts."""
    if text.lower() not in ("true", "false"):
        raise BadOption(message("option.no_flag", option=option, value=text))
    return text.lower() == "true"


def parse_number(option: str, text: str, least: int) -> int:
    """Parses a 64-bit integer that is at least `least`. Raises BadOption for other texts."""
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= MAX_OFFSET:
        raise BadOption(
            message("option.no_number", option=option, least=least, most=MAX_OFFSET, value=text)
        )
    return number


# ---- the options of a table that was created by CREATE TABLE ... USING kafka_records
#
# Spark passes a table's options to the source only at CREATE TABLE, mixed with its own properties.
# At SELECT they are missing (seen with Spark 4.1 to 4.3; V2SessionCatalog and CatalogV2Util):
#
#     CREATE TABLE     provider, owner, location, path, comment, external, collation, the
#                      TBLPROPERTIES, and each option twice: topics and option.topics
#     SELECT           only the options of the query itself (WITH), and the columns
#
# So the options are stored as metadata of the first column, which the catalog keeps.


def is_table(values: Mapping[str, str]) -> bool:
    """Returns whether `values` belong to a table in Spark's catalog, not to a call of load()."""
    return PROVIDER in _by_lower_name(values)


def without_table_properties(
    values: Mapping[str, str], has_option: Callable[[str], bool]
) -> dict[str, str]:
    """Returns the options, without the properties that Spark and TBLPROPERTIES add for a table.

    A name given in OPTIONS is kept even if it is unknown, so that it is refused later.
    """
    if not is_table(values):
        return dict(values)
    properties = _by_lower_name(values)
    return {
        name: value
        for name, value in values.items()
        if not name.lower().startswith(OPTION_PREFIX)
        and (has_option(name.lower()) or f"{OPTION_PREFIX}{name.lower()}" in properties)
    }


def attach_options(schema: "StructType", values: Mapping[str, str]) -> None:
    """Stores the options, without possible passwords, in the first column, for later queries."""
    plain_values = {
        name: value
        for name, value in values.items()
        if not name.lower().startswith(SECRETS) or name.lower() == ISOLATION_LEVEL
    }
    schema.fields[0].metadata = {METADATA_KEY: json.dumps(plain_values)}


def attached_options(schema: "StructType") -> dict[str, str]:
    """Returns the options that `attach_options` stored."""
    for field in schema.fields:
        if METADATA_KEY in (field.metadata or {}):
            return json.loads(field.metadata[METADATA_KEY])
    return {}


def _by_lower_name(values: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in values.items()}
