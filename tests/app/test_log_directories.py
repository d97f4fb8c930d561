"""The pages over several log directories of one broker."""

import json
import os
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.__main__ import main
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.state import access, page_location, page_state
from kafkaviz.errors import CannotOpen
from tests.support.pages import open_page, page_html

NAMES = ("disk-a", "disk-b", "disk-c")
PAGES = ("broker", "segment", "lookup", "health", "tuning", "rolls", "page_cache", "explore")


def opened(name: str, disks: Path, names=NAMES, **query: object) -> AppTest:
    """A page over some of the directories, each a parameter `dir` of its own."""
    return open_page(name, dir=[str(disks / directory) for directory in names], **query)


@pytest.mark.usefixtures("starts")
@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_all_of_them(disks, name):
    """And its address keeps them, each by itself."""
    at = opened(name, disks)
    html = page_html(at)
    assert all(directory in html for directory in NAMES) or name != "broker"
    assert at.query_params[page_state.DIRECTORY] == [str(disks / name) for name in NAMES]


def test_an_address_names_each_directory():
    """Of one it is the text that it always was; commas in a path stay."""
    several = page_state.join_directories(["/data/a,b", "/data/c"])
    address = page_state.address(several, "orders-0", 5)
    assert address == {"dir": ["/data/a,b", "/data/c"], "tp": "orders-0", "segment": "5"}
    assert page_state.directory_in(address) == several
    assert page_state.address("/data/a,b") == {"dir": "/data/a,b"}


def test_directories_are_typed_as_log_dirs_has_them(tmp_path):
    """Between commas; a path that is there may have a comma in its name."""
    for name in ("a", "b", "a,b"):
        (tmp_path / name).mkdir()
    several = page_location.clean_path(f" {tmp_path}/a, '{tmp_path}/b' ")
    assert page_state.split_directories(several) == [f"{tmp_path}/a", f"{tmp_path}/b"]
    assert page_location.clean_path(f"{tmp_path}/a,b") == f"{tmp_path}/a,b"
    assert page_location.directory_text(several) == f"{tmp_path}/a, {tmp_path}/b"


def test_each_directory_has_to_be_allowed(disks, monkeypatch):
    """One that lies outside refuses them all."""
    monkeypatch.setenv(
        access.ALLOW_ROOT, json.dumps([str(disks / "disk-a"), str(disks / "disk-b")])
    )
    allowed = [disks / "disk-a", disks / "disk-b"]
    snapshot = broker_cache.open_snapshot(page_state.join_directories(allowed))
    assert len(snapshot.broker.log_directories) == 2
    with pytest.raises(CannotOpen) as fault:
        broker_cache.open_snapshot(page_state.join_directories([*allowed, disks / "disk-c"]))
    assert fault.value.kind == "outside"


def test_a_listing_is_that_of_all_directories(disks, tmp_path):
    """One more directory is another listing with another catalog; so is a change in the last."""
    two = page_state.join_directories([disks / "disk-a", disks / "disk-b"])
    three = page_state.join_directories(disks / name for name in NAMES)
    snapshots = [broker_cache.open_snapshot(directory) for directory in (two, three)]
    assert len({snapshot.key for snapshot in snapshots}) == 2
    assert len({broker_cache.catalog_path(snapshot.broker) for snapshot in snapshots}) == 2
    assert [snapshot.directory for snapshot in snapshots] == [two, three]
    last = snapshots[1].broker
    assert snapshots[1].fingerprint.is_current(last)
    marker = disks / "disk-c" / ".kafka_cleanshutdown"
    marker.touch()
    try:
        assert broker_cache.open_snapshot(three).key != snapshots[1].key
    finally:
        marker.unlink()


def test_the_ingest_takes_all_directories(disks, starts):
    """As one broker."""
    opened("broker", disks)
    assert [request[0] for request in starts.requests] == [[tuple(disks / name for name in NAMES)]]


def test_the_command_takes_several(disks, monkeypatch):
    """The pages get them as a list; one alone is a path, as before."""
    calls = []
    monkeypatch.setattr(os, "execve", lambda *call: calls.append(call[2]))
    paths = [str(disks / name) for name in NAMES]
    main(["app", *paths])
    main(["app", paths[1]])
    assert json.loads(calls[0]["KAFKAVIZ_DIR"]) == paths
    assert calls[1]["KAFKAVIZ_DIR"] == paths[1]
    monkeypatch.setenv("KAFKAVIZ_DIR", calls[0]["KAFKAVIZ_DIR"])
    assert page_location.default_directory() == page_state.join_directories(paths)
