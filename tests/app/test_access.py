"""Which paths may be opened: on one's own machine, below allowed roots, and on a shared server."""

import os
from pathlib import Path

import pytest
import streamlit as st

from kafkaviz.app import access, uploads
from kafkaviz.errors import CannotOpen


def test_samples_are_next_to_the_app():
    """The clean archive comes first and opens by default."""
    assert access.samples()[0].name == "kafka-4.3.1-clean.tar.gz"


def test_everything_may_be_opened_by_default(monkeypatch, tmp_path):
    monkeypatch.delenv("KAFKAVIZ_ALLOW_ROOT", raising=False)
    assert access.require_allowed(Path("/")) == Path("/")


def test_a_root_keeps_everything_else_out(monkeypatch, tmp_path):
    root, other = tmp_path / "root", tmp_path / "rootless"
    root.mkdir()
    other.mkdir()
    (root / "link").symlink_to(other)
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(root))
    assert access.require_allowed(root) == root
    assert access.require_allowed(root / "deep" / "down") == root / "deep" / "down"
    assert access.require_allowed(access.samples()[0])
    assert access.require_allowed(uploads.folder() / "x.tar")
    linked = (root / ".." / "rootless", root / "link", root / "link" / "kafka")
    for path in (other, tmp_path, *linked, Path("/")):
        with pytest.raises(CannotOpen) as refused:
            access.require_allowed(path)
        assert refused.value.kind == "outside"


@pytest.mark.parametrize(
    ("address", "is_open"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("127.8.9.1", True),
        ("0.0.0.0", False),
        ("192.168.1.7", False),
        ("", False),
    ],
)
def test_a_server_that_others_reach_opens_what_it_was_started_with_alone(
    monkeypatch, tmp_path, address, is_open
):
    """The samples and uploads may be opened too; a root allows more.

    On the local machine everything may be opened.
    """
    monkeypatch.delenv("KAFKAVIZ_ALLOW_ROOT", raising=False)
    monkeypatch.setenv("KAFKAVIZ_DIR", str(tmp_path / "kafka"))
    monkeypatch.setattr(st.runtime, "exists", lambda: True)
    monkeypatch.setattr(st, "get_option", {"server.address": address or None}.get)
    assert access.is_shared() == (not is_open)
    kafka, upload = tmp_path / "kafka", uploads.folder() / "abc" / "x.zip"
    inside = [kafka, kafka / "orders-0", access.samples()[0], upload]
    outside = [tmp_path, kafka / "..", Path("/etc"), uploads.folder().parent / "recent.txt"]
    for path in [*inside, *outside] if is_open else inside:
        assert access.require_allowed(path) == path
    for path in [] if is_open else outside:
        with pytest.raises(CannotOpen, match="is outside the directories that this server may"):
            access.require_allowed(path)


def test_several_roots(monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}")
    assert access.require_allowed(tmp_path / "b" / "x")
    with pytest.raises(CannotOpen):
        access.require_allowed(tmp_path / "c")


@pytest.mark.parametrize(
    ("variable", "directories"),
    [
        ('["/srv/a:b", "/srv/c"]', ["/srv/a:b", "/srv/c"]),
        ("/srv/a:b", ["/srv/a", "b"]),
        ('["/srv/a', ['["/srv/a']),
        ("", []),
    ],
)
def test_directories_of_a_variable(variable, directories):
    """Separated as in PATH, or a JSON list where a name holds PATH's colon."""
    assert list(map(str, access.parse_directories(variable))) == directories


@pytest.mark.parametrize("typed", ["~", "~root/x", "~nosuchuser", "logs", "./logs", "../logs"])
def test_no_error_names_homes_or_the_servers_directory(monkeypatch, tmp_path, typed):
    """An error names what a visitor typed, and the roots."""
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(tmp_path / "root"))
    with pytest.raises(CannotOpen) as refused:
        access.resolve_typed_path(typed)
    assert str(refused.value).startswith(
        f"{typed}: is outside the directories that this server may open; give a path below {tmp_path / 'root'}"
    )
    assert str(Path.cwd()) not in str(refused.value)
    assert str(Path.home()) not in str(refused.value).split(";")[0]


def test_a_loop_of_links_is_allowed_by_its_place(monkeypatch, tmp_path):
    """It leads nowhere and has the message of any path that cannot be opened."""
    for root in ("in", "out"):
        (tmp_path / root).mkdir()
        (tmp_path / root / "loop").symlink_to("loop/x")
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(tmp_path / "in"))
    assert access.require_allowed(tmp_path / "in" / "loop") == tmp_path / "in" / "loop"
    access.refuse_links(tmp_path / "in")
    with pytest.raises(CannotOpen):
        access.require_allowed(tmp_path / "out" / "loop")
