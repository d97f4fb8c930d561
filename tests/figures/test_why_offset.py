"""The picture of why: its title and notes, and that the figure draws the view."""

from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.analysis.lookup.why_offset import (
    LATER,
    OLDER,
    SEARCHED,
    OffsetExplanation,
    RecordTime,
    SegmentTimes,
)
from kafkaviz.analysis.segment.batch_table import table_of_rows
from kafkaviz.figures.lookup import why_offset
from kafkaviz.simulate.lesson_logs import ROW, START_MS
from tests.support.plotly_figures import notes


def batches(first: int, times: list[int]) -> np.ndarray:
    table = np.zeros(len(times), ROW)
    table["base_offset"] = table["last_offset"] = first + np.arange(len(times))
    table["max_timestamp_ms"] = START_MS + np.array(times)
    return table


ANSWER = RecordTime(4, START_MS + 50)


def segment(first: int, times: list[int], fate: str = SEARCHED) -> SegmentTimes:
    """Returns a segment whose batches of one record have these times after START_MS."""
    return SegmentTimes(
        base_offset=first,
        end_offset=first + len(times),
        largest_ms=START_MS + max(times),
        is_file_time=False,
        fate=fate,
        batches=table_of_rows(batches(first, times)),
    )


SEGMENTS = (segment(0, [10, 20, 30], OLDER), segment(3, [25, 50, 40]), segment(6, [60, 70], LATER))


def why(
    *segments: SegmentTimes,
    answer: RecordTime | None = ANSWER,
    closest: RecordTime | None = None,
    older_batches: int = 0,
    target: int = 45,
) -> OffsetExplanation:
    return OffsetExplanation(
        target_ms=START_MS + target,
        segments=segments or SEGMENTS,
        answer=answer,
        closest=closest,
        older_batches=older_batches,
    )


def test_title_and_rows():
    view = why_offset.view(why())
    assert (
        view.title == "Offset 4 is the first record at or after the target: 5 ms after the target"
    )
    assert [row[-1] for row in view.rows] == ["skipped: all older", "searched", "not searched"]
    assert view.rows[1][1] == "3–5"
    assert view.rows[1][3] == "2023-11-14 22:13:20.050, its last time entry"
    skipped = "1 segment is skipped unread: its largest timestamp is below the target."
    assert view.notes == (skipped,)


def test_the_running_maximum():
    """It never falls within a segment, and is cut between segments."""
    view = why_offset.view(why())
    at = [None if running_ms is None else running_ms - START_MS for running_ms in view.running_ms]
    assert at == [10, 20, 30, None, 25, 50, 50, None, 60, 70, None]


def test_the_closest_is_named():
    view = why_offset.view(why(closest=RecordTime(5, START_MS + 44), older_batches=2))
    assert view.closest == (5, START_MS + 44)
    assert any("closest in time is offset 5, 1 ms before the target" in note for note in view.notes)
    assert any(
        note.startswith("2 batches after the answer hold only records older than")
        for note in view.notes
    )


def test_no_answer():
    searched = why_offset.view(why(answer=None))
    assert searched.title == "The searched segment has no record at or after the target"
    none = why_offset.view(why(SEGMENTS[0], answer=None, target=99))
    assert none.title == "No record is at or after the target: Kafka returns no offset"


def test_outliers_stay_outside():
    """One dot must not flatten the others; the line below the title mentions it."""
    times = [*range(300), 10**9, *range(300)]
    view = why_offset.view(why(segment(0, times), answer=RecordTime(45, START_MS + 45)))
    assert view.frame_ms[1] < START_MS + 400
    assert view.caption.endswith("1 dot is outside the picture")


def test_many_batches_are_thinned():
    times = [0] * 100_000
    times[77_777] = 500
    view = why_offset.view(why(segment(0, times), answer=None))
    assert len(view.offsets) <= why_offset.POINTS + 1 and START_MS + 500 in view.newest_ms


@pytest.mark.parametrize("count", [5, 30, 31, 400])
@pytest.mark.parametrize("pieces", [1, 3, 29])
def test_a_log_that_is_read_in_pieces(count, pieces):
    """Each stretch of equal length has the rows of a plain scan."""
    times = np.random.default_rng(count).integers(0, 50, count)
    rows = batches(0, times.tolist())
    table = replace(table_of_rows(rows), scan=lambda: iter(np.array_split(rows, pieces)))
    stretches = np.array_split(np.arange(count), 10) if count > 30 else []
    sampled = {
        int(row)
        for stretch in stretches
        for row in (stretch[0], stretch[times[stretch].argmin()], stretch[times[stretch].argmax()])
    } or set(range(count))
    points = why_offset._sample(table, 30)
    assert [point.row for point in points] == sorted(sampled)
    for row, last_offset, newest_ms, running_ms in points:
        assert last_offset == rows["last_offset"][row]
        assert newest_ms == rows["max_timestamp_ms"][row]
        assert running_ms == rows["max_timestamp_ms"][: row + 1].max()


def test_the_figure_draws_the_view():
    view = why_offset.view(why(closest=RecordTime(5, START_MS + 44)))
    for mode in ("light", "dark"):
        chart = why_offset.figure(view, mode)
        assert [len(trace.x) for trace in chart.data] == [11, 11, 1, 1]
        words = {"searched", "target", "closest in time, offset 5", "✓ Kafka’s answer, offset 4"}
        assert words <= set(notes(chart))
        (answer,) = (note for note in chart.layout.annotations if "answer" in note.text)
        # the line rises to the right: above it on the left nothing is
        assert (answer.xanchor, answer.yshift > 0) == ("right", True)


def test_a_time_beyond_the_calendar_is_drawn():
    far = replace(segment(0, [2**60]), largest_ms=2**62)
    view = why_offset.view(why(far, answer=None, target=2**61 - START_MS))
    assert [len(trace.x) for trace in why_offset.figure(view, "light").data] == [2, 2]


def test_of_many_segments_those_around_the_searched_one():
    fates = [OLDER] * 70 + [SEARCHED] + [LATER] * 29
    segments = [
        replace(segment(3 * at, [at, at, at], fate), batches=None) for at, fate in enumerate(fates)
    ]
    view = why_offset.view(why(*segments, answer=RecordTime(210, START_MS + 70), target=70))
    assert [row[-1] for row in view.rows].index("searched") == 6
    assert (len(view.rows), len(view.bands)) == (12, 60)
    named = "The table lists 12 of 100 segments: the searched one and those around it."
    assert named in view.notes
