"""The base state of each figure of a lesson, which does not show the answer."""

import pytest

from kafkaviz.analysis.lookup import lookup_source
from kafkaviz.app.cache import lookup_cache
from kafkaviz.figures.lookup import stepper
from kafkaviz.figures.segment import segment_bytes
from kafkaviz.messages import text_in
from kafkaviz.workshop import lessons
from kafkaviz.workshop.figures import LIVE
from kafkaviz.workshop.lessons.grammar import LessonBlock
from tests.support.cases import all_cases
from tests.support.pages import open_page, page_html


@pytest.fixture(autouse=True)
def quiet(starts, monkeypatch) -> None:
    """No Spark, and no folder of lessons from the environment."""
    monkeypatch.delenv(lessons.LESSONS, raising=False)


def block_of(lesson: str, part: int, kind: str) -> LessonBlock:
    """A figure of the lessons that come along."""
    steps = next(each for each in lessons.lessons("en")[0] if each.name == lesson).steps
    return next(block for block in steps[part - 1].blocks() if block.kind == kind)


@all_cases("kind", sorted(LIVE))
def test_every_kind_has_one(kind):
    """No step opens with an empty box."""
    assert LIVE[kind].question is not None


@pytest.mark.parametrize("language", ["en", "zh"])
@all_cases("kind", sorted(LIVE))
def test_every_kind_says_what_will_be_seen(kind, language):
    """A key that a language lacks would be a fault of the page."""
    assert text_in(language, f"reveal.{kind}")


@pytest.fixture(scope="module")
def context():
    """The lookup of lesson 4, step 1: 23 among five keys."""
    source = lookup_cache.practice_source("five")
    profile = lookup_cache.release_profile("2.0", lookup_source.KAFKAS_WARM, "offset")
    return lookup_cache.lookup_context(source, "offset", 23, profile)


def test_a_stepper_begins_before_its_first_probe(context):
    """One step, five slots, no probe and no result."""
    message = stepper.base_payload(stepper.view(context), context, "key")
    assert [step["probes"] for step in message["steps"]] == [0]
    assert [step["over"] for step in message["steps"]] == [False]
    assert len(message["searches"][0]["cells"]) == 5
    assert message["searches"][0]["rows"] == []
    assert message["searches"][0]["slot"] == -1


def test_an_entry_is_there_to_be_decoded():
    """The first eight bytes of an index, without a name or a value; not how many follow."""
    block = block_of("three-files", 3, "bytes")
    view, _ = LIVE["bytes"].make(block).view(block, "key")
    unnamed = segment_bytes.unnamed_view(view, block["byte"]).outer
    assert unnamed.data == bytes.fromhex("0000002b00001053")
    assert (unnamed.start, unnamed.end) == (0, 8)
    assert [(span.start, span.end, span.value) for span in unnamed.spans] == [(0, 8, "")]


def test_a_header_keeps_its_names_before_a_record_that_is_asked_about():
    block = block_of("batches", 3, "bytes")
    view, _ = LIVE["bytes"].make(block).view(block, "key")
    spans = segment_bytes.unnamed_view(view, block["byte"]).outer.spans
    assert spans[-2].end == 61
    assert (spans[-1].start, spans[-1].value) == (61, "")


@pytest.mark.parametrize(
    ("lesson", "at", "there", "answer"),
    [
        ("after-a-crash", "2", "45 bytes that are not a batch", "cut"),
        ("after-a-crash", "4", "has no .timeindex", "creates an empty one"),
        ("after-a-crash", "5", "with an interval of 4\u202f096", "16\u202f384 "),
        ("rolls", "2", "2026-09-21 17:15:04", "too old since"),
        ("two-replicas", "4", "The logs diverge at offset 180", "If b leads"),
    ],
)
def test_a_page_shows_what_there_is_without_the_answer(lesson, at, there, answer):
    """The title of the base state is there, the sentence of the answer is not."""
    html = page_html(open_page("workshop", lesson=lesson, at=at))
    assert there in html
    assert answer not in html.partition('class="kv-lesson"')[2]


SEGMENT = "data: kafka-4.3.1-clean\ntp: heartbeat-0\nsegment: 10905"
OPEN = {  # kinds that no lesson of ours has behind a question: what their base state says, and hides
    "ruler": (f"{SEGMENT}\noffset: 20000", "/00000000000000010905.log, kafka", None),
    "table": (f"{SEGMENT}\noffset: 20000\nof: index", "00000000000000010905.index", "class=on"),
}
OWN = """---
title: Own
about: One figure.
minutes: 1
---

## Only

Text.

```kafkaviz {kind}
{block}
after: answer
```

```kafkaviz predict
ask: What?
choice: This
right: That
reveal: That.
```

```kafkaviz notes
minutes: 1
```

## Second

Text.

## Third

Text.
"""


@pytest.mark.parametrize("kind", sorted(OPEN))
def test_a_kind_that_no_lesson_has_behind_a_question_waits_too(tmp_path, monkeypatch, kind):
    """A lesson of one's own may have it there."""
    block, there, hidden = OPEN[kind]
    (tmp_path / "own.en.md").write_text(OWN.format(kind=kind, block=block), encoding="utf-8")
    monkeypatch.setenv(lessons.LESSONS, str(tmp_path))
    html = page_html(open_page("workshop", lesson="own", at="1"))
    assert "<h1>Only</h1>" in html
    assert "kv-reveals" in html
    assert "kv-state" not in html.partition('class="kv-lesson"')[2]
    assert there in html.replace(' class="r"', "")
    if hidden:
        assert hidden not in html.partition('class="kv-lesson"')[2]
