"""The bytes view of any file, without a browser: also of files without batches."""

import os
import shutil
from pathlib import Path

import pytest
import streamlit as st

from kafkaviz.app.pages.segment import file_label
from tests.app.segment_page import bytes_sent, page, spaced_html

pytestmark = pytest.mark.usefixtures("starts")

META = {"tab": "Bytes", "file": "meta.properties"}


def offered(at) -> list[str]:
    (control,) = [group.options for group in at.button_group if group.label == "File"]
    (menu,) = [
        list(element.proto.options)
        for element in at.get("menu_button")
        if element.proto.label == "Other files"
    ]
    return [*control, *menu]


@pytest.fixture
def copied(clean, tmp_path) -> Path:
    directory = tmp_path / "broker"
    directory.mkdir()
    for path in clean.iterdir():
        if path.is_file():
            shutil.copy(path, directory)
    shutil.copytree(clean / "payments-0", directory / "payments-0")
    return directory


def test_files_next_to_the_segment(clean):
    """Snapshots and small files of the topic-partition, and the broker's own."""
    at = page(clean, "payments-0", 7975, tab="Bytes", file="leader-epoch-checkpoint")
    words = bytes_sent(at)
    assert (words["file"], words["panes"][0]["of"], words["panes"][0]["start"]) == (
        "leader-epoch-checkpoint",
        "file",
        0,
    )
    assert (
        words["panes"][0]["end"]
        == (clean / "payments-0" / "leader-epoch-checkpoint").stat().st_size
    )
    names = offered(at)
    assert names[:5] == [".log", ".index", ".timeindex", ".txnindex", "leader-epoch-checkpoint"]
    assert {
        "partition.metadata",
        "meta.properties",
        ".kafka_cleanshutdown",
        "recovery-point-offset-checkpoint",
    } <= set(names)
    assert any(name.endswith(".snapshot") for name in names)


def test_a_file_of_the_broker_directory(clean):
    """Every byte has a name."""
    pane = bytes_sent(page(clean, "payments-0", 7975, **META))["panes"][0]
    assert (
        pane["spans"][0][0] == 0
        and pane["spans"][-1][1] == pane["end"] == (clean / "meta.properties").stat().st_size
    )


def test_a_byte_of_the_address(clean):
    """It is shown first. A malformed number, or one after the end, changes nothing."""
    assert (
        bytes_sent(page(clean, "payments-0", 7975, byte="40", **META))["panes"][0]["chosen"] == 40
    )
    assert bytes_sent(page(clean, "payments-0", 7975, byte="-4", **META))["panes"][0]["chosen"] == 0
    end = bytes_sent(page(clean, "payments-0", 7975, byte="9" * 14, **META))["panes"][0]
    assert end["chosen"] == end["end"] - 1
    assert (
        bytes_sent(page(clean, "payments-0", 7975, byte="9" * 400, **META))["panes"][0]["chosen"]
        == 0
    )


def test_a_byte_of_the_log_pins_its_batch(clean):
    """A slot of an index does too; a pin in the address has priority."""
    batch = bytes_sent(page(clean, "payments-0", 7975, tab="Bytes", byte="480000"))
    assert (batch["panes"][0]["start"], batch["panes"][0]["chosen"]) == (479997, 480000)
    at = page(clean, "payments-0", 7975, tab="Bytes", file=".index", byte="764")
    assert (
        bytes_sent(at)["panes"][0]["chosen"] == 764
        and ">479 997<" in spaced_html(at).split('<tr class="on"')[1]
    )
    pinned = bytes_sent(page(clean, "payments-0", 7975, tab="Bytes", byte="480000", pin="7975"))
    assert pinned["panes"][0]["start"] == 0


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "..", "payments-0", "00000000000000000000.log", "\0"],
)
def test_a_name_that_is_no_file_here(clean, name):
    assert bytes_sent(page(clean, "payments-0", 7975, tab="Bytes", file=name))["file"] == ".log"


def test_files_that_the_server_may_not_open(copied, tmp_path, monkeypatch):
    """With access to one topic-partition, its broker's files and links stay closed."""
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(copied / "payments-0"))
    at = page(copied / "payments-0", "payments-0", 7975, **META)
    assert bytes_sent(
        at
    ) is None and "is outside the directories that this server may open" in spaced_html(at)
    assert bytes_sent(
        page(copied / "payments-0", "payments-0", 7975, tab="Bytes", file="partition.metadata")
    )
    (tmp_path / "secret").write_text("hidden")
    os.symlink(tmp_path / "secret", copied / "payments-0" / "notes")
    st.cache_data.clear()
    assert (
        bytes_sent(page(copied / "payments-0", "payments-0", 7975, tab="Bytes", file="notes"))
        is None
    )


def test_renamed_files_and_empty_ones(copied):
    """The renamed copy of a live file, a foreign file, and an empty one."""
    stem = "00000000000000007975"
    (copied / "payments-0" / f"{stem}.index.deleted").write_bytes(b"\0" * 16)
    (copied / "payments-0" / "![a](b)__x__").write_bytes(b"abc")
    (copied / ".lock").write_bytes(b"")
    assert (
        bytes_sent(page(copied, "payments-0", 7975, tab="Bytes", file=f"{stem}.index.deleted"))[
            "panes"
        ][0]["end"]
        == 16
    )
    odd = file_label("![a](b)__x__")
    words = bytes_sent(page(copied, "payments-0", 7975, tab="Bytes", file=odd))
    assert words["panes"][0]["spans"][0][2] == "unknown file" and "\\_" in odd
    at = page(copied, "payments-0", 7975, tab="Bytes", file=".lock")
    assert bytes_sent(at) is None and ".lock has 0 bytes." in spaced_html(at)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"not a batch " * 9, "no batch"),
        (b"\0" * 512, "zero padding"),
        (bytes(8) + b"\0\0\1\0" + bytes(4) + b"\2" + bytes(40), "batchLength"),
    ],
)
def test_a_log_without_a_whole_batch_has_its_bytes(copied, data, name):
    log = copied / "payments-0" / "00000000000000007975.log"
    log.write_bytes(data)
    at = page(copied, "payments-0", 7975)
    pane = bytes_sent(at)["panes"][0]
    assert (pane["of"], pane["end"], pane["data"]) == ("file", len(data), len(data))
    assert name in [span[2] for span in pane["spans"]]
    assert pane["spans"][-1][1] == len(data) and "No whole batch in this log" in spaced_html(at)


def test_an_empty_log_has_its_indexes(copied):
    (copied / "payments-0" / "00000000000000007975.log").write_bytes(b"")
    at = page(copied, "payments-0", 7975)
    assert bytes_sent(at) is None and "00000000000000007975.log has 0 bytes." in spaced_html(at)
    assert bytes_sent(page(copied, "payments-0", 7975, file=".index"))["panes"][0]["end"] == 209 * 8


def test_indexes_without_a_log_have_their_bytes(copied):
    (copied / "payments-0" / "00000000000000007975.log").unlink()
    at = page(copied, "payments-0", 7975)
    assert bytes_sent(at)["file"] == ".index" and "No .log has this base offset" in spaced_html(at)


def test_a_directory_without_a_segment(copied):
    for path in (copied / "payments-0").iterdir():
        if path.name != "partition.metadata":
            path.unlink()
    at = page(copied, "payments-0")
    assert bytes_sent(at)[
        "file"
    ] == "partition.metadata" and "No segment in this directory" in spaced_html(at)


def test_few_of_many_snapshots_are_offered(copied):
    for base_offset in range(0, 20000, 100):
        (copied / "payments-0" / f"{base_offset:020}.snapshot").write_bytes(b"x")
    at = page(copied, "payments-0", 7975, tab="Bytes", file="00000000000000019900.snapshot")
    assert bytes_sent(at)["file"] == "00000000000000019900.snapshot"
    names = offered(at)[5:]
    assert (
        len(names) == 40
        and "00000000000000008000.snapshot" in names
        and "00000000000000000100.snapshot" not in names
    )
