"""A real broker, started on copies of damaged directories, and kafkaviz's prediction.

`differences` starts brokers of 4.4.0 and 4.3.1 and compares whether they start, their words, which
directories go offline, and what is cut, deleted, rebuilt and taken for stray.
"""

import json
import os
import random
import re
import shutil
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.findings import Finding
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.format import names
from kafkaviz.format.batch import CRC_START, HEADER, LENGTH_END
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import MAX_LOG_BYTES, RECOVERY_CAUSES, StartupStep
from tests.kafka import advice
from tests.kafka.damages import DAMAGES, METADATA
from tests.kafka.harness import BROKER_POM, FOLDER, JavaProcess, fetch_class_path, scratch

RELEASES = ("4.4.0", "4.3.1")
DATA = Path(__file__).parents[1] / "data"
BASES = DATA / "starts"
FIELD_CASES = DATA / "field_cases"
SOURCES = FOLDER / "src" / "starts"
TIME_LIMIT_S = 180  # of one start, its end included
# a broker that failed leaves threads behind: after a hundred a start takes half a minute
STARTS_OF_PROCESS = 25
JAVA = (
    *("java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"),
    "-Dorg.slf4j.simpleLogger.cacheOutputStream=false",
)
RECOVERED = re.compile(r"Recovering unflushed segment (-?\d+)\..* for (\S+?)\.?$", re.MULTILINE)
REBUILT = re.compile(r"log file \S*/([^/\s]+)/(-?\d{19,20})\.log.*recovering segment")
LOADED = re.compile(r"Completed load of .*topic=(\S+), partition=(\d+), .*logStartOffset=(\d+)")
OFFLINE = re.compile(
    r"(?:Stopping serving logs in dir|Failed to create or validate data directory) (\S+)"
)
DELETED_FROM = "cut-0"  # its records below offset 15 were deleted
# of a partition; a start may write or remove the others
COMPARED_SUFFIXES = (".log", ".index", ".timeindex", ".txnindex", ".checkpoint")
# to a broker with three log directories
OF_SEVERAL_DIRECTORIES = (
    *("nothing", "log_flipped", "logs_removed", "partition_removed", "index_flipped"),
    *("snapshot_empty", "metadata_log_empty_without_snapshots"),
    *("recovery-point-offset-checkpoint_3", "epochs_damaged", "partition_metadata_damaged"),
    *("metadata_directory_removed", "replica_is_future_alone", "replica_is_future_too"),
    *("two_disks_fail", "one_disk_fails_and_one_ends_the_start"),
)
# to three directories that were stopped cleanly, two of which hold an open transaction
OF_OPEN_TRANSACTIONS = (
    *("recovery-point-offset-checkpoint_3", "log-start-offset-checkpoint_4"),
    *("cleaner-offset-checkpoint_3", "replication-offset-checkpoint_3"),
)


@dataclass(kw_only=True)
class Outcome:
    """The effects of a start on a broker's directories, observed or predicted.

    Attributes:
        words: the broker's log, or the text of a predicted failure.
        cut: the number of bytes kept, per partition directory and base offset.
        deleted: partition directory and file.
        recovered: partition directory and base offset of the segments that are read again.
        strays: partitions, or None in a prediction without a metadata log.
        made: partition directories that did not exist before.
        replaced: partition directories that will be deleted, as a -future replica takes over.
        log_starts: the log start offset of each partition, if the start was observed.
        may_start: True if the start may succeed, although its prediction is a failure.
    """

    starts: bool
    words: tuple[str, ...] = ()
    offline: set[str] = field(default_factory=set)
    cut: dict[tuple[str, int], int] = field(default_factory=dict)
    deleted: set[tuple[str, str]] = field(default_factory=set)
    recovered: set[tuple[str, int]] = field(default_factory=set)
    strays: set[str] | None = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    log_starts: dict[str, int] = field(default_factory=dict)
    may_start: bool = False


class Starts(JavaProcess):
    """Starts brokers of one release; `with Starts(release) as starts: starts.start(disks)`."""

    def __init__(self, release: str):
        sources = sorted(SOURCES.glob("*.java"))
        classes = fetch_class_path(f"starts-{release}", release, BROKER_POM, sources)
        super().__init__("Starts", classes, java=JAVA)
        self.release = release

    def start(
        self,
        disks: Iterable[Path],
        settings: Mapping[str, str] = MappingProxyType({}),
        **more: object,
    ) -> dict:
        """Starts a broker on these log directories and stops it: `started`, `error`, `exit`, `log`.

        Args:
            more: `configs`, settings of topics to set while it runs, and `until_gone`, the files
                that it waits for then.
        """
        question = {"dirs": [str(disk) for disk in disks], "node": 1, "settings": dict(settings)}
        return self.ask(question | more, TIME_LIMIT_S)


def unpack(archive: Path, folder: Path) -> list[Path]:
    """Returns the log directories in an archive, the one with the metadata log first."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="fully_trusted")
    return sorted(path.parent for path in folder.rglob("meta.properties"))


def observe(
    starts: Starts, disks: list[Path], settings: Mapping[str, str] = MappingProxyType({})
) -> Outcome:
    """Returns the effects of a broker's start on these directories, which it changes."""
    before = {disk: (_directories(disk), _files(disk)) for disk in disks}
    answer = starts.start(disks, settings)
    outcome = Outcome(starts=answer["started"], words=(answer["log"], answer["error"] or ""))
    outcome.offline = {Path(path).name for path in OFFLINE.findall(answer["log"])}
    outcome.recovered = {
        *((partition, int(base)) for base, partition in RECOVERED.findall(answer["log"])),
        *((_label(partition), int(base)) for partition, base in REBUILT.findall(answer["log"])),
    }
    outcome.log_starts = {
        f"{topic}-{number}": int(offset) for topic, number, offset in LOADED.findall(answer["log"])
    }
    for disk, (directories, files) in before.items():
        _compare(disk, directories, files, outcome)
    return outcome


def _files(disk: Path) -> dict[tuple[str, str], bytes]:
    return {
        (folder.name, path.name): path.read_bytes()
        for folder in disk.iterdir()
        if folder.is_dir()
        for path in folder.iterdir()
        if path.is_file()
    }


def _compare(
    disk: Path, directories: set[str], before: dict[tuple[str, str], bytes], outcome: Outcome
) -> None:
    """Adds the changes of a directory's files.

    Args:
        directories: partition directories that were there before, also empty ones.
    """
    after = _files(disk)
    left_directories = _directories(disk)
    # of two that are named alike, such as orders-0 and orders-00, the one that is gone
    named_alike = sorted(directories, key=lambda directory: directory not in left_directories)
    current = {_key(directory): directory for directory in named_alike}
    new = {directory for directory, _ in after} - directories
    renamed = {
        current[_key(directory)]: directory
        for directory in new
        if directory.endswith("-stray") and _key(directory) in current
    }
    outcome.strays |= renamed.keys()
    # a -future replica takes the name of the one in use
    renamed |= {
        current[_key(directory)]: directory
        for directory in new
        if current.get(_key(directory), "").endswith("-future")
        and not directory.endswith(("-stray", "-delete"))
    }
    replaced = {
        current[_key(directory)]: directory
        for directory in new
        if directory.endswith("-delete")
        and _key(directory) in current
        and current[_key(directory)] not in renamed
    }
    outcome.replaced |= replaced.keys()
    renamed |= replaced
    outcome.made |= new - set(renamed.values()) - {METADATA}
    for (directory, file), data in before.items():
        if not file.endswith(COMPARED_SUFFIXES):
            continue
        left = after.get((renamed.get(directory, directory), file))
        if left is None:
            outcome.deleted.add((directory, file))
        elif file.endswith(".log"):
            kept = _same_bytes(data, left)
            if kept < len(data):
                outcome.cut[directory, int(file[:20])] = kept


def _directories(disk: Path) -> set[str]:
    return {path.name for path in disk.iterdir() if path.is_dir()}


def _key(directory: str) -> tuple[str, int] | None:
    """Returns topic and partition, whatever a directory was renamed to."""
    name = names.parse_directory(directory)
    return (name.topic, name.partition) if name else None


def _label(directory: str) -> str:
    """Returns the partition as the broker logs it, whatever the directory was renamed to."""
    name = names.parse_directory(directory)
    return f"{name.topic}-{name.partition}" if name else directory


def _same_bytes(data: bytes, other: bytes) -> int:
    """Returns how many bytes at their beginnings are the same."""
    length = min(len(data), len(other))
    differing = np.flatnonzero(
        np.frombuffer(data, np.uint8, length) != np.frombuffer(other, np.uint8, length)
    )
    return int(differing[0]) if len(differing) else length


def forecast(disks: list[Path], release: str) -> Outcome | None:
    """Returns kafkaviz's prediction of the start, or None without one."""
    restart = check(disks[0] if len(disks) == 1 else disks[0].parent, release).restart
    if restart is None:
        return None
    return as_outcome(restart)


def as_outcome(restart: Restart) -> Outcome:
    """Returns a predicted start in the form of an observed one."""
    outcome = Outcome(starts=restart.starts)
    outcome.offline = {Path(directory).name for directory in restart.offline_directories}
    outcome.words = tuple(str(step.error or "") for step in restart.failures)
    keys = {step.why.key for step in restart.failures}
    outcome.may_start = "start.ends_if_loaded_later" in keys
    for step in restart.steps:
        place = (step.partition, step.segment)
        if step.action == "truncate":
            outcome.cut[place] = step.from_position
        elif step.action == "delete" and step.file and step.file.endswith(COMPARED_SUFFIXES):
            outcome.deleted.add((step.partition, Path(step.file).name))
        elif step.action == "rebuild" and step.file:
            path = (step.partition, Path(step.file).name)
            if step.cause == "leftover-swap" and path[1].endswith(".log"):
                outcome.cut[place] = step.size_bytes  # an empty .swap takes its name
            outcome.deleted.discard(path)
        elif step.cause == "becomes-stray":
            outcome.strays.add(step.partition)
        elif step.cause == "replaced-by-future":
            outcome.replaced.add(step.partition)
        elif step.action == "create":
            outcome.made.add(step.partition)
        is_recovery = step.cause in (*RECOVERY_CAUSES, "metadata-log")
        if step.action in ("keep", "rebuild", "truncate") and is_recovery:
            outcome.recovered.add((_label(step.partition), step.segment))
    outcome.made -= outcome.strays or set()  # created again under the same name
    outcome.cut = {
        (directory, base): kept
        for (directory, base), kept in outcome.cut.items()
        if (directory, f"{base:020}.log") not in outcome.deleted
    }
    return outcome


def compare(expected: Outcome | None, seen: Outcome) -> list[str]:
    """Returns where a forecast and a start differ, a line for each."""
    if expected is None:
        return ["nothing is predicted"]
    if expected.may_start and seen.starts:
        return []
    if expected.starts != seen.starts:
        found = f"{seen.starts} {seen.words[-1] if seen.words else ''}"
        return [f"starts: predicted {expected.starts} {expected.words}, seen {found}"]
    if not seen.starts:
        log = "\n".join(seen.words)
        words = [word for word in expected.words if word]
        known = not words or any(_is_said(word, log) for word in words)
        return [] if known else [f"words: predicted {words}, and the broker did not say so"]
    differences = []
    if not _is_same_cut(expected.cut, seen.cut):
        differences.append(f"cut: predicted {expected.cut}, seen {seen.cut}")
    compared = ["offline", "deleted", "recovered", "strays", "replaced"]
    if not expected.offline:  # else a partition of a lost directory may be made in another one
        compared.append("made")
    for name in compared:
        predicted, found = getattr(expected, name), getattr(seen, name)
        if predicted is not None and predicted != found:
            differences.append(f"{name}: predicted {predicted}, seen {found}")
    return differences


def _is_said(words: str, log: str) -> bool:
    """Returns whether a broker logged an exception: its class, or the words up to a file's name."""
    class_name, _, text = words.partition(": ")
    return class_name in log or bool(text and text.partition("/")[0][:35] in log)


def _is_same_cut(predicted: dict[tuple[str, int], int], found: dict[tuple[str, int], int]) -> bool:
    """Returns whether the same bytes are cut.

    A start writes to the metadata log at once, beginning with the bytes that were there, so the
    kept bytes are known to within a batch's header.
    """
    return predicted.keys() == found.keys() and all(
        predicted[place] == kept or (place[0] == METADATA and 0 <= kept - predicted[place] < 61)
        for place, kept in found.items()
    )


# ---- the runs


@dataclass(frozen=True)
class Case:
    """A directory, its damage, and the release that starts on it."""

    archive: Path
    damage: str
    release: str
    seed: int = 0

    @property
    def name(self) -> str:
        return f"{self.archive.name.split('.')[0]}, {self.damage}, seed {self.seed}"

    def prepare(self, folder: Path) -> list[Path]:
        """Unpacks and damages; returns the log directories."""
        disks = unpack(self.archive, folder)
        DAMAGES[self.damage](disks, random.Random(f"{self.damage} {self.seed}"))
        return disks


def cases(seed: int) -> list[Case]:
    """Returns every damage to the directory of a cleanly stopped broker and of a killed one, by the
    two releases in turn, and the field cases about a start.
    """
    damaged = [
        Case(BASES / f"{base}.tar.xz", name, RELEASES[(number + seed + place) % 2], seed)
        for number, name in enumerate(DAMAGES)
        for place, base in enumerate(("one-clean", "one-killed"))
    ]
    several = [
        Case(BASES / "three-killed.tar.xz", name, RELEASES[(number + seed) % 2], seed)
        for number, name in enumerate(OF_SEVERAL_DIRECTORIES)
    ]
    clean = BASES / "three-clean.tar.xz"
    several += [
        Case(clean, name, RELEASES[(number + seed + place) % 2], seed + place)
        for number, name in enumerate(OF_OPEN_TRANSACTIONS)
        for place in (0, 1)
    ]
    return [*field_cases(), *damaged, *several]


def field_cases() -> Iterator[Case]:
    for line in (FIELD_CASES / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        if "starts" in case["expect"] and case["kafka_version"] in RELEASES:
            yield Case(FIELD_CASES / case["input"], "nothing", case["kafka_version"])


def differences(count: int, seed: int) -> tuple[list[str], str]:
    """Returns the differences between brokers and kafkaviz, and a line about what was started.

    Args:
        count: the number of cases, taken at even distances.
    """
    every_case = cases(seed)
    count = min(count, len(every_case))
    chosen = [every_case[place * len(every_case) // count] for place in range(count)]
    with ThreadPoolExecutor(len(RELEASES)) as pool:
        results = pool.map(
            lambda release: _run([case for case in chosen if case.release == release], release),
            RELEASES,
        )
        faults = [fault for part in results for fault in part]
    return faults, f"brokers of {' and '.join(RELEASES)} started on {count} damaged directories"


def _without_controller(starts: Starts) -> list[str]:
    """Sets up the only controller of a cluster that lost its metadata log, with bootstrap servers."""
    servers = "localhost:39399"
    settings = {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": servers}
    with scratch() as folder:
        (disk,) = unpack(BASES / "one-clean.tar.xz", Path(folder))
        shutil.rmtree(disk / METADATA)
        (disk / "server.properties").write_text(
            f"process.roles=broker,controller\nnode.id=1\nlog.dirs={disk}\n"
            f"listeners=PLAINTEXT://localhost:39398,CONTROLLER://{servers}\n"
            f"controller.quorum.voters=\ncontroller.quorum.bootstrap.servers={servers}\n"
        )
        expected = forecast([disk], starts.release)
        (disk / "server.properties").unlink()
        limit = {"initial.broker.registration.timeout.ms": "5000"}
        differences = compare(expected, observe(starts, [disk], settings | limit))
        return [f"{starts.release}, without a controller: {text}" for text in differences]


def _beyond_two_gib(starts: Starts) -> list[str]:
    """A .log whose only batch ends beyond 2³¹ − 1 bytes, with a torn batch after it."""
    archive = BASES / "one-clean.tar.xz"
    with scratch() as folder:
        disks = unpack(archive, Path(folder))
        _make_too_long(min((disks[0] / "orders-0").glob("*.log")))
        expected = forecast(disks, starts.release)
        answer = starts.start(disks)
        faults = compare(expected, Outcome(starts=answer["started"], words=(answer["log"],)))
    with scratch() as folder, scratch() as undamaged:
        disks = unpack(archive, Path(folder))
        _make_too_long(min((disks[0] / "orders-0").glob("*.log")))
        backup = unpack(archive, Path(undamaged))
        return [*faults, *_try_backup(starts, disks, backup)]


def _make_too_long(log: Path) -> None:
    """Replaces a .log by one batch of zeros and the first bytes of another; sparse."""
    header = np.frombuffer(log.read_bytes(), HEADER, 1).copy()
    header["batch_length_bytes"] = MAX_LOG_BYTES
    data_bytes = MAX_LOG_BYTES + LENGTH_END - HEADER.itemsize
    header["crc"] = _crc_with_zeros(header.tobytes()[CRC_START:], data_bytes)
    log.write_bytes(header.tobytes())
    os.truncate(log, HEADER.itemsize + data_bytes)
    with log.open("ab") as file:
        file.write(header.tobytes())


@cache
def _crc_with_zeros(start: bytes, count: int) -> int:
    """Returns the checksum of these bytes and two gigabytes of zeros, which takes seconds."""
    crc = crc32c(start)
    zeros = bytes(1 << 20)
    for place in range(0, count, len(zeros)):
        crc = crc32c(zeros[: count - place], crc)
    return crc


def _run(chosen: list[Case], release: str) -> list[str]:
    faults = []
    for first in range(0, len(chosen), STARTS_OF_PROCESS):
        with Starts(release) as starts:
            if not first:
                faults += [*_without_controller(starts), *_beyond_two_gib(starts)]
            for case in chosen[first : first + STARTS_OF_PROCESS]:
                faults += [f"{release}, {case.name}: {fault}" for fault in run(starts, case)]
    return faults


def run(starts: Starts, case: Case) -> list[str]:
    """Returns the differences on a case, and advice after which no broker starts."""
    with scratch() as folder:
        disks = case.prepare(Path(folder))
        expected = forecast(disks, starts.release)
        faults = compare(expected, observe(starts, disks))
    if faults or expected is None or len(disks) > 1:
        return faults
    with scratch() as folder:
        follow = _try_next_steps if expected.starts else _try_advice
        faults = follow(starts, case.prepare(Path(folder)))
    with scratch() as folder, scratch() as undamaged:
        backup = unpack(case.archive, Path(undamaged))
        return [*faults, *_try_backup(starts, case.prepare(Path(folder)), backup)]


def _try_backup(starts: Starts, disks: list[Path], backup: list[Path]) -> list[str]:
    """Follows the advice to restore a backup, starts a broker, and looks for any error."""
    health = check(disks[0], starts.release)
    followed = advice.restore(disks[0], health, backup[0])
    if not followed:
        return []
    keys = ", ".join(sorted({_advised(item) for item in followed}))
    seen = observe(starts, disks)
    if not seen.starts:
        return [f"{keys}: restored, and the broker did not start: {seen.words[1]}"]
    left = check(disks[0], starts.release)
    places = {(getattr(item, "code", ""), item.file) for item in followed}
    faults = [f for f in left.findings if f.severity == "error" or (f.code, f.file) in places]
    return [f"{keys}: restored, and {fault.code} of {fault.file} is there" for fault in faults]


def _advised(item: StartupStep | Finding) -> str:
    return str((item.next_step if isinstance(item, Finding) else item.way_out).key)


def _try_next_steps(starts: Starts, disks: list[Path]) -> list[str]:
    """Follows the advice of findings, starts a broker, and looks for the findings again."""
    followed = advice.follow_findings(disks[0], check(disks[0], starts.release).findings)
    if not followed:
        return []
    keys = ", ".join(sorted({finding.next_step.key for finding in followed}))
    seen = observe(starts, disks)
    if not seen.starts:
        return [f"{keys} was followed, and the broker did not start: {seen.words[1]}"]
    left = {(finding.code, finding.file) for finding in check(disks[0], starts.release).findings}
    return [
        f"{finding.next_step.key} was followed, and {finding.code} of {finding.file} is still there"
        for finding in followed
        if (finding.code, finding.file) in left
    ]


def _try_advice(starts: Starts, disks: list[Path]) -> list[str]:
    """Follows the advice of a failing start once, and starts a broker."""
    restart = check(disks[0], starts.release).restart
    if restart is None or not advice.follow(disks[0], restart):
        return []
    keys = ", ".join(step.way_out.key for step in restart.failures)
    expected = forecast(disks, starts.release)
    seen = observe(starts, disks)
    if not seen.starts:
        return [f"advice: {keys} was followed, and the broker did not start: {seen.words[1]}"]
    if "restore_log_starts" in keys and seen.log_starts[DELETED_FROM] != 0:
        return [f"advice: {keys} was followed, and no deleted record came back"]
    if expected is None or seen.strays != expected.strays:
        return [f"advice: {keys} was followed, and made strays: {seen.strays}"]
    return []
