"""The tab Retention of the Disk page: sliders, the command for them, and what they free."""

import shutil
from pathlib import Path

import pytest

from kafkaviz.analysis.compaction.compaction import compaction
from kafkaviz.app.cache.broker_cache import open_snapshot
from kafkaviz.app.state import cleaning_jobs
from kafkaviz.format.names import CLEANER_CHECKPOINT
from kafkaviz.units import format_bytes
from tests.app.fakes import cancelled_job
from tests.support.brokers import copy_partitions
from tests.support.pages import (
    move_slider,
    open_page,
    page_html,
    press_button,
    query_value,
    select_option,
)

pytestmark = pytest.mark.usefixtures("starts", "patient")


@pytest.fixture(scope="module")
def some_topics(clean, tmp_path_factory):
    """Returns a part of the clean broker, with the settings of its topics."""
    names = ("__cluster_metadata-0", "accounts-0", "orders-1", "sensors-late-0", "weblogs-0")
    return copy_partitions(clean, tmp_path_factory.mktemp("some") / "topics", names)


def opened(directory, **query):
    return open_page("disk", dir=directory, tab="Retention", **query)


def test_all_topics_under_todays_limits(some_topics):
    at = opened(some_topics)
    html = page_html(at)
    assert "would delete 4 of 7 segments" in html and "The clock of this page is 2026-" in html
    assert not at.code and html.count("kv-freed") == 1
    assert "__cluster_metadata" in html and "metadata.max.retention.bytes" in html


def test_a_slider_frees_less_and_gives_the_command(some_topics):
    at = move_slider(opened(some_topics), "retention.ms", "no limit")
    (code,) = at.code
    assert code.value.startswith("for topic in ") and "retention.ms=-1" in code.value
    assert "less than today" in page_html(at) and query_value(at, "keep_time") == "no limit"
    at = select_option(at, "Topic", "sensors-late")
    (code,) = at.code
    assert "--entity-name sensors-late --alter --add-config retention.ms=-1" in code.value
    at = move_slider(at, "retention.ms", "7 d")
    assert not at.code and "less than today" not in page_html(at)


def test_a_limit_that_the_broker_sets_removes_the_topics_own(some_topics, tmp_path):
    """A broker that shows no limit may have one, so Kafka's default is set explicitly."""
    alter = "--entity-name weblogs --alter"
    (code,) = opened(some_topics, topic="weblogs", keep_size="no limit").code
    assert code.value.endswith(f"{alter} --add-config retention.bytes=-1")
    directory = Path(shutil.copytree(some_topics, tmp_path / "broker"))
    (directory / "server.properties").write_text("log.retention.bytes=-1\n")
    (code,) = opened(directory, topic="weblogs", keep_size="no limit").code
    assert code.value.endswith(f"{alter} --delete-config retention.bytes")


def test_limits_for_all_topics_leave_out_the_topics_of_kafka(some_topics, tmp_path):
    directory = Path(shutil.copytree(some_topics, tmp_path / "broker"))
    shutil.copytree(directory / "orders-1", directory / "__remote_log_metadata-0")
    at = opened(directory, keep_time="no limit")
    (code,) = at.code
    assert "orders" in code.value and "__remote_log_metadata" not in code.value
    assert "Left out: 1 topic whose name begins with __" in page_html(at)
    at = opened(directory, keep_time="no limit", topic="__remote_log_metadata")
    (code,) = at.code
    assert "--entity-name __remote_log_metadata" in code.value and "Left out" not in page_html(at)


def test_a_topic_named_like_a_pattern_is_one_topic(some_topics, tmp_path):
    directory = Path(shutil.copytree(some_topics, tmp_path / "broker"))
    shutil.copytree(directory / "orders-1", directory / "*-0")
    at = opened(directory, topic="*", keep_time="no limit")
    (code,) = at.code
    assert "--entity-name '*' --alter" in code.value


def test_cancelled_decisions_can_be_started_again(some_topics):
    snapshot = open_snapshot(str(some_topics))
    cleaning_jobs.decision_jobs().forget(lambda key: key == snapshot.key)
    cleaning_jobs.decision_jobs().get_or_start(snapshot.key, cancelled_job)
    at = opened(some_topics, topic="accounts")
    assert "It was cancelled." in page_html(at) and not at.select_slider
    at = press_button(at, "kv_cleaning_again")
    assert [slider.label for slider in at.select_slider] == ["min.cleanable.dirty.ratio"]


def test_a_cancelled_cleaning_says_so(some_topics, tmp_path):
    directory = Path(shutil.copytree(some_topics, tmp_path / "broker"))
    (directory / CLEANER_CHECKPOINT).unlink()
    snapshot = open_snapshot(str(directory))
    cleaning_jobs.cleaning_jobs().get_or_start((snapshot.key, "accounts-0"), cancelled_job)
    at = opened(directory, topic="accounts", dirty_ratio="0.9")
    assert "accounts-0: it was cancelled." in page_html(at)
    assert "one cleaning frees" in page_html(press_button(at, "kv_clean_again_accounts-0"))


def test_a_compacted_topic_has_a_dirty_ratio(some_topics):
    at = opened(some_topics, topic="accounts", dirty_ratio="0.9")
    assert [slider.label for slider in at.select_slider] == ["min.cleanable.dirty.ratio"]
    html = page_html(at)
    assert "With min.cleanable.dirty.ratio 0.9, the cleaner now takes 0 of 1 log" in html
    assert at.code[0].value.endswith("--add-config min.cleanable.dirty.ratio=0.9")


def test_a_log_that_the_cleaner_takes_says_what_that_frees(some_topics, tmp_path):
    """Without a checkpoint all of the log but its active segment is dirty."""
    directory = Path(shutil.copytree(some_topics, tmp_path / "broker"))
    (directory / CLEANER_CHECKPOINT).unlink()
    html = page_html(opened(directory, topic="accounts", dirty_ratio="0.9"))
    (partition,) = compaction(directory).partitions
    assert "With min.cleanable.dirty.ratio 0.9, the cleaner now takes 1 of 1 log" in html
    assert f"one cleaning frees {format_bytes(partition.cleaned.bytes_freed)}" in html
