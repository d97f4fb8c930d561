"""What may be opened, and by whom: on a person's own machine, below roots, on a server that others reach."""

import os
from pathlib import Path

import pytest
import streamlit as st

from kafkaviz.errors import CannotOpen
from kafkaviz.ui import access, leftovers


def test_samples_lie_beside_the_app():
    """Archives, the clean one first: it is what opens without a word."""
    assert access.samples()[0].name == "kafka-4.3.1-clean.tar.gz"


def test_everything_may_be_opened_by_default(monkeypatch, tmp_path):
    """A person on their own machine is not asked for a root."""
    monkeypatch.delenv("KAFKAVIZ_ALLOW_ROOT", raising=False)
    assert access.allowed(Path("/")) == Path("/")


def test_a_root_keeps_everything_else_out(monkeypatch, tmp_path):
    """Below it yes; beside it, above it, by dots or by a link no."""
    root, other = tmp_path / "root", tmp_path / "rootless"
    root.mkdir()
    other.mkdir()
    (root / "link").symlink_to(other)
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(root))
    assert access.allowed(root) == root and access.allowed(root / "deep" / "down") == root / "deep" / "down"
    assert access.allowed(access.samples()[0]) and access.allowed(leftovers.folder() / "x.tar")
    for path in (other, tmp_path, root / ".." / "rootless", root / "link", root / "link" / "kafka", Path("/")):
        with pytest.raises(CannotOpen) as refused:
            access.allowed(path)
        assert refused.value.kind == "outside"


@pytest.mark.parametrize(
    ("address", "is_open"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.8.9.1", True), ("0.0.0.0", False), ("192.168.1.7", False), ("", False)],
)
def test_a_server_that_others_reach_opens_what_it_was_started_with_alone(monkeypatch, tmp_path, address, is_open):
    """And the samples, and uploads; who wants more says so with a root. On this machine alone everything."""
    monkeypatch.delenv("KAFKAVIZ_ALLOW_ROOT", raising=False)
    monkeypatch.setenv("KAFKAVIZ_DIR", str(tmp_path / "kafka"))
    monkeypatch.setattr(st.runtime, "exists", lambda: True)
    monkeypatch.setattr(st, "get_option", {"server.address": address or None}.get)
    assert access.is_shared() == (not is_open)
    for path in (tmp_path / "kafka", tmp_path / "kafka" / "orders-0", access.samples()[0], leftovers.folder() / "abc" / "x.zip"):
        assert access.allowed(path) == path
    for path in (tmp_path, tmp_path / "kafka" / "..", Path("/etc"), leftovers.folder().parent / "recent.txt"):
        if is_open:
            assert access.allowed(path) == path
        else:
            with pytest.raises(CannotOpen, match="lies outside what this server may open"):
                access.allowed(path)


def test_several_roots(monkeypatch, tmp_path):
    """As PATH has several directories."""
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}")
    assert access.allowed(tmp_path / "b" / "x")
    with pytest.raises(CannotOpen):
        access.allowed(tmp_path / "c")
