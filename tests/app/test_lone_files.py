"""One file of a segment without the others: every page opens it and names the missing files."""

import json
import shutil
from pathlib import Path

import pytest

from kafkaviz.app.cache import broker_cache
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import say, text_in
from kafkaviz.units import clock, format_count
from tests.support.pages import PAGES, component_data, open_page, page_html

NAMES = {kind: f"00000000000000000000.{kind}" for kind in ("log", "index", "timeindex")}
pytestmark = pytest.mark.usefixtures("starts")
SNAPSHOT = "00000000000000019113.snapshot"


@pytest.fixture
def lone(clean, tmp_path):
    return lambda name: Path(shutil.copy2(clean / "orders-0" / name, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        NAMES["log"],
        NAMES["index"],
        pytest.param(NAMES["timeindex"], marks=pytest.mark.nightly),
        pytest.param(SNAPSHOT, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_a_lone_file(lone, page, name):
    """Without an exception, and without claiming that it is no directory."""
    at = open_page(page, dir=lone(name))
    assert "give the directory" not in page_html(at)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (NAMES["log"], "without its .index and .timeindex"),
        (NAMES["index"], "without its .log and .timeindex"),
    ],
)
def test_the_broker_page_says_what_is_missing(lone, name, words):
    assert words in page_html(open_page(dir=lone(name)))


def test_the_segment_page_shows_the_bytes_of_a_lone_snapshot(lone):
    """The page says that there is no segment."""
    at = open_page("segment", dir=lone(SNAPSHOT))
    assert "No segment in this directory" in page_html(at)
    assert at.session_state["file"] == SNAPSHOT


def test_a_confined_server_opens_it_below_its_root_alone(lone, clean, tmp_path, monkeypatch):
    path = lone(NAMES["log"])
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(tmp_path))
    assert "without its .index and .timeindex" in page_html(open_page(dir=path))
    outside = clean / "orders-0" / NAMES["log"]
    assert "may not be opened here" in page_html(open_page(dir=outside))
    (tmp_path / NAMES["index"]).symlink_to(clean / "orders-0" / NAMES["index"])
    broker_cache.clear_all()
    assert "may not be opened here" in page_html(open_page(dir=path))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["index", "timeindex"])
def test_a_lone_index_is_searched_as_typed_keys_are(lone, clean, kind, language):
    """Its entries are searched; the field for typed keys is not there, nor what needs a .log."""
    segment = open_broker(clean).partition("orders-0").segment(0)
    entries = segment.offset_index if kind == "index" else segment.time_index
    column = "offset" if kind == "index" else "timestamp_ms"
    target = int(entries[column][4]) + 1
    at = open_page(
        "lookup", dir=lone(NAMES[kind]), target=target, tab="steps", step="1", lang=language
    )
    text = page_html(at)
    assert text_in(language, "lookup.keys_title", n=len(entries)) in text
    assert text_in(language, "lookup.why") not in text
    assert text_in(language, "lookup.own_keys") not in {field.label for field in at.text_input}
    assert not {f"kv_{name}" for name in ("earliest", "latest", "max")} & {b.key for b in at.button}
    values = {"slot": 4, "target": format_count(target)}
    if kind == "timeindex":
        values["target"] = clock(target)
        values["key"] = clock(target - 1)
        values["value"] = format_count(int(entries["offset"][4]))
    found = "index_search.found" if kind == "index" else "index_search.found_time"
    steps = component_data(at, "stepper")
    assert text_in(language, found, **values) in json.dumps(steps, ensure_ascii=False)
    race = component_data(open_page("lookup", dir=lone(NAMES[kind]), lang=language), "race")
    assert len(race["races"][0]["lanes"]) == 2


def test_a_lone_time_index_knows_no_names_of_times(lone):
    at = open_page("lookup", dir=lone(NAMES["timeindex"]), target="latest")
    assert say("lookup.no_time", text="latest") in page_html(at)
