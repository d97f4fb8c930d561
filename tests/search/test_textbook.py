import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz import versions
from kafkaviz.analysis.lookup.lookups import open_log_view
from kafkaviz.log.broker import open_broker
from kafkaviz.search import slots
from kafkaviz.search.lookup import by_offset
from kafkaviz.search.scan import translate
from tests.search import textbook

BEHAVIOUR = versions.search_profile()


@given(st.lists(st.integers(0, 300), max_size=60, unique=True).map(sorted), st.integers(-5, 305))
@settings(max_examples=300, deadline=None)
def test_slots_are_those_of_a_linear_scan(keys, target):
    """Kafka's upper bound is the ceiling, or the slot after an unprobed match."""
    keys = np.array(keys, np.int64)
    below, above = (
        [at for at, key in enumerate(keys) if key <= target],
        [at for at, key in enumerate(keys) if key >= target],
    )
    assert (
        textbook.floor_slot(keys, target)
        == slots.floor(keys, target, 8).slot
        == max(below, default=-1)
    )
    ceiling = textbook.ceiling_slot(keys, target)
    assert ceiling == min(above, default=-1)
    kafkas = slots.upper_bound(keys, target, 8).slot
    matched = ceiling >= 0 and keys[ceiling] == target
    assert kafkas == ceiling or (matched and kafkas in (ceiling + 1, -1))


@pytest.mark.parametrize("name", ["orders-0", "accounts-0", "payments-0"])
def test_the_batch_of_a_scan_from_the_start_is_the_one_of_a_lookup(clean, name):
    for segment in open_log_view(open_broker(clean).partition(name)).segments:
        for offset in range(segment.base_offset, segment.base_offset + 3000, 97):
            batch, plain = (
                translate(segment, offset, BEHAVIOUR)[1].batch,
                textbook.batch_of(segment, offset),
            )
            assert (batch and batch.position) == (None if plain is None else plain["position"])


def test_a_damaged_index_hides_records(damaged):
    """954 exists, and the broker returned 1017."""
    log = open_log_view(open_broker(damaged).partition("bookings-0"))
    segment = next(segment for segment in log.segments if segment.base_offset == 858)
    assert by_offset(log, 954, BEHAVIOUR).record.offset == 1017
    batch = textbook.batch_of(segment, 954)
    assert batch["base_offset"] <= 954 <= batch["last_offset"]
