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


def batches(first: int, times: list[int]) -> np.ndarray:
    table = np.zeros(len(times), ROW)
    table["base_offset"] = table["last_offset"] = first + np.arange(len(times))
    table["max_timestamp_ms"] = START_MS + np.array(times)
    return table


ANSWER = RecordTime(4, START_MS + 50)


def why(
    answer: RecordTime | None = ANSWER, closest: RecordTime | None = None, older_behind: int = 0
) -> OffsetExplanation:
    parts = (0, 3, [10, 20, 30], OLDER), (3, 6, [25, 50, 40], SEARCHED), (6, 8, [60, 70], LATER)
    segments = tuple(
        SegmentTimes(
            base_offset=low,
            end_offset=end,
            largest_ms=START_MS + max(times),
            is_file_time=False,
            fate=fate,
            batches=table_of_rows(batches(low, times)),
        )
        for low, end, times, fate in parts
    )
    return OffsetExplanation(
        target_ms=START_MS + 45,
        segments=segments,
        answer=answer,
        closest=closest,
        older_batches=older_behind,
    )


def test_title_and_rows():
    view = why_offset.view(why())
    assert view.title == "Offset 4 is the first record not before the target: 5 ms after the target"
    assert [row[-1] for row in view.rows] == ["skipped: all older", "searched", "not searched"]
    assert (
        view.rows[1][1] == "3–5"
        and view.rows[1][3] == "2023-11-14 22:13:20.050, its last time entry"
    )
    assert view.notes == (
        "1 segment is skipped unread: its largest timestamp is below the target.",
    )


def test_the_running_maximum():
    """It never falls within a segment, and is cut between segments."""
    view = why_offset.view(why())
    at = [None if running_ms is None else running_ms - START_MS for running_ms in view.running_ms]
    assert at == [10, 20, 30, None, 25, 50, 50, None, 60, 70, None]


def test_the_closest_is_named():
    view = why_offset.view(why(closest=RecordTime(5, START_MS + 44), older_behind=2))
    assert view.closest == (5, START_MS + 44)
    assert any("closest in time is offset 5, 1 ms before the target" in note for note in view.notes)
    assert any(
        note.startswith("2 batches after the answer hold only older records") for note in view.notes
    )


def test_no_answer():
    assert (
        why_offset.view(why(answer=None)).title
        == "The segment that is searched has no record that late"
    )
    none = OffsetExplanation(
        target_ms=START_MS + 99,
        segments=tuple(segment for segment in why().segments if segment.fate == OLDER),
        answer=None,
        closest=None,
        older_batches=0,
    )
    assert why_offset.view(none).title == "No record is that late: Kafka answers none"


def test_outliers_stay_outside():
    """One dot must not flatten the others; the line below the title mentions it."""
    times = [*range(300), 10**9, *range(300)]
    times_ = SegmentTimes(
        base_offset=0,
        end_offset=len(times),
        largest_ms=START_MS + 10**9,
        is_file_time=False,
        fate=SEARCHED,
        batches=table_of_rows(batches(0, times)),
    )
    view = why_offset.view(
        OffsetExplanation(
            target_ms=START_MS + 45,
            segments=(times_,),
            answer=RecordTime(45, START_MS + 45),
            closest=None,
            older_batches=0,
        )
    )
    assert view.frame_ms[1] < START_MS + 400 and view.caption.endswith(
        "1 dot is outside the picture"
    )


def test_many_batches_are_thinned():
    times = np.zeros(100_000, int)
    times[77_777] = 500
    segment_times = SegmentTimes(
        base_offset=0,
        end_offset=100_000,
        largest_ms=START_MS + 500,
        is_file_time=False,
        fate=SEARCHED,
        batches=table_of_rows(batches(0, times.tolist())),
    )
    view = why_offset.view(
        OffsetExplanation(
            target_ms=START_MS + 45,
            segments=(segment_times,),
            answer=None,
            closest=None,
            older_batches=0,
        )
    )
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
        for row in (
            stretch[0],
            stretch[times[stretch].argmin()],
            stretch[times[stretch].argmax()],
        )
    } or set(range(count))
    points = why_offset._sample(table, 30)
    assert [point.row for point in points] == sorted(sampled)
    for row, last_offset, newest_ms, running_ms in points:
        assert (last_offset, newest_ms) == (
            rows["last_offset"][row],
            rows["max_timestamp_ms"][row],
        )
        assert running_ms == rows["max_timestamp_ms"][: row + 1].max()


def test_the_figure_draws_the_view():
    view = why_offset.view(why(closest=RecordTime(5, START_MS + 44)))
    for mode in ("light", "dark"):
        chart = why_offset.figure(view, mode)
        assert [len(trace.x) for trace in chart.data] == [11, 11, 1, 1]
        words = [note.text for note in chart.layout.annotations]
        assert {
            "searched",
            "target",
            "closest in time, offset 5",
            "✓ Kafka’s answer, offset 4",
        } <= set(words)
        (answer,) = (note for note in chart.layout.annotations if "answer" in note.text)
        # the line rises to the right: above it on the left nothing is
        assert (answer.xanchor, answer.yshift > 0) == ("right", True)
    far = SegmentTimes(
        base_offset=0,
        end_offset=1,
        largest_ms=2**62,
        is_file_time=False,
        fate=SEARCHED,
        batches=table_of_rows(batches(0, [2**60])),
    )
    assert why_offset.figure(
        why_offset.view(
            OffsetExplanation(
                target_ms=2**61, segments=(far,), answer=None, closest=None, older_batches=0
            )
        ),
        "light",
    ).data


def test_of_many_segments_those_around_the_searched_one():
    fates = [OLDER] * 70 + [SEARCHED] + [LATER] * 29
    parts = tuple(
        SegmentTimes(
            base_offset=3 * at,
            end_offset=3 * at + 3,
            largest_ms=START_MS + at,
            is_file_time=False,
            fate=fate,
            batches=None,
        )
        for at, fate in enumerate(fates)
    )
    view = why_offset.view(
        OffsetExplanation(
            target_ms=START_MS + 70,
            segments=parts,
            answer=RecordTime(210, START_MS + 70),
            closest=None,
            older_batches=0,
        )
    )
    assert (
        len(view.rows) == 12
        and [row[-1] for row in view.rows].index("searched") == 6
        and len(view.bands) == 60
    )
    assert (
        "The table names 12 of 100 segments, those around the one that is searched." in view.notes
    )
