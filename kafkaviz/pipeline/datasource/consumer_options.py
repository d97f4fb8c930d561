"""The options of the format kafka_files, in the form of Spark's own kafka source.

    subscribe=orders, startingTimestamp=1790000000000
        topic orders, each partition from the record that Kafka's time lookup finds
    assign={"orders":[0]}, endingOffsets={"orders":{"0":50}}
        orders-0, offsets below 50

Names, defaults and precedence equal those of Spark 4.3 (KafkaSourceProvider) for batch queries.
Options that name a cluster or tune a consumer are accepted and have no effect.
"""

import json
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from kafkaviz.errors import KafkavizError
from kafkaviz.format.coordinator_records import DECODER_OF_TOPIC
from kafkaviz.format.java import int_or_none
from kafkaviz.format.names import MAX_OFFSET, METADATA_TOPIC
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.pipeline.catalog.schema import INT, LONG, STRING
from kafkaviz.pipeline.datasource.records import TIMESTAMP
from kafkaviz.pipeline.datasource.source_schema import (
    ISOLATION_LEVEL,
    PERMISSIVE,
    PROBLEM,
    REPLICA_REASON,
    SPARK_OPTIONS,
    BadOption,
    SourceOptions,
    parse_bool,
    parse_choice,
    parse_number,
    parse_options,
    select_columns,
)
from kafkaviz.search.fetch import ISOLATIONS, READ_UNCOMMITTED

FORMAT = "kafka_files"
COLUMNS = pa.schema(  # the columns of KafkaRecordToRowConverter in Spark 4.3
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", STRING),
        ("partition", INT),
        ("offset", LONG),
        ("timestamp", TIMESTAMP),
        ("timestampType", INT),
    ]
)
HEADERS = pa.field("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])))
REPLICA = (pa.field("broker", STRING), REPLICA_REASON)
EARLIEST = -2
LATEST = -1
WORDS = {"earliest": EARLIEST, "latest": LATEST}
SUBSCRIBE = "subscribe"
SUBSCRIBE_PATTERN = "subscribePattern"
ASSIGN = "assign"
SUBSCRIPTIONS = (SUBSCRIBE, SUBSCRIBE_PATTERN, ASSIGN)
ERROR = "error"
NO_MATCH_LATEST = "latest"
STRATEGIES = (ERROR, NO_MATCH_LATEST)
# options that the other formats also have
READ_OPTIONS = ("columns", "mode", "replicas", "tiered", "task_bytes", "explain")
OPTIONS = (
    *SUBSCRIPTIONS, "startingOffsets", "endingOffsets", "startingTimestamp", "endingTimestamp",
    "startingOffsetsByTimestamp", "endingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy", "failOnDataLoss", "minPartitions",
    "maxRecordsPerPartition", "includeHeaders", "includeReplica", *READ_OPTIONS,
)  # fmt: skip
# Options for streams, for a consumer's timeouts and for its group. They do not change the rows of a
# batch query.
IDLE_OPTIONS = (
    "groupidprefix", "fetchoffset.numretries", "fetchoffset.retryintervalms",
    "kafkaconsumer.polltimeoutms", "maxoffsetspertrigger", "minoffsetspertrigger",
    "maxtriggerdelay",
)  # fmt: skip
CONSUMER_PREFIX = "kafka."
REFUSED_CONSUMER_OPTIONS = (  # options that Spark's own source also refuses
    "kafka.auto.offset.reset", "kafka.key.deserializer", "kafka.value.deserializer",
    "kafka.enable.auto.commit", "kafka.interceptor.classes",
)  # fmt: skip
PARTITIONS_EXAMPLE = '{"topicA":[0,1],"topicB":[2,4]}'
OFFSETS_EXAMPLE = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
TIMESTAMPS_EXAMPLE = '{"topicA":{"0":1000,"1":1000},"topicB":{"0":2000}}'
# a negative time is a special value of Kafka, such as -2 for earliest (see search/by_time.py)
MIN_TIMESTAMP_MS = -(2**63)
TopicPartition = tuple[str, int]


class DataLoss(KafkavizError):
    """Raised if requested records do not exist, unless failOnDataLoss is false."""


@dataclass(frozen=True)
class OffsetLimit:
    """Where reading starts, or where it ends: an offset or a time for each partition."""

    option: str  # the option that sets the limit
    is_timestamp: bool  # whether the values are times (ms since 1970) instead of offsets
    value: int = EARLIEST  # the value for every partition, if `by_partition` is None
    by_partition: Mapping[TopicPartition, int] | None = None

    def value_of(self, topic_partition: TopicPartition) -> int:
        return self.value if self.by_partition is None else self.by_partition[topic_partition]


@dataclass(frozen=True)
class Subscription:
    """The topics and partitions that a query reads."""

    topics: frozenset[str] | None = None  # None: `pattern` selects the topics
    pattern: re.Pattern[str] | None = None
    # the partitions that option assign lists; None: all partitions of the topics
    partitions: frozenset[TopicPartition] | None = None

    def topics_of(self, available: Iterable[str]) -> frozenset[str]:
        """Returns the subscribed topics, including named topics that do not exist."""
        if self.topics is not None:
            return self.topics
        pattern = self.pattern or re.compile("")
        return frozenset(
            topic for topic in available if not is_internal(topic) and pattern.search(topic)
        )

    def has(self, topic_partition: TopicPartition) -> bool:
        return self.partitions is None or topic_partition in self.partitions


@dataclass(frozen=True, kw_only=True)
class ConsumerOptions(SourceOptions):
    subscription: Subscription = Subscription()
    starting: OffsetLimit = OffsetLimit("startingOffsets", is_timestamp=False)
    ending: OffsetLimit = OffsetLimit("endingOffsets", is_timestamp=False, value=LATEST)
    no_match: str = ERROR
    fails_on_data_loss: bool = True
    min_partitions: int | None = None
    max_records: int | None = None
    include_headers: bool = False
    include_replica: bool = False


def is_internal(topic: str) -> bool:
    """Returns whether Kafka uses this topic internally. Spark's source does not read it."""
    return topic in DECODER_OF_TOPIC or topic == METADATA_TOPIC


def consumer_columns(options: ConsumerOptions) -> pa.Schema:
    """Returns the columns of Spark's own source, all nullable.

    Columns broker and replica_reason are added if option includeReplica or columns requests them.

    Raises BadOption if a column does not exist.
    """
    available = [
        *COLUMNS,
        *([HEADERS] if options.include_headers else ()),
        *([PROBLEM] if options.mode == PERMISSIVE else ()),
        *(REPLICA if options.include_replica or options.columns else ()),
    ]
    return select_columns(FORMAT, available, options.columns, not_null=())


def parse_consumer_options(values: Mapping[str, str]) -> ConsumerOptions:
    """Parses the options of kafka_files. Raises BadOption for wrong and contradictory options."""
    lower_values = {name.lower(): text for name, text in values.items()}
    for name in values:
        _refuse_unknown(name)
    by_name = {name: lower_values[name.lower()] for name in OPTIONS if name.lower() in lower_values}
    read_options = parse_options({name: by_name[name] for name in READ_OPTIONS if name in by_name})
    starting = _parse_limit(by_name, "starting", EARLIEST)
    ending = _parse_limit(by_name, "ending", LATEST)
    _refuse_unbounded(starting, LATEST)
    _refuse_unbounded(ending, EARLIEST)
    _compare(starting, ending)
    return ConsumerOptions(
        columns=read_options.columns,
        mode=read_options.mode,
        replicas=read_options.replicas,
        tiered=read_options.tiered,
        task_bytes=read_options.task_bytes,
        explain=read_options.explain,
        isolation=parse_choice(
            ISOLATION_LEVEL, lower_values.get(ISOLATION_LEVEL, READ_UNCOMMITTED).lower(), ISOLATIONS
        ),
        subscription=_parse_subscription(by_name),
        starting=starting,
        ending=ending,
        no_match=parse_choice(
            "startingOffsetsByTimestampStrategy",
            by_name.get("startingOffsetsByTimestampStrategy", ERROR).lower(),
            STRATEGIES,
        ),
        fails_on_data_loss=parse_bool("failOnDataLoss", by_name.get("failOnDataLoss", "true")),
        min_partitions=_parse_count(by_name, "minPartitions"),
        max_records=_parse_count(by_name, "maxRecordsPerPartition"),
        include_headers=parse_bool("includeHeaders", by_name.get("includeHeaders", "false")),
        include_replica=parse_bool("includeReplica", by_name.get("includeReplica", "false")),
    )


def has_option(name: str) -> bool:
    """Returns whether an option is accepted, even if it has no effect. `name` is in lower case."""
    known = (*(option.lower() for option in OPTIONS), *IDLE_OPTIONS, *SPARK_OPTIONS)
    return name in known or name.startswith(CONSUMER_PREFIX)


def _refuse_unknown(name: str) -> None:
    if name.lower() in REFUSED_CONSUMER_OPTIONS:
        raise BadOption(message("option.consumer_refused", name=name))
    if not has_option(name.lower()):
        names = (*OPTIONS, f"{CONSUMER_PREFIX}*")
        raise BadOption(message("option.unknown", name=name, names=names))


# ---- which topics


def _parse_subscription(by_name: Mapping[str, str]) -> Subscription:
    options = [name for name in SUBSCRIPTIONS if name in by_name]
    if len(options) != 1:
        raise BadOption(message("option.one_subscription", names=SUBSCRIPTIONS, count=len(options)))
    (option,) = options
    text = by_name[option].strip()
    if option == SUBSCRIBE_PATTERN:
        if not text:
            raise BadOption(message("option.no_topic", option=option, value=text))
        return Subscription(pattern=compile_java_pattern(text))
    if option == ASSIGN:
        partitions = _parse_partitions(text)
        topics = frozenset(topic for topic, _ in partitions)
    else:
        topics = frozenset(name.strip() for name in text.split(",") if name.strip())
        partitions = None
    if not topics:
        raise BadOption(message("option.no_topic", option=option, value=text))
    internal = next(filter(is_internal, sorted(topics)), None)
    if internal:
        raise BadOption(message("option.internal_topic", name=internal))
    return Subscription(topics, partitions=partitions)


def _parse_partitions(text: str) -> frozenset[TopicPartition]:
    value = _parse_json(ASSIGN, text, PARTITIONS_EXAMPLE)
    if not all(
        isinstance(numbers, list) and all(map(_is_partition, numbers)) for numbers in value.values()
    ):
        raise BadOption(_takes(ASSIGN, PARTITIONS_EXAMPLE, text))
    return frozenset((topic, number) for topic, numbers in value.items() for number in numbers)


def compile_java_pattern(text: str) -> re.Pattern[str]:
    r"""Compiles a Java pattern for topic names, if Python gives it the same meaning.

    Topic names are ASCII, so character classes and case follow ASCII, as in Java. Refuses
    \p{Alpha}, \Q..\E, (?<name>..), nested classes and their intersection, and look-behinds without
    a fixed length.

    Raises BadOption if the pattern is invalid, or Python gives it another meaning.
    """
    try:
        if _has_class_operation(text):
            raise ValueError("a class within a class, or &&")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return re.compile(text, re.ASCII)
    except (re.error, ValueError, OverflowError, RecursionError, Warning) as fault:
        what = message("option.java_pattern", pattern=text, reason=verbatim(str(fault)))
        raise BadOption(what) from None


def _has_class_operation(text: str) -> bool:
    """Returns whether a character class contains a class or &&, which Python reads as text."""
    escaped = False
    in_class = False
    for at, character in enumerate(text):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif in_class and (character == "[" or text.startswith("&&", at)):
            return True
        elif character in "[]":
            in_class = character == "["
    return False


# ---- where reading starts and ends


def _parse_limit(by_name: Mapping[str, str], end: str, default: int) -> OffsetLimit:
    option = f"{end}Timestamp"
    if option in by_name:
        timestamp = parse_number(option, by_name[option].strip(), MIN_TIMESTAMP_MS)
        return OffsetLimit(option, is_timestamp=True, value=timestamp)
    option = f"{end}OffsetsByTimestamp"
    if option in by_name:
        text = by_name[option]
        timestamps = _parse_by_partition(option, text, TIMESTAMPS_EXAMPLE, least=MIN_TIMESTAMP_MS)
        return OffsetLimit(option, is_timestamp=True, by_partition=timestamps)
    option = f"{end}Offsets"
    text = by_name.get(option, "").strip()
    if option not in by_name:
        return OffsetLimit(option, is_timestamp=False, value=default)
    if text.lower() in WORDS:
        return OffsetLimit(option, is_timestamp=False, value=WORDS[text.lower()])
    offsets = _parse_by_partition(option, text, OFFSETS_EXAMPLE, least=EARLIEST)
    return OffsetLimit(option, is_timestamp=False, by_partition=offsets)


def _parse_by_partition(
    option: str, text: str, example: str, *, least: int
) -> dict[TopicPartition, int]:
    value = _parse_json(option, text, example)
    by_partition = {}
    for topic, numbers in value.items():
        if not isinstance(numbers, dict):
            raise BadOption(_takes(option, example, text))
        for partition, number in numbers.items():
            is_number = isinstance(number, int) and not isinstance(number, bool)
            partition_number = int_or_none(partition) if partition.isdecimal() else None
            if partition_number is None or not (is_number and least <= number <= MAX_OFFSET):
                raise BadOption(_takes(option, example, text))
            by_partition[topic, partition_number] = number
    return by_partition


def _refuse_unbounded(limit: OffsetLimit, value: int) -> None:
    values = [limit.value] if limit.by_partition is None else limit.by_partition.values()
    if not limit.is_timestamp and value in values:
        word = "latest" if value == LATEST else "earliest"
        raise BadOption(message("option.not_in_a_batch", option=limit.option, word=word))


def _compare(starting: OffsetLimit, ending: OffsetLimit) -> None:
    first = starting.by_partition
    last = ending.by_partition
    if first is None or last is None or starting.is_timestamp != ending.is_timestamp:
        return
    if names := labels(first.keys() ^ last.keys()):
        key = "option.other_partitions"
        raise BadOption(message(key, option=starting.option, other=ending.option, names=names))
    for topic_partition in first:
        refuse_reversed(topic_partition, first[topic_partition], last[topic_partition])


def refuse_reversed(topic_partition: TopicPartition, start: int, end: int) -> None:
    """Raises BadOption if `start` > `end`. A negative `end` means `LATEST` and is accepted."""
    if start > end >= 0:
        (label,) = labels([topic_partition])
        raise BadOption(message("option.start_behind_end", label=label, start=start, end=end))


def labels(partitions: Iterable[TopicPartition]) -> tuple[str, ...]:
    """Returns names such as "orders-0"."""
    return tuple(f"{topic}-{number}" for topic, number in sorted(partitions))


def _parse_json(option: str, text: str, example: str) -> dict:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise BadOption(_takes(option, example, text))
    return value


def _takes(option: str, example: str, text: str) -> Message:
    words = tuple(WORDS) if option.endswith("Offsets") else ()
    return message("option.takes_json", option=option, examples=(*words, example), value=text)


def _is_partition(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _parse_count(by_name: Mapping[str, str], option: str) -> int | None:
    return parse_number(option, by_name[option].strip(), 1) if option in by_name else None
