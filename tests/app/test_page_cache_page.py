"""The Page cache page without a browser: findings, settings, and odd addresses."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.analysis.page_cache import index_layouts
from kafkaviz.analysis.page_cache.page_replay import IndexGrowth, Memory, Readers
from kafkaviz.app.cache.simulation_cache import ReplaySettings, replays
from kafkaviz.app.pages.page_cache import controls
from kafkaviz.figures.page_cache import layout_bars
from kafkaviz.messages import message, say
from tests.support.pages import open_page, page_html, query_value

pytestmark = pytest.mark.usefixtures("starts")


def page(**query: str) -> AppTest:
    return open_page("page_cache", **query)


TABS = ("The answer", "As the index grows", "KAFKA-6432, entry by entry", "Layouts", "For experts")


def answer(at: AppTest) -> dict:
    """Returns the data from which the browser draws the answer."""
    (component,) = (
        element
        for element in at.get("bidi_component")
        if element.proto.component_name == "kafkaviz.tail_growth"
    )
    return json.loads(component.proto.json)


def test_the_page_opens_with_the_answer():
    at = page()
    data = answer(at)
    assert "<h1>Page cache</h1>" in page_html(at)
    assert [tab.label for tab in at.tabs] == list(TABS)
    assert (data["first"], len(data["sizes"])) == (14, 40)
    assert data["sizes"][13]["title"] == (
        "From 13 to 14 pages plain binary search has to wait for pages 7 and 10, "
        "the warm section for none"
    )
    assert not at.get("plotly_chart") and not at.select_slider
    assert "<td>0, 7, 10, 12, 13</td><td>7, 10</td><td>11, 12, 13</td>" in page_html(at)


@pytest.mark.parametrize(
    ("tab", "words"),
    [
        (
            "Growth",
            (
                "56 faults while the index grows to 40 pages",
                "No fault: three pages at most, always the newest",
            ),
        ),
        (
            "Entries",
            (
                "At 6\u202f901 entries a plain tail lookup touches pages 0, 6, 10, 11, 12, 13",
                "<td>6\u202f437–6\u202f656</td>",
            ),
        ),
        ("Layouts", ("Interpolation needs the fewest probes",)),
        (
            "Experts",
            (
                "Plain search: up to 4.9 faults per page. Warm section: none",
                '<td>none</td><td class="r">9.61</td><td class="r">0</td><td class="r">–</td>',
            ),
        ),
    ],
)
def test_each_part_has_its_tab(tab, words):
    at = page(tab=tab)
    text = page_html(at)
    assert [phrase for phrase in words if phrase not in text] == []
    assert all(chart.proto.alt for chart in at.get("plotly_chart"))


def test_what_was_published_is_struck_out_where_it_is_not_so():
    """Two of the six stretches of KAFKA-6432 hold."""
    text = page_html(page(tab="Entries"))
    assert text.count("\u2002✓</td>") == 2
    assert text.count("<s class") == 4


@pytest.mark.parametrize(
    ("tab", "labels"),
    [
        ("Answer", ["Download as CSV"]),
        (
            "Growth",
            [
                "Download pages as CSV",
                "Download the faults, plain",
                "Download the faults, warm first",
            ],
        ),
        ("Entries", ["Download as CSV"]),
        ("Layouts", ["Download as CSV"]),
        ("Experts", ["Download as CSV", "Download as CSV"]),
    ],
)
def test_a_download_next_to_each_figure(tab, labels):
    downloads = page(tab=tab).get("download_button")
    assert [element.proto.label for element in downloads] == labels


def test_a_table_next_to_each_figure():
    table = page(tab="Growth").dataframe[0].value
    assert len(table) == 40
    assert table["Faults, plain"].sum() == 56
    assert table["Faults, warm first"].sum() == 0
    assert (
        '<td>16 MB</td><td class="r">2.54</td><td class="r">2.54</td><td class="r">0.00</td>'
        in page_html(page(tab="Experts"))
    )


@pytest.mark.parametrize(
    ("query", "tab", "words"),
    [
        (
            {"cold": "4 MB", "grow": "100 pages"},
            "As the index grows",
            "faults while the index grows to 100 pages",
        ),
        ({"n": "7168"}, "KAFKA-6432, entry by entry", "touches pages 0, 7, 10, 12, 13"),
        ({"pattern": "Bursty"}, "Layouts", "Small batches of one record"),
        (
            {"cold": "4 MB", "tab": "Experts"},
            "For experts",
            "faults per 1000 lookups of each kind, pages cold after 4 MB",
        ),
    ],
)
def test_an_address_opens_the_part_that_it_is_about(query, tab, words):
    at = page(**query)
    assert at.session_state["tab"] == tab
    assert words in page_html(at)


def test_the_answer_stays_open_next_to_settings_of_another_part():
    """The address then has its name, because a setting alone would open the other part."""
    at = page(cold="4 MB", tab="Answer")
    assert answer(at)["first"] == 14
    assert query_value(at, "tab") == "Answer"
    assert query_value(page(), "tab") is None


@pytest.mark.parametrize(
    "query",
    [
        {"cold": "5 MB", "grow": "x", "laggards": "<b>", "page": ""},
        {"seed": "x", "entry": "7", "index": "nowhere-0"},
        {"section": "0", "around": "-1", "every": "0", "lag": "back"},
    ],
)
def test_an_address_may_say_anything(query):
    text = page_html(page(**query))
    assert "56 faults while the index grows to 40 pages" in text
    assert "<script>" not in text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"n": "99999999"}, "6\u202f901 entries"),
        ({"pattern": "Open index"}, "Batches of about 1000 B and ten records"),
    ],
)
def test_a_choice_that_there_is_not_is_passed_over(query, words):
    assert words in page_html(page(**query))


def test_a_tab_that_there_is_not_is_the_first():
    assert answer(page(tab="Bytes"))["first"] == 14


def test_laggards_meet_cold_pages():
    at = page(tab="Growth")
    at.select_slider(key="laggards").set_value("1 %").run()
    assert "No fault: three" not in page_html(at)
    text = page_html(page(tab="Experts", laggards="1 %"))
    assert "tail reader and 1 % laggards" in text
    assert '<tr class="on" aria-selected="true"><td>1 %</td>' in text
    assert '<td class="r">–</td><td class="r">' in text  # no closed form for them


def test_larger_pages_and_another_section():
    text = page_html(page(page="16 KiB", section="64 KiB"))
    assert "while the index grows to 10 pages" in text and "A warm section of 64 KiB first" in text


def test_a_real_index():
    """It is too small for any page to become cold."""
    at = page(index="dense-index-0")
    text = page_html(at)
    assert "No fault: three pages at most" in text
    assert "dense-index-0: 1\u202f126 entries as on disk, on average 507 B of log apart." in text
    assert [slider.proto.disabled for slider in at.select_slider][:4] == [False, True, True, False]
    assert "dense-index-0" in at.selectbox(key="index").options


def test_layouts_of_a_real_index():
    at = page(index="dense-index-0", pattern="Open index")
    assert (
        "The index that is open. Each bar is the mean of 4\u202f000 targets, spread over all 1\u202f126 entries"
        in page_html(at)
    )
    assert at.selectbox(key="index").value == "dense-index-0"


def test_an_index_that_cannot_be_read(monkeypatch):
    from kafkaviz.errors import CannotOpen

    def refusing(segment):
        raise CannotOpen(
            Path("dense-index-0"), message("errors.may_not_be_read"), kind="permission"
        )

    monkeypatch.setattr(controls, "read_index", refusing)
    text = page_html(page(index="dense-index-0"))
    assert "The index of dense-index-0 cannot be read" in text and "40 pages" in text


def test_without_a_directory_the_lab_is_open():
    assert answer(page(dir="/nowhere/kafka"))["first"] == 14
    assert "56 faults while" in page_html(page(dir="/nowhere/kafka", tab="Growth"))


def test_the_faults_as_csv():
    expected = ReplaySettings(IndexGrowth(20_480), Memory(), Readers(), 8192)
    plain, _ = replays(expected)
    rows = list(
        csv.reader(
            io.StringIO(
                "\n".join(f"{fault['entries']},{fault['page']}" for fault in plain.first_faults)
            )
        )
    )
    assert len(rows) == 56
    assert rows[0] == ["3072", "3"]


ENGLISH = re.compile(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,}\b")  # three words in a row are a sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"laggards": "1 %", "section": "64 KiB", "lag": "about 300 entries", "every": "10 appends"},
        {"index": "dense-index-0", "pattern": "Open index"},
        {"n": "7168"},
        {"tab": "Experts"},
    ],
    ids=lambda query: " ".join(query.values()) or "as it opens",
)
def test_in_chinese(query):
    at = page(lang="zh", **query)
    text = re.sub(r"<code.*?</code>|<td class=\"kv-mono\".*?</td>", "", page_html(at))
    charts = [element.proto.alt for element in at.get("plotly_chart")]
    assert [
        match
        for drawn_text in (re.sub(r"<[^>]+>", "\n", text), *charts)
        for match in ENGLISH.findall(drawn_text)
    ] == []
    assert at.query_params.get("laggards") in (query.get("laggards"), [query.get("laggards")])


def test_the_catalogue_has_the_names_of_the_layouts():
    for layout in index_layouts.LAYOUTS:
        assert say(layout_bars.text_key(layout.name)) == layout.name
