"""The segments that an ingest must read, and the logs whose start-up it must predict."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kafkaviz.pipeline.catalog.catalog_info import Spans
from kafkaviz.pipeline.ingest import check_reuse
from kafkaviz.pipeline.ingest.check_reuse import IngestChecks
from kafkaviz.pipeline.ingest.log_startup import DirectoryStartup, LogStartup
from kafkaviz.pipeline.ingest.stored_rows import NO_SEGMENTS, StoredRows, UnchangedDirectories
from kafkaviz.pipeline.read.inventory import Inventory, InventoryEntry, PartitionEntries
from kafkaviz.pipeline.read.tasks import SegmentTask

# The states of a segment. UNCHANGED: the old catalog has the rows and findings of the segment.
# READ: this run reads the segment. RESUMED: a killed run has read the segment. *_FOR_CHECKS: the
# segment is read only for findings, because the old catalog has the rows.
UNCHANGED, READ, READ_FOR_CHECKS, RESUMED, RESUMED_FOR_CHECKS = range(5)
TO_READ = (READ, READ_FOR_CHECKS)


@dataclass
class IngestWork:
    """The segments to read, and the logs whose start-up must be predicted.

    Iterating yields the tasks of the segments, and computes them again each time.
    """

    inventory: Inventory
    checks: IngestChecks | None
    states: bytearray = field(default_factory=bytearray)  # a state (`UNCHANGED`, ...) per segment
    # the number of a directory's first segment, by directory number; directories with copied rows
    # are left out
    first_segments: dict[int, int] = field(default_factory=dict)
    # the log that the next broker start-up loads, by directory number
    directory_startups: dict[int, DirectoryStartup] = field(default_factory=dict)

    @property
    def entries(self) -> Iterator[InventoryEntry]:
        return (
            entry
            for entries in self.inventory.entries_at(self.first_segments)
            for entry in entries.segments
            if self.states[entry.number] in TO_READ
        )

    @property
    def count(self) -> int:
        return sum(map(self.states.count, TO_READ))

    @property
    def log_bytes(self) -> int:
        return sum(entry.segment.log.size_bytes for entry in self.entries if entry.segment.log)

    def __iter__(self) -> Iterator[SegmentTask]:
        return map(self.task, self.entries)

    def task(self, entry: InventoryEntry) -> SegmentTask:
        facts = None
        if self.checks and check_reuse.is_read(entry):
            facts = self.checks.facts(entry.broker, entry.partition)
        return SegmentTask(
            number=entry.number,
            broker=entry.broker,
            topic=entry.partition.topic,
            partition=entry.partition.partition,
            segment=entry.segment,
            facts=facts,
            skips_rows=self.states[entry.number] == READ_FOR_CHECKS,
            needs_sweep=self.checks is not None,
        )

    def startups(self) -> Iterator[LogStartup]:
        """Yields the logs whose start-up this run must predict."""
        unknown = {
            number: self.first_segments[number]
            for number, startup in self.directory_startups.items()
            if not startup.is_known
        }
        if self.checks is None:
            return
        for entries in self.inventory.entries_at(unknown):
            startup = self.checks.startup(self.directory_startups[entries.number].number, entries)
            if startup is not None:
                yield startup

    def has_new_rows(self, number: int) -> bool:
        """Returns whether this run or a killed one read a segment, instead of keeping its rows."""
        return self.states[number] in (READ, RESUMED)

    def is_resumed(self, number: int) -> bool:
        return self.states[number] in (RESUMED, RESUMED_FOR_CHECKS)


def find_work(
    disk_inventory: Inventory,
    stored: StoredRows | None,
    checks: IngestChecks | None,
    keep: Callable[[Spans], None] = lambda _spans: None,
) -> IngestWork:
    """Finds the segments that must be read for their rows, for their findings, or for both.

    Without `stored`, no row of an old catalog is kept. Without `checks`, no findings are made.
    `keep` is called with the row locations of each segment whose rows are kept.
    """
    work = IngestWork(disk_inventory, checks)
    unchanged = UnchangedDirectories(disk_inventory, stored, checks) if stored else None
    startup_count = 0
    for entries in disk_inventory.entries:
        startup = checks.startup(startup_count, entries) if checks else None
        startup_count += startup is not None
        spans = unchanged.spans(entries, startup) if unchanged else None
        if spans is None:
            work.first_segments[entries.number] = len(work.states)
            _find_changes(work, entries, startup, stored, keep)
            continue
        work.states += bytes([UNCHANGED]) * len(spans)
        for segment_spans in spans:
            keep(segment_spans)
    return work


def _find_changes(
    work: IngestWork,
    entries: PartitionEntries,
    startup: LogStartup | None,
    stored: StoredRows | None,
    keep: Callable[[Spans], None],
) -> None:
    owner = (entries.broker, entries.stored.directory)
    checks = work.checks
    old = stored.partition(*owner) if stored else NO_SEGMENTS
    checked = stored.checked(*owner) if stored and checks else {}
    for entry in entries.segments:
        old_segment = old.find(entry)
        if old_segment is None:
            state = READ
        else:
            must_check = checks is not None and checks.must_read(entry, checked)
            state = READ_FOR_CHECKS if must_check else UNCHANGED
            keep(old_segment.spans)
        work.states.append(state)
    if startup is not None:
        is_known = check_reuse.is_startup_known(startup, checked)
        work.directory_startups[entries.number] = DirectoryStartup(
            startup.number, startup.digest, is_known
        )
