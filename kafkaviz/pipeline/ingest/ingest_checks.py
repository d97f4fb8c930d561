"""The checks of a run.

What must be read for them, what an earlier run found and still holds, and what all of it makes of a
broker.

A segment is checked by the task that reads its rows. Its findings are kept in the catalog (table
checked) beside a digest of the facts they depend on, so that the next run takes them from there: of
a broker that was not stopped cleanly other things are true of the same bytes. What a start does to
a partition directory is kept in the same way.
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
from kafkaviz.config_def import Release
from kafkaviz.errors import KafkavizError
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.partition import Partition
from kafkaviz.pipeline.ingest import check_cache
from kafkaviz.pipeline.ingest.inventory import Inventory, InventoryEntry, PartitionEntries
from kafkaviz.pipeline.ingest.stored_rows import CheckedText, SegmentKey

LOAD_KEY: SegmentKey = (None, "")  # of what a start does to a directory


@dataclass(frozen=True)
class LogLoad:
    """A log to be loaded as the next start would load it."""

    number: int  # among all of a run
    broker: str
    log: RestartLog
    clean: bool
    release: Release

    @cached_property
    def digest(self) -> str:
        """A text that is another one where the load would be."""
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
    """The load of a partition directory.

    Attributes:
        number: among all loads of a run.
        digest: as of LogLoad.
        is_known: what it does is known from an earlier run.
    """

    number: int
    digest: str
    is_known: bool


@dataclass(frozen=True)
class LoadResult:
    """What it would do, by finding_codec.steps_to_json; None where a file may not be read."""

    number: int
    text: str | None


def load_log(load: LogLoad) -> LoadResult:
    """Loads a log, which changes nothing in it."""
    try:
        return LoadResult(
            load.number,
            finding_codec.steps_to_json(
                next_start.restart_steps(load.log, clean=load.clean, release=load.release)
            ),
        )
    except KafkavizError:
        return LoadResult(load.number, None)


class IngestChecks:
    """The checks of all brokers of a run: what they go by, and what of them is known already."""

    def __init__(self, inventory: Inventory, level: CheckLevel = CheckLevel.RECORDS) -> None:
        """Plans the checks of all brokers.

        Args:
            level: how much of each batch they look at.
        """
        self.level, self.plans = (
            level,
            {name: plan_check(broker, level=level) for name, broker in inventory.brokers},
        )
        self._digests: dict[str, str] = {}
        self._facts: tuple[tuple[str, str], PartitionFacts] | None = None

    def facts(self, broker: str, partition: Partition) -> PartitionFacts:
        """What the checks of a partition directory and its segments go by.

        Those of the directory that was asked for last are kept.
        """
        key = broker, str(partition.path)
        if self._facts is None or self._facts[0] != key:
            self._facts, self._digests = (key, self.plans[broker].facts(partition)), {}
        return self._facts[1]

    def task_facts(self, entry: InventoryEntry) -> PartitionFacts | None:
        """What the checks of a segment go by.

        Returns:
            None for one that is not read for them.
        """
        return self.facts(entry.broker, entry.partition) if is_read(entry) else None

    def digest(self, entry: InventoryEntry) -> str:
        """A text that is another one where the checks of the same bytes would go by other facts."""
        facts, state = self.facts(entry.broker, entry.partition), entry.segment.state
        if state not in self._digests:
            self._digests[state] = check_cache.digest(entry.segment, facts)
        return self._digests[state]

    def must_read(self, entry: InventoryEntry, checked: Mapping[SegmentKey, CheckedText]) -> bool:
        """Whether a segment whose rows the catalog has right must be read for its findings.

        Args:
            checked: what was found earlier in its directory.
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
        """What was found in a segment, of its text.

        In leftovers and lone indexes it is found by their names alone.
        """
        if text is not None and is_read(entry):
            return check_cache.from_json(entry.segment.with_log(), text)
        return segment.check(entry.segment, self.facts(entry.broker, entry.partition))

    def load(self, number: int, entries: PartitionEntries) -> LogLoad | None:
        """The load of a directory, if a start would load it."""
        plan = self.plans[entries.broker]
        log = next(plan.logs([entries.partition]), None)
        if log is None:
            return None
        is_clean = plan.is_partition_clean(entries.partition)
        return LogLoad(number, entries.broker, log, is_clean, plan.assumed_release.release)


def is_read(entry: InventoryEntry) -> bool:
    """Whether a segment is opened to check it."""
    return entry.segment.is_in_use and entry.segment.log is not None


def is_still_valid(entry: InventoryEntry, text: str | None, now_ms: int) -> bool:
    """Whether what an earlier run found in a segment may be kept now."""
    if text is None:
        return not is_read(entry)
    try:
        result = check_cache.from_json(entry.segment.with_log(), text)
    except ValueError:
        return False
    return check_cache.is_still_valid(result, now_ms)


def is_load_known(load: LogLoad, checked: Mapping[SegmentKey, CheckedText]) -> bool:
    """Whether what was kept of a load still holds."""
    earlier = checked.get(LOAD_KEY)
    return earlier is not None and earlier.digest == load.digest and has_steps(earlier.text)


def has_steps(text: str) -> bool:
    """Whether the text is what steps_to_json gives."""
    try:
        finding_codec.steps_from_json(text)
    except ValueError:
        return False
    return True
