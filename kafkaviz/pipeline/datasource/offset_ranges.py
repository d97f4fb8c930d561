"""Finds the offsets of each partition that a read of kafka_files must return.

    startingOffsets={"orders":{"0":23}}     orders-0 from 23 on
    startingTimestamp=1790000000000         orders-0 from 57 on, like a list-offsets request
    earliest                                from the log start offset on

Requested offsets outside of a log count as lost records. As in Spark's source, they end the query
unless failOnDataLoss is false. Times are looked up with the indexes (search/by_time.py), as a
broker on this directory would do. So with a wrong index, the broker finds the same wrong
offset. If the broker is running or was killed, the newest segment has no complete index. Then the
batches of this segment are read instead.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import ceil, inf

from kafkaviz import versions
from kafkaviz.analysis.lookup.served_log import open_log_view
from kafkaviz.log.partition import Partition
from kafkaviz.messages import Message, message
from kafkaviz.pipeline.datasource import consumer_options
from kafkaviz.pipeline.datasource.consumer_options import ConsumerOptions, TopicPartition, labels
from kafkaviz.pipeline.datasource.pushdown import NumberRange
from kafkaviz.pipeline.datasource.source_schema import BadOption, SourceOptions
from kafkaviz.pipeline.datasource.transactions import UncommittedTransactions, end_offset
from kafkaviz.search import by_time, fetch

LOG = logging.getLogger("kafkaviz")
OffsetRanges = Mapping[int, Sequence[NumberRange]]


def offset_ranges(partitions: Iterable[Partition], options: ConsumerOptions) -> OffsetRanges:
    """Returns the offset ranges to read, by `id()` of the partition.

    With minPartitions or maxRecordsPerPartition, a partition has several ranges, each for its own
    task.

    Raises BadOption if an option lacks a partition that is read, or names one that is not read.
    Raises DataLoss if an option names an offset, a partition or a topic that does not exist, unless
    failOnDataLoss is false.
    """
    partitions = [
        partition for partition in partitions if options.subscription.has(_key(partition))
    ]
    _find_missing({_key(partition) for partition in partitions}, options)
    limits_by_id = {
        id(partition): offset_range(partition, options)
        for partition in partitions
        if partition.live
    }
    if splits_partitions(options):
        for partition in partitions:
            if partition.live and (end := end_offset(partition)) >= 0:
                limits_by_id[id(partition)] &= NumberRange(most=end - 1)
    present = {key: limits for key, limits in limits_by_id.items() if limits.least <= limits.most}
    if splits_partitions(options):
        return _split(present, options)
    return {key: [limits] for key, limits in present.items()}


def splits_partitions(options: SourceOptions) -> bool:
    """Returns whether minPartitions or maxRecordsPerPartition splits partitions."""
    return isinstance(options, ConsumerOptions) and (
        options.min_partitions is not None or options.max_records is not None
    )


def check_stable(
    options: SourceOptions, key: TopicPartition, transactions: UncommittedTransactions
) -> None:
    """Reports data loss if kafka_files requests offsets from the last stable offset on."""
    if not isinstance(options, ConsumerOptions):
        return
    end = options.ending.value_of(key)
    if not options.ending.is_timestamp and transactions.stable_offset < end:
        (label,) = labels([key])
        limit = int(transactions.stable_offset)
        what = message("option.behind_stable_end", label=label, offset=end, limit=limit)
        report_data_loss(what, options)


def offset_range(partition: Partition, options: ConsumerOptions) -> NumberRange:
    """Returns the offsets to read, both included. An empty range has `least` > `most`.

    Raises BadOption if the start is after the end, or all records are older than the starting time.
    With startingOffsetsByTimestampStrategy=latest, such a time gives an empty range instead. Raises
    DataLoss if a requested offset is outside of the log, unless failOnDataLoss is false.
    """
    first = _resolve(partition, options.starting, options)
    end = _resolve(partition, options.ending, options)
    if first is None and options.no_match != consumer_options.NO_MATCH_LATEST:
        timestamp = options.starting.value_of(_key(partition))
        raise BadOption(message("option.no_match", label=partition.label, timestamp=timestamp))
    if first is None:
        return NumberRange(inf, -inf)
    if first != consumer_options.EARLIEST and end not in (None, consumer_options.LATEST):
        consumer_options.refuse_reversed(_key(partition), first, end)
    least, most = _within_log(partition, first, end, options)
    return NumberRange(least, most - 1)


def _resolve(
    partition: Partition, limit: consumer_options.OffsetLimit, options: ConsumerOptions
) -> int | None:
    """Returns an offset, `EARLIEST` or `LATEST`. None: all records are older than `limit`."""
    value = limit.value_of(_key(partition))
    if not limit.is_timestamp:
        return value
    profile = versions.search_profile()
    # if the broker is running or was killed, the newest segment has no complete index yet
    as_is = value in (consumer_options.EARLIEST, consumer_options.LATEST)
    log = open_log_view(partition, profile.version, as_is=as_is)
    bounds = fetch.find_bounds(log, profile, options.isolation)
    time_search = by_time.list_offset(log, value, profile, bounds)
    if time_search.fault:
        raise time_search.fault
    return time_search.answer.offset if time_search.answer else None


def _within_log(
    partition: Partition, first: int, end: int | None, options: ConsumerOptions
) -> tuple[float, float]:
    log_start = partition.log_start_offset or 0
    until = inf if end is None or end == consumer_options.LATEST else end
    is_start_given = first >= 0 and not options.starting.is_timestamp
    is_end_given = until < inf and not options.ending.is_timestamp
    # finding the log end offset may require reading the newest segment
    log_end = end_offset(partition) if is_start_given or is_end_given else -1
    if 0 <= first < log_start:
        key = "option.before_log_start"
        what = message(key, label=partition.label, offset=first, limit=log_start)
        report_data_loss(what, options)
    for offset in (first, until):
        if 0 <= log_end < inf and max(log_end, log_start) < offset < inf:
            key = "option.behind_log_end"
            what = message(key, label=partition.label, offset=offset, limit=log_end)
            report_data_loss(what, options)
    return max(first, log_start), until


def report_data_loss(what: Message, options: ConsumerOptions) -> None:
    """Raises DataLoss about missing records, or logs them if failOnDataLoss is false."""
    if options.fails_on_data_loss:
        advice = message("option.data_loss_is_no_error")
        raise consumer_options.DataLoss(message("errors.with_advice", problem=what, advice=advice))
    LOG.warning("%s", what)


def _find_missing(available: set[TopicPartition], options: ConsumerOptions) -> None:
    named_partitions = set(options.subscription.partitions or ())
    for limit in (options.starting, options.ending):
        if limit.by_partition is None:
            continue
        keys = set(limit.by_partition)
        unlimited = available - keys
        topics = options.subscription.topics
        foreign = {
            key
            for key in keys - available
            if (topics is not None and key[0] not in topics) or not options.subscription.has(key)
        }
        if unlimited:
            what = "option.no_limit_of_partition"
            raise BadOption(message(what, option=limit.option, names=labels(unlimited)))
        if foreign:
            what = "option.not_read_partition"
            raise BadOption(message(what, option=limit.option, names=labels(foreign)))
        named_partitions |= keys
    missing = sorted(named_partitions - available)
    topics = {topic for topic, _ in available}
    absent_topics = sorted((options.subscription.topics or set()) - topics)
    if missing or absent_topics:
        others = [topic for topic in absent_topics if topic not in dict(missing)]
        names = (*labels(missing), *others)
        report_data_loss(message("option.not_in_directories", names=names), options)


def _split(ranges: Mapping[int, NumberRange], options: ConsumerOptions) -> OffsetRanges:
    total = sum(limits.most - limits.least + 1 for limits in ranges.values())
    parts = {}
    for key, limits in ranges.items():
        if limits.most == inf:  # the log end offset is unknown; the reader will report the reason
            parts[key] = [limits]
            continue
        least = int(limits.least)
        size = int(limits.most - limits.least + 1)
        count = ceil(size / (options.max_records or size))
        share = 1 if total == inf else size / total
        count = min(size, max(count, ceil(share * (options.min_partitions or 1)), 1))
        edges = [least + size * number // count for number in range(count + 1)]
        parts[key] = [NumberRange(first, following - 1) for first, following in pairwise(edges)]
    return parts


def _key(partition: Partition) -> TopicPartition:
    return partition.topic, partition.partition
