"""Kafka's own classes and kafkaviz's writer on the same history: one check per function."""

import hashlib
import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

from kafkaviz import versions
from kafkaviz.format import batch_records
from kafkaviz.format.walk import walk
from kafkaviz.simulate.config import release_behaviour
from kafkaviz.simulate.writer.writer import UnifiedLog
from kafkaviz.units import file_stem
from tests.kafka.harness import Kafka, zipped
from tests.simulate.recovery_vectors import differences as recovery_differences
from tests.simulate.replay_vectors import Replay

MAX_RECOVERED = 10
FAULTS = re.compile(
    r"Mismatches in|Found timestamp mismatch|Found out of order timestamp|corrupt|isvalid: false",
    re.IGNORECASE,
)


def recorded(question: dict, answer: dict) -> dict:
    """Returns a line of replays.jsonl.gz: a history with the answers to the steps reached."""
    steps = [
        step | answered_step
        for step, answered_step in zip(question["steps"], answer.get("steps", []), strict=False)
    ]
    line = question | answer | {"steps": steps}
    if "final_closed" not in answer:
        line.pop("close_clock", None)
    return line


class Compared(Replay):
    """A recorded history and kafkaviz's writer, with the small files."""

    def do_restart(self, number: int, step: dict) -> None:
        """Closes and opens a log, not a broker: nothing was flushed before."""
        self.log.close(step["now"], flushed=False)
        self.state(f"{number} closed", step["closed"])
        self.log.restart(step["now"])
        self.state(f"{number} opened", step["opened"])

    def state(self, where: str, answer: dict | list) -> None:
        """Adds the preallocated length of a .log, transaction indexes, snapshots and epochs."""
        super().state(where, self._without_room(answer))
        for segment_state, segment in zip(answer["segments"], self.log.segments, strict=False):
            txnindex = None if segment.txnindex is None else segment.txnindex.hex()
            self.same(
                f"{where} {segment_state['base']} txnindex", segment_state.get("txnindex"), txnindex
            )
        if "message.format.version" in self.history["settings"]:
            # below 0.11 no producer is known: 3.9.0 takes empty snapshots, and does not take them
            # away when it truncates
            return
        snapshots = {
            f"{file_stem(offset)}.snapshot": data.hex()
            for offset, data in self.log.snapshots.items()
        }
        for name in sorted(answer["snapshots"].keys() | snapshots.keys()):
            self.same(f"{where} {name}", answer["snapshots"].get(name), snapshots.get(name))

    def _without_room(self, answer: dict) -> dict:
        """Removes the zeros of a killed broker's preallocated .log, as the next start does."""
        if not self.log.config.preallocate:
            return answer
        segments = []
        for segment_state, segment in zip(answer["segments"], self.log.segments, strict=False):
            data = self.logs.content(segment.base_offset)
            if segment_state["log_size"] == self.log.config.segment_bytes:
                padded = data + bytes(segment_state["log_size"] - len(data))
                digest = hashlib.sha256(padded).hexdigest()
                self.same("preallocated log", segment_state["log_sha256"], digest)
                own = {"log_size": len(data), "log_sha256": hashlib.sha256(data).hexdigest()}
                segment_state = segment_state | own
            segments.append(segment_state)
        return answer | {"segments": segments}


def check_replay(line: dict) -> tuple[list[str], UnifiedLog | None]:
    """Returns the differences of the writer, and the log after the history if it finished."""
    replay = Compared(line)
    differences = replay.run()
    return differences, replay.log if "final_closed" in line and not differences else None


def written(log: UnifiedLog, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in log.stored_log().files:
        (folder / file.name).write_bytes(file.content())


def loaded(kafka: Kafka, log: UnifiedLog, line: dict, folder: Path) -> list[str]:
    """Checks that a UnifiedLog opens, reads and leaves the directory as the writer does."""
    written(log, folder)
    before = _files(folder)
    log.restart(line["close_clock"])
    answer = kafka.load(folder, line["settings"], log.log_start_offset, line["close_clock"])
    if "error" in answer:
        return [f"{line['id']} load: {answer['error']}"]
    opened = Compared(line)
    opened.log, opened.logs = log, log.logs
    opened.state("load", answer["opened"])
    for name, expected in digest(log).items():
        opened.same(f"load {name}", answer["read"][name], expected)
    after = _files(folder)
    # all but those of a log that ends below its start, which is emptied
    kept_names = {file.name for file in log.stored_log().files}
    changed = sorted(
        name for name in before if name in kept_names and before[name] != after.get(name)
    )
    log.close(line["close_clock"], flushed=False)
    return opened.differences + [f"{line['id']} load: {name} was changed" for name in changed]


def _files(folder: Path) -> dict[str, bytes]:
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.suffix in (".log", ".index", ".timeindex", ".txnindex")
    }


def digest(log: UnifiedLog, is_consumer: bool = False) -> dict:
    """Returns what RecordsDigest of the harness says of all records. `is_consumer` hides control
    records and sequences.
    """
    sha, batches, records, first, last = hashlib.sha256(), 0, 0, -1, -1
    for data, is_control in _batches(log):
        batches += 1
        if is_consumer and is_control:
            continue
        for record in batch_records.read_batch(data):
            if record.offset < log.log_start_offset:
                continue
            sequence = -1 if is_consumer or record.sequence is None else record.sequence
            sha.update(struct.pack(">qqi", record.offset, record.timestamp_ms, sequence))
            sha.update(_sized(record.key) + _sized(record.value))
            sha.update(struct.pack(">i", len(record.headers)))
            for key, value in record.headers:
                sha.update(_sized(key.encode()) + _sized(value))
            first = record.offset if not records else first
            last = record.offset
            records += 1
    answer = {"records": records, "first_offset": first, "last_offset": last}
    answer["records_sha256"] = sha.hexdigest()
    return answer if is_consumer else answer | {"batches": batches}


def records(log: UnifiedLog) -> Iterator[batch_records.BatchRecord]:
    """Returns every record from the log start on, control records too."""
    for data, _ in _batches(log):
        for record in batch_records.read_batch(data):
            if record.offset >= log.log_start_offset:
                yield record


def _sized(part: bytes | None) -> bytes:
    return struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part


def _batches(log: UnifiedLog) -> Iterator[tuple[bytes, bool]]:
    """Yields the bytes of each batch from the log start on, and whether it is a control batch."""
    for segment in log.segments:
        data = log.logs.stored(segment.base_offset).content()
        for row in walk(data)[0]:
            if row["last_offset"] >= log.log_start_offset:
                yield (
                    data[row["position"] : row["position"] + row["size_bytes"]],
                    row["magic"] >= 2 and bool(row["attributes"] & 0x20),
                )


def dumped(kafka: Kafka, line: dict, folder: Path) -> list[str]:
    """Checks that DumpLogSegments reads every file and reports no wrong index entry."""
    files = sorted(
        str(file) for file in folder.iterdir() if file.suffix in (".log", ".index", ".timeindex")
    )
    answer = kafka.dump("--deep-iteration", "--files", ",".join(files))
    output = answer["out"] + answer["err"]
    if "error" in answer or FAULTS.search(output):
        faults = [text for text in output.splitlines() if FAULTS.search(text)]
        return [f"{line['id']} dump: {answer.get('error')} {faults[:3]}"]
    count = output.count("Dumping ")
    return [] if count == len(files) else [f"{line['id']} dump: {count} of {len(files)} files"]


def check_recovery(kafka: Kafka, log: UnifiedLog, line: dict) -> list[str]:
    """Checks that LogSegment.recover of the last .log files builds what kafkaviz's recovery builds."""
    differences = []
    settings = {
        "index_interval_bytes": log.config.index_interval_bytes,
        "segment_index_bytes": log.config.segment_index_bytes,
    }
    for segment in log.segments[-MAX_RECOVERED:]:
        data = log.logs.stored(segment.base_offset).content()
        answer = kafka.recover(data, segment.base_offset, line["settings"])
        expected = {"version": line["version"], "base_offset": segment.base_offset}
        expected["id"] = f"{line['id']} recover {segment.base_offset}"
        differences += recovery_differences(expected | settings | answer | {"log_gz": zipped(data)})
    return differences


def is_per_batch(line: dict) -> bool:
    """Returns whether each batch has its own entry; else the dump tool finds mismatches."""
    return not release_behaviour(versions.parse(line["version"])).per_append
