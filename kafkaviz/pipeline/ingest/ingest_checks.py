"""The checks of a run: which segments must be read for them, and which results are known.

The task that reads a segment's rows also checks the segment. The findings are stored in the catalog
(table `checked`) with a digest of the facts that they depend on. The next run reuses the findings
if the digest is equal; after an unclean stop, for example, it is not. The effect of a broker start
on a partition directory is stored in the same way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from kafkaviz.analysis.checks import segment
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.checks.segment import SegmentFindings
from kafkaviz.analysis.findings import finding_codec
from kafkaviz.analysis.restart import next_start
from kafkaviz.analysis.restart.next_start import RestartLog
from kafkaviz.analysis.serialization import encode
from kafkaviz.config_def import Release
from kafkaviz.errors import KafkavizError
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.partition import Partition
from kafkaviz.pipeline.read import check_cache
from kafkaviz.pipeline.read.inventory import Inventory, InventoryEntry, PartitionEntries

SegmentKey = tuple[int | None, str]  # base offset (None for the directory), suffix
LOAD_KEY: SegmentKey = (None, "")  # key of the effect of a broker start on a directory


class CheckedText(NamedTuple):
    """An earlier result as text, and the digest of the facts that it depends on."""

    digest: str
    text: str


@dataclass(frozen=True)
class LogStartup:
    """A log whose loading at the next broker start must be predicted."""

    number: int  # number of the log, among all logs that a run loads
    broker: str
    log: RestartLog
    clean: bool
    release: Release

    @cached_property
    def digest(self) -> str:
        """A digest of everything that the effect of loading the log depends on."""
        log = self.log
        files = [
            (file.name, file.size_bytes, file.mtime_ns)
            for file in next_start.log_files(log.partition)
        ]
        inputs = (
            log.config,
            log.recovery_point,
            log.log_start_offset,
            log.stray,
            self.clean,
            self.release,
        )
        return check_cache.digest_of(str(log.partition.path), *inputs, *files)


class DirectoryLoad(NamedTuple):
    """The loading of a partition directory's log at the next broker start.

    Attributes:
        number: the number of the log, among all logs that a run loads.
        digest: LogStartup.digest.
        is_known: whether the effect is known from an earlier run.
    """

    number: int
    digest: str
    is_known: bool


@dataclass(frozen=True)
class LoadResult:
    """The steps of loading a log as text, or None if a file cannot be read."""

    number: int
    text: str | None


def load_log(load: LogStartup) -> LoadResult:
    """Predicts the effect of loading a log, without changing any file."""
    try:
        return LoadResult(
            load.number,
            encode(next_start.restart_steps(load.log, clean=load.clean, release=load.release)),
        )
    except KafkavizError:
        return LoadResult(load.number, None)


class IngestChecks:
    """The checks of all brokers of a run, the facts that they use, and the known results."""

    def __init__(self, inventory: Inventory, level: CheckLevel = CheckLevel.RECORDS) -> None:
        """Plans the checks of all brokers.

        Args:
            level: how much of each batch is checked.
        """
        self.level = level
        self.plans = {name: plan_check(broker, level=level) for name, broker in inventory.brokers}
        self._digests: dict[str, str] = {}
        self._facts: tuple[tuple[str, str], PartitionFacts] | None = None

    def facts(self, broker: str, partition: Partition) -> PartitionFacts:
        """Returns the facts that the checks of a partition directory and its segments use.

        Only the facts of the last directory are cached.
        """
        key = broker, str(partition.path)
        if self._facts is None or self._facts[0] != key:
            self._facts = (key, self.plans[broker].facts(partition))
            self._digests = {}
        return self._facts[1]

    def task_facts(self, entry: InventoryEntry) -> PartitionFacts | None:
        """Returns the facts for a segment's checks; None if the checks do not read the segment."""
        return self.facts(entry.broker, entry.partition) if is_read(entry) else None

    def digest(self, entry: InventoryEntry) -> str:
        """Returns a digest of the facts that the checks of a segment depend on."""
        facts = self.facts(entry.broker, entry.partition)
        state = entry.segment.state
        if state not in self._digests:
            self._digests[state] = check_cache.digest(entry.segment, facts)
        return self._digests[state]

    def must_read(self, entry: InventoryEntry, checked: Mapping[SegmentKey, CheckedText]) -> bool:
        """Returns whether a segment whose rows are known must still be read to find its faults.

        Args:
            checked: the earlier results of the segment's directory.
        """
        if not is_read(entry):
            return False
        earlier = checked.get((entry.stored.base_offset, entry.stored.suffix))
        return (
            earlier is None
            or earlier.digest != self.digest(entry)
            or not is_still_valid(entry, earlier.text, self.plans[entry.broker].now_ms)
        )

    def result(self, entry: InventoryEntry, text: str | None) -> SegmentFindings:
        """Returns the findings of a segment from the stored text.

        For leftovers and for indexes without a .log, they follow from the file names alone.
        """
        if text is not None and is_read(entry):
            return check_cache.from_json(entry.segment.with_log(), text)
        return segment.check(entry.segment, self.facts(entry.broker, entry.partition))

    def load(self, number: int, entries: PartitionEntries) -> LogStartup | None:
        """Returns the log of a directory that the next start loads; None if it does not load it."""
        plan = self.plans[entries.broker]
        log = next(plan.logs([entries.partition]), None)
        if log is None:
            return None
        is_clean = plan.is_partition_clean(entries.partition)
        return LogStartup(number, entries.broker, log, is_clean, plan.assumed_release.release)


def is_read(entry: InventoryEntry) -> bool:
    return entry.segment.is_in_use and entry.segment.log is not None


def is_still_valid(entry: InventoryEntry, text: str | None, now_ms: int) -> bool:
    """Returns whether an earlier result about a segment is still valid at this time."""
    if text is None:
        return not is_read(entry)
    try:
        result = check_cache.from_json(entry.segment.with_log(), text)
    except ValueError:
        return False
    return check_cache.is_still_valid(result, now_ms)


def is_load_known(load: LogStartup, checked: Mapping[SegmentKey, CheckedText]) -> bool:
    """Returns whether the stored effect of loading a log is still valid."""
    earlier = checked.get(LOAD_KEY)
    return earlier is not None and earlier.digest == load.digest and has_steps(earlier.text)


def has_steps(text: str) -> bool:
    try:
        finding_codec.steps_from_json(text)
    except ValueError:
        return False
    return True
