"""The Health page without a browser: its data, its text while reading, its downloads."""

import os
import shutil
import threading

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from kafkaviz.analysis import broker_health
from kafkaviz.analysis.opened_path import open_log_path
from kafkaviz.analysis.rebuild import open_rebuild_source
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.state.check_jobs import check_jobs
from kafkaviz.errors import KafkavizError
from kafkaviz.jobs import Job, ReadProgress
from kafkaviz.messages import verbatim
from kafkaviz.versions import NEWEST
from tests.app.health_page import page, sent
from tests.support.pages import PATIENCE_S, open_page, page_html, press_label
from tests.support.segment_files import make_segment

pytestmark = pytest.mark.usefixtures("starts")


def labels(at: AppTest) -> list[str]:
    """Returns the labels of the links to other pages."""
    return [link.proto.label for link in at.get("page_link")]


def release_menu(at: AppTest):
    menus = [element.proto for element in at.get("menu_button")]
    (menu,) = [menu for menu in menus if menu.label.startswith("As Kafka")]
    return menu


def test_a_killed_broker(killed):
    message = sent(page(killed))
    assert message["verdict"]["kind"] == "warning"
    assert "It will cut 1\u202f021 bytes off three logs" in message["verdict"]["title"]
    assert {bar["name"] for bar in message["strip"]["bars"] if bar["cut_bytes"]} == {
        "append-time-0",
        "clicks-zstd-0",
        "weblogs-0",
    }
    errors = [item for item in message["items"] if item["severity"] == "error"]
    assert [item["code"] for item in errors] == [
        "log-garbage-tail",
        "log-torn-tail",
        "log-zero-tail",
    ]
    assert errors[2]["members"][0]["dump"]["digits"].endswith("00" * 16)


def test_a_damaged_broker_is_checked_by_another_release(damaged):
    """Kafka 2.2 checked the last entry of an index at a start."""
    now, then = sent(page(damaged)), sent(page(damaged, kafka="2.2"))
    consequence = {
        verdict["key"]: verdict["items"][0]["members"][0]["consequence"] for verdict in (now, then)
    }
    assert len(consequence) == 2 and len(set(consequence.values())) == 2
    assert now["verdict"]["kind"] == "error" and "will remain" in now["verdict"]["text"]
    text = "Known from the source of Kafka 2.2; starts were recorded only for 4.3.1 and 4.4.0."
    assert then["verdict"]["text"].endswith(text) and "recorded" not in now["verdict"]["text"]


def test_an_unknown_release_is_ignored(damaged):
    assert sent(page(damaged, kafka="<b>"))["key"].endswith(" ")


def test_the_report_is_what_the_commands_give(damaged):
    at = page(damaged)
    json_, report = at.get("download_button")
    assert (json_.proto.label, report.proto.label) == ("JSON", "Report")
    (known,) = check_jobs().jobs()
    assert known.result.counts == broker_health.check(known.result.broker).counts


@pytest.mark.usefixtures("patient")
def test_the_sidebar_counts_the_errors(damaged):
    """Already in the run in which the check ended."""
    at = open_page("health", dir=damaged)
    (known,) = check_jobs().jobs()
    assert f"Health :red[**{known.result.counts['error']}**]" in labels(at)


def test_while_it_reads_the_page_shows_how_far(damaged, monkeypatch):
    ends = threading.Event()
    job = Job(lambda report: ends.wait(PATIENCE_S), ReadProgress(250, 1000, "orders-0"))
    monkeypatch.setattr("kafkaviz.app.state.check_jobs._start", lambda *_: job)
    at = open_page("health", dir=damaged)
    words = page_html(at)
    assert "Reading orders-0" in words and "250 B of 1000 B" in words and "width:25%" in words
    press_label(at, "Cancel")
    words = page_html(at)
    assert job.state == "cancelled" and "it was cancelled" in words
    ends.set()


def test_a_check_that_fails_says_why(damaged, monkeypatch):
    def failing(*arguments: object, **options: object) -> None:
        raise KafkavizError(verbatim("the disk is gone"))

    monkeypatch.setattr(broker_health, "check", failing)
    # whatever another test's catalog tells
    monkeypatch.setattr(broker_cache, "catalog_health", lambda snapshot: None)
    at = page(damaged)
    assert "The check did not end" in page_html(at)
    monkeypatch.undo()
    press_label(at, "Check again")
    assert check_jobs().jobs()
    assert "the disk is gone" not in str([job.error for job in check_jobs().jobs()])


def test_what_was_mended_in_place_is_no_longer_reported(damaged, tmp_path):
    """`cp rebuilt/*.index try/` changes no folder, but findings and sidebar are updated."""
    copy = shutil.copytree(damaged / "bookings-0", tmp_path / "try" / "bookings-0")
    before = {item["code"] for item in sent(page(copy))["items"]}
    assert "index-offset-mismatch" in before
    source = open_rebuild_source(open_log_path(copy, NEWEST), {})
    for rebuilt_segment in source.rebuild_segments():
        for name, content in rebuilt_segment.files().items():
            with open(copy / name, "r+b") as file:
                file.write(content)
                file.truncate()
    at = page(copy)
    assert not any(item["severity"] == "error" for item in sent(at)["items"])
    assert "Health" in labels(at)


def test_check_again_reads_again(damaged, tmp_path, monkeypatch):
    copy = shutil.copytree(damaged / "bookings-0", tmp_path / "try" / "bookings-0")
    health = broker_health.check(copy)
    monkeypatch.setattr(broker_cache, "catalog_health", lambda snapshot: health)
    at = page(copy)
    (known,) = check_jobs().jobs()
    assert known.result is health
    wrong, slot = copy / "00000000000000000858.index", 3 * 8
    times, content = wrong.stat(), wrong.read_bytes()
    wrong.write_bytes(content[:slot] + bytes.fromhex("0000005b00002445") + content[slot + 8 :])
    os.utime(wrong, ns=(times.st_atime_ns, times.st_mtime_ns))
    press_label(at, "Check again")
    (known,) = check_jobs().jobs()
    assert known.wait_until_over(PATIENCE_S)
    assert known.result.counts["error"] == health.counts["error"] - 1


def test_a_fresh_catalog_shows_the_same(damaged, monkeypatch):
    read_here = sent(page(damaged))
    (known,) = check_jobs().jobs()
    monkeypatch.setattr(
        broker_cache,
        "catalog_health",
        lambda snapshot: broker_health.Health(
            broker=snapshot.broker,
            assumed_release=known.result.assumed_release,
            findings=known.result.findings,
            restart=known.result.restart,
            retention=known.result.retention,
        ),
    )
    st.cache_resource.clear()
    monkeypatch.setattr(broker_health, "check", None)
    assert {**sent(open_page("health", dir=damaged)), "key": ""} == {**read_here, "key": ""}


def test_the_sidebar_counts_the_errors_that_a_fresh_catalog_tells(damaged, monkeypatch):
    health = broker_health.check(broker_cache.broker(damaged))
    monkeypatch.setattr(
        broker_cache, "catalog_error_count", lambda snapshot: health.counts["error"]
    )
    at = open_page(dir=damaged)
    assert not check_jobs().jobs()
    assert f"Health :red[**{health.counts['error']}**]" in labels(at)


def test_a_large_directory_is_left_to_spark(damaged, monkeypatch):
    """No thread of the server reads it, whatever the release; the page names the command for one."""
    monkeypatch.setattr("kafkaviz.app.state.check_jobs.LARGE_BYTES", 1000)
    # whatever another test's catalog tells
    monkeypatch.setattr(broker_cache, "is_fresh", lambda snapshot: False)
    at = open_page("health", dir=damaged, kafka="3.9")
    words = page_html(at)
    assert "Spark" in words and not check_jobs().jobs()
    assert "not as Kafka 3.9" in words and f"kafkaviz check {damaged} --kafka-version 3.9" in words
    words = page_html(press_label(at, "As the release inferred from the files"))
    assert "Spark" in words and not check_jobs().jobs()
    assert "not as Kafka" not in words and "kafka" not in at.query_params


def test_the_catalogs_findings_of_a_large_directory_show_whatever_was_chosen(damaged, monkeypatch):
    """They are shown at once, and no check starts."""
    health = broker_health.check(broker_cache.broker(damaged))
    monkeypatch.setattr("kafkaviz.app.state.check_jobs.LARGE_BYTES", 1000)
    monkeypatch.setattr(broker_cache, "catalog_health", lambda snapshot: health)
    monkeypatch.setattr(broker_cache, "is_fresh", lambda snapshot: True)
    monkeypatch.setattr(broker_health, "check", None)
    at = open_page("health", dir=damaged, kafka="2.2")
    assert sent(at)["key"].endswith(" ")
    assert "not as Kafka 2.2" in page_html(at)


def test_nothing_in_the_directory_changes(damaged, tmp_path, fingerprint):
    copy = shutil.copytree(damaged, tmp_path / "copy")
    before = fingerprint(copy)
    page(copy)
    assert fingerprint(copy) == before


def test_the_release_is_chosen_from_a_menu(damaged):
    """The button shows the release, and the menu offers the traces again."""
    menu = release_menu(page(damaged))
    assert menu.label == "As Kafka 4.3.1, inferred from the files"
    assert "As Kafka 2.8" in " ".join(menu.options)
    assert menu.label not in menu.options
    menu = release_menu(page(damaged, kafka="2.2"))
    assert menu.label == "As Kafka 2.2"
    assert menu.options[0] == "As the release inferred from the files"
    assert menu.label not in menu.options


def test_a_release_that_nothing_decides_is_the_newest_known(tmp_path):
    """It is marked as not shown by traces."""
    make_segment(tmp_path / "orders-0", 0, 0, [])
    (tmp_path / "meta.properties").write_text("version=1\n")
    assert release_menu(page(tmp_path)).label == f"As Kafka {NEWEST}, the newest known"
