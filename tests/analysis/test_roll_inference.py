"""The reason for a roll, inferred from the neighbouring segments, on topics with known settings."""

import pytest

from kafkaviz.analysis.roll_history import roll_reason, segment_facts
from kafkaviz.log.broker import open_broker


@pytest.mark.parametrize(
    ("directory", "base_offset", "reason"),
    [
        ("payments-0", 0, "size"),
        ("payments-0", 7975, "size"),
        ("payments-0", 15904, None),  # the active one
        ("rolls-by-time-0", 399, "time"),
        ("tiny-index-0", 49, "time-index-full"),
        ("payments-0", 1, None),  # there is none
    ],
)
def test_known_reasons(clean, directory, base_offset, reason):
    """The README of the sample lists the settings of these topics."""
    assert roll_reason(open_broker(clean).partition(directory), base_offset) == reason


def test_a_glance_is_what_a_walk_would_tell(clean):
    """The first header and the last time entry are enough for a closed segment."""
    segment = open_broker(clean).partition("payments-0").segment(7975)
    batches, facts = segment.batches(), segment_facts(segment)
    assert facts.first_batch_bytes == batches["size_bytes"][0]
    assert facts.first_batch_last_offset == batches["last_offset"][0]
    assert facts.first_batch_max_timestamp_ms == batches["max_timestamp_ms"][0]
    assert facts.max_timestamp_ms == batches["max_timestamp_ms"].max()
    assert (facts.log_bytes, facts.offset_entries, facts.time_entries) == (1_048_043, 209, 206)


def test_an_empty_log(killed):
    facts = segment_facts(open_broker(killed).partition("empty-room-1").segment(0))
    assert facts.first_batch_bytes == 0
    assert facts.max_timestamp_ms == facts.first_batch_last_offset == -1


def test_a_short_log(damaged):
    """Compaction left 36 bytes; the rest of the header is taken as zeros."""
    partition = open_broker(damaged).partition("rides-0")
    assert segment_facts(partition.segment(2418, "cleaned")).log_bytes == 36
    assert roll_reason(partition, 2418) is not None
