"""Decides which stored check results an ingest can use again, and which segments it must check.

The task that reads a segment's rows also checks the segment. Table `checked` stores the result with
a digest of the facts that the check used, such as retention.ms. The next ingest reuses the result
if the digest is the same. An unclean shutdown of the broker changes the digest. The effect of
broker start-up on a partition directory (log_startup.py) is stored in the same way.
"""

from collections.abc import Mapping
from typing import NamedTuple

from kafkaviz.analysis import finding_rows
from kafkaviz.analysis.checks import segment
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.checks.segment import SegmentFindings
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.partition import Partition
from kafkaviz.pipeline.ingest import stored_checks
from kafkaviz.pipeline.ingest.log_startup import LogStartup
from kafkaviz.pipeline.read.inventory import Inventory, InventoryEntry, PartitionEntries

SegmentKey = tuple[int | None, str]  # base offset (None for the directory), suffix
STARTUP_KEY: SegmentKey = (None, "")  # key of the effect of a broker start on a directory


class CheckedText(NamedTuple):
    """A stored check result as JSON, and a digest of the facts that the check used."""

    digest: str
    text: str


class IngestChecks:
    """Plans the checks of all brokers, and decides which segments the checks must read."""

    def __init__(self, inventory: Inventory, level: CheckLevel = CheckLevel.RECORDS) -> None:
        self.level = level
        self.plans = {name: plan_check(broker, level=level) for name, broker in inventory.brokers}
        self._digests: dict[str, str] = {}
        self._facts: tuple[tuple[str, str], PartitionFacts] | None = None

    def facts(self, broker: str, partition: Partition) -> PartitionFacts:
        """Returns the facts that the checks of a directory depend on. Caches the last result."""
        key = broker, str(partition.path)
        if self._facts is None or self._facts[0] != key:
            self._facts = (key, self.plans[broker].facts(partition))
            self._digests = {}
        return self._facts[1]

    def digest(self, entry: InventoryEntry) -> str:
        facts = self.facts(entry.broker, entry.partition)
        state = entry.segment.state
        if state not in self._digests:
            self._digests[state] = stored_checks.digest(entry.segment, facts)
        return self._digests[state]

    def must_read(self, entry: InventoryEntry, checked: Mapping[SegmentKey, CheckedText]) -> bool:
        """Returns whether the checks must read a segment whose rows are in the old catalog."""
        if not is_read(entry):
            return False
        earlier = checked.get((entry.stored.base_offset, entry.stored.suffix))
        return (
            earlier is None
            or earlier.digest != self.digest(entry)
            or not is_still_valid(entry, earlier.text, self.plans[entry.broker].now_ms)
        )

    def result(self, entry: InventoryEntry, text: str | None) -> SegmentFindings:
        """Returns a segment's findings. `text` is the stored result of checking the .log.

        A segment that is not in use (such as .deleted) or has no .log is checked only by name.
        """
        if text is not None and is_read(entry):
            return stored_checks.from_json(entry.segment.with_log(), text)
        return segment.check(entry.segment, self.facts(entry.broker, entry.partition))

    def startup(self, number: int, entries: PartitionEntries) -> LogStartup | None:
        """Returns the LogStartup of a directory. None: broker start-up does not load the log."""
        plan = self.plans[entries.broker]
        log = next(plan.logs([entries.partition]), None)
        if log is None:
            return None
        is_clean = plan.is_partition_clean(entries.partition)
        return LogStartup(number, entries.broker, log, is_clean, plan.assumed_release.release)


def is_read(entry: InventoryEntry) -> bool:
    return entry.segment.is_in_use and entry.segment.log is not None


def is_still_valid(entry: InventoryEntry, text: str | None, now_ms: int) -> bool:
    """Returns whether a stored result about a segment is valid at this time."""
    if text is None:
        return not is_read(entry)
    try:
        result = stored_checks.from_json(entry.segment.with_log(), text)
    except ValueError:
        return False
    return stored_checks.is_still_valid(result, now_ms)


def is_startup_known(startup: LogStartup, checked: Mapping[SegmentKey, CheckedText]) -> bool:
    earlier = checked.get(STARTUP_KEY)
    return earlier is not None and earlier.digest == startup.digest and has_steps(earlier.text)


def has_steps(text: str) -> bool:
    try:
        finding_rows.steps_from_json(text)
    except ValueError:
        return False
    return True
