"""Replaces a catalog: writes a new one next to it, then renames one link.

A lock ensures that only one ingest at a time replaces the catalog.

    OUT/.staging-RUN/batches/…    files written by tasks of this run, also by failed attempts
    OUT/.run-RUN/batches/…        the new catalog: merged files (merge_files.py) and hard links to
                                  files that are kept
    OUT/.run-RUN/_catalog.json
    OUT/batches, _catalog.json    symbolic links to .current/batches and so on, created once
    OUT/.current                  a symbolic link to .run-RUN, replaced at the end

The catalog is complete at any time, even if the ingest is killed. The next ingest removes what a
killed ingest has left behind. One exception: a catalog of format 7 has folders in place of links.
While such a folder is moved, it is missing.

The previous .run folder stays until the next ingest starts, because another program may still be
reading its files. A file name is never used again for other content.
"""

import fcntl
import json
import os
import shutil
import time
import uuid
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.log.broker import Problem
from kafkaviz.log.file import translate_os_errors
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog import arrow_columns, catalog_info
from kafkaviz.pipeline.catalog.catalog import NAME, Catalog, read
from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo, CatalogSource, Spans
from kafkaviz.pipeline.catalog.schema import TABLES, TASK_TABLES
from kafkaviz.pipeline.ingest import merge_files

LOCK = "_catalog.lock"
STAGING = ".staging-"
RUN = ".run-"
CURRENT = ".current"
WAIT_FOR_OWN_RUN_S = 30
# For tables that the driver writes: the most rows kept as dictionaries, and the rows per row group.
DICTS_AT_ONCE = 256
ROWS_AT_ONCE = 1024


class CatalogBusy(KafkavizError):
    """Another ingest is writing this catalog."""


class RowWriter:
    """Writes a Parquet file of a table row by row."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """Creates the file without rows. `schema` may have only some columns of the table."""
        self.path = path
        self.rows = 0
        self._schema = schema
        self._writer = pq.ParquetWriter(path, schema, compression="zstd")
        self._dicts: list[Mapping[str, Any]] = []
        self._parts: list[pa.Table] = []

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            self._dicts.append(row)
            if len(self._dicts) >= DICTS_AT_ONCE:
                self._take_dicts()

    def add_table(self, rows: pa.Table) -> None:
        self._take_dicts()
        self._append(rows)

    def _append(self, rows: pa.Table) -> None:
        self._parts.append(rows)
        self.rows += rows.num_rows
        if sum(part.num_rows for part in self._parts) >= ROWS_AT_ONCE:
            self._flush()

    def close(self) -> None:
        self._take_dicts()
        self._flush()
        self._writer.close()

    def _take_dicts(self) -> None:
        if self._dicts:
            rows = arrow_columns.table(self._dicts, self._schema)
            self._dicts = []
            self._append(rows)

    def _flush(self) -> None:
        if self._parts:
            self._writer.write_table(pa.concat_tables(self._parts))
            self._parts = []


class CatalogTransaction:
    """The catalog's folder while one ingest holds the lock; see `catalog_transaction`."""

    def __init__(self, path: Path, old: Catalog | None) -> None:
        self.path = path
        self.old = old  # the present catalog; None: there is none, or it cannot be read
        # the staging folders of killed ingests
        self.leftovers = [folder for folder in path.glob(f"{STAGING}*") if folder.is_dir()]
        self.staging, self.run = (path / f"{prefix}{uuid.uuid4().hex}" for prefix in (STAGING, RUN))
        self._runs: dict[str, dict[tuple[Path, str], merge_files.RowRuns]] = {
            table: defaultdict(merge_files.RowRuns) for table in TASK_TABLES
        }
        self._layouts = {table: merge_files.TableLayout() for table in TASK_TABLES}
        self._new_files: dict[str, dict[str, int]] = {table: {} for table in TABLES}

    def make_staging(self) -> Path:
        """Creates the folder that tasks write to.

        Raises CannotOpen if symbolic links cannot be created there.
        """
        for table in TABLES:
            (self.staging / table).mkdir(parents=True, exist_ok=True)
        try:
            (self.staging / CURRENT).symlink_to(self.run.name)
        except OSError:
            advice = message("errors.give_folder_elsewhere")
            raise CannotOpen(self.path, message("errors.no_symbolic_links"), advice) from None
        return self.staging

    def keep(self, spans: Spans) -> None:
        """Marks rows of the old catalog as part of the new catalog."""
        self._count(self.path, spans)

    def add(self, spans: Spans) -> None:
        """Marks rows written by tasks as part of the new catalog. Unmarked rows are dropped."""
        self._count(self.staging, spans)

    def _count(self, folder: Path, spans: Spans) -> None:
        for table, table_spans in spans.items():
            for span in table_spans:
                self._runs[table][folder, span.file].add(span)

    def lay_out(self) -> list[merge_files.MergeTask]:
        """Decides which file each kept or added row goes to.

        Returns the files that merge_files.merge must then write into the staging folder.
        """
        for table, table_runs in self._runs.items():
            sources = []
            for (folder, file), runs in table_runs.items():
                path = folder / table / file
                rows = pq.read_metadata(path).num_rows
                size_bytes = path.stat().st_size
                sources.append(merge_files.RowSource(path, runs.joined(), rows, size_bytes))
            self._layouts[table] = merge_files.plan_layout(table, sources)
            table_runs.clear()
        return [task for layout in self._layouts.values() for task in layout.merges]

    def moved(self, spans: Spans) -> Spans:
        """Returns where kept or added rows are in the files of the new catalog."""
        return {
            table: tuple(map(self._layouts[table].find, table_spans))
            for table, table_spans in spans.items()
        }

    @contextmanager
    def writer(self, table: str) -> Generator[RowWriter]:
        """Yields a writer for the rows of a table. All rows go into a single new file."""
        name = f"{table}-{uuid.uuid4().hex}.parquet"
        with ExitStack() as stack:
            writer = RowWriter(self.staging / table / name, TABLES[table])
            stack.callback(writer.close)
            yield writer
        self._new_files[table][name] = writer.rows

    def commit(
        self,
        sources: Sequence[CatalogSource],
        problems: Sequence[Problem] = (),
        suffixes: Mapping[str, int] | None = None,
    ) -> CatalogInfo:
        """Replaces the catalog with everything that was kept, added and written."""
        old_files: dict[str, dict[str, int]] = {table: {} for table in TABLES}
        for table, layout in self._layouts.items():
            self._new_files[table] |= {task.name: task.rows for task in layout.merges}
            for source in layout.unchanged:
                is_new = source.path.parent.parent == self.staging
                files = self._new_files if is_new else old_files
                files[table][source.path.name] = source.total_rows
        files = {table: old_files[table] | self._new_files[table] for table in TABLES}
        info = CatalogInfo(
            kafkaviz=catalog_info.version(),
            sources=tuple(sources),
            tables=files,
            problems=tuple(problems),
            suffixes=suffixes or {},
        )
        for table in TABLES:
            (self.run / table).mkdir(parents=True)
            for name in self._new_files[table]:
                (self.staging / table / name).rename(self.run / table / name)
            for name in old_files[table]:
                link_file(self.path / table / name, self.run / table / name)
        (self.run / NAME).write_text(json.dumps(catalog_info.to_json(info), separators=(",", ":")))
        self._sync()  # otherwise .current could lead to incomplete files after a crash
        for name in (*TABLES, NAME):
            self._link_to_current(name)
        self._replace_current(self.staging / CURRENT)
        _sync(self.path)
        return info

    def _sync(self) -> None:
        for table in TABLES:
            for name in self._new_files[table]:
                _sync(self.run / table / name)
            _sync(self.run / table)
        _sync(self.run / NAME)
        _sync(self.run)

    def _link_to_current(self, name: str) -> None:
        """Creates a permanent link into .current for `name`, a table or the description.

        A catalog before format 8 has a folder or file in place of the link. This folder or file is
        first moved to the target of the link, so that its rows stay visible until the commit.
        """
        link = self.path / name
        target = f"{CURRENT}/{name}"
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
        if current.is_dir() and not current.is_symlink():  # the catalog was copied without links
            current.rename(self.staging / f"{CURRENT}.was")
        os.replace(link, current)


@contextmanager
def catalog_transaction(path: Path) -> Generator[CatalogTransaction]:
    """Locks the catalog's folder for one ingest, and creates it if necessary.

    On exit, everything that was not committed is removed. Raises CatalogBusy if another ingest has
    the lock, and CannotOpen if the folder contains something other than a catalog.
    """
    with translate_os_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()) and not any((path / name).is_file() for name in (NAME, LOCK)):
            advice = message("errors.give_new_folder")
            raise CannotOpen(path, message("errors.holds_other_files"), advice)
    with _hold_lock(path):
        old = None
        with suppress(CannotOpen):
            old = read(path)
        transaction = CatalogTransaction(path, old)
        for folder in path.glob(f"{RUN}*"):
            if folder != _current(path):
                shutil.rmtree(folder, ignore_errors=True)
        try:
            yield transaction
        finally:
            for folder in (transaction.staging, *transaction.leftovers):
                shutil.rmtree(folder, ignore_errors=True)
            if _current(path) != transaction.run:
                shutil.rmtree(transaction.run, ignore_errors=True)


@contextmanager
def _hold_lock(path: Path) -> Generator[None]:
    with translate_os_errors(path):
        file = open(path / LOCK, "a+")  # noqa: SIM115 - closed below, where errors are not about this file
    with file:
        _lock(path, file)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _lock(path: Path, file: TextIO) -> None:
    """Locks the file. Waits up to 30 s if an earlier ingest of this process has the lock.

    Raises CatalogBusy if another process has the lock.
    """
    waits_until = time.monotonic() + WAIT_FOR_OWN_RUN_S
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip()
        if holder != str(os.getpid()) or time.monotonic() > waits_until:
            process = holder or message("common.unknown")
            raise CatalogBusy(message("errors.catalog_busy", path=path, process=process))
        time.sleep(0.1)


def _current(path: Path) -> Path | None:
    try:
        return path / os.readlink(path / CURRENT)
    except OSError:
        return None


def link_file(file: Path, link: Path) -> None:
    try:
        os.link(file, link)
    except OSError:  # another user owns the file, or the file system has no hard links
        shutil.copyfile(file, link)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
