"""The swap: at whatever point a run ends, the catalog is whole; two runs do not meet; nothing else in a folder is harmed."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.pipeline import catalog, commit
from kafkaviz.pipeline.catalog_info import CatalogInfo, Span, StoredSegment
from kafkaviz.pipeline.commit import Busy, workplace
from kafkaviz.pipeline.schema import TABLES

SLOTS = TABLES["time_entries"]


def slot_rows(numbers: list[int]) -> pa.Table:
    """Rows of time_entries, told apart by their slot."""
    rows = [{"broker": "b", "topic": "t", "partition": 0, "segment_base_offset": 0, "slot": number} for number in numbers]
    return pa.Table.from_pylist(rows, SLOTS)


def stored(base_offset: int, *spans: Span) -> StoredSegment:
    """A segment with rows in time_entries."""
    return StoredSegment("b", "t-0", base_offset, "", {}, {"time_entries": spans} if spans else {})


def task_file(staging: Path, name: str, numbers: list[int], row_group: int = 4) -> None:
    """What a task leaves in the staging folder."""
    pq.write_table(slot_rows(numbers), staging / "time_entries" / f"time_entries-{name}.parquet", row_group_size=row_group)


def span(name: str, first_row: int, rows: int) -> Span:
    return Span(f"time_entries-{name}.parquet", first_row, rows)


@pytest.fixture
def out(tmp_path) -> Path:
    """A catalog of three segments with slots 0-9, 10-14 and 15-19, all in one file."""
    path = tmp_path / "catalog"
    with workplace(path) as place:
        task_file(place.make_staging(), "old", list(range(20)))
        segments = [stored(0, span("old", 0, 10)), stored(1, span("old", 10, 5)), stored(2, span("old", 15, 5))]
        place.add(segments)
        place.write("segments", TABLES["segments"].empty_table())
        place.commit([], segments, [])
    return path


def slots(path: Path) -> list[int]:
    return catalog.read(path).table("time_entries")["slot"].to_pylist()


def files(path: Path) -> dict[str, bytes]:
    """Every file of a catalog but its lock and what is staged."""
    found = [one for one in path.rglob("*") if one.is_file() and one.name != commit.LOCK and commit.STAGING not in str(one)]
    return {str(one.relative_to(path)): one.read_bytes() for one in found}


def test_what_is_kept_keeps_its_rows(out):
    """The middle segment goes: its rows leave the file that its neighbours stay in."""
    with workplace(out) as place:
        place.make_staging()
        kept = place.keep([place.old.segments[0], place.old.segments[2]])
        place.commit([], kept, [])
    assert slots(out) == [*range(10), *range(15, 20)]
    assert [[(one.first_row, one.rows) for one in segment.spans["time_entries"]] for segment in kept] == [[(0, 10)], [(10, 5)]]
    assert len(list((out / "time_entries").iterdir())) == 1


def test_a_file_that_is_kept_whole_is_not_written_again(out):
    """It stays under its name."""
    before = files(out / "time_entries")
    with workplace(out) as place:
        place.make_staging()
        place.commit([], place.keep(place.old.segments), [])
    assert files(out / "time_entries") == before


def test_a_segment_in_several_spans_is_kept(out):
    """As one that was read in stretches has them."""
    with workplace(out) as place:
        staging = place.make_staging()
        task_file(staging, "more", [20, 21, 22])
        new = [stored(3, span("more", 0, 2)), stored(4, span("more", 2, 1))]
        place.add(new)
        kept = place.keep(place.old.segments)
        both = stored(2, *kept[2].spans["time_entries"], *new[0].spans["time_entries"])
        place.commit([], [*kept[:2], both, new[1]], [])
    with workplace(out) as place:
        place.make_staging()
        (kept,) = place.keep([place.old.segments[2]])
        place.commit([], [kept], [])
    assert sorted(slots(out)) == [15, 16, 17, 18, 19, 20, 21]


def test_only_named_files_are_taken_in(out):
    """What a failed attempt wrote is thrown away with the staging folder."""
    with workplace(out) as place:
        staging = place.make_staging()
        task_file(staging, "lost", [90, 91])
        task_file(staging, "good", [20, 21])
        new = stored(3, span("good", 0, 2))
        place.add([new])
        place.commit([], [*place.keep(place.old.segments), new], [])
    assert slots(out) == list(range(22))
    assert not list(out.glob(f"{commit.STAGING}*")) and len(list((out / "time_entries").iterdir())) == 2


def holding(out: Path, then: str) -> list[str]:
    """A process that holds the catalog while it does something."""
    lines = ["import time", "from pathlib import Path", "from kafkaviz.pipeline.commit import workplace"]
    return [sys.executable, "-c", "\n".join([*lines, f"with workplace(Path({str(out)!r})): {then}"])]


class Killed(BaseException):
    """Ends a run as a kill would: no handler of an Exception sees it."""


@pytest.mark.parametrize("point", range(1, 8))
def test_a_run_that_ends_anywhere_leaves_a_whole_catalog(out, monkeypatch, point):
    """Every rename and every write of the commit in turn is the one that does not happen; the next run sweeps and goes on."""
    before, calls = slots(out), []

    def ends(original):
        def call(*given, **named):
            calls.append(original)
            if len(calls) == point:
                raise Killed
            return original(*given, **named)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", ends(Path.rename))
        patch.setattr(Path, "write_text", ends(Path.write_text))
        patch.setattr(Path, "unlink", ends(Path.unlink))
        patch.setattr(os, "replace", ends(os.replace))
        patch.setattr(commit.shutil, "rmtree", lambda *given, **named: None)  # a killed run tidies nothing up
        try:
            with workplace(out) as place:
                task_file(place.make_staging(), "new", [70, 71, 72])
                new = stored(7, span("new", 0, 3))
                place.add([new])
                place.write("segments", TABLES["segments"].empty_table())
                place.commit([], [*place.keep(place.old.segments[:1]), new], [])
            ended = False
        except Killed:
            ended = True
    after = [70, 71, 72, *range(10)]
    assert ended == (point <= len(calls)) and slots(out) in (before, after)
    assert slots(out) == before or os.replace in calls
    kept = slots(out)
    with workplace(out):
        pass
    assert slots(out) == kept
    named = {name for table, names in catalog.read(out).info.tables.items() for name in names}
    assert {path.name for table in TABLES for path in (out / table).glob("*")} == named
    assert not list(out.glob(f"{commit.STAGING}*"))


def test_seven_points_are_all_there_are(out, monkeypatch):
    """So that a further step of the commit is not left out above."""
    calls = []
    for owner, name in ((Path, "rename"), (Path, "write_text"), (Path, "unlink"), (os, "replace")):
        original = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given, _call=original, **named: calls.append(_call) or _call(*given, **named))
    with workplace(out) as place:
        task_file(place.make_staging(), "new", [70, 71, 72])
        new = stored(7, span("new", 0, 3))
        place.add([new])
        place.write("segments", TABLES["segments"].empty_table())
        place.commit([], [*place.keep(place.old.segments[:1]), new], [])
    assert len(calls) == 7


def test_a_run_that_does_not_commit_changes_nothing(out):
    """An exception, or simply no commit."""
    before = files(out)
    with workplace(out) as place:
        task_file(place.make_staging(), "new", [70])
        place.keep(place.old.segments[:1])
    assert files(out) == before and not list(out.glob(f"{commit.STAGING}*"))


def test_another_process_is_told_who_writes(out):
    """One line with the process that holds the catalog."""
    with workplace(out):
        other = subprocess.run(holding(out, "pass"), capture_output=True, text=True)
    assert other.stderr.splitlines()[-1].endswith(
        f"Busy: {out} is being written by another run (process {os.getpid()}); wait for it to end"
    )
    assert subprocess.run(holding(out, "pass")).returncode == 0


def test_a_lock_ends_with_its_process(out):
    """However it ends: kill -9 leaves no lock behind."""
    command = holding(out, "print('held', flush=True); time.sleep(60)")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(Busy), workplace(out):
            pass
        other.kill()
    with workplace(out) as place:
        assert place.old is not None


def test_a_run_of_this_process_is_waited_for(out, monkeypatch):
    """A cancelled one may still be ending; beyond its time it counts as any other."""
    held, ended = threading.Event(), []

    def first() -> None:
        with workplace(out):
            held.set()
            time.sleep(0.3)
            ended.append(True)

    thread = threading.Thread(target=first)
    thread.start()
    held.wait()
    with workplace(out):
        assert ended == [True]
        monkeypatch.setattr(commit, "OWN_RUN_ENDS_WITHIN_S", 0.1)
        with pytest.raises(Busy), workplace(out):
            pass
    thread.join()


def test_a_folder_with_other_things_is_refused(tmp_path):
    """Nobody's files are swept because a catalog was meant to go elsewhere."""
    (tmp_path / "batches").mkdir()
    mine = tmp_path / "batches" / "batches-mine.parquet"
    mine.write_text("mine")
    with pytest.raises(CannotOpen, match="holds other files"), workplace(tmp_path):
        pass
    assert mine.read_text() == "mine" and [path.name for path in tmp_path.iterdir()] == ["batches"]


def test_a_file_is_no_folder_for_a_catalog(tmp_path):
    """One line, of the path that was given."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotOpen, match="file exists"), workplace(tmp_path / "file"):
        pass


def test_a_catalog_that_cannot_be_understood_is_replaced(out):
    """Of another format, or broken: its rows cannot be kept."""
    (out / "_catalog.json").write_text("{}")
    with workplace(out) as place:
        assert place.old is None
        place.make_staging()
        assert isinstance(place.commit([], [], []), CatalogInfo)
    assert slots(out) == []
