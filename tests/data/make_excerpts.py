"""Writes excerpts of recordings that are too large to be kept here: directories, the lines of a
start, old segments, lines of 4.4.0.

python make_excerpts.py DIRECTORIES EXPECTED VECTORS OUT, where DIRECTORIES has the unpacked broker
directories by name, EXPECTED some of their recordings by name with the suffix .expected, and
VECTORS legacy-segments.jsonl.gz, replays-4.4.0.jsonl.gz and recoveries-4.4.0.jsonl.gz. Partitions
are taken whole, sparse and with their times; GNU tar is needed.
"""

import gzip
import hashlib
import json
import lzma
import subprocess
import sys
from pathlib import Path

TAR = (
    *("tar", "--sparse", "--format=posix", "--sort=name", "--owner=0", "--group=0"),
    *("--numeric-owner", "--pax-option=delete=atime,delete=ctime"),
)
TAKEN = {  # partitions; the files of the broker directory itself go with them
    "kafka-4.3.1-unstartable": ("__cluster_metadata-0", "meter-readings-0"),
    "kafka-3.9.0-leader": ("nothing-yet-0",),
    "kafka-2.8.2-legacy": ("v2.empty-0",),
    "kafka-4.4.0-killed-restarted": ("__cluster_metadata-0", "tickets-any-0"),
}
# of a broker with three log directories: what of each is taken
JBOD = "kafka-4.4.0-jbod-killed"
JBOD_TAKEN = {
    "disk-a": (
        "__cluster_metadata-0",
        "__transaction_state-0",
        "audit-1.6cc06efbdb714520b4200e29fa6d338b-delete",
        "orders-2",
        "payments-0",
        "profiles-1",
    ),
    "disk-b": ("__transaction_state-1", "audit-1", "payments-2", "profiles-0"),
    "disk-c": ("__transaction_state-2", "audit-0", "payments-1"),
}
CONFIGS_OF = "All configs for topic "
LARGEST = 20_000  # characters of a line
# of 4.4.0's lines: each step of a log, each exception of a recovery, and those where 4.3.1 leaves
# other files
KEPT = {
    "replays-4.4.0": ("4.4.0", (0, 4, 9, 17, 22, 23, 29, 32, 44, 57, 58)),
    "recoveries-4.4.0": ("4.4.0-rec", (0, 2, 4, 7, 12, 24, 33, 40, 42, 51)),
}  # fmt: skip


def directory(folder: Path, name: str, out: Path) -> None:
    """Writes some partitions of a broker directory, and its own files."""
    own = sorted(path.name for path in (folder / name).iterdir() if path.is_file())
    members = [f"{name}/{one}" for one in (*own, *TAKEN[name])]
    made = subprocess.run(
        [*TAR, "-C", str(folder), "-c", *members], capture_output=True, check=True
    ).stdout
    out.write_bytes(gzip.compress(made, mtime=0))


def log_directories(folder: Path, out: Path) -> None:
    """Writes some partitions of each log directory, their own files, server.properties."""
    members = [f"{JBOD}/server.properties"]
    for directory_name, partitions in JBOD_TAKEN.items():
        root = folder / JBOD / directory_name
        own = sorted(path.name for path in root.iterdir() if path.is_file())
        members += [f"{JBOD}/{directory_name}/{one}" for one in (*own, *partitions)]
    made = subprocess.run(
        [*TAR, "-C", str(folder), "-c", *members], capture_output=True, check=True
    ).stdout
    out.write_bytes(lzma.compress(made, preset=9 | lzma.PRESET_EXTREME))


def log_directory_answers(folder: Path, expected: Path) -> dict:
    """Returns the broker's answers about its log directories, and its files after the start."""
    log_dirs = json.loads((expected / f"{JBOD}.expected" / "log-dirs.json").read_text())
    sizes = {
        directory["logDir"]: {one["partition"]: one["size"] for one in directory["partitions"]}
        for directory in log_dirs["brokers"][0]["logDirs"]
    }
    configs: dict[str, dict[str, str]] = {}
    for line in (expected / f"{JBOD}.expected" / "topic-configs.txt").read_text().splitlines():
        if line.startswith(CONFIGS_OF):
            configs[line.removeprefix(CONFIGS_OF).removesuffix(" are:")] = own = {}
        else:
            name, _, rest = line.strip().partition("=")
            own[name] = rest.partition(" sensitive=")[0]
    after = folder / JBOD.replace("killed", "restarted")
    files = {}
    for directory_name, partitions in JBOD_TAKEN.items():
        for partition in partitions:
            for path in sorted((after / directory_name / partition).glob("*")):
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                files[str(path.relative_to(after))] = [path.stat().st_size, digest[:16]]
    return {"log_dirs": sizes, "configs": configs, "restarted": files}


def segments(vectors: Path) -> list[dict]:
    """Returns different segments of both releases, with appends of one batch and of several."""
    found, taken = [], set()
    with gzip.open(vectors / "legacy-segments.jsonl.gz", "rt") as lines:
        for line in lines:
            one = json.loads(line)
            kind = one["version"], one["index_interval_bytes"], max(map(len, one["appends"])) > 1
            if kind not in taken and len(line) < LARGEST:
                taken.add(kind)
                left_out = ("queries", "recovered", "recover_truncated")
                found.append({name: one[name] for name in one if name not in left_out})
    return found


def kept(vectors: Path, name: str) -> str:
    begins, numbers = KEPT[name]
    ids = {f"{begins}-{number}" for number in numbers}
    with gzip.open(vectors / f"{name}.jsonl.gz", "rt") as lines:
        return "".join(line for line in lines if json.loads(line)["id"] in ids)


def of_the_failed_start(expected: Path) -> list[str]:
    lines = (expected / "start-error.txt").read_text().splitlines()
    named = ("[LogLoader partition=meter-readings-0,", "Error while loading logs", " ERROR ")
    return [
        line for line in lines if any(one in line for one in named) or line.startswith("java.lang.")
    ]


def answers(expected: Path, topic: str) -> str:
    """Returns the broker's answers about one topic, one line per question."""
    lines = [
        line
        for name in ("list-offsets", "fetch")
        for line in (expected / f"{name}.jsonl").read_text().splitlines()
    ]
    return "".join(f"{line}\n" for line in lines if json.loads(line)["topic"] == topic)


if __name__ == "__main__":
    directories, expected, vectors, out = map(Path, sys.argv[1:])
    for name in TAKEN:
        directory(directories, name, out / f"{name}-excerpt.tar.gz")
    log_directories(directories, out / f"{JBOD}-excerpt.tar.xz")
    answers = json.dumps(log_directory_answers(directories, expected), sort_keys=True)
    (out / f"{JBOD}-excerpt.json.gz").write_bytes(gzip.compress(answers.encode(), mtime=0))
    failed = of_the_failed_start(expected / "kafka-4.3.1-unstartable.expected")
    (out / "kafka-4.3.1-unstartable.start-error.txt").write_text("\n".join(failed) + "\n")
    asked = answers(expected / "kafka-4.4.0-killed-restarted.expected", "tickets-any")
    (out / "kafka-4.4.0-killed-restarted-answers.jsonl.gz").write_bytes(
        gzip.compress(asked.encode(), mtime=0)
    )
    text = "".join(f"{json.dumps(one)}\n" for one in segments(vectors))
    (out / "old_segments.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    for name in KEPT:
        (out / f"{name}.jsonl.gz").write_bytes(gzip.compress(kept(vectors, name).encode(), mtime=0))
