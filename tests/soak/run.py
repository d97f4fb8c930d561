"""Many directories opened in turn in one server, and the server's resources after each."""

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs import browsing
from kafkaviz.log.archives import archive
from tests.live.churn import pool, write_partitions
from tests.soak.classroom import MIB, resident_bytes
from tests.soak.visitor import Visitor

SAMPLES = browsing.ROOT / "sample_data"
PAGES = ("", "segment", "lookup", "health")
SAMPLE_EVERY = 50  # directories, a sample is one
CATALOG_S = 300
SHARE = 1.1  # growth after the first quarter of the directories
# Streamlit keeps 128 tabs, of three files each
SLACK = {"own_bytes": 40 * MIB, "java_bytes": 150 * MIB, "threads": 8, "files": 400}


@dataclass(frozen=True)
class ResourceUsage:
    """The server's resources: memory of its process and of its Java, threads, open files."""

    directories: int
    own_bytes: int
    java_bytes: int
    threads: int
    files: int
    seconds: float

    def __str__(self) -> str:
        sizes = f"{self.own_bytes / MIB:8.0f} {self.java_bytes / MIB:8.0f}"
        return f"{self.directories:11} {sizes} {self.threads:8} {self.files:6} {self.seconds:8.0f}"


HEAD = f"{'directories':>11} {'MiB':>8} {'Java MiB':>8} {'threads':>8} {'files':>6} {'seconds':>8}"


def soak(folder: Path, directories: int, every: int) -> Iterator[ResourceUsage]:
    """Opens this many directories in its own server, and yields its memory at intervals."""
    cache, started = folder / "cache", time.monotonic()
    cache.mkdir()
    with browsing.started(cache) as (address, process):
        for count in range(1, directories + 1):
            directory = _directory(folder, count)
            with Visitor(address) as visitor:
                for page in PAGES:
                    visit = visitor.see(page, dir=str(directory))
                    assert visit.elements > 5 and not visit.exceptions, (
                        f"{page or 'broker'} of {directory}: {visit}"
                    )
            _wait_for(cache / "catalogs", archive.stem(directory))
            if not directory.is_file():
                shutil.rmtree(directory)
            if count % every == 0:
                yield _measure(process.pid, count, time.monotonic() - started)


def _directory(folder: Path, count: int) -> Path:
    """Returns the next directory: a new small one, or now and then a sample."""
    if count % SAMPLE_EVERY == 0:
        samples = sorted(SAMPLES.glob("*.tar.gz"))
        return samples[count // SAMPLE_EVERY % len(samples)]
    segments, own = pool()
    path = folder / f"kafka-{count}"
    write_partitions(path, segments)
    for name, data in own.items():
        (path / name).write_bytes(data)
    return path


def _wait_for(catalogs: Path, name: str) -> None:
    """Waits until the ingest of a directory has ended, because its resources count."""
    deadline = time.monotonic() + CATALOG_S
    while not any(catalogs.glob(f"{name}-*/_catalog.json")):
        if time.monotonic() > deadline:
            raise TimeoutError(f"the ingest of {name} has no end")
        time.sleep(0.1)


def _measure(number: int, count: int, seconds: float) -> ResourceUsage:
    children = [
        int(child)
        for task in Path(f"/proc/{number}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    java = sum(_resident_bytes(child) for child in children)
    threads, files = (len(os.listdir(f"/proc/{number}/{what}")) for what in ("task", "fd"))
    return ResourceUsage(count, _resident_bytes(number), java, threads, files, seconds)


def _resident_bytes(number: int) -> int:
    try:
        return resident_bytes(number)
    except (OSError, IndexError):
        return 0


def grown(usages: list[ResourceUsage]) -> list[str]:
    """Describes the values that grew by more than SLACK in the last three quarters."""
    early, late = usages[len(usages) // 4 - 1], usages[-1]
    growth = {name: (getattr(early, name), getattr(late, name)) for name in SLACK}
    return [
        f"{name} grew from {before} to {now}"
        for name, (before, now) in growth.items()
        if now > before * SHARE + SLACK[name]
    ]
