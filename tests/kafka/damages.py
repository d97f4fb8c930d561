"""Ways to damage a stopped broker's directory, each by name: `DAMAGES[name](disks, random)`.

`disks` are the broker's log directories, the one with the metadata log first. `random` alone
chooses a byte or a partition within a damage.
"""

import json
import random
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from kafkaviz.binary.crc32c import crc32c
from kafkaviz.format.batch import CRC_START, HEADER, LENGTH_END

METADATA = "__cluster_metadata-0"
QUORUM_STATE = f"{METADATA}/quorum-state"
Damage = Callable[[list[Path], random.Random], object]
Find = Callable[[list[Path], random.Random], Path]
Change = Callable[[bytes, random.Random], bytes]
DAMAGES: dict[str, Damage] = {}


def damage(change: Damage) -> Damage:
    """Registers a damage under the name of its function."""
    DAMAGES[change.__name__] = change
    return change


def rewrite(find: Find, **changes: Change) -> None:
    """Registers damages that change the bytes of a file, by their names."""
    for name, change in changes.items():
        DAMAGES[name] = partial(_rewrite, find, change)


def _rewrite(find: Find, change: Change, disks: list[Path], pick: random.Random) -> None:
    path = find(disks, pick)
    if path.exists():
        path.chmod(0o644)
    path.write_bytes(change(path.read_bytes() if path.exists() else b"", pick))


def remove(**files: Find) -> None:
    """Registers damages that remove a file, by their names."""
    for name, find in files.items():
        DAMAGES[name] = partial(_remove, find)


def _remove(find: Find, disks: list[Path], pick: random.Random) -> None:
    find(disks, pick).unlink()


# ---- the files, and what changes in them


def _partitions(disk: Path) -> list[Path]:
    return sorted(path for path in disk.iterdir() if path.is_dir() and path.name != METADATA)


def _log_of(disks: list[Path], pick: random.Random, suffix: str = ".log") -> Path:
    files = [
        path
        for disk in disks
        for partition in _partitions(disk)
        for path in sorted(partition.glob(f"*{suffix}"))
        if path.stat().st_size
    ]
    return pick.choice(files)


def _some_index(disks: list[Path], pick: random.Random) -> Path:
    return _log_of(disks, pick, pick.choice([".index", ".timeindex"]))


def _closed_log(disks: list[Path], pick: random.Random) -> Path:
    logs = [sorted(partition.glob("*.log")) for partition in _partitions(disks[0])]
    return pick.choice([log for of_partition in logs for log in of_partition[:-1]])


def _next_to_log(name: str) -> Find:
    return lambda disks, pick: _log_of(disks, pick).with_name(name)


def _own(name: str) -> Find:
    """Finds a file of the first log directory."""
    return lambda disks, pick: disks[0] / name


def _metadata_log(disks: list[Path], pick: random.Random) -> Path:
    return max((disks[0] / METADATA).glob("*.log"))


def _newest_snapshot(disks: list[Path], pick: random.Random) -> Path:
    return max((disks[0] / METADATA).glob("*.checkpoint"))


def _empty(data: bytes, pick: random.Random) -> bytes:
    return b""


def _cut(data: bytes, pick: random.Random) -> bytes:
    return data[: pick.randrange(len(data))]


def _flip(data: bytes, pick: random.Random) -> bytes:
    position = pick.randrange(len(data))
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


def _flip_last(data: bytes, pick: random.Random) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def _one_of(*contents: bytes) -> Change:
    return lambda data, pick: pick.choice(contents)


# ---- nothing, or next to nothing


@damage
def nothing(disks: list[Path], pick: random.Random) -> None:
    """Leaves the directory unchanged."""


@damage
def marker_removed(disks: list[Path], pick: random.Random) -> None:
    for disk in disks:
        (disk / ".kafka_cleanshutdown").unlink(missing_ok=True)


@damage
def marker_is_a_folder(disks: list[Path], pick: random.Random) -> None:
    for disk in disks:
        _make_folder(disk / ".kafka_cleanshutdown")


# ---- the snapshots of the cluster's metadata, and its log

rewrite(
    _newest_snapshot,
    snapshot_empty=_empty,
    snapshot_torn_in_footer=lambda data, pick: data[: -pick.randint(1, 40)],
    snapshot_torn_in_header=lambda data, pick: data[: pick.randint(1, 80)],
    snapshot_torn_anywhere=lambda data, pick: data[: pick.randint(100, len(data) - 1)],
    snapshot_flipped=_flip,
    snapshot_of_zeros=lambda data, pick: bytes(len(data)),
    snapshot_with_zeros_behind=lambda data, pick: data + bytes(pick.randint(1, 200)),
)
remove(snapshot_newest_removed=_newest_snapshot)
rewrite(
    lambda disks, pick: min((disks[0] / METADATA).glob("*.checkpoint")), snapshot_older_empty=_empty
)


@damage
def snapshots_removed(disks: list[Path], pick: random.Random) -> None:
    for path in (disks[0] / METADATA).glob("*.checkpoint"):
        path.unlink()


@damage
def snapshot_beyond_log_end(disks: list[Path], pick: random.Random) -> None:
    path = _newest_snapshot(disks, pick)
    path.rename(path.with_name(f"{900 + pick.randrange(9):020}-0000000001.checkpoint"))


@damage
def snapshot_beyond_log_end_torn(disks: list[Path], pick: random.Random) -> None:
    snapshot_beyond_log_end(disks, pick)
    DAMAGES["snapshot_torn_in_header"](disks, pick)


@damage
def snapshot_of_later_epoch(disks: list[Path], pick: random.Random) -> None:
    path = _newest_snapshot(disks, pick)
    path.rename(path.with_name(path.name.replace("-0000000001", "-0000000009")))


@damage
def snapshot_name_of_text(disks: list[Path], pick: random.Random) -> None:
    (disks[0] / METADATA / "latest.checkpoint").write_bytes(b"")


rewrite(
    _metadata_log,
    metadata_log_cut=lambda data, pick: data[: pick.randrange(1, len(data))],
    metadata_log_empty=_empty,
    metadata_log_flipped=_flip,
)


def _without_snapshots(disks: list[Path], pick: random.Random, name: str) -> None:
    DAMAGES[name](disks, pick)
    snapshots_removed(disks, pick)


for name in ("metadata_log_cut", "metadata_log_empty", "metadata_log_flipped"):
    DAMAGES[f"{name}_without_snapshots"] = partial(_without_snapshots, name=name)


@damage
def metadata_log_missing(disks: list[Path], pick: random.Random) -> None:
    for path in (disks[0] / METADATA).glob("*.log"):
        path.unlink()


rewrite(
    _own(f"{METADATA}/leader-epoch-checkpoint"),
    metadata_epochs_damaged=_one_of(b"", b"junk", bytes(12), b"0\n9\n0 0\n"),
)
rewrite(
    _own(f"{METADATA}/partition.metadata"),
    metadata_partition_metadata_damaged=_one_of(
        b"", b"junk", b"version: 0\ntopic_id: AkXzOiIERbadGF_c6qNvhw"
    ),
)


@damage
def metadata_directory_removed(disks: list[Path], pick: random.Random) -> None:
    shutil.rmtree(disks[0] / METADATA)


@damage
def metadata_directory_empty(disks: list[Path], pick: random.Random) -> None:
    shutil.rmtree(disks[0] / METADATA)
    (disks[0] / METADATA).mkdir()


def _keep_of_metadata(disks: list[Path], pick: random.Random, suffix: str) -> None:
    for path in (disks[0] / METADATA).iterdir():
        if not path.name.endswith(suffix):
            path.unlink()


DAMAGES["metadata_snapshots_alone"] = partial(_keep_of_metadata, suffix=".checkpoint")
DAMAGES["metadata_log_alone"] = partial(_keep_of_metadata, suffix=".log")
DAMAGES["metadata_quorum_state_alone"] = partial(_keep_of_metadata, suffix="quorum-state")


@damage
def metadata_log_before_topics(disks: list[Path], pick: random.Random) -> None:
    """Keeps the log before the first topic: the election, the features, the registration."""
    path = _metadata_log(disks, pick)
    path.write_bytes(path.read_bytes()[: pick.choice([91, 300, 500])])
    snapshots_removed(disks, pick)
    if pick.random() < 0.5:
        (disks[0] / QUORUM_STATE).unlink()


@damage
def snapshots_unfinished(disks: list[Path], pick: random.Random) -> None:
    newest = _newest_snapshot(disks, pick)
    for suffix in (".part", ".deleted"):
        shutil.copy(newest, newest.with_name(f"{newest.name}{suffix}"))


@damage
def snapshot_twice(disks: list[Path], pick: random.Random) -> None:
    """Two snapshots of one offset: the one with the later epoch is empty."""
    path = _newest_snapshot(disks, pick)
    path.with_name(path.name.replace("-0000000001", "-0000000002")).write_bytes(b"")


# ---- the files that a start reads first


@damage
def marker_of_junk(disks: list[Path], pick: random.Random) -> None:
    data = pick.choice([b"", b"junk", b"{", b"\0" * 9, b'{"version":9,"brokerEpoch":-1}', b"[]"])
    for disk in disks:
        (disk / ".kafka_cleanshutdown").write_bytes(data)


def _of_others(data: bytes, pick: random.Random) -> bytes:
    return json.dumps(json.loads(data) | {"leaderEpoch": pick.choice([0, 7])}).encode()


rewrite(
    _own(QUORUM_STATE),
    quorum_state_damaged=_one_of(b"", b"{", bytes(20), b'{"data_version":7}', b"[]"),
    quorum_state_of_others=_of_others,
)
rewrite(
    _own("bootstrap.checkpoint"),
    bootstrap_damaged=lambda data, pick: pick.choice(
        [b"", b"x", data[: len(data) // 2], bytes(len(data))]
    ),
)
remove(quorum_state_removed=_own(QUORUM_STATE), bootstrap_removed=_own("bootstrap.checkpoint"))


PROPERTIES = (
    "version=0\nbroker.id=1\ncluster.id={cluster}\n",
    "version=0\nnode.id=1\ncluster.id={cluster}\n",
    "version=0\nbroker.id=1\nnode.id=1\n",
    "cluster.id={cluster}\nnode.id=1\n",
    "version=1\nnode.id=1\ncluster.id={cluster}\n",
    "version=1\nnode.id=1\n",
    "version=1\ncluster.id={cluster}\n",
    "version=1\nnode.id=one\ncluster.id={cluster}\n",
    "version=1\nnode.id= 1\ncluster.id={cluster}\n",
    "version=1\nnode.id=1 \ncluster.id={cluster}\n",
    "version=1\nnode.id=+1\ncluster.id={cluster}\n",
    "version=1\nnode.id=1\ncluster.id=\n",
    "version=1\nnode.id=1\nbroker.id=2\ncluster.id={cluster}\n",
    "version=1\nnode.id=1\ncluster.id={cluster}\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAA\n",
    "version=1\nnode.id=1\ncluster.id={cluster}\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAQ\n",
    "version=1\nnode.id=1\ncluster.id={cluster}\ndirectory.id=short\n",
    "version=1\nnode.id=1\ncluster.id={cluster}\ndirectory.id=\n",
    "version=01\nnode.id=1\ncluster.id={cluster}\n",
    "version=2\nnode.id=1\ncluster.id={cluster}\n",
    "version=\nnode.id=1\ncluster.id={cluster}\n",
    "\ufeffversion=1\nnode.id=1\ncluster.id={cluster}\n",
    "version=1\nnode.id=2\nnode.id=1\ncluster.id={cluster}\n",
    "",
)


def _set_properties(disks: list[Path], pick: random.Random, text: str) -> None:
    for disk in disks:
        path = disk / "meta.properties"
        lines = dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)
        path.write_bytes(text.format(cluster=lines["cluster.id"]).encode())


for number, content in enumerate(PROPERTIES):
    DAMAGES[f"properties_{number}"] = partial(_set_properties, text=content)
remove(properties_removed=_own("meta.properties"))


# ---- the offset checkpoints

CHECKPOINTS = (
    *("recovery-point-offset-checkpoint", "replication-offset-checkpoint"),
    *("log-start-offset-checkpoint", "cleaner-offset-checkpoint"),
)
CONTENTS = (
    *(b"", bytes(64), b"\xef\xbb\xbf0\n0\n", b"0\n2\norders 0 1\n", b"1\n0\n", b"0\r\n0\r\n"),
    *(b"0\n1\norders x 1\n", b"0\n1\norders 0 -5\n", b"0\n1\nno-such 0 5\n", b"0\n0\norders 0 1\n"),
)


def _set_checkpoint(disks: list[Path], pick: random.Random, name: str, data: bytes) -> None:
    (pick.choice(disks) / name).write_bytes(data)


def _remove_checkpoints(disks: list[Path], pick: random.Random, name: str) -> None:
    for disk in disks:
        (disk / name).unlink(missing_ok=True)


for name in CHECKPOINTS:
    for number, data in enumerate(CONTENTS):
        DAMAGES[f"{name}_{number}"] = partial(_set_checkpoint, name=name, data=data)
    DAMAGES[f"{name}_removed"] = partial(_remove_checkpoints, name=name)


def _make_folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _fail_disk(disk: Path, pick: random.Random) -> None:
    partition = pick.choice(_partitions(disk))
    pick.choice(
        [
            lambda: (disk / "recovery-point-offset-checkpoint").write_bytes(b"1\n0\n"),
            lambda: (partition / "leader-epoch-checkpoint").write_bytes(b"1\n0\n"),
            lambda: (partition / "partition.metadata").write_bytes(b"junk"),
            lambda: _make_folder(max(partition.glob("*.log")).with_suffix(".timeindex")),
            lambda: (disk / "meta.properties").write_bytes(b"version=2\n"),
        ]
    )()


@damage
def two_disks_fail(disks: list[Path], pick: random.Random) -> None:
    for disk in disks[-2:]:
        _fail_disk(disk, pick)


@damage
def one_disk_fails_and_one_ends_the_start(disks: list[Path], pick: random.Random) -> None:
    _fail_disk(disks[-1], pick)
    partition = pick.choice(_partitions(disks[-2:][0]))
    (partition / pick.choice(["x.snapshot", "x.log", "9.cleaned.swap"])).write_bytes(b"")


# ---- a partition's own files


def _later_timestamp(data: bytes, pick: random.Random) -> bytes:
    """Changes the largest timestamp of a .log's first batch, with a new checksum."""
    changed = bytearray(data)
    header = np.frombuffer(changed, HEADER, 1)
    header["max_timestamp_ms"] += 1
    size_bytes = LENGTH_END + int(header["batch_length_bytes"][0])
    header["crc"] = crc32c(bytes(changed[CRC_START:size_bytes]))
    return bytes(changed)


rewrite(
    _log_of,
    log_cut=_cut,
    log_flipped=_flip,
    batch_timestamp_changed=_later_timestamp,
    log_with_zeros_behind=lambda data, pick: data + bytes(pick.randint(1, 300)),
)
rewrite(_closed_log, closed_log_cut=lambda data, pick: data[:-1], closed_log_flipped=_flip_last)
remove(log_removed=_log_of)


@damage
def log_flipped_above_recovery_point(disks: list[Path], pick: random.Random) -> None:
    """The last byte of an active .log, which no start after a clean stop reads."""
    path = pick.choice([max(partition.glob("*.log")) for partition in _partitions(disks[0])])
    topic, _, number = path.parent.name.rpartition("-")
    checkpoint = disks[0] / "recovery-point-offset-checkpoint"
    pattern = re.compile(rf"^{re.escape(topic)} {number} \d+$", re.MULTILINE)
    checkpoint.write_text(pattern.sub(f"{topic} {number} 0", checkpoint.read_text()))
    path.write_bytes(_flip_last(path.read_bytes(), pick))


@damage
def closed_segment_removed(disks: list[Path], pick: random.Random) -> None:
    path = _closed_log(disks, pick)
    for file in path.parent.glob(f"{path.stem}.*"):
        file.unlink()


@damage
def log_start_beyond_end(disks: list[Path], pick: random.Random) -> None:
    partition = _log_of(disks[:1], pick).parent.name
    topic, _, number = partition.rpartition("-")
    path = disks[0] / "log-start-offset-checkpoint"
    lines = [line for line in path.read_text().splitlines()[2:] if f"{topic} {number} " not in line]
    lines.append(f"{topic} {number} 1000000")
    path.write_text("\n".join(["0", str(len(lines)), *lines]) + "\n")


@damage
def logs_removed(disks: list[Path], pick: random.Random) -> None:
    for path in _log_of(disks, pick).parent.glob("*.log"):
        path.unlink()


@damage
def partition_removed(disks: list[Path], pick: random.Random) -> None:
    shutil.rmtree(_log_of(disks, pick).parent)


FUTURE = f".{'0123456789abcdef' * 2}-future"


@damage
def replica_is_future_alone(disks: list[Path], pick: random.Random) -> None:
    """A kill after the cluster assigned the directory, before the replica got its name."""
    partition = _log_of(disks, pick).parent
    partition.rename(f"{partition}{FUTURE}")


@damage
def replica_is_future_too(disks: list[Path], pick: random.Random) -> None:
    """The same, and the replica that was moved is still in another log directory."""
    partition = _log_of(disks, pick).parent
    future = partition.rename(f"{partition}{FUTURE}")
    if len(disks) > 1:
        other = next(disk for disk in disks if disk != partition.parent)
        shutil.copytree(future, other / partition.name)


rewrite(
    _some_index,
    index_cut=_cut,
    index_flipped=_flip,
    index_with_zeros_behind=lambda data, pick: data + bytes(pick.choice([8, 12, 24, 100])),
)
rewrite(
    partial(_log_of, suffix=".snapshot"),
    producer_snapshot_cut=_cut,
    producer_snapshot_flipped=_flip,
    producer_snapshot_of_other_version=lambda data, pick: (
        bytes([0, pick.choice([0, 2, 3])]) + data[2:]
    ),
)
rewrite(
    partial(_log_of, suffix=".txnindex"),
    transaction_index_cut=_cut,
    transaction_index_flipped=_flip,
)
rewrite(
    _next_to_log("leader-epoch-checkpoint"),
    epochs_damaged=_one_of(b"", b"junk", b"0\n1\nx 0\n", b"0\n3\n0 0\n", b"1\n0\n"),
)
rewrite(
    _next_to_log("partition.metadata"),
    partition_metadata_damaged=_one_of(
        *(b"", b"junk", b"version: 0\ntopic_id: AkXzOiIERbadGF_c6qNvhw", b"\xff"),
        *(bytes(43), b"version: 1\ntopic_id: AkXzOiIERbadGF_c6qNvhw", b"version: 0\n"),
        *(b"version: -1\ntopic_id: AkXzOiIERbadGF_c6qNvhw\n", b"version: 0\ntopic_id: \n"),
        b"version: 0\r\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA\r\n",
    ),
)
remove(
    index_removed=partial(_log_of, suffix=".index"),
    timeindex_removed=partial(_log_of, suffix=".timeindex"),
    partition_metadata_removed=_next_to_log("partition.metadata"),
)


@damage
def producer_snapshots_removed(disks: list[Path], pick: random.Random) -> None:
    for path in _log_of(disks, pick, ".snapshot").parent.glob("*.snapshot"):
        path.unlink()


@damage
def partition_metadata_of_another(disks: list[Path], pick: random.Random) -> None:
    """The topic id of another topic of the cluster, or that of the metadata topic."""
    paths = sorted(path for disk in disks for path in disk.glob("*/partition.metadata"))
    to, of = pick.sample(paths, 2)
    to.write_bytes(of.read_bytes())


STRANGE_FILES = (
    *("._00000000000000000000.log", "00000000000000000000 (1).log", "x.snapshot", "5.log"),
    *(".DS_Store", "Thumbs.db", "00000000000000000000.log.bak", "a.log.gz", "A.LOG"),
    *(".nfs0001", "a.tmp", "7.index", "00000000000000000000.log.swap", "x.cleaned"),
    *("+5.log", "-5.log", ".log", "5.6.log", f"{5:021}.log", "\u0665.log", "5.LOG", "5.snapshot"),
)
STRANGE_DIRECTORIES = (
    *("lost+found", "t-+1", "orders", "orders-00", "backup-x", "cut-0.old", "a-1"),
    *(".snapshot", ".Trash-0", "orders-0 (1)", "orders-0 - copy", "-0", "orders-", "orders--1"),
    *("orders-2147483648", "orders-0-delete", "orders-0.0123-delete", "a-\u0665"),
    *(f"a-1.{'0123456789abcdef' * 2}-{state}" for state in ("delete", "stray", "future")),
    *(f"orders-0.{'0123456789abcdef' * 2}-{state}" for state in ("delete", "stray", "future")),
)
STRANGE_FOLDERS = (f"{0:020}.log", f"{5:020}.log", f"{5:020}.index", "notes", f"{5:020}.snapshot")


def _put_file(disks: list[Path], pick: random.Random, name: str) -> None:
    _log_of(disks, pick).with_name(name).write_bytes(b"")


def _put_directory(disks: list[Path], pick: random.Random, name: str) -> None:
    (pick.choice(disks) / name).mkdir()


def _put_folder(disks: list[Path], pick: random.Random, name: str) -> None:
    _make_folder(_log_of(disks, pick).with_name(name))


@damage
def partition_is_a_link(disks: list[Path], pick: random.Random) -> None:
    partition = _log_of(disks, pick).parent
    away = partition.parents[1] / f"elsewhere-{partition.name}"
    shutil.move(partition, away)
    partition.symlink_to(away)


@damage
def link_to_nothing(disks: list[Path], pick: random.Random) -> None:
    (pick.choice(disks) / "notes").symlink_to("/nowhere/at/all")


for name in STRANGE_FOLDERS:
    DAMAGES[f"folder {name}"] = partial(_put_folder, name=name)
for name in STRANGE_FILES:
    DAMAGES[f"file {name}"] = partial(_put_file, name=name)
for name in STRANGE_DIRECTORIES:
    DAMAGES[f"directory {name}"] = partial(_put_directory, name=name)
