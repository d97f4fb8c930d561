"""The tab Compaction of the Disk page: Kafka's recorded logs, one cleaning and a key's records."""

import json
import re

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis.compaction.compaction import compaction
from kafkaviz.app.cache.broker_cache import open_snapshot
from kafkaviz.app.pages.disk_compaction import cleaning_json
from kafkaviz.app.state import cleaning_jobs
from kafkaviz.figures.disk import cleaning_figure
from tests.analysis.compaction.recorded import lines, write_broker
from tests.app.fakes import cancelled_job
from tests.support.pages import (
    assert_no_exception,
    open_page,
    page_html,
    press_button,
    select_option,
)

pytestmark = pytest.mark.usefixtures("starts", "patient")
BY_ID = {line["id"]: line for line in lines()}


@pytest.fixture
def directory(tmp_path):
    """A log of which 21 records go; its policy is known from the cleaner's checkpoint."""
    broker = write_broker(BY_ID["4.4.0-compact-53-0"], tmp_path / "broker")
    (broker / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 0\n")
    return broker


def opened(directory, **query):
    return open_page("disk", dir=directory, tab="Compaction", **query)


def set_ratio(directory, ratio: float) -> None:
    text = f"log.dirs={directory}\nlog.cleaner.min.cleanable.ratio={ratio}\n"
    (directory / "server.properties").write_text(text)


def test_a_small_log_is_cleaned_at_once(directory):
    html = page_html(opened(directory))
    assert "The cleaner takes the compacted log, t-0, now" in html
    assert "21 records are removed, 5 records stay: 2.36 KiB become" in html
    assert html.count('"kv-cell ') == 34 and html.count("kv-cell-after hole") == 21
    assert "The cleaning in numbers" in html and "replaced by a later record of the key" in html


def test_a_log_that_is_not_taken_can_be_cleaned_as_a_what_if(directory):
    set_ratio(directory, 1)
    at = opened(directory)
    assert "does not take the compacted log now" in page_html(at)
    assert "records are removed" not in page_html(at)
    html = page_html(press_button(at, "kv_clean"))
    assert (
        "A what-if: the cleaner does not take this log now." in html
        and "21 records are removed" in html
    )


def assert_the_json_is_that_of_the_command(directory, capsys) -> None:
    snapshot = open_snapshot(str(directory))
    decisions = cleaning_jobs.decisions(snapshot)
    for log in decisions.logs:
        cleaned = cleaning_jobs.get_or_start(snapshot, log).wait()
        downloaded = json.loads(cleaning_json(snapshot, decisions, log, cleaned))
        [code] = opened(directory, log=log.partition).code
        assert main([*code.value.split()[1:], "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        if len(decisions.logs) == 1:
            assert downloaded | {"schema": printed["schema"]} == printed
        assert downloaded["partitions"] == printed["partitions"]


@pytest.mark.parametrize("ratio", [0.5, 1])
def test_the_json_is_that_of_the_command(directory, ratio, capsys):
    set_ratio(directory, ratio)
    assert_the_json_is_that_of_the_command(directory, capsys)


def test_one_topic_partition_in_two_log_directories(tmp_path, capsys):
    """Each log is decided, chosen and cleaned by itself."""
    for disk, case in (("disk-a", "4.4.0-compact-53-0"), ("disk-b", "4.4.0-compact-51-2")):
        broker = write_broker(BY_ID[case], tmp_path / disk)
        (broker / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 0\n")
    at = opened(tmp_path, log="disk-a/t-0")
    assert "21 records are removed" in page_html(at) and "disk-b/t-0" in page_html(at)
    assert_the_json_is_that_of_the_command(tmp_path, capsys)


def test_a_large_log_waits_for_its_button(directory, monkeypatch):
    monkeypatch.setattr(cleaning_jobs, "QUICK_BYTES", 1000)
    at = opened(directory)
    assert "The cleaner may clean offsets 0 to 25" in page_html(at)
    at = press_button(at, "kv_clean")
    assert "21 records are removed" in page_html(at)


def test_the_records_of_a_key(directory):
    at = opened(directory, key="k4......")
    html = page_html(at)
    assert "t-0 has 2 records with this key; a cleaning at this moment would remove 1." in html
    assert "will be removed: offset 13 replaces it" in html
    assert "stays: the latest record of the key" in html
    assert at.code[-1].value.startswith("kafkaviz key ")
    by_hex = opened(directory, key=b"k4......".hex(), key_as="hex")
    assert "will be removed: offset 13 replaces it" in page_html(by_hex)
    assert "is not a key in hexadecimal" in page_html(opened(directory, key="k", key_as="hex"))
    assert "t-0 has no record with this key." in page_html(opened(directory, key="other"))


def test_a_cleaning_that_fails(tmp_path):
    line = next(line for line in lines() if "cleaning_error" in line)
    directory = write_broker(line, tmp_path / "broker")
    checkpoint = line["checkpoint_before"] or "0\n1\nt 0 0\n"
    (directory / "cleaner-offset-checkpoint").write_text(checkpoint)
    html = page_html(opened(directory))
    assert "The cleaning fails" in html and line["cleaning_error"]["class"] in html


def test_topics_that_are_not_compacted(tmp_path):
    line = BY_ID["4.4.0-compact-53-0"]
    directory = write_broker(line, tmp_path / "broker")
    set_ratio(directory, 0.5)
    assert "No topic here is compacted" in page_html(opened(directory))


def test_the_sample_has_idle_logs(clean):
    at = opened(clean)
    assert_no_exception(at)
    html = page_html(at)
    assert "The cleaner takes none of the 8 compacted logs now" in html
    assert "__consumer_offsets (3 partitions)" in html
    at = select_option(at, "Topic-partition", "accounts-1")
    assert "accounts-1: not taken, because it has nothing new to clean." in page_html(at)


def test_keys_from_the_log_are_not_markup():
    record = cleaning_figure.RecordCell(text="0", key="<b>x</b>", value="<script>", look="dirty")
    segment = cleaning_figure.SegmentCells(name="a.log", details="", result="", cells=(record,))
    view = cleaning_figure.CleaningView(
        title="", caption="", step=1, map_rows=(), segments=(segment,), bars=None, notes=()
    )
    drawn = cleaning_figure.figure(view)
    assert "<script>" not in drawn and "&lt;b&gt;x&lt;/b&gt;" in drawn


def test_a_cancelled_cleaning_can_be_started_again(directory):
    snapshot = open_snapshot(str(directory))
    [log] = cleaning_jobs.decisions(snapshot).logs
    cleaning_jobs.cleaning_jobs().get_or_start((snapshot.key, log.partition), cancelled_job)
    at = opened(directory)
    assert "It was cancelled." in page_html(at)
    assert "21 records are removed" in page_html(press_button(at, "kv_clean"))


def test_a_cancelled_story_can_be_started_again(directory):
    snapshot = open_snapshot(str(directory))
    cleaning_jobs.story_jobs().get_or_start((snapshot.key, "t-0", b"k4......"), cancelled_job)
    at = opened(directory, key="k4......")
    assert "It was cancelled." in page_html(at)
    at = press_button(at, "kv_cleaning_again")
    assert "will be removed: offset 13 replaces it" in page_html(at)


def test_the_map_shows_the_records_that_a_computed_cleaning_removes(directory):
    html = page_html(open_page("disk", dir=directory))
    assert "ecords that the next cleaning removes</td>" not in html
    opened(directory)
    html = page_html(open_page("disk", dir=directory))
    row = re.search(r"Records that the next cleaning removes</td><td[^>]*>([^<]*)", html)
    [log] = compaction(directory).partitions
    assert row and int(row[1]) == log.cleaned.superseded_bytes > 0
