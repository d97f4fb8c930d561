"""The base state of each figure of a lesson, which does not show the answer."""

import pytest

from kafkaviz.analysis.lookup import lookup_targets
from kafkaviz.app.cache import lookup_cache
from kafkaviz.figures.lookup import stepper
from kafkaviz.figures.segment import segment_bytes
from kafkaviz.messages import text_in
from kafkaviz.workshop import lessons
from kafkaviz.workshop.figures import LIVE
from tests.support.cases import all_cases
from tests.support.pages import open_page, page_html
from tests.workshop.lesson_text import GOOD, figure


@all_cases("kind", sorted(LIVE))
def test_every_kind_has_one(kind):
    assert LIVE[kind].question is not None


@pytest.mark.parametrize("language", ["en", "zh"])
@all_cases("kind", sorted(LIVE))
def test_every_kind_says_what_will_be_seen(kind, language):
    """A key that a language lacks would be a fault of the page."""
    assert text_in(language, f"reveal.{kind}")


def test_a_stepper_begins_before_its_first_probe():
    """The lookup of lesson 4, step 1: one step, five slots, no probe and no result."""
    source = lookup_cache.practice_source("five")
    profile = lookup_cache.release_profile("2.0", lookup_targets.KAFKAS_WARM, "offset")
    context = lookup_cache.lookup_context(source, "offset", 23, profile)
    message = stepper.base_payload(stepper.view(context), context, "key")
    (step,) = message["steps"]
    search = message["searches"][0]
    assert (step["probes"], step["over"]) == (0, False)
    assert (len(search["cells"]), search["rows"], search["slot"]) == (5, [], -1)


def test_an_entry_is_there_to_be_decoded():
    """The first eight bytes of an index, without a name or a value; not how many follow."""
    block = figure("three-files", 3, "bytes")
    view, _ = LIVE["bytes"].make(block).view(block, "key")
    unnamed = segment_bytes.unnamed_view(view, block["byte"]).outer
    assert unnamed.data == bytes.fromhex("0000002b00001053")
    assert (unnamed.start, unnamed.end) == (0, 8)
    assert [(span.start, span.end, span.value) for span in unnamed.spans] == [(0, 8, "")]


def test_a_header_keeps_its_names_before_a_record_that_is_asked_about():
    block = figure("batches", 3, "bytes")
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
    html = page_html(open_page("workshop", lesson=lesson, at=at))
    assert there in html
    assert answer not in html.partition('class="kv-lesson"')[2]


@pytest.mark.parametrize(
    ("lesson", "at", "answer", "asked", "is_so"),
    [
        ("three-files", "2", "a", "three possible sizes of its .index", "0.19 % of the bytes of"),
        ("batches", "1", "b", "Five batches around offset 65", "the whole batch 64–66 is sent"),
        ("batches", "2", "b", "The header takes 61 of 427 bytes", "covers bytes 21 to 426"),
        ("warm-section", "1", "b", "reads pages 0, 6, 9, 11, 12", "the middles have moved"),
        ("warm-section", "3", "c", "The index grows to 40 pages", "56 faults while"),
        ("time", "4", "a", "The timestamps of records around", "Offset 3\u202f452 is the answer"),
        ("rolls", "1", "x", "brings each limit closer", "The time index is at its limit"),
    ],
)
def test_a_figure_asks_before_it_answers(lesson, at, answer, asked, is_so):
    before = page_html(open_page("workshop", lesson=lesson, at=at))
    answers = f"{lesson}.{at}{answer}"
    after = page_html(open_page("workshop", lesson=lesson, at=at, answers=answers))
    assert asked in before and is_so not in before
    assert is_so in after


SEGMENT = "data: kafka-4.3.1-clean\ntp: heartbeat-0\nsegment: 10905"
OPEN = {  # kinds that no lesson of ours has behind a question: what their base state says, and hides
    "ruler": (f"{SEGMENT}\noffset: 20000", "/00000000000000010905.log, kafka", None),
    "table": (f"{SEGMENT}\noffset: 20000\nof: index", "00000000000000010905.index", "class=on"),
}
OWN = """```kafkaviz {kind}
{block}
after: answer
```

```kafkaviz predict"""


@pytest.mark.parametrize("kind", sorted(OPEN))
def test_a_kind_that_no_lesson_has_behind_a_question_waits_too(tmp_path, monkeypatch, kind):
    block, there, hidden = OPEN[kind]
    own = GOOD.replace("```kafkaviz predict", OWN.format(kind=kind, block=block))
    (tmp_path / "own.en.md").write_text(own, encoding="utf-8")
    monkeypatch.setenv(lessons.LESSONS, str(tmp_path))
    html = page_html(open_page("workshop", lesson="own", at="2"))
    assert "<h1>Second</h1>" in html
    assert "kv-reveals" in html
    assert "kv-state" not in html.partition('class="kv-lesson"')[2]
    assert there in html.replace(' class="r"', "")
    if hidden:
        assert hidden not in html.partition('class="kv-lesson"')[2]
