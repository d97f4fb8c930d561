"""The Page cache page without a browser: its one picture, the sentence below it, and old links."""

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.messages import say
from tests.support.pages import component_data, open_page, page_html

pytestmark = pytest.mark.usefixtures("starts")


def page(**query: str) -> AppTest:
    return open_page("page_cache", **query)


def picture(at: AppTest) -> dict:
    """Returns the data from which the browser draws the picture."""
    return component_data(at, "kafkaviz.tail_growth")


def test_the_page_is_one_picture_and_its_table():
    at = page()
    data = picture(at)
    assert "<h1>Page cache</h1>" in page_html(at)
    assert (data["first"], len(data["sizes"])) == (14, 40)
    assert data["sizes"][13]["title"] == (
        "From 13 to 14 pages, plain binary search has to wait for pages 7 and 10; "
        "warm-section-first search waits for none"
    )
    assert not at.tabs and not at.get("plotly_chart") and not at.select_slider
    assert "<td>0, 7, 10, 12, 13</td><td>7, 10</td><td>11, 12, 13</td>" in page_html(at)
    assert [element.proto.label for element in at.get("download_button")] == ["Download as CSV"]


def test_a_sentence_says_what_a_lagging_reader_pays():
    """Page faults per lookup: 5.6 with a warm section, 4.8 without."""
    assert say("page_cache.lagging", plain="4.8", warm="5.6") in page_html(page())


@pytest.mark.parametrize(
    "query",
    [
        *({"tab": tab} for tab in ("Answer", "Growth", "Entries", "Layouts", "Experts", "<b>")),
        {"cold": "5 MB", "grow": "x", "laggards": "<b>", "page": ""},
        {"seed": "x", "entry": "7", "index": "nowhere-0", "section": "0", "around": "-1"},
        {"n": "7168", "pattern": "Bursty"},
        {"pages": "<script>"},
        {"dir": "/nowhere/kafka"},
    ],
    ids=lambda query: " ".join(query.values()),
)
def test_an_old_or_odd_address_opens_the_picture(query):
    at = page(**query)
    assert not at.exception
    assert picture(at)["first"] == 14
    assert "<script>" not in page_html(at)
