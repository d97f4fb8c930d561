"""Two catalogs compared by their checksums, against the comparison that reads both logs, DuckDB
against Spark, and the SQL against a plain loop.
"""

import json
import math
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkaviz.analysis.comparison.comparator import compare
from kafkaviz.analysis.comparison.comparison import Relation
from kafkaviz.errors import CannotOpen
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.catalog import catalog_info
from kafkaviz.pipeline.catalog.catalog import NAME
from kafkaviz.pipeline.catalog.schema import TABLES
from kafkaviz.pipeline.ingest import job
from kafkaviz.pipeline.sql.catalog_comparison import (
    CatalogPair,
    compare_catalogs,
    compare_on_spark,
    open_pair,
)
from tests.conftest import REPLICAS
from tests.support.commands import json_of, refusal_of, text_of
from tests.support.ingest import MASTER, ingest_in_process, without_spark

A, B = REPLICAS
# what a catalog says of each relation that the logs themselves tell: it holds no bytes of an index
# and no bounds of segments, no epoch without a record, and no records to compare
BY_CHECKSUMS = {
    Relation.IDENTICAL: "same-batches",
    Relation.INDEX_FILES_DIFFER: "same-batches",
    Relation.SEGMENTS_DIFFER: "same-batches",
    Relation.START_DIFFERS: "start-differs",
    Relation.BEHIND: "behind",
    Relation.DOOMED_TAIL: "behind",
    Relation.DIVERGED: "diverged",
    Relation.ALTERED: "other-batches",
    Relation.DAMAGED: "damaged",
    Relation.CLEANED_DIFFERENTLY: "cleaned-differently",
    Relation.ONLY_IN_A: "only-in-a",
    Relation.ONLY_IN_B: "only-in-b",
}
DELETED_SURVEYS = "surveys-0.48dff64fbaf24cccad2d8ba56f43340f-delete"


@pytest.fixture(scope="module")
def folders(cache, tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("replica-catalogs")
    for name, source in (("a", A), ("b", B)):
        ingest_in_process(source, catalog=folder / name)
    return folder / "a", folder / "b"


@pytest.fixture(scope="module")
def pair(folders) -> CatalogPair:
    return open_pair(*folders)


@pytest.fixture(scope="module")
def made_again(folders, tmp_path_factory) -> CatalogPair:
    """Returns two catalogs: in b one topic was deleted and created again with the batches of a, and
    another one waits for deletion.
    """
    folder = tmp_path_factory.mktemp("made-anew")
    broker = folder / "broker"
    shutil.copytree(open_broker(B).path, broker)
    shutil.copytree(broker / DELETED_SURVEYS, broker / "surveys-0")
    for path in (broker / DELETED_SURVEYS).glob("0*"):
        path.unlink()
    for path in (broker / "auctions-0").glob("0*"):
        shutil.copy2(path, broker / DELETED_SURVEYS)
    ingest_in_process(broker, catalog=folder / "b")
    return open_pair(folders[0], folder / "b")


def by_name(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {f"{row['topic']}-{row['partition']}": row for row in rows}


def reverse(pair: CatalogPair) -> CatalogPair:
    return CatalogPair(pair.b, pair.a)


def test_every_relation_start_and_end_is_the_one_that_the_logs_tell(pair):
    """All partitions that are current on either side, as far as a catalog knows."""
    partitions = [
        item for item in compare(A, B).partitions if not item.partition.endswith("-delete")
    ]
    rows = by_name(compare_catalogs(pair))
    assert {name: row["relation"] for name, row in rows.items()} == {
        item.partition: BY_CHECKSUMS[item.relation] for item in partitions
    }
    for item in partitions:
        row = rows[item.partition]
        for side, replica in zip("ab", item.replicas, strict=True):
            expected = replica and (replica.log_start_offset, replica.log_end_offset)
            actual = row[f"start_{side}"], row[f"end_{side}"]
            assert actual == (expected or (None, None)), item.partition


def test_diverged_where_two_epochs_meet(pair):
    bids = by_name(compare_catalogs(pair))["bids-0"]
    assert (bids["first_different_offset"], bids["epoch_a"], bids["epoch_b"]) == (180, 3, 5)


def test_a_side_without_a_batch_there_has_no_epoch(pair):
    """The first batch of a is 647; only b has one at 372."""
    fleet = by_name(compare_catalogs(pair))["fleet-0"]
    assert (fleet["first_different_offset"], fleet["epoch_a"], fleet["epoch_b"]) == (372, None, 0)


def test_damage_that_an_ingest_found_is_damage(pair):
    rows = by_name(compare_catalogs(pair))
    for name in ("manifests-0", "manifests-1"):
        assert (rows[name]["damaged_a"], rows[name]["damaged_b"]) == (0, 1)
        assert rows[name]["different_batches"] == 0


def test_a_log_on_one_side_names_the_other_directory(pair):
    surveys = by_name(compare_catalogs(pair))["surveys-0"]
    assert surveys["other_directory"] == DELETED_SURVEYS
    assert (surveys["batches_a"], surveys["batches_b"]) == (12, None)


def test_a_deleted_directory_is_not_part_of_the_topic_made_again(made_again):
    """The name and the offsets are equal, but only the current directory counts."""
    surveys = by_name(compare_catalogs(made_again))["surveys-0"]
    assert surveys["relation"] == "same-batches"
    assert (surveys["batches_a"], surveys["batches_b"]) == (12, 12)


def test_another_topic_id_is_another_log(tmp_path):
    batch = {"base_offset": 0, "last_offset": 9, "record_count": 10, "crc": 1}
    for side in "ab":
        write_catalog(tmp_path / side, {"topic_id": side}, [batch])
    rows = compare_catalogs(open_pair(tmp_path / "a", tmp_path / "b"))
    generations = [(row["relation"], row["other_generation"]) for row in rows]
    assert generations == [("only-in-a", "b"), ("only-in-b", "a")]


def test_a_partition_in_two_log_directories_is_refused(tmp_path):
    """Table batches has no column for the log directory."""
    for side, copies in (("a", 1), ("b", 2)):
        write_catalog(tmp_path / side, {}, [], copies)
    with pytest.raises(CannotOpen, match="orders-0 is in several log directories"):
        compare_catalogs(open_pair(tmp_path / "a", tmp_path / "b"))


@pytest.mark.slow
def test_spark_says_what_duckdb_says(pair, spark):
    rows = [row.asDict() for row in compare_on_spark(spark, pair).collect()]
    assert rows == compare_catalogs(pair)


@pytest.mark.nightly
def test_spark_says_what_duckdb_says_of_others(pair, made_again, spark):
    for either in (reverse(pair), made_again):
        rows = [row.asDict() for row in compare_on_spark(spark, either).collect()]
        assert rows == compare_catalogs(either)


@pytest.mark.parametrize(
    ("findings", "level", "believed"),
    [(False, None, "ab"), (True, CheckLevel.HEADERS, "ab"), (True, CheckLevel.CRC, "")],
)
def test_checksums_that_no_ingest_checked_are_believed(
    cache, tmp_path, monkeypatch, findings, level, believed
):
    """Then damage is unknown, and the answer says so."""
    without_spark(monkeypatch)
    values = {} if level is None else {"level": level}
    job.start_ingest([B], tmp_path / "b", MASTER, findings=findings, **values).wait()
    command = ("compare", tmp_path / "b", tmp_path / "b")
    status = 0 if believed else 1
    text = text_of(*command, status=status)
    assert ("are trusted, because its ingest did not verify" in text) == bool(believed)
    verified = json_of(*command, status=status)["checksums_verified"]
    assert verified == {side: side not in believed for side in "ab"}


def test_the_command_takes_catalogs(folders):
    text = text_of("compare", *folders, status=1)
    assert "have the same batches on both sides" in text.splitlines()[0]
    assert f"\na  {folders[0]}\nb  {folders[1]}\n" in text
    assert "diverged at offset 180: leader epoch 3 in a, 5 in b" in text
    assert "the first of them is at offset 372, where only b has a batch" in " ".join(text.split())
    assert "at offset 27, which has leader epoch 0 on both sides" in " ".join(text.split())
    assert "offsets 0–39" in text
    assert "2 partitions: a batch has a wrong checksum" in text
    assert json_of("compare", *folders, status=1)["counts"]["diverged"] == 1
    text_of("compare", folders[0], folders[0])


def test_what_is_no_catalog_is_refused(folders, tmp_path):
    with pytest.raises(CannotOpen):
        open_pair(folders[0], tmp_path)


def test_a_catalog_is_compared_with_a_catalog_only(folders):
    for paths in ((folders[0], B), (B, folders[0])):
        assert "a catalog can only be compared with a catalog" in refusal_of("compare", *paths)


@pytest.mark.parametrize(
    "seed", [*range(15), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(15, 60))]
)
def test_made_up_batches_relate_as_a_plain_loop_says(tmp_path, seed):
    randomness = random.Random(seed)
    logs = list(make_logs(randomness))
    for side, (start, batches) in zip("ab", logs, strict=True):
        end = max([start, *(batch["last_offset"] + 1 for batch in batches)])
        values = {"log_start_offset": start, "log_end_offset": end}
        write_catalog(tmp_path / side, values, batches)
    (row,) = compare_catalogs(open_pair(tmp_path / "a", tmp_path / "b"))
    expected = relate(logs)
    assert {name: row[name] for name in expected} == expected


def make_logs(randomness: random.Random) -> Iterator[tuple[int, list[dict[str, int]]]]:
    """Draws the log start and the batches of two replicas; offsets cover several blocks of 2^16."""
    common, offset = [], randomness.choice((0, 65_500))
    for _ in range(randomness.randint(1, 12)):
        count = randomness.choice((1, 5, 40, 30_000))
        common.append(make_batch(randomness, offset, count, epoch=2))
        offset += count
    parting = randomness.choice((len(common), len(common), randomness.randint(0, len(common))))
    for epoch in (3, 5):
        batches = [dict(batch) for batch in common[:parting]]
        offset = batches[-1]["last_offset"] + 1 if batches else common[0]["base_offset"]
        has_own_epoch = randomness.random() < 0.5
        for _ in range(randomness.choice((0, 0, 3))):
            count = randomness.choice((1, 5, 7))
            own_epoch = epoch if has_own_epoch else 2
            batches.append(make_batch(randomness, offset, count, epoch=own_epoch))
            offset += count
        for batch in batches:
            change = randomness.random()
            if change < 0.05:
                batch["crc"] += 1
            elif change < 0.1 and batch["record_count"] > 1:
                batch |= {"crc": batch["crc"] + 2, "record_count": batch["record_count"] // 2}
        if randomness.random() < 0.2:
            batches = [batch for batch in batches if randomness.random() < 0.8]
        start = 0
        if batches and randomness.random() < 0.3:
            start = randomness.choice(batches)["base_offset"] + randomness.choice((0, 3))
            if randomness.random() < 0.5:  # retention has deleted older batches
                batches = [batch for batch in batches if batch["last_offset"] >= start]
        yield start, batches


def make_batch(randomness: random.Random, offset: int, count: int, *, epoch: int) -> dict[str, int]:
    return {
        "base_offset": offset,
        "last_offset": offset + count - 1,
        "leader_epoch": epoch,
        "size_bytes": 70 + count,
        "record_count": count,
        "crc": randomness.getrandbits(30),
    }


def relate(logs: Sequence[tuple[int, list[dict[str, int]]]]) -> dict[str, Any]:
    starts = [start for start, _ in logs]
    ends = [max([start, *(batch["last_offset"] + 1 for batch in own)]) for start, own in logs]
    first, end = max(starts), min(ends)
    alone = [
        [batch for batch in logs[side][1] if batch not in logs[1 - side][1]] for side in (0, 1)
    ]
    meetings = [(a, b) for a in alone[0] for b in alone[1] if overlap(a, b)]
    met = [batch for pair in meetings for batch in pair]
    different = [
        [batch for batch in own if batch in met or first <= batch["last_offset"]] for own in alone
    ]
    different = [[batch for batch in own if batch["base_offset"] < end] for own in different]
    records = [sum(count_records(batch, first, end) for batch in own) for own in different]
    parted = min(
        (
            (max(a["base_offset"], b["base_offset"]), a["leader_epoch"], b["leader_epoch"])
            for a, b in meetings
            if a["leader_epoch"] != b["leader_epoch"]
        ),
        default=None,
    )
    place = parted or find_first(different)
    relations = {
        "cleaned-differently": records[0] < records[1] or records[0] > records[1],
        "diverged": parted,
        "other-batches": any(different),
        "behind": ends[0] != ends[1],
        "start-differs": starts[0] != starts[1],
        "same-batches": True,
    }
    return {
        "relation": next(relation for relation, is_it in relations.items() if is_it),
        "different_batches": len(different[0]) + len(different[1]),
        "first_different_offset": place[0],
        "epoch_a": place[1],
        "epoch_b": place[2],
    }


def find_first(different: list[list[dict[str, int]]]) -> tuple[int | None, ...]:
    bases = [batch["base_offset"] for own in different for batch in own]
    if not bases:
        return None, None, None
    epochs = [
        next((batch["leader_epoch"] for batch in own if batch["base_offset"] == min(bases)), None)
        for own in different
    ]
    return min(bases), *epochs


def overlap(a: dict[str, int], b: dict[str, int]) -> bool:
    return a["base_offset"] <= b["last_offset"] and b["base_offset"] <= a["last_offset"]


def count_records(batch: dict[str, int], first: int, end: int) -> float:
    """Returns the number of records between two offsets, or NaN because of gaps."""
    offsets = range(batch["base_offset"], batch["last_offset"] + 1)
    if batch["record_count"] == len(offsets) or batch["last_offset"] < first:
        return sum(first <= offset < end for offset in offsets)
    return batch["record_count"] if first <= offsets[0] and offsets[-1] < end else math.nan


def write_catalog(
    folder: Path, log: Mapping[str, Any], batches: Sequence[Mapping], copies: int = 1
) -> None:
    owner = {"broker": folder.name, "topic": "orders", "partition": 0}
    rows = {
        "partitions": [owner | {"directory": "orders-0", "state": "current"} | log] * copies,
        "batches": [owner | batch for batch in batches],
    }
    files = {}
    for name, table_rows in rows.items():
        (folder / name).mkdir(parents=True)
        table = pa.Table.from_pylist(table_rows, TABLES[name])
        pq.write_table(table, folder / name / f"{name}-all.parquet")
        files[name] = {f"{name}-all.parquet": len(table_rows)}
    source = catalog_info.CatalogSource(
        broker=folder.name,
        path=folder,
        given=folder,
        node_id=None,
        cluster_id=None,
        directories=(),
        files={},
    )
    tables = {name: files.get(name, {}) for name in TABLES}
    info = catalog_info.CatalogInfo(kafkaviz="test", sources=(source,), tables=tables)
    (folder / NAME).write_text(json.dumps(catalog_info.to_json(info)))
