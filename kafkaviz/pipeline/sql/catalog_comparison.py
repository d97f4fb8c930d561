"""Compares two catalogs batch by batch, by their stored checksums, without reading a .log.

    a_batches  bids-0  180–185  epoch 3  crc 63d6e475
    b_batches  bids-0  180–184  epoch 5  crc ca8e9ce0      diverged at 180

The same SQL runs on Spark and on DuckDB. Two batches are equal if offsets, leader epoch, size,
record count and stored checksum are equal. Stored checksums that no ingest has verified are taken
as correct. Unlike kafkaviz.analysis.comparison, the SQL does not recognise equal records in
different batches, or leader epochs without records.

To avoid sorting and shuffling, each catalog gets a fingerprint per 2^16 offsets. Single batches are
compared only where the fingerprints differ.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkaviz.analysis.comparison.comparison import SIDES
from kafkaviz.analysis.comparison.partition_matching import PartitionMatch, match_partitions
from kafkaviz.analysis.findings import CODES, TAIL_CODES
from kafkaviz.errors import CannotOpen
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.names import PartitionName, parse_directory
from kafkaviz.log.broker import Problem
from kafkaviz.log.partition import Partition
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.catalog.catalog import Catalog
from kafkaviz.pipeline.catalog.catalog_info import RowRange, StoredSegment, from_row
from kafkaviz.pipeline.catalog.schema import BATCHES, INT, LONG, STRING
from kafkaviz.pipeline.ingest.merge_files import RowRuns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class CatalogRelation(StrEnum):
    """How the logs of two catalogs relate, from the least to the most severe relation."""

    SAME_BATCHES = "same-batches"  # means identical, index-files-differ or segments-differ
    START_DIFFERS = "start-differs"
    BEHIND = "behind"  # or doomed-tail, because a catalog has no epochs without records
    OTHER_BATCHES = "other-batches"  # altered, or the same records in other batches
    DIVERGED = "diverged"
    CLEANED_DIFFERENTLY = "cleaned-differently"
    DAMAGED = "damaged"
    ONLY_IN_A = "only-in-a"
    ONLY_IN_B = "only-in-b"

    @property
    def severity(self) -> int:
        return tuple(CatalogRelation).index(self)


# the matched logs, one per row; topic_a or topic_b is null if only the other side has the log
COMPARED_LOGS = pa.schema(
    [
        ("number", INT), ("topic", STRING), ("partition", INT),
        ("topic_a", STRING), ("topic_b", STRING), ("start_a", LONG), ("start_b", LONG),
        ("known_end_a", LONG), ("known_end_b", LONG), ("damaged_a", LONG), ("damaged_b", LONG),
        ("other_generation", STRING), ("other_directory", STRING),
    ]
)  # fmt: skip
# the batches of both sides, each with the number of the log that it is in
BATCHES_SQL = " UNION ALL ".join(
    f"""
SELECT /*+ BROADCAST(compared_logs) */ number, {number} AS side, base_offset >> 16 AS block,
  base_offset, last_offset, leader_epoch, crc, size_bytes, record_count
FROM {side}_batches JOIN compared_logs
  ON {side}_batches.topic = topic_{side} AND {side}_batches.partition = compared_logs.partition
"""
    for number, side in enumerate(SIDES)
)
BLOCKS_SQL = """
SELECT number, block, side, COUNT(*) AS batches,
  MIN(base_offset) AS first_offset, MAX(last_offset) AS last_offset,
  BIT_XOR(xxhash64(base_offset, last_offset, leader_epoch, crc, size_bytes, record_count))
    AS fingerprint
FROM both_batches GROUP BY number, block, side
"""
COMPARISON_SQL = """
WITH differing_blocks AS (
  SELECT number AS log, block AS differing_block FROM blocks GROUP BY number, block
  HAVING COUNT(*) = 1 OR MIN(batches) < MAX(batches) OR MIN(fingerprint) < MAX(fingerprint)),
log_bounds AS (
  SELECT number,
    SUM(CASE WHEN side = 0 THEN batches END) AS batches_a,
    SUM(CASE WHEN side = 1 THEN batches END) AS batches_b,
    MAX(CASE WHEN side = 0 THEN last_offset END) + 1 AS end_a,
    MAX(CASE WHEN side = 1 THEN last_offset END) + 1 AS end_b,
    GREATEST(MIN(CASE WHEN side = 0 THEN first_offset END),
             MIN(CASE WHEN side = 1 THEN first_offset END)) AS first_offset
  FROM blocks GROUP BY number),
logs AS (
  SELECT /*+ BROADCAST(log_bounds) */ compared_logs.*, batches_a, batches_b, first_offset,
    CASE WHEN topic_a IS NOT NULL
      THEN GREATEST(COALESCE(known_end_a, end_a, 0), start_a) END AS end_a,
    CASE WHEN topic_b IS NOT NULL
      THEN GREATEST(COALESCE(known_end_b, end_b, 0), start_b) END AS end_b
  FROM compared_logs LEFT JOIN log_bounds ON log_bounds.number = compared_logs.number),
compared_blocks AS (
  SELECT /*+ BROADCAST(differing_blocks) */ log, differing_block,
    LEAST(first_offset, GREATEST(start_a, start_b)) AS lower_bound,
    GREATEST(start_a, start_b) AS compared_from, LEAST(end_a, end_b) AS compared_to
  FROM differing_blocks JOIN logs ON logs.number = log
  WHERE topic_a IS NOT NULL AND topic_b IS NOT NULL
    AND differing_block <= (LEAST(end_a, end_b) >> 16)),
unmatched AS (
  SELECT /*+ BROADCAST(compared_blocks) */ number, compared_from, compared_to, base_offset,
    last_offset, leader_epoch, record_count, MIN(side) AS side
  FROM both_batches JOIN compared_blocks ON number = log AND block = differing_block
  WHERE last_offset >= lower_bound AND base_offset < compared_to
  GROUP BY number, compared_from, compared_to, base_offset, last_offset, leader_epoch, crc,
    size_bytes, record_count
  HAVING MIN(side) = MAX(side)),
neighbours AS (
  SELECT *,
    MAX(CASE WHEN side = 0 THEN last_offset END) OVER in_order AS reached_a,
    MAX(CASE WHEN side = 1 THEN last_offset END) OVER in_order AS reached_b,
    MAX_BY(CASE WHEN side = 0 THEN leader_epoch END, CASE WHEN side = 0 THEN last_offset END)
      OVER in_order AS reached_epoch_a,
    MAX_BY(CASE WHEN side = 1 THEN leader_epoch END, CASE WHEN side = 1 THEN last_offset END)
      OVER in_order AS reached_epoch_b,
    LEAD(side) OVER in_order AS next_side,
    LEAD(base_offset) OVER in_order AS next_offset
  FROM unmatched
  WINDOW in_order AS (PARTITION BY number ORDER BY base_offset, side)),
pairs AS (
  SELECT number, side, base_offset, last_offset, leader_epoch, compared_from, compared_to,
    base_offset <= CASE WHEN side = 0 THEN reached_b ELSE reached_a END AS meets_other,
    next_side <> side AND next_offset <= last_offset AS is_met,
    CASE WHEN side = 0 THEN leader_epoch ELSE reached_epoch_a END AS epoch_a,
    CASE WHEN side = 1 THEN leader_epoch ELSE reached_epoch_b END AS epoch_b,
    CASE WHEN last_offset < compared_from OR base_offset >= compared_to THEN 0
      WHEN record_count = last_offset - base_offset + 1
        THEN LEAST(last_offset + 1, compared_to) - GREATEST(base_offset, compared_from)
      WHEN base_offset >= compared_from AND last_offset < compared_to THEN record_count
    END AS records
  FROM neighbours),
differences AS (
  SELECT number, COUNT(*) AS different_batches,
    MIN(base_offset) AS first_offset,
    MIN(CASE WHEN side = 0 THEN base_offset END) AS first_a,
    MIN(CASE WHEN side = 1 THEN base_offset END) AS first_b,
    MIN_BY(CASE WHEN side = 0 THEN leader_epoch END, CASE WHEN side = 0 THEN base_offset END)
      AS first_epoch_a,
    MIN_BY(CASE WHEN side = 1 THEN leader_epoch END, CASE WHEN side = 1 THEN base_offset END)
      AS first_epoch_b,
    MIN(CASE WHEN meets_other AND epoch_a <> epoch_b THEN base_offset END) AS parted_offset,
    MIN_BY(epoch_a, CASE WHEN meets_other AND epoch_a <> epoch_b THEN base_offset END)
      AS parted_epoch_a,
    MIN_BY(epoch_b, CASE WHEN meets_other AND epoch_a <> epoch_b THEN base_offset END)
      AS parted_epoch_b,
    COUNT(*) = COUNT(records)
      AND SUM(CASE WHEN side = 0 THEN records ELSE 0 END)
        <> SUM(CASE WHEN side = 1 THEN records ELSE 0 END) AS has_gaps
  FROM pairs WHERE last_offset >= compared_from OR meets_other OR is_met
  GROUP BY number)
SELECT /*+ BROADCAST(differences) */ topic, partition,
  CASE
    WHEN topic_b IS NULL THEN 'only-in-a'
    WHEN topic_a IS NULL THEN 'only-in-b'
    WHEN damaged_a + damaged_b > 0 THEN 'damaged'
    WHEN has_gaps THEN 'cleaned-differently'
    WHEN parted_offset IS NOT NULL THEN 'diverged'
    WHEN different_batches > 0 THEN 'other-batches'
    WHEN end_a <> end_b THEN 'behind'
    WHEN start_a <> start_b THEN 'start-differs'
    ELSE 'same-batches'
  END AS relation,
  COALESCE(parted_offset, differences.first_offset) AS first_different_offset,
  CASE WHEN parted_offset IS NOT NULL THEN parted_epoch_a
    WHEN first_a = differences.first_offset THEN first_epoch_a END AS epoch_a,
  CASE WHEN parted_offset IS NOT NULL THEN parted_epoch_b
    WHEN first_b = differences.first_offset THEN first_epoch_b END AS epoch_b,
  COALESCE(different_batches, 0) AS different_batches,
  start_a, start_b, end_a, end_b,
  CASE WHEN topic_a IS NOT NULL THEN COALESCE(batches_a, 0) END AS batches_a,
  CASE WHEN topic_b IS NOT NULL THEN COALESCE(batches_b, 0) END AS batches_b,
  damaged_a, damaged_b, other_generation, other_directory
FROM logs LEFT JOIN differences ON differences.number = logs.number
ORDER BY logs.number
"""


@dataclass(frozen=True)
class CatalogPair:
    """Two catalogs, each with one broker."""

    a: Catalog
    b: Catalog

    @property
    def catalogs(self) -> tuple[Catalog, Catalog]:
        return self.a, self.b

    @property
    def unverified_sides(self) -> tuple[str, ...]:
        """The catalogs ("a", "b") with checksums that no ingest has verified."""
        checked = [side_catalog.info.sources[0].checked for side_catalog in self.catalogs]
        return tuple(
            side
            for side, check in zip(SIDES, checked, strict=True)
            if check is None or check.level is CheckLevel.HEADERS
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Files, except indexes, that an ingest could not read. They are treated as missing."""
        return tuple(
            problem
            for side_catalog in self.catalogs
            for problem in side_catalog.info.problems
            if not problem.path.name.endswith("index")
        )


def open_pair(a: Path | str, b: Path | str) -> CatalogPair:
    """Opens two catalogs. Raises CannotOpen if one is missing or has several brokers."""
    pair = CatalogPair(catalog.read(a), catalog.read(b))
    for side_catalog in pair.catalogs:
        if (count := len(side_catalog.info.sources)) != 1:
            raise CannotOpen(side_catalog.path, message("comparison.several_brokers", n=count))
    return pair


def compare_catalogs(pair: CatalogPair) -> list[dict[str, Any]]:
    """Compares the current logs of both catalogs with DuckDB. Returns one row per log.

    Raises CannotOpen if files of a catalog are missing or damaged.
    """
    import duckdb

    database = duckdb.connect()
    database.sql(
        "CREATE MACRO xxhash64(base_offset, last_offset, epoch, crc, size_bytes, records)"
        " AS hash(base_offset, last_offset, epoch, crc, size_bytes, records)"
    )
    database.from_arrow(compared_logs(pair)).create_view("compared_logs")
    for side, side_catalog in zip(SIDES, pair.catalogs, strict=True):
        if files := _batch_files(side_catalog):
            batches = database.read_parquet(files, filename=True, file_row_number=True)
            condition = _condition(side_catalog, "parse_filename(filename)", "file_row_number")
            (batches.filter(condition) if condition else batches).create_view(f"{side}_batches")
        else:
            database.from_arrow(BATCHES.empty_table()).create_view(f"{side}_batches")
    database.sql(BATCHES_SQL).create_view("both_batches")
    database.sql(BLOCKS_SQL).create("blocks")
    rows = database.sql(COMPARISON_SQL)
    names = rows.columns
    return [dict(zip(names, row, strict=True)) for row in rows.fetchall()]


def compare_on_spark(spark: "SparkSession", pair: CatalogPair) -> "DataFrame":
    """Returns the same rows, and raises the same errors, as `compare_catalogs`. Uses Spark."""
    logs = spark.createDataFrame(compared_logs(pair))
    logs.coalesce(1).createOrReplaceTempView("compared_logs")  # the data is small: no shuffle
    for side, side_catalog in zip(SIDES, pair.catalogs, strict=True):
        if files := _batch_files(side_catalog):
            batches = spark.read.parquet(*files)
            condition = _condition(side_catalog, "_metadata.file_name", "_metadata.row_index")
            batches = batches.where(condition) if condition else batches
        else:
            batches = spark.createDataFrame(BATCHES.empty_table())
        batches.createOrReplaceTempView(f"{side}_batches")
    spark.sql(BATCHES_SQL).createOrReplaceTempView("both_batches")
    blocks = spark.sql(BLOCKS_SQL).toArrow()  # the result is small and is read more than once
    spark.createDataFrame(blocks).coalesce(1).createOrReplaceTempView("blocks")
    return spark.sql(COMPARISON_SQL)


def compared_logs(pair: CatalogPair) -> pa.Table:
    """Matches the current logs of both catalogs, and counts the findings of damage in each.

    Returns one row (`COMPARED_LOGS`) per log. Logs are matched by `match_partitions`, as in a
    comparison of directories. Raises CannotOpen if a catalog has a partition twice, because table
    `batches` does not show which of the two a row belongs to.
    """
    logs = [_read_logs(side_catalog) for side_catalog in pair.catalogs]
    damage = [_count_damage(side_catalog) for side_catalog in pair.catalogs]
    partitions = [[_as_partition(row) for row in side_logs.values()] for side_logs in logs]
    matches = [
        match for match in match_partitions(*partitions) if _any_side(match).state == "current"
    ]
    rows = []
    for number, match in enumerate(matches):
        partition = _any_side(match)
        row = {
            "number": number,
            "topic": partition.topic,
            "partition": partition.partition,
            "other_generation": match.other_generation,
            "other_directory": match.other_directory,
        }
        for place, side in enumerate(SIDES):
            own = (match.a, match.b)[place]
            if own is not None:
                values = logs[place][own.directory]
                row |= {
                    f"topic_{side}": values["topic"],
                    f"start_{side}": values["log_start_offset"] or 0,
                    f"known_end_{side}": values["log_end_offset"],
                    f"damaged_{side}": damage[place][own.directory],
                }
        rows.append(row)
    return pa.Table.from_pylist(rows, COMPARED_LOGS)


def _read_logs(side_catalog: Catalog) -> dict[str, dict[str, Any]]:
    names = ["topic", "partition", "directory", "state", "topic_id"]
    names += ["log_start_offset", "log_end_offset"]
    rows = side_catalog.table("partitions", names).to_pylist()
    for directory, count in Counter(row["directory"] for row in rows).items():
        if count > 1:
            text = message("comparison.directory_twice", name=directory)
            raise CannotOpen(side_catalog.path, text)
    return {row["directory"]: row for row in rows}


def _as_partition(row: dict[str, Any]) -> Partition:
    name = PartitionName(row["topic"], row["partition"], row["state"])
    path = Path(row["directory"])
    return Partition(path=path, name=name, segments=(), topic_id=row["topic_id"])


def _any_side(match: PartitionMatch) -> Partition:
    partition = match.a or match.b
    assert partition is not None
    return partition


def _count_damage(side_catalog: Catalog) -> Counter[str]:
    checked = side_catalog.info.sources[0].checked
    codes = [code.name for code in CODES.values() if code.damages_batch]
    if checked and checked.clean:  # as in the comparison of directories
        codes += TAIL_CODES.values()
    findings = side_catalog.table("findings", ["directory"], [("code", "in", codes)])
    return Counter(findings["directory"].to_pylist())


def _batch_files(side_catalog: Catalog) -> list[str]:
    files = side_catalog.info.tables["batches"]
    return [str(side_catalog.path / "batches" / file) for file in files]


def _condition(side_catalog: Catalog, file: str, row: str) -> str:
    """Returns an SQL condition that is false for batches of renamed directories; "" without such.

    A deleted topic's directory is renamed to end in -delete. If the topic was created again, the
    rows of both topics have the same topic name in table `batches`, which has no directory column.

    `file` and `row` are the engine's SQL expressions for the name of a row's Parquet file, and for
    the number of a row in it.
    """
    runs: dict[str, RowRuns] = defaultdict(RowRuns)
    for rows in _other_rows(side_catalog):
        runs[rows.file].add(rows)
    ranges = " OR ".join(
        f"({file} = '{name}' AND {row} BETWEEN {start} AND {end - 1})"
        for name in sorted(runs)
        for start, end in runs[name].joined()
    )
    return f"NOT ({ranges})" if ranges else ""


def _other_rows(side_catalog: Catalog) -> Iterator[RowRange]:
    logs = side_catalog.table("partitions", ["topic", "partition", "state"]).to_pylist()
    names = [
        {(row["topic"], row["partition"]) for row in logs if (row["state"] == "current") is current}
        for current in (True, False)
    ]
    shared = names[0] & names[1]
    if not shared:
        return
    columns = ["broker", "topic", "partition", "base_offset", "suffix", "json"]
    topics = sorted({topic for topic, _ in shared})
    for row in side_catalog.table("stamps", columns, [("topic", "in", topics)]).to_pylist():
        stored = from_row(row, side_catalog.info)
        name = parse_directory(stored.directory)
        is_other = name is not None and name.state != "current"
        if is_other and isinstance(stored, StoredSegment):
            yield from stored.spans.get("batches", ())
