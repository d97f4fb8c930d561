"""The location that an address names, and the list of recent directories."""

import os
from pathlib import Path

import pytest
import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import page_location
from kafkaviz.app.widgets import progress_strip
from kafkaviz.errors import CannotOpen
from kafkaviz.log.broker import open_broker
from tests.support.segment_files import make_segment


@pytest.fixture
def broker(tmp_path: Path):
    """Returns orders-0 with segments at 0, 30 and 60 (the longest), and void-0 without a segment."""
    make_segment(tmp_path / "orders-0", 0, 100, [])
    make_segment(tmp_path / "orders-0", 30, 900, [])
    make_segment(tmp_path / "orders-0", 60, 200, [])
    (tmp_path / "void-0").mkdir()
    (tmp_path / "meta.properties").write_text("version=1\n")
    return open_broker(tmp_path)


class Query(dict):
    """The parameters of an address, as Streamlit gives them."""

    def get_all(self, name: str) -> list[str]:
        return [self[name]] if name in self else []


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def set_address(**query: str) -> None:
        monkeypatch.setattr(st, "query_params", Query({"dir": str(tmp_path)} | query))

    return set_address


def where(depth: int) -> tuple:
    """Returns the type, the directory name and base offset of the place, and the kind of fault."""
    location = page_location.parse_address(depth, progress_strip.unpack)
    return (
        type(location),
        location.partition.directory if location.partition else None,
        location.segment.base_offset if location.segment else None,
        location.fault.kind if location.fault else None,
    )


BROKER, PARTITION = page_location.BrokerLocation, page_location.PartitionLocation
SEGMENT = page_location.SegmentLocation


@pytest.mark.parametrize(
    ("query", "depth", "expected"),
    [
        ({}, 1, (BROKER, None, None, None)),
        ({}, 2, (PARTITION, "orders-0", None, None)),
        ({}, 3, (SEGMENT, "orders-0", 30, None)),
        ({"tp": "orders-0", "segment": "60"}, 3, (SEGMENT, "orders-0", 60, None)),
        ({"tp": "orders-0", "segment": "60"}, 1, (BROKER, None, None, None)),
        ({"tp": "orders-0", "pin": "45"}, 3, (SEGMENT, "orders-0", 30, None)),
        ({"tp": "orders-0", "pin": "10000"}, 3, (SEGMENT, "orders-0", 60, None)),
        ({"tp": "orders-0", "pin": "what"}, 3, (SEGMENT, "orders-0", 30, None)),
        ({"tp": "orders-9"}, 3, (BROKER, None, None, "missing")),
        ({"tp": "orders-0", "segment": "31"}, 3, (PARTITION, "orders-0", None, "missing")),
        ({"tp": "orders-0", "segment": "x"}, 3, (PARTITION, "orders-0", None, "missing")),
        ({"tp": "void-0"}, 3, (PARTITION, "void-0", None, "missing")),
        ({"dir": "/no/such/place"}, 3, (page_location.Location, None, None, "missing")),
    ],
)
def test_a_place_is_followed_as_far_as_it_goes(broker, address, query, depth, expected):
    """Missing parts default to the largest; a part that does not exist is a fault.

    A page can narrow the type without casts.
    """
    address(**query)
    assert where(depth) == expected


def test_a_name_that_is_no_text_is_found_by_what_is_shown_of_it(broker, address, tmp_path):
    make_segment(tmp_path / os.fsdecode(b"caf\xe9-0"), 5, 10, [])
    address(tp="caf\ufffd-0")
    location = page_location.parse_address(3, progress_strip.unpack)
    assert location.segment.base_offset == 5 and location.address["tp"] == "caf\ufffd-0"


def test_the_address_of_a_place_leaves_nothing_to_a_default(broker, address, tmp_path):
    address()
    assert page_location.parse_address(3, progress_strip.unpack).address == {
        "dir": str(tmp_path),
        "tp": "orders-0",
        "segment": "30",
    }
    assert page_location.parse_address(1, progress_strip.unpack).address == {"dir": str(tmp_path)}
    assert page_location.Location("").address == {}


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("", ""),
        (None, ""),
        (" /data/kafka ", "/data/kafka"),
        ("'/data/my kafka'", "/data/my kafka"),
        ("~", str(Path.home())),
        ("x", str(Path("x").absolute())),
        (" '/data/a b' --tiered s3a://kafka/b ", "/data/a b --tiered s3://kafka/b"),
    ],
)
def test_a_path_is_cleaned(typed, path):
    assert page_location.clean_path(typed) == path


def test_recent_directories_come_newest_first_and_once(monkeypatch, tmp_path):
    """A short list of all sessions."""
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path))
    for name in ["a", "b", "a", *"cdefghi"]:
        monkeypatch.setattr(st, "session_state", {})
        page_location.remember(f"/{name}")
    assert page_location.recent() == ["/i", "/h", "/g", "/f", "/e", "/d", "/c", "/a"]


@pytest.mark.parametrize("typed", ["~", "~daemon/x.tar.gz", "~nosuchuser", "logs/x.tar"])
def test_the_path_of_an_address_is_shown_unchanged(monkeypatch, typed):
    """With several visitors no home and no directory of the server is shown."""
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", "/srv")
    with pytest.raises(CannotOpen) as refused:
        progress_strip.unpack(typed)
    assert str(refused.value).startswith(
        f"{typed}: is outside the directories that this server may open; give a path below /srv"
    )


def test_what_others_opened_is_not_listed(monkeypatch, tmp_path):
    """With several visitors each has a list of their own, and no file holds it."""
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(st, "session_state", {})
    page_location.remember("/srv/mine, before there was a root")
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", "/srv")
    first, two = {}, {}
    for session, name in ((first, "/srv/a"), (two, "/srv/b"), (first, "/srv/c"), (first, "/opt/d")):
        monkeypatch.setattr(st, "session_state", session)
        page_location.remember(name)
    assert page_location.recent() == ["/srv/c", "/srv/a"]
    monkeypatch.setattr(st, "session_state", two)
    assert page_location.recent() == ["/srv/b"]
    assert (tmp_path / "recent.txt").read_text() == "/srv/mine, before there was a root\n"


def test_a_rerun_does_not_reorder_what_another_tab_opened(monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path))
    first, two = {}, {}
    for session, directory in [(first, "/a"), (two, "/b"), (first, "/a")]:
        monkeypatch.setattr(st, "session_state", session)
        page_location.remember(directory)
    assert page_location.recent() == ["/b", "/a"] and first[page_state.LAST_RECENT] == "/a"


def test_an_unwritable_list_is_no_error(monkeypatch, tmp_path):
    """The cache folder may be a file, or full."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(st, "session_state", {})
    page_location.remember("/a")
    assert page_location.recent() == []


def test_a_broker_of_a_place(broker):
    assert page_location.Location("/k", BrokerSnapshot(broker, (), "")).broker is broker
    assert page_location.Location("/k").broker is None
