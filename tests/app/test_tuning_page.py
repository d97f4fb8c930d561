"""The Tuning page without a browser: its answer, controls, refusals, and downloads."""

import json
import re
import threading
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz import units
from kafkaviz.analysis import rebuild
from kafkaviz.analysis.batching.ranking import measure_batching
from kafkaviz.analysis.tuning.interval_cost import Budgets
from kafkaviz.analysis.tuning.recommendation import recommend_all
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.app import access
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.pages import tuning as tuning_page
from kafkaviz.app.pages import tuning_context, tuning_index
from kafkaviz.app.pages.tuning_scopes import directory_request
from kafkaviz.app.state import measure_jobs
from kafkaviz.app.workloads import OWN_TITLE
from kafkaviz.errors import CorruptFile, KafkavizError
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import verbatim
from tests.conftest import SAMPLES
from tests.support.pages import (
    PATIENCE_S,
    assert_no_exception,
    move_slider,
    open_page,
    page_html,
    press_button,
    query_value,
    select_option,
    slider,
)

T = "\u202f"
SMALL = """
topic = "small"
[[phase]]
duration = "30s"
bytes_per_s = 100000
batch_bytes = 4096
"""


@pytest.fixture(autouse=True)
def quiet(starts, monkeypatch) -> None:
    monkeypatch.setattr(tuning_page, "PATIENCE_S", PATIENCE_S)
    monkeypatch.setattr(tuning_page, "RECORDS_PATIENCE_S", PATIENCE_S)


@pytest.fixture(autouse=True)
def quick(monkeypatch) -> None:
    """Measures the records for a moment only."""
    quick_measure = partial(measure_batching, seconds=0.1)
    monkeypatch.setattr(measure_jobs, "measure_batching", quick_measure)


def page(**query: str) -> AppTest:
    return open_page("tuning", **query)


def test_the_batches():
    """The verdict, a row per setting, the reasons, and the producers; no record is shown."""
    at = page(tp="payments-0", tab="Batches")
    text = page_html(at)
    assert "Keep the batches as they are" in text
    assert "Today a batch holds 11.4 records in 1.49 KiB, and headers take 4.0 % of the log" in text
    assert "Larger batches would save at most 2 % of the log" in text
    assert "inferred from the gaps between the batches of each producer" in text
    assert '<td>2</td><td class="r">855 KiB</td><td class="r">565</td>' in text
    assert len(at.get("plotly_chart")) == 1 and not at.code


def test_the_codecs_of_another_batch_size():
    """payments-0 is not compressed: the line to run, its price, and one row per codec."""
    at = page(tp="payments-0", tab="Codec")
    text = page_html(at)
    assert "From none to zstd" in text and "Bytes and times were measured on this machine" in text
    assert at.code[0].value == "compression.type=zstd"
    assert "Pack 1 MiB of records" in text
    at = page(tp="payments-0", packed_in="131072")
    assert at.session_state["tab"] == "Codec"
    assert at.query_params["packed_in"] in ("131072", ["131072"])


def test_a_workload_has_no_records_to_pack():
    assert "A workload has no records of its own" in page_html(page(tune="Workload", tab="Codec"))


def test_records_are_measured_in_the_background(monkeypatch, nothing_cached):
    """The page shows the progress and a button that cancels it."""
    go = threading.Event()

    def slow(source, *, on_progress):
        on_progress("orders", 0.5)
        go.wait(PATIENCE_S)
        on_progress("orders", 0.6)

    monkeypatch.setattr(tuning_page, "RECORDS_PATIENCE_S", 0.05)
    monkeypatch.setattr(measure_jobs, "measure_batching", slow)
    at = page(tp="orders-0", tab="Batches")
    assert "Records are sampled, merged and packed again" in page_html(at)
    still = "Keep index.interval.bytes = 4096. Batches and codec are still being measured."
    assert still in page_html(at)
    at = press_button(at, "kv_tuning_cancel")
    go.set()
    (job,) = measure_jobs.batching_jobs().jobs()
    assert job.state == "cancelled" and "Measuring was cancelled" in page_html(at.run())


def test_the_page_opens_with_both_curves_and_the_verdict():
    """The change that matters most, cost over interval and index size, and both costs in a table."""
    at = page(tp="payments-0")
    text = page_html(at)
    assert at.session_state["tab"] == "Index"
    assert "The codec matters most: zstd instead of none saves" in text
    assert f"payments-0: 2{T}167 batches of 78 to 2{T}903 B, 2.38 MiB of log in 3 segments." in text
    assert f"Keep 4{T}096" in text
    assert "about 10 µs, at worst 22 µs (modelled), within the budget of 50 µs" in text
    assert "too little to be worth a change" in text
    assert f'<th class="r">4{T}096, today</th><th class="r">16{T}384</th>' in text
    assert '<td class="r">9.57 KiB</td><td class="r">2.80 KiB</td>' in text
    assert '<td class="r">≈ 10 µs</td><td class="r">≈ 20 µs</td>' in text
    assert "A lookup reads 3.7 headers at 4 KiB, and 9.0 headers at 16 KiB" in text
    assert f"Keep 4{T}096: p99 is typically 10 µs, within the 50 µs budget (22 µs at worst)" in text
    assert (
        "Index size hardly changes the lookup time. "
        "Below 2.43 KiB the time index fills first and ends segments (interval 4 KiB)"
    ) in text
    assert (
        "The curve is for an interval of 16 KiB (today 4 KiB). With indexes of 64 B, a lookup on "
        "cold pages takes 370 µs instead of 375 µs, and there are 15 times as many rolls. Times are "
        "modelled; rolls are counted."
    ) in text
    assert slider(at, "index.interval.bytes").value == "16384"
    sizes = slider(at, "segment.index.bytes")
    assert sizes.value == "10 MiB" and (sizes.options[0], sizes.options[-1]) == ("64 B", "64 MiB")
    assert (
        "Exact: 491 offset and 489 time entries, both on disk and in a replay of the log; "
        "times are modelled with preset costs"
    ) in text
    assert "makes a lookup 0.5 µs faster on average; that is at most 0.23 % of a fetch" in text
    assert "Keep segment.bytes = 1048576" in text and "Kept beyond retention" in text
    assert "Today 1 MiB, inferred from the rolls" in text
    assert "memory maps once every index is loaded" in text
    assert not at.code  # the verdict proposes no change
    assert len(at.get("plotly_chart")) == 3


def assert_titles(text: str, *, is_full: bool = False) -> None:
    """Asserts that the curve's title begins with the verdict, and that the other one says whether
    the index ends segments today.
    """
    titles = re.findall(r'class="kv-figt">(.*?)<', text)
    verdict = re.search(r'<h2 class="w">.*</span>(.*?)</h2>', text)
    assert verdict and titles[0].startswith(verdict[1])
    assert "A lookup reads " in text
    assert (", as today, " in titles[1]) == is_full


def test_only_a_change_has_a_command():
    """dense-index-0 has an index.interval.bytes of 0, which costs 16 times the index for nothing."""
    at = page(tp="dense-index-0", tab="Index")
    assert f"Raise 0 to 8{T}192" in page_html(at)
    assert "--add-config index.interval.bytes=8192" in at.code[0].value
    assert_titles(page_html(at))


def test_tiny_batches_are_not_mended_by_an_interval():
    """heartbeat-0 has one record per batch, so the interval is only a trade."""
    text = page_html(page(tp="heartbeat-0", tab="Index"))
    assert_titles(text)
    assert f"Keep 4{T}096" in text and "Larger batches would cut" in text
    assert "about 41 µs, within the budget of 50 µs, but at worst 90 µs (modelled)" in text
    assert "headers at 4 KiB, and " in text
    assert "p99 is typically 41 µs, within the 50 µs budget (90 µs at worst). " in text
    assert f"2{T}048 would save 19 µs for 17.4 KiB more index" in text
    assert ", although p99 may be above its budget in the worst case." in text
    assert f"<b>2{T}048, today 4{T}096</b>" in text


def test_an_interval_that_no_file_sets_is_not_called_todays():
    archive = str(SAMPLES / "kafka-4.3.1-killed-selection.tar.gz")
    text = page_html(page(dir=archive, tune="Whole broker", tab="Index"))
    assert f'<th class="r">4{T}096, assumed</th>' in text
    assert "096, today" not in text


def test_the_slider_considers_another_interval():
    """Both curves are drawn for it."""
    at = page(tp="payments-0", consider="65536")
    assert "3.7 headers at 4 KiB, and 29.9 headers at 64 KiB" in page_html(at)
    text = page_html(move_slider(at, "index.interval.bytes", "2048"))
    assert "headers at 2 KiB" in text
    assert "The curve is for an interval of 2 KiB (today 4 KiB). With indexes of 512 B, " in text
    text = page_html(move_slider(at, "segment.index.bytes", "64 MiB"))
    assert "as many rolls as today" in text and query_value(at, "if_room") == "64 MiB"
    text = page_html(press_button(at, "kv_today"))
    assert f"<b>4{T}096, today</b>" in text
    assert f'<th class="r">16{T}384</th>' not in text


def test_budgets_change_the_answer():
    """payments-0 misses a p99 of 10 µs; older releases read each header twice."""
    at = page(tp="payments-0", p99="10 µs warm")
    text = page_html(at)
    assert "at worst 22 µs (modelled), above the budget of 10 µs" in text
    assert_titles(text)
    text = page_html(page(tp="payments-0", storage="hdd", reads="3.9.0"))
    assert "(measured on one machine)" in text
    assert "of the .log from hdd" in text
    assert "This already allows for up to 4 dead maps" in text


def test_an_odd_address_is_passed_over():
    """So is the name of a tab in an earlier release."""
    odd = {"consider": "3 apples", "p99": "<b>", "tune": "nowhere", "storage": "tape"}
    odd |= {"if_size": "-1", "reads": "1", "tiered": "?", "tab": "Answer"}
    at = page(tp="payments-0", **odd)
    assert f"Keep 4{T}096" in page_html(at)
    assert at.session_state["tab"] == "Index"


@pytest.mark.slow
def test_the_whole_broker_topic_by_topic():
    """The densest topic first, each with its own answer; the metadata log is left out."""
    at = page(tune="Whole broker", tab="Index")
    text = page_html(at)
    assert (
        "in 90 segments. Not counted: 3 segments that are not in use (-delete, .deleted), and "
        "__cluster_metadata."
    ) in text
    assert "The whole broker: 54" in text and "Topic by topic, the densest index first" in text
    densest = [
        text.index(f"<td>{name}</td>") for name in ("tiny-index", "dense-index", "heartbeat")
    ]
    assert densest == sorted(densest)
    assert "topics would gain from an interval of their own" in text
    assert "__cluster_metadata is not changed" in text
    assert not at.code
    assert "time entries, from a replay of the log; times are modelled with" in text
    assert "every batch of the broker, so topics with many small batches count most" in text
    assert "The effect of a different segment.index.bytes is computed from the appends" in text
    select_option(at, "Open a topic", "payments-0")
    assert f"Keep 4{T}096" in page_html(at) and at.query_params["tp"] == "payments-0"


def test_another_index_size():
    """Kafka rolled the log by an index of 300 B: the curve, the map, every size as a row."""
    at = page(tp="tiny-index-0", consider="150")
    text = page_html(at)
    assert_titles(text, is_full=True)
    assert (
        "A lookup takes 295 µs to 811 µs. Below 3.46 MiB, as today, the time index fills first and ends "
        "segments (interval 150 B)"
    ) in text
    assert "With indexes of 10 MiB, a lookup on cold pages takes 811 µs instead of 297 µs" in text
    assert f"and there are 12{T}341 times fewer " in text
    assert "294 µs to 17.6 ms if index.interval.bytes varies, and 295 µs to 811 µs if" in text
    assert "a lookup takes about 3.5 µs at this interval" in text
    assert len(at.get("plotly_chart")) == 3
    assert (
        '<tr class="on" aria-selected="true">'
        '<td class="r">300 B</td><td class="r">37, 24</td><td>time index</td>'
        f'<td class="r">5.69 KiB</td><td class="r">184{T}144</td><td class="r">1{T}763</td>'
        '<td class="r">24</td><td class="r">1.5</td><td class="r">5.7 (5.7)</td>'
        '<td class="r">1.0</td><td class="r">1.0</td><td class="r">≈ 297 µs</td></tr>'
    ) in text
    move_slider(at, "segment.index.bytes", "64 KiB")
    text = page_html(at)
    assert "With indexes of 64 KiB, a lookup on cold pages takes 300 µs instead of 297 µs" in text
    assert "and there are 223 times fewer rolls." in text


def test_sizes_that_cannot_be_written_say_so(monkeypatch):
    """Such as for a batch larger than a segment."""
    monkeypatch.setattr(tuning_index.index_size, "sweep_index_sizes", lambda *_, **__: ())
    tuning_index._index_sizes.clear()
    text = page_html(page(tp="orders-0", tab="Index"))
    tuning_index._index_sizes.clear()
    assert "This log cannot be written with these settings" in text
    assert "a batch is larger than segment.bytes" in text


def test_a_topic_of_several_partitions():
    at = page(tp="orders-0", tune="all of orders", tab="Index")
    assert "all of orders: 599 batches" in page_html(at) and "Keep" in page_html(at)
    # a hyphen is kept from becoming a list
    options = {option.replace("\\", "") for option in at.get("button_group")[0].options}
    assert options == {"heartbeat-0", "orders-0", "all of orders", "Whole broker", "Workload"}


def test_the_log_written_again():
    """Smaller segments: as many as the writer makes of the same batches, next to today's."""
    text = page_html(page(tp="payments-0", consider="4096", if_size="4 MiB", if_room="4 KiB"))
    assert "Today 1 MiB, inferred from the rolls" in text
    assert ">segment.bytes</td>" in text and ">segment.index.bytes</td>" in text
    assert "Rolls by time index" in text
    assert ">segment.ms</td>" in page_html(page(tp="payments-0", if_age="1 min"))


def test_settings_that_kafka_does_not_take_are_explained(nothing_cached, monkeypatch):
    def refuses(*_, **__):
        raise KafkavizError(verbatim("with these settings Kafka fails with X: too large"))

    monkeypatch.setattr(rebuild, "compare", refuses)
    text = page_html(page(tp="payments-0", tab="Index"))
    assert "This log cannot be written with these settings" in text
    assert "Kafka fails with X: too large" in text
    assert "segment.index.bytes" in text


@pytest.mark.slow
def test_a_workload_that_comes_along_and_ones_own():
    at = page(tune="Workload", tab="Index")
    text = page_html(at)
    assert "Workload “Heartbeats”: 86" in text and f"Keep 4{T}096" in text
    assert_titles(text)
    select_option(at, "Workload", OWN_TITLE)
    at.text_area[0].set_value(SMALL).run()
    assert "Workload “Your own”: " in page_html(assert_no_exception(at))
    assert f"Keep 4{T}096" in page_html(at)
    at.text_area[0].set_value(SMALL.replace('"30s"', '"soon"')).run()
    assert "This is not a workload yet" in page_html(assert_no_exception(at))
    assert "duration" in page_html(at)
    assert not at.get("plotly_chart")


def test_a_log_without_a_batch():
    at = page(tp="empty-room-1")
    assert "No batches, so no lookups" in page_html(at) and not at.get("plotly_chart")


def test_a_directory_that_is_not_there_still_has_workloads():
    assert "Workload “Heartbeats”" in page_html(page(dir="/nowhere"))


def test_a_log_that_cannot_be_read_is_named(monkeypatch):
    def fails(*_, **__):
        raise CorruptFile("orders-0/00000000000000000000.log", 4, verbatim("batch length is -1"))

    monkeypatch.setattr(measure_jobs, "open_source", fails)
    text = page_html(page(tp="payments-0"))
    assert "This cannot be tuned" in text and "byte 4: batch length is -1." in text


def test_what_takes_long_is_read_in_the_background(monkeypatch):
    go, calls, right = threading.Event(), [], open_source

    def slow(*arguments, on_progress=lambda name, share: None, **more):
        calls.append(arguments)
        on_progress(f"payments-0/{0:020d}.log", 0.5)
        go.wait(PATIENCE_S)
        on_progress("payments-0/last.log", 0.0)
        return right(*arguments, **more)

    monkeypatch.setattr(tuning_page, "PATIENCE_S", 0.05)
    monkeypatch.setattr(measure_jobs, "open_source", slow)
    at = page(tp="payments-0")
    for _ in range(100):
        if "MiB of .log measured" in page_html(at.run()) and "B/s, about" in page_html(at):
            break
    first = open_broker(access.samples()[0]).partition("payments-0").live[0]
    assert (
        f"{units.format_bytes(first.log.size_bytes // 2)} of 2.38 MiB of .log measured"
        in page_html(at)
    )
    assert "kv-prog" in page_html(at)
    assert "<h1>Tuning</h1>" in page_html(at)
    at = press_button(at, "kv_tuning_cancel")
    (reading,) = measure_jobs.measure_jobs().jobs()
    assert reading.state == "cancelled" and "Measuring was cancelled" in page_html(at.run())
    go.set()
    reading.settle(PATIENCE_S)
    assert reading.result is None and len(calls) == 1
    monkeypatch.setattr(tuning_page, "PATIENCE_S", PATIENCE_S)
    assert "Measuring was cancelled" not in page_html(press_button(at, "kv_tuning_again"))
    assert len(calls) == 2


def test_a_cancelled_reading_can_be_begun_again():
    """It stays cancelled until someone asks again; the next one of the same key is a new thread."""
    snapshot = broker_cache.open_snapshot(access.samples()[0])
    request = directory_request(snapshot, "partition", "payments-0", None)
    first = measure_jobs.get_or_start(request)
    assert first.wait(PATIENCE_S)
    assert measure_jobs.get_or_start(request) is first
    assert first.result.total.measurement.parts.batches == 2167
    measure_jobs.restart(request)
    second = measure_jobs.get_or_start(request)
    second.cancel()
    assert second is not first and measure_jobs.get_or_start(request) is second
    measure_jobs.restart(request)
    assert measure_jobs.get_or_start(request) is not second


@pytest.mark.slow
def test_what_the_downloads_give():
    """The JSON of kafkaviz tune for this page, and the report of the whole directory."""
    at = page(tp="payments-0", tab="Index")
    labels = [element.proto.label for element in at.get("download_button")]
    assert "Report" in labels and "Download all as JSON" in labels
    downloads = page(tune="Workload").get("download_button")
    assert "Report" not in [element.proto.label for element in downloads]
    html_text = tuning_page.report(broker_cache.open_snapshot(access.samples()[0]))
    assert html_text.startswith("<!doctype html>") and "index.interval.bytes" in html_text
    source = open_source(open_broker(access.samples()[0]).partition("payments-0").path)
    budgets, costs = Budgets(), tuning_context.lookup_costs(source, "nvme")
    answer = tuning_context.answer("payments", budgets, costs, is_tiered=False, _source=source)
    tuned = json.loads(tuning_context.tuning_json(source, answer, budgets, costs))
    assert tuned["recommendation"]["verdict"] == "keep"
    assert tuned["current"]["on_disk"]["offset_entries"] == 491


def test_the_topics_as_csv():
    """2 167 batches have 491 entries of 8 B and 489 of 12 B; an empty topic has only its name."""
    broker = open_broker(access.samples()[0])
    names = ("payments-0", "empty-room-1")
    sources = [open_source(broker.partition(name).path) for name in names]
    cases = [source.total for source in sources]
    costs = tuning_context.lookup_costs(sources[0], "nvme")
    recommendations, _ = recommend_all(cases, cases[0], Budgets(), costs)
    payments, empty_room = tuning_page.topic_values(cases, recommendations)
    index_bytes = 491 * 8 + 489 * 12
    assert payments[:5] == ("payments-0", 2_495_056, 1151.4, 4096, index_bytes)
    assert payments[5:] == (3.673, 9, "keep", 4096)
    assert empty_room == ("empty-room-1", 0, *[""] * 7)
    assert len(payments) == len(empty_room) == len(tuning_page.TOPIC_COLUMNS)


def test_another_log_comes_with_its_own_interval():
    """The interval considered for one topic-partition does not apply to the next; budgets do."""
    at = page(tp="payments-0", p99="100 µs warm")
    move_slider(at, "index.interval.bytes", "1024")
    assert slider(at, "index.interval.bytes").value == "1024"
    at.query_params.clear()
    at.query_params["tp"] = "weblogs-0"
    at.query_params["tab"] = "Index"
    at.run()
    text = page_html(assert_no_exception(at))
    assert "weblogs-0: " in text
    assert slider(at, "index.interval.bytes").value != "1024"
    assert "within the budget of 100 µs" in text


def test_the_page_in_another_language(chinese):
    """The answer, its curve, the table and its reasons; numbers and the address are as in English."""
    query = {"tp": "payments-0", "p99": "100 µs warm"}
    at = page(**query)
    text = page_html(at)
    assert "<h1>调优</h1>" in text and f"保持 4{T}096" in text and "在 100 µs 的预算之内" in text
    assert "间隔 4 KiB 时一次查找读 3.7 个批次头，32 KiB 时读 16.0 个批次头" in text
    assert at.selectbox(key="p99").value == "100 µs warm"
    assert "已有的日志段：索引不会重写" in text and "how it is known" not in text.lower()
    select_option(at, "冷读来自", "hdd")
    assert at.query_params["storage"] in ("hdd", ["hdd"])
