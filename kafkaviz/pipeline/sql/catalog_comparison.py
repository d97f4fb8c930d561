"""Two catalogs compared, batch by batch, by the checksums that they hold: no .log is read.

a_batches  bids-0  180–185  epoch 3  crc 63d6e475
b_batches  bids-0  180–184  epoch 5  crc ca8e9ce0      diverged at 180

One SQL text, which Spark and DuckDB both run: a batch is known by its offsets, leader epoch, size
and stored checksum. What an ingest has read of each log is enough for where two of them part; what
it has not is left to kafkaviz.analysis.comparison: whether other batches hold the same records,
whether a stored checksum is right, and leader epochs without a record.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkaviz.errors import CannotOpen
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog import catalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES = ("partitions", "batches")
SIDES = ("a", "b")
SAME_BATCHES = "same-batches"
COMPARISON_SQL = """
WITH current_logs AS (
  SELECT 'a' AS side, * FROM a_partitions WHERE state = 'current'
  UNION ALL SELECT 'b' AS side, * FROM b_partitions WHERE state = 'current'),
logs AS (
  SELECT topic, partition,
    MAX(CASE WHEN side = 'a' THEN 1 ELSE 0 END) AS in_a,
    MAX(CASE WHEN side = 'b' THEN 1 ELSE 0 END) AS in_b,
    MAX(CASE WHEN side = 'a' THEN topic_id END) AS id_a,
    MAX(CASE WHEN side = 'b' THEN topic_id END) AS id_b,
    MAX(CASE WHEN side = 'a' THEN log_start_offset END) AS start_a,
    MAX(CASE WHEN side = 'b' THEN log_start_offset END) AS start_b
  FROM current_logs GROUP BY topic, partition),
both_batches AS (
  SELECT topic, partition, base_offset, last_offset, leader_epoch, crc, size_bytes,
    1 AS in_a, 0 AS in_b FROM a_batches
  UNION ALL
  SELECT topic, partition, base_offset, last_offset, leader_epoch, crc, size_bytes,
    0 AS in_a, 1 AS in_b FROM b_batches),
unmatched AS (
  SELECT topic, partition, base_offset, last_offset, leader_epoch,
    MAX(in_a) AS in_a, MAX(in_b) AS in_b
  FROM both_batches
  GROUP BY topic, partition, base_offset, last_offset, leader_epoch, crc, size_bytes
  HAVING MAX(in_a) + MAX(in_b) = 1),
log_ends AS (
  SELECT topic, partition,
    COALESCE(MAX(CASE WHEN in_a = 1 THEN last_offset END), -1) + 1 AS end_a,
    COALESCE(MAX(CASE WHEN in_b = 1 THEN last_offset END), -1) + 1 AS end_b,
    SUM(in_a) AS batches_a, SUM(in_b) AS batches_b
  FROM both_batches GROUP BY topic, partition),
differences AS (
  SELECT known.topic, known.partition, COUNT(*) AS different_batches,
    MIN(known.base_offset) AS first_different_offset,
    MIN_BY(CASE WHEN known.in_a = 1 THEN leader_epoch END,
           CASE WHEN known.in_a = 1 THEN base_offset END) AS epoch_a,
    MIN_BY(CASE WHEN known.in_b = 1 THEN leader_epoch END,
           CASE WHEN known.in_b = 1 THEN base_offset END) AS epoch_b,
    MIN(CASE WHEN known.in_a = 1 THEN base_offset END) AS first_a,
    MIN(CASE WHEN known.in_b = 1 THEN base_offset END) AS first_b,
    MIN(CASE WHEN known.in_a = 1 THEN last_offset END) AS last_a,
    MIN(CASE WHEN known.in_b = 1 THEN last_offset END) AS last_b
  FROM unmatched known
  JOIN log_ends ON log_ends.topic = known.topic AND log_ends.partition = known.partition
  JOIN logs ON logs.topic = known.topic AND logs.partition = known.partition
  WHERE known.last_offset >= GREATEST(COALESCE(start_a, 0), COALESCE(start_b, 0))
    AND known.base_offset < LEAST(end_a, end_b)
  GROUP BY known.topic, known.partition)
SELECT logs.topic, logs.partition,
  CASE
    WHEN logs.in_b = 0 THEN 'only-in-a'
    WHEN logs.in_a = 0 THEN 'only-in-b'
    WHEN id_a <> id_b THEN 'other-generation'
    WHEN epoch_a <> epoch_b AND first_a <= last_b AND first_b <= last_a THEN 'diverged'
    WHEN different_batches > 0 THEN 'other-batches'
    WHEN end_a <> end_b THEN 'behind'
    WHEN start_a <> start_b THEN 'start-differs'
    ELSE 'same-batches'
  END AS relation,
  first_different_offset, epoch_a, epoch_b,
  COALESCE(different_batches, 0) AS different_batches,
  COALESCE(end_a, 0) AS end_a, COALESCE(end_b, 0) AS end_b,
  COALESCE(batches_a, 0) AS batches_a, COALESCE(batches_b, 0) AS batches_b
FROM logs
LEFT JOIN log_ends ON log_ends.topic = logs.topic AND log_ends.partition = logs.partition
LEFT JOIN differences
  ON differences.topic = logs.topic AND differences.partition = logs.partition
ORDER BY logs.topic, logs.partition
"""


def compare_catalogs(a: Path | str, b: Path | str) -> list[dict[str, Any]]:
    """A row a topic-partition that either side has as current, in this process, by DuckDB.

    Raises:
        CannotOpen: one of the two is no catalog of one broker directory.
    """
    import duckdb

    database = duckdb.connect()
    for side, path in zip(SIDES, (a, b), strict=True):
        for table, files in catalog_files(path).items():
            database.read_parquet(files).create_view(f"{side}_{table}")
    rows = database.sql(COMPARISON_SQL)
    names = rows.columns
    return [dict(zip(names, row, strict=True)) for row in rows.fetchall()]


def compare_on_spark(spark: "SparkSession", a: Path | str, b: Path | str) -> "DataFrame":
    """The same rows, on Spark.

    Raises:
        CannotOpen: one of the two is no catalog of one broker directory.
    """
    for side, path in zip(SIDES, (a, b), strict=True):
        for table, files in catalog_files(path).items():
            spark.read.parquet(*files).createOrReplaceTempView(f"{side}_{table}")
    return spark.sql(COMPARISON_SQL)


def catalog_files(path: Path | str) -> Mapping[str, Sequence[str]]:
    """The files of the tables that are compared.

    Raises:
        CannotOpen: it is no catalog, or one of several broker directories, or one without batches.
    """
    info = catalog.read(path).info
    if len(info.sources) != 1:
        raise CannotOpen(path, message("comparison.several_brokers", n=len(info.sources)))
    tables = {
        table: [str(Path(path) / table / file) for file in info.tables.get(table, ())]
        for table in TABLES
    }
    for table, files in tables.items():
        if not files:
            raise CannotOpen(path, message("comparison.empty_table", table=table))
    return tables
