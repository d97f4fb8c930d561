"""The load of one log, compared with Kafka 4.3.1's own loader on changed directories."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.binary.file_view import FileView, in_memory
from kafkaviz.errors import CannotOpen
from kafkaviz.format import names, offset_index, record
from kafkaviz.format.batch import HEADER, HEADER_BYTES, LENGTH_END, MAGIC_2
from kafkaviz.log.partition import log_end_offset, open_partition
from kafkaviz.search import fetch
from kafkaviz.search.log_view import view_files
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.startup import small_files
from kafkaviz.simulate.startup.log_loader import LogLoader
from kafkaviz.simulate.startup.partition_directory import LoadedDirectory, find_end_offset
from kafkaviz.simulate.startup.restart import join_steps, steps_of
from kafkaviz.simulate.startup.small_files import (
    OwnFiles,
    bootstrap_fault,
    own_steps,
    properties_fault,
)
from kafkaviz.simulate.steps import ACTIONS, CAUSES, StartupStep, StoredLog
from kafkaviz.versions import search_profile
from tests.conftest import DATA
from tests.pipeline import whole_logs
from tests.support.cases import all_cases
from tests.support.loading import failures, loader_of
from tests.support.vectors import json_lines

ENTRY_BYTES = {".index": 8, ".timeindex": 12}
KAFKA_4_3_1 = release_behaviour((4, 3, 1))
RECORDED = json_lines(DATA / "restarts.jsonl.gz")


def changed(files: dict[str, bytes], changes: list[list]) -> dict[str, bytes]:
    files = dict(files)
    for change, name, *rest in changes:
        if change == "remove":
            del files[name]
        elif change == "rename":
            files[rest[0]] = files.pop(name)
        elif change == "copy":
            files[rest[0]] = files[name]
        elif change == "truncate":
            files[name] = files[name][: rest[0]].ljust(rest[0], b"\0")
        elif change == "append":
            files[name] += bytes.fromhex(rest[0])
        elif change == "put":
            data = bytes.fromhex(rest[1])
            files[name] = files[name][: rest[0]] + data + files[name][rest[0] + len(data) :]
        else:
            files[name] = bytes.fromhex(rest[0])
    return files


def loading(line: dict, broker: Path) -> LogLoader:
    original = {
        path.name: path.read_bytes()
        for path in (broker / line["source"][1]).iterdir()
        if path.name[0].isdigit()
    }
    return loader_of(
        changed(original, line["changes"]),
        clean=line["clean"],
        config=IndexConfig(line["index_interval_bytes"], line["segment_index_bytes"]),
        recovery_point=line["recovery_point"],
        log_start_offset=line["log_start_offset"],
    )


def in_use(line: dict, load: LogLoader) -> dict[str, list | None]:
    """Returns the files of a running broker: the indexes of the last segment are preallocated."""
    files = load.files()
    last = max(name for name in files if name.endswith(".log"))[:-4]
    found = {f"{offset:020d}.snapshot": None for offset in load.snapshots()}
    for name in filter(lambda name: name[0].isdigit(), files):
        content = files[name].content()
        size = len(content)
        entry_bytes = ENTRY_BYTES.get(name.removeprefix(last))
        if entry_bytes:
            size = line["segment_index_bytes"] // entry_bytes * entry_bytes
        found[name] = [size, hashlib.sha256(content.rstrip(b"\0")).hexdigest()[:16]]
    return found


def emptied(steps: tuple[StartupStep, ...]) -> set[str]:
    """Empties the indexes of a segment, which a running broker preallocates."""
    return {
        Path(step.file).name
        for step in steps
        if step.cause == "invalid-offset" and step.action == "rebuild"
    }


def sizes_of(files: dict[str, list | None]) -> dict[str, int]:
    """Returns the sizes that are compared: not of producer snapshots, which may hold a time."""
    return {name: content[0] for name, content in files.items() if content}


def without_times(message: str) -> str:
    return re.sub(r"lastModifiedTime=\d+", "", message)


@pytest.fixture(scope="module")
def loads(clean, damaged) -> dict[int, tuple[LogLoader, tuple[StartupStep, ...]]]:
    """Returns each recorded load after its run, and its steps, by the id of the line."""
    brokers = {"clean": clean, "damaged": damaged}
    loaders = {line["id"]: loading(line, brokers[line["source"][0]]) for line in RECORDED}
    return {number: (loader, loader.run()) for number, loader in loaders.items()}


@all_cases("line", RECORDED, ids=lambda line: str(line["id"]))
def test_a_load_does_what_kafkas_loader_did(line, loads):
    load, steps = loads[line["id"]]
    failed = [step for step in steps if step.action == "fail"]
    if "error" in line:
        assert [without_times(step.error) for step in failed] == [without_times(line["error"])]
        assert failed[0].way_out and failed[0].file.startswith("t-0/")
    else:
        assert not failed and load.log_end_offset() == line["log_end"]
        ours, kafkas = in_use(line, load), line["files"]
        assert ours.keys() == kafkas.keys() and sizes_of(ours) == sizes_of(kafkas)
        differing = {name for name in ours if ours[name] != kafkas[name]}
        assert differing <= emptied(steps)
    assert {step.action for step in steps} <= set(ACTIONS)
    assert {step.cause for step in steps} <= CAUSES.keys()


@all_cases("line", json_lines(DATA / "small_file_faults.jsonl"), ids=lambda line: line["hex"][:40])
def test_a_small_file_ends_a_start_as_in_kafka(line):
    files = {f"{0:020d}.log": b"", line["file"]: bytes.fromhex(line["hex"])}
    failed = failures(loader_of(files, directory="<DIR>/t-0"))
    error = line["error"] and f"{line['error']['class']}: {line['error']['message']}"
    assert [step.error for step in failed] == ([error] if error else [])
    is_storage_error = bool(error and line["error"].get("cause"))
    assert any(step.takes_directory_offline for step in failed) == is_storage_error


def test_only_an_io_error_leaves_the_other_log_directories():
    """LogManager.loadLogs (4.3.1) catches IOException and KafkaStorageException, and nothing else.

    KRaft's own log and the node's properties are read elsewhere: by KafkaRaftLog, which catches
    nothing, and by MetaPropertiesEnsemble.Loader, which skips unreadable files.
    """
    for directory, name, data, cause, is_offline in (
        ("t-0", names.LEADER_EPOCHS, b"junk\n", "leader-epochs-bad", True),
        ("t-0", names.LEADER_EPOCHS, b"0\n1\nx 0\n", "leader-epochs-bad", False),
        ("t-0", names.PARTITION_METADATA, b"junk\nx\n", "partition-metadata-bad", True),
        ("t-0", names.PARTITION_METADATA, b"", "partition-metadata-bad", False),
        (names.METADATA_DIRECTORY, names.LEADER_EPOCHS, b"junk\n", "leader-epochs-bad", False),
    ):
        files = (in_memory(f"{0:020d}.log", b""), in_memory(name, data))
        log = StoredLog(directory=directory, files=files)
        steps = steps_of(log, clean=True, behaviour=KAFKA_4_3_1)
        (failed,) = [step for step in steps if step.action == "fail"]
        assert (failed.cause, failed.takes_directory_offline) == (cause, is_offline)
    for data, is_offline in ((b"version=9\n", True), (b"\\u12=1\n", True), (None, False)):
        (step,) = own_steps(OwnFiles(meta_properties=data), KAFKA_4_3_1)
        assert (step.cause, step.takes_directory_offline) == ("meta-properties", is_offline)
    misnamed = join_steps([], clean=True, strange_names=["lost+found"])
    twice = join_steps([("t-0", ()), ("t-00", ())], clean=True)
    assert [step.takes_directory_offline for step in misnamed.failures] == [False]
    assert [step.takes_directory_offline for step in twice.failures] == [False]


def test_the_recorded_loads_cover_what_a_load_can_do(loads):
    causes = {step.cause for _, steps in loads.values() for step in steps}
    by_broker = {"metadata-log", "metadata-log-missing", "metadata-version", "unstable-offset"}
    by_broker |= {"becomes-stray", "becomes-current", "replaced-by-future", "replica-created"}
    by_broker |= {f"directory-{why}" for why in ("deleted", "stray", "name", "twice", "offline")}
    own_files = {"checkpoint-bad", "meta-properties", "metadata-log-elsewhere", "bootstrap"}
    own_files |= {"quorum-state-bad", "snapshot-corrupt", "behind-snapshot", "old-snapshot"}
    by_name = {"file-name", "segment-by-name", "folder"}  # tests.simulate.test_load_faults
    others = by_broker | own_files | by_name | {"exception", "log-too-large"}
    assert CAUSES.keys() - causes <= others
    assert {"error" in line for line in RECORDED} == {True, False}


@pytest.mark.parametrize("clean", [True, False])
def test_a_log_that_is_larger_than_kafka_opens_ends_the_start(clean):
    """FileRecords.open of 3.9.0 and 4.3.1 opened a file of one byte less."""
    name = "00000000000000000000.log"
    empty = in_memory(name, b"")
    (step,) = loader_of({name: empty.pad(2**31)}, clean=clean).run()
    words = (
        f"The size of segment t-0/{name} (2147483648) is larger than the maximum allowed segment "
        "size of 2147483647"
    )
    assert (step.action, step.cause, step.file) == ("fail", "log-too-large", f"t-0/{name}")
    assert step.error == f"org.apache.kafka.common.KafkaException: {words}" and step.way_out
    assert not failures(loader_of({name: empty.pad(2**31 - 1)}, clean=clean))


QUORUM_UNREAD = (
    "java.io.UncheckedIOException: Error while reading the Quorum status from the file "
    "__cluster_metadata-0/quorum-state"
)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", QUORUM_UNREAD),
        (b"junk\n", QUORUM_UNREAD),
        (b"{}\n", QUORUM_UNREAD),
        (
            b'{"data_version":9}',
            "java.lang.IllegalStateException: data_version (9) is not within the min (0) and "
            "max (1) supported version",
        ),
        (
            b'{"data_version":1,"leaderId":1}',
            "java.lang.RuntimeException: QuorumStateData: unable to locate field "
            "'leaderEpoch', which is mandatory in version 1",
        ),
        (
            b'{"data_version":1,"leaderId":"x","leaderEpoch":1,"votedId":-1,'
            b'"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA"}',
            None,
        ),
    ],
)
def test_a_quorum_state_that_ends_the_start(data, error):
    """FileQuorumStateStore of 4.3.1 threw this; a node without a metadata log reads none."""
    properties = b"version=1\nnode.id=1\ncluster.id=abc\n"
    files = OwnFiles(meta_properties=properties, has_metadata_log=True, quorum_state=data)
    (step,) = own_steps(files, KAFKA_4_3_1)
    assert (step.action, step.cause, step.error) == ("fail", "quorum-state-bad", error)
    assert step.way_out
    assert own_steps(replace(files, has_metadata_log=False), KAFKA_4_3_1) == ()


def log_ends(files: dict[str, FileView], folder: Path) -> set[int]:
    """Returns the end of a log as found by the lookups, the ingest and the loader."""
    log = view_files("t-0", files)
    base, name = log.active.base_offset, f"{log.active.base_offset:020d}"
    for file in files.values():
        if file.name in (f"{name}.log", f"{name}.index"):
            (folder / file.name).write_bytes(file.content())
    partition = open_partition(folder, names.parse_directory("t-0"))
    directory = LoadedDirectory(StoredLog(directory="t-0", files=tuple(files.values())))
    return {
        fetch.log_end_offset(log.active, search_profile("4.3.1")),
        log_end_offset(partition.active),
        find_end_offset(directory, log.active.log, log.active.index, base),
    }


@all_cases(
    "line", [line for line in RECORDED if "error" not in line], ids=lambda line: str(line["id"])
)
def test_the_end_of_a_log_is_where_kafka_has_it(line, loads, tmp_path):
    """Each of them agrees, with trailing zeros in the index and without."""
    files = loads[line["id"]][0].files()
    in_use = files | {
        name: file.pad(min(line["segment_index_bytes"], 1 << 16))
        for name, file in files.items()
        if name.endswith(".index")
    }
    folder = tmp_path / str(line["id"])
    folder.mkdir()
    assert log_ends(files, folder) == {line["log_end"]}
    assert log_ends(in_use, folder) == {line["log_end"]}


@pytest.mark.parametrize(
    ("cut_bytes", "zero_slots", "end_offset"),
    [(0, 0, 60), (1, 0, 50), (100, 0, 0), (150, 0, 0), (0, 2, 60), (150, 2, 30)],
)
def test_the_last_slot_of_the_index_says_where_a_cut_log_ends(
    cut_bytes, zero_slots, end_offset, tmp_path
):
    """If it leads to no batch, the end is the base offset; an unwritten slot leads to byte 0."""
    headers = np.zeros(6, HEADER)
    headers["base_offset"], headers["last_offset_delta"] = np.arange(6) * 10, 9
    headers["batch_length_bytes"], headers["magic"] = HEADER_BYTES - LENGTH_END, MAGIC_2
    log = headers.tobytes()
    slots = [(29, 2 * HEADER_BYTES), (49, 4 * HEADER_BYTES), *[(0, 0)] * zero_slots]
    index = offset_index.build(np.array(slots, offset_index.ENTRY))
    contents = {f"{0:020d}.log": log[: len(log) - cut_bytes], f"{0:020d}.index": index}
    files = {name: in_memory(name, content) for name, content in contents.items()}
    assert log_ends(files, tmp_path) == {end_offset}


def feature_level(name: str) -> bytes:
    """Returns a FeatureLevelRecord of version 0 and level 1, as MetadataRecordSerde frames it."""
    return b"\x01\x0c\x00" + bytes([len(name) + 1]) + name.encode() + b"\x00\x01\x00"


def bootstrap(*values: bytes | None) -> bytes:
    records = [
        record.Record(offset_delta=place, timestamp_delta_ms=0, key=None, value=value)
        for place, value in enumerate(values)
    ]
    return whole_logs.framed(0, record.build(records), [whole_logs.START_MS] * len(values))


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (bootstrap(feature_level("metadata.version")), None),
        (bootstrap(feature_level("kraft.version")), "No FeatureLevelRecord for metadata.version"),
        (bootstrap(b"\x01\x63\x00"), "unable to deserialize record at offset 0"),
        (bootstrap(b"x")[:-1] + b"\x7f", "InvalidRecordException"),
    ],
    ids=["whole", "another feature", "an unknown record", "no record"],
)
def test_a_bootstrap_checkpoint_that_ends_a_start(data, error):
    fault = bootstrap_fault(data)
    assert (error is None) == (fault is None) and (error is None or error in str(fault))


def test_a_bootstrap_checkpoint_of_too_many_bytes_is_not_read(monkeypatch):
    """A real one has some dozen bytes, so one that expands to gigabytes is refused."""
    monkeypatch.setattr(small_files, "BOOTSTRAP_BYTES", 20)
    with pytest.raises(CannotOpen) as refusal:
        bootstrap_fault(bootstrap(feature_level("metadata.version"), feature_level("b")))
    assert refusal.value.kind == "large"


def test_malformed_properties_are_refused_in_javas_words():
    fault = properties_fault(b"version=1\nnode.id=\\u12\ncluster.id=abc\n")
    assert str(fault) == "Malformed \\uxxxx encoding."
    assert properties_fault(b"version=1\nnode.id=1\ncluster.id=abc\n") is None
