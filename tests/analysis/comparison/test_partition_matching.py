"""Partitions are matched by topic id, else by name, and never with a renamed directory."""

import pytest

from kafkaviz.analysis.comparison.comparator import compare
from kafkaviz.analysis.comparison.comparison import Relation
from kafkaviz.errors import CannotOpen
from kafkaviz.format import checkpoint
from tests.analysis.comparison.logs import batch_bytes, write_partition

X, Y = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
VALUES = {offset: b"value" for offset in range(4)}
DATA = batch_bytes(VALUES, first=0, last=3)


def broker(folder, **topic_ids):
    folder.mkdir()
    (folder / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    for name, topic_id in topic_ids.items():
        path = folder / name.replace("_", "-", 1)
        write_partition(path, {0: [DATA]}, "0\n1\n0 0\n")
        if topic_id:
            metadata = checkpoint.build_partition_metadata(topic_id)
            (path / "partition.metadata").write_bytes(metadata)
    return folder


def test_another_generation_is_not_compared(tmp_path):
    """The topic was created again: each generation is on one side, and names the other's id."""
    a, b = broker(tmp_path / "a", t_0=X), broker(tmp_path / "b", t_0=Y)
    left, right = compare(a, b).partitions
    assert {left.relation, right.relation} == {Relation.ONLY_IN_A, Relation.ONLY_IN_B}
    assert {left.other_generation, right.other_generation} == {X, Y}


def test_a_name_is_enough_where_an_id_is_missing(tmp_path):
    a, b = broker(tmp_path / "a", t_0=X), broker(tmp_path / "b", t_0=None)
    assert [item.relation for item in compare(a, b).partitions] == [Relation.IDENTICAL]


def test_partitions_and_logs_are_compared_whatever_their_names(tmp_path):
    """Two given partitions belong together; in a broker the partition of the same name is chosen."""
    a, b = broker(tmp_path / "a", t_0=X, u_0=None), broker(tmp_path / "b", copy_7=X)
    here, there = a / "t-0", b / "copy-7"
    log = f"{0:020d}.log"
    for pair in ((here, there), (here / log, there / log), (here, there / log)):
        comparison = compare(*pair)
        assert [item.relation for item in comparison.partitions] == [Relation.IDENTICAL]
    (partition,) = compare(a, a / "u-0").partitions
    assert (partition.partition, partition.relation) == ("u-0", Relation.IDENTICAL)


def test_what_cannot_be_opened_is_said(tmp_path):
    a = broker(tmp_path / "a", t_0=X)
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "nothing", tmp_path / "empty", a / "t-0" / "partition.metadata"):
        with pytest.raises(CannotOpen):
            compare(a, path)
