"""Files of a segment without their partition directory."""

import os
import shutil

import pytest

from kafkaviz.format import names
from kafkaviz.log import lone_files
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import open_broker

LOG, INDEX = "00000000000000000000.log", "00000000000000000000.index"
SNAPSHOT = "00000000000000019113.snapshot"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (LOG, LOG),
        ("orders-0_00000000000000000335 (1).index", "00000000000000000335.index"),
        ("x.00000000000000000335.timeindex.deleted", "00000000000000000335.timeindex.deleted"),
        ("00000000000000000335.snapshot", "00000000000000000335.snapshot"),
        ("server.log", None),
        ("0000000000000000033.log", None),
        ("99999999999999999999.log", None),
        ("00000000000000000335-0000000001.checkpoint", None),
        ("00000000000000000335.log.gz", None),
    ],
)
def test_a_copy_keeps_the_name_of_kafkas_in_its_own(name, expected):
    """20 digits, and the suffix of a segment file."""
    assert names.find_segment_name(name) == expected


def test_a_file_opens_its_segment_with_its_other_files(clean):
    """A partition directory that has three, under its name; the sizes are those on disk."""
    [partition] = open_broker(clean / "orders-0" / INDEX).partitions
    whole = open_broker(clean / "orders-0").partition("orders-0")
    [segment] = partition.segments
    assert partition.directory == "orders-0" and segment.base_offset == 0
    expected = {info.name: (info.size_bytes, info.mtime_ns) for info in whole.segment(0).files}
    assert {info.name: (info.size_bytes, info.mtime_ns) for info in segment.files} == expected
    assert (segment.offset_index == whole.segment(0).offset_index).all()


@pytest.mark.parametrize("kind", ["log", "index", "timeindex"])
def test_a_file_alone_is_a_segment_without_the_others(clean, tmp_path, kind):
    name = f"00000000000000000000.{kind}"
    shutil.copy2(clean / "orders-0" / name, tmp_path / f"copy of {name}")
    broker = open_broker(tmp_path / f"copy of {name}")
    [segment] = broker.partition(lone_files.UNNAMED).segments
    assert broker.is_lone and [info.name for info in segment.files] == [name]


def test_a_snapshot_alone_is_a_partition_without_a_segment(clean, tmp_path):
    shutil.copy2(clean / "orders-0" / SNAPSHOT, tmp_path)
    [partition] = open_broker(tmp_path / SNAPSHOT).partitions
    whole = open_broker(clean / "orders-0").partition("orders-0")
    assert partition.segments == ()
    assert partition.snapshot(19113) == whole.snapshot(19113)


def test_a_path_is_displayed_as_it_was_given(clean, tmp_path):
    path = tmp_path / LOG
    shutil.copy2(clean / "orders-0" / LOG, path)
    broker = open_broker(path)
    [segment] = broker.partitions[0].segments
    assert archive.display_path(broker.path) == path
    assert archive.display_path(segment.log.path) == path


def test_files_next_to_it_are_looked_up_again(clean, tmp_path):
    """Also a file that came or went since; nothing is written next to it."""
    shutil.copy2(clean / "orders-0" / LOG, tmp_path)

    def files() -> list[str]:
        return [info.name for info in open_broker(tmp_path / LOG).partitions[0].segments[0].files]

    assert files() == [LOG]
    shutil.copy2(clean / "orders-0" / INDEX, tmp_path)
    assert files() == [LOG, INDEX]
    (tmp_path / INDEX).unlink()
    assert files() == [LOG] == os.listdir(tmp_path)


def test_a_partition_of_an_archive_opens_by_a_file(clean, tmp_path):
    packed = shutil.make_archive(str(tmp_path / "copy"), "gztar", clean, "orders-0")
    [partition] = open_broker(f"{packed}/orders-0/{INDEX}").partitions
    assert (partition.directory, len(partition.segments)) == ("orders-0", 1)
