"""Findings and steps of a start in another language, for real and damaged directories."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkaviz import messages
from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.findings import CODES, Evidence, finding
from kafkaviz.figures import health_view
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.render.sentences import end_sentence
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import CAUSES
from tests.support.startup_steps import startup_step

OTHERS = [code for code in messages.LANGUAGES if code != messages.ENGLISH]
ENGLISH = re.compile(r"[A-Za-z]{3,} [a-z]{2,} [a-z]{2,}")  # a sentence, or part of one
# stays as thrown
KAFKAS = (
    "java.",
    "org.apache.kafka.",
    "Last offset of aborted transaction",
    "Snapshot failed schema validation",
)


def finding_messages(directory: Path) -> Iterator[Message]:
    health = check(directory)
    for finding_ in health.findings:
        yield from (finding_.message, finding_.consequence, finding_.next_step)
        yield from filter(None, (finding_.evidence.found, finding_.evidence.expected))
    for step in health.restart.steps:
        yield from filter(None, (step.why, step.way_out))


@pytest.mark.parametrize("language_code", OTHERS)
def test_all_that_is_constant_of_a_finding_is_translated(language_code):
    """Title, consequence and next step of every code, and the cause of every step."""
    constant = {
        text
        for code in CODES.values()
        for text in (
            code.title,
            code.consequence,
            code.next_step,
            code.earlier_behaviour and code.earlier_behaviour[1],
        )
        if text
    } | set(CAUSES.values())
    assert len(constant) > 100
    assert [text.key for text in constant if text.render(language_code) == str(text)] == []


@pytest.mark.parametrize(
    "sample", ["killed", "damaged", pytest.param("clean", marks=pytest.mark.nightly)]
)
def test_every_message_of_a_directory_is_chinese(sample, request):
    texts = [text.render("zh") for text in finding_messages(request.getfixturevalue(sample))]
    assert [
        text
        for text in texts
        if ENGLISH.search(text) and not any(words in text for words in KAFKAS)
    ] == []


def test_a_finding_in_chinese(chinese):
    """Title, evidence, what Kafka does and the advice; Kafka's terms stay English."""
    problem = message("finding.crc_mismatch")
    damaged = message("finding.batch", byte=0, first=1, last=2, problem=problem)
    text = message("finding.more_places", n=3, finding=damaged)
    evidence = Evidence(message("evidence.stored_checksum", crc=1), verbatim("so and so"))
    batch = finding("batch-crc-mismatch", text, evidence, partition="a-0", file="a-0/0.log")
    (item,) = health_view.finding_items([batch], lambda *_: b"")
    (member,) = item.members
    assert item.title == "批次与校验和不符"
    assert "从其他副本" in member.next_step and member.next_step.endswith("。")
    assert member.message == (
        "字节 0 处的批次（偏移量 1 到 2）与校验和不符；本文件中还有 3 处类似情况。"
    )
    assert member.found == "存储的校验和 1。" and member.expected == "应为：so and so。"


def test_a_consequence_with_values_replaces_that_of_the_code(chinese):
    """It says where a search skips to."""
    entry = finding(
        "index-offset-mismatch",
        verbatim("slot 3"),
        Evidence(verbatim("this")),
        partition="a-0",
        file="a-0/0.index",
        consequence=message("consequence.search_skips", first=5, last=16, byte=2900, offset=17),
    )
    (item,) = health_view.finding_items([entry], lambda *_: b"")
    assert item.members[0].consequence == (
        "启动不检查索引项。查找偏移量 5 到 16 会从字节 2\u202f900 开始，所以拉取和按时间查找会直接跳到偏移量 17，且不报错。"
    )


def test_a_step_says_its_cause():
    point = message("start.not_stopped_cleanly", offset=117)
    assert point.render("zh") == "broker 没有正常停止，日志段超过恢复点 117"
    assert message("start.no_log_of_offset").render("zh") == "没有这个基准偏移量的 .log"


def test_the_outlook_in_chinese(chinese):
    cut = startup_step("a-0", "truncate", "tail", "log", from_position=2900, size_bytes=1500)
    title = health_view.start_verdict([], Restart(False, True, (cut,)), 3).title
    assert title == "这个 broker 能够启动。启动时会：从 1 个日志末尾截掉 1\u202f500 字节"


def test_no_full_stop_after_another():
    ends = {text: end_sentence(text) for text in ("", "so", "so?", "如此。")}
    assert ends == {"": "", "so": "so.", "so?": "so?", "如此。": "如此。"}
