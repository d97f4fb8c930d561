"""Findings in another language: every constant sentence of a finding or a step has its translation, and none translates what is gone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkaviz import words
from kafkaviz.analyse.finding import CODES, Evidence, finding
from kafkaviz.figures import checkup
from kafkaviz.figures.finding_words import ended, why
from kafkaviz.simulate.starting.restart import Restart, Step
from kafkaviz.simulate.steps import CAUSES

PACKAGE = Path(words.__file__).parents[1]
OTHERS = [one for one in words.LANGUAGES if one != words.ENGLISH]
OF_CODES = {text for one in CODES.values() for text in (one.title, one.consequence, one.next_step, one.before and one.before[1]) if text}


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of Chinese."""
    monkeypatch.setattr(words, "_asked", [lambda: "zh"])


def translated(spoken: str) -> set[str]:
    """The English sentences that a language has."""
    start = f"{words.MADE_BELOW}."
    return {key.removeprefix(start) for key in words.catalogue(spoken) if key.startswith(start)}


def sentences() -> Iterator[str]:
    """Every constant text of the floors that findings and steps come from."""
    yield from OF_CODES
    for file in [one for room in ("analyse", "pipeline", "simulate") for one in (PACKAGE / room).rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@pytest.mark.parametrize("spoken", OTHERS)
def test_all_that_is_constant_of_a_finding_is_translated(spoken):
    """Title, consequence and next step of every code, and the cause of every step."""
    assert (OF_CODES | set(CAUSES.values())) - translated(spoken) == set()


@pytest.mark.parametrize("spoken", OTHERS)
def test_no_sentence_is_translated_that_is_gone(spoken):
    """Each is still said somewhere below; HERE, which others go on from, is put in front."""
    below = set(sentences())
    starts = "What is in it is not known here. "
    assert {one for one in translated(spoken) - below if not (one.startswith(starts) and f". {one.removeprefix(starts)}" in below)} == set()


def test_a_finding_in_chinese(chinese):
    """Title, what Kafka does and what to do; the sentence with values is the English one, with its own full stop."""
    evidence = Evidence("checksum 1", "2")
    found = finding("batch-crc-mismatch", "the batch at byte 0 does not match", evidence, partition="a-0", file="a-0/0.log")
    (item,) = checkup.items([found], lambda *_: b"")
    (one,) = item.members
    assert item.title == "批次与校验和不符" and one.next_step.startswith("从其他副本") and one.next_step.endswith("。")
    assert one.message == "The batch at byte 0 does not match." and one.expected == "应为：2。"


def test_a_consequence_with_values_follows_what_the_code_says(chinese):
    """Where a search skips to is told in English, behind what such an entry does anyway."""
    found = finding("index-offset-mismatch", "slot 3", Evidence("this"), partition="a-0", file="a-0/0.index", consequence="It skips to 17")
    (item,) = checkup.items([found], lambda *_: b"")
    assert item.members[0].consequence.startswith("启动时不检查索引项") and item.members[0].consequence.endswith("It skips to 17.")


def test_a_step_says_its_cause_where_its_words_have_values(chinese):
    """And its own words where they have none; in English always its own."""
    told = Step("a-0", 0, "rebuild", "unflushed", "the segment reaches above recovery point 117", "a-0/0.index")
    assert why(told) == "目录未正常停止，日志段超过恢复点"
    assert why(Step("a-0", 0, "delete", "orphan-index", "there is no .log of that base offset")) == "没有这个基准位移的 .log"


def test_the_outlook_in_chinese(chinese):
    """Numbers in figures, and one sentence."""
    cut = Step("a-0", 0, "truncate", "tail", "its last batch is not whole", "a-0/0.log", 2900, 1500)
    assert checkup.verdict([], Restart(False, True, (cut,)), 3).title == "这个 broker 能够启动：从 1 个日志末尾截掉 1\u202f500 字节"


def test_a_full_stop_is_that_of_the_sentence():
    """And none is put behind another."""
    assert [ended(one) for one in ("", "so", "so?", "如此", "如此。")] == ["", "so.", "so?", "如此。", "如此。"]
