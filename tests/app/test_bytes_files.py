"""The tab Bytes without a browser: its data for an address, of any file, also without batches."""

import os
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from kafkaviz.app.pages.segment import file_label
from tests.app.segment_page import bytes_sent, page, spaced_html
from tests.support.brokers import copy_partitions

pytestmark = pytest.mark.usefixtures("starts")
LOG = "00000000000000007975.log"


def opened(directory: Path, **query: str) -> AppTest:
    return page(directory, "payments-0", 7975, tab="Bytes", **query)


def pane(at: AppTest) -> dict:
    return bytes_sent(at)["panes"][0]


def offered(at: AppTest) -> list[str]:
    (control,) = [group.options for group in at.button_group if group.label == "File"]
    menus = [element.proto for element in at.get("menu_button")]
    (menu,) = [menu.options for menu in menus if menu.label == "Other files"]
    return [*control, *menu]


@pytest.fixture
def copied(clean, tmp_path) -> Path:
    return copy_partitions(clean, tmp_path / "broker", {"payments-0"})


def test_nothing_is_sent_while_another_tab_is_open(clean):
    assert bytes_sent(page(clean, "payments-0", 7975)) is None


def test_the_pinned_batch_of_the_address(clean):
    """By default the .log: the batch, its neighbours, and what the colours mean."""
    at = opened(clean, pin="11612")
    words = bytes_sent(at)
    assert (words["file"], words["before"], words["after"]) == (".log", "11592", "11626")
    assert (words["panes"][0]["start"], words["panes"][0]["data"]) == (479997, 1861)
    assert "lengths, counts, positions" in spaced_html(at)
    assert "never written" not in spaced_html(at)


def test_the_file_of_the_address(killed):
    """An index has its unwritten slots in the legend; a missing file is not offered."""
    at = page(killed, "append-time-0", 0, tab="Bytes", file=".index")
    words = bytes_sent(at)
    assert (words["file"], words["panes"][0]["of"], words["panes"][0]["end"]) == (
        ".index",
        "file",
        65536,
    )
    assert "format and checksum" not in spaced_html(at)
    assert (
        ".txnindex" not in next(group for group in at.button_group if group.label == "File").options
    )


def test_damage_is_reported(damaged):
    """A torn slot at the end of an index; every file of every segment has bytes to show."""
    at = page(damaged, "metrics-0", 0, tab="Bytes", file=".index")
    assert "torn slot" in [span[2] for span in bytes_sent(at)["panes"][0]["spans"]]
    assert "torn, or not a field" in spaced_html(at)


def test_bytes_in_chinese(killed):
    """The descriptions are translated; the names of fields are Kafka's."""
    words = bytes_sent(page(killed, "append-time-0", 0, pin="7180", tab="Bytes", lang="zh"))
    fields = {span[2]: span[5] for span in words["panes"][0]["spans"]}
    assert fields["lastOffsetDelta"].endswith("索引项存的键就是它。")
    assert fields["crc"].endswith("校验一致。")
    assert words["words"]["fields"] == "字段" and words["language"] == "zh"
    words = bytes_sent(page(killed, "append-time-0", 0, tab="Bytes", file=".index", lang="zh"))
    unwritten = next(span for span in words["panes"][0]["spans"] if span[4] == "unwritten")
    assert (unwritten[2], unwritten[3].replace("\u202f", " ")) == ("从未写过的槽", "8 088 个槽")


def test_files_next_to_the_segment(clean):
    """Snapshots and small files of the topic-partition, and the broker's own."""
    name = "leader-epoch-checkpoint"
    at = opened(clean, file=name)
    size = (clean / "payments-0" / name).stat().st_size
    assert bytes_sent(at)["file"] == name
    assert (pane(at)["of"], pane(at)["start"], pane(at)["end"]) == ("file", 0, size)
    names = offered(at)
    assert names[:5] == [".log", ".index", ".timeindex", ".txnindex", name]
    small = "meta.properties", ".kafka_cleanshutdown", "recovery-point-offset-checkpoint"
    assert {"partition.metadata", *small} <= set(names)
    assert any(name.endswith(".snapshot") for name in names)


def test_a_file_of_the_broker_directory(clean):
    """Every byte has a name."""
    shown = pane(opened(clean, file="meta.properties"))
    assert shown["spans"][0][0] == 0
    assert shown["spans"][-1][1] == shown["end"] == (clean / "meta.properties").stat().st_size


@pytest.mark.parametrize(
    ("byte", "chosen"), [("40", 40), ("-4", 0), ("9" * 400, 0), ("9" * 14, -1)]
)
def test_a_byte_of_the_address(clean, byte, chosen):
    """It is shown first: a malformed number changes nothing, and after the end is the last one."""
    shown = pane(opened(clean, file="meta.properties", byte=byte))
    assert shown["chosen"] == (chosen if chosen >= 0 else shown["end"] - 1)


def test_a_byte_of_the_log_pins_its_batch(clean):
    """A slot of an index does too; a pin in the address has priority."""
    batch = pane(opened(clean, byte="480000"))
    assert (batch["start"], batch["chosen"]) == (479997, 480000)
    at = opened(clean, file=".index", byte="764")
    assert pane(at)["chosen"] == 764
    assert ">479 997<" in spaced_html(at).split('<tr class="on"')[1]
    assert pane(opened(clean, byte="480000", pin="7975"))["start"] == 0


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "..", "payments-0", "00000000000000000000.log", "\0"],
)
def test_a_name_that_is_no_file_here(clean, name):
    assert bytes_sent(opened(clean, file=name))["file"] == ".log"


def test_files_that_the_server_may_not_open(copied, tmp_path, monkeypatch):
    """With access to one topic-partition, its broker's files and links stay closed."""
    allowed = copied / "payments-0"
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(allowed))
    at = opened(allowed, file="meta.properties")
    assert bytes_sent(at) is None
    assert "is outside the directories that this server may open" in spaced_html(at)
    assert bytes_sent(opened(allowed, file="partition.metadata"))
    (tmp_path / "secret").write_text("hidden")
    os.symlink(tmp_path / "secret", allowed / "notes")
    st.cache_data.clear()
    assert bytes_sent(opened(allowed, file="notes")) is None


def test_renamed_files_and_empty_ones(copied):
    """The renamed copy of a live file, a foreign file, and an empty one."""
    renamed = "00000000000000007975.index.deleted"
    (copied / "payments-0" / renamed).write_bytes(b"\0" * 16)
    (copied / "payments-0" / "![a](b)__x__").write_bytes(b"abc")
    (copied / ".lock").write_bytes(b"")
    assert pane(opened(copied, file=renamed))["end"] == 16
    odd = file_label("![a](b)__x__")
    assert pane(opened(copied, file=odd))["spans"][0][2] == "unknown file"
    assert "\\_" in odd
    at = opened(copied, file=".lock")
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
    (copied / "payments-0" / LOG).write_bytes(data)
    at = page(copied, "payments-0", 7975)
    shown = pane(at)
    assert (shown["of"], shown["end"], shown["data"]) == ("file", len(data), len(data))
    assert name in [span[2] for span in shown["spans"]]
    assert shown["spans"][-1][1] == len(data)
    assert "No whole batch in this log" in spaced_html(at)


def test_an_empty_log_has_its_indexes(copied):
    (copied / "payments-0" / LOG).write_bytes(b"")
    at = page(copied, "payments-0", 7975)
    assert bytes_sent(at) is None and f"{LOG} has 0 bytes." in spaced_html(at)
    assert pane(opened(copied, file=".index"))["end"] == 209 * 8


def test_indexes_without_a_log_have_their_bytes(copied):
    (copied / "payments-0" / LOG).unlink()
    at = page(copied, "payments-0", 7975)
    assert bytes_sent(at)["file"] == ".index" and "No .log has this base offset" in spaced_html(at)


def test_a_directory_without_a_segment(copied):
    for path in (copied / "payments-0").iterdir():
        if path.name != "partition.metadata":
            path.unlink()
    at = page(copied, "payments-0")
    assert bytes_sent(at)["file"] == "partition.metadata"
    assert "No segment in this directory" in spaced_html(at)


def test_few_of_many_snapshots_are_offered(copied):
    for base_offset in range(0, 20000, 100):
        (copied / "payments-0" / f"{base_offset:020}.snapshot").write_bytes(b"x")
    at = opened(copied, file="00000000000000019900.snapshot")
    assert bytes_sent(at)["file"] == "00000000000000019900.snapshot"
    names = offered(at)[5:]
    assert len(names) == 40
    assert "00000000000000008000.snapshot" in names
    assert "00000000000000000100.snapshot" not in names
