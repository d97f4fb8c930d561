import pytest

from kafkaviz import versions
from kafkaviz.analysis.lookup.served_log import open_log_view
from kafkaviz.log.broker import open_broker
from kafkaviz.search.lookup import by_offset
from kafkaviz.search.scan import translate
from tests.search import textbook

BEHAVIOUR = versions.search_profile()


@pytest.mark.parametrize("name", ["orders-0", "accounts-0", "payments-0"])
def test_the_batch_of_a_scan_from_the_start_is_the_one_of_a_lookup(clean, name):
    for segment in open_log_view(open_broker(clean).partition(name)).segments:
        for offset in range(segment.base_offset, segment.base_offset + 3000, 97):
            batch = translate(segment, offset, BEHAVIOUR)[1].batch
            plain = textbook.batch_of(segment, offset)
            assert (batch and batch.position) == (None if plain is None else plain["position"])


def test_a_damaged_index_hides_records(damaged):
    """954 exists, and the broker returned 1017."""
    log = open_log_view(open_broker(damaged).partition("bookings-0"))
    segment = next(segment for segment in log.segments if segment.base_offset == 858)
    assert by_offset(log, 954, BEHAVIOUR).record.offset == 1017
    batch = textbook.batch_of(segment, 954)
    assert batch["base_offset"] <= 954 <= batch["last_offset"]
