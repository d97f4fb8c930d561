"""Copied rows equal recomputed ones: two catalogs of one directory go through the same runs, and
only one copies rows.
"""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from kafkaviz.format.names import CLEAN_SHUTDOWN, SERVER_PROPERTIES
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.catalog.schema import TABLES
from kafkaviz.pipeline.ingest.stored_rows import UnchangedDirectories
from tests.support.brokers import copy_partitions

# but stamps: a full run places the rows of segments differently
DRIVER_TABLES = ("partitions", "segments", "findings", "restart_steps", "retention", "checked")
FOUR_PARTITIONS = ("accounts-0", "nulls-0", "refunds-0", "sensors-seconds-0")
DAY_NS = 86_400 * 10**9
RECOVERY_POINTS, LOG_STARTS = "recovery-point-offset-checkpoint", "log-start-offset-checkpoint"


def logs(broker: Path) -> list[Path]:
    return sorted(path for path in broker.glob("*-*/*.log") if not path.parent.name.startswith("_"))


def shift_time(path: Path, days: int) -> None:
    """Sets another modification time; the newest one counts as now."""
    newest_ns = max(log.stat().st_mtime_ns for log in logs(path.parents[1]))
    os.utime(path, ns=(newest_ns, newest_ns + days * DAY_NS))


def append_text(path: Path, text: str) -> None:
    """Appends to a small file, which may not exist yet."""
    path.write_text((path.read_text() if path.is_file() else "") + text)


def add_to_offsets(path: Path) -> None:
    """Moves the first topic-partition of a checkpoint by 7 offsets."""
    lines = path.read_text().splitlines()
    entry, _, offset = lines[2].rpartition(" ")
    path.write_text("\n".join([*lines[:2], f"{entry} {int(offset) + 7}", *lines[3:], ""]))


def cut_log(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def take_room(path: Path) -> None:
    """Writes the same bytes and time into a file with a hole."""
    data, times = path.read_bytes(), path.stat()
    path.unlink()
    with path.open("wb") as file:
        file.truncate(len(data) + (1 << 20))
        file.write(data)
    with path.open("rb+") as file:
        file.truncate(len(data))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


CHANGES = {
    "a log is touched": lambda broker: shift_time(logs(broker)[0], 0),
    "a log grows older": lambda broker: shift_time(logs(broker)[-1], -40),
    "a day passes": lambda broker: shift_time(logs(broker)[0], 1),
    "a year passes": lambda broker: shift_time(logs(broker)[0], 365),
    "a log is cut": lambda broker: cut_log(logs(broker)[-1]),
    "a recovery point moves": lambda broker: add_to_offsets(broker / RECOVERY_POINTS),
    "a log start moves": lambda broker: append_text(broker / LOG_STARTS, "0\n1\nstranger 0 9\n"),
    "a small file grows": lambda broker: append_text(
        logs(broker)[0].parent / "leader-epoch-checkpoint", "nonsense\n"
    ),
    "a stranger appears": lambda broker: append_text(logs(broker)[2].parent / "stranger", "x"),
    "room is freed": lambda broker: take_room(logs(broker)[1]),
    "a limit is set": lambda broker: append_text(
        broker / SERVER_PROPERTIES, "log.retention.bytes=4096\nlog.segment.bytes=1048576\n"
    ),
    "a directory goes": lambda broker: shutil.rmtree(logs(broker)[0].parent),
    "a directory comes": lambda broker: shutil.copytree(
        logs(broker)[-1].parent, broker / "another-0"
    ),
    "it is killed": lambda broker: (broker / CLEAN_SHUTDOWN).unlink(missing_ok=True),
}


@pytest.fixture
def copies(monkeypatch) -> list[bool]:
    """Returns, per directory, whether its rows were copied."""
    results, spans = [], UnchangedDirectories.spans

    def note(self: UnchangedDirectories, *arguments: object) -> object:
        found = spans(self, *arguments)
        results.append(found is not None)
        return found

    monkeypatch.setattr(UnchangedDirectories, "spans", note)
    return results


@pytest.mark.parametrize(
    "sample",
    ["killed", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("clean", "damaged"))],
)
@pytest.mark.parametrize("findings", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_copied_rows_are_those_that_would_be_made(
    sample, findings, request, in_process, tmp_path, copies
):
    broker = tmp_path / "broker"
    shutil.copytree(request.getfixturevalue(sample), broker, symlinks=True)
    out, out_without = tmp_path / "out", tmp_path / "without"
    for change in (lambda broker: None, *CHANGES.values()):
        change(broker)
        in_process(broker, catalog=out, findings=findings)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(UnchangedDirectories, "spans", lambda *arguments: None)
            in_process(broker, catalog=out_without, findings=findings)
        assert all_rows(out) == all_rows(out_without), change
    assert copies.count(True) > len(CHANGES)


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "room is freed"])
def test_each_change_is_noticed_by_itself(name, clean, in_process, tmp_path, copies):
    """Each leaves some directories unchanged, except a kill and a limit, which concern all of them.

    No run looks at a file's allocated size.
    """
    broker, out = copy_partitions(clean, tmp_path / "broker", FOUR_PARTITIONS), tmp_path / "out"
    in_process(broker, catalog=out, findings=True)
    CHANGES[name](broker)
    in_process(broker, catalog=out, findings=True)
    copied = copies[-len(list(broker.glob("*-*/"))) :]
    rows = driver_rows(out)
    in_process(broker, catalog=out, findings=True, full=True)
    assert rows == driver_rows(out)
    assert (True in copied) == (name not in ("it is killed", "a limit is set"))


def driver_rows(out: Path) -> dict[str, list]:
    return {name: catalog.read(out).table(name).to_pylist() for name in DRIVER_TABLES}


def test_one_change_recomputes_one_directory(clean, in_process, tmp_path, copies):
    """Besides it, one with records ahead of the clock and one with an open transaction; all others
    are copied, for a broker of 37 directories or of 2 000.
    """
    broker, out = tmp_path / "broker", tmp_path / "out"
    shutil.copytree(clean, broker)
    in_process(broker, catalog=out, findings=True)
    assert not copies
    log = logs(broker)[0]
    os.utime(log, ns=(0, log.stat().st_mtime_ns - 1))
    in_process(broker, catalog=out, findings=True)
    assert copies.count(False) == 3 and copies.count(True) == len(copies) - 3 > 20


def all_rows(out: Path) -> dict[str, list]:
    """Returns every row of every table in its order, with files named by their table alone."""
    read = catalog.read(out)
    tables = {name: read.table(name).to_pylist() for name in TABLES}
    for row in tables["stamps"]:
        row["json"] = re.sub(r"-[0-9a-f]{32}\.parquet", "", row["json"])
    return tables | {"problems": [json.dumps(str(problem)) for problem in read.info.problems]}
