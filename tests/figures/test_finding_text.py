"""Findings and steps of a start in another language: all sentences of real and damaged directories
are told, and none that is gone.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kafkaviz import messages
from kafkaviz.analysis.finding import CODES, Evidence, finding
from kafkaviz.analysis.health import check
from kafkaviz.figures import checkup
from kafkaviz.figures.finding_text import end_sentence, step_reason, translate
from kafkaviz.simulate.startup.restart import Restart, StartupStep
from kafkaviz.simulate.steps import CAUSES

PACKAGE = Path(messages.__file__).parents[1]
OTHERS = [one for one in messages.LANGUAGES if one != messages.ENGLISH]
OF_CODES = {
    text
    for one in CODES.values()
    for text in (
        one.title,
        one.consequence,
        one.next_step,
        one.earlier_behaviour and one.earlier_behaviour[1],
    )
    if text
}
ENGLISH = re.compile(r"[A-Za-z]{3,} [a-z]{2,} [a-z]{2,}")  # a sentence, or part of one
# stays as thrown
KAFKAS = (
    "java.",
    "org.apache.kafka.",
    "Last offset of aborted transaction",
    "Snapshot failed schema validation",
)


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of Chinese."""
    monkeypatch.setattr(messages, "_language_sources", [lambda: "zh"])


def translated(spoken: str, name: str) -> set[str]:
    """The English sentences that a language has in a catalogue."""
    return {
        key.removeprefix(f"{name}.")
        for key in messages.catalogue(spoken)
        if key.startswith(f"{name}.")
    }


@cache
def below() -> str:
    """Every text of the floors that findings, steps and mistakes come from, a line each."""
    files = [
        one
        for room in ("analysis", "pipeline", "simulate")
        for one in (PACKAGE / room).rglob("*.py")
    ]
    nodes = (
        node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    )
    return "\n".join(
        [
            *OF_CODES,
            *(
                node.value
                for node in nodes
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ),
        ]
    )


def said(directory: Path) -> Iterator[str]:
    """All that a checkup of a directory says."""
    health = check(directory)
    for one in health.findings:
        yield from (
            one.message,
            one.evidence.found,
            one.evidence.expected,
            one.consequence,
            one.next_step,
        )
    for step in health.restart.steps:
        yield from (step.why, step.way_out or "")


@pytest.mark.parametrize("spoken", OTHERS)
def test_all_that_is_constant_of_a_finding_is_translated(spoken):
    """Title, consequence and next step of every code, and the cause of every step."""
    assert (OF_CODES | set(CAUSES.values())) - translated(spoken, "findings") == set()


@pytest.mark.parametrize("sample", ["clean", "killed", "damaged"])
def test_all_that_is_said_of_a_directory_is_told(sample, request, chinese):
    """With its values; Kafka's own words stay."""
    left = {text: translate(text) for text in said(request.getfixturevalue(sample))}
    assert [
        text
        for text in left.values()
        if ENGLISH.search(text) and not any(one in text for one in KAFKAS)
    ] == []


@pytest.mark.parametrize("spoken", OTHERS)
@pytest.mark.parametrize("name", ["findings", "mistakes"])
def test_no_sentence_is_translated_that_is_gone(spoken, name):
    """Each constant one is still said below, and of the others each word."""
    known, here = set(re.findall(r"[a-z]{3,}", below())), translated(spoken, name)
    gone = [
        one
        for one in here
        if "{" not in one and one.removeprefix("What is in it is not known here. ") not in below()
    ]
    strange = [
        one for one in here if set(re.findall(r"[a-z]{3,}", re.sub(r"\{\w+\}", "", one))) - known
    ]
    assert (gone, strange) == ([], [])


def test_a_finding_in_chinese(chinese):
    """Title, what is there, what Kafka does and what to do; what is in no catalogue stays
    English.
    """
    evidence = Evidence("stored checksum 1", "so and so")
    message = (
        "the batch at byte 0 (offsets 1 to 2) does not match its checksum; 3 more places like it "
        "follow in this file"
    )
    found = finding("batch-crc-mismatch", message, evidence, partition="a-0", file="a-0/0.log")
    (item,) = checkup.finding_items([found], lambda *_: b"")
    (one,) = item.members
    assert (
        item.title == "批次与校验和不符"
        and one.next_step.startswith("从其他副本")
        and one.next_step.endswith("。")
    )
    assert (
        one.message == "字节 0 处的批次（偏移量 1 到 2）与校验和不符；本文件中还有 3 处类似情况。"
    )
    assert one.found == "存储的校验和 1。" and one.expected == "应为：so and so。"


def test_a_consequence_with_values_follows_what_the_code_says(chinese):
    """Where a search skips to is told in English, behind what such an entry does anyway."""
    found = finding(
        "index-offset-mismatch",
        "slot 3",
        Evidence("this"),
        partition="a-0",
        file="a-0/0.index",
        consequence="It skips to 17",
    )
    (item,) = checkup.finding_items([found], lambda *_: b"")
    assert item.members[0].consequence.startswith("启动时不检查索引项") and item.members[
        0
    ].consequence.endswith("It skips to 17。")


def test_a_step_says_its_cause_where_its_words_cannot_be_told(chinese):
    """Its own words where they can be told; in English always its own."""
    unclean = "the broker was not stopped cleanly, and the segment reaches above recovery point 117"
    for words_of_step, shown in (
        (unclean, "broker 没有正常停止，日志段超过恢复点 117"),
        ("something that no catalogue has", "目录未正常停止，日志段超过恢复点"),
    ):
        assert (
            step_reason(StartupStep("a-0", 0, "rebuild", "unflushed", words_of_step, "a-0/0.index"))
            == shown
        )
    assert (
        step_reason(
            StartupStep("a-0", 0, "delete", "orphan-index", "there is no .log of that base offset")
        )
        == "没有这个基准偏移量的 .log"
    )


def test_the_outlook_in_chinese(chinese):
    """Numbers in figures, and one sentence."""
    cut = StartupStep(
        "a-0", 0, "truncate", "tail", "its last batch is not whole", "a-0/0.log", 2900, 1500
    )
    assert (
        checkup.start_verdict([], Restart(False, True, (cut,)), 3).title
        == "这个 broker 能够启动：从 1 个日志末尾截掉 1\u202f500 字节"
    )


def test_no_full_stop_behind_another():
    """Nor behind nothing."""
    assert [end_sentence(one) for one in ("", "so", "so?", "如此。")] == [
        "",
        "so.",
        "so?",
        "如此。",
    ]
