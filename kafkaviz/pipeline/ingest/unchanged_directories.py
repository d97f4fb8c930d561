"""Which partition directories are as the last run found them, whatever a broker wrote beside them.

The rows of such a directory are those of the old catalog, copied as Arrow has them. All that they
depend on is compared: the size and time of every file, the checkpointed offsets, what the checks go
by and the limits of retention. One thing moves between any two runs, the clock; a directory where
it decides anything is looked at anew.

    orders-0   every file as it was                          its rows are copied
    orders-1   every file as it was, a transaction is open   nothing is read, findings are made
    orders-2   a segment grew                                that is read, findings are made
"""

import os

import pyarrow as pa

from kafkaviz.analysis.serialization import to_json
from kafkaviz.errors import CannotOpen
from kafkaviz.log.partition import Partition
from kafkaviz.log.tiered import tiered_view
from kafkaviz.pipeline.catalog.schema import FILE_KINDS
from kafkaviz.pipeline.catalog.stamps import Spans, directory_text, storable_name, unchanged_spans
from kafkaviz.pipeline.ingest import check_cache
from kafkaviz.pipeline.ingest.ingest_checks import (
    LOAD_KEY,
    IngestChecks,
    LogLoad,
    has_steps,
    is_read,
)
from kafkaviz.pipeline.ingest.inventory import Inventory, PartitionEntries
from kafkaviz.pipeline.ingest.segment_tables import partition_columns
from kafkaviz.pipeline.ingest.stored_rows import DirectoryTables, StoredRows
from kafkaviz.units import replace_surrogates

# of findings that may be others though no file has changed: by the clock, or a file's permissions
UNSTEADY_CODES = (
    "timestamp-in-future",
    "open-transaction",
    "hanging-transaction",
    "unreadable-file",
)


class UnchangedDirectories:
    """Those of the brokers of a run."""

    def __init__(
        self, inventory: Inventory, stored: StoredRows, checks: IngestChecks | None
    ) -> None:
        """Looks at the findings of the last run.

        Args:
            checks: None where no findings are asked for.
        """
        self._stored, self._checks = stored, checks
        self._brokers: set[str] = set()
        self._unsteady: set[tuple[str, str]] = set()  # broker, directory
        try:
            for findings in stored.findings():
                columns = (findings[name].to_pylist() for name in ("code", "broker", "directory"))
                self._unsteady.update(
                    (broker, directory)
                    for code, broker, directory in zip(*columns, strict=True)
                    if code in UNSTEADY_CODES
                )
        except CannotOpen:  # they are made anew
            return
        self._brokers.update(
            name for name, broker in inventory.brokers if not tiered_view.sources(broker.path)
        )

    def spans(self, entries: PartitionEntries, load: LogLoad | None) -> list[Spans] | None:
        """Where the rows of each segment of an unchanged directory lie.

        Args:
            load: what a start does to it; None where none would load it, or that is not asked.

        Returns:
            None of a directory that is looked at anew.
        """
        directory = entries.stored.directory
        if (
            entries.broker not in self._brokers
            or directory != entries.partition.directory  # two log directories have one
            or entries.partition.remote_bases
            or entries.partition.remote_gaps
            or replace_surrogates(directory) != directory
            or storable_name(directory) != directory
        ):
            return None
        tables = self._stored.compared(entries.broker, directory)
        if tables is None or not _has_same_facts(entries, tables):
            return None
        if self._checks is not None and not (
            (entries.broker, directory) not in self._unsteady
            and _is_readable(entries.partition)
            and _has_same_checks(entries, tables, self._checks, load)
            and _has_same_retention(entries, tables.retention, self._checks)
        ):
            return None
        return self._segment_spans(entries, tables)

    def _segment_spans(
        self, entries: PartitionEntries, tables: DirectoryTables
    ) -> list[Spans] | None:
        """By the stamps; None where one file is another one."""
        texts = tables.stamps["json"].to_pylist()
        if len(texts) != len(entries.segments) + 1 or texts[0] != directory_text(entries.stored):
            return None
        spans = []
        for entry, text in zip(entries.segments, texts[1:], strict=True):
            segment_spans = unchanged_spans(text, entry.stored, self._stored.info)
            if segment_spans is None or not self._stored.has_rows(segment_spans):
                return None
            spans.append(segment_spans)
        return spans


def _is_readable(partition: Partition) -> bool:
    """Whether the files beside the segments may be read, whose findings are made in each run."""
    return all(os.access(info.path, os.R_OK) for info in partition.other_files)


def _has_same_facts(entries: PartitionEntries, tables: DirectoryTables) -> bool:
    """Whether checkpoints say the same, and files take the same room, which no stamp shows."""
    (row,) = tables.partitions.to_pylist()
    return all(row[name] == value for name, value in partition_columns(entries).items()) and all(
        tables.segments[f"{kind}_allocated_bytes"].to_pylist()
        == [
            None if (info := getattr(entry.segment, kind)) is None else info.allocated_bytes
            for entry in entries.segments
        ]
        for kind in FILE_KINDS
    )


def _has_same_checks(
    entries: PartitionEntries, tables: DirectoryTables, checks: IngestChecks, load: LogLoad | None
) -> bool:
    """Whether the findings of the segments, and what a start does, were found by the same facts."""
    columns = ("base_offset", "suffix", "digest", "json")
    keys, suffixes, digests, texts = (tables.checked[name].to_pylist() for name in columns)
    expected: list[tuple[int | None, str, str]] = [
        (entry.stored.base_offset, entry.stored.suffix, checks.digest(entry))
        for entry in entries.segments
        if is_read(entry)
    ]
    now_ms, count = checks.plans[entries.broker].now_ms, len(expected)
    if load is not None:
        expected.append((*LOAD_KEY, load.digest))
    return (
        list(zip(keys, suffixes, digests, strict=True)) == expected
        and check_cache.is_steady(texts[:count], now_ms)
        and all(map(has_steps, texts[count:]))
    )


def _has_same_retention(
    entries: PartitionEntries, retention: pa.Table, checks: IngestChecks
) -> bool:
    """Whether a pass of retention decides the same now, by the same limits."""
    if not retention.num_rows:
        return True
    plan = checks.plans[entries.broker]
    first_ms, last_ms = sorted((plan.now_ms, retention["now_ms"][0].as_py()))
    return set(retention["limits_json"].to_pylist()) == {
        to_json(plan.limits(entries.partition))
    } and not any(
        until_ms is not None and first_ms <= until_ms < last_ms
        for until_ms in retention["until_ms"].to_pylist()
    )
