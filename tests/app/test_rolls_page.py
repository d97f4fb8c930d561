"""The Rolls page without a browser: findings, settings, refusals, and downloads."""

import io
import re
import tarfile

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.app import workloads
from kafkaviz.app.cache import broker_cache, simulation_cache
from kafkaviz.app.pages import rolls_controls
from kafkaviz.app.pages.rolls import rolls_on_disk
from kafkaviz.app.workloads import config_of
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import say
from kafkaviz.render.roll_text import cause_name
from kafkaviz.simulate.producers.workload import to_toml
from kafkaviz.simulate.writer.roll_reason import RollCause
from tests.support.pages import (
    assert_no_exception,
    move_slider,
    open_page,
    page_html,
    press_button,
    select_option,
    slider,
)

T = "\u202f"
SMALL = """
topic = "small"
[settings]
"segment.bytes" = 1048576
"segment.ms" = 60000
[[phase]]
duration = "30s"
bytes_per_s = 100000
batch_bytes = 4096
"""


pytestmark = pytest.mark.usefixtures("starts")


def page(**query: str) -> AppTest:
    return open_page("rolls", **query)


def test_the_page_as_it_opens():
    at = page()
    text = page_html(at)
    assert "<h1>Rolls</h1>" in text
    assert "is the active segment full, too old, or out of index slots?" in text
    assert "16 rolls: 5 by size, 3 by time, 8 by time index" in text
    assert "The first 10 of 17 are drawn." in text
    labels = [expander.label for expander in at.expander]
    assert labels == [say("rolls.more_settings"), say("rolls.every_roll")]
    assert f"2{T}729 of 2{T}729 usable slots" in text
    assert text.count("> 16\u202f777\u202f216 B".replace(">", "&gt;")) == 5
    assert len(at.get("plotly_chart")) == 1 and say("rolls.before_after") not in text
    assert slider(at, "segment.bytes").value == "16 MiB"


@pytest.mark.parametrize(
    ("name", "broker_names"),
    [
        ("segment.ms", "log.roll.ms → log.roll.hours"),
        ("segment.index.bytes", "log.index.size.max.bytes"),
    ],
)
@pytest.mark.parametrize("query", [{}, {"tp": "tiny-index-0", "of": "tiny-index-0"}])
def test_a_setting_says_what_a_broker_calls_it(name, broker_names, query):
    """Above a slider and for a log on disk: its first name below the topic's, all in a tooltip."""
    first = broker_names.partition(" ")[0]
    label = f'<span title="on a broker: {broker_names}">{name} <small>{first}</small></span>'
    assert label in page_html(page(**query))


REASON = re.compile(r"<span>([^<]+)</span><b>([^<]+)</b><small[^>]*>([^<]+)</small>")


def test_every_reason_to_roll_is_named_with_its_setting():
    """Those that did not occur have a plain 0."""
    fixed = say("rolls.offset_range_limit")
    settings = ["segment.bytes", "segment.ms", "segment.index.bytes", "segment.index.bytes", fixed]
    names = [cause_name(cause) for cause in RollCause]
    for query, counts in (({}, "53080"), ({"tp": "heartbeat-0", "of": "heartbeat-0"}, "30000")):
        found = REASON.findall(page_html(page(**query)))
        assert found == list(zip(names, counts, settings, strict=True))


def test_the_limits_have_a_tab_and_so_do_the_appends():
    at = page(tab="Limits")
    text = page_html(at)
    assert "time decides; above it, time index" in text
    assert (  # 16 773 799 B / 2 061 entries
        "Segment 0 rolls by size all the same. It was written at 400 kB/s, so its time entries are "
        f"8{T}139 B apart. With this gap, 16 MiB of .log have 2{T}061 time entries, and the time "
        f"index has room for 2{T}729."
    ) in text
    assert len(at.get("plotly_chart")) == 1
    assert not page(tab="Growth").get("plotly_chart")


def test_a_link_to_a_story_opens_its_tab():
    assert "Batches of one record, 119 B" in page_html(page(story="A full time index"))
    assert not page(step="17").get("plotly_chart")


def test_a_slider_changes_the_run_and_is_compared_with_the_workload():
    """With the workload's own values, however many sliders were moved before."""
    at = move_slider(move_slider(page(), "segment.ms", "30 s"), "segment.bytes", "8 MiB")
    text = page_html(at)
    assert "segment.bytes 16 MiB → 8 MiB, segment.ms 1 min → 30 s" in text
    head = f'<th class="r">{say("rolls.workload_values")}</th>'
    assert head in text and '<td>Segments</td><td class="r">17</td>' in text
    press_button(at, "kv_anew")
    assert head not in page_html(at)


def test_the_address_brings_a_run_back():
    at = page(
        workload="Steady 400 kB/s", size="4 MiB", room="8 KiB", speed="half", **{"from": "11–20"}
    )
    assert "11 to 20 of" in page_html(at)
    assert slider(at, "Throughput").value == "half"


def test_an_odd_address_is_passed_over():
    at = page(
        workload="<b>", size="3 apples", of="nowhere-0", speed="-1", tab="?", **{"from": "99"}
    )
    assert "16 rolls: 5 by size" in page_html(at)


@pytest.mark.parametrize(
    ("room", "words", "why"),
    [
        (
            "8 B",
            "No log can be opened: an index file without room for one entry cannot be created",
            "Invalid max index size: 8",
        ),
        ("12 B", "A roll at every append", "reserved for the end of the segment"),
    ],
)
def test_an_index_that_cannot_work_is_explained(room, words, why):
    at = page(workload="Steady 400 kB/s", room=room)
    text = page_html(at)
    assert words in text and why in text
    is_drawn = room == "12 B"
    assert bool(at.get("plotly_chart")) == is_drawn
    assert (f"1{T}023 rolls: 1{T}023 by time index" in text) == is_drawn
    assert (f"batches in 1{T}024 segments" in text) == is_drawn


def test_a_batch_larger_than_its_segment_is_explained():
    """Kafka's own words; nothing else is drawn if it is the first batch."""
    at = page(workload="Steady 400 kB/s", size="4 KiB")
    text = page_html(at)
    assert "Kafka refuses a batch of this workload" in text
    assert "RecordBatchTooLargeException" in text
    assert "A toy size" in text
    assert "<h1>Rolls</h1>" in text and not at.get("plotly_chart")


@pytest.mark.slow
def test_every_workload_runs():
    at = page()
    for name in workloads.by_title():
        select_option(at, "Workload", name)
        assert "roll" in page_html(at), name


def test_a_workload_of_ones_own():
    at = page(workload=workloads.OWN_TITLE)
    at.text_area[0].set_value(SMALL).run()
    assert "2 rolls: 2 by size" in page_html(assert_no_exception(at))
    at.text_area[0].set_value(SMALL.replace('"30s"', '"soon"')).run()
    assert "This is not a workload yet" in page_html(assert_no_exception(at))
    assert "duration" in page_html(at)
    assert workloads.parse_own(to_toml(workloads.parse_own(SMALL))) == workloads.parse_own(SMALL)


def test_the_breadcrumbs_name_what_is_shown():
    at = page(tp="tiny-index-0")
    assert f">{say('rolls.simulated')}</span>" in page_html(at) and not at.get("menu_button")
    at = page(tp="tiny-index-0", of="tiny-index-0")
    assert f">{say('rolls.simulated')}</span>" not in page_html(at)
    assert at.get("menu_button")[1].proto.label.replace("\\", "") == "tiny-index-0"


def test_a_partition_on_disk():
    text = page_html(page(tp="tiny-index-0", of="tiny-index-0"))
    assert (
        "29 segments of tiny-index-0, in their current state. Causes are inferred from the files on disk."
    ) in text
    assert "28 rolls: 28 by time index" in text and "24 of 24 usable slots" in text
    assert "<b>300 B</b>" in text
    assert "from the topic settings" in text
    assert "29 segments on disk" in text
    text = page_html(page(tp="heartbeat-0", of="heartbeat-0"))
    assert "3 rolls: 3 by size" in text and f"inferred, 1{T}048{T}527–1{T}048{T}587" in text


def test_a_partition_without_a_record():
    at = page(tp="empty-room-1", of="empty-room-1")
    assert "No records, so no rolls" in page_html(at) and not at.get("plotly_chart")


def test_a_directory_that_is_not_there():
    assert "16 rolls: 5 by size" in page_html(page(dir="/nowhere"))


def test_the_archive_opens_like_any_directory(tmp_path):
    """The same segments and rolls as on the page, with every record."""
    workload = workloads.parse_own(SMALL)
    config = config_of(workload, {})
    data = simulation_cache.archive(workload, config)
    (tmp_path / "small.tar.gz").write_bytes(data)
    partition = open_broker(tmp_path / "small.tar.gz").partition("small-0")
    history = simulation_cache.simulate(workload, config).history
    assert [segment.base_offset for segment in partition.live] == [
        segment_history.base_offset for segment_history in history.segments
    ]
    for segment, segment_history in zip(partition.live, history.segments, strict=True):
        batches = segment.batches()
        assert batches["size_bytes"].sum() == segment_history.log_bytes
        assert len(segment.offset_index) == segment_history.offset_entries
        assert len(segment.records(int(batches["position"][-1]))) == batches["record_count"][-1]
    with tarfile.open(fileobj=io.BytesIO(data)) as packed:
        assert f"small/small-0/{0:020d}.timeindex" in packed.getnames()


def test_an_empty_segment_is_on_disk_too(tmp_path):
    """Nothing rolled, but the segment is counted, above and in the panel."""
    (tmp_path / "void-0").mkdir()
    for suffix in ("log", "index", "timeindex"):
        (tmp_path / "void-0" / f"{0:020d}.{suffix}").touch()
    (tmp_path / "meta.properties").write_text("version=1\n")
    text = page_html(page(dir=str(tmp_path), of="void-0"))
    assert "1 segment of void-0" in text
    assert "1 segment on disk" in text
    assert "No records, so no rolls" in text


@pytest.mark.parametrize(
    "name", ["Sensors without batching", "A published example", "Two years copied in two minutes"]
)
def test_what_is_inferred_on_disk_is_what_was_simulated(name, tmp_path):
    workload = workloads.by_title()[name]
    config = config_of(workload, {})
    (tmp_path / "made.tar.gz").write_bytes(simulation_cache.archive(workload, config))
    snapshot = broker_cache.open_snapshot(tmp_path / "made.tar.gz")
    partition = snapshot.broker.partition(workload.directory)
    inferred = causes(rolls_on_disk(snapshot, partition).history)
    assert inferred == causes(simulation_cache.simulate(workload, config).history)
    assert len(inferred) > 3


def causes(history: RollHistory) -> list[RollCause | None]:
    reasons = [segment.reason for segment in history.segments]
    return [reason.cause if reason else None for reason in reasons]


def test_throughput_and_batch_size_change_the_stream():
    workload = workloads.parse_own(SMALL)
    config, as_it_is = config_of(workload, {}), rolls_controls.AS_IT_IS
    slower = rolls_controls.scale_workload(workload, "half", as_it_is)
    smaller = rolls_controls.scale_workload(workload, as_it_is, "one record")
    log = simulation_cache.simulate(workload, config)
    half = simulation_cache.simulate(slower, config)
    single = simulation_cache.simulate(smaller, config)
    assert half.history.log_bytes == pytest.approx(log.history.log_bytes / 2, rel=0.01)
    assert single.load.records_per_batch == 1
    assert len(single.appended_batches) > 10 * len(log.appended_batches)


def test_a_compressed_stream_is_not_generated_without_end():
    """Their size is known only after compression, so the page stops after some of them and says so."""
    workload = workloads.parse_own(
        SMALL.replace('"30s"', '"365d"').replace("100000", "1000000") + 'codec = "lz4"\n'
    )
    run = simulation_cache.simulate(workload, config_of(workload, {"segment.bytes": 1 << 26}))
    assert run.is_cut
    assert run.history.log_bytes < simulation_cache.MAX_COMPRESSED_BYTES + (64 << 20)
    assert not run.error


def test_the_page_in_another_language(chinese):
    """Numbers and the address are the same in every language."""
    at = page(workload="A published example", speed="half")
    text = page_html(at)
    assert "<h1>滚动</h1>" in text
    assert "次滚动：时间索引" in text
    assert "24 个可用槽已用 24 个" in text
    assert at.selectbox(key="workload").value == "A published example"
    assert "一个公开发表的例子" in at.selectbox(key="workload").options
    assert "Strimzi 关于日志段保留的文章" in text and ">一半</b>" in text
    select_option(at, "负载", "Heartbeats")
    assert at.query_params["workload"] in ("Heartbeats", ["Heartbeats"]) and "心跳" in page_html(at)


def test_changes_are_described_in_words(chinese):
    """Links have the settings of a run; the page describes them in the reader's language."""
    text = page_html(move_slider(page(), "吞吐量", "half"))
    assert "吞吐量 不变 → 一半" in text and "throughput" not in text


def test_what_comes_along_is_called_as_its_file_says():
    for title, workload in workloads.by_title().items():
        assert rolls_controls.option_text(title) == workload.title
        assert workloads.story_text(title) == workload.story
    options = (*rolls_controls.SPEEDS, *rolls_controls.BATCH_ORDER)
    for option in (*options, workloads.NONE, workloads.OWN_TITLE):
        assert rolls_controls.option_text(option) == option


def test_a_select_box_follows_the_language_switch():
    """The browser keeps the label that it was last sent, so the new one must be sent."""
    at = page()
    assert_no_exception(at.button(key="kv_lang_zh").click().run())
    box = at.selectbox(key="workload")
    assert box.value == "A day in ten minutes"
    assert (box.proto.set_value, box.proto.raw_value) == (True, "十分钟里的一天")
