"""Listing a broker of 100 000 segments and 300 000 files, as every command does first, against
`find`.

`find` prints names and sizes.
"""

import subprocess
import tempfile
from pathlib import Path

from benchmarks import best, row
from kafkaviz.log.broker import open_broker

PARTITIONS, SEGMENTS = 100, 1000
SUFFIXES = (".log", ".index", ".timeindex")
RUNS = 3


def run() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        assert count_segments(folder) == PARTITIONS * SEGMENTS
        rival_s, ours_s = (
            best(lambda: count_files(folder), RUNS),
            best(lambda: count_segments(folder), RUNS),
        )
    what = (
        f"inventory of {PARTITIONS * SEGMENTS} segments, {PARTITIONS * SEGMENTS * len(SUFFIXES)} "
        "files, in the page cache"
    )
    return [
        row(
            what,
            f"{ours_s:.1f} s",
            f"`find -printf`, name, size and time, {rival_s:.1f} s",
            f"{rival_s / ours_s:.2f} ×",
        )
    ]


def write(root: Path) -> None:
    """Writes empty files, because an inventory uses only names, sizes and times."""
    for partition in range(PARTITIONS):
        directory = root / f"orders-{partition}"
        directory.mkdir()
        for segment in range(SEGMENTS):
            for suffix in SUFFIXES:
                (directory / f"{segment:020}{suffix}").touch()


def count_segments(folder: str) -> int:
    """Returns how many segments a listing of the directory has."""
    return sum(len(partition.segments) for partition in open_broker(folder).partitions)


def count_files(folder: str) -> int:
    """Returns how many files `find` prints."""
    return subprocess.run(
        ["find", folder, "-type", "f", "-printf", "%p %s %T@\n"], capture_output=True, check=True
    ).stdout.count(b"\n")
