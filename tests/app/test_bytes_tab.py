"""The Bytes tab without a browser: its data for an address, and no data while another tab is open."""

import pytest

from tests.app.segment_page import bytes_sent, page, spaced_html

pytestmark = pytest.mark.usefixtures("starts")


def test_nothing_is_sent_while_another_tab_is_open(clean):
    assert bytes_sent(page(clean, "payments-0", 7975)) is None


def test_the_pinned_batch_of_the_address(clean):
    """By default the .log: the batch, its neighbours, and what the colours mean."""
    at = page(clean, "payments-0", 7975, pin="11612", tab="Bytes")
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
