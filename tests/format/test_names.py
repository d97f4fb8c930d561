"""Names of files and directories, against what Kafka 4.3 writes and refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.format.names import (
    PartitionName,
    SegmentName,
    natural_sort_key,
    parse_directory,
    parse_file,
)
from kafkaviz.units import file_stem

UUID = "d9e2420e43c24fe7bcf8a819bf93d888"


@pytest.mark.parametrize("kind", ["log", "index", "timeindex", "txnindex", "snapshot"])
@pytest.mark.parametrize("suffix", ["", "deleted", "cleaned", "swap"])
def test_a_segment_file_shows_its_base_offset(kind, suffix):
    """The 20 digits, the kind and the suffix."""
    name = f"00000000000000008527.{kind}" + (f".{suffix}" if suffix else "")
    assert parse_file(name) == SegmentName(8527, kind, suffix)


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("00000000000000000114-0000000001.checkpoint", SegmentName(114, "checkpoint", "", 1)),
        (
            "00000000000000000114-0000000001.checkpoint.deleted",
            SegmentName(114, "checkpoint", "deleted", 1),
        ),
        (
            "00000000000000000114-0000000012-5171350384906113131.checkpoint.part",
            SegmentName(114, "checkpoint", "part", 12),
        ),
        (
            "00000000000000000114-0000000012.checkpoint.part",
            SegmentName(114, "checkpoint", "part", 12),
        ),
        ("00000000000000000114-0000000012-517.checkpoint", None),
        ("00000000000000000114-9999999999.checkpoint", None),
        ("00000000000000000114.checkpoint", None),
        ("bootstrap.checkpoint", None),
    ],
)
def test_a_kraft_snapshot_shows_its_end_offset_and_epoch(name, parsed):
    assert parse_file(name) == parsed


@pytest.mark.parametrize(
    "name",
    [
        "9223372036854775808.log",
        "09223372036854775808.log",  # one beyond int64
        "000000000000000000000.log",  # 21 digits
        "0000000000000000000.log",  # 19 digits
        "-0000000000000000001.log",
        "0000000000000000000٣.log",  # a digit, but not one of Kafka's
        "00000000000000000000",
        "00000000000000000000.log.tmp",
        "00000000000000000000.log.deleted.deleted",
        "00000000000000000000.LOG",
        "00000000000000000000.log\n",
        "00000000000000000000_abc.index",
        "leader-epoch-checkpoint",
        "partition.metadata",
        "",
    ],
)
def test_other_files_have_no_base_offset(name):
    """Anything Kafka would not have written is left to the caller."""
    assert parse_file(name) is None


def test_the_largest_offset_has_a_name():
    """int64 ends at a name of 19 digits after one zero."""
    assert parse_file("09223372036854775807.index") == SegmentName(2**63 - 1, "index")


@given(st.integers(0, 2**63 - 1))
def test_a_name_comes_back_as_its_base_offset(base_offset):
    assert parse_file(f"{file_stem(base_offset)}.timeindex").base_offset == base_offset


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("orders-0", PartitionName("orders", 0)),
        ("eu-west.audit-log-12", PartitionName("eu-west.audit-log", 12)),
        ("__cluster_metadata-0", PartitionName("__cluster_metadata", 0)),
        (f"obsolete-2019-0.{UUID}-delete", PartitionName("obsolete-2019", 0, "delete")),
        (f"a.b-1.{UUID}-future", PartitionName("a.b", 1, "future")),
        (f"a.b-1.{UUID}-stray", PartitionName("a.b", 1, "stray")),
        ("x.y-delete-3", PartitionName("x.y-delete", 3)),
        ("-0-0", PartitionName("-0", 0)),
        ("orders-2147483647", PartitionName("orders", 2147483647)),
        ("orders-2147483648", None),
        (f"orders-{'0' * 5000}7", PartitionName("orders", 7)),
        (f"orders-{'9' * 5000}", None),
        ("orders-x", None),
        ("orders-", None),
        ("orders-٣", PartitionName("orders", 3)),
        ("orders-+1", PartitionName("orders", 1)),
        ("orders--1", PartitionName("orders-", 1)),
        ("orders-+", None),
        ("orders-\U0001d7cf", None),
        ("orders-1 ", None),
        ("orders-0-delete", None),  # Kafka refuses it: the id is missing
        (f"orders.{UUID}-delete", None),
        (f"orders-a.{UUID}-stray", None),
        ("-0", None),
        ("remote-log-index-cache", None),
        ("orders", None),
        ("", None),
    ],
    ids=lambda name: str(name)[:60],
)
def test_a_directory_shows_its_partition(name, parsed):
    """LocalLog.parseTopicPartitionName of 4.3.1 removes a suffixed id, splits at the last dash and
    calls parseInt.
    """
    assert parse_directory(name) == parsed


@given(
    st.from_regex(r"[a-zA-Z0-9._-]{1,249}", fullmatch=True),
    st.integers(0, 2**31 - 1),
    st.sampled_from(["delete", "future", "stray"]),
)
def test_any_topic_comes_back_from_its_directory(topic, partition, state):
    """Every topic name Kafka allows, in use and marked."""
    assert parse_directory(f"{topic}-{partition}") == PartitionName(topic, partition)
    assert parse_directory(f"{topic}-{partition}.{UUID}-{state}") == PartitionName(
        topic, partition, state
    )


@given(st.text())
def test_no_name_breaks_the_parsers(name):
    assert parse_file(name) is None or parse_file(name).base_offset >= 0
    assert parse_directory(name) is None or parse_directory(name).topic


def test_partitions_are_counted():
    """Numerically: in alphabetical order orders-10 would come before orders-2."""
    deleted = f"orders-1.{UUID}-delete"
    counted = ["__cluster_metadata-0", "a-0", "a-b-0", "lost+found", "orders-1", deleted]
    counted += ["orders-2", "orders-10"]
    assert sorted(sorted(counted), key=natural_sort_key) == counted
