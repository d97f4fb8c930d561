"""The catalog's tables: each column, declared once as an Arrow type.

Null means that the value is unknown: the format lacks that field, or a file is missing or could not
be read. A timestamp of -1 is a -1 that Kafka wrote.
"""

import pyarrow as pa

from kafkaviz.analysis.disk import CHECKED_USES, Use

STRING = pa.string()
BOOL = pa.bool_()
INT = pa.int32()
LONG = pa.int64()
DOUBLE = pa.float64()
# the leading columns of every table
PARTITION = [("broker", STRING), ("topic", STRING), ("partition", INT)]
FILE_KINDS = ("log", "index", "timeindex", "txnindex")


def _file_columns() -> list[tuple[str, pa.DataType]]:
    """Returns the columns log_bytes, log_allocated_bytes, log_mtime_ns and the same for each index.

    They are null if the file does not exist.
    """
    return [
        (f"{kind}_{fact}", LONG)
        for kind in FILE_KINDS
        for fact in ("bytes", "allocated_bytes", "mtime_ns")
    ]


def use_column(use: Use) -> str:
    """Names the column of a use: batch_headers_bytes."""
    return f"{use.replace('-', '_')}_bytes"


# The number of its files, their disk space, and the bytes per use, which add up to the lengths of
# its files. They are null without checks.
DISK_COLUMNS = ("files", "allocated_bytes", *map(use_column, CHECKED_USES))
# the path of its log directory; null for a whole broker with several
LOG_DIRECTORY = ("log_directory", STRING)
PARTITIONS = pa.schema(
    [
        *PARTITION,
        ("directory", STRING),
        ("state", STRING),  # current, delete, future, stray
        ("topic_id", STRING),
        ("segments", INT),  # segments with a .log and no suffix
        ("log_start_offset", LONG),
        ("high_watermark", LONG),
        ("recovery_point", LONG),
        ("log_end_offset", LONG),
        LOG_DIRECTORY,
        *((name, LONG) for name in DISK_COLUMNS),
    ]
)
CONTENT = [  # found by reading the files of a segment
    ("batches", LONG),
    ("records", LONG),  # null if a compressed batch of magic 0 or 1 is unreadable
    ("first_offset", LONG),
    ("last_offset", LONG),
    # by the headers only: the first record's or the largest timestamp of each batch
    ("min_timestamp_ms", LONG),
    ("max_timestamp_ms", LONG),
    ("offset_entries", LONG),
    ("time_entries", LONG),
    ("unwritten_offset_slots", LONG),
    ("unwritten_time_slots", LONG),
    ("valid_bytes", LONG),  # bytes of the .log up to the end of its last complete batch
    ("torn_bytes", LONG),  # the bytes after that
]
SEGMENTS = pa.schema(
    [
        *PARTITION,
        ("base_offset", LONG),
        ("state", STRING),  # active, closed, deleted, cleaned, swap
        *_file_columns(),
        *CONTENT,
        ("roll_reason", STRING),
        # segment.bytes of its topic, from settings, rolls or the release
        ("segment_bytes", LONG),
        ("segment_bytes_source", STRING),
        ("interval_low_bytes", LONG),
        ("interval_high_bytes", LONG),
    ]
)
BATCHES = pa.schema(
    [
        *PARTITION,
        ("segment_base_offset", LONG),
        ("position", LONG),
        ("size_bytes", LONG),
        ("base_offset", LONG),
        ("last_offset", LONG),
        ("leader_epoch", INT),
        ("magic", INT),
        # none, gzip, snappy, lz4, zstd; an id without a codec is written as its number
        ("codec", STRING),
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
        ("entry_slot", INT),  # a slot of the offset index; null if no entry points to this batch
        # size of the records without compression; null unless a check has read all of them
        ("uncompressed_bytes", LONG),
    ]
)
OFFSET_ENTRIES = pa.schema(
    [
        *PARTITION,
        ("segment_base_offset", LONG),
        ("slot", INT),
        ("relative_offset", LONG),
        ("offset", LONG),
        ("position", LONG),
    ]
)
TIME_ENTRIES = pa.schema(
    [
        *PARTITION,
        ("segment_base_offset", LONG),
        ("slot", INT),
        ("timestamp_ms", LONG),
        ("relative_offset", LONG),
        ("offset", LONG),
    ]
)
FINDINGS = pa.schema(
    [  # topic and partition are null if it is about the broker directory itself
        *PARTITION,
        ("code", STRING),
        ("severity", STRING),  # error, warning, info
        ("file", STRING),  # relative to the broker directory
        ("position", LONG),
        ("length", LONG),
        ("evidence", STRING),  # found and expected, in one line
        ("consequence", STRING),
        ("next_step", STRING),
        ("directory", STRING),
        ("message", STRING),
        ("reference", STRING),
        ("evidence_found", STRING),
        ("evidence_expected", STRING),
        ("found_hex", STRING),
        ("expected_hex", STRING),
        ("json", STRING),  # the finding, for kafkaviz: findings.finding_codec
        LOG_DIRECTORY,
    ]
)
# The cost of each index.interval.bytes for a segment: analysis.sweep. A segment without a batch has
# no row.
SWEEP = pa.schema(
    [
        *PARTITION,
        ("segment_base_offset", LONG),
        ("interval_bytes", LONG),
        ("entries", LONG),  # entries of the offset index
        ("index_bytes", LONG),  # the size of both indexes
        (
            "headers_mean",
            DOUBLE,
        ),  # headers read by a fetch at the base offset of a batch
        ("headers_p50", LONG),
        ("headers_p90", LONG),
        ("headers_p99", LONG),
        ("headers_max", LONG),
        ("skipped_bytes_mean", DOUBLE),
    ]
)
RESTART_STEPS = pa.schema(
    [  # the steps of the broker's next start, in order
        *PARTITION,
        ("directory", STRING),
        ("segment_base_offset", LONG),  # null if the step is not about a single segment
        ("action", STRING),  # truncate, rebuild, delete, create, keep, fail
        ("cause", STRING),
        ("why", STRING),
        ("file", STRING),
        ("from_position", LONG),
        ("bytes", LONG),
        ("error", STRING),
        ("way_out", STRING),
        ("json", STRING),  # the step, for kafkaviz
        LOG_DIRECTORY,
    ]
)
RETENTION = pa.schema(
    [  # what keeps each segment, and until when; one row per segment
        *PARTITION,
        ("directory", STRING),
        ("segment_base_offset", LONG),
        ("bytes", LONG),
        ("timestamp_ms", LONG),  # the timestamp that counts; null if it cannot be read
        ("counted_by", STRING),  # record, entry, unwritten, mtime, unknown
        ("offset", LONG),  # the offset of that record
        # why the next pass deletes it (log-start, size, time), or what keeps it (until, bytes, ...)
        ("state", STRING),
        ("until_ms", LONG),  # when the segment itself is old enough
        ("gone_ms", LONG),  # when the segments before it are old enough too
        ("blocked_by", LONG),  # the base offset of the segment it waits for
        ("more_bytes", LONG),  # bytes to append until retention.bytes deletes it
        ("now_ms", LONG),  # the time of that pass
        ("deletes", BOOL),  # false: only compacted
        ("policy_source", STRING),
        ("retention_ms", LONG),
        ("retention_ms_source", STRING),
        ("retention_bytes", LONG),
        ("retention_bytes_source", STRING),
        ("is_tiered", BOOL),
        ("limits_json", STRING),  # the limits and their sources, for kafkaviz
        LOG_DIRECTORY,
    ]
)
CHECKED = pa.schema(
    [  # what the next run need not find again; only kafkaviz reads it
        *PARTITION,
        ("directory", STRING),
        ("base_offset", LONG),  # null: what a start does to the directory
        ("suffix", STRING),
        ("digest", STRING),  # a digest of all inputs of the check
        ("json", STRING),
    ]
)
STAMPS = pa.schema(
    [  # stamps of the files, in a row per segment and one for other files; for kafkaviz
        *PARTITION,
        ("directory", STRING),
        ("base_offset", LONG),  # null: the other files of the directory
        ("suffix", STRING),
        # size and mtime of each file, and its rows in the tables: catalog.stamps
        ("json", STRING),
    ]
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
OWN_TABLES = ("checked", "stamps")  # kafkaviz's own; queries are not about them
ROW_TABLES = ("batches", "offset_entries", "time_entries")  # the contents of the files
TASK_TABLES = (*ROW_TABLES, "sweep")  # written by the tasks that read the files
# empty if a run left the findings out
CHECK_TABLES = ("sweep", "findings", "restart_steps", "retention", "checked")
