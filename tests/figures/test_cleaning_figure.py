"""One log before and after one cleaning: every record is drawn with what Kafka's Cleaner did."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from kafkaviz.analysis.compaction.record_fates import log_records
from kafkaviz.figures.disk import cleaning_figure
from kafkaviz.figures.disk.cleaning_figure import (
    BAR_COLUMNS,
    GOES_NOW,
    GONE_BEFORE,
    MAP,
    RANGE,
    REMOVAL,
    RESULT,
)
from kafkaviz.messages import speaking
from kafkaviz.simulate.cleaner.cleaner import OffsetRanges
from kafkaviz.units import format_count
from kafkaviz.workshop.figures import customer_log
from tests.analysis.compaction.recorded import clean_recorded, lines

BY_ID = {line["id"]: line for line in lines()}
# small logs: an earlier cleaning left holes in the second, the map of the third was full
SMALL = ("4.4.0-compact-53-0", "4.4.0-compact-2-1", "4.4.0-compact-23-0", "4.4.0-compact-29-0")


def opened(name, folder):
    line = BY_ID[name]
    log, cleaning = clean_recorded(line, folder)
    return line, log, cleaning, log_records(log, cleaning, line["now"])


@pytest.mark.parametrize("name", SMALL)
def test_the_cells_are_the_records_of_the_log(name, tmp_path):
    line, log, cleaning, records = opened(name, tmp_path)
    drawn = cleaning_figure.view(log, cleaning, records)
    cells = [cell for segment in drawn.segments for cell in segment.cells]
    offsets = [cell.text for cell in cells if cell.look != GONE_BEFORE]
    assert offsets == [format_count(record.offset) for record in records]
    removed = [
        offset for first, last in line["cleaned"]["removed"] for offset in range(first, last + 1)
    ]
    gone = [cell.text for cell in cells if cell.after == GOES_NOW]
    assert gone == [format_count(offset) for offset in removed]
    mapped = [cell for cell in cells if cell.is_mapped]
    assert {cell.key: cell.text for cell in mapped} == {
        key: format_count(offset) for key, offset in line["cleaned"]["map"].items()
    }


def test_the_steps_add_to_each_other(tmp_path):
    _, log, cleaning, records = opened("4.4.0-compact-53-0", tmp_path)
    steps = {
        step: cleaning_figure.view(log, cleaning, records, step)
        for step in (RANGE, MAP, REMOVAL, RESULT)
    }
    cells = {step: steps[step].segments[0].cells for step in steps}
    assert [sum(cell.is_mapped for cell in cells[step]) for step in steps] == [0, 5, 5, 5]
    assert [sum(cell.after == GOES_NOW for cell in cells[step]) for step in steps] == [0, 0, 21, 21]
    assert [bool(steps[step].segments[0].result) for step in steps] == [False, False, False, True]
    assert [len(steps[step].map_rows) for step in steps] == [0, 5, 0, 0]
    assert steps[RANGE].title == "The cleaner may clean offsets 0 to 25, 2.36 KiB"


def test_the_offsets_that_decide_are_marked(tmp_path):
    _, log, cleaning, records = opened("4.4.0-compact-53-0", tmp_path)
    first, active = cleaning_figure.view(log, cleaning, records, RANGE).segments
    assert first.cells[0].marks == ("log start, first dirty offset 0",)
    assert active.cells[0].marks == ("first uncleanable offset, active segment 26",)
    assert active.end_marks == ("high watermark 34",)


def test_without_a_cleaning_only_the_range_is_drawn(tmp_path):
    _, log, _, records = opened("4.4.0-compact-53-0", tmp_path)
    drawn = cleaning_figure.view(log, None, records)
    assert drawn.step == RANGE and not any(cell.after for cell in drawn.segments[0].cells)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("is_small", [True, False])
def test_the_drawing_is_escaped_and_complete(is_small, language, tmp_path):
    _, log, cleaning, records = opened("4.4.0-compact-2-1", tmp_path)
    with speaking(language):
        drawn = cleaning_figure.view(log, cleaning, records if is_small else None)
        html = cleaning_figure.figure(drawn)
    assert not re.search(r"\{\w*\}", html)
    assert html.count("<div") == html.count("</div>")
    assert ("kv-cell" in html) == is_small and ("kv-bar" in html) == (not is_small)


def test_the_bars_cover_the_log(tmp_path):
    _, log, cleaning, _ = opened("4.4.0-compact-2-1", tmp_path)
    bars = cleaning_figure.view(log, cleaning, None).bars
    assert sum(piece.size_bytes for piece in bars.before) == sum(
        segment.size_bytes for segment in log.state.facts.segments
    )
    freed_bytes = sum(piece.size_bytes for piece in bars.before) - sum(
        piece.size_bytes for piece in bars.after
    )
    assert freed_bytes == cleaning.bytes_freed
    for pieces in (bars.before, bars.after):
        pieces = sorted(pieces, key=lambda piece: piece.start)
        assert (pieces[0].start, pieces[-1].stop) == (0, 1)
        for piece, following in pairwise(pieces):
            assert piece.stop == pytest.approx(following.start)


def test_an_empty_active_segment_cannot_be_cleaned(tmp_path):
    _, log, cleaning, _ = opened("4.4.0-compact-53-0", tmp_path)
    facts = log.state.facts
    first = facts.segments[0]
    active = replace(facts.segments[1], size_bytes=0)
    facts = replace(facts, segments=[first, active], log_end_offset=active.base_offset)
    log = replace(log, state=replace(log.state, facts=facts))
    bars = cleaning_figure.view(log, cleaning, None).bars
    assert [piece.look for piece in bars.before] == ["dirty", "uncleanable"]


def test_the_shares_end_where_the_listed_ranges_end(tmp_path):
    _, log, cleaning, _ = opened("4.4.0-compact-2-1", tmp_path)
    ranges = cleaning.removed.ranges[:3]
    cut = replace(cleaning.removed, ranges=ranges)
    drawn = cleaning_figure.view(log, replace(cleaning, removed=cut), None)
    share = int(ranges[-1, 1] + 1) / log.state.facts.log_end_offset
    assert len(drawn.bars.removed) == int(BAR_COLUMNS * share) < BAR_COLUMNS
    assert "unlisted" in cleaning_figure.figure(drawn)
    whole = cleaning_figure.view(log, cleaning, None)
    assert len(whole.bars.removed) == BAR_COLUMNS
    assert "unlisted" not in cleaning_figure.figure(whole)


def test_the_share_of_each_column_is_that_of_a_plain_loop():
    generator = np.random.default_rng(7)
    goes = generator.random(5000) < 0.6
    exists = generator.random(5000) < 0.7
    removed = as_ranges(np.flatnonzero(goes & exists) + 1000)
    retained = as_ranges(np.flatnonzero(~goes & exists) + 1000)
    shares = cleaning_figure.removed_shares(removed, retained, 1000, 4800)
    edges = np.arange(BAR_COLUMNS + 1) * 4800 // BAR_COLUMNS
    for column, share in enumerate(shares):
        low, high = edges[column], edges[column + 1]
        removed_count = (goes & exists)[low:high].sum()
        assert share == pytest.approx(removed_count / max(1, exists[low:high].sum()))


def as_ranges(offsets: np.ndarray) -> OffsetRanges:
    ranges = np.stack((offsets, offsets), axis=1)
    return OffsetRanges(records=len(offsets), count=len(ranges), ranges=ranges)


def test_a_mark_at_a_missing_offset_stands_at_the_hole():
    """Earlier cleanings of the lesson's log removed its first offsets."""
    check = customer_log.check(customer_log.PROFILES, day=21)
    cleaning_view = cleaning_figure.view(check.log, check.cleaning, check.records, RANGE)
    first = cleaning_view.segments[0].cells[0]
    assert (first.text, first.look) == ("0–2", GONE_BEFORE)
    assert first.marks == ("log start 0",)
    assert cleaning_view.segments[0].cells[1].marks == ()
