"""The source that is tuned: a broker whose topics have their own settings."""

import pytest

from kafkaviz.analysis.tuning import tuning_text
from kafkaviz.analysis.tuning.segment_size import footprint_at, limits_at
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.messages import message
from kafkaviz.simulate.config import LogConfig
from kafkaviz.units import DAY_MS, HOUR_MS
from tests.support.brokers import copy_partitions


def limits_of(config: LogConfig) -> tuple[int, int, int]:
    return config.segment_bytes, config.segment_index_bytes, config.segment_ms


def test_the_settings_of_a_broker_are_those_of_no_topic(clean_source):
    """14 topics fill segments of 1 GiB, others of 1 MiB: an index must be safe for all."""
    assert {case.today.config.segment_bytes for case in clean_source.cases} >= {1 << 20, 1 << 30}
    assert limits_of(clean_source.total.today.config) == (1 << 30, 10 << 20, 7 * DAY_MS)


def test_the_release_of_one_partition_comes_with_its_trace(clean):
    """As for a whole broker, not one of two possible releases."""
    trace = open_source(clean / "nulls-0").assumed_release.traces[0]
    assert trace == message(
        "release.metadata_version", file="bootstrap.checkpoint", level=30, release="4.3"
    )
    given = open_source(clean / "nulls-0", "3.9").assumed_release
    assert given.traces == (message("release.given"),)


def test_what_is_preallocated_is_each_topics_own(clean_source):
    total = clean_source.total
    sizes = total.today.partition_index_bytes
    assert len(sizes) == sum(case.today.partitions for case in clean_source.cases)
    assert len(set(sizes)) > 1
    footprint = footprint_at(total.measurement, total.today, 4096)
    assert footprint["preallocated_bytes"] == sum(size // 8 * 8 + size // 12 * 12 for size in sizes)


def test_a_brokers_own_file_is_before_its_topics(clean, tmp_path):
    broker = copy_partitions(clean, tmp_path / "broker", ["orders-0", "__cluster_metadata-0"])
    (broker / "server.properties").write_text("log.segment.bytes=2097152\nlog.roll.hours=1\n")
    assert limits_of(open_source(broker).total.today.config) == (2 << 20, 10 << 20, HOUR_MS)


@pytest.mark.parametrize(
    ("name", "safe_bytes"),
    [("", 3_043_770), ("heartbeat", 3_883_350), ("sensors-seconds-0", 3_690_510)],
)
def test_an_index_that_is_safe_is_one_number(name, safe_bytes, clean, clean_source):
    """Of a whole broker, of a preset, and with timestamps of 1970."""
    source = open_source(name if name == "heartbeat" else clean / name) if name else clean_source
    today = source.total.today
    limits = limits_at(source.total.measurement, today.config, today.interval_bytes)
    assert limits.safe_index_bytes == safe_bytes
    assert tuning_text.describe_limits(limits)["safe"] == limits.safe_index_bytes
