"""The figures of the Rolls page: each view value by value, and its drawing."""

import json
import re
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
import pytest

from kafkaviz.analysis import roll_history
from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.analysis.roll_limits import WriteLoad
from kafkaviz.figures import theme
from kafkaviz.figures.rolls import growth as growth_figure
from kafkaviz.figures.rolls import limit_curves, roll_summary, roll_timeline
from kafkaviz.messages import say
from kafkaviz.render import roll_text
from kafkaviz.simulate import lesson_growth
from kafkaviz.simulate.appends import INCOMING
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import RollCause, RollReason
from kafkaviz.simulate.writer.writer import UnifiedLog
from tests.support.plotly_figures import notes, trace

MODES = ("light", "dark")
T = "\u202f"
START_MS = 1_700_000_000_000
OTHER_SETTINGS = "500 + 9, under settings other than today's"


def stream(count: int, size_bytes: int = 1000, apart_ms: int = 100) -> np.ndarray:
    rows = np.zeros(count, INCOMING)
    number = np.arange(count)
    rows["size_bytes"], rows["record_count"], rows["magic"], rows["marker"] = size_bytes, 1, 2, -1
    rows["base_offset"] = rows["last_offset"] = rows["deep_offset"] = rows["append"] = number
    rows["max_timestamp_ms"] = rows["now_ms"] = START_MS + number * apart_ms
    return rows


def written(config: LogConfig, rows: np.ndarray) -> tuple[RollHistory, np.ndarray]:
    log = UnifiedLog(config, now_ms=START_MS)
    log.append(rows.copy())
    thin = roll_history.appended_rows(rows)
    return roll_history.history_of_log(log.segments, thin, config), thin


def segment_history(reason: RollReason | None, ended_ms: int = 60_000, **more):
    values = {"opened_ms": 0, "log_bytes": 500, "is_active": False, **more}
    return roll_history.SegmentHistory(
        base_offset=0,
        ended_ms=ended_ms,
        offset_entries=1,
        time_entries=1,
        reason=reason,
        read_fills=lambda: np.zeros(1, roll_history.FILL),
        **values,
    )


# ---- the timeline


@pytest.mark.parametrize("mode", MODES)
def test_rows_run_to_the_limit_that_trips(mode):
    """Ten batches of 1000 B fill a segment of 10 000 B, so its size is at the top at the dot."""
    history, appended = written(LogConfig(segment_bytes=10_000), stream(35))
    view = roll_timeline.view(history, 0, appended)
    assert view.title == "3 rolls: 3 by size"
    assert view.caption.endswith("the first line to touch it causes the roll.")
    assert view.count == 4
    first = view.rows[0]
    assert (first.name, first.cause) == ("0", "size")
    assert (first.reason, first.colour) == (f"10{T}000 + 1{T}000 > 10{T}000 B", "log")
    assert first.lines[0].tolist() == [0, 0, 0, 0, 0]
    assert first.lines[-1, :2].tolist() == [1000, 1]
    assert first.lines[-1, 2] < 1
    assert first.lines[5, 1] == 0.5
    assert view.rows[-1].reason == "4.88 KiB"
    assert view.rows[-1].colour is None
    figure = roll_timeline.figure(view, mode)
    assert len(trace(figure, "roll").x) == 3
    assert list(trace(figure, "segments").base) == [0, 1000, 2000, 3000]
    # from the floor of the first box
    assert trace(figure, "size").y[0] == roll_timeline.STRIP_PX + 3 + roll_timeline.BOX_PX
    words = notes(figure)
    assert {"write speed", "base offset", "0", "time since the first batch of the log"} <= {*words}
    assert any("<b>size</b>" in word for word in words)
    assert any("still open" in word for word in words)


def test_how_a_segment_filled_is_worked_out_of_those_that_are_drawn():
    history, appended = written(LogConfig(segment_bytes=10_000), stream(400))
    roll_timeline.view(history, 14, appended)
    filled = [row for row, segment in enumerate(history.segments) if "fills" in vars(segment)]
    assert filled == list(range(14, 24))


def test_the_limit_that_trips_is_reached_between_two_appends():
    """The limit of 950 is between the appends at 900 and 1000 ms: the row ends at the top."""
    view = roll_timeline.view(written(LogConfig(segment_ms=950), stream(15))[0])
    lines = view.rows[0].lines
    assert lines[-2, 2] == 900 / 950 and lines[-1, :3].tolist() == [1000, lines[-2, 1], 1]


def test_a_long_log_is_drawn_page_by_page():
    """Ten rows per page, and a sentence that says which."""
    history, appended = written(LogConfig(segment_bytes=1000), stream(300))
    assert roll_timeline.view(history).caption.endswith("The first 10 of 300 are drawn.")
    later = roll_timeline.view(history, 28, appended)
    assert later.caption.endswith("29 to 38 of 300 are drawn.")
    assert later.rows[0].name == "28"
    assert later.start_ms == 2800
    assert len(roll_timeline.view(history, 10**6).rows) == 1
    slices = roll_timeline.page_slices(300)
    assert slices[0] == (0, 9)
    assert slices[-1] == (290, 299)
    assert all(a[1] + 1 == b[0] for a, b in pairwise(slices))
    figure = roll_timeline.figure(later, "light")
    assert figure.layout.xaxis.range[0] == 2800 and len(trace(figure, "segments").y) == 10


def test_words_next_to_a_row_end_within_a_narrow_chart():
    """On a page of 1024 px with seven rows, the text of the last is before it."""
    history, appended = written(LogConfig(segment_bytes=10_000), stream(70))
    view = roll_timeline.view(history, 0, appended)
    chart_px = roll_timeline.NARROW_PX - roll_timeline.LEFT_PX - roll_timeline.RIGHT_PX
    layout = roll_timeline.figure(view, "light").to_dict()["layout"]
    words = [words for words in layout["annotations"] if "size" in words["text"]]
    sides = {words["xanchor"] for words in words if "<b>size</b>" in words["text"]}
    for annotation in words:
        text = re.sub("<[^>]*>", "", annotation["text"])
        start_px = (annotation["x"] - view.start_ms) * chart_px / (view.end_ms - view.start_ms)
        if annotation["xanchor"] == "left":
            assert start_px + annotation["xshift"] + 5.3 * len(text) <= chart_px
        else:
            assert start_px + annotation["xshift"] - 5.3 * len(text) >= 0
    assert sides == {"left", "right"}


def test_what_was_written_is_described_in_spans():
    """Fast in large batches, then slow in small ones: two stretches with their own words."""
    fast, slow = stream(600, 8000, 20), stream(200, 2000, 60)
    slow["now_ms"] += 12_000
    slow["base_offset"] += 600
    appended = roll_history.appended_rows(np.concatenate([fast, slow]))
    segment = segment_history(None, int(appended["now_ms"][-1]), opened_ms=START_MS, is_active=True)
    view = roll_timeline.view(RollHistory((segment,), LogConfig()), 0, appended)
    assert len(view.write_spans) == 2
    first, two = view.write_spans
    assert first.bytes_per_s == pytest.approx(400_000, rel=0.02) and first.batch_bytes == 8000
    assert two.bytes_per_s == pytest.approx(33_333, rel=0.05)
    assert two.batch_bytes == pytest.approx(2000, rel=0.2)
    assert first.last_ms == two.first_ms
    assert "400 kB/s in 7.81 KiB batches" in [
        note.text for note in roll_timeline.figure(view, "dark").layout.annotations
    ]


@pytest.mark.parametrize(
    ("apart_ms", "ticks"),
    [
        (1, ["0", "0.005 s", "0.01 s"]),
        (150, ["0", "1 s", "2 s"]),
        (7500, ["0", "1 min", "2 min"]),
        (10**6, ["0", "2 h", "4 h"]),
    ],
)
def test_ticks_read_well(apart_ms, ticks):
    """Whole milliseconds, seconds, minutes or hours: at most nine, never 1.2 min."""
    view = roll_timeline.view(written(LogConfig(), stream(40, apart_ms=apart_ms))[0])
    axis = roll_timeline.figure(view, "light").layout.xaxis
    assert list(axis.ticktext[:3]) == ticks and len(axis.ticktext) <= roll_timeline.MAX_TICKS + 1
    later = roll_timeline.view(
        written(LogConfig(segment_bytes=2000), stream(60, apart_ms=5000))[0], 14
    )
    assert "2 min 30 s" in roll_timeline.figure(later, "light").layout.xaxis.ticktext


def test_nothing_to_draw():
    empty = roll_timeline.view(RollHistory((), LogConfig()))
    assert empty.title == "No roll yet: nothing reached its limit"
    assert roll_timeline.figure(empty, "light").data
    history, appended = written(LogConfig(), stream(1))
    view = roll_timeline.view(history, 0, appended)
    assert view.end_ms > view.start_ms and roll_timeline.figure(view, "dark").layout.height == 114


@pytest.mark.parametrize(
    ("reason", "cause", "because", "ink"),
    [
        ((RollCause.TIME, 60_006, 60_000), "time", f"60{T}006 ms > 60{T}000 ms", "ink"),
        ((RollCause.TIME_INDEX_FULL, 24, 24), "time index", "24 of 24 usable slots", "time_text"),
        ((RollCause.OFFSET_INDEX_FULL, 37, 37), "offset index", "37 of 37 slots", "offset_text"),
        ((RollCause.SIZE, 500, 1000), "size", OTHER_SETTINGS, "log_text"),
        ((RollCause.OFFSET_OVERFLOW, 2**31, 2**31 - 1), "offset range", None, "ink"),
        (None, "unknown", None, "ink_3"),
    ],
)
def test_causes_in_words(reason, cause, because, ink):
    segment = segment_history(reason and RollReason(*reason, 9))
    assert roll_text.history_cause(segment) == cause
    assert roll_text.text_colour(segment) == ink
    assert because is None or roll_text.history_reason(segment) == because
    assert roll_text.rows(RollHistory((segment,), LogConfig()))[0][3] == "1 min"


# ---- curves


@pytest.mark.parametrize("mode", MODES)
def test_curves_of_the_defaults(mode):
    """Below 1.78 kB/s a segment of 1 GiB is a week old before it is full."""
    view = limit_curves.view(LogConfig(), WriteLoad(1000), 5000)
    assert view.title == "Batches of 1000 B: up to 1.78 kB/s, time decides; above it, size"
    assert view.log_point[1] == pytest.approx(2**30 / 5000, rel=1e-3)
    figure = limit_curves.figure(view, mode)
    lines = {"lowest", "size", "time", "offset index", "time index", "here"}
    assert {trace.name for trace in figure.data} == lines
    assert trace(figure, "here").x == (5000,)
    names = set(notes(figure))
    assert {"<b>mean, 5 kB/s</b>", "time until a roll", "bytes written to the partition"} <= names
    assert figure.layout.yaxis.ticktext[1:5] == ("1 s", "1 min", "1 h", "1 d")
    assert figure.layout.xaxis.ticktext[1] == "1 kB/s"
    halos = [trace.y for trace in figure.data if trace.name == "lowest"]
    lowest = np.nanmin(np.array(halos, float), axis=0)
    assert len(halos) == 2
    assert all(
        (lowest <= np.array(trace(figure, name).y) + 1e-9).all()
        for name in ("size", "time", "offset index", "time index")
    )


def test_curves_that_end_in_nothing():
    """A time index that is always full decides at every speed; no speed, no mark."""
    view = limit_curves.view(LogConfig(segment_index_bytes=12), WriteLoad(100), 0)
    assert view.title == "Batches of 100 B: time index decides at every speed"
    assert view.log_point is None
    figure = limit_curves.figure(view, "light")
    assert min(trace(figure, "time index").y) == view.min_s / 100 and not figure.layout.shapes
    names = sorted(note.y for note in figure.layout.annotations if note.text.startswith("<b>"))
    tall = limit_curves.HEIGHT - limit_curves.TOP - limit_curves.BOTTOM
    assert len(names) == 4
    assert min(b - a for a, b in pairwise(names)) * tall >= limit_curves.LINE_PX - 0.01


def test_lines_leave_the_figure_where_their_names_are():
    """A segment of 1 MiB is full in 10 ms at 100 MB/s, so the axis begins at 10 ms or lower."""
    config = LogConfig(segment_bytes=1 << 20, segment_index_bytes=32 << 10)
    view = limit_curves.view(config, WriteLoad(927), 339e3)
    assert view.min_s == 0.01
    figure = limit_curves.figure(view, "light")
    assert figure.layout.yaxis.range[0] == -2
    assert min(trace(figure, "size").y) >= view.min_s


def test_the_limits_of_a_workload_name_its_mean_batch_and_its_phases():
    def caption(**kinds: bool) -> str:
        return limit_curves.view(LogConfig(), WriteLoad(1000), 0, **kinds).caption

    batch = "1000 B"
    assert caption() == say("rolls.curves_below_log", batch=batch)
    assert caption(is_workload=True) == say("rolls.curves_below", batch=batch)
    assert caption(is_workload=True, has_phases=True).endswith(say("rolls.curves_phases"))


@pytest.mark.parametrize("segment_ms", [1000, 12_000, 20_000, 60_000, 600_000, 10**12])
def test_names_of_curves_keep_apart(segment_ms):
    config = LogConfig(segment_ms=segment_ms, segment_bytes=2**31 - 1, segment_index_bytes=4 << 20)
    figure = limit_curves.figure(limit_curves.view(config, WriteLoad(1000), 0), "dark")
    names = sorted(note.y for note in figure.layout.annotations if note.text.startswith("<b>"))
    tall = limit_curves.HEIGHT - limit_curves.TOP - limit_curves.BOTTOM
    assert len(names) == 4
    assert min(b - a for a, b in pairwise(names)) * tall >= limit_curves.LINE_PX - 0.01
    assert names[0] >= 0 and names[-1] <= 1


# ---- before and after


def test_a_run_next_to_the_run_before():
    before, now = (
        roll_summary.summarize(
            written(LogConfig(segment_bytes=size), stream(400))[0], {"segment.bytes": str(size)}
        )
        for size in (20_000, 10_000)
    )
    assert roll_summary.describe_changes(before, now) == "segment.bytes 20000 → 10000"
    rows = {name: (old, new, change) for name, old, new, change in roll_summary.rows(before, now)}
    assert rows["Segments"] == ("20", "40", "× 2.0")
    assert rows["Rolls by size"] == ("19", "39", "× 2.1")
    assert rows["Mean segment"] == ("19.5 KiB", "9.77 KiB", "−50 %")
    assert rows["Mean time open"] == ("2 s", "1 s", "−50 %")
    assert roll_summary.describe_changes(now, now) == "nothing was changed"
    assert all(change == roll_summary.SAME_TEXT for *_, change in roll_summary.rows(now, now))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (10, 10, "="),
        (0, 5, "+5"),
        (None, 5, "–"),
        (5, None, "–"),
        (1000, 1001, "< 1 %"),
        (4, 3, "−25 %"),
        (2, 400, "× 200"),
    ],
)
def test_changes_in_words(old, new, words):
    assert roll_summary.change_text(old, new) == words


# ---- step by step


def test_every_step_has_its_reason():
    """No entry, an entry of each kind, an equal timestamp, a roll, a trim, a truncation."""
    view = growth_figure.view(lesson_growth.first_segments(), "a")
    words = dict(enumerate(view.sentences))
    assert words[0].endswith(f"10{T}485{T}760 and 10{T}485{T}756 B, and nothing is written in them")
    assert words[1] == (
        f"The segment's first batch: 0 B since the last entry, not above 4{T}096: no entry"
    )
    assert words[2] == f"1{T}000 B since the last entry, not above 4{T}096: no entry"
    assert (
        f"the offset index gets offset 59 at byte 5{T}000, and the time index gets 22:13:20.600 at offset 59"
    ) in words[6]
    assert words[16].endswith(
        "The newest timestamp equals the last time entry's: maybeAppend writes no time entry"
    )
    assert words[20].endswith(f"The counter is only in memory, so its 3{T}000 B are forgotten")
    assert "1 from the time index" in words[26] and "The counter was set back" in words[27]
    assert words[34].startswith(f"Rolled by size, 24{T}000 + 1{T}000 > 24{T}000 B")
    assert f"10{T}485{T}760 → 32" in words[35]


def test_the_message_counts_what_it_shows():
    """No step shows more entries than its segment has, and every step fits the card."""
    for story in (lesson_growth.first_segments(), lesson_growth.full_time_index()):
        message = growth_figure.browser_payload(growth_figure.view(story, "a"))
        for step in message["steps"]:
            segment = message["segments"][step["of"]]
            assert step["offsets"] <= len(segment["offsets"])
            assert step["times"] <= len(segment["times"])
            assert step["batches"] <= len(segment["batches"])
            assert len(step["values"]) == len(message["names"])
            assert all(0 <= line < len(message["code"]) for line in step["lines"])
            assert step["since"] <= message["most_since"]
        assert not any(changed for _, changed in message["steps"][0]["values"])


def test_what_kafka_refuses_is_reported():
    appends = [lesson_growth.Append(100, 1, 5), lesson_growth.Append(600, 1, 6)]
    story = lesson_growth.grow(LogConfig(segment_bytes=500), appends, 0)
    sentence = growth_figure.view(story, "a").sentences[-1]
    assert sentence.startswith("Kafka refuses this batch: org.apache.kafka")


def test_steps_without_timestamps():
    appends = [lesson_growth.Append(100, 1, -1)] * 3
    story = lesson_growth.grow(LogConfig(index_interval_bytes=0), appends, 0)
    sentence = growth_figure.view(story, "a").sentences[-1]
    assert sentence.endswith("The newest timestamp is not known: maybeAppend writes no time entry")


def test_few_batches_are_one_stretch():
    """A dozen appends far apart have their mean, not the gap between them."""
    history, appended = written(LogConfig(segment_bytes=1000), stream(12))
    (only,) = roll_timeline.view(history, 0, appended).write_spans
    assert only.batch_bytes == 1000 and only.bytes_per_s == pytest.approx(10_000, rel=0.2)


# ---- both, as Plotly gets them


@pytest.mark.parametrize(
    ("bytes_per_s", "segment_index_bytes", "segment_ms", "mode"),
    [
        (0, 12, 1000, "light"),
        (0, 24, 60_000, "dark"),
        (0, 10_000, 10**12, "light"),
        (5000, 12, 60_000, "dark"),
        (5000, 24, 10**12, "light"),
        (5000, 10_000, 1000, "dark"),
    ],
)
def test_they_are_sent_as_plotly_would_send_them(
    bytes_per_s, segment_index_bytes, segment_ms, mode
):
    """The JSON equals that of the same figure after Plotly's checks."""
    config = LogConfig(
        segment_bytes=20_000, segment_ms=segment_ms, segment_index_bytes=segment_index_bytes
    )
    history, appended = written(config, stream(150))
    curves = limit_curves.view(config, WriteLoad(1000), bytes_per_s)
    for figure in (
        roll_timeline.figure(roll_timeline.view(history, 0, appended), mode),
        roll_timeline.figure(roll_timeline.view(history, 3), mode),
        limit_curves.figure(curves, mode),
    ):
        sent = figure.to_dict()
        layout = sent["layout"] | {"template": theme.template(mode)}  # which takes its place as one
        checked = go.Figure(sent["data"]).update_layout(layout)
        assert json.loads(figure.to_json()) == json.loads(checked.to_json())
