"""The Segment page of a directory that changes between two runs, or within one."""

import os
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.analysis.segment import anatomy, batch_table
from kafkaviz.app.cache import segment_cache
from kafkaviz.errors import CannotOpen
from kafkaviz.figures.segment import segment_bytes
from kafkaviz.format.walk import walk
from kafkaviz.messages import message
from tests.app.segment_page import copy_of, page, sent, spaced_html
from tests.support.pages import assert_no_exception

pytestmark = pytest.mark.usefixtures("starts")

STEM = f"{1:020d}"
BATCHES = 174


@pytest.fixture
def folder(clean, tmp_path) -> Path:
    """A broker directory with two topic-partitions that a test may change."""
    copy_of(clean, tmp_path, "refunds-1")
    return copy_of(clean, tmp_path, "refunds-0")


@pytest.fixture
def log(folder) -> Path:
    """The .log that changes."""
    return folder / "refunds-0" / f"{STEM}.log"


def again(at: AppTest) -> AppTest:
    return assert_no_exception(at.run())


def end_of(log: Path, share: int = 2) -> int:
    """Returns a byte in the middle of the log and of a batch."""
    return os.path.getsize(log) // share + 7


def test_a_log_that_grew(folder, log):
    data, cut = log.read_bytes(), end_of(log)
    log.write_bytes(data[:cut])
    at = page(folder, "refunds-0", 1, pin="3")
    few = sent(at)[0]["slice"]["rows"]
    assert few < BATCHES and sent(at)[0]["tail"]["kind"] == "torn"
    with open(log, "ab") as file:
        file.write(data[cut:])
    words = sent(again(at))[0]
    assert (words["slice"]["rows"], words["tail"], words["asked"]["offset"]) == (BATCHES, None, "3")


def test_a_log_that_shrank(folder, log):
    at = page(folder, "refunds-0", 1)
    last = sent(at)[1]["batch"]["last_offset"][-1] + 1
    at = page(folder, "refunds-0", 1, pin=str(last))
    assert sent(at)[0]["asked"]["row"] == BATCHES - 1
    os.truncate(log, end_of(log))
    words = sent(again(at))[0]
    assert words["slice"]["rows"] < BATCHES
    assert words["asked"]["why"].startswith("This segment holds")
    assert "lead searches astray" in words["title"] and words["tail"]["kind"] == "torn"


def test_a_log_that_was_emptied(folder, log):
    at = page(folder, "refunds-0", 1, pin="3", tab="Bytes")
    os.truncate(log, 0)
    assert "Nothing was written here yet" in spaced_html(again(at)) and sent(at) == ({}, {})
    os.truncate(log, 40)
    assert "No whole batch in this log" in spaced_html(again(at))


@pytest.mark.parametrize("deleted", ["log", "segment", "topic-partition"])
def test_a_log_that_vanished(folder, log, deleted):
    """One file, the whole segment, or its directory: a sentence, and the way to the broker."""
    at = page(folder, "refunds-0", 1, pin="3")
    files = {
        "log": [log],
        "segment": list(log.parent.glob(f"{STEM}.*")),
        "topic-partition": list(log.parent.iterdir()),
    }[deleted]
    for file in files:
        file.unlink()
    if deleted == "topic-partition":
        log.parent.rmdir()
    says = {"log": "No .log has this base offset", "segment": "No segment starts at offset 1"}
    assert says.get(deleted, "holds no topic-partition refunds-0") in spaced_html(again(at))
    assert sent(at) == ({}, {})


def test_the_only_log_that_vanished(folder, log):
    for path in log.parent.glob(f"{0:020d}.*"):
        path.unlink()
    at = page(folder, "refunds-0", 1)
    log.unlink()
    assert "No .log has this base offset" in spaced_html(again(at))


def test_a_log_renamed_to_be_deleted(folder, log):
    at = page(folder, "refunds-0", 1, pin="3")
    for path in log.parent.glob(f"{STEM}.*"):
        path.rename(f"{path}.deleted")
    assert "Its files are renamed .deleted and wait to be removed." in spaced_html(again(at))
    assert sent(at)[0]["slice"]["rows"] == BATCHES


@pytest.mark.parametrize("change", ["shrinks", "vanishes"])
def test_what_is_lost_after_it_was_read(folder, log, monkeypatch, change):
    """A tab opened long after reruns alone, and makes the whole page run again."""
    real, lost = segment_cache.read, []

    def read_before(segment):
        expected = real(segment)
        if not lost:
            lost.append(os.truncate(log, end_of(log)) if change == "shrinks" else log.unlink())
        return expected

    monkeypatch.setattr(segment_cache, "read", read_before)
    at = page(folder, "refunds-0", 1)
    assert len(lost) == 1
    if change == "shrinks":
        assert 0 < sent(at)[0]["slice"]["rows"] < BATCHES
    else:
        assert "No .log has this base offset" in spaced_html(at) and sent(at) == ({}, {})


def test_bytes_that_cannot_be_read_any_more(folder, log, monkeypatch):
    def refuse(*_, **__):
        raise CannotOpen(log, message("errors.not_there"), kind="missing")

    monkeypatch.setattr(segment_bytes, "view", refuse)
    at = page(folder, "refunds-0", 1, tab="Bytes")
    assert f"{STEM}.log is not there." in spaced_html(at)
    assert sent(at)[0]["slice"]["rows"] == BATCHES


def test_another_log_in_its_place(folder, log, monkeypatch):
    """It has the same size and time, but the page reads it again and shows no wrong batch."""
    monkeypatch.setattr(batch_table, "BLOCK_ROWS", 8)
    monkeypatch.setattr(batch_table, "CACHED_BLOCKS", 1)
    monkeypatch.setattr(segment_cache.anatomy, "read", partial(anatomy.read, kept_rows=0))
    segment_cache.forget()
    at = page(folder, "refunds-0", 1, pin="3")
    assert sent(at)[0]["slice"]["rows"] == BATCHES
    data, stat = log.read_bytes(), log.stat()
    batches = walk(data)[0]
    cut = int(batches["position"][9])  # the first nine come last
    log.write_bytes(data[cut:] + data[:cut])
    os.utime(log, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    at.query_params["pin"] = str(int(batches["last_offset"][100]))
    words, tables = sent(again(at))
    assert words["slice"]["rows"] == BATCHES
    assert tables["batch"]["base_offset"][0] == batches["base_offset"][9] - 1
