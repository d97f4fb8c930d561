"""A lesson says the same in each language: the same numbers, settings, fields and issues, step by
step.
"""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from kafkaviz import config_def, messages, units
from kafkaviz.analysis import broker_health
from kafkaviz.binary import codec
from kafkaviz.log.broker import open_broker
from kafkaviz.log.settings import open_settings
from kafkaviz.workshop import lessons
from kafkaviz.workshop.figures import LIVE
from kafkaviz.workshop.lessons.grammar import LessonBlock
from tests.support.vectors import json_lines
from tests.workshop import lesson_text
from tests.workshop.lesson_text import step

FOLDER = Path(lessons.__file__).parent
NUMBER = re.compile(r"\d+(?:[ \u202f]\d{3})+|\d+(?:\.\d+)*")  # 1 048 527; 4.3.1
NAME = re.compile(r"`([^`\n]+)`")  # `segment.index.bytes`
ISSUE = re.compile(r"KAFKA-\d+|KIP-\d+")
FENCE = re.compile(r"^```.*$", re.MULTILINE)
NUMBERS = messages.text_in("en", "common.numbers").split()
SPELLED = {word: str(number) for number, word in enumerate(NUMBERS)}
STEPS = sorted(file.name.removesuffix(".en.md") for file in FOLDER.glob("*.en.md"))


def steps(name: str, spoken: str) -> list[str]:
    """The head of a lesson and each of its steps, without the fences of its blocks."""
    text = (FOLDER / f"{name}.{spoken}.md").read_text(encoding="utf-8")
    return re.split(r"^## ", FENCE.sub("", text), flags=re.MULTILINE)


def facts(step: str) -> set[str]:
    """Returns the parts of a text that must be the same in every language."""
    numbers = {re.sub(r"[ \u202f]", "", number) for number in NUMBER.findall(step)}
    return numbers | set(NAME.findall(step)) | set(ISSUE.findall(step))


def spelled(step: str) -> set[str]:
    """Numbers that English writes as words."""
    return {SPELLED[word] for word in re.findall(r"[a-z]+", step.lower()) if word in SPELLED}


@pytest.mark.parametrize("name", STEPS)
def test_a_lesson_says_the_same_in_each_language(name):
    """Step by step; a small number may be a word in English."""
    english, chinese = steps(name, "en"), steps(name, "zh")
    assert len(english) == len(chinese) > 2
    differ = [
        (facts(own) - facts(other), facts(other) - facts(own) - spelled(own))
        for own, other in zip(english, chinese, strict=True)
    ]
    assert [pair for pair in differ if pair != (set(), set())] == []


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_the_lesson_on_time_says_what_retention_does(spoken):
    """Retention rolls the active segment and deletes it: analysis.retention, which passes of Kafka
    4.3.1 hold, gives the right answer.
    """
    lesson_step = step("rolls", 2, spoken)
    (prediction,), (retention,) = lesson_step.blocks("predict"), lesson_step.blocks("retention")
    days = re.findall(r"(\d+) (?:day|天)", prediction["ask"])
    segment_days, retention_days, idle_days = map(int, days)
    assert segment_days < retention_days < idle_days
    assert (retention["retention-days"], retention["days"]) == (retention_days, idle_days)
    states = [segment.state for segment in LIVE["retention"].make(retention).segments]
    assert states == ["time"] * 4  # all of them, the active one too
    choices = [(is_right, "retention.ms" in text) for text, is_right in prediction.choices]
    assert sorted(set(choices)) == [(False, False), (True, True)]
    assert choices.count((True, True)) == 1
    for days, state in ((retention_days, "until"), (retention_days + 1, "time")):
        block = LessonBlock("retention", 1, retention.values | {"days": days}, ())
        assert LIVE["retention"].make(block).segments[-1].state == state


def test_kafka_deletes_the_active_segment_by_retention(data):
    """As the lesson says: in recorded passes of 4.3.1 the last segment went by its time, with
    records in it.
    """
    overdue_ms = []
    for recorded in json_lines(data / "retention_passes.jsonl.gz"):
        base_offset, record_bytes, newest_ms = recorded["segments"][-1][:3]
        by_time_alone = recorded["retention_bytes"] < 0 and "delete" in recorded["policy"]
        if by_time_alone and record_bytes and base_offset in recorded["deleted"]:
            overdue_ms.append(recorded["now_ms"] - newest_ms - recorded["retention_ms"])
    assert overdue_ms and min(overdue_ms) > 0


@pytest.mark.parametrize(
    ("byte", "bit", "code"),
    [(7, 0, "offsets-not-increasing"), (16, 6, "batch-bad-magic"), (15, 0, None)],
)
def test_a_bit_outside_the_checksum_is_noticed_as_the_lesson_says(clean, tmp_path, byte, bit, code):
    """Base offset and magic by kafkaviz, the leader epoch by nobody; the CRC is right all the
    while.
    """
    shutil.copytree(clean / "clicks-none-0", tmp_path / "clicks-none-0")
    log = tmp_path / "clicks-none-0" / "00000000000000000000.log"
    data = bytearray(log.read_bytes())
    position = open_broker(tmp_path).partition("clicks-none-0").segments[0].batches()[5]["position"]
    data[position + byte] ^= 1 << bit
    log.write_bytes(data)
    findings = broker_health.check(tmp_path, partition="clicks-none-0").findings
    codes = {finding.code for finding in findings if finding.severity == "error"}
    assert codes == ({code} if code else set())
    for spoken in ("en", "zh"):
        (misleads,) = step("batches", 2, spoken).blocks("misleads")
        assert "kafkaviz" in misleads["so"] and "CRC" in misleads["so"]


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_learners_read_that_a_record_a_year_ahead_is_refused(clean, spoken):
    """In the step, not in the notes alone; the default is what config_def says, and the sample's
    topic has another value.
    """
    name = "message.timestamp.after.max.ms"
    prose = lesson_text.prose("time", 5, spoken)
    assert f"`{name}`" in prose and "4.0" in prose
    defaults = [config_def.defaults(release)[name] for release in ((3, 6), (3, 9), (4, 0))]
    assert defaults == [2**63 - 1, 2**63 - 1, 3_600_000]
    assert open_settings(open_broker(clean)).find("sensors-late", name).value == 2**63 - 1


def test_facts_are_found():
    found = facts("`a.b` 是 1 048 527 字节（KAFKA-806，4.0.1）。")
    assert found == {"a.b", "1048527", "806", "KAFKA-806", "4.0.1"}
    assert spelled("Twelve bytes, no more") == {"12", "0"}


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_the_sizes_of_the_heartbeats_are_those_of_the_lesson(clean, spoken):
    """As they are: counted in the files. Packed: a batch alone by the library, and the rest by the
    figure, which must write all records again.
    """
    view = LIVE["topic-bytes"].make(step("batches", 5, spoken).blocks("topic-bytes")[0])
    today, packed, larger, both = view.logs
    logs = sorted((clean / "heartbeat-0").glob("*.log"))
    assert today.log_bytes == sum(log.stat().st_size for log in logs)
    assert today.batches == packed.batches == 40_000 and larger.batches == both.batches
    data = logs[0].read_bytes()
    body = data[61 : 12 + int.from_bytes(data[8:12], "big")]
    assert len(codec.compress_as_broker("zstd", body)) > len(body)
    assert packed.record_bytes > today.record_bytes
    # a record's offset delta is no longer 0, so it takes one or two bytes more
    grown_bytes = larger.record_bytes - today.record_bytes
    assert 0 < grown_bytes < 4 * 40_000
    # the longest record has 45 bytes, so at most 44 are left free in a batch
    assert 0 <= larger.batches * 16384 - larger.log_bytes < 44 * larger.batches + 16384
    (predict,) = step("batches", 5, spoken).blocks("predict")
    for log in view.logs:
        assert units.format_bytes(log.log_bytes) in predict["reveal"]
    indexes = (clean / "heartbeat-0").glob("*.*index")
    assert round(sum(index.stat().st_size for index in indexes) / 1024) == 18
    assert "18 KiB" in predict["reveal"]


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_no_linger_merges_the_heartbeats_as_the_lesson_says(clean, spoken):
    """They come about a second apart, and 5 ms is a default only from 4.0 on."""
    partition = open_broker(clean).partition("heartbeat-0")
    scans = [rows for segment in partition.live for rows in segment.full_scan()]
    gaps_ms = np.diff(np.concatenate([rows["base_timestamp_ms"] for rows in scans]))
    assert gaps_ms.min() > 500 and np.median(gaps_ms) == 1000
    (misleads,) = step("batches", 5, spoken).blocks("misleads")
    assert "KIP-1030" in misleads["versions"]
