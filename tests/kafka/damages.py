"""Ways to damage a stopped broker's directory, each by name: `DAMAGES[name](disks, random)`.

`disks` are the broker's log directories, the one with the metadata log first. `random` alone
chooses a byte or a partition within a damage.
"""

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kafkaviz.binary.crc32c import crc32c
from kafkaviz.format.batch import CRC_START, HEADER, LENGTH_END

METADATA = "__cluster_metadata-0"
Damage = Callable[[list[Path], random.Random], None]
DAMAGES: dict[str, Damage] = {}


def damage(change: Damage) -> Damage:
    """Registers a damage under the name of its function."""
    DAMAGES[change.__name__.strip("_")] = change
    return change


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


def _flip(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    _write(path, bytes(data))


def _write(path: Path, data: bytes) -> None:
    if path.exists():
        path.chmod(0o644)
    path.write_bytes(data)


def _metadata_log(disks: list[Path]) -> Path:
    return max((disks[0] / METADATA).glob("*.log"))


def _newest_snapshot(disks: list[Path]) -> Path:
    return max((disks[0] / METADATA).glob("*.checkpoint"))


def _remove_snapshots(disks: list[Path]) -> None:
    for path in (disks[0] / METADATA).glob("*.checkpoint"):
        path.unlink()


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
        (disk / ".kafka_cleanshutdown").unlink(missing_ok=True)
        (disk / ".kafka_cleanshutdown").mkdir()


# ---- the snapshots of the cluster's metadata, and its log


@damage
def snapshot_empty(disks: list[Path], pick: random.Random) -> None:
    _write(_newest_snapshot(disks), b"")


@damage
def snapshot_torn_in_footer(disks: list[Path], pick: random.Random) -> None:
    path = _newest_snapshot(disks)
    _write(path, path.read_bytes()[: -pick.randint(1, 40)])


@damage
def snapshot_torn_in_header(disks: list[Path], pick: random.Random) -> None:
    path = _newest_snapshot(disks)
    _write(path, path.read_bytes()[: pick.randint(1, 80)])


@damage
def snapshot_torn_anywhere(disks: list[Path], pick: random.Random) -> None:
    path = _newest_snapshot(disks)
    data = path.read_bytes()
    _write(path, data[: pick.randint(100, len(data) - 1)])


@damage
def snapshot_flipped(disks: list[Path], pick: random.Random) -> None:
    path = _newest_snapshot(disks)
    _flip(path, pick.randrange(path.stat().st_size))


@damage
def snapshot_of_zeros(disks: list[Path], pick: random.Random) -> None:
    path = _newest_snapshot(disks)
    _write(path, bytes(path.stat().st_size))


@damage
def snapshot_with_zeros_behind(disks: list[Path], pick: random.Random) -> None:
    path = _newest_snapshot(disks)
    _write(path, path.read_bytes() + bytes(pick.randint(1, 200)))


@damage
def snapshot_newest_removed(disks: list[Path], pick: random.Random) -> None:
    _newest_snapshot(disks).unlink()


@damage
def snapshots_removed(disks: list[Path], pick: random.Random) -> None:
    _remove_snapshots(disks)


@damage
def snapshot_older_empty(disks: list[Path], pick: random.Random) -> None:
    _write(min((disks[0] / METADATA).glob("*.checkpoint")), b"")


@damage
def snapshot_beyond_log_end(disks: list[Path], pick: random.Random) -> None:
    path = _newest_snapshot(disks)
    path.rename(path.with_name(f"{900 + pick.randrange(9):020}-0000000001.checkpoint"))


@damage
def snapshot_beyond_log_end_torn(disks: list[Path], pick: random.Random) -> None:
    path = _newest_snapshot(disks)
    path.rename(path.with_name(f"{900 + pick.randrange(9):020}-0000000001.checkpoint"))
    snapshot_torn_in_header(disks, pick)


@damage
def snapshot_of_later_epoch(disks: list[Path], pick: random.Random) -> None:
    path = _newest_snapshot(disks)
    path.rename(path.with_name(path.name.replace("-0000000001", "-0000000009")))


@damage
def snapshot_name_of_text(disks: list[Path], pick: random.Random) -> None:
    (disks[0] / METADATA / "latest.checkpoint").write_bytes(b"")


@damage
def metadata_log_cut(disks: list[Path], pick: random.Random) -> None:
    path = _metadata_log(disks)
    data = path.read_bytes()
    path.write_bytes(data[: pick.randrange(1, len(data))])


@damage
def metadata_log_cut_without_snapshots(disks: list[Path], pick: random.Random) -> None:
    metadata_log_cut(disks, pick)
    _remove_snapshots(disks)


@damage
def metadata_log_empty(disks: list[Path], pick: random.Random) -> None:
    _metadata_log(disks).write_bytes(b"")


@damage
def metadata_log_empty_without_snapshots(disks: list[Path], pick: random.Random) -> None:
    metadata_log_empty(disks, pick)
    _remove_snapshots(disks)


@damage
def metadata_log_missing(disks: list[Path], pick: random.Random) -> None:
    for path in (disks[0] / METADATA).glob("*.log"):
        path.unlink()


@damage
def metadata_log_flipped(disks: list[Path], pick: random.Random) -> None:
    path = _metadata_log(disks)
    _flip(path, pick.randrange(path.stat().st_size))


@damage
def metadata_log_flipped_without_snapshots(disks: list[Path], pick: random.Random) -> None:
    metadata_log_flipped(disks, pick)
    _remove_snapshots(disks)


@damage
def metadata_epochs_damaged(disks: list[Path], pick: random.Random) -> None:
    data = pick.choice([b"", b"junk", bytes(12), b"0\n9\n0 0\n"])
    (disks[0] / METADATA / "leader-epoch-checkpoint").write_bytes(data)


@damage
def metadata_partition_metadata_damaged(disks: list[Path], pick: random.Random) -> None:
    data = pick.choice([b"", b"junk", b"version: 0\ntopic_id: AkXzOiIERbadGF_c6qNvhw"])
    (disks[0] / METADATA / "partition.metadata").write_bytes(data)


@damage
def metadata_directory_removed(disks: list[Path], pick: random.Random) -> None:
    shutil.rmtree(disks[0] / METADATA)


@damage
def metadata_directory_empty(disks: list[Path], pick: random.Random) -> None:
    shutil.rmtree(disks[0] / METADATA)
    (disks[0] / METADATA).mkdir()


def _keep_of_metadata(disks: list[Path], *suffixes: str) -> None:
    for path in (disks[0] / METADATA).iterdir():
        if not path.name.endswith(suffixes):
            path.unlink()


@damage
def metadata_snapshots_alone(disks: list[Path], pick: random.Random) -> None:
    _keep_of_metadata(disks, ".checkpoint")


@damage
def metadata_log_alone(disks: list[Path], pick: random.Random) -> None:
    _keep_of_metadata(disks, ".log")


@damage
def metadata_quorum_state_alone(disks: list[Path], pick: random.Random) -> None:
    _keep_of_metadata(disks, "quorum-state")


@damage
def metadata_log_before_topics(disks: list[Path], pick: random.Random) -> None:
    """Keeps the log before the first topic: the election, the features, the registration."""
    path = _metadata_log(disks)
    path.write_bytes(path.read_bytes()[: pick.choice([91, 300, 500])])
    _remove_snapshots(disks)
    if pick.random() < 0.5:
        (disks[0] / METADATA / "quorum-state").unlink()


@damage
def snapshots_unfinished(disks: list[Path], pick: random.Random) -> None:
    newest = _newest_snapshot(disks)
    for suffix in (".part", ".deleted"):
        shutil.copy(newest, newest.with_name(f"{newest.name}{suffix}"))


@damage
def snapshot_twice(disks: list[Path], pick: random.Random) -> None:
    """Two snapshots of one offset: the one with the later epoch is empty."""
    path = _newest_snapshot(disks)
    path.with_name(path.name.replace("-0000000001", "-0000000002")).write_bytes(b"")


# ---- the files that a start reads first


@damage
def marker_of_junk(disks: list[Path], pick: random.Random) -> None:
    data = pick.choice([b"", b"junk", b"{", b"\0" * 9, b'{"version":9,"brokerEpoch":-1}', b"[]"])
    for disk in disks:
        (disk / ".kafka_cleanshutdown").write_bytes(data)


@damage
def quorum_state_damaged(disks: list[Path], pick: random.Random) -> None:
    data = pick.choice([b"", b"{", bytes(20), b'{"data_version":7}', b"[]"])
    (disks[0] / METADATA / "quorum-state").write_bytes(data)


@damage
def quorum_state_removed(disks: list[Path], pick: random.Random) -> None:
    (disks[0] / METADATA / "quorum-state").unlink()


@damage
def quorum_state_of_others(disks: list[Path], pick: random.Random) -> None:
    path = disks[0] / METADATA / "quorum-state"
    state = json.loads(path.read_text())
    state["leaderEpoch"] = pick.choice([0, 7])
    path.write_text(json.dumps(state))


@damage
def bootstrap_removed(disks: list[Path], pick: random.Random) -> None:
    (disks[0] / "bootstrap.checkpoint").unlink()


@damage
def bootstrap_damaged(disks: list[Path], pick: random.Random) -> None:
    path = disks[0] / "bootstrap.checkpoint"
    data = path.read_bytes()
    _write(path, pick.choice([b"", b"x", data[: len(data) // 2], bytes(len(data))]))


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


def _set_properties(text: str) -> Damage:
    def change(disks: list[Path], pick: random.Random) -> None:
        for disk in disks:
            path = disk / "meta.properties"
            lines = dict(
                line.split("=", 1) for line in path.read_text().splitlines() if "=" in line
            )
            path.write_bytes(text.format(cluster=lines["cluster.id"]).encode())

    return change


for number, content in enumerate(PROPERTIES):
    DAMAGES[f"properties_{number}"] = _set_properties(content)


@damage
def properties_removed(disks: list[Path], pick: random.Random) -> None:
    (disks[0] / "meta.properties").unlink()


# ---- the offset checkpoints

CHECKPOINTS = (
    *("recovery-point-offset-checkpoint", "replication-offset-checkpoint"),
    *("log-start-offset-checkpoint", "cleaner-offset-checkpoint"),
)
CONTENTS = (
    *(b"", bytes(64), b"\xef\xbb\xbf0\n0\n", b"0\n2\norders 0 1\n", b"1\n0\n", b"0\r\n0\r\n"),
    *(b"0\n1\norders x 1\n", b"0\n1\norders 0 -5\n", b"0\n1\nno-such 0 5\n", b"0\n0\norders 0 1\n"),
)


def _set_checkpoint(name: str, data: bytes) -> Damage:
    def change(disks: list[Path], pick: random.Random) -> None:
        (pick.choice(disks) / name).write_bytes(data)

    return change


for name in CHECKPOINTS:
    for number, data in enumerate(CONTENTS):
        DAMAGES[f"{name}_{number}"] = _set_checkpoint(name, data)
    DAMAGES[f"{name}_removed"] = lambda disks, pick, name=name: [
        (disk / name).unlink(missing_ok=True) for disk in disks
    ]


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


@damage
def log_cut(disks: list[Path], pick: random.Random) -> None:
    path = _log_of(disks, pick)
    data = path.read_bytes()
    path.write_bytes(data[: pick.randrange(len(data))])


@damage
def log_flipped(disks: list[Path], pick: random.Random) -> None:
    path = _log_of(disks, pick)
    _flip(path, pick.randrange(path.stat().st_size))


@damage
def log_flipped_above_recovery_point(disks: list[Path], pick: random.Random) -> None:
    """The last byte of an active .log, which no start after a clean stop reads."""
    path = pick.choice([max(partition.glob("*.log")) for partition in _partitions(disks[0])])
    topic, _, number = path.parent.name.rpartition("-")
    checkpoint = disks[0] / "recovery-point-offset-checkpoint"
    pattern = re.compile(rf"^{re.escape(topic)} {number} \d+$", re.MULTILINE)
    checkpoint.write_text(pattern.sub(f"{topic} {number} 0", checkpoint.read_text()))
    _flip(path, path.stat().st_size - 1)


@damage
def batch_timestamp_changed(disks: list[Path], pick: random.Random) -> None:
    """The largest timestamp of a .log's first batch, with a new checksum."""
    path = _log_of(disks, pick)
    data = bytearray(path.read_bytes())
    header = np.frombuffer(data, HEADER, 1)
    header["max_timestamp_ms"] += 1
    size_bytes = LENGTH_END + int(header["batch_length_bytes"][0])
    header["crc"] = crc32c(bytes(data[CRC_START:size_bytes]))
    _write(path, bytes(data))


def _closed_log(disks: list[Path], pick: random.Random) -> Path:
    logs = [sorted(partition.glob("*.log")) for partition in _partitions(disks[0])]
    return pick.choice([log for of_partition in logs for log in of_partition[:-1]])


@damage
def closed_log_cut(disks: list[Path], pick: random.Random) -> None:
    path = _closed_log(disks, pick)
    path.write_bytes(path.read_bytes()[:-1])


@damage
def closed_log_flipped(disks: list[Path], pick: random.Random) -> None:
    path = _closed_log(disks, pick)
    _flip(path, path.stat().st_size - 1)


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
def log_with_zeros_behind(disks: list[Path], pick: random.Random) -> None:
    path = _log_of(disks, pick)
    path.write_bytes(path.read_bytes() + bytes(pick.randint(1, 300)))


@damage
def log_removed(disks: list[Path], pick: random.Random) -> None:
    _log_of(disks, pick).unlink()


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


@damage
def index_removed(disks: list[Path], pick: random.Random) -> None:
    _log_of(disks, pick, ".index").unlink()


@damage
def index_cut(disks: list[Path], pick: random.Random) -> None:
    path = _log_of(disks, pick, pick.choice([".index", ".timeindex"]))
    data = path.read_bytes()
    path.write_bytes(data[: pick.randrange(len(data))])


@damage
def index_flipped(disks: list[Path], pick: random.Random) -> None:
    path = _log_of(disks, pick, pick.choice([".index", ".timeindex"]))
    _flip(path, pick.randrange(path.stat().st_size))


def _kind_cut(kind: str) -> Damage:
    def change(disks: list[Path], pick: random.Random) -> None:
        path = _log_of(disks, pick, kind)
        data = path.read_bytes()
        path.write_bytes(data[: pick.randrange(len(data))])

    return change


DAMAGES["producer_snapshot_cut"] = _kind_cut(".snapshot")
DAMAGES["transaction_index_cut"] = _kind_cut(".txnindex")


@damage
def index_with_zeros_behind(disks: list[Path], pick: random.Random) -> None:
    path = _log_of(disks, pick, pick.choice([".index", ".timeindex"]))
    path.write_bytes(path.read_bytes() + bytes(pick.choice([8, 12, 24, 100])))


@damage
def timeindex_removed(disks: list[Path], pick: random.Random) -> None:
    _log_of(disks, pick, ".timeindex").unlink()


@damage
def producer_snapshot_of_other_version(disks: list[Path], pick: random.Random) -> None:
    path = _log_of(disks, pick, ".snapshot")
    path.write_bytes(bytes([0, pick.choice([0, 2, 3])]) + path.read_bytes()[2:])


@damage
def producer_snapshots_removed(disks: list[Path], pick: random.Random) -> None:
    for path in _log_of(disks, pick, ".snapshot").parent.glob("*.snapshot"):
        path.unlink()


@damage
def producer_snapshot_flipped(disks: list[Path], pick: random.Random) -> None:
    path = _log_of(disks, pick, ".snapshot")
    _flip(path, pick.randrange(path.stat().st_size))


@damage
def transaction_index_flipped(disks: list[Path], pick: random.Random) -> None:
    path = _log_of(disks, pick, ".txnindex")
    _flip(path, pick.randrange(path.stat().st_size))


@damage
def epochs_damaged(disks: list[Path], pick: random.Random) -> None:
    path = _log_of(disks, pick).with_name("leader-epoch-checkpoint")
    path.write_bytes(pick.choice([b"", b"junk", b"0\n1\nx 0\n", b"0\n3\n0 0\n", b"1\n0\n"]))


@damage
def partition_metadata_damaged(disks: list[Path], pick: random.Random) -> None:
    path = _log_of(disks, pick).with_name("partition.metadata")
    path.write_bytes(
        pick.choice(
            [
                *(b"", b"junk", b"version: 0\ntopic_id: AkXzOiIERbadGF_c6qNvhw", b"\xff"),
                *(bytes(43), b"version: 1\ntopic_id: AkXzOiIERbadGF_c6qNvhw", b"version: 0\n"),
                *(b"version: -1\ntopic_id: AkXzOiIERbadGF_c6qNvhw\n", b"version: 0\ntopic_id: \n"),
                b"version: 0\r\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA\r\n",
            ]
        )
    )


@damage
def partition_metadata_of_another(disks: list[Path], pick: random.Random) -> None:
    """The topic id of another topic of the cluster, or that of the metadata topic."""
    paths = sorted(path for disk in disks for path in disk.glob("*/partition.metadata"))
    to, of = pick.sample(paths, 2)
    to.write_bytes(of.read_bytes())


@damage
def partition_metadata_removed(disks: list[Path], pick: random.Random) -> None:
    _log_of(disks, pick).with_name("partition.metadata").unlink()


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


def _put_file(name: str) -> Damage:
    def change(disks: list[Path], pick: random.Random) -> None:
        _log_of(disks, pick).with_name(name).write_bytes(b"")

    return change


def _put_directory(name: str) -> Damage:
    def change(disks: list[Path], pick: random.Random) -> None:
        (pick.choice(disks) / name).mkdir()

    return change


def _put_folder(name: str) -> Damage:
    def change(disks: list[Path], pick: random.Random) -> None:
        _make_folder(_log_of(disks, pick).with_name(name))

    return change


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
    DAMAGES[f"folder {name}"] = _put_folder(name)
for name in STRANGE_FILES:
    DAMAGES[f"file {name}"] = _put_file(name)
for name in STRANGE_DIRECTORIES:
    DAMAGES[f"directory {name}"] = _put_directory(name)
