"""A directory that changes while a command reads it: a result or one clear line."""

import shutil
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from tests.live.churn import ended_well, pool, write_partitions
from tests.live.moments import Moments

STEM = "00000000000000000216"
COMMANDS = {
    "check": ["check", "DIR"],
    "check-json": ["check", "DIR", "--json"],
    "dump": ["dump", f"DIR/orders-0/{STEM}.log", "--print-data-log", "--deep-iteration"],
    "dump-json": ["dump", f"DIR/orders-0/{STEM}.log", "--print-data-log", "--json"],
    "dump-index": ["dump", f"DIR/orders-0/{STEM}.index", f"DIR/orders-0/{STEM}.timeindex"],
    "lookup-offset": ["lookup", "DIR/orders-0", "--offset", "300"],
    "lookup-time": ["lookup", "DIR/orders-0", "--timestamp", "1772352009000"],
    "lookup-max": ["lookup", "DIR/orders-0", "--timestamp", "max", "--json"],
    "rebuild": ["rebuild", "DIR/orders-0", "--out", "OUT/rebuilt"],
    "records": ["records", "DIR", "-o", "OUT/records.jsonl", "--payload", "text"],
    "report": ["report", "DIR", "-o", "OUT/report.html", "--sha256", "--payload"],
    "simulate": ["simulate", "--replay", "DIR/orders-0", "--out", "OUT/again"],
    "tune": ["tune", "DIR", "--json"],
}


def _log(folder: Path) -> Path:
    return folder / "orders-0" / f"{STEM}.log"


def _all_of(folder: Path) -> list[Path]:
    return sorted(_log(folder).parent.glob(f"{STEM}.*"))


CHANGES = {
    "the log vanishes": lambda folder: _log(folder).unlink(),
    "the segment vanishes": lambda folder: [path.unlink() for path in _all_of(folder)],
    "the segment is renamed": lambda folder: [
        path.rename(f"{path}.deleted") for path in _all_of(folder)
    ],
    "the log is cut in two": lambda folder: _cut(
        _log(folder), _log(folder).stat().st_size // 2 + 7
    ),
    "all is emptied": lambda folder: [_cut(path, 0) for path in _all_of(folder)],
    "the log grows": lambda folder: _grow(_log(folder)),
    "the partition vanishes": lambda folder: shutil.rmtree(folder / "orders-0"),
    "the partition is renamed": lambda folder: (folder / "orders-0").rename(
        folder / f"orders-0.{'0a' * 16}-delete"
    ),
    "the directory vanishes": lambda folder: shutil.rmtree(folder),
}


def _cut(path: Path, size: int) -> None:
    with open(path, "r+b") as file:
        file.truncate(size)


def _grow(path: Path) -> None:
    with open(path, "ab") as file:
        file.write(path.read_bytes()[:700])


def directory(folder: Path) -> Path:
    segments, own = pool()
    shutil.rmtree(folder, ignore_errors=True)
    write_partitions(folder, segments[1:4])
    for name, data in own.items():
        (folder / name).write_bytes(data)
    return folder


def changed(
    tmp_path: Path, capsys: pytest.CaptureFixture, command: str, change: str, at: int
) -> tuple[int, int]:
    """Runs a command during which the directory changes at moment `at`; returns (status, number of
    moments).

    Raises what the command raises.
    """
    folder, out = directory(tmp_path / "kafka"), tmp_path / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    arguments = [
        word.replace("DIR", str(folder)).replace("OUT", str(out)) for word in COMMANDS[command]
    ]
    with Moments(folder, at, lambda: CHANGES[change](folder)) as moments:
        status = main(arguments)
    output = capsys.readouterr()
    assert ended_well(status, output), (status, output.err)
    return status, moments.count


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_change_at_some_moment_is_no_traceback(tmp_path, capsys, command):
    """Each change at another call; for a report, which takes longer, each third change."""
    _, count = changed(tmp_path, capsys, command, "the log grows", -1)
    assert count >= 5
    for place, change in enumerate(CHANGES):
        if command == "report" and place % 3:
            continue
        changed(tmp_path, capsys, command, change, count * place // len(CHANGES))


@pytest.mark.nightly
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_change_at_any_moment_is_no_traceback(tmp_path, capsys, command, change):
    """At each single call."""
    status, count = changed(tmp_path, capsys, command, change, -1)
    assert status in (0, 1) and count >= 5
    assert {changed(tmp_path, capsys, command, change, at)[0] for at in range(count)} <= {0, 1, 2}
