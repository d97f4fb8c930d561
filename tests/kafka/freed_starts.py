"""Real brokers that start after the files that kafkaviz lists as deletable were deleted.

Brokers of 4.4.0 and 4.3.1 start on copies of samples, once for each kind of files. All files of
that kind are deleted before. The broker must start, and load each log that stays with the predicted
log start and log end.
"""

import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kafkaviz.analysis.broker_health import Health, check
from kafkaviz.analysis.freeing import FreeingKind, FreeingStep
from kafkaviz.log.broker import open_broker
from tests.kafka.harness import scratch
from tests.kafka.starts import BASES, RELEASES, Starts, unpack

SAMPLE = Path(__file__).parents[2] / "sample_data" / "kafka-4.3.1-clean.tar.gz"
SEVERAL = BASES / "three-clean.tar.xz"
LOADED = re.compile(
    r"Completed load of \S*Log\(dir=(\S+), .*logStartOffset=(\d+), .*logEndOffset=(\d+)"
)
SUFFIX = "0123456789abcdef" * 2
LOG = f"{0:020d}.log"
# the broker itself deletes and cleans nothing, so only the deleted files make a difference
SETTINGS = {"log.retention.ms": "-1", "log.cleaner.enable": "false"}


def _waiting(disks: Sequence[Path]) -> None:
    """The sample has a deleted topic too."""
    shutil.copy(disks[0] / "orders-0" / LOG, disks[0] / "orders-0" / f"{LOG}.deleted")


def _leftover(disks: Sequence[Path]) -> None:
    folder = disks[0] / "orders-0"
    shutil.copy(folder / LOG, folder / f"{LOG}.cleaned")
    shutil.copy(folder / f"{0:020d}.index", folder / f"{999999:020d}.index")
    shutil.copy(folder / "leader-epoch-checkpoint", folder / "leader-epoch-checkpoint.tmp")


def _cache(disks: Sequence[Path]) -> None:
    folder = disks[0] / "remote-log-index-cache"
    folder.mkdir(exist_ok=True)
    (folder / "7_aaaaaaaaaaaaaaaaaaaaaa.index").write_bytes(bytes(80))


def _future(disks: Sequence[Path]) -> None:
    """A replica moves from the first log directory to the second."""
    paths = sorted(path for path in disks[0].iterdir() if path.is_dir())
    moved = next(path for path in paths if path.name != "__cluster_metadata-0")
    shutil.copytree(moved, disks[1] / f"{moved.name}.{SUFFIX}-future")


def _retention(disks: Sequence[Path]) -> None:
    (disks[0] / "server.properties").write_text("log.retention.ms=604800000\n")


def _foreign(disks: Sequence[Path]) -> None:
    """With the folder, the broker does not start."""
    (disks[0] / "heap").mkdir()
    (disks[0] / "heap" / "dump.hprof").write_bytes(bytes(100))
    (disks[0] / "backup.tar").write_bytes(bytes(100))
    (disks[0] / "orders-0" / ".DS_Store").write_bytes(bytes(100))


def _stray(disks: Sequence[Path]) -> None:
    shutil.copytree(disks[0] / "orders-0", disks[0] / f"orders-0.{SUFFIX}-stray")


CASES: dict[FreeingKind, tuple[Path, Callable[[Sequence[Path]], None]]] = {
    FreeingKind.WAITING: (SAMPLE, _waiting),
    FreeingKind.LEFTOVER: (SAMPLE, _leftover),
    FreeingKind.REMOTE_INDEX_CACHE: (SAMPLE, _cache),
    FreeingKind.FUTURE: (SEVERAL, _future),
    FreeingKind.RETENTION: (SAMPLE, _retention),
    FreeingKind.FOREIGN: (SAMPLE, _foreign),
    FreeingKind.STRAY: (SAMPLE, _stray),
}


def differences() -> tuple[list[str], str]:
    """Returns the differences between brokers and kafkaviz, and a line about what was deleted."""
    faults: list[str] = []
    deleted = 0
    loaded = 0
    for release in RELEASES:
        with Starts(release) as starts:
            for kind, (sample, prepare) in CASES.items():
                with scratch() as folder:
                    disks = unpack(sample, Path(folder))
                    prepare(disks)
                    health = check(open_broker(disks[0], *disks[1:]), release)
                    steps = [step for step in health.freeing_steps() if step.kind == kind]
                    expected = offsets_after(health, steps)
                    _delete(path for step in steps for path in step.paths)
                    answer = starts.start(disks, SETTINGS)
                    loads = LOADED.findall(answer["log"])
                    found = {path: (int(start), int(end)) for path, start, end in loads}
                faults += [f"{release}, {kind}: {fault}" for fault in _compare(expected, found)]
                if not steps:
                    faults.append(f"{release}, {kind}: nothing is listed")
                if not answer["started"]:
                    faults.append(f"{release}, {kind}: not started: {answer['error']}")
                deleted += sum(step.files for step in steps)
                loaded += len(expected)
    summary = f"brokers of {' and '.join(RELEASES)} started after {deleted} files of"
    return faults, f"{summary} {len(CASES)} kinds were deleted, and loaded {loaded} logs"


def offsets_after(health: Health, steps: Sequence[FreeingStep]) -> dict[str, tuple[int, int]]:
    """Returns the predicted log start and end of each log in use, by its path."""
    deleted = {path for step in steps for path in step.paths}
    expected = {}
    for log in health.retention:
        folder = Path(log.log_directory) / log.partition
        bases = [segment.age.base_offset for segment in log.segments]
        first = next(base for base in bases if folder / f"{base:020d}.log" not in deleted)
        start = max(log.log_start_offset or 0, first)
        expected[str(folder)] = (start, log.log_end_offset)
    return expected


def _delete(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _compare(
    expected: dict[str, tuple[int, int]], found: dict[str, tuple[int, int]]
) -> Iterable[str]:
    for path, offsets in expected.items():
        if found.get(path) != offsets:
            yield f"{path}: predicted {offsets}, loaded with {found.get(path)}"
