"""Loads of a partition directory with unexpected files, compared with UnifiedLog of 4.3.1 and
4.4.0.

tests/kafka/record_loads.py says how they were recorded.
"""

import json
import tarfile
from functools import cache
from pathlib import Path

from kafkaviz.format import names
from kafkaviz.format.java import ILLEGAL_ARGUMENT, INVALID_RECORD
from kafkaviz.format.open_transactions import TransactionFault
from kafkaviz.simulate.recovery import BrokerException
from kafkaviz.simulate.startup.log_loader import LogLoader
from kafkaviz.simulate.startup.producers import refusal
from tests.conftest import DATA
from tests.search.damaged_logs import make_log
from tests.simulate.overflowing_logs import make_log as make_overflowing_log
from tests.support.cases import all_cases
from tests.support.loading import failures, loader_of
from tests.support.vectors import json_lines

RECORDED = json_lines(DATA / "load_faults.jsonl")
RANDOM = json_lines(DATA / "random_loads.jsonl")
SPLITS = json_lines(DATA / "split_loads.jsonl")
SOURCE = DATA / "field_cases" / "recovery-point-checkpoint-bad-count.tar.gz"
PARTITION = "broker/orders-0"
IO_ERRORS = ("KafkaStorageException", "FileSystemException", "FileNotFoundException")


@cache
def source() -> dict[str, bytes]:
    """Returns the files of the partition that was damaged."""
    with tarfile.open(SOURCE) as archive:
        return {
            Path(member.name).name: archive.extractfile(member).read()
            for member in archive.getmembers()
            if member.isfile() and member.name.startswith(f"{PARTITION}/")
        }


def load(line: dict, release: tuple[int, ...]) -> LogLoader:
    files = dict(source())
    for name, copied in line.get("copy", {}).items():
        files[name] = files[copied]
    for name, data in line.get("write", {}).items():
        if data is None:
            files.pop(name, None)
        else:
            files[name] = bytes.fromhex(data)
    return loader_of(
        files,
        clean=line["clean"],
        release=release,
        directory="<DIR>/orders-0",
        recovery_point=23,
        folders=tuple(line.get("folders", ())),
    )


@all_cases("line", RECORDED, ids=lambda line: json.dumps({**line, "answer": None})[:80])
def test_a_load_does_what_kafka_did(line):
    """The same exception, or the same segments, log end, snapshots, and sizes of every .log."""
    for release, answer in (
        ((4, 3, 1), line["answer"]),
        ((4, 4, 0), line.get("answer_4_4", line["answer"])),
    ):
        loader = load(line, release)
        failed = failures(loader)
        error = answer.get("error")
        if error:
            (failure,) = failed
            assert failure.error == f"{error['class']}: {error['message']}"
            is_io_error = error["class"].rpartition(".")[2] in IO_ERRORS
            assert failure.takes_directory_offline == is_io_error and failure.way_out
            continue
        assert not failed
        files = {name: file.size_bytes for name, file in loader.files().items()}
        found = {name: size for name, size in answer["files"].items() if size >= 0}
        assert set(files) == {name for name in found if not name.endswith(".snapshot")}
        assert loader.log_end_offset() == answer["log_end"]
        snapshots = {names.parse_offset(name) for name in found if name.endswith(".snapshot")}
        assert set(loader.snapshots()) == snapshots
        assert logs_of(files) == logs_of(found)


def logs_of(sizes: dict[str, int]) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if name.endswith(".log")}


@all_cases("line", RANDOM, ids=lambda line: str(line["seed"]))
def test_a_random_damaged_log_ends_a_load_as_in_kafka(line, tmp_path):
    """After a kill: the same class of exception, or the same end of the log."""
    directory = tmp_path / str(line["seed"]) / "t-0"
    make_log(line["seed"], directory)
    files = {path.name: path.read_bytes() for path in directory.iterdir()}
    loader = loader_of(files, clean=False)
    classes = [step.error.split(": ")[0] for step in failures(loader)]
    assert (classes or [loader.log_end_offset()]) == [line["end"]]


@all_cases("line", SPLITS, ids=lambda line: str(line["seed"]))
def test_a_segment_of_too_many_offsets_is_split_as_in_kafka(line):
    """Into the same parts, or not at all, by LocalLog.splitOverflowedSegment of 4.3.1 and 4.4.0."""
    made = make_overflowing_log(line["seed"], source())
    loader = loader_of(
        made["files"],
        clean=made["clean"],
        release=(4, 4, 0),
        directory="<DIR>/t-0",
        recovery_point=made["recovery_point"],
    )
    errors = [step.error for step in failures(loader)]
    if "error" in line:
        words = (line["error"]["class"], line["error"]["message"])
        assert errors == [": ".join(filter(None, words))]
        return
    logs = logs_of({name: file.size_bytes for name, file in loader.files().items()})
    assert (errors, loader.log_end_offset(), logs) == ([], line["log_end"], line["logs"])


def test_the_recorded_loads_end_in_every_way():
    """Names that are not numbers, folders that are opened, and loads that succeed anyway."""
    errors = {
        line["answer"].get("error", {}).get("class", "").rpartition(".")[2] for line in RECORDED
    }
    others = {"KafkaException", "InvalidTxnStateException"}
    assert errors == {"", "NumberFormatException", *others, *IO_ERRORS}
    assert any("answer_4_4" in line for line in RECORDED)
    ends = {line["answer"]["log_end"] for line in RECORDED if "error" not in line["answer"]}
    assert {23, 28, 100, 2**63 - 1} <= ends


def test_writing_the_leader_epochs_takes_a_temporary_file_away():
    """Kafka writes leader-epoch-checkpoint.tmp and renames it (4.3.1, by its LogLoader)."""
    temporary = f"{names.LEADER_EPOCHS}.tmp"
    epochs = dict.fromkeys((names.LEADER_EPOCHS, temporary), b"0\n1\n0 0\n")
    loader = loader_of({f"{0:020}.log": b""} | epochs, log_start_offset=5)
    loader.run()
    assert loader.files()[names.LEADER_EPOCHS].content() == b"0\n0\n"
    assert temporary not in loader.files()


def test_a_marker_that_cannot_be_read_ends_a_load_as_its_records_do():
    """Kafka 4.3.1 did so on the 410th directory of tests.kafka.mutations."""
    words = "Found invalid number of record headers -60"
    assert refusal(TransactionFault(0, None, words)) == BrokerException(INVALID_RECORD, words)
    refused = refusal(TransactionFault(0, ILLEGAL_ARGUMENT, "x"))
    assert refused == BrokerException(ILLEGAL_ARGUMENT, "x")
