"""Two catalogs compared by their checksums, against the comparison that reads both logs, and DuckDB
against Spark.
"""

import json
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis.comparison.comparator import compare
from kafkaviz.analysis.comparison.comparison import Relation
from kafkaviz.errors import CannotOpen
from kafkaviz.pipeline.sql.catalog_comparison import compare_catalogs, compare_on_spark
from tests.conftest import REPLICAS
from tests.support.ingest import ingest_in_process

A, B = REPLICAS
# what a catalog can say of each relation that the logs themselves tell
BY_CHECKSUMS = {
    Relation.IDENTICAL: {"same-batches"},
    Relation.INDEX_FILES_DIFFER: {"same-batches"},
    Relation.SEGMENTS_DIFFER: {"same-batches"},
    Relation.START_DIFFERS: {"start-differs"},
    Relation.BEHIND: {"behind"},
    Relation.DOOMED_TAIL: {"behind"},
    Relation.DIVERGED: {"diverged"},
    Relation.ALTERED: {"other-batches"},
    Relation.DAMAGED: {"other-batches", "same-batches"},
    Relation.CLEANED_DIFFERENTLY: {"other-batches"},
    Relation.ONLY_IN_A: {"only-in-a"},
    Relation.ONLY_IN_B: {"only-in-b"},
}


@pytest.fixture(scope="module")
def catalogs(cache, tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("replica-catalogs")
    for name, source in (("a", A), ("b", B)):
        ingest_in_process(source, catalog=folder / name)
    return folder / "a", folder / "b"


def test_every_relation_is_one_that_the_logs_tell(catalogs):
    """Of all partitions that are current on either side; where two part, the offset and epochs."""
    rows = {f"{row['topic']}-{row['partition']}": row for row in compare_catalogs(*catalogs)}
    partitions = {
        item.partition: item
        for item in compare(A, B).partitions
        if not item.partition.endswith("-delete")
    }
    assert rows.keys() == partitions.keys()
    for name, item in partitions.items():
        assert rows[name]["relation"] in BY_CHECKSUMS[item.relation], name
    bids = rows["bids-0"]
    assert (bids["first_different_offset"], bids["epoch_a"], bids["epoch_b"]) == (180, 3, 5)
    assert (bids["end_a"], bids["end_b"]) == (250, 220)


def test_a_catalog_is_the_same_as_itself(catalogs):
    """And nothing is counted as different."""
    rows = compare_catalogs(catalogs[0], catalogs[0])
    assert {row["relation"] for row in rows} == {"same-batches"}
    assert sum(row["different_batches"] for row in rows) == 0


@pytest.mark.slow
def test_spark_says_what_duckdb_says(catalogs, spark):
    """One text, two engines."""
    assert [row.asDict() for row in compare_on_spark(spark, *catalogs).collect()] == (
        compare_catalogs(*catalogs)
    )


def test_the_command_takes_catalogs(catalogs, capsys):
    """As text and as JSON; the status says that they differ."""
    assert main(["compare", *map(str, catalogs)]) == 1
    text = capsys.readouterr().out
    assert "from offset 180 on, leader epoch 3 in a, 5 in b" in text
    assert main(["compare", *map(str, catalogs), "--json"]) == 1
    parsed = json.loads(capsys.readouterr().out)
    assert parsed["counts"]["diverged"] == 1
    assert main(["compare", str(catalogs[0]), str(catalogs[0])]) == 0


def test_what_is_no_catalog_is_refused(catalogs, tmp_path):
    """In one line."""
    with pytest.raises(CannotOpen):
        compare_catalogs(catalogs[0], tmp_path)
