"""A lesson says the same in each language: the same numbers, settings, fields and issues, step by step."""

import gzip
import json
import re
from pathlib import Path

import pytest

from kafkaviz import words
from kafkaviz.ui import lessons, workshop
from kafkaviz.ui.lessons.grammar import Block
from kafkaviz.ui.lessons.live import LIVE

FOLDER = Path(lessons.__file__).parent
NUMBER = re.compile(r"\d+(?:[ \u202f]\d{3})+|\d+(?:\.\d+)*")  # 1 048 527; 4.3.1
NAME = re.compile(r"`([^`\n]+)`")  # `segment.index.bytes`
ISSUE = re.compile(r"KAFKA-\d+|KIP-\d+")
FENCE = re.compile(r"^```.*$", re.MULTILINE)
SPELLED = {word: str(number) for number, word in enumerate(words.text_in("en", "common.numbers").split())}
STEPS = sorted(file.name.removesuffix(".en.md") for file in FOLDER.glob("*.en.md"))


def steps(name: str, spoken: str) -> list[str]:
    """The head of a lesson and each of its steps, without the fences of its blocks."""
    return re.split(r"^## ", FENCE.sub("", (FOLDER / f"{name}.{spoken}.md").read_text(encoding="utf-8")), flags=re.MULTILINE)


def facts(step: str) -> set[str]:
    """What must be the same in every language."""
    numbers = {re.sub(r"[ \u202f]", "", one) for one in NUMBER.findall(step)}
    return numbers | set(NAME.findall(step)) | set(ISSUE.findall(step))


def spelled(step: str) -> set[str]:
    """Numbers that English writes as words."""
    return {SPELLED[word] for word in re.findall(r"[a-z]+", step.lower()) if word in SPELLED}


@pytest.mark.parametrize("name", STEPS)
def test_a_lesson_says_the_same_in_each_language(name):
    """Step by step; a small number may be a word in English."""
    english, chinese = steps(name, "en"), steps(name, "zh")
    assert len(english) == len(chinese) > 2
    differ = [(facts(one) - facts(other), facts(other) - facts(one) - spelled(one)) for one, other in zip(english, chinese, strict=True)]
    assert [one for one in differ if one != (set(), set())] == []


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_the_lesson_on_time_says_what_retention_does(spoken):
    """Retention rolls the active segment and deletes it: analyse.retention, which passes of Kafka 4.3.1 hold, gives the right answer."""
    step = next(one for one in lessons.lessons(spoken)[0] if one.name == "rolls").steps[1]
    (asked,), (shown,) = step.blocks("predict"), step.blocks("retention")
    segment_days, retention_days, idle_days = map(int, re.findall(r"(\d+) (?:day|天)", asked["ask"]))
    assert segment_days < retention_days < idle_days and (shown["retention-days"], shown["days"]) == (retention_days, idle_days)
    states = [one.state for one in LIVE["retention"].make(shown).segments]
    assert states == ["time"] * 4  # all of them, the active one too
    choices = [(is_right, "retention.ms" in text) for text, is_right in workshop.choices(asked)]
    assert choices.count((True, True)) == 1 and (True, False) not in choices and (False, True) not in choices
    for days, state in ((retention_days, "until"), (retention_days + 1, "time")):
        log = LIVE["retention"].make(Block("retention", 1, shown.values | {"days": days}, ()))
        assert log.segments[-1].state == state


def test_kafka_deletes_the_active_segment_by_retention(data):
    """As the lesson says: in recorded passes of 4.3.1 the last segment went by its time, with records in it."""
    with gzip.open(data / "retention_passes.jsonl.gz") as file:
        passes = [one for one in map(json.loads, file) if one["retention_bytes"] < 0 and "delete" in one["policy"]]
    gone = [one for one in passes if one["segments"][-1][1] and one["segments"][-1][0] in one["deleted"]]
    assert gone and all(one["now_ms"] - one["segments"][-1][2] > one["retention_ms"] for one in gone)


def test_facts_are_found():
    """Of both kinds of number, and with the signs of either language around them."""
    assert facts("`a.b` 是 1 048 527 字节（KAFKA-806，4.0.1）。") == {"a.b", "1048527", "806", "KAFKA-806", "4.0.1"}
    assert spelled("Twelve bytes, no more") == {"12", "0"}
