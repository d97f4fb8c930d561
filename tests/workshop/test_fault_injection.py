"""The lab at the end of the lessons, held against Kafka 4.3.1: each fault of each lesson, loaded by
its UnifiedLog and read as its consumer reads.
"""

import gc
import hashlib
import json
import weakref
from pathlib import Path

import pytest

from kafkaviz import versions
from kafkaviz.analysis.restart.next_start import restart_log, restart_steps
from kafkaviz.log.broker import open_broker
from kafkaviz.simulate.config import IndexConfig
from kafkaviz.simulate.startup.restart import join_steps
from kafkaviz.workshop import lessons
from kafkaviz.workshop.lab import FAULTS, LogCopy, copy_log
from kafkaviz.workshop.lab.start_trial import (
    RELEASE,
    ReadOutcome,
    StartOutcome,
    StartTrial,
    check_copy,
    new_findings,
    run_trial,
    start,
)
from tests.conftest import SAMPLES
from tests.support.vectors import json_lines

DATA = Path(__file__).parents[1] / "data" / "broken_logs.jsonl.gz"
RECORDED = json_lines(DATA)
BLOCKS = {
    lesson.name: block
    for lesson in lessons.lessons("en")[0]
    for step in lesson.steps
    for block in step.blocks("break-it")
}
OFFERED = [(lesson, fault) for lesson, block in BLOCKS.items() for fault in block["fault"]]
# at the place that comes first, in each lesson; held to Kafka below
EXPECTED = {
    "index-renamed": ("rebuild", "same"),
    "timeindex-removed": ("empty", "same"),
    "epochs": ("fail", "not-served"),
    "bit": ("nothing", "error"),
    "bit-killed": ("cut", "fewer"),
    "cut": ("nothing", "other"),
    "key-lowered": ("nothing", "other"),
    "position-moved": ("nothing", "other"),
    "cut-killed": ("cut", "fewer"),
    "entries-swapped": ("nothing", "same"),
    "index-removed": ("rebuild", "same"),
    "index-cut": ("nothing", "same"),
    "index-zeroed": ("nothing", "same"),
    "index-zeroed-killed": ("rebuild", "same"),
    "clock": ("nothing", "other"),
    "time-late": ("nothing", "same"),
    "times-zeroed": ("nothing", "other"),
    "limit": ("fail", "not-served"),
    "index-padded": ("nothing", "same"),
    "file-time": ("empty", "fewer"),
}
# what the corruption lab's check calls each
CODES = {
    "index-renamed": {"index-missing", "orphan-index"},
    "epochs": {"leader-epoch-bad"},
    "bit": {"batch-crc-mismatch"},
    "cut": {"log-torn-tail"},
    "entries-swapped": {"index-not-monotonic"},
    "position-moved": {"index-offset-mismatch"},
    "index-cut": {"index-size-not-multiple"},
    "time-late": {"timeindex-timestamp-mismatch"},
}
PLAIN = ("index-renamed", "bit", "cut", "time-late")


@pytest.fixture(scope="module")
def copies(cache) -> dict[str, LogCopy]:
    brokers = {
        name: open_broker(SAMPLES / f"{name}.tar.gz")
        for name in {block["data"] for block in BLOCKS.values()}
    }
    logs = {}
    for lesson, block in BLOCKS.items():
        broker, release = brokers[block["data"]], versions.parse(RELEASE)
        logs[lesson] = copy_log(broker, broker.partition(block["tp"]), block["segment"], release)
    return logs


def first_trial(copy: LogCopy, fault: str) -> StartTrial:
    return run_trial(copy, FAULTS[fault], FAULTS[fault].default_place(copy))


def digest(data: bytes) -> str:
    """As tests.kafka.record_faults writes it."""
    return hashlib.sha256(data).hexdigest()[:16]


def lines() -> list:
    """One recorded line of each fault that is offered first, the others at night."""
    first_lines, params = set(), []
    for line in RECORDED:
        key = line["fault"]
        marks = pytest.mark.nightly if key in first_lines else ()
        first_lines.add(key)
        params.append(pytest.param(line, marks=marks, id="{lesson} {fault} {place}".format(**line)))
    return params


def test_every_fault_is_offered_and_was_recorded():
    """Two to four at the end of each lesson."""
    assert {len(block["fault"]) for block in BLOCKS.values()} <= {2, 3, 4}
    assert {fault for _, fault in OFFERED} == set(FAULTS) == set(EXPECTED)
    assert {(line["lesson"], line["fault"]) for line in RECORDED} == set(OFFERED)


@pytest.mark.parametrize(("lesson", "fault"), OFFERED)
def test_what_comes_of_a_fault(lesson, fault, copies):
    trial = first_trial(copies[lesson], fault)
    assert (trial.start.value, trial.read.value) == EXPECTED[fault]


@pytest.mark.parametrize("line", lines())
def test_kafkas_own_classes_do_the_same(line, copies):
    """The same exception; or the same segments, the same bytes in each file, the same records or the
    same offset.
    """
    trial = run_trial(copies[line["lesson"]], FAULTS[line["fault"]], line["place"])
    assert (trial.read is ReadOutcome.NOT_SERVED) == ("error" in line)
    if "error" in line:
        (failure,) = trial.restart.failures
        assert failure.error.partition(":")[0] == line["error"]["class"]
        return
    _, log_view = start(trial.damage.copy)
    assert [segment.base_offset for segment in log_view.segments] == line["bases"]
    emptied = {
        Path(step.file).name
        for step in trial.restart.steps
        if (step.action, step.cause) == ("rebuild", "invalid-offset")
    }  # a running broker has what was there behind their 0 entries
    files = {
        view.name: digest(view.content().rstrip(b"\0"))
        for segment in log_view.segments
        for view in (segment.log, segment.index, segment.timeindex)
    }
    assert {name: files[name] for name in files.keys() - emptied} == {
        name: line["files"][name] for name in line["files"].keys() - emptied
    }
    assert trial.reading.end_offset == line["log_end"]
    if "answer" in line:
        assert trial.reading.answer == line["answer"]
        return
    ranges = [[part.first, part.last, part.segment, part.position] for part in trial.reading.ranges]
    assert [len(ranges), digest(json.dumps(ranges).encode())] == line["ranges"]
    assert (trial.reading.error is not None) == ("read_error" in line)
    if "read_error" in line:
        assert [trial.reading.error_offset, trial.reading.error_class] == line["read_error"][:2]


@pytest.mark.parametrize(
    "fault",
    [pytest.param(name, marks=() if name in PLAIN else pytest.mark.nightly) for name in CODES],
)
def test_a_check_finds_the_fault(fault, clean, copies):
    """By the code that the corruption lab has for it; nothing is found in the undamaged copy."""
    lesson = next(lesson for lesson, name in OFFERED if name == fault)
    trial, broker = first_trial(copies[lesson], fault), open_broker(clean)
    usual = check_copy(broker, copies[lesson])
    findings = check_copy(broker, trial.damage.copy)
    assert {finding.code for finding in new_findings(findings, usual, trial.damage)} == CODES[fault]


def test_a_fault_changes_nothing_on_disk(clean, copies):
    """The copy is in memory, and the next one is undamaged."""
    broker = open_broker(clean)
    partition = broker.partition("rolls-by-time-0")
    before = {path.name: path.stat().st_mtime_ns for path in partition.path.iterdir()}
    for fault in ("index-renamed", "timeindex-removed", "cut"):
        first_trial(copies["batches"], fault)
    assert {path.name: path.stat().st_mtime_ns for path in partition.path.iterdir()} == before


def test_the_start_is_that_of_the_other_pages(clean, copies):
    broker = open_broker(clean)
    restart, _ = start(copies["batches"])
    log = restart_log(broker, broker.partition("rolls-by-time-0"), IndexConfig())
    steps = restart_steps(log, clean=broker.is_clean)
    assert restart == join_steps([(log.path, steps)], clean=broker.is_clean)


@pytest.mark.parametrize(
    ("place", "read"),
    [
        (0, ReadOutcome.OTHER),  # the base offset, which no checksum covers
        (11, ReadOutcome.ERROR),  # the length
        (12, ReadOutcome.SAME),  # the leader epoch, which no checksum covers
        (16, ReadOutcome.ERROR),  # the magic, which the consumer refuses
        (17, ReadOutcome.ERROR),  # the checksum
        (21, ReadOutcome.ERROR),  # what it covers
    ],
)
def test_what_a_flipped_bit_does_depends_on_its_byte(place, read, copies):
    assert run_trial(copies["batches"], FAULTS["bit"], place).read is read


@pytest.mark.parametrize(("place", "read"), [(1, ReadOutcome.SAME), (20, ReadOutcome.OTHER)])
def test_a_lower_key_is_harmless_within_its_batch(place, read, copies):
    assert run_trial(copies["last-offset"], FAULTS["key-lowered"], place).read is read


@pytest.mark.parametrize(("place", "outcome"), [(7, StartOutcome.FAIL), (8, StartOutcome.NOTHING)])
def test_a_limit_that_has_room_lets_the_broker_start(place, outcome, copies):
    """Five entries of 12 bytes are in the active time index: 8 × 7 bytes have room for four."""
    assert run_trial(copies["rolls"], FAULTS["limit"], place).start is outcome


def test_a_copy_is_kept_by_nobody_but_its_owner(copies):
    """What a client gets of it is, until it goes; a copy has the bytes of a whole log."""
    name = copies["batches"].name("index")
    copy = copies["batches"].with_files({name: copies["batches"].content("index")})
    trials = [run_trial(copy, FAULTS["bit"], byte) for byte in (0, 20)]
    assert trials[0].expected_reading is trials[1].expected_reading
    copy_reference = weakref.ref(copy)
    del copy, trials
    gc.collect()
    assert copy_reference() is None
