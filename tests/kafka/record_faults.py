"""python -m tests.kafka.record_faults: breaks the copies of the lessons' labs, and the small files
of an empty log, lets Kafka 4.3.1 load and read them, and writes tests/data/broken_logs.jsonl.gz and
tests/data/small_file_faults.jsonl.
"""

import gzip
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kafkaviz import versions
from kafkaviz.format import names
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import open_broker
from kafkaviz.units import file_stem
from kafkaviz.workshop import lessons
from kafkaviz.workshop.lab import FAULTS, Client, LogCopy, copy_log
from kafkaviz.workshop.lab.start_trial import RELEASE, run_trial
from tests.kafka.harness import JavaProcess, class_path

DATA = Path(__file__).parents[1] / "data" / "broken_logs.jsonl.gz"
SMALL_FILES = DATA.with_name("small_file_faults.jsonl")
SAMPLES = Path(__file__).parents[2] / "sample_data"
PARTS = (0, 0.25, 0.5, 0.75, 1)  # of the places of a fault
HEADER_PLACES = (0, 5, 7, 8, 11, 12, 15, 16, 17, 20, 21, 23)  # bytes of a batch's header
NOW_MS = 1_790_000_000_000
EPOCHS = (  # of leader-epoch-checkpoint: headings, fields that are not numbers, negative numbers
    *(b"", b"0\n", b"0", b"junk\n", b"0 \n1\n0 0\n", b"0\n1 \n0 0\n", b"0\n-1\n", b"0\n-1\n0 0\n"),
    *(b"1\n1\nx 0\n", b"0\nx\n0 0\n", b"0\n2\n0 0\n", b"0\n1\n0 0\n0 0\n", b"0\n0\n\n", b"\n0\n"),
    *(b"0\n1\nx 0\n", b"0\n1\n0 x\n", b"0\n1\nx y\n", b"0\n2\n0 0\nx 1\n", b"0\n1\n0 0\nx 1\n"),
    *(b"0\n1\n 0\n", b"0\n1\n 0 0\n", b"0\n1\n0 0 \n", b"0\n1\n0 0 0\n"),
    *(b"0\n1\n0\n", b"0\n1\n- 0\n"),
    *(b"0\n1\n2147483648 0\n", b"0\n1\n-2147483649 0\n", b"0\n1\n0 9223372036854775808\n"),
    *(b"0\n1\n" + b"0" * 5000 + b"7 0\n", b"0\n1\n1.5 0\n", b"0\n1\n0x1 0\n", b"0\n1\n0 5L\n"),
    *("0\n1\n\u0663 0\n".encode(), "0\n\u0661\n0 0\n".encode(), "0\n1\n0\u00a00\n".encode()),
    *(b"0\n1\n\xff 0\n", "0\n1\n0 \u00e4\n".encode(), b"0\n1\n\0 0\n", b"0\n1\n0\x0b0\n"),
    *(b"0\n1\n-1 0\n", b"0\n1\n0 -1\n", b"0\n2\n-1 0\nx 0\n", b"0\n2\n0 0\n-1 5\n"),
    *(b"+0\n+1\n+0 +0\n", b"-0\n1\n0 0\n", b"0\r1\r\n0 0", b"0\n2\n1 5\n0 9\n"),
)
IDS = (  # of a topic: characters outside base64, wrong padding, other lengths
    *(
        *("", "A", "=", "AA", "AAA", "AAAAA", "AA=", "AA==", "AAA=", "AAA==", "AA===", "AAAA="),
        *("A=", "="),
    ),
    *("\u00e4", "AA\u00e4A", "\u6f22\u5b57", "AkXz OiIERbadGF", "AkXz+iIERb/dGF_c6qNvhw", "AA=A"),
    *("AkXzOiIERbadGF_c6qNvhw==", "AkXzOiIERbadGF_c6qNvhw=", "AkXzOiIERbadGF_c6qNvhwA"),
    *("AkXzOiIERbadGF_c6qNvhx", "AkXzOiIERbadGF_c6qNvhwAA", "AkXzOiIERbadGF_c6qNvhwAAA"),
)
METADATA = (  # of partition.metadata: bytes that are not UTF-8, and ids
    *(f"version: 0\ntopic_id: {topic_id}".encode() for topic_id in IDS),
    b"version: \xff\ntopic_id: AkXzOiIERbadGF_c6qNvhw",
    b"version: 0\ntopic_id: \xff",
    b"\xff",
    b"version: 0\n\xfftopic_id: AkXzOiIERbadGF_c6qNvhw",
    b"version: 0\ntopic_id: AkXzOiIERbadGF_c6qNvhw\n\xff",
)


def places(copy: LogCopy, fault: str) -> list[int]:
    """Returns the places of a fault that are recorded."""
    all_places = FAULTS[fault].places(copy)
    chosen = {all_places[int(part * (len(all_places) - 1))] for part in PARTS}
    chosen.add(FAULTS[fault].default_place(copy))
    return sorted(chosen | {*HEADER_PLACES} if fault.startswith("bit") else chosen)


def questions() -> Iterator[tuple[dict, LogCopy]]:
    """Yields each fault of each lesson at its places: its record, and the undamaged copy."""
    for lesson in lessons.lessons("en")[0]:
        for block in (block for step in lesson.steps for block in step.blocks("break-it")):
            broker = open_broker(archive.locate(SAMPLES / f"{block['data']}.tar.gz"))
            partition = broker.partition(block["tp"])
            copy = copy_log(broker, partition, block["segment"], versions.parse(RELEASE))
            for fault in block["fault"]:
                for place in places(copy, fault):
                    yield {"lesson": lesson.name, "fault": fault, "place": place}, copy


def digest(data: bytes) -> str:
    """Returns a few letters that differ for other bytes."""
    return hashlib.sha256(data).hexdigest()[:16]


def main() -> int:
    lines = []
    java = ("java", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off")
    with JavaProcess("BrokenLogs", class_path(RELEASE), java=java) as kafka:
        for line, copy in questions():
            lines.append(line | _ask(kafka, copy, line["fault"], line["place"]))
        small_files = [
            {"file": name, "hex": data.hex(), "error": _ask_small(kafka, name, data)}
            for name in (names.LEADER_EPOCHS, names.PARTITION_METADATA)
            for data in (EPOCHS if name == names.LEADER_EPOCHS else METADATA)
        ]
    DATA.write_bytes(gzip.compress(_as_lines(lines).encode(), mtime=0))
    SMALL_FILES.write_text(_as_lines(small_files))
    print(f"{len(lines)} starts, {DATA.stat().st_size} bytes; {len(small_files)} small files")
    return 0


def _as_lines(objects: list[dict]) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in objects)


def _ask_small(kafka: JavaProcess, name: str, data: bytes) -> dict | None:
    """Returns the exception that ends the start of an empty log with this file, or None."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "t-0"
        directory.mkdir()
        (directory / f"{file_stem(0)}.log").touch()
        (directory / name).write_bytes(data)
        question = {"dir": str(directory), "settings": {}, "recovery_point": 0, "log_start": 0}
        return kafka.ask(question | {"clean": True, "now": NOW_MS}).get("error")


def _ask(kafka: JavaProcess, copy: LogCopy, fault: str, place: int) -> dict:
    trial = run_trial(copy, FAULTS[fault], place)
    broken_copy = trial.damage.copy
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "t-0"
        directory.mkdir()
        for file in broken_copy.log.files:
            (directory / file.name).write_bytes(file.content())
            os.utime(directory / file.name, ns=(file.modified_ms * 1_000_000,) * 2)
        config = broken_copy.log.config
        question = {
            "dir": str(directory),
            "settings": {
                "index.interval.bytes": str(config.index_interval_bytes),
                "segment.index.bytes": str(config.segment_index_bytes),
            },
            "recovery_point": broken_copy.log.recovery_point,
            "log_start": broken_copy.log.log_start_offset,
            "clean": broken_copy.is_clean,
            "timestamp": trial.timestamp_ms if trial.client is Client.TIMESTAMP else None,
            "now": NOW_MS,
        }
        answer = kafka.ask(question)
        if "error" in answer:
            return {"error": answer["error"]}
        answer["files"] = {
            path.name: digest(path.read_bytes().rstrip(b"\0"))
            for path in sorted(directory.iterdir())
            if path.suffix in (".log", ".index", ".timeindex")
        }
    if "ranges" in answer:
        answer["ranges"] = [len(answer["ranges"]), digest(json.dumps(answer["ranges"]).encode())]
    return answer


if __name__ == "__main__":
    sys.exit(main())
