"""Hostile names, ids, keys, values and settings stay text in the report, in notebooks and on pages.

test_hostile_browser.py asks a browser the same, also about what the components draw.
"""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict
from streamlit.testing.v1 import AppTest

from kafkaviz import report
from kafkaviz.app.state.check_jobs import check_jobs
from kafkaviz.log.broker import open_broker
from kafkaviz.report.subject import gather
from tests.app import hostile
from tests.support.pages import BROKER, PATIENCE_S, open_page

MARKED = (
    "**evilbold**",
    "_evilbold_",
    "`evilcode`",
    "[evillink](",
    "$evil",
    ":red[evil",
    ":smile:",
)
# what Streamlit reads as Markdown, by the type of the element
MARKDOWN = {"markdown": ("body",), "menu_button": ("label", "help", "options")}
LABELS = ("label", "help")


class Elements(HTMLParser):
    """The elements of HTML, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def injected(self) -> list[tuple[str, dict[str, str | None]]]:
        """Returns the elements that only a text of the broker can have made."""
        return [
            (name, attributes)
            for name, attributes in self.found
            if attributes.get("class") == "evil"
            or "evil" in (attributes.get("href") or "")
            or any(attribute.startswith("on") for attribute in attributes)
        ]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile.broker(tmp_path_factory.mktemp("hostile"))


def test_the_report_shows_hostile_texts_as_text(broker):
    page = report.page(gather(open_broker(broker), with_payload=True, with_sha256=True), 0)
    elements = Elements(page)
    assert elements.injected() == []
    assert [name for name, _ in elements.found].count("script") == 3
    assert hostile.SAFE_NAME[:180] in elements.text


def test_a_notebook_shows_hostile_texts_as_text(broker):
    opened = open_broker(broker)
    for value in (opened, opened.partitions[0]):
        elements = Elements(value._repr_html_())
        assert elements.injected() == []
        assert hostile.SAFE_NAME[:180] in elements.text


@pytest.mark.parametrize("name", hostile.PAGES)
def test_a_page_shows_hostile_texts_as_text(broker, starts, name):
    path, query = hostile.PAGES[name]
    at = open_page(path or BROKER, **{"dir": broker, **query})
    for job in check_jobs().jobs():
        assert job.wait_until_over(PATIENCE_S)
    at.run()
    markup = "\n".join(element.proto.body for element in at.get("html"))
    assert Elements(markup).injected() == []
    assert [text for text in markdown_texts(at) if any(mark in text for mark in MARKED)] == []
    for chart in at.get("plotly_chart"):
        assert Elements("\n".join(plotly_texts(json.loads(chart.proto.spec)))).injected() == []


def markdown_texts(at: AppTest) -> Iterator[str]:
    """Yields every text of a page that Streamlit reads as Markdown, without escaped signs."""
    for element in at._tree:
        proto = getattr(element, "proto", None)  # the tree also has the blocks without one
        fields = MessageToDict(proto) if proto else {}
        for field in MARKDOWN.get(element.type, LABELS):
            for text in strings(fields.get(field)):
                yield re.sub(r"\\.", "", text)


def plotly_texts(figure: dict) -> Iterator[str]:
    """Yields every text that Plotly reads as markup."""
    for trace in figure["data"]:
        if "customdata" not in (trace.get("hovertemplate") or ""):
            trace.pop("customdata", None)  # it only tells the app which row was clicked
    yield from strings(figure)


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
