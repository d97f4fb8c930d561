"""The source that is tuned: a broker whose topics have their own settings."""

import shutil

import pytest

from kafkaviz.analysis.tuning import tuning_text as tuning_text
from kafkaviz.analysis.tuning.segment_size import footprint_at, limits_at
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.messages import message


@pytest.fixture(scope="module")
def broker(clean):
    """The sample's broker; it has no server.properties."""
    return open_source(clean)


def test_the_settings_of_a_broker_are_those_of_no_topic(broker):
    """14 topics fill segments of 1 GiB, others of 1 MiB: an index must be safe for all."""
    config = broker.total.today.config
    assert {case.today.config.segment_bytes for case in broker.cases} >= {1 << 20, 1 << 30}
    assert (config.segment_bytes, config.segment_index_bytes, config.segment_ms) == (
        1 << 30,
        10 << 20,
        7 * 86_400_000,
    )


def test_the_release_of_one_partition_comes_with_its_trace(clean):
    """As for a whole broker, not one of two possible releases."""
    trace = open_source(clean / "nulls-0").assumed_release.traces[0]
    assert trace == message(
        "release.metadata_version", file="bootstrap.checkpoint", level=30, release="4.3"
    )
    assert open_source(clean / "nulls-0", "3.9").assumed_release.traces == (
        message("release.given"),
    )


def test_what_is_preallocated_is_each_topics_own(broker):
    """The small indexes of one topic and the large ones of the others are counted separately."""
    sizes = broker.total.today.partition_index_bytes
    assert len(sizes) == sum(case.today.partitions for case in broker.cases) and len(set(sizes)) > 1
    footprint = footprint_at(broker.total.measurement, broker.total.today, 4096)
    assert footprint["preallocated_bytes"] == sum(size // 8 * 8 + size // 12 * 12 for size in sizes)


def test_a_brokers_own_file_is_before_its_topics(clean, tmp_path):
    """server.properties in the directory."""
    shutil.copytree(clean, tmp_path / "broker")
    (tmp_path / "broker" / "server.properties").write_text(
        "log.segment.bytes=2097152\nlog.roll.hours=1\n"
    )
    config = open_source(tmp_path / "broker").total.today.config
    assert (config.segment_bytes, config.segment_ms, config.segment_index_bytes) == (
        2 << 20,
        3_600_000,
        10 << 20,
    )


@pytest.mark.parametrize("name", ["clean", "heartbeat", "sensors-seconds-0"])
def test_an_index_that_is_safe_is_one_number(name, clean, broker):
    """On the command line, also with timestamps of 1970."""
    source = (
        broker if name == "clean" else open_source(name if name == "heartbeat" else clean / name)
    )
    case = source.total
    config, interval = case.today.config, case.today.interval_bytes
    limits = limits_at(case.measurement, config, interval)
    assert (
        limits.safe_index_bytes
        == {"clean": 3_043_770, "heartbeat": 3_883_350, "sensors-seconds-0": 3_690_510}[name]
    )
    assert tuning_text.describe_limits(limits)["safe"] == limits.safe_index_bytes
