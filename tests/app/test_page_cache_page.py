"""The Page cache page without a browser: its findings in words, what its settings change, and what
an odd address does not.
"""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.analysis.page_cache import index_layouts
from kafkaviz.analysis.page_cache.page_replay import IndexGrowth, Memory, Readers
from kafkaviz.app.cache import replay_cache
from kafkaviz.app.cache.replay_cache import ReplaySettings
from kafkaviz.app.lessons import exercise, exercise_text
from kafkaviz.app.pages.page_cache import controls
from kafkaviz.figures.page_cache import layout_bars
from kafkaviz.messages import message, say
from tests.support.pages import open_page, page_html

pytestmark = pytest.mark.usefixtures("starts")


def page(**query: str) -> AppTest:
    """The page at this address, without an error."""
    return open_page("page_cache", **query)


def test_the_page_as_it_opens():
    """The findings of its figures, the table of what was told, who is protected, and a rule that is
    wrong.
    """
    at = page()
    text = page_html(at)
    assert "<h1>Page cache</h1>" in text
    assert (
        "8 faults while the index grows to 40 pages" in text
        and "No fault: three pages at most, always the newest" in text
    )
    assert "At 6\u202f901 entries a plain tail lookup touches pages 0, 6, 10, 11, 12, 13" in text
    assert "Plain search: up to 4.9 faults a page. Warm section: none" in text
    assert (
        "<td>6\u202f437–6\u202f656</td>" in text
        and text.count("&ensp;✓</td>") == 2
        and text.count("<s class") == 4
    )
    assert '<td>none</td><td class="r">4.96</td><td class="r">0</td><td class="r">–</td>' in text
    assert "Interpolation needs the fewest probes" in text and "Wrong for 7 of 16 targets" in text
    assert len(at.get("plotly_chart")) == 5
    assert all(chart.proto.alt or json.loads(chart.proto.spec) for chart in at.get("plotly_chart"))


def test_a_table_and_a_download_beside_each_figure():
    """Pages, probes, turnovers, layouts, targets."""
    at = page()
    assert [element.proto.label for element in at.get("download_button")] == [
        "Download pages as CSV",
        "Download the faults, plain",
        "Download the faults, warm first",
        "Download as CSV",
        "Download as CSV",
        "Download as CSV",
        "Download as CSV",
        "Download every target as CSV",
    ]
    table = at.dataframe[0].value
    assert (
        len(table) == 40
        and table["Faults, plain"].sum() == 8
        and table["Faults, warm first"].sum() == 0
    )
    assert (
        '<td>16 MB</td><td class="r">2.54</td><td class="r">2.54</td><td class="r">0.00</td>'
        in page_html(at)
    )


def test_the_address_brings_back_the_page():
    """Sliders, the example, the keys compared, the rule."""
    at = page(
        cold="4 MB",
        grow="100 pages",
        n="7168",
        pattern="Bursty",
        rule=exercise.RIGHT,
        on="1310 keys",
    )
    text = page_html(at)
    assert (
        "faults while the index grows to 100 pages" in text
        and "touches pages 0, 7, 10, 12, 13" in text
    )
    assert "Right for every slot" in text and "3\u202f931 targets" in text
    assert [slider.value for slider in at.select_slider][:2] == ["4 MB", "100 pages"]
    assert next(slider for slider in at.slider).value == 7168


@pytest.mark.parametrize(
    "query",
    [
        {"cold": "5 MB", "grow": "x", "laggards": "<b>", "page": ""},
        {"n": "99999999", "seed": "x", "entry": "7", "index": "nowhere-0"},
        {"pattern": "Open index", "on": "7", "rule": "<script>"},
        {"section": "0", "around": "-1", "every": "0", "lag": "back"},
    ],
)
def test_an_address_may_say_anything(query):
    """What is no choice is passed over; what is no rule is said to be none; nothing becomes
    markup.
    """
    text = page_html(page(**query))
    assert (
        "8 faults while the index grows to 40 pages" in text
        and "6\u202f901 entries" in text
        and "<script>" not in text
    )
    assert ("This is no rule yet" in text) == ("rule" in query)


def test_laggards_meet_cold_pages():
    """A slider: the images and the bars count them too."""
    at = page()
    at.select_slider(key="laggards").set_value("1 %").run()
    text = page_html(at)
    assert "tail reader and 1 % laggards" in text and "No fault: three" not in text
    assert "<tr class=on><td>1 %</td>" in text
    assert '<td class="r">–</td><td class="r">' in text  # no closed form for them


def test_larger_pages_and_another_section():
    """The pages of the image are those of memory; the section is named."""
    text = page_html(page(page="16 KiB", section="64 KiB"))
    assert "while the index grows to 10 pages" in text and "A warm section of 64 KiB first" in text


def test_a_real_index():
    """The entries and positions of a topic-partition: too small for anything to go cold."""
    at = page(index="dense-index-0", pattern="Open index")
    text = page_html(at)
    assert "No fault: three pages at most" in text
    assert "The index that is open. Mean of 4\u202f000 targets all over 1\u202f126 entries" in text
    assert (
        "dense-index-0: 1\u202f126 entries as they lie there, 507 B of log apart on average."
        in text
    )
    assert [slider.proto.disabled for slider in at.select_slider][:4] == [False, True, True, False]
    assert "dense-index-0" in at.selectbox(key="index").options


def test_an_index_that_cannot_be_read(monkeypatch):
    """It is said, and a practice log stands in."""
    from kafkaviz.errors import CannotOpen

    def refusing(segment):
        raise CannotOpen(
            Path("dense-index-0"), message("errors.may_not_be_read"), kind="permission"
        )

    monkeypatch.setattr(controls, "read_index", refusing)
    text = page_html(page(index="dense-index-0"))
    assert "The index of dense-index-0 cannot be read" in text and "40 pages" in text


def test_without_a_directory_the_lab_is_open():
    """It needs none."""
    assert "8 faults while" in page_html(page(dir="/nowhere/kafka"))


def test_a_rule_is_tried_as_it_is_written():
    """Wrong, no rule, right."""
    at = page()
    field = at.text_input(key="rule")
    for rule, words in (
        ("slot", "Wrong for"),
        ("slot +", "At character 7: expected slot"),
        (exercise.RIGHT, "Right for every slot"),
    ):
        field.set_value(rule).run()
        assert words in page_html(at)


def test_the_two_popular_answers_are_shown_where_they_fail():
    """Each with its count."""
    text = page_html(page())
    assert "it fails for 5 of 5 that are a key, above the last key, an empty index" in text
    assert "it fails for below the first key, above the last key, an empty index" in text


def test_the_faults_as_csv():
    """One a line, digits plain."""
    expected = ReplaySettings(IndexGrowth(20_480), Memory(), Readers(), 8192)
    plain, _ = replay_cache.replays(expected)
    rows = list(
        csv.reader(
            io.StringIO(
                "\n".join(f"{fault['entries']},{fault['page']}" for fault in plain.first_faults)
            )
        )
    )
    assert len(rows) == 8 and rows[0][1] == "13"


ENGLISH = re.compile(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,}\b")  # three words in a row are a sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"laggards": "1 %", "section": "64 KiB", "lag": "about 300 entries", "every": "10 appends"},
        {"index": "dense-index-0", "pattern": "Open index"},
        {"rule": "slot +"},
        {"rule": exercise.RIGHT, "on": "1310 keys"},
    ],
    ids=lambda query: " ".join(query.values()) or "as it opens",
)
def test_in_chinese(query):
    """Every sentence and alt text; the address keeps its words."""
    at = page(lang="zh", **query)
    text = re.sub(r"<code.*?</code>|<td class=\"kv-mono\".*?</td>", "", page_html(at))
    charts = [element.proto.alt for element in at.get("plotly_chart")]
    assert [
        match
        for drawn_text in (re.sub(r"<[^>]+>", "\n", text), *charts)
        for match in ENGLISH.findall(drawn_text)
    ] == []
    assert at.query_params.get("laggards") in (query.get("laggards"), [query.get("laggards")])


BROKEN = (
    "",
    "slot +",
    "slot then",
    "if slot then",
    "key(slot",
    "base + 1",
    "slots",
    "1" * 19,
    "(" * 30,
    "x" * 401,
    "slot $",
)


@pytest.mark.parametrize("rule", BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_rule_is_reported_as_by_the_search(rule):
    """The catalogue has the words that search/ has."""
    with pytest.raises(exercise.RuleSyntaxError) as fault:
        exercise.parse(rule)
    assert exercise_text.describe_fault(fault.value) == str(fault.value)


def test_the_catalogue_has_the_words_of_the_floors_below():
    """Kinds of target, the words of a rule, layouts and why they are."""
    assert [exercise_text.kind(kind) for kind in exercise.KINDS] == list(exercise.KINDS)
    assert list(exercise_text.popular_answers().values()) == [
        exercise.SLOT_PLUS_1,
        exercise.NONE_TO_BASE,
    ]
    for layout in index_layouts.LAYOUTS:
        assert (
            say(layout_bars.text_key(layout.name)),
            say(f"{layout_bars.text_key(layout.name)}_note"),
        ) == (
            layout.name,
            layout.note,
        )
