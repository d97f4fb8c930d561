"""Lookups in whole broker directories: every answer is the broker's, wrong ones too."""

import gzip
import json
import re
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest

import kafkaviz as kv
from kafkaviz import versions
from kafkaviz.__main__ import main
from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.lookup.served_log import (
    describe_recovered,
    needs_recovery,
    open_index,
    open_log,
    open_log_view,
)
from kafkaviz.analysis.opened_path import open_path
from kafkaviz.binary.file_view import AFTER_RECOVERY, ON_DISK
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.messages import message
from kafkaviz.search import by_time
from kafkaviz.search.fetch import READ_UNCOMMITTED, find_bounds
from kafkaviz.search.lookup import Lookup, by_offset, by_timestamp
from tests.support.brokers import copy_partitions
from tests.support.recorded_archives import RECORDED_ARCHIVES

VERSIONS = {name: name.split("-")[1] for name in RECORDED_ARCHIVES}
# directories of a release and a stop that another one, a sample or an excerpt has as well
SECOND_LOOKS = (
    *("kafka-3.9.0-follower", "kafka-4.3.1-clean", "kafka-4.3.1-damaged"),
    *("kafka-4.3.1-killed-restarted", "kafka-4.3.1-unstartable"),
    *("kafka-4.4.0-clean", "kafka-4.4.0-killed-restarted"),
)
SPECIAL = by_time.NAMES | {
    "max_timestamp": by_time.MAX_TIMESTAMP,
    "max-timestamp": by_time.MAX_TIMESTAMP,
    "earliest_local": -4,
}
# The broker was killed before the log start that deleteRecords had set was written: the next start
# began at 0, as it answered then.
LOST_LOG_STARTS = {
    ("kafka-4.3.1-killed", "device-events.v2-0"): 4321,
    ("kafka-4.4.0-killed", "short-head-0"): 1321,
}
# Segments whose .timeindex was extended with zeros by hand after the broker had answered, by the
# offsets in them.
ZEROED_LATER = {
    ("kafka-4.4.0-killed", "tickets-any-0"): range(590, 1229),
    ("kafka-4.4.0-killed", "parcels-0"): range(1026, 2006),
}


class Judge:
    """Compares lookups in one broker directory with its broker's answers."""

    def __init__(self, broker: Broker, version: str, ends: dict[str, int]) -> None:
        """`ends`: the log ends that the broker reported, by partition."""
        self._broker, self._version, self._ends, self._opened = broker, version, ends, {}

    def compare(self, question: dict) -> bool:
        """Returns whether the directory can still answer the question."""
        name = f"{question['topic']}-{question['partition']}"
        isolation = question.get("isolation", READ_UNCOMMITTED)
        log, bounds = self._open(name, isolation)
        lost = LOST_LOG_STARTS.get((self._broker.name, name))
        if self._ends[name] != bounds.end_offset and self._is_outdated(question):
            return False
        if lost and question.get("query") in ("earliest", "earliest_local"):
            return False
        if lost and "query" in question and question["offset"] == lost:
            return False
        zeroed = ZEROED_LATER.get((self._broker.name, name), ())
        if isinstance(question.get("query"), int) and question["offset"] in zeroed:
            return False
        search_profile = versions.search_profile(self._version)
        if "query" in question:
            target = SPECIAL.get(question["query"], question["query"])
            result = by_timestamp(log, target, search_profile, isolation, bounds)
            answer = None
            if question["offset"] not in (-1, None):
                time_ms = question["timestamp"]
                answer = (question["offset"], -1 if time_ms is None else time_ms)
            found = result.answer and (result.answer.offset, result.answer.timestamp_ms)
        else:
            result = by_offset(log, question["offset"], search_profile, isolation, bounds)
            fields = ("firstRecordOffset", "firstRecordTimestamp", "error")
            answer = tuple(map(question.get, fields))
            found = fetched(result)
        assert found == answer, (self._broker.name, question)
        return True

    def _open(self, name: str, isolation: str):
        if name not in self._opened:
            self._opened[name] = open_log_view(self._broker.partition(name), self._version)
        if (name, isolation) not in self._opened:
            self._opened[name, isolation] = find_bounds(
                self._opened[name], versions.search_profile(self._version), isolation
            )
        return self._opened[name], self._opened[name, isolation]

    def _is_outdated(self, question: dict) -> bool:
        if "query" in question:
            moves = question["query"] in ("latest", "max_timestamp", "max-timestamp")
            return moves or question["offset"] in (-1, None)
        return question.get("firstRecordOffset") is None


def fetched(result: Lookup) -> tuple[int | None, int | None, str | None]:
    record, error = result.record, result.error and result.error.class_name.rpartition(".")[2]
    return record and record.offset, record and record.timestamp_ms, error


def lines(data: bytes) -> list[dict]:
    return [json.loads(line) for line in data.splitlines()]


def ends_of(questions: list[dict]) -> dict[str, int]:
    return {
        f"{question['topic']}-{question['partition']}": question["offset"]
        for question in questions
        if question.get("query") == "latest" and "isolation" not in question
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly if name in SECOND_LOOKS else ())
        for name in VERSIONS
    ],
)
def test_every_answer_is_the_brokers(shared, name):
    """list-offsets.jsonl and fetch.jsonl of each recorded directory."""
    with tarfile.open(shared / "data" / f"{name}.expected.tar.gz") as expected:
        members = (
            expected.extractfile(f"{name}.expected/{file}.jsonl").read()
            for file in ("list-offsets", "fetch")
        )
        questions = [line for member in members for line in lines(member)]
    broker = open_broker(shared / "data" / f"{name}.tar.gz")
    judge = Judge(broker, VERSIONS[name], ends_of(questions))
    compared = sum(map(judge.compare, questions))
    assert compared > 0.9 * len(questions)


def test_answers_of_4_4_on_time_indexes_that_end_in_zeros(data, restarted_4_4):
    """The start left two lost trims, so times in the segment of 590 are answered with 1229, the
    first offset of the next.
    """
    with gzip.open(data / "kafka-4.4.0-killed-restarted-answers.jsonl.gz") as file:
        questions = lines(file.read())
    judge = Judge(open_broker(restarted_4_4), "4.4.0", ends_of(questions))
    assert sum(map(judge.compare, questions)) == len(questions) == 97
    partition = open_broker(restarted_4_4).partition("tickets-any-0")
    first, last = (
        kv.lookup(partition, offset=offset).answer.timestamp_ms for offset in (600, 1220)
    )
    answers = [
        question["offset"]
        for question in questions
        if isinstance(question.get("query"), int) and first <= question["query"] <= last
    ]
    assert len(answers) > 5 and set(answers) == {1229}


@pytest.mark.parametrize("sample", ["clean", "damaged", "killed"])
def test_answers_of_the_samples_are_the_brokers(data, request, sample):
    """Some of the answers of the brokers in sample_data."""
    with gzip.open(data / "broker_answers.jsonl.gz") as file:
        questions = [line for line in lines(file.read()) if line["sample"] == sample]
    judge = Judge(open_broker(request.getfixturevalue(sample)), "4.3.1", ends_of(questions))
    assert sum(map(judge.compare, questions)) > 100


def test_a_lookup_as_the_library_is_called(clean):
    """By offset, by timestamp, by name, and for another version."""
    partition = kv.open_broker(clean).partition("orders-0")
    result = kv.lookup(partition, offset=5000)
    assert (result.record.offset, result.answer.timestamp_ms) == (5000, 1790000827426)
    assert result.scan.from_position == 270131
    assert [read.size for read in result.scan.reads] == [17, 17, 17, 61]
    older = kv.lookup(partition, offset=5000, version="3.9.0")
    assert [read.size for read in older.scan.reads] == [17, 61] * 2
    assert kv.lookup(partition, timestamp_ms=1790000827426).answer.offset == 5000
    assert kv.lookup(partition, timestamp_ms="latest").answer.offset == 38736
    with pytest.raises(KafkavizError):
        kv.lookup(partition)


@pytest.mark.parametrize(
    ("request_values", "words"),
    [
        ({"offset": 0, "isolation": "READ_COMMITTED"}, "not READ_COMMITTED"),
        ({"timestamp_ms": "2026-11-21"}, "2026-11-21 is neither a timestamp"),
        ({"timestamp_ms": "Latest"}, "Latest is neither a timestamp"),
    ],
)
def test_an_invalid_request_is_refused(clean, request_values, words):
    partition = kv.open_broker(clean).partition("orders-0")
    with pytest.raises(KafkavizError, match=words):
        kv.lookup(partition, **request_values)


def with_unwritten_slots(killed: Path) -> Partition:
    """Returns the first partition whose active index has more than 100 of them."""
    return next(
        partition
        for partition in open_broker(killed).partitions
        if partition.active and partition.active.offset_slots.unwritten_slots > 100
    )


def test_an_unclean_directory_is_read_as_recovery_leaves_it(killed):
    partition = with_unwritten_slots(killed)
    target = partition.active.base_offset
    assert needs_recovery(partition)
    as_recovered = kv.lookup(partition, offset=target)
    as_is = kv.lookup(partition, offset=target, as_is=True)
    assert as_recovered.searches[0].slot_search.entries == len(partition.active.offset_index)
    assert as_is.searches[0].slot_search.entries == partition.active.offset_slots.slots
    assert as_recovered.record == as_is.record
    log = open_log_view(partition)
    stem = partition.active.name
    assert set(log.recovered_files) == {f"{stem}.{kind}" for kind in ("log", "index", "timeindex")}
    assert log.active.log.source == AFTER_RECOVERY
    assert not open_log_view(partition, as_is=True).recovered_files


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ([], None),
        (["1.log"], message("recovered_files.one_by_start", file="1.log")),
        (
            ["1.log", "1.index", "2.log"],
            message("recovered_files.several_by_start", file="1.log", n=2),
        ),
        (
            ["1.log", "1.index", "1.timeindex"],
            message(
                "recovered_files.of_one_segment_by_start",
                ends=(".log", ".index", ".timeindex"),
                stem="1",
            ),
        ),
    ],
)
def test_files_that_are_shown_as_after_a_start_are_named(files, text):
    assert describe_recovered(files) == text


def test_of_a_whole_log_recovery_leaves_the_log(killed):
    """Only an index that the start would rewrite is reported as differing from its file."""
    logs = [
        open_log_view(partition) for partition in open_broker(killed).partitions if partition.live
    ]
    unrecovered = [log for log in logs if log.active.log.source == ON_DISK]
    assert unrecovered and len(unrecovered) < len(logs)
    assert {
        tuple(name.partition(".")[2] for name in log.active.recovered_files) for log in unrecovered
    } == {("index", "timeindex")}


def test_a_partition_by_itself_is_read_as_it_is(killed, tmp_path):
    """Without its broker directory nothing says that it was not stopped cleanly."""
    name = with_unwritten_slots(killed).directory
    shutil.copytree(killed / name, tmp_path / name)
    assert not needs_recovery(open_broker(tmp_path / name).partitions[0])


def test_what_a_path_may_be(clean, tmp_path):
    """A directory, a .log, or files under any directory's name; nothing else."""
    opened = open_log(open_path(clean / "orders-0" / "00000000000000019113.log"))
    assert [segment.base_offset for segment in opened.segments] == [19113]
    assert opened.log_start_offset == 19113
    assert len(open_log(open_path(clean / "orders-0")).segments) == 3
    shutil.copytree(clean / "orders-0", tmp_path / "copied")
    assert len(open_log(open_path(tmp_path / "copied")).segments) == 3
    (tmp_path / "empty-0").mkdir()
    with pytest.raises(CannotOpen, match=r"holds no \.log"):
        open_log(open_path(tmp_path / "empty-0"))
    with pytest.raises(CannotOpen, match="partitions; name one of them"):
        open_log(open_path(clean))
    with pytest.raises(CannotOpen, match="is not a file of a segment"):
        open_log(open_path(Path(__file__)))
    with pytest.raises(CannotOpen, match="is not there"):
        open_log(open_path(clean / "orders-0" / "00000000000000000001.log"))


@pytest.mark.parametrize("kind", ["", ".py", ".index"])
@pytest.mark.parametrize("option", [[], ["--kafka-version", "4.3.1"]])
def test_the_advice_names_what_the_command_takes(clean, tmp_path, capsys, kind, option):
    """For an empty directory, another file or an index, the advice never names an index, which
    rebuild and a replay refuse.
    """
    (tmp_path / "empty-0").mkdir()
    path = {
        "": tmp_path / "empty-0",
        ".py": Path(__file__),
        ".index": clean / "orders-0" / f"{0:020}.index",
    }[kind]
    for line, takes in (
        (["rebuild", str(path)], "give a partition directory or a .log"),
        (["simulate", "--replay", str(path)], "give a partition directory, or an archive of one"),
    ):
        assert main([*line, *option, "--out", str(tmp_path / "out")]) == 2
        assert capsys.readouterr().err.endswith(f"; {takes}\n")


def test_records_before_damage_are_found(killed, tmp_path):
    """Zeros after the last batch stop a broker's start, but not a search before them."""
    source = open_broker(killed).partition("weblogs-0")
    shutil.copytree(source.path, tmp_path / "weblogs-0")
    log = sorted((tmp_path / "weblogs-0").glob("*.log"))[-1]
    log.write_bytes(log.read_bytes() + bytes(512))
    result = kv.lookup(open_broker(tmp_path / "weblogs-0").partitions[0], offset=100)
    assert result.record == kv.lookup(source, offset=100).record
    assert result.bounds.end_offset == kv.lookup(source, offset=100).bounds.end_offset


def test_a_path_may_lead_into_an_archive(tmp_path, clean):
    """The message that names a partition of an archive suggests such a path."""
    with tarfile.open(tmp_path / "kafka.tar.gz", "w:gz") as packed:
        packed.add(clean / "orders-0", "kafka/orders-0")
        packed.add(clean / "meta.properties", "kafka/meta.properties")
    for path in ("orders-0", "orders-0/00000000000000000000.log"):
        log = open_log(open_path(tmp_path / "kafka.tar.gz" / path))
        assert log.segments[0].base_offset == 0
    index = open_path(tmp_path / "kafka.tar.gz" / "orders-0/00000000000000000000.index")
    assert len(open_index(index).offset_slots) == 203
    with pytest.raises(
        CannotOpen, match=re.escape(f"{tmp_path}/kafka.tar.gz/nope-0: is not there; the archive")
    ):
        open_log(open_path(tmp_path / "kafka.tar.gz" / "nope-0"))


def test_up_to_2_2_an_index_that_fails_its_check_is_rebuilt(clean, tmp_path):
    """The length is not a multiple of 8; from 2.3 on no start looks at it."""
    directory = copy_partitions(clean, tmp_path / "kafka", ["orders-0"]) / "orders-0"
    index = directory / f"{0:020}.index"
    index.write_bytes(index.read_bytes()[:13])
    partition = open_broker(directory).partitions[0]
    assert needs_recovery(partition, (2, 2))
    assert not needs_recovery(partition, (2, 3)) and not needs_recovery(partition, None)
    entries = [
        kv.lookup(partition, offset=5000, version=version).searches[0].slot_search.entries
        for version in ("2.2", "2.3")
    ]
    assert entries == [203, 1]
    index.with_suffix(".timeindex").unlink()
    assert needs_recovery(partition, (2, 2))


def test_the_release_is_the_one_that_the_directory_looks_like(clean, tmp_path):
    """As a check assumes it. For a single file, or a directory without a trace, it is the newest."""
    shutil.copytree(clean / "orders-0", tmp_path / "kafka" / "orders-0")
    (tmp_path / "kafka" / "meta.properties").write_text("version=0\nbroker.id=1\n")
    (tmp_path / "kafka" / ".kafka_cleanshutdown").touch()
    partition = open_broker(tmp_path / "kafka" / "orders-0").partitions[0]
    assert kv.lookup(partition, offset=5000).profile.version == "3.6"
    assert check(tmp_path / "kafka").assumed_release.version == "3.6"
    assert open_path(partition.path / f"{0:020}.index").version == "3.6"
    assert open_path(clean / "orders-0").version == "4.3.1" != versions.NEWEST == "4.4.0"
    shutil.copytree(clean / "orders-0", tmp_path / "copied")
    assert open_path(tmp_path / "copied" / f"{0:020}.log").version == versions.NEWEST


def test_where_the_start_ends_early_each_segment_is_recovered_by_itself(killed, tmp_path):
    """The unwritten slots are still removed, and the exception is kept."""
    shutil.copytree(killed, tmp_path / "kafka")
    name = with_unwritten_slots(killed).directory
    (tmp_path / "kafka" / name / "leader-epoch-checkpoint").write_text("0\nmany\n")
    log = open_log_view(open_broker(tmp_path / "kafka").partition(name))
    full_log = open_log_view(open_broker(killed).partition(name))
    assert log.start_error.startswith("org.apache.kafka.common.errors.KafkaStorageException: ")
    assert full_log.start_error is None
    for segment, other in zip(log.segments, full_log.segments, strict=True):
        assert np.array_equal(segment.offset_slots, other.offset_slots)
        assert np.array_equal(segment.time_slots, other.time_slots)
        assert np.array_equal(segment.aborted, other.aborted)
        assert segment.size_bytes == other.size_bytes


def test_an_index_without_room_ends_the_start_and_hides_no_entry(killed, tmp_path):
    """segment.index.bytes is taken from the settings, as for the check."""
    shutil.copytree(killed, tmp_path / "kafka")
    (tmp_path / "kafka" / "server.properties").write_text("log.index.size.max.bytes=96\n")
    partitions = open_broker(tmp_path / "kafka").partitions
    failing = {
        step.partition
        for step in check(tmp_path / "kafka").restart.steps
        if step.cause == "index-full"
    }
    assert failing
    for partition in (partition for partition in partitions if partition.directory in failing):
        log = open_log_view(partition)
        full_log = open_log_view(open_broker(killed).partition(partition.directory))
        assert "Attempt to append to a full" in log.start_error
        assert len(log.active.offset_slots) == len(full_log.active.offset_slots)
