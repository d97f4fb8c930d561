"""A broker directory that changes all the time: logs grow in torn pieces, roll, shrink, are renamed
.deleted and vanish.

A running broker's changes of a week happen within a second, with small segments that were simulated
before:

    with Churn(folder, seed=1):
        ...  # folder changes, until the block ends

Order and pace are not a real broker's, but each single step is.
"""

import os
import re
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

from _pytest.capture import CaptureResult

import kafkaviz as kv
from kafkaviz.format import names
from kafkaviz.simulate.producers.workload import load

WORKLOAD = """
topic = "live"
[settings]
"internal.segment.bytes" = 9000
"index.interval.bytes" = 400
[[phase]]
records = 600
records_per_s = 40
records_per_batch = 4
value_bytes = 60
idempotent = true
transactions = { batches = 3, abort_share = 0.4 }
"""
PREALLOCATED_BYTES = 1200
KEPT_SEGMENTS = 4  # segments, before the oldest is renamed
PAUSE_S = 0.001
TOPICS = ("orders-0", "orders-1", "payments-0")

Files = dict[str, bytes]


@cache
def pool() -> tuple[list[Files], Files]:
    """Returns the files of each segment of a log, the oldest first, and those of the broker."""
    simulated = kv.simulate(load(WORKLOAD))
    contents = {file.name: file.content() for file in simulated.files}
    own = {name: data for name, data in contents.items() if "/" not in name}
    inside = {name.partition("/")[2]: data for name, data in contents.items() if "/" in name}
    segments = []
    for segment in simulated.segments:
        stem = f"{segment.base_offset:020}."
        segments.append({name: data for name, data in inside.items() if name.startswith(stem)})
    return segments, own


def write_partitions(folder: Path, segments: Sequence[Files]) -> None:
    """Writes two topic-partitions with the same segments."""
    for topic in ("orders-0", "payments-0"):
        (folder / topic).mkdir(parents=True)
        for segment in segments:
            for name, data in segment.items():
                (folder / topic / name).write_bytes(data)


def ended_well(status: int, output: CaptureResult[str]) -> bool:
    """Returns whether a command ended with a result or a line of error."""
    lines = output.err.splitlines()
    is_told = status != 2 or bool(lines and re.match("kafkaviz: .*: ", lines[-1]))
    return status in (0, 1, 2) and is_told and "Traceback" not in output.err + output.out


class Churn:
    """Changes a broker directory in a thread of its own while a with block runs."""

    def __init__(self, folder: Path, seed: int = 1, pause_s: float = PAUSE_S) -> None:
        """`pause_s`: seconds between two changes."""
        self.folder, self.steps, self.fault = folder, 0, None
        self._draw, self._pause_s, self._ends = Random(seed), pause_s, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Churn":
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, data in pool()[1].items():
            if name != names.CLEAN_SHUTDOWN:
                (self.folder / name).write_bytes(data)
        (self.folder / names.LOCK).touch()
        self._thread.start()
        while self.steps < 40 and self._thread.is_alive():
            time.sleep(PAUSE_S)
        return self

    def __exit__(self, *exception: object) -> None:
        self._ends.set()
        self._thread.join()
        if self.fault:
            raise self.fault

    def _run(self) -> None:
        lives = [self._partition(name) for name in TOPICS]
        try:
            while not self._ends.is_set():
                next(self._draw.choice(lives))
                self.steps += 1
                time.sleep(self._pause_s)
        except Exception as fault:
            self.fault = fault

    def _partition(self, name: str) -> Iterator[None]:
        """Creates, writes, deletes and recreates a topic-partition, with a step at each yield."""
        while True:
            path = self.folder / name
            path.mkdir()
            (path / names.PARTITION_METADATA).write_text(
                "version: 0\ntopic_id: tpx8pd1IQDqJwMfGzXj6GA\n"
            )
            yield
            yield from self._log(path)
            moved = path.with_name(f"{name}.{self._draw.getrandbits(128):032x}-delete")
            path.rename(moved)
            yield
            self._checkpoint()
            yield
            shutil.rmtree(moved)
            yield

    def _log(self, path: Path) -> Iterator[None]:
        """Writes its segments one after another and retires the oldest ones."""
        kept_files: list[Files] = []
        for segment in pool()[0]:
            yield from self._segment(path, segment)
            kept_files.append(segment)
            if len(kept_files) > KEPT_SEGMENTS:
                yield from self._retire(path, kept_files.pop(0))
            self._checkpoint()

    def _segment(self, path: Path, segment: Files) -> Iterator[None]:
        """Writes a segment from its first byte to its roll, with preallocated indexes."""
        [log] = [name for name in segment if name.endswith(".log")]
        indexes = [name for name in segment if name.endswith("index")]
        for name in indexes:
            (path / name).write_bytes(b"")
            os.truncate(path / name, 0 if name.endswith(".txnindex") else PREALLOCATED_BYTES)
        at, end = 0, segment[log]
        (path / log).touch()
        while at < len(end):
            if at and self._draw.random() < 0.1:
                at = self._draw.randrange(at)  # a follower truncates
                os.truncate(path / log, at)
                yield
            with open(path / log, "r+b") as file:
                file.seek(at)
                at += file.write(end[at : at + self._draw.randrange(1, 2500)])
            for name in indexes:
                share = len(segment[name]) * at // len(end) // 4 * 4
                with open(path / name, "r+b") as file:
                    file.write(segment[name][:share])
            yield
        for name, data in segment.items():
            with open(path / name, "r+b" if (path / name).exists() else "w+b") as file:
                file.write(data)
                file.truncate(len(data))
            yield

    def _retire(self, path: Path, segment: Files) -> Iterator[None]:
        for name in segment:
            (path / name).rename(path / f"{name}.deleted")
        yield
        yield
        for name in segment:
            (path / f"{name}.deleted").unlink()

    def _checkpoint(self) -> None:
        """Writes the broker's checkpoints to temporary files and moves them into place."""
        rows = [
            f"{name.rpartition('-')[0]} {name[-1]} {self._draw.randrange(600)}" for name in TOPICS
        ]
        for name in names.OFFSET_CHECKPOINTS:
            aside = self.folder / f"{name}.tmp"
            aside.write_text("\n".join(["0", str(len(rows)), *rows, ""]))
            with suppress(FileNotFoundError):
                aside.replace(self.folder / name)
