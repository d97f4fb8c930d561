"""The frame: pages that exist, and the address parameters that a link to another page keeps."""

from pathlib import Path

import pytest

from kafkaviz import environment
from kafkaviz.app import frame
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import Location
from kafkaviz.log.broker import open_broker
from tests.support.pages import open_page
from tests.support.segment_files import make_segment

HOUSE = [
    "Broker",
    "Workshop",
    "Segment",
    "Lookup",
    "Page cache",
    "Rolls",
    "Tuning",
    "Health",
    "Disk",
    "Explore",
    "Compare",
]


@pytest.fixture
def broker(tmp_path):
    make_segment(tmp_path / "orders-0", 30, 10, [])
    (tmp_path / "meta.properties").write_text("version=1\n")
    return open_broker(tmp_path)


def test_eleven_pages_and_only_those_that_exist(monkeypatch, tmp_path):
    assert list(frame.PAGES) == HOUSE
    paths = [page.path for page in frame.PAGES.values()]
    assert paths == ["", *(name.lower().replace(" ", "_") for name in HOUSE[1:])]
    (tmp_path / "pages").mkdir()
    (tmp_path / "app.py").touch()
    (tmp_path / "pages" / "rolls.py").touch()
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    assert list(frame.pages()) == ["Broker", "Rolls"]


@pytest.mark.parametrize(
    ("page", "address"),
    [("Broker", ["dir"]), ("Rolls", ["dir", "tp"]), ("Segment", ["dir", "tp", "segment"])],
)
def test_a_link_keeps_what_its_page_looks_at(broker, page, address):
    (partition,) = broker.partitions
    place = Location("/k", BrokerSnapshot(broker, (), ""), partition, partition.segments[0])
    assert list(frame._link_address(frame.PAGES[page], place, {})) == address


LAST = {"dir": "/k", "tp": "orders-0", "segment": "30", "pin": "34"}


@pytest.mark.parametrize(
    ("page", "last", "address"),
    [
        ("Segment", LAST, LAST),
        ("Lookup", LAST, {"dir": "/k", "tp": "orders-0", "segment": "30"}),
        ("Rolls", LAST, {"dir": "/k", "tp": "orders-0"}),
        ("Broker", LAST, {"dir": "/k"}),
        ("Segment", LAST | {"dir": "/other"}, {"dir": "/k"}),
    ],
)
def test_a_page_that_shows_less_does_not_lose_the_place(broker, page, last, address):
    """From Health back to the same segment with its pin, but not to a segment of another directory."""
    place = Location("/k", BrokerSnapshot(broker, (), ""))
    assert frame._link_address(frame.PAGES[page], place, last) == address


def test_every_art_is_there():
    """The drawings that pages name."""
    art = Path(frame.APP_FOLDER / "art")
    drawings = {path.stem for path in art.glob("*.svg")}
    assert {"mark", "learn", "inspect", "tune", "empty"} <= drawings


def test_a_picker_of_very_many_names_none(monkeypatch):
    """Up to sixty names are a menu; beyond that it opens Go to."""
    drawn, labels = [], []
    monkeypatch.setattr(frame.st, "button", lambda label, **look: drawn.append("button"))
    monkeypatch.setattr(frame.st, "menu_button", lambda label, names, **look: drawn.append(names))
    for count in (100_000, frame.MAX_MENU_ENTRIES):
        chosen = frame._menu(
            "segment",
            "one",
            range(count),
            get_name=lambda index: labels.append(index) or str(index),
            help_text="Segment",
        )
        assert chosen is None
    assert drawn == ["button", [str(index) for index in range(frame.MAX_MENU_ENTRIES)]]
    assert len(labels) == frame.MAX_MENU_ENTRIES


def test_the_segment_of_an_offset_is_looked_up(tmp_path):
    """The greatest base offset not above it; below the first one the first, as a broker does."""
    for base_offset, log_bytes in ((30, 10), (100, 20), (220, 10)):
        make_segment(tmp_path / "orders-0", base_offset, log_bytes, [])
    partition = open_broker(tmp_path / "orders-0").partitions[0]
    offsets = (29, 30, 99, 100, 219, 10_000)
    found = [page_location.find_segment(partition, offset).base_offset for offset in offsets]
    assert found == [30, 30, 30, 100, 100, 220]
    assert [segment.base_offset for segment in partition.segments_with_log] == [30, 100, 220]


@pytest.mark.parametrize(
    ("path", "roots", "is_named"),
    [
        ("/sample", "", False),
        ("/other", "", True),
        ("/other", "/other", True),
        ("uploads/a/b.tar.gz", "/other", False),
    ],
)
def test_a_copied_link_has_nothing_private(monkeypatch, cache, path, roots, is_named):
    """Links leave out answers, notes and paths that another visitor may not open or does not need;
    the button says whose other paths are.
    """
    monkeypatch.setattr(page_location, "default_directory", lambda: "/sample")
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", roots)
    path = str(cache / path) if path.startswith("uploads") else path
    left_out, about = frame._link(Location(path))
    assert {"answers", "given", "notes"} <= set(left_out) and ("dir" in left_out) != is_named
    assert (path in about) == is_named


@pytest.mark.usefixtures("starts")
@pytest.mark.parametrize("page", ["segment", "lookup", "page_cache", "rolls", "tuning"])
def test_a_figure_is_shown_large_until_it_is_left(page):
    """By a link and its key; the button then leaves."""
    at = open_page(page, projector="1")
    assert "kv_projector_keys" in {element.key for element in at.get("bidi_component")}
    at.button(key="kv_projector").click().run()
    assert "projector" not in at.query_params
    assert "kv_projector_keys" not in {element.key for element in at.get("bidi_component")}
