"""The checks of a run.

What must be read for them, what an earlier run found and still holds, and what all of it makes of a
broker.

A segment is checked by the task that reads its rows. Its findings are kept in the catalog (table
checked) beside a digest of the facts they depend on, so that the next run takes them from there: of
a broker that was not stopped cleanly other things are true of the same bytes. What a start does to
a partition directory is kept in the same way.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from kafkaviz.analysis.checks import segment
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.checks.segment import SegmentFindings
from kafkaviz.analysis.findings import finding_codec
from kafkaviz.analysis.health import broker_health
from kafkaviz.analysis.health.broker_health import Health
from kafkaviz.analysis.restart import next_start
from kafkaviz.analysis.restart.next_start import Restart, RestartLog, StartupStep
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.partition import Partition
from kafkaviz.pipeline.catalog.catalog import Catalog
from kafkaviz.pipeline.catalog.catalog_info import version
from kafkaviz.pipeline.catalog.schema import CHECKED
from kafkaviz.pipeline.ingest import check_cache
from kafkaviz.pipeline.ingest.inventory import Inventory, InventoryEntry
from kafkaviz.units import replace_surrogates
from kafkaviz.versions import Release

# broker, directory, base offset (None: of the directory), suffix
Key = tuple[str, str, int | None, str]


@dataclass(frozen=True)
class LogLoad:
    """A log to be loaded as the next start would load it."""

    broker: str
    log: RestartLog
    clean: bool
    release: Release

    @property
    def key(self) -> Key:
        """What distinguishes it from everything else that is checked."""
        return self.broker, self.log.partition.directory, None, ""

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


@dataclass(frozen=True)
class LoadResult:
    """What it would do, by finding_codec.steps_to_json; None where a file may not be read."""

    key: Key
    text: str | None


def load_log(load: LogLoad) -> LoadResult:
    """Loads a log, which changes nothing in it."""
    try:
        return LoadResult(
            load.key,
            finding_codec.steps_to_json(
                next_start.restart_steps(load.log, clean=load.clean, release=load.release)
            ),
        )
    except KafkavizError:
        return LoadResult(load.key, None)


class IngestChecks:
    """The checks of all brokers of a run.

    First it says what must be read, then it takes what was read.
    """

    def __init__(
        self,
        inventory: Inventory,
        old: Catalog | None,
        level: CheckLevel = CheckLevel.RECORDS,
    ) -> None:
        """Plans the checks of all brokers.

        Args:
            old: the catalog whose findings may still hold; None where there is none.
            level: how much of each batch they look at.
        """
        self.level, self._inventory = level, inventory
        self._plans = {name: plan_check(broker, level=level) for name, broker in inventory.brokers}
        self._facts: dict[tuple[str, str], PartitionFacts] = {}
        self._earlier = _rows(old) if old is not None and old.info.kafkaviz == version() else {}
        self._texts: dict[Key, tuple[str, str]] = {}  # digest and JSON, of all that was found
        self._results: dict[Key, SegmentFindings] = {}

    def facts(self, entry: InventoryEntry) -> PartitionFacts | None:
        """What the checks of a segment go by.

        Returns:
            None for one that is not read for them.
        """
        return self._facts_of(entry.broker, entry.partition) if _is_read(entry) else None

    def must_read(self, entry: InventoryEntry) -> bool:
        """Whether a segment whose rows the catalog has right must be read for its findings.

        Else those that were kept are taken.
        """
        if not _is_read(entry):
            return False
        digest, text = self._earlier.get(_storable(entry.stored.key), ("", ""))
        if digest != self._digest(entry):
            return True
        try:
            result = check_cache.from_json(entry.segment.with_log(), text)
        except ValueError:
            return True
        if not check_cache.is_still_valid(result, self._plans[entry.broker].now_ms):
            return True
        self._texts[entry.stored.key], self._results[entry.stored.key] = (digest, text), result
        return False

    def is_still_valid(self, number: int, text: str | None) -> bool:
        """Whether what an earlier run found in a segment may be kept now."""
        entry = self._inventory.segments[number]
        if text is None:
            return not _is_read(entry)
        try:
            result = check_cache.from_json(entry.segment.with_log(), text)
        except ValueError:
            return False
        return check_cache.is_still_valid(result, self._plans[entry.broker].now_ms)

    def loads(self) -> list[LogLoad]:
        """The logs whose load is not known from an earlier run."""
        return [load for load in self._all_loads if not self._take_earlier(load)]

    def add(self, texts: Mapping[int, str]) -> None:
        """What tasks found in segments, by their numbers."""
        for number, text in texts.items():
            entry = self._inventory.segments[number]
            self._texts[entry.stored.key] = self._digest(entry), text
            self._results[entry.stored.key] = check_cache.from_json(entry.segment.with_log(), text)

    def add_loads(self, results: Iterable[LoadResult]) -> None:
        """What tasks say of the loads that were asked for."""
        digests = {load.key: load.digest for load in self._all_loads}
        self._texts |= {
            result.key: (digests[result.key], result.text)
            for result in results
            if result.text is not None
        }

    def healths(self) -> Iterator[tuple[str, Health]]:
        """Each broker's health, from everything that was found about it."""
        segments = defaultdict(list)
        for entry in self._inventory.segments:
            segments[entry.broker, entry.partition.directory].append(entry)
        for name, plan in self._plans.items():
            findings, retention = [], []
            for partition in plan.partitions:
                results = [
                    self._result_of(member) for member in segments[name, partition.directory]
                ]
                findings += broker_health.partition_findings(
                    partition, self._facts_of(name, partition), results
                )
                retention += broker_health.partition_retention(plan, partition, results)
            yield name, broker_health.compose_health(plan, findings, self._restart(name), retention)

    def table(self) -> pa.Table:
        """What the next run need not find again."""
        partitions = {
            (broker, partition.directory): partition
            for broker, partition in self._inventory.partitions
        }
        rows = [_row(key, partitions[key[:2]], *self._texts[key]) for key in self._texts]
        return pa.Table.from_pylist(rows, CHECKED)

    @cached_property
    def _all_loads(self) -> list[LogLoad]:
        return [
            LogLoad(name, log, plan.is_clean, plan.assumed_release.release)
            for name, plan in self._plans.items()
            for log in plan.logs()
        ]

    def _take_earlier(self, load: LogLoad) -> bool:
        """Takes what was kept of a load, if that still holds."""
        digest, text = self._earlier.get(_storable(load.key), ("", ""))
        if digest != load.digest or _steps(text) is None:
            return False
        self._texts[load.key] = digest, text
        return True

    def _restart(self, broker: str) -> Restart | None:
        """The start.

        Returns:
            None where one of its logs could not be loaded.
        """
        loads = [load for load in self._all_loads if load.broker == broker]
        if any(load.key not in self._texts for load in loads):
            return None
        return self._plans[broker].restart(
            [
                (
                    load.log.partition.directory,
                    finding_codec.steps_from_json(self._texts[load.key][1]),
                )
                for load in loads
            ]
        )

    def _result_of(self, entry: InventoryEntry) -> SegmentFindings:
        """What was found in a segment.

        In leftovers and lone indexes it is found by their names alone.
        """
        if _is_read(entry):
            return self._results.pop(entry.stored.key)
        return segment.check(entry.segment, self._facts_of(entry.broker, entry.partition))

    def _facts_of(self, broker: str, partition: Partition) -> PartitionFacts:
        key = broker, partition.directory
        if key not in self._facts:
            self._facts[key] = self._plans[broker].facts(partition)
        return self._facts[key]

    def _digest(self, entry: InventoryEntry) -> str:
        return check_cache.digest(entry.segment, self._facts_of(entry.broker, entry.partition))


def _is_read(entry: InventoryEntry) -> bool:
    """Whether a segment is opened to check it."""
    return entry.segment.is_in_use and entry.segment.log is not None


def _steps(text: str) -> Sequence[StartupStep] | None:
    try:
        return finding_codec.steps_from_json(text)
    except ValueError:
        return None


def _rows(old: Catalog) -> Mapping[Key, tuple[str, str]]:
    """What an earlier run kept: digest and JSON; nothing where it kept nothing, or that is lost."""
    try:
        rows = old.table(
            "checked", columns=["broker", "directory", "base_offset", "suffix", "digest", "json"]
        ).to_pylist()
    except CannotOpen:
        return {}
    return {
        (row["broker"], row["directory"], row["base_offset"], row["suffix"]): (
            row["digest"],
            row["json"],
        )
        for row in rows
    }


def _storable(key: Key) -> Key:
    """The key as table checked has it.

    Bytes of a directory's name that are no UTF-8 are written out: U+FFFD would make two keys one.
    """
    broker, directory, base_offset, suffix = key
    return broker, directory.encode("utf-8", "backslashreplace").decode(), base_offset, suffix


def _row(key: Key, partition: Partition, digest: str, text: str) -> dict:
    broker, directory, base_offset, suffix = _storable(key)
    owner = {
        "broker": broker,
        "topic": replace_surrogates(partition.topic),
        "partition": partition.partition,
        "directory": directory,
    }
    return owner | {"base_offset": base_offset, "suffix": suffix, "digest": digest, "json": text}
