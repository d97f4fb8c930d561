"""One query of the data source: finds the directories, plans the tasks and reads their rows.

Spark's readers (source.py) plan in one process, and read each task in a worker. Without Spark
(arrow_rows.py), this process reads the tasks in order.

load() takes a path, a list of paths, or patterns:

    /mnt/brokers/*                 everything in /mnt/brokers, sorted by name
    /mnt/brokers/{17,18}           /mnt/brokers/17 and /mnt/brokers/18
    s3://bucket/brokers/1[0-9]     those of 10 to 19 that are in the bucket
    /mnt/brokers/1[^0]             11 to 19, but not 10 (Hadoop's syntax); 1[!0] is the same

A path that exists under exactly this name is not read as a pattern.
"""

import glob
import json
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.format.names import PartitionName
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, Problem, join_tiered, open_broker
from kafkaviz.log.file import absolute_path
from kafkaviz.log.partition import Partition, RemoteGap
from kafkaviz.log.remote import address, file_system
from kafkaviz.log.remote.address import RemotePath
from kafkaviz.log.tiered import tiered_view
from kafkaviz.messages import message
from kafkaviz.pipeline.datasource import consumer_options, source_reader, source_schema
from kafkaviz.pipeline.datasource.consumer_options import ConsumerOptions
from kafkaviz.pipeline.datasource.offset_ranges import OffsetRanges, check_stable, offset_ranges
from kafkaviz.pipeline.datasource.pushdown import NumberRange, PushedFilters, describe_filters
from kafkaviz.pipeline.datasource.replica_choice import select_replicas
from kafkaviz.pipeline.datasource.source_plan import (
    SourcePlan,
    SourceSplit,
    describe_splits,
    option_filters,
)
from kafkaviz.pipeline.datasource.source_reader import SourceReader
from kafkaviz.pipeline.datasource.source_schema import ABORTED, BadOption, SourceOptions
from kafkaviz.pipeline.datasource.transactions import UncommittedTransactions, plan_transactions
from kafkaviz.pipeline.read.inventory import Inventory, inventory
from kafkaviz.search.fetch import READ_COMMITTED
from kafkaviz.units import excerpt

LOG = logging.getLogger("kafkaviz")


@dataclass(frozen=True)
class ReadTask:
    """The splits that one task reads, and rows about problems that the planning found."""

    splits: Sequence[SourceSplit]
    rows: Sequence[dict] = ()


@dataclass(frozen=True, kw_only=True)
class ReadRequest:
    """A query's request to a data source: the directories, options and columns."""

    name: str  # the name of the format
    options: SourceOptions
    directories: tuple[str, ...]  # directories and patterns
    schema: pa.Schema  # the requested columns, in the format's spelling
    is_local: bool = True  # whether the workers run on this machine
    # environment variables for object stores, which the processes that plan and read may lack
    credentials: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class SourceQuery:
    """Plans a request in one process. Can be pickled, to read the tasks in other processes."""

    def __init__(self, request: ReadRequest) -> None:
        self.request = request
        # the limits of the rows, also from conditions that the caller adds later
        self.filters = option_filters(request.name, request.options)

    def open(self) -> Inventory:
        """Opens the directories. Raises CannotOpen if a directory cannot be opened."""
        request = self.request
        file_system.use_credentials(dict(request.credentials))
        paths = [path for directory in request.directories for path in expand(directory)]
        return inventory(map(self._open, paths))

    def plan(self, disk_inventory: Inventory) -> list[ReadTask]:
        """Plans the tasks, in the order of the directories and offsets.

        Raises Malformed if a requested topic-partition cannot be read, unless `mode` is PERMISSIVE.
        Raises DataLoss if the options of kafka_files name offsets or partitions that do not exist.
        """
        request = self.request
        options = request.options
        if isinstance(options, ConsumerOptions):
            topics = _subscribed_topics(disk_inventory, options)
            self.filters = replace(self.filters, topics=(*self.filters.topics, topics))
        rows: list[dict] = []
        for name, broker in disk_inventory.brokers:
            for problem in broker.problems:
                rows += self._unread_rows(name, broker, problem)
        ranges = None
        if isinstance(options, ConsumerOptions):
            ranges = _subscribed_ranges(disk_inventory, self.filters, options)
        source_plan = SourcePlan(request.name, disk_inventory, self.filters, options, ranges)
        rows += [row for gap in source_plan.remote_gaps() for row in self._gap_rows(*gap)]

        def decide(broker: str, partition: Partition) -> UncommittedTransactions:
            offsets = self.filters.limits("offset")
            if ranges is not None:
                first = ranges[id(partition)][0]
                last = ranges[id(partition)][-1]
                offsets &= NumberRange(least=first.least, most=last.most)
            decisions, problems = plan_transactions(partition, offsets.most, offsets.least)
            if decisions.tail is None:
                check_stable(options, (partition.topic, partition.partition), decisions)
            for problem in problems:
                rows.extend(self._rows(broker, partition.name, problem))
            return decisions

        needs_transactions = request.name in source_schema.RECORD_FORMATS and (
            options.isolation == READ_COMMITTED or ABORTED.name in request.schema.names
        )
        read_tasks = source_plan.tasks(
            reads_log=source_reader.reads_log(request.name, request.schema),
            transactions_of=decide if needs_transactions else None,
        )
        if options.explain:
            LOG.warning("%s", self._describe_plan(disk_inventory, read_tasks))
        problem_tasks = [ReadTask([], rows)] if rows or not read_tasks else []
        return [*map(ReadTask, read_tasks), *problem_tasks]

    def read(self, task: ReadTask) -> Iterator[pa.RecordBatch]:
        """Yields the rows of a task. Raises Malformed for bad data, unless `mode` allows it."""
        request = self.request
        file_system.use_credentials(dict(request.credentials))
        if request.options.explain:
            LOG.warning("%s: task of %s", request.name, describe_splits(task.splits))
        yield from (source_reader.problem_row(row, request.schema) for row in task.rows)
        reader = SourceReader(request.name, request.schema, self.filters, request.options)
        yield from reader.read(task.splits)

    def _describe_plan(self, disk_inventory: Inventory, read_tasks: list[list[SourceSplit]]) -> str:
        splits = [split for task in read_tasks for split in task]
        segments = {id(split.segment_task.segment) for split in splits}
        log_bytes = sum(split.log_bytes for split in splits)
        segment_count = sum(len(partition.segments) for _, partition in disk_inventory.partitions)
        return (
            f"{self.request.name}: {len(segments)} of {segment_count} segments, "
            f"{log_bytes} bytes of .log, {len(read_tasks)} tasks; {describe_filters(self.filters)}"
        )

    def _open(self, directory: str) -> Broker:
        """Opens a directory as a broker. Raises CannotOpen if that is impossible.

        If Spark's workers are on a cluster, archives and tiered storage cannot be opened, because
        the workers do not see the files.
        """
        path = absolute_path(directory) if address.parse(directory) else Path(directory)
        if not self.request.is_local and (
            archive.enclosing_archive(path) or (archive.is_archive(path) and not path.is_dir())
        ):
            what = message("errors.archive_on_cluster")
            raise CannotOpen(directory, what, message("errors.unpack_for_workers"), kind="archive")
        try:
            store = self.request.options.tiered
            broker = open_broker(path if store is None else join_tiered(path, store))
            if not self.request.is_local and tiered_view.sources(broker.path):
                what = message("tiered.on_cluster")
                raise CannotOpen(directory, what, message("tiered.read_here"), kind="archive")
            return broker
        except CannotOpen as fault:
            if fault.kind != "missing" or path.expanduser().is_absolute():
                raise
            what = message("errors.not_there_from_spark", path=Path.cwd())
            advice = message("errors.give_whole_path")
            raise CannotOpen(directory, what, advice, kind="missing") from None

    def _unread_rows(self, broker_name: str, broker: Broker, problem: Problem) -> list[dict]:
        """Returns one row if the problem is an unreadable partition directory that is requested.

        Other problems, such as a missing checkpoint, are logged and have no row.
        """
        name = names.parse_directory(problem.path.name)
        if name is None or not problem.is_unread:
            LOG.warning("%s: %s", address.display(problem.path), problem.what)
            return []
        is_read = self.request.options.renamed or name.state == "current" or broker.is_lone
        filters = self.filters
        is_asked = filters.has_topic(name.topic) and filters.has_partition(name.partition)
        return self._rows(broker_name, name, problem) if is_read and is_asked else []

    def _gap_rows(self, broker_name: str, partition: Partition, gap: RemoteGap) -> list[dict]:
        if gap.last_offset is None:
            offsets = message("tiered.offsets_from", first=gap.first_offset)
        else:
            offsets = message("tiered.offsets", first=gap.first_offset, last=gap.last_offset)
        what = message("tiered.gap", offsets=offsets, problem=gap.what)
        problem = Problem(gap.path, what, gap.kind)
        first = dict.fromkeys(("base_offset", "segment_base_offset"), gap.first_offset)
        return [first | row for row in self._rows(broker_name, partition.name, problem)]

    def _rows(self, broker: str, name: PartitionName, problem: Problem) -> list[dict]:
        what = source_reader.problem_text(problem)
        row = {"broker": broker, "topic": name.topic, "partition": name.partition, "problem": what}
        mode = self.request.options.mode
        is_shown = source_reader.becomes_row(what, is_unread=problem.is_unread, mode=mode)
        return [row] if is_shown else []


def _subscribed_topics(disk_inventory: Inventory, options: ConsumerOptions) -> frozenset[str]:
    """Returns the topics that kafka_files is asked for, including unreadable topics."""
    available = {partition.topic for _, partition in disk_inventory.partitions}
    unread_names = (names.parse_directory(problem.path.name) for problem in disk_inventory.problems)
    available |= {name.topic for name in unread_names if name}
    return options.subscription.topics_of(available)


def _subscribed_ranges(
    disk_inventory: Inventory, filters: PushedFilters, options: ConsumerOptions
) -> OffsetRanges:
    # a subscribed partition must exist even if WHERE excludes it
    subscribed = PushedFilters(topics=filters.topics[-1:])
    replica_ids = select_replicas(consumer_options.FORMAT, disk_inventory, subscribed, options)
    partitions = [
        partition for _, partition in disk_inventory.partitions if id(partition) in replica_ids
    ]
    return offset_ranges(partitions, options)


PATHS_EXAMPLE = '["/mnt/brokers/1","/mnt/brokers/2"]'
BRACES = re.compile(r"\{([^{},]*,[^{}]*)\}")
MAGIC = re.compile(r"[*?\[]")
MAX_ALTERNATIVES = 10_000  # most alternatives to which the braces of one pattern may expand


def directories(option_values: Mapping[str, str]) -> list[str]:
    """Returns the directories and patterns in option `paths` or, if it is not set, in `path`.

    Raises CannotOpen if the options name no directory, and BadOption if `paths` is not a JSON list
    of texts.
    """
    path = option_values.get("path")
    paths = [path] if path else []
    if option_values.get("paths"):
        paths = _parse_paths(option_values["paths"])
    if not paths:
        what = message("errors.names_no_directory")
        raise CannotOpen("load()", what, message("errors.give_a_load"), kind="missing")
    return [_local_path(directory) for directory in paths]


def expand(path: str) -> list[str]:
    """Returns the paths that match a pattern, sorted by name; without a pattern, `path` itself.

    Raises CannotOpen if nothing matches, a store cannot be listed, or the braces expand to more
    than `MAX_ALTERNATIVES` patterns.
    """
    if not _has_pattern(path):
        return [path]
    remote = address.parse(path)
    if os.path.lexists(path) or (remote is not None and not _has_pattern(remote.key)):
        return [path]
    _refuse_many_alternatives(path)
    if remote is not None:
        remote = RemotePath(remote.store, _as_python(remote.key))
        matches = [str(match) for match in _expand_remote(remote)]
    else:
        patterns = _alternatives(_as_python(os.path.expanduser(path)))
        matches = sorted({path for pattern in patterns for path in glob.glob(pattern)})
    if not matches:
        raise CannotOpen(path, message("errors.pattern_matches_nothing"), kind="missing")
    return matches


def _as_python(pattern: str) -> str:
    return pattern.replace("[^", "[!")


def _has_pattern(text: str) -> bool:
    return bool(MAGIC.search(text) or BRACES.search(text))


def _expand_remote(remote: RemotePath) -> list[RemotePath]:
    by_name: dict[str, RemotePath] = {}
    for key in _alternatives(remote.key):
        matches = [RemotePath(remote.store, "")]
        for part in key.split("/"):
            if MAGIC.search(part):
                matches = [
                    parent.child(entry.key)
                    for parent in matches
                    for entry in file_system.list_directory(parent, is_recursive=False)
                    if fnmatchcase(entry.key, part) and not entry.key.startswith(".")
                ]
            else:
                matches = [parent.child(part) for parent in matches]
        by_name |= {str(match): match for match in matches}
    return [by_name[name] for name in sorted(by_name)]


def _refuse_many_alternatives(pattern: str) -> None:
    count = 1
    open_braces: list[int] = []  # the number of alternatives so far in each open brace
    for character in pattern:
        if character == "{":
            open_braces.append(1)
        elif character == "," and open_braces:
            open_braces[-1] += 1
        elif character == "}" and open_braces:
            count *= open_braces.pop()
        if count > MAX_ALTERNATIVES:
            what = message("errors.too_many_alternatives", limit=MAX_ALTERNATIVES)
            raise CannotOpen(excerpt(pattern), what, kind="large")


def _alternatives(pattern: str) -> Iterator[str]:
    """Yields the expansions of braces: /mnt/{1,2} gives /mnt/1 and /mnt/2."""
    match = BRACES.search(pattern)
    if match is None:
        yield pattern
        return
    for word in match[1].split(","):
        yield from _alternatives(f"{pattern[: match.start()]}{word}{pattern[match.end() :]}")


def _parse_paths(text: str) -> list[str]:
    try:
        paths = json.loads(text)
    except (ValueError, RecursionError):
        paths = None
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        examples = (PATHS_EXAMPLE,)
        raise BadOption(message("option.takes_json", option="paths", examples=examples, value=text))
    return paths


def _local_path(directory: str) -> str:
    """Converts a file: URI to a path. Returns other addresses unchanged.

    Raises CannotOpen if the address belongs to an unsupported store.
    """
    scheme, _, rest = directory.partition(":")
    is_uri = scheme.isalnum() and len(scheme) >= 2 and rest.startswith("/")
    if not is_uri or address.parse(directory):
        return directory
    return unquote(urlsplit(directory).path)
