"""The catalog's tables. Each column is declared once, as an Arrow type.

Null means that the value is unknown: the batch's format lacks the field, or a file is missing or
unreadable. A timestamp of -1 is not null: Kafka wrote -1, which means "no timestamp".
"""

import pyarrow as pa

from kafkaviz.analysis.disk import CHECKED_USES, Use

STRING = pa.string()
BINARY = pa.binary()
BOOL = pa.bool_()
INT = pa.int32()
LONG = pa.int64()
DOUBLE = pa.float64()
PARTITION = [("broker", STRING), ("topic", STRING), ("partition", INT)]
FILE_KINDS = ("log", "index", "timeindex", "txnindex")
# columns for each of these files, and the attribute of log.file.FileInfo that has the value
FILE_FACTS = {"bytes": "size_bytes", "allocated_bytes": "allocated_bytes", "mtime_ns": "mtime_ns"}
# columns that Parquet stores with a dictionary, because they have few different values
DICTIONARY = ["broker", "topic", "codec", "timestamp_type"]


def table_schema(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    """Returns the columns of a table: those in `PARTITION`, then `columns`."""
    return pa.schema([*PARTITION, *columns])


def use_column(use: Use) -> str:
    """Returns the name of the column for a use of disk space, such as "batch_headers_bytes"."""
    return f"{use.replace('-', '_')}_bytes"


# For each partition: the number of files, their disk space, and the bytes per use, whose sum is the
# length of all files. They are null if the ingest did not check anything.
DISK_COLUMNS = ("files", "allocated_bytes", *map(use_column, CHECKED_USES))
LOG_DIRECTORY = ("log_directory", STRING)  # path; null in rows about several log directories
PARTITIONS = table_schema(
    ("directory", STRING),
    ("state", STRING),  # current, delete, future, stray
    ("topic_id", STRING),
    ("segments", INT),  # segments in use: they have a .log without a suffix
    ("log_start_offset", LONG),
    ("high_watermark", LONG),
    ("recovery_point", LONG),
    ("log_end_offset", LONG),
    LOG_DIRECTORY,
    *((name, LONG) for name in DISK_COLUMNS),
)
SEGMENTS = table_schema(
    ("base_offset", LONG),
    ("state", STRING),  # active, closed, deleted, cleaned, swap
    *((f"{kind}_{fact}", LONG) for kind in FILE_KINDS for fact in FILE_FACTS),
    # filled by reading the files of the segment
    ("batches", LONG),
    ("records", LONG),  # null if a compressed batch of magic 0 or 1 is unreadable
    ("first_offset", LONG),
    ("last_offset", LONG),
    # from the batch headers: the smallest of the first records' timestamps, the largest of all
    ("min_timestamp_ms", LONG),
    ("max_timestamp_ms", LONG),
    ("offset_entries", LONG),
    ("time_entries", LONG),
    ("unwritten_offset_slots", LONG),
    ("unwritten_time_slots", LONG),
    ("valid_bytes", LONG),  # bytes of the .log up to the end of its last complete batch
    ("torn_bytes", LONG),  # bytes after that end
    ("roll_reason", STRING),
    # segment.bytes of the topic, taken from settings, rolls or the release's default
    ("segment_bytes", LONG),
    ("segment_bytes_source", STRING),
    ("interval_low_bytes", LONG),
    ("interval_high_bytes", LONG),
)
BATCHES = table_schema(
    ("segment_base_offset", LONG),
    ("position", LONG),
    ("size_bytes", LONG),
    ("base_offset", LONG),
    ("last_offset", LONG),
    ("leader_epoch", INT),
    ("magic", INT),
    ("codec", STRING),  # none, gzip, snappy, lz4, zstd; an unknown codec id is written as a number
    ("timestamp_type", STRING),  # CreateTime, LogAppendTime
    ("is_transactional", BOOL),
    ("is_control", BOOL),
    ("delete_horizon_ms", LONG),
    ("record_count", INT),
    ("base_timestamp_ms", LONG),
    ("max_timestamp_ms", LONG),
    ("producer_id", LONG),
    ("producer_epoch", INT),
    ("base_sequence", INT),
    ("crc", LONG),
    ("entry_slot", INT),  # slot of the offset index that points to this batch, or null
    # size of the uncompressed records; null unless a check has read all records of the batch
    ("uncompressed_bytes", LONG),
)
OFFSET_ENTRIES = table_schema(
    ("segment_base_offset", LONG),
    ("slot", INT),
    ("relative_offset", LONG),
    ("offset", LONG),
    ("position", LONG),
)
TIME_ENTRIES = table_schema(
    ("segment_base_offset", LONG),
    ("slot", INT),
    ("timestamp_ms", LONG),
    ("relative_offset", LONG),
    ("offset", LONG),
)
# topic and partition are null if the finding is about the broker directory itself
FINDINGS = table_schema(
    ("code", STRING),
    ("severity", STRING),  # error, warning, info
    ("file", STRING),  # path relative to the broker directory
    ("position", LONG),
    ("length", LONG),
    ("evidence", STRING),  # the found and the expected value, in one line
    ("consequence", STRING),
    ("next_step", STRING),
    ("directory", STRING),
    ("message", STRING),
    ("reference", STRING),
    ("evidence_found", STRING),
    ("evidence_expected", STRING),
    ("found_hex", STRING),
    ("expected_hex", STRING),
    ("json", STRING),  # the whole finding, only for kafkaviz: analysis.finding_rows
    LOG_DIRECTORY,
)
# The cost of each index.interval.bytes for a segment: analysis.sweep. A segment without a batch has
# no row.
SWEEP = table_schema(
    ("segment_base_offset", LONG),
    ("interval_bytes", LONG),
    ("entries", LONG),  # entries of the offset index
    ("index_bytes", LONG),  # size of both index files
    # headers read by a fetch at the base offset of a batch
    ("headers_mean", DOUBLE),
    ("headers_p50", LONG),
    ("headers_p90", LONG),
    ("headers_p99", LONG),
    ("headers_max", LONG),
    ("skipped_bytes_mean", DOUBLE),
)
RESTART_STEPS = table_schema(  # the steps of the broker's next start, in order
    ("directory", STRING),
    ("segment_base_offset", LONG),  # null if the step is about more than one segment, or none
    ("action", STRING),  # truncate, rebuild, delete, create, keep, fail
    ("cause", STRING),
    ("why", STRING),
    ("file", STRING),
    ("from_position", LONG),
    ("bytes", LONG),
    ("error", STRING),
    ("way_out", STRING),
    ("json", STRING),  # the whole step as JSON, which only kafkaviz reads
    LOG_DIRECTORY,
)
RETENTION = table_schema(  # what keeps each segment, and until when; one row per segment
    ("directory", STRING),
    ("segment_base_offset", LONG),
    ("bytes", LONG),
    ("timestamp_ms", LONG),  # the timestamp that retention uses; null if it cannot be read
    ("counted_by", STRING),  # origin of the timestamp: record, entry, unwritten, mtime, unknown
    ("offset", LONG),  # the offset of the record with that timestamp
    # why the next pass deletes the segment (log-start, size, time), or what keeps it (until,
    # bytes, and others)
    ("state", STRING),
    ("until_ms", LONG),  # when this segment is old enough to be deleted
    ("gone_ms", LONG),  # when this segment and all segments before it are old enough
    ("blocked_by", LONG),  # base offset of the older segment that must be deleted first
    ("more_bytes", LONG),  # bytes to append until retention.bytes deletes the segment
    ("now_ms", LONG),  # time of the retention pass that was predicted
    ("deletes", BOOL),  # false if cleanup.policy is only compact
    ("policy_source", STRING),
    ("retention_ms", LONG),
    ("retention_ms_source", STRING),
    ("retention_bytes", LONG),
    ("retention_bytes_source", STRING),
    ("is_tiered", BOOL),
    ("limits_json", STRING),  # the limits and their sources as JSON, which only kafkaviz reads
    LOG_DIRECTORY,
)
CHECKED = table_schema(  # check results that the next run can reuse; only kafkaviz reads them
    ("directory", STRING),
    ("base_offset", LONG),  # null in the row with the effect of a broker start on the directory
    ("suffix", STRING),
    ("digest", STRING),  # a digest of everything that the check depends on
    ("json", STRING),
)
# state of the files: a row per segment and one for other files; only kafkaviz reads them
STAMPS = table_schema(
    ("directory", STRING),
    ("base_offset", LONG),  # null in the row of the directory's other files
    ("suffix", STRING),
    ("json", STRING),  # JSON: size and mtime of each file, and where its rows are (catalog_info.py)
)
TABLES: dict[str, pa.Schema] = {
    "partitions": PARTITIONS,
    "segments": SEGMENTS,
    "batches": BATCHES,
    "offset_entries": OFFSET_ENTRIES,
    "time_entries": TIME_ENTRIES,
    "sweep": SWEEP,
    "findings": FINDINGS,
    "restart_steps": RESTART_STEPS,
    "retention": RETENTION,
    "checked": CHECKED,
    "stamps": STAMPS,
}
OWN_TABLES = ("checked", "stamps")  # tables for kafkaviz itself, which queries cannot read
ROW_TABLES = ("batches", "offset_entries", "time_entries")  # tables with the contents of files
TASK_TABLES = (*ROW_TABLES, "sweep")  # tables that are written by the tasks that read the files
# tables that are empty if a run makes no findings
CHECK_TABLES = ("sweep", "findings", "restart_steps", "retention", "checked")
