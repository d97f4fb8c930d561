"""Why a timestamp gave its offset: which segments were skipped, and what the closest record would
have been.
"""

import numpy as np
import pytest

from kafkaviz import units
from kafkaviz.analysis.lookup import why_offset
from kafkaviz.analysis.lookup.why_offset import RecordTime
from kafkaviz.errors import CorruptFile
from kafkaviz.figures.lookup import why_offset as figure
from kafkaviz.format.record_heads import RecordHead
from kafkaviz.messages import message, verbatim
from kafkaviz.search.log_view import view_partition
from kafkaviz.search.lookup import by_timestamp
from kafkaviz.search.profile import profile
from kafkaviz.simulate.lessons import practice


def of_practice(target_ms: int) -> why_offset.OffsetExplanation:
    """In the article's log."""
    made = practice.five()

    def records(base_offset: int, position: int) -> list[RecordHead]:
        return list(
            made.log.segments[0].run_search(lambda log: list(next(log.batches(position)).heads()))
        )

    return why_offset.explain_offset(
        by_timestamp(made.log, target_ms, profile()),
        made.log,
        lambda base_offset: made.batches,
        records,
    )


def test_the_closest_is_not_the_answer():
    """Just behind a record the closest is that one; Kafka gives the next."""
    found = of_practice(practice.START_MS + 2601)
    assert found.answer == RecordTime(23, practice.START_MS + 3240) and found.closest == RecordTime(
        22, practice.START_MS + 2600
    )
    assert [one.fate for one in found.segments] == ["searched"] and found.older_batches == 0


def test_a_damaged_batch_is_left_out_and_told():
    """The closest of the others is given; Kafka itself need not read the batch that is damaged."""
    made = practice.five()

    def records(base_offset: int, position: int) -> list[RecordHead]:
        if position == 656:
            raise CorruptFile("0.log", position, verbatim("no record"))
        return list(
            made.log.segments[0].run_search(lambda log: list(next(log.batches(position)).heads()))
        )

    target_ms = practice.START_MS + 2601
    found = why_offset.explain_offset(
        by_timestamp(made.log, target_ms, profile()),
        made.log,
        lambda base_offset: made.batches,
        records,
    )
    assert found.faults == (
        message("errors.at_byte_of_file", path="0.log", position=656, what=verbatim("no record")),
    )
    assert found.closest == RecordTime(16, practice.START_MS + 2050)
    assert "1 batch near the target left out" in " ".join(figure.view(found).notes)


def test_every_target_has_its_closest_record():
    """Against all records of the log."""
    made = practice.five()
    heads = [
        head
        for row in made.batches
        for head in made.log.segments[0].run_search(
            lambda log, at=int(row["position"]): list(next(log.batches(at)).heads())
        )
    ]
    for target in range(practice.START_MS, practice.START_MS + 4200, 61):
        nearest = min(heads, key=lambda head: (abs(head.timestamp_ms - target), head.offset))
        assert of_practice(target).closest == RecordTime(*nearest)


def test_segments_of_a_real_partition(clean):
    """Those in front are skipped by their largest timestamp alone, those behind are not looked
    at.
    """
    from kafkaviz.log.broker import open_broker

    partition = open_broker(clean).partition("heartbeat-0")
    log = view_partition(partition)
    target = log.segments[1].largest_timestamp_ms - 5
    found = by_timestamp(log, target, profile())
    batches = {one.base_offset: one.batches() for one in partition.live}
    told = why_offset.explain_offset(
        found, log, batches.get, lambda base, position: partition.segment(base).records(position)
    )
    assert [one.fate for one in told.segments] == ["older", "searched", "later", "later"]
    assert [one.largest_ms for one in told.segments] == [
        batches[one.base_offset]["max_timestamp_ms"].max() for one in told.segments
    ]
    assert (
        told.answer.offset == found.answer.offset
        and told.segments[0].end_offset == told.segments[1].base_offset
    )


def test_what_is_not_read_is_not_counted(clean):
    """A segment too large to be read still has its fate and its largest timestamp."""
    made = practice.five()
    found = by_timestamp(made.log, practice.START_MS + 3000, profile())
    told = why_offset.explain_offset(found, made.log, lambda base_offset: None, lambda *place: ())
    assert told.closest is None and told.segments[0].batches is None and told.answer.offset == 23


def test_times_that_do_not_follow_offsets():
    """Batches behind the answer that are all older are counted."""
    made = practice.five()
    late = made.batches.copy()
    late["max_timestamp_ms"][-1] = practice.START_MS
    found = by_timestamp(made.log, practice.START_MS + 3000, profile())
    told = why_offset.explain_offset(found, made.log, lambda base_offset: late, lambda *place: ())
    assert told.older_batches == 1


@pytest.mark.parametrize(
    ("given", "unit", "timestamp_ms"),
    [
        (1_790_000_445, "seconds", 1_790_000_445_000),
        (1_790_000_445_001_000, "microseconds", 1_790_000_445_001),
        (1_790_000_445_001_000_000, "nanoseconds", 1_790_000_445_001),
    ],
)
def test_other_units(given, unit, timestamp_ms):
    """Seconds, microseconds and nanoseconds make sense as such, and not as milliseconds."""
    assert units.other_unit(given) == (unit, timestamp_ms)


@pytest.mark.parametrize("given", [0, 1_790_000_445_001, 99_999_999, 10**14 - 1])
def test_milliseconds(given):
    """Between them lie the years 1973 to 5138."""
    assert units.other_unit(given) is None


def test_no_batches_no_dots():
    """An empty segment."""
    made = practice.five()
    none = np.empty(0, practice.ROW)
    told = why_offset.explain_offset(
        by_timestamp(made.log, practice.START_MS, profile()),
        made.log,
        lambda base_offset: none,
        lambda *place: (),
    )
    assert told.closest is None and told.older_batches == 0
