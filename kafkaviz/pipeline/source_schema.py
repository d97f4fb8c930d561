"""The columns of the data source: each format's, in order, and its options as text.

The formats give what the catalog's tables give, column for column, but for kafka_records, which no catalog holds, and what
all segments of a partition tell together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import pyarrow as pa

from kafkaviz.errors import KafkavizError
from kafkaviz.pipeline import schema
from kafkaviz.pipeline.records import HEADERS
from kafkaviz.pipeline.schema import BOOL, INT, LONG, PARTITION, STRING

RECORDS = pa.schema([
    *PARTITION,
    ("segment_base_offset", LONG),
    ("batch_position", LONG),
    ("offset", LONG),
    ("timestamp_ms", LONG),
    ("is_control", BOOL),  # a transaction marker or another record that no consumer gets to see
    ("key_size_bytes", INT),  # null for a null key
    ("value_size_bytes", INT),
    ("header_count", INT),
])
PAYLOAD = pa.schema([("key", pa.binary()), ("value", pa.binary()), ("headers", HEADERS)])
PROBLEM = pa.field("problem", STRING)
TOGETHER = ("roll_reason", "segment_bytes", "segment_bytes_source")
FORMATS: dict[str, pa.Schema] = {
    "kafka_segments": pa.schema([field for field in schema.SEGMENTS if field.name not in TOGETHER]),
    "kafka_batches": schema.BATCHES,
    "kafka_records": RECORDS,
    "kafka_offset_index": schema.OFFSET_ENTRIES,
    "kafka_time_index": schema.TIME_ENTRIES,
}
TASK_BYTES, LEAST_TASK_BYTES = 128 << 20, 16 << 10
ANY = "any"
MOST = 2**63 - 1
OF_SPARK = ("path", "paths")  # options that load() itself adds


class BadOption(KafkavizError):
    """An option of the data source that means nothing."""


@dataclass(frozen=True)
class Options:
    """The options of a read, as spark.read.option takes them.

    columns: names, separated by commas; all by default. topics: names or patterns with * and ?, separated by commas. payload: "true"
    adds key, value and headers to kafka_records. problems: "true" adds the column problem, and a row for each thing that could not be
    read; else it is left out, and said in the log of the worker. late_ms: how far a record may be older than one that stands before it;
    not given, records come in any order; "any" does not go by the .timeindex either. renamed: "true" also reads the directories that
    Kafka has renamed: -delete, -stray, -future. task_bytes: of .log a task.
    """

    columns: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    payload: bool = False
    problems: bool = False
    late_ms: int | str | None = None
    renamed: bool = False
    task_bytes: int = TASK_BYTES


NAMES = tuple(field.name for field in fields(Options))


def options(given: Mapping[str, str]) -> Options:
    """The options that were given; BadOption for one that there is not, or a value that means nothing."""
    unknown = [name for name in given if name.lower() not in (*NAMES, *OF_SPARK)]
    if unknown:
        raise BadOption(f"there is no option {unknown[0]}; there are {', '.join(NAMES)}")
    late = given.get("late_ms")
    return Options(
        columns=_names(given.get("columns", "")),
        topics=_names(given.get("topics", "")),
        payload=_truth("payload", given.get("payload", "false")),
        problems=_truth("problems", given.get("problems", "false")),
        late_ms=late if late in (None, ANY) else _number("late_ms", late, 0),
        renamed=_truth("renamed", given.get("renamed", "false")),
        task_bytes=_number("task_bytes", given.get("task_bytes", str(TASK_BYTES)), LEAST_TASK_BYTES),
    )


def columns(name: str, chosen: Options) -> pa.Schema:
    """The columns of a format with these options; BadOption for a column that it does not have."""
    known = [*FORMATS[name], *(PAYLOAD if chosen.payload and name == "kafka_records" else ()), *([PROBLEM] if chosen.problems else ())]
    by_name = {field.name: field for field in known}
    unknown = [column for column in chosen.columns if column not in by_name]
    if unknown:
        hint = ", and with option payload=true also key, value, headers" if name == "kafka_records" and not chosen.payload else ""
        raise BadOption(f"{name} has no column {unknown[0]}; it has {', '.join(by_name)}{hint}")
    twice = [column for column in chosen.columns if chosen.columns.count(column) > 1]
    if twice:
        raise BadOption(f"option columns names {twice[0]} twice")
    return pa.schema([by_name[column] for column in chosen.columns] or known)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _truth(option: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise BadOption(f"option {option} is true or false, not {text}")
    return text.lower() == "true"


def _number(option: str, text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= MOST:
        raise BadOption(f"option {option} is a whole number from {least} to {MOST}, not {text}")
    return number
