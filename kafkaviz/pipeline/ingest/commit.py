"""A catalog being replaced: written aside, swapped by one rename, its leftovers swept.

One run at a time.

    OUT/.staging-RUN/batches/…    what the tasks of this run write, failed attempts too
    OUT/.run-RUN/batches/…        the new catalog: what counts of that, moved there, and what is
    kept of the old one, hard-linked
    OUT/.run-RUN/_catalog.json
    OUT/batches, _catalog.json    links to .current/batches and so on, made once
    OUT/.current                  a link to .run-RUN, replaced: from here on all of the new catalog
    holds, and nothing of the old

A run that ends anywhere on this way leaves a complete catalog, for those who go by _catalog.json
and for those who list a table's folder; the next one sweeps what it left. One exception: of a
catalog of format 7, whose tables were folders, a table's folder may be missing from the moment it
is moved until the next commit. The folder of the run before stays until the next run starts, so
that a listing that has begun is whole. What a file of some name holds never changes: opened by
OUT/batches after the swap, it has the same rows as when it was listed, or is gone.
"""

import fcntl
import json
import os
import shutil
import time
import uuid
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TextIO, cast

import pyarrow as pa
import pyarrow.parquet as pq

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.log.broker import Problem
from kafkaviz.log.file import translate_os_errors
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog.catalog import NAME, read_info
from kafkaviz.pipeline.catalog.catalog_info import (
    CatalogInfo,
    CatalogSource,
    RowRange,
    StoredSegment,
    to_json,
    version,
)
from kafkaviz.pipeline.catalog.schema import TABLES, TASK_TABLES

LOCK = "_catalog.lock"
STAGING, RUN, CURRENT = ".staging-", ".run-", ".current"
OWN_RUN_ENDS_WITHIN_S = 30


class CatalogBusy(KafkavizError):
    """Another run writes this catalog."""


class CatalogTransaction:
    """A catalog's folder while one run holds it; see `catalog_transaction`."""

    def __init__(self, path: Path, old: CatalogInfo | None) -> None:
        """Starts with what the catalog holds.

        Args:
            old: what the catalog holds until the commit; None if there is none, or none that can be
                understood.

        Its leftovers are the staging folders of runs that were killed.
        """
        self.path, self.old = path, old
        self.leftovers = [folder for folder in path.glob(f"{STAGING}*") if folder.is_dir()]
        self.staging, self.run = (path / f"{prefix}{uuid.uuid4().hex}" for prefix in (STAGING, RUN))
        self._old_files: dict[str, dict[str, int]] = {table: {} for table in TABLES}
        self._new_files: dict[str, dict[str, int]] = {table: {} for table in TABLES}

    def make_staging(self) -> Path:
        """The folder that tasks write to, with one for each table in it.

        Raises:
            CannotOpen: the file system has no symbolic links.
        """
        for table in TABLES:
            (self.staging / table).mkdir(parents=True, exist_ok=True)
        try:
            (self.staging / CURRENT).symlink_to(self.run.name)
        except OSError:
            raise CannotOpen(
                self.path,
                message("errors.no_symbolic_links"),
                message("errors.give_folder_elsewhere"),
            ) from None
        return self.staging

    def keep(self, segments: Sequence[StoredSegment]) -> list[StoredSegment]:
        """Takes these segments' rows over from the old catalog.

        Their spans change where a file had others' rows too.
        """
        new_ranges: dict[tuple[str, RowRange], RowRange] = {}
        for table in TASK_TABLES:
            by_file: dict[str, list[RowRange]] = defaultdict(list)
            for segment in segments:
                for span in segment.spans.get(table, ()):
                    by_file[span.file].append(span)
            for file, spans in by_file.items():
                new_ranges |= {
                    (table, old): new for old, new in self._carry_over(table, file, spans)
                }
        return [_with_spans(segment, new_ranges) for segment in segments]

    def add(self, segments: Iterable[StoredSegment]) -> None:
        """Takes in the files that the tasks wrote for these segments.

        A file that none of them names is left behind.
        """
        for segment in segments:
            for table, spans in segment.spans.items():
                for span in spans:
                    self._new_files[table][span.file] = (
                        self._new_files[table].get(span.file, 0) + span.rows
                    )

    def write(self, table: str, rows: pa.Table) -> None:
        """A table, whole, as one file."""
        self._write(table, [rows])

    def commit(
        self,
        sources: Sequence[CatalogSource],
        segments: Sequence[StoredSegment],
        problems: Sequence[Problem],
    ) -> CatalogInfo:
        """Makes all that was kept, added and written the catalog."""
        files = {table: self._old_files[table] | self._new_files[table] for table in TABLES}
        info = CatalogInfo(version(), tuple(sources), files, tuple(segments), tuple(problems))
        for table in TABLES:
            (self.run / table).mkdir(parents=True)
            for name in self._new_files[table]:
                (self.staging / table / name).rename(self.run / table / name)
            for name in self._old_files[table]:
                link_file(self.path / table / name, self.run / table / name)
        (self.run / NAME).write_text(json.dumps(to_json(info), separators=(",", ":")))
        self._sync()
        for name in (*TABLES, NAME):
            self._lead_to_current(name)
        self._replace_current(self.staging / CURRENT)
        _sync(self.path)
        return info

    def _sync(self) -> None:
        """Waits until what this run wrote is on the disk.

        A crash of the machine must not leave the link to it, and nothing of the catalog that it
        replaced.
        """
        for table in TABLES:
            for name in self._new_files[table]:
                _sync(self.run / table / name)
            _sync(self.run / table)
        _sync(self.run / NAME)
        _sync(self.run)

    def _lead_to_current(self, name: str) -> None:
        """Makes a table's folder, or the description, the link that it stays.

        What a format before 8 had there goes to where the link leads, so that its rows are seen
        until the swap.
        """
        link, target = self.path / name, f"{CURRENT}/{name}"
        if link.is_symlink() and os.readlink(link) == target:
            return
        if os.path.lexists(link):
            if not (self.path / CURRENT).exists():
                former = self.path / f"{RUN}{uuid.uuid4().hex}"
                former.mkdir()
                (self.staging / "former").symlink_to(former.name)
                self._replace_current(self.staging / "former")
            destination = self.path / CURRENT / name
            link.rename(
                self.staging / f"{name}.was" if os.path.lexists(destination) else destination
            )
        link.symlink_to(target)

    def _replace_current(self, link: Path) -> None:
        current = self.path / CURRENT
        if current.is_dir() and not current.is_symlink():  # a copy that followed links
            current.rename(self.staging / f"{CURRENT}.was")
        os.replace(link, current)

    def _carry_over(
        self, table: str, file: str, spans: list[RowRange]
    ) -> Iterator[tuple[RowRange, RowRange]]:
        """Each span and where its rows are from now on.

        In the same file if nothing else was in it, else in a new one.
        """
        spans = sorted(spans, key=lambda span: span.first_row)
        rows = cast(CatalogInfo, self.old).tables[table][file]
        if sum(span.rows for span in spans) == rows:
            self._old_files[table][file] = rows
            yield from zip(spans, spans, strict=True)
            return
        name, first_row = self._write(table, slice_rows(self.path / table / file, spans)), 0
        for span in spans:
            yield span, RowRange(name, first_row, span.rows)
            first_row += span.rows

    def _write(self, table: str, parts: Iterable[pa.Table]) -> str:
        """One new file of these rows; its name."""
        name = write_rows(self.staging, table, parts)
        self._new_files[table][name] = pq.read_metadata(self.staging / table / name).num_rows
        return name


@contextmanager
def catalog_transaction(path: Path) -> Generator[CatalogTransaction]:
    """Locks the catalog's folder, which is created if need be, for one run.

    Whatever the run has not committed is removed afterwards.

    Raises:
        CatalogBusy: another run has the lock.
        CannotOpen: the folder holds something else.
    """
    with translate_os_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()) and not any((path / name).is_file() for name in (NAME, LOCK)):
            raise CannotOpen(
                path, message("errors.holds_other_files"), message("errors.give_new_folder")
            )
    with _hold_lock(path):
        transaction = CatalogTransaction(path, _read_old(path))
        _sweep(path)
        try:
            yield transaction
        finally:
            for folder in (transaction.staging, *transaction.leftovers):
                shutil.rmtree(folder, ignore_errors=True)
            if _current(path) != transaction.run:
                shutil.rmtree(transaction.run, ignore_errors=True)


@contextmanager
def _hold_lock(path: Path) -> Generator[None]:
    """A lock that ends with its process, however that ends."""
    with translate_os_errors(path):
        file = open(path / LOCK, "a+")  # noqa: SIM115 - closed below; what happens meanwhile is not about this file
    with file:
        _lock(path, file)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _lock(path: Path, file: TextIO) -> None:
    """Waits for a run of this process, a cancelled one that is about to end.

    Raises:
        CatalogBusy: a run of another process has the lock.
    """
    waits_until = time.monotonic() + OWN_RUN_ENDS_WITHIN_S
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip()
        if holder != str(os.getpid()) or time.monotonic() > waits_until:
            raise CatalogBusy(
                message(
                    "errors.catalog_busy",
                    path=path,
                    process=holder or message("common.unknown"),
                )
            )
        time.sleep(0.1)


def _read_old(path: Path) -> CatalogInfo | None:
    try:
        return read_info(path)
    except CannotOpen:
        return None


def _sweep(path: Path) -> None:
    """Deletes the catalog before the last one, and those that were never linked to."""
    current = _current(path)
    for folder in path.glob(f"{RUN}*"):
        if folder != current:
            shutil.rmtree(folder, ignore_errors=True)


def _current(path: Path) -> Path | None:
    """The folder of the run whose catalog holds."""
    try:
        return path / os.readlink(path / CURRENT)
    except OSError:
        return None


def write_rows(staging: Path, table: str, parts: Iterable[pa.Table]) -> str:
    """A new file of these rows in a staging folder; its name."""
    name = f"{table}-{uuid.uuid4().hex}.parquet"
    with pq.ParquetWriter(staging / table / name, TABLES[table], compression="zstd") as writer:
        for rows in parts:
            writer.write_table(rows)
    return name


def link_file(file: Path, link: Path) -> None:
    """The same file in another folder.

    A copy where another user wrote it, or the file system has no hard links.
    """
    try:
        os.link(file, link)
    except OSError:
        shutil.copyfile(file, link)


def _sync(path: Path) -> None:
    """Waits until a file's bytes, or a folder's names, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def slice_rows(path: Path, spans: Sequence[RowRange]) -> Iterator[pa.Table]:
    """Rows of a Parquet file, a row group at a time; spans in order of their rows."""
    with pq.ParquetFile(path) as file:
        first_row = 0
        for group in range(file.num_row_groups):
            end_row = first_row + file.metadata.row_group(group).num_rows
            row_ranges = [
                (max(span.first_row, first_row), min(span.first_row + span.rows, end_row))
                for span in spans
            ]
            row_ranges = [(start, end) for start, end in row_ranges if start < end]
            if row_ranges:
                rows = file.read_row_group(group)
                yield pa.concat_tables(
                    rows.slice(start - first_row, end - start) for start, end in row_ranges
                )
            first_row = end_row


def _with_spans(
    segment: StoredSegment, new_ranges: dict[tuple[str, RowRange], RowRange]
) -> StoredSegment:
    spans = {
        table: tuple(new_ranges[table, span] for span in spans)
        for table, spans in segment.spans.items()
    }
    return replace(segment, spans=spans)
