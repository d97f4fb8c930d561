"""Finds partition directories that are unchanged since the last run.

Their rows are copied from the old catalog in Arrow's format. Everything that the rows depend on is
compared: the size and time of every file, the checkpointed offsets, the facts for the checks, and
the retention limits. Only the clock always differs; a directory whose findings depend on it is
examined again.

    orders-0   all files unchanged                          its rows are copied
    orders-1   all files unchanged, a transaction is open   findings are made, nothing is read
    orders-2   a segment has grown                          it is read, findings are made
"""

import os

import pyarrow as pa

from kafkaviz.analysis.serialization import encode
from kafkaviz.errors import CannotOpen
from kafkaviz.log.partition import Partition
from kafkaviz.log.tiered import tiered_view
from kafkaviz.pipeline.catalog.schema import FILE_KINDS
from kafkaviz.pipeline.catalog.stamps import Spans, directory_text, storable_name, unchanged_spans
from kafkaviz.pipeline.ingest.ingest_checks import (
    LOAD_KEY,
    IngestChecks,
    LogStartup,
    has_steps,
    is_read,
)
from kafkaviz.pipeline.ingest.stored_rows import DirectoryTables, StoredRows
from kafkaviz.pipeline.read import check_cache
from kafkaviz.pipeline.read.inventory import Inventory, PartitionEntries
from kafkaviz.pipeline.read.segment_tables import partition_columns
from kafkaviz.units import replace_surrogates

# findings that may change without a changed file, by the clock or permissions
UNSTEADY_CODES = (
    "timestamp-in-future",
    "open-transaction",
    "hanging-transaction",
    "unreadable-file",
)


class UnchangedDirectories:
    """The unchanged directories of the brokers of a run."""

    def __init__(
        self, inventory: Inventory, stored: StoredRows, checks: IngestChecks | None
    ) -> None:
        """Reads the findings of the last run.

        Args:
            checks: the checks, or None without findings.
        """
        self._stored = stored
        self._checks = checks
        self._brokers: set[str] = set()
        self._unsteady: set[tuple[str, str]] = set()  # (broker, directory)
        try:
            for findings in stored.findings():
                columns = (findings[name].to_pylist() for name in ("code", "broker", "directory"))
                self._unsteady.update(
                    (broker, directory)
                    for code, broker, directory in zip(*columns, strict=True)
                    if code in UNSTEADY_CODES
                )
        except CannotOpen:  # then no directory is unchanged
            return
        self._brokers.update(
            name for name, broker in inventory.brokers if not tiered_view.sources(broker.path)
        )

    def spans(self, entries: PartitionEntries, load: LogStartup | None) -> list[Spans] | None:
        """Returns where the rows of each segment are, or None if the directory must be examined.

        Args:
            load: the predicted start-up of the log. None without checks, or if a start would not
                load it.
        """
        directory = entries.stored.directory
        if (
            entries.broker not in self._brokers
            or directory != entries.partition.directory  # two log directories have one of this name
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
    """Returns whether the other files are readable; each run makes findings about them."""
    return all(os.access(info.path, os.R_OK) for info in partition.other_files)


def _has_same_facts(entries: PartitionEntries, tables: DirectoryTables) -> bool:
    """Returns whether checkpoints are equal, and files have the same allocated size.

    Stamps do not show the allocated size.
    """
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
    entries: PartitionEntries,
    tables: DirectoryTables,
    checks: IngestChecks,
    load: LogStartup | None,
) -> bool:
    """Returns whether the results of the checks and of the load are based on the same facts."""
    columns = ("base_offset", "suffix", "digest", "json")
    keys, suffixes, digests, texts = (tables.checked[name].to_pylist() for name in columns)
    expected: list[tuple[int | None, str, str]] = [
        (entry.stored.base_offset, entry.stored.suffix, checks.digest(entry))
        for entry in entries.segments
        if is_read(entry)
    ]
    now_ms = checks.plans[entries.broker].now_ms
    count = len(expected)
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
    """Returns whether retention decides the same now, with the same limits."""
    if not retention.num_rows:
        return True
    plan = checks.plans[entries.broker]
    first_ms, last_ms = sorted((plan.now_ms, retention["now_ms"][0].as_py()))
    return set(retention["limits_json"].to_pylist()) == {
        encode(plan.limits(entries.partition))
    } and not any(
        until_ms is not None and first_ms <= until_ms < last_ms
        for until_ms in retention["until_ms"].to_pylist()
    )
