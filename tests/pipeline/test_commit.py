"""The commit: a complete catalog whenever a run ends; two runs exclude each other."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo, RowRange, StoredSegment, to_row
from kafkaviz.pipeline.catalog.schema import TABLES
from kafkaviz.pipeline.ingest import commit, merge_files
from kafkaviz.pipeline.ingest.commit import CatalogBusy, CatalogTransaction, catalog_transaction
from tests.pipeline.catalog_rows import stored_segments

SLOTS = TABLES["time_entries"]


def slot_rows(numbers: list[int]) -> pa.Table:
    rows = [
        {"broker": "b", "topic": "t", "partition": 0, "segment_base_offset": 0, "slot": number}
        for number in numbers
    ]
    return pa.Table.from_pylist(rows, SLOTS)


def stored(base_offset: int, *spans: RowRange) -> StoredSegment:
    return StoredSegment(
        broker="b",
        directory="t-0",
        base_offset=base_offset,
        suffix="",
        files={},
        spans={"time_entries": spans} if spans else {},
    )


def commit_segments(
    place: CatalogTransaction, kept: Iterable[StoredSegment] = (), new: Iterable[StoredSegment] = ()
) -> list[StoredSegment]:
    """Commits a catalog of kept segments, and new ones with rows that tasks wrote."""
    kept, new = list(kept), list(new)
    for segment in kept:
        place.keep(segment.spans)
    for segment in new:
        place.add(segment.spans)
    for task in place.lay_out():
        merge_files.merge(task, place.staging)
    moved = [replace(segment, spans=place.moved(segment.spans)) for segment in (*kept, *new)]
    with place.writer("stamps") as stamps:
        stamps.add(map(to_row, moved))
    with place.writer("segments") as segments:
        segments.add([])
    place.commit([])
    return moved


def commit_kept(out: Path, chosen: slice = slice(None)) -> list[StoredSegment]:
    """Commits a run that keeps these segments of the one before."""
    with catalog_transaction(out) as place:
        place.make_staging()
        return commit_segments(place, stored_segments(out)[chosen])


def task_file(staging: Path, name: str, numbers: list[int]) -> None:
    path = staging / "time_entries" / f"time_entries-{name}.parquet"
    pq.write_table(slot_rows(numbers), path, row_group_size=4)


def span(name: str, first_row: int, rows: int) -> RowRange:
    return RowRange(f"time_entries-{name}.parquet", first_row, rows)


@pytest.fixture
def out(tmp_path) -> Path:
    """Returns a catalog of three segments with slots 0-9, 10-14 and 15-19, all in one file."""
    path = tmp_path / "catalog"
    with catalog_transaction(path) as place:
        task_file(place.make_staging(), "old", list(range(20)))
        places = ((0, 10), (10, 5), (15, 5))
        commit_segments(place, new=[stored(n, span("old", *at)) for n, at in enumerate(places)])
    return path


def slots(path: Path) -> list[int]:
    return catalog.read(path).table("time_entries")["slot"].to_pylist()


def by_folder(path: Path) -> list[int] | None:
    """Returns the rows of a listing of the table's folder, or None if there is none."""
    try:
        return [
            slot
            for file in sorted((path / "time_entries").iterdir())
            for slot in pq.read_table(file)["slot"].to_pylist()
        ]
    except FileNotFoundError:
        return None


def by_dataset(path: Path) -> list[int]:
    """Returns the rows of a pyarrow dataset of the folder that the table's link leads to."""
    return ds.dataset((path / "time_entries").resolve()).to_table()["slot"].to_pylist()


def files(path: Path) -> dict[str, bytes]:
    paths = [
        path_
        for path_ in path.rglob("*")
        if path_.is_file() and path_.name != commit.LOCK and commit.STAGING not in str(path_)
    ]
    return {str(file.relative_to(path)): file.read_bytes() for file in paths}


def test_what_is_kept_keeps_its_rows(out):
    segments = commit_kept(out, slice(None, None, 2))
    assert slots(out) == [*range(10), *range(15, 20)]
    places = [
        [(span.first_row, span.rows) for span in segment.spans["time_entries"]]
        for segment in segments
    ]
    assert places == [[(0, 10)], [(10, 5)]]
    assert len(list((out / "time_entries").iterdir())) == 1


def test_a_file_that_is_kept_whole_is_not_written_again(out):
    before = {path.name: path.stat().st_ino for path in (out / "time_entries").iterdir()}
    commit_kept(out)
    assert {path.name: path.stat().st_ino for path in (out / "time_entries").iterdir()} == before


def test_a_file_that_cannot_be_linked_is_copied(out, monkeypatch):
    """Another user wrote it, or the file system has no hard links."""
    monkeypatch.setattr(os, "link", refuse)
    commit_kept(out)
    assert slots(out) == by_folder(out) == list(range(20))


def test_a_file_system_without_links_is_reported(tmp_path, monkeypatch):
    """One line before anything is read; only the lock is left."""
    monkeypatch.setattr(os, "symlink", refuse)
    with (
        pytest.raises(CannotOpen, match="file system without symbolic links"),
        catalog_transaction(tmp_path / "catalog") as place,
    ):
        place.make_staging()
    assert [path.name for path in (tmp_path / "catalog").iterdir()] == [commit.LOCK]


def refuse(*arguments: object, **options: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_a_segment_in_several_spans_is_kept(out):
    with catalog_transaction(out) as place:
        staging = place.make_staging()
        task_file(staging, "more", [20, 21, 22])
        new = [stored(3, span("more", 0, 2)), stored(4, span("more", 2, 1))]
        commit_segments(place, stored_segments(out), new)
    *others, third, more, last = stored_segments(out)
    both = stored(2, *third.spans["time_entries"], *more.spans["time_entries"])
    with catalog_transaction(out) as place:
        place.make_staging()
        commit_segments(place, [*others, last, both])
    commit_kept(out, slice(-1, None))
    assert sorted(slots(out)) == [15, 16, 17, 18, 19, 20, 21]


def test_only_named_files_are_taken_in(out):
    with catalog_transaction(out) as place:
        staging = place.make_staging()
        task_file(staging, "lost", [90, 91])
        task_file(staging, "good", [20, 21])
        commit_segments(place, stored_segments(out), [stored(3, span("good", 0, 2))])
    assert slots(out) == list(range(22))
    assert not list(out.glob(f"{commit.STAGING}*"))
    assert len(list((out / "time_entries").iterdir())) == 1


def lock_holder(out: Path, then: str) -> list[str]:
    """Returns the command of a process that holds the catalog's lock."""
    code = (
        "import time; from pathlib import Path\n"
        "from kafkaviz.pipeline.ingest.commit import catalog_transaction\n"
        f"with catalog_transaction(Path({str(out)!r})): {then}"
    )
    return [sys.executable, "-c", code]


class Killed(BaseException):
    """Ends a run like a kill: no handler of Exception sees it."""


CALLS = ("rename", "replace", "link", "symlink", "mkdir", "unlink")  # of os, which pathlib goes by
EACH_CALL = pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.nightly)])


def commit_others(out: Path) -> None:
    """Commits a run that keeps the first segment and adds one."""
    with catalog_transaction(out) as place:
        task_file(place.make_staging(), "new", [70, 71, 72])
        kept = stored_segments(out)[:1] if place.old else []
        commit_segments(place, kept, [stored(7, span("new", 0, 3))])


def at_each_step(monkeypatch, step: Callable[[], None], action: Callable[[], None]) -> None:
    def stepping(original: Callable) -> Callable:
        def call(*arguments: object, **options: object) -> object:
            step()
            return original(*arguments, **options)

        return call

    with monkeypatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, stepping(getattr(os, name)))
        patch.setattr(Path, "write_text", stepping(Path.write_text))
        # a killed run tidies nothing up
        patch.setattr(commit.shutil, "rmtree", lambda *arguments, **options: None)
        action()


def killed_at(
    monkeypatch, point: int, action: Callable[[], None], look: Callable[[], None] = lambda: None
) -> bool:
    """Returns whether the action had an n-th call that changes a folder, at which it was ended.

    `look` is called before each of them.
    """
    steps = count(1)

    def step() -> None:
        look()
        if next(steps) == point:
            raise Killed

    try:
        at_each_step(monkeypatch, step, action)
    except Killed:
        return True
    return False


@EACH_CALL
def test_a_run_that_ends_anywhere_leaves_a_whole_catalog(out, monkeypatch, tmp_path, every):
    """Each call that changes a folder fails in turn; the next run cleans up and finishes.

    A listing of the folder and the description give the same rows: the old ones or the new ones.
    """
    before, after, ends = list(range(20)), [*range(10), 70, 71, 72], []
    for point in count(1, every):
        path = shutil.copytree(out, tmp_path / f"copy-{point}", symlinks=True)
        was_killed = killed_at(monkeypatch, point, lambda path=path: commit_others(path))
        slots_ = slots(path)
        assert sorted(by_folder(path)) == sorted(slots_) and slots_ in (before, after)
        with catalog_transaction(path):
            pass
        assert slots(path) == slots_ and sorted(by_folder(path)) == sorted(slots_)
        names = {name for table, names in catalog.read(path).info.tables.items() for name in names}
        assert {file.name for table in TABLES for file in (path / table).glob("*")} == names
        assert not list(path.glob(f"{commit.STAGING}*"))
        assert len(list(path.glob(f"{commit.RUN}*"))) == 1
        commit_others(path)
        assert sorted(slots(path)) == sorted(by_folder(path)) == sorted(after)
        ends.append(slots_ == after)
        if not was_killed:
            break
    assert ends == sorted(ends) and ends[-1] and 2 * len(TABLES) < point < 100


def test_what_a_run_wrote_is_on_the_disk_before_the_swap(out, monkeypatch):
    """A power failure must not leave the link without a catalog."""
    synced, at_swap, sync, swap = [], [], os.fsync, os.replace

    def sync_and_note(descriptor):
        sync(descriptor)
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")))

    def swap_and_note(link, target):
        at_swap.append(list(synced))
        swap(link, target)

    monkeypatch.setattr(os, "fsync", sync_and_note)
    monkeypatch.setattr(os, "replace", swap_and_note)
    commit_others(out)
    run = (out / commit.CURRENT).resolve()
    written = {path for path in run.rglob("*") if path.is_file() and path.stat().st_nlink == 1}
    assert len(written) > 2
    assert written | {run} <= set(at_swap[-1])
    assert synced[-1] == out


def test_who_lists_a_folder_meanwhile_sees_each_row_once(out, monkeypatch):
    views = []
    at_each_step(
        monkeypatch, lambda: views.append((by_folder(out), slots(out))), lambda: commit_others(out)
    )
    assert len(views) > 2 * len(TABLES)
    assert all(sorted(files) == sorted(expected) for files, expected in views)


def test_who_reads_a_folder_while_runs_commit_sees_each_row_once(out):
    """A reader sees the rows of one run, or an error, because listed files are deleted by the run
    after the next. pyarrow leaves out files that vanish after its listing, so its folder is
    resolved first, as docs/scale.md says.
    """
    runs_end, looked, views = threading.Event(), threading.Semaphore(0), []

    def look() -> None:
        while not runs_end.is_set():
            if (rows := by_folder(out)) is not None:
                views.append(sorted(rows))
            with suppress(FileNotFoundError):
                views.append(sorted(by_dataset(out)))
            looked.release()

    thread = threading.Thread(target=look)
    thread.start()
    runs = [[number * 10 + slot for slot in range(5)] for number in range(100, 115)]
    for number, numbers in enumerate(runs):
        with catalog_transaction(out) as place:
            staging = place.make_staging()
            half = len(numbers) // 2
            task_file(staging, f"a-{number}", numbers[:half])
            task_file(staging, f"b-{number}", numbers[half:])
            spans = (span(f"a-{number}", 0, half), span(f"b-{number}", 0, len(numbers) - half))
            commit_segments(place, new=[stored(0, *spans)])
        while looked.acquire(blocking=False):
            pass
        # a listing that the end of the run interrupts is complete before the next run starts
        assert looked.acquire(timeout=60)
    runs_end.set()
    thread.join()
    assert len({tuple(rows) for rows in views}) > 5
    assert not [rows for rows in views if rows not in ([*range(20)], *runs)]


def test_files_listed_before_a_swap_are_unchanged_or_missing(out):
    """By the table's folder, and by the folder of the run, which stays until the next one starts."""
    files, target = list((out / "time_entries").iterdir()), (out / "time_entries").resolve()
    commit_others(out)
    with pytest.raises(FileNotFoundError):
        pq.read_table(files[0])
    assert ds.dataset(target).to_table()["slot"].to_pylist() == list(range(20))
    links = sorted((out / "time_entries").iterdir())
    commit_kept(out)
    rows = [slot for file in links for slot in pq.read_table(file)["slot"].to_pylist()]
    assert sorted(rows) == [*range(10), 70, 71, 72]
    assert not target.exists()


def of_format_7(out: Path) -> None:
    """Returns the same catalog in the form before format 8: folders and a file instead of links.

    A killed run has left a file of its own.
    """
    run = (out / commit.CURRENT).resolve()
    for name in (*TABLES, catalog.NAME):
        (out / name).unlink()
        (run / name).rename(out / name)
    (out / commit.CURRENT).unlink()
    run.rmdir()
    document = json.loads((out / catalog.NAME).read_text())
    (out / catalog.NAME).write_text(json.dumps(document | {"format": 7}))


def generation(out: Path) -> set[str]:
    ages = {"old" if "old" in file.name else "new" for file in (out / "time_entries").glob("*")}
    if (out / catalog.NAME).exists():
        ages.add("old" if json.loads((out / catalog.NAME).read_text())["format"] == 7 else "new")
    return ages


@EACH_CALL
def test_a_catalog_of_the_format_before_is_replaced_as_a_whole(out, monkeypatch, tmp_path, every):
    """Wherever the run ends, tables of the old and new catalog are never mixed."""
    of_format_7(out)
    for point in count(1, every):
        path = Path(shutil.copytree(out, tmp_path / f"copy-{point}", symlinks=True))
        generations: list[set[str]] = []
        was_killed = killed_at(
            monkeypatch,
            point,
            lambda path=path: commit_others(path),
            lambda path=path, seen=generations: seen.append(generation(path)),
        )
        assert all(len(ages) <= 1 for ages in [*generations, generation(path)])
        assert by_folder(path) in (None, list(range(20)), [70, 71, 72])
        commit_others(path)
        assert slots(path)[:3] == by_folder(path)[-3:] == [70, 71, 72]
        assert generation(path) == {"new"}
        if not was_killed:
            break
    assert point > 3 * len(TABLES)


def test_a_copy_that_followed_links_is_a_catalog(out, tmp_path):
    """cp -rL or an upload makes one: it is read, and the next run makes links of it."""
    copy = Path(shutil.copytree(out, tmp_path / "copy"))
    assert (copy / commit.CURRENT).is_dir() and not (copy / commit.CURRENT).is_symlink()
    assert slots(copy) == by_folder(copy) == list(range(20))
    commit_others(copy)
    assert sorted(slots(copy)) == sorted(by_folder(copy)) == [*range(10), 70, 71, 72]
    assert (copy / "time_entries").is_symlink() and len(list(copy.glob(f"{commit.RUN}*"))) == 1


def test_a_run_that_does_not_commit_changes_nothing(out):
    before = files(out)
    with catalog_transaction(out) as place:
        task_file(place.make_staging(), "new", [70])
        place.keep(stored_segments(out)[0].spans)
        place.lay_out()
    assert files(out) == before and not list(out.glob(f"{commit.STAGING}*"))


def test_another_process_learns_who_writes(out):
    with catalog_transaction(out):
        other = subprocess.run(lock_holder(out, "pass"), capture_output=True, text=True)
    assert other.stderr.splitlines()[-1].endswith(
        f"Busy: {out} is being written by another run (process {os.getpid()}); wait for it to end"
    )


def test_a_lock_ends_with_its_process(out):
    command = lock_holder(out, "print('held', flush=True); time.sleep(60)")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(CatalogBusy), catalog_transaction(out):
            pass
        other.kill()
    with catalog_transaction(out) as place:
        assert place.old is not None


def test_a_run_of_this_process_is_waited_for(out, monkeypatch):
    """A cancelled run may still be ending; after its time it counts as any other."""
    is_locked, ended = threading.Event(), []

    def first() -> None:
        with catalog_transaction(out):
            is_locked.set()
            time.sleep(0.3)
            ended.append(True)

    thread = threading.Thread(target=first)
    thread.start()
    is_locked.wait()
    with catalog_transaction(out):
        assert ended == [True]
        monkeypatch.setattr(commit, "WAIT_FOR_OWN_RUN_S", 0.1)
        with pytest.raises(CatalogBusy), catalog_transaction(out):
            pass
    thread.join()


def test_a_folder_with_other_things_is_refused(tmp_path):
    """A mistyped catalog path must not delete someone's files."""
    (tmp_path / "batches").mkdir()
    mine = tmp_path / "batches" / "batches-mine.parquet"
    mine.write_text("mine")
    with (
        pytest.raises(CannotOpen, match="is neither empty nor a catalog"),
        catalog_transaction(tmp_path),
    ):
        pass
    assert mine.read_text() == "mine" and [path.name for path in tmp_path.iterdir()] == ["batches"]


def test_a_file_is_no_folder_for_a_catalog(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotOpen, match="file exists"), catalog_transaction(tmp_path / "file"):
        pass


def test_a_catalog_that_cannot_be_understood_is_replaced(out):
    (out / "_catalog.json").write_text("{}")
    with catalog_transaction(out) as place:
        assert place.old is None
        place.make_staging()
        assert isinstance(place.commit([]), CatalogInfo)
    assert slots(out) == []
