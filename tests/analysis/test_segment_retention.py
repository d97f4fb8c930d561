"""How long a segment is kept, computed without reading its log, compared with the check that reads
every log.
"""

import pytest

from kafkaviz.analysis import broker_health
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.retention.segment_retention import segment_retention
from kafkaviz.analysis.segment import anatomy
from kafkaviz.log.broker import open_broker


@pytest.mark.parametrize("sample", ["clean", "killed"])
def test_every_segment_is_kept_as_long_as_the_check_says(sample, request):
    directory = request.getfixturevalue(sample)
    checked = {log.partition: log for log in broker_health.check(directory).retention}
    planned, segment_count = plan_check(open_broker(directory)), 0
    for partition in planned.broker.partitions:
        for at, segment in enumerate(partition.live):
            retention = segment_retention(planned, partition, anatomy.read(segment))
            if partition.directory not in checked:
                assert retention is None
                continue
            mine, real = retention[1], checked[partition.directory].segments[at]
            assert (mine.state, mine.until_ms, mine.gone_ms, mine.blocked_by, mine.more_bytes) == (
                real.state,
                real.until_ms,
                real.gone_ms,
                real.blocked_by,
                real.more_bytes,
            ), segment.log.path
            segment_count += 1
    assert segment_count > 4


def test_what_no_limit_concerns(clean):
    """The metadata log has other rules, and a directory that waits for deletion goes whole."""
    planned = plan_check(open_broker(clean))
    deleted = next(
        partition for partition in planned.broker.partitions if partition.state == "delete"
    )
    assert segment_retention(planned, deleted, anatomy.read(deleted.segments[0])) is None
    metadata = planned.broker.partition("__cluster_metadata-0")
    assert segment_retention(planned, metadata, anatomy.read(metadata.live[0])) is None
