"""python -m tests.kafka.record_loads: lets Kafka 4.3.1 and 4.4.0 read damaged checkpoints and load
damaged partition directories, and writes tests/data/checkpoint_faults.jsonl, load_faults.jsonl,
random_loads.jsonl and split_loads.jsonl.
"""

import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from kafkaviz.binary.file_view import in_memory
from kafkaviz.format import names, producer_snapshot
from kafkaviz.format import txn_index as format_txn_index
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.startup.log_loader import LogLoader
from kafkaviz.simulate.steps import StoredLog
from tests.kafka.harness import BROKER_POM, FOLDER, JavaProcess, Kafka, fetch_class_path
from tests.search import damaged_logs
from tests.simulate import overflowing_logs

RELEASES = ("4.3.1", "4.4.0")
OLD_RELEASE = "3.9.0"
DATA = Path(__file__).parents[1] / "data" / "checkpoint_faults.jsonl"
LOADS = DATA.with_name("load_faults.jsonl")
RANDOM = DATA.with_name("random_loads.jsonl")
RANDOM_LOGS = 120
SPLITS = DATA.with_name("split_loads.jsonl")
SPLIT_LOGS = 100
# two segments, a transaction that is open at the end, producer snapshots
SOURCE = DATA.parent / "field_cases" / "recovery-point-checkpoint-bad-count.tar.gz"
PARTITION = "broker/orders-0"
EVERY = slice(None)
FIRST, SECOND, END = "0" * 20, f"{23:020}", f"{28:020}"
CHECKPOINTS = (
    # nothing, blanks, zeros
    *(b"", b"0", b"0\n", b"0\n0\n", b"\n", b" \n", b"0\n\n", b"0\n0\n\n", b"0\n0\n \n"),
    *(b"\0", bytes(60), b"0\n0\n" + bytes(4), b"0" * 60, b"0" * 5000 + b"\n0\n"),
    # other ends of lines, and of words
    *(b"0\r\n1\r\nt 0 5\r\n", b"0\r1\rt 0 5", b"0\n1\nt 0 5", b"0\n1\nt\t0  5 \n"),
    *(b"0\n1\n t 0 5\n", b"0\n1\nt\x0b0\x0c5\n", b"0\n1\nt 0 5\x85\n"),
    *("0\n1\nt 0 5\u2028\n".encode(), b"0\n1\nt\x1c0 5\n"),
    # another version or count
    *(b"1\n1\nt 0 5\n", b"-1\n0\n", b"0 \n0\n", b" 0\n0\n", b"+0\n+1\nt +0 +5\n", b"-0\n-0\n"),
    *(b"0\n0\nt 0 5\n", b"0\n2\nt 0 5\n", b"0\n1\nt 0 5\nt 1 5\n", b"0\n-1\n", b"0\n-1\nt 0 5\n"),
    *(b"0\n2147483647\nt 0 5\n", b"0\n2147483646\nt 0 5\n", b"0\n2147483648\nt 0 5\n", b"0\nx\n"),
    # a byte order mark, UTF-16, bytes that are not UTF-8
    *(b"\xef\xbb\xbf0\n1\nt 0 5\n", "0\n1\nt 0 5\n".encode("utf-16"), b"0\n1\n\xff 0 5\n"),
    *(b"0\n1\nt 0 5\n\xff", b"0\n1\n\xed\xa0\x80 0 5\n", "0\n1\n\u00e4 0 5\n".encode()),
    # fields
    *(b"0\n1\nt 0\n", b"0\n1\nt 0 5 6\n", b"0\n1\nt\n", b"0\n1\nt x 5\n", b"0\n1\nt 0 x\n"),
    *(b"0\n1\nt x y z\n", b"0\n2\nt x 5\n", b"0\n1\nt 0 5\nt x 5\n", b"0\n2\nt 0 5\njunk\nt x 5\n"),
    *(b"0\n1\nt -1 -5\n", b"0\n1\nt 2147483648 5\n", b"0\n1\nt 0 9223372036854775807\n"),
    *(b"0\n1\nt 0 9223372036854775808\n", b"0\n1\nt 0 -9223372036854775808\n", b"0\n1\nt 0 5L\n"),
    *(b"0\n1\nt 0 5.0\n", b"0\n1\nt 0 0x5\n", b"0\n1\nt 0 -\n", b"0\n1\nt 0 +\n"),
    *(b"0\n1\nt 0 1_0\n", "0\n1\nt \u0660 \u0665\n".encode(), "0\n1\nt 0 \uff15\n".encode()),
    *("\u0660\n\u0660\n".encode(), "0\n1\nt 0 \U0001d7ce\n".encode()),
    *("0\n1\nt 0 \u00b2\n".encode(), "0\n1\nt\u00a00 5\n".encode()),
    # the same partition twice, garbage
    *(b"0\n2\nt 0 5\nt 0 6\n", b"0\n2\nt 0 5\nt 00 6\n", b"junk", b"<html>\n", b'{"version":0}\n'),
    bytes(range(256)),
)


# of orders-0: files that are written (None removes one) or copied, folders that are made
Change = dict[str, str | None]
NUMBERS = (
    *("._0", "x", "", " 0", "0 ", "0 (1)", "5L", "0x5", "1e3", "9" * 20, "- 5", "0_1", "\u00b2"),
    "\U0001d7ce",
)
OTHERS = ("5", "+5", "-5", "0", "000023", "28", "100", "\u0665", "9223372036854775807", "23")
IGNORED = (
    *(".DS_Store", "Thumbs.db", f"{FIRST}.log.bak", f"{FIRST}.log.gz", f"{FIRST}.LOG", ".nfs0001"),
    *("x.tmp", "log", "x.logs"),
)


def name_changes() -> Iterator[dict]:
    """Yields files with names that Kafka does not write, one per directory."""
    for ending in (
        *(".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".cleaned", ".swap"),
        *(".deleted", ".log.cleaned", ".log.swap", ".checkpoint"),
    ):
        for stem in NUMBERS if ending in (".log", ".snapshot", ".cleaned") else ("._0", "x", ""):
            yield {"write": {f"{stem}{ending}": "6a756e6b"}}
        for stem in OTHERS if ending in (".log", ".snapshot") else ("5", "000023", "\u0665"):
            if f"{stem}{ending}" not in (".log", ".snapshot"):
                yield {"write": {f"{stem}{ending}": "6a756e6b"}}
    for name in IGNORED:
        yield {"write": {name: "6a756e6b"}}
    yield {"copy": {"5.log": f"{FIRST}.log"}}
    yield {"copy": {"7.log": f"{SECOND}.log", "7.index": f"{SECOND}.index"}}


def folder_changes() -> Iterator[dict]:
    """Yields folders where Kafka has files."""
    for stem in (FIRST, SECOND, f"{5:020}"):
        for kind in (
            *("log", "index", "timeindex", "txnindex", "snapshot", "log.cleaned", "log.swap"),
            "log.deleted",
        ):
            yield {"write": {f"{stem}.{kind}": None}, "folders": [f"{stem}.{kind}"]}
    for name in (
        *(f"{END}.snapshot", "x.log", "x.snapshot", names.LEADER_EPOCHS, names.PARTITION_METADATA),
        "x",
    ):
        yield {"write": {name: None}, "folders": [name]}
    every_log = {f"{stem}.log": None for stem in (FIRST, SECOND)}
    yield {"write": every_log, "folders": [f"{FIRST}.log"]}


def txn_index(*entries: tuple[int, int]) -> str:
    """Returns a .txnindex with these versions and last offsets."""
    rows = [(version, 1, 20, last_offset, last_offset + 1) for version, last_offset in entries]
    return np.array(rows, format_txn_index.ENTRY).tobytes().hex()


def txn_index_changes() -> Iterator[dict]:
    """Yields versions that only one release reads, before and after a wrong offset."""
    for version in (0, 1, 0xFF, 0x100, 0x7F00, -0x8000, -1, -0x100, 0x1FF):
        yield {"write": {f"{SECOND}.txnindex": txn_index((version, 23))}}
    for first, second in (((0, 5), (256, 23)), ((256, 5), (0, 23)), ((-1, 5), (-1, 23))):
        yield {"write": {f"{SECOND}.txnindex": txn_index(first, second)}}
    yield {"write": {f"{SECOND}.txnindex": txn_index((0, 23), (256, 5))}}
    yield {"write": {f"{SECOND}.txnindex": txn_index((256, 23)), f"{SECOND}.index": None}}
    yield {"write": {f"{SECOND}.txnindex": txn_index((256, 23))[:-2]}}


def snapshot(*open_transactions: tuple[int, int]) -> str:
    rows = [(producer, 0, 4, 4, 0, 0, -1, first) for producer, first in open_transactions]
    return producer_snapshot.build(np.array(rows, producer_snapshot.PRODUCER)).hex()


def open_transaction_changes(source: dict[str, bytes]) -> Iterator[dict]:
    """Yields snapshots with an open transaction whose producer ends it or does not appear."""
    second = {f"{SECOND}.{kind}": None for kind in ("log", "index", "timeindex", "snapshot")}
    one_segment = {**second, f"{END}.snapshot": None}
    opened = [(5, (0, 3)), (5, (9, 3)), (23, (0, 3)), (23, (0, 23)), (23, (0, 22)), (23, (0, 99))]
    for offset, transaction in opened:
        yield {"write": {**one_segment, f"{offset:020}.snapshot": snapshot(transaction)}}
    plain = (23).to_bytes(8, "big") + source[f"{FIRST}.log"][8:1572]  # of producer 0
    for first in (3, 22):
        files = {f"{SECOND}.log": plain.hex(), f"{SECOND}.snapshot": snapshot((0, first))}
        yield {"write": {**files, f"{END}.snapshot": None}}


def every_change(source: dict[str, bytes]) -> Iterator[dict]:
    yield from name_changes()
    yield from folder_changes()
    yield from txn_index_changes()
    yield from open_transaction_changes(source)


class Loads(JavaProcess):
    """A process that reads and loads with the classes of one release."""

    def __init__(self, release: str):
        stems = ("loads/Loads", "common/IdleScheduler", "common/StillTime")
        sources = [FOLDER / "src" / f"{stem}.java" for stem in stems]
        classes = fetch_class_path(f"loads-{release}", release, BROKER_POM, sources)
        java = ("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
        super().__init__("Loads", classes, java=java, stderr=subprocess.DEVNULL)


def record_checkpoints(part: slice = EVERY) -> Iterator[dict]:
    """Records how both releases treat each checkpoint; they treat it alike."""
    with Loads("4.3.1") as older, Loads("4.4.0") as newer, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / names.RECOVERY_POINT_CHECKPOINT
        for data in CHECKPOINTS[part]:
            path.write_bytes(data)
            answers = [kafka.ask({"checkpoint": str(path)}) for kafka in (older, newer)]
            assert answers[0] == answers[1], (data, answers)
            yield {"hex": data.hex(), **answers[0]}


def read_source() -> dict[str, bytes]:
    """Returns the files of the partition that the loads damage."""
    with tarfile.open(SOURCE) as archive:
        return {
            Path(member.name).name: archive.extractfile(member).read()
            for member in archive.getmembers()
            if member.isfile() and member.name.startswith(f"{PARTITION}/")
        }


def changed(files: dict[str, bytes], change: dict) -> dict[str, bytes]:
    """Returns the files after a change, without the folders that it creates."""
    changed_files = dict(files)
    for name, source in change.get("copy", {}).items():
        changed_files[name] = files[source]
    for name, data in change.get("write", {}).items():
        if data is None:
            changed_files.pop(name, None)
        else:
            changed_files[name] = bytes.fromhex(data)
    return changed_files


def record_loads(part: slice = EVERY) -> Iterator[dict]:
    """Records how both releases treat each change, after a clean stop and after a kill."""
    source = read_source()
    loads = [(change, clean) for change in every_change(source) for clean in (True, False)]
    with Loads("4.3.1") as older, Loads("4.4.0") as newer:
        for change, clean in loads[part]:
            question = {"clean": clean, "recovery_point": 23, "log_start": 0}
            files, folders = changed(source, change), change.get("folders", ())
            answers = [
                _load(kafka, "orders-0", files, question, folders) for kafka in (older, newer)
            ]
            line = {**change, "clean": clean, "answer": answers[0]}
            yield line if answers[0] == answers[1] else line | {"answer_4_4": answers[1]}


def write_directory(directory: Path, files: dict[str, bytes], folders: Iterable[str] = ()) -> Path:
    directory.mkdir()
    for name, data in files.items():
        (directory / name).write_bytes(data)
    for name in folders:
        (directory / name).mkdir()
    return directory


def _load(
    kafka: Loads, name: str, files: dict[str, bytes], question: dict, folders: Iterable[str] = ()
) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        directory = write_directory(Path(folder) / name, files, folders)
        return kafka.ask({"dir": str(directory), **question})


def record_random_logs(part: slice = EVERY) -> Iterator[dict]:
    """Records how the loads of random damaged logs end after a kill, the same in both releases."""
    with Loads("4.3.1") as older, Loads("4.4.0") as newer:
        for seed in range(RANDOM_LOGS)[part]:
            answers = []
            for kafka in (older, newer):
                with tempfile.TemporaryDirectory() as folder:
                    directory = Path(folder) / "t-0"
                    damaged_logs.make_log(seed, directory)
                    answer = kafka.ask({"dir": str(directory), "clean": False})
                answers.append(answer.get("error", {}).get("class") or answer["log_end"])
            assert answers[0] == answers[1], (seed, answers)
            yield {"seed": seed, "end": answers[0]}


def record_splits(part: slice = EVERY) -> Iterator[dict]:
    """Records loads of logs in which some offsets exceed 31 bits, the same in both releases."""
    batches = read_source()
    with Loads("4.3.1") as older, Loads("4.4.0") as newer:
        for seed in range(SPLIT_LOGS)[part]:
            log = overflowing_logs.make_log(seed, batches)
            question = {"clean": log["clean"], "recovery_point": log["recovery_point"]}
            answers = [
                _brief(_load(kafka, "t-0", log["files"], question)) for kafka in (older, newer)
            ]
            assert answers[0] == answers[1], (seed, answers)
            yield {"seed": seed, **answers[0]}


def _brief(answer: dict) -> dict:
    """Returns the part of an answer that concerns the splits."""
    if "error" in answer:
        return {"error": answer["error"]}
    logs = {name: size for name, size in answer["files"].items() if name.endswith(".log")}
    return {"log_end": answer["log_end"], "logs": logs}


RECORDERS = {
    DATA: record_checkpoints,
    LOADS: record_loads,
    RANDOM: record_random_logs,
    SPLITS: record_splits,
}


def differences(part: slice = EVERY) -> tuple[list[str], str]:
    """Returns the recorded lines that Kafka no longer answers, and a summary.

    Args:
        part: the lines of each file that are asked again.
    """
    changed_lines, count = [], 0
    for path, record in RECORDERS.items():
        recorded = path.read_text().splitlines()[part]
        answered = [json.dumps(line) for line in record(part)]
        count += len(answered)
        if len(answered) != len(recorded):
            changed_lines.append(f"{path.name}: {len(recorded)} lines, and {len(answered)} answers")
        pairs = zip(recorded, answered, strict=False)
        changed_lines += [f"{path.name}: {line}" for line, answer in pairs if line != answer]
    releases = " and ".join(RELEASES)
    return changed_lines, f"Kafka {releases}: {count} loads, {len(changed_lines)} differ"


def old_differences() -> tuple[list[str], str]:
    """Returns the loads of 3.9.0 that end otherwise than predicted, and a summary."""
    source = read_source()
    changes = [change for change in every_change(source) if _is_listed(change)]
    with Kafka(OLD_RELEASE) as kafka:
        faults = [fault for change in changes for fault in _compare_old(kafka, source, change)]
    return faults, f"Kafka {OLD_RELEASE}: {len(changes)} loads, {len(faults)} differ"


def _is_listed(change: dict) -> bool:
    """Returns whether the harness can list a loaded log."""
    names = (*change.get("folders", ()), *change.get("write", {}))
    is_index_folder = change.get("folders") and names[0].endswith(("index",))
    return not is_index_folder and not any(name.startswith("-5.log") for name in names)


def _compare_old(kafka: Kafka, source: dict[str, bytes], change: dict) -> Iterator[str]:
    files = changed(source, change)
    folders = tuple(change.get("folders", ()))
    with tempfile.TemporaryDirectory() as folder:
        directory = write_directory(Path(folder) / "orders-0", files, folders)
        error = kafka.load(directory, {}, 0, 0).get("error")
    log = StoredLog(
        directory="orders-0",
        files=tuple(in_memory(name, data) for name, data in files.items()),
        config=IndexConfig(),
        folders=folders,
    )
    loader = LogLoader(log, clean=True, behaviour=release_behaviour((3, 9, 0)))
    failures = [step.error or "" for step in loader.run() if step.action == "fail"]
    expected = [error["class"]] if error else []
    if [failure.partition(":")[0] for failure in failures] != expected:
        yield f"Kafka {OLD_RELEASE} on {change}: Kafka throws {expected}, predicted is {failures}"


def main() -> int:
    for path, record in RECORDERS.items():
        recorded = [json.dumps(line) for line in record()]
        path.write_text("".join(f"{line}\n" for line in recorded))
        print(f"{len(recorded)} lines of {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
