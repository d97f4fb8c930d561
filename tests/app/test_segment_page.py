"""The Segment page without a browser: sound, killed, damaged, empty and missing segments."""

import gzip
import json
import os
import shutil

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.app.cache import segment_cache
from kafkaviz.errors import CannotOpen
from kafkaviz.messages import message, verbatim
from tests.app.segment_page import copy_of, page, sent, spaced_html
from tests.conftest import SAMPLES
from tests.support.pages import press_button

pytestmark = pytest.mark.usefixtures("starts")
TITLE = 'payments-0 <span class="kv-fnt" style="font-weight:500">from offset 7 975</span>'


def chosen_rows(at: AppTest) -> list[str]:
    return [line.split("</tr>")[0] for line in spaced_html(at).split('<tr class="on"')[1:]]


def title(at: AppTest) -> str:
    return sent(at)[0]["title"].replace("\u202f", " ")


def test_a_sound_segment(clean):
    at = page(clean, "payments-0", 7975, pin="11612")
    text, (words, tables) = spaced_html(at), sent(at)
    assert TITLE in text
    assert (
        "906 batches in 1023 KiB. 209 have an index entry. A search finds the other 697 by reading "
        "on from an earlier batch that has one, or from byte 0."
    ) in text
    assert title(at) == "Every 4 906 bytes or so, one batch gets an entry"
    assert words["asked"]["row"] == 413
    assert words["address"]["segment"] == "7975"
    assert len(tables["batch"]["position"]) == 906
    assert "<dt>Interval when written</dt>" in text
    assert "4 095 – 4 103 B" in text
    assert "size <small>(inferred)</small>" in text
    assert ["479 997</span></td>" in row for row in chosen_rows(at)] == [True, True, False]
    assert "■ slot 95" in chosen_rows(at)[0]
    assert "00000e42 000752fd" in chosen_rows(at)[1]
    assert "slot 95" in chosen_rows(at)[2]
    tabs = [tab.label.split(" :")[0] for tab in at.tabs]
    assert tabs == ["Batches", "Index", "Time index", "Transactions", "Bytes"]


def test_a_page_without_a_segment_opens_one_with_several_records_per_batch(clean):
    assert TITLE in spaced_html(page(clean))


def test_the_whole_tables_are_downloads(clean):
    at = page(clean, "payments-0", 7975)
    labels = [element.proto.label.replace("\u202f", " ") for element in at.get("download_button")]
    assert labels == [
        "Download 906 batches as CSV",
        "Download 209 entries as CSV",
        "Download 206 entries as CSV",
    ]


def test_a_killed_segment(killed):
    at = page(killed, "append-time-0", 0)
    words, _ = sent(at)
    assert words["title"].startswith("The index was created at 64 KiB")
    assert words["tail"] == {"kind": "torn", "size": 45}
    assert words["lanes"]["index"]["unwritten"] == "never_written"
    assert words["lanes"]["index"]["slots"] == 8192
    assert '<span style="color:var(--kv-torn-text)">45 B, torn</span>' in spaced_html(at)


@pytest.mark.parametrize(
    ("partition", "segment", "begins", "words"),
    [
        ("rides-0", 1811, "No .index: every search", ["No .index", "missing", "from byte 0"]),
        ("rides-0", 607, "No .timeindex", ["No .timeindex", "missing"]),
        (
            "bookings-0",
            858,
            "Slot 3 points past its batch",
            ["slot 3", "after the batch of this offset"],
        ),
        ("bookings-0", 1721, "Slot 2 of the time index", ["its batch holds a different time"]),
        ("metrics-0", 0, "The index ends inside an entry", ["After the last slot"]),
        ("metrics-0", 2401, "The last 14 of the index’s 27 slots are zeros", ["14 slots"]),
    ],
)
def test_damaged_segments(damaged, partition, segment, begins, words):
    at = page(damaged, partition, segment)
    assert title(at).startswith(begins)
    for word in words:
        assert word in spaced_html(at), word


def test_what_is_pinned_first_in_a_damaged_segment(damaged):
    """The slot that leads astray, in the ruler and in the table of the index."""
    at = page(damaged, "bookings-0", 858)
    assert sent(at)[0]["asked"]["slot"] == 3
    assert "after the batch of this offset" in chosen_rows(at)[1]


@pytest.mark.parametrize(
    ("source", "partition", "segment", "finding"),
    [
        ("clean", "empty-room-1", 0, "Nothing was written here yet"),
        ("killed", "empty-room-1", 0, "Nothing was written here yet"),
        ("damaged", "rides-0", 999999, "No .log has this base offset"),
        ("damaged", "rides-0", 5, "No segment starts at offset 5"),
        ("damaged", "rides-0", "five", "No segment starts at offset five"),
        ("damaged", "rides-1", 0, "holds no topic-partition rides-1"),
    ],
)
def test_nothing_to_draw(source, partition, segment, finding, request):
    at = page(request.getfixturevalue(source), partition, segment)
    assert finding in spaced_html(at) and sent(at) == ({}, {}) and "<h1>" in spaced_html(at)


def test_an_archive_is_named_as_it_was_given():
    text = spaced_html(page(SAMPLES / "kafka-4.3.1-clean.tar.gz", "nonexist-0"))
    assert "kafka-4.3.1-clean.tar.gz holds no topic-partition nonexist-0" in text
    assert "unpacked" not in text


def test_a_missing_segment_names_those_there_are(damaged):
    at = page(damaged, "rides-0", 700)
    labels = [button.label for button in at.button if button.key.startswith("kv_to_")]
    assert len(labels) == 7 and labels[1] == "`00000000000000000607` 76.1 KiB, closed"
    press_button(at, "kv_to_00000000000000000607")
    assert "from offset 607" in spaced_html(at) and sent(at)[0]["base"] == "607"


@pytest.mark.parametrize(
    ("pin", "why"),
    [
        ("99999999", "This segment holds"),
        ("abc", "An offset is a whole number"),
        ("-4", "An offset is"),
    ],
)
def test_a_pin_that_is_not_there(clean, pin, why):
    at = page(clean, "payments-0", 7975, pin=pin)
    assert sent(at)[0]["asked"]["row"] is None and sent(at)[0]["asked"]["why"].startswith(why)
    assert len(chosen_rows(at)) == 3


def test_the_shade_is_in_the_address(clean):
    words, _ = sent(page(clean, "payments-0", 7975, shade="Size"))
    assert words["shade"] == {"by": "Size", "low": 78, "high": 2894}
    assert words["hint"].startswith("Darker is larger")


def test_a_large_segment_is_sent_in_slices(clean):
    """10 905 batches: 2000 of them, around the pin."""
    words, tables = sent(page(clean, "heartbeat-0", 0, pin="9000"))
    assert words["slice"]["from_row"] == 8000
    assert words["slice"]["rows"] == 10905
    assert len(tables["batch"]["position"]) == 2000
    assert words["asked"]["row"] == 9000


def test_a_segment_in_another_state(clean, tmp_path):
    """Files that a compaction was writing."""
    folder = copy_of(clean, tmp_path, "payments-0")
    for kind in ("log", "index", "timeindex", "txnindex"):
        (folder / "payments-0" / f"{7975:020d}.{kind}").rename(
            folder / "payments-0" / f"{7975:020d}.{kind}.cleaned"
        )
    at = page(folder, "payments-0", 7975)
    assert "Its files are .cleaned: a compaction was writing them." in spaced_html(at)
    assert sent(at)[0]["slice"]["rows"] == 906


def test_a_log_that_may_not_be_read(clean, nothing_cached, monkeypatch):
    def refuse(segment):
        raise CannotOpen(
            segment.log.path,
            message("errors.may_not_be_read"),
            verbatim("copy it"),
            kind="permission",
        )

    monkeypatch.setattr(segment_cache.anatomy, "read", refuse)
    at = page(clean, "payments-0", 7975)
    assert "00000000000000007975.log could not be read" in spaced_html(at) and sent(at) == ({}, {})


def test_a_log_that_vanished(clean, nothing_cached, monkeypatch):
    def refuse(segment):
        raise CannotOpen(segment.log.path, message("errors.not_there"), kind="missing")

    monkeypatch.setattr(segment_cache.anatomy, "read", refuse)
    assert "00000000000000007975.log is gone" in spaced_html(page(clean, "payments-0", 7975))


def test_a_log_that_grows_meanwhile(clean, tmp_path, monkeypatch):
    folder = copy_of(clean, tmp_path, "refunds-0")
    log, real = folder / "refunds-0" / f"{1:020d}.log", segment_cache.anatomy.file.read
    monkeypatch.setattr(segment_cache.anatomy, "read_tail", lambda *_: os.utime(log, ns=(1, 1)))
    at = page(folder, "refunds-0", 1)
    assert f"{1:020d}.log changed while it was read" in spaced_html(at)
    assert sent(at)[0]["slice"]["rows"] == 174
    monkeypatch.undo()
    assert segment_cache.anatomy.file.read is real
    press_button(at, "kv_read_again")
    assert "changed while it was read" not in spaced_html(at)


def test_a_changed_file_is_read_again(clean, tmp_path):
    folder = copy_of(clean, tmp_path, "refunds-0")
    assert "26 have an index entry" in spaced_html(page(folder, "refunds-0", 1))
    index = folder / "refunds-0" / f"{1:020d}.index"
    index.write_bytes(index.read_bytes()[:80])
    assert "10 have an index entry" in spaced_html(page(folder, "refunds-0", 1))


def test_names_from_disk_become_no_markup(clean, tmp_path):
    evil = "<img src=x onerror=alert(1)>-0"
    shutil.copytree(clean / "refunds-0", tmp_path / evil)
    at = page(tmp_path, evil, 1)
    assert "<img" not in spaced_html(at) and "&lt;img src=x" in spaced_html(at)
    assert "<img" not in spaced_html(page(tmp_path, evil, "<img>"))
    assert "<img" not in spaced_html(page(tmp_path, "<img>-1", 1))


def test_names_that_are_no_text(clean, tmp_path):
    """Kafka creates none, but a disk may hold some."""
    name = os.fsdecode(b"caf\xe9-0")
    shutil.copytree(clean / "refunds-0", tmp_path / name)
    at = page(tmp_path, None, 1)
    assert "caf\ufffd-0 <span" in spaced_html(at) and sent(at)[0]["slice"]["rows"] == 174


def test_a_segment_before_magic_2(data, tmp_path):
    with gzip.open(data / "batches.jsonl.gz", "rt") as lines:
        cases = {case["name"]: case["hex"] for case in map(json.loads, lines)}
    (tmp_path / "old-0").mkdir()
    (tmp_path / "old-0" / f"{809_535:020d}.log").write_bytes(bytes.fromhex(cases["v0-single-0"]))
    text = spaced_html(page(tmp_path, "old-0", 809_535))
    assert "Messages of magic 0 have no timestamp.</p>" in text
    assert "<th>CRC-32</th>" in text and ">Epoch</th>" not in text


def test_in_chinese(clean, killed):
    """Title, facts, tables, ruler and tabs; Kafka's terms and the words in the address stay."""
    at = page(clean, "payments-0", 7975, pin="11612", lang="zh", tab="Time index", shade="Size")
    text, words = spaced_html(at), sent(at)[0]
    assert "906 个批次，共 1023 KiB。209 个有索引项" in text
    assert "<dt>保留到</dt>" in text
    assert "<th>时间戳（UTC）</th>" in text
    assert title(at) == "大约每 4 906 字节有一个批次得到索引项"
    assert words["shade"]["by"] == "Size"
    assert words["words"]["axis"] == ".log 的字节" and words["hint"].startswith("越深越大")
    assert [tab.label for tab in at.tabs] == ["批次", "偏移量索引", "时间索引", "事务", "字节"]
    assert at.session_state["tab"] == "时间索引"
    tail = spaced_html(page(killed, "append-time-0", 0, lang="zh"))
    assert "45 B，残缺" in tail and "<dt>从未写过</dt>" in tail
    assert "没有从偏移量 5 开始的日志段" in spaced_html(page(clean, "payments-0", 5, lang="zh"))
