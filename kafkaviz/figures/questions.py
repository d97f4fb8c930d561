"""The questions that the page Explore starts from: each a query over the catalog, and how its answer reads in a figure.

The SQL is the answer's only source: a title is worked out from the rows that came back, and is only used while the query stands as it
is here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent

from kafkaviz.analyse.retention import DUE, HELD
from kafkaviz.units import duration, group, share, size

Row = Mapping[str, object]
MAX_MAP_COUNT = 65_530  # vm.max_map_count of Linux, unless somebody raised it


@dataclass(frozen=True)
class Question:
    """A question, its query, and the figure of the answer.

    value: the column that is drawn. title: of the rows, of which there is at least one; below: what is drawn, and in which unit. tail:
    what is written behind a bar; the value alone where there is none.
    """

    name: str  # in an address
    text: str
    sql: str
    value: str
    title: Callable[[Sequence[Row]], str]
    below: str
    tail: Callable[[Row], str] | None = None


def _question(name: str, text: str, sql: str, value: str, title: Callable, below: str, tail: Callable | None = None) -> Question:
    return Question(name, text, dedent(sql).strip(), value, title, below, tail)


def partition(row: Row) -> str:
    """The topic-partition of a row, or its topic."""
    return f"{row['topic']}-{row['partition']}" if row.get("partition") is not None else str(row["topic"])


def count(number: int, noun: str, plural: str = "") -> str:
    """1 segment, 2 segments."""
    return f"{group(number)} {noun if number == 1 else plural or noun + 's'}"


def _due(rows: Sequence[Row]) -> int:
    return sum(row["log_bytes"] for row in rows if row["state"] in DUE)


QUESTIONS = (
    _question(
        "half-full", "Which segments closed less than half full?",
        """
        WITH closed AS (
          SELECT topic, partition, roll_reason,
                 log_bytes / max(log_bytes) OVER () AS fullness
          FROM segments
          WHERE state = 'closed'
        )
        SELECT topic, partition,
               count(*)                AS closed,
               round(avg(fullness), 4) AS fill,
               max(roll_reason)        AS roll_reason
        FROM closed
        GROUP BY topic, partition
        HAVING fill < 0.5
        ORDER BY fill
        """,
        "fill",
        lambda rows: f"{count(len(rows), 'topic-partition')} {'closes' if len(rows) == 1 else 'close'} small segments; "
        f"{partition(rows[0])} at {share(rows[0]['fill'], 1)} of the largest",
        "Mean size of closed segments, as a share of the largest one; the number counts segments",
        lambda row: f"{share(row['fill'], 1)}, {count(row['closed'], 'segment')}, {str(row['roll_reason'] or 'unknown').replace('_', ' ')}",
    ),
    _question(
        "sparsest", "Where is the index sparsest?",
        """
        SELECT topic, partition,
               round(sum(log_bytes) / sum(offset_entries)) AS bytes_per_entry
        FROM segments
        WHERE offset_entries > 0
        GROUP BY topic, partition
        ORDER BY bytes_per_entry DESC
        LIMIT 8
        """,
        "bytes_per_entry",
        lambda rows: f"{partition(rows[0])} has an entry only every {size(rows[0]['bytes_per_entry'])}",
        "Log bytes that an offset entry covers",
    ),
    _question(
        "densest", "Where is the index densest?",
        """
        SELECT topic, partition,
               sum(offset_entries) AS entries,
               round(sum(8 * offset_entries + 12 * time_entries)
                     / sum(log_bytes), 5) AS index_share
        FROM segments
        WHERE log_bytes > 0
        GROUP BY topic, partition
        ORDER BY index_share DESC
        LIMIT 8
        """,
        "index_share",
        lambda rows: f"The indexes of {partition(rows[0])} hold {share(rows[0]['index_share'], 1)} of its log",
        "Bytes of offset and time entries, as a share of the log's",
        lambda row: f"{share(row['index_share'], 1)}, {count(row['entries'], 'offset entry', 'offset entries')}",
    ),
    _question(
        "worst-lookup", "Which lookup reads the most batches?",
        """
        WITH stretches AS (
          SELECT topic, partition, segment_base_offset, size_bytes, last_offset,
                 count(entry_slot) OVER (
                   PARTITION BY topic, partition, segment_base_offset
                   ORDER BY position) AS stretch  -- from an indexed batch on
          FROM batches
        ), lookups AS (
          SELECT topic, partition,
                 struct(count(*) AS headers, max(last_offset) AS target,
                        sum(size_bytes) AS bytes) AS found
          FROM stretches
          GROUP BY topic, partition, segment_base_offset, stretch
        ), worst AS (
          SELECT topic, partition, max(found) AS found
          FROM lookups
          GROUP BY topic, partition
        )
        SELECT topic, partition, found.target AS offset,
               found.headers, found.bytes
        FROM worst
        ORDER BY headers DESC
        LIMIT 8
        """,
        "headers",
        lambda rows: f"A fetch of offset {group(rows[0]['offset'])} of {partition(rows[0])} "
        f"reads {count(rows[0]['headers'], 'batch header')}",
        "Batch headers from the entry that a lookup starts at to the batch that answers it, of the worst offset",
        lambda row: f"{group(row['headers'])}, over {size(row['bytes'])}",
    ),
    _question(
        "small-batches", "Which topics have batches smaller than 200 bytes?",
        """
        SELECT topic,
               count(*)                    AS batches,
               round(avg(record_count), 1) AS records_a_batch,
               round(avg(size_bytes))      AS batch_bytes
        FROM batches
        GROUP BY topic
        HAVING batch_bytes < 200
        ORDER BY batches DESC
        """,
        "batches",
        lambda rows: f"{count(len(rows), 'topic')} {'has' if len(rows) == 1 else 'have'} batches smaller than 200 B; "
        f"{rows[0]['topic']} has {group(rows[0]['batches'])} of them",
        "Batches; behind, their mean size and their records",
        lambda row: f"{group(row['batches'])}, of {size(row['batch_bytes'])} and {row['records_a_batch']:.1f} records",
    ),
    _question(
        "unindexed", "How many batches have no index entry?",
        """
        SELECT topic,
               count(*) - count(entry_slot) AS not_indexed,
               count(*)                     AS batches,
               round(1 - count(entry_slot) / count(*), 4) AS share
        FROM batches
        GROUP BY topic
        ORDER BY not_indexed DESC
        LIMIT 12
        """,
        "not_indexed",
        lambda rows: f"{group(rows[0]['not_indexed'])} of the {group(rows[0]['batches'])} batches of {rows[0]['topic']} have no entry",
        "Batches that no entry of the offset index points at: a lookup reads past them",
        lambda row: f"{group(row['not_indexed'])}, {share(row['share'], 1)} of its batches",
    ),
    _question(
        "interval", "What does the index interval buy?",
        """
        SELECT interval_bytes,
               sum(index_bytes)            AS index_bytes,
               round(max(headers_mean), 1) AS worst_headers_mean,
               max(headers_max)            AS headers_max
        FROM sweep
        GROUP BY interval_bytes
        ORDER BY interval_bytes
        """,
        "index_bytes",
        lambda rows: f"Indexes of {size(max(row['index_bytes'] for row in rows))} at an entry a batch, "
        f"of {size(min(row['index_bytes'] for row in rows))} at an interval of {size(rows[-1]['interval_bytes'])}",
        "Bytes of offset and time index that an index.interval.bytes would have cost all segments together",
    ),
    _question(
        "16-kib", "What would 16 KiB cost, topic by topic?",
        """
        SELECT topic,
               max(headers_p99) FILTER (WHERE interval_bytes = 4096)
                 AS headers_p99_at_4_kib,
               max(headers_p99) FILTER (WHERE interval_bytes = 16384)
                 AS headers_p99_at_16_kib,
               sum(index_bytes) FILTER (WHERE interval_bytes = 4096)
                 - sum(index_bytes) FILTER (WHERE interval_bytes = 16384)
                 AS saved_bytes
        FROM sweep
        GROUP BY topic
        ORDER BY headers_p99_at_16_kib DESC
        LIMIT 12
        """,
        "headers_p99_at_16_kib",
        lambda rows: f"At 16 KiB one fetch in a hundred of {rows[0]['topic']} reads {group(rows[0]['headers_p99_at_16_kib'])} headers, "
        f"for {group(rows[0]['headers_p99_at_4_kib'])} at 4 KiB",
        "Batch headers that all but one in a hundred fetches stay below, in the worst segment of the topic",
        lambda row: f"{group(row['headers_p99_at_16_kib'])} for {group(row['headers_p99_at_4_kib'])}, saves {size(row['saved_bytes'])}",
    ),
    _question(
        "preallocated", "How much of the indexes is preallocated?",
        """
        SELECT topic, partition,
               sum(8 * unwritten_offset_slots
                   + 12 * unwritten_time_slots) AS unwritten_bytes,
               sum(index_bytes + timeindex_bytes) AS length_bytes,
               sum(index_allocated_bytes + timeindex_allocated_bytes)
                 AS on_disk_bytes
        FROM segments
        GROUP BY topic, partition
        HAVING unwritten_bytes > 0
        ORDER BY unwritten_bytes DESC
        """,
        "unwritten_bytes",
        lambda rows: f"{size(sum(row['unwritten_bytes'] for row in rows))} of index were never written, in "
        f"{count(len(rows), 'topic-partition')}; {size(sum(row['on_disk_bytes'] for row in rows))} take room on disk",
        "Bytes of slots that no entry fills, by length; a sparse file takes less on disk",
        lambda row: f"{size(row['unwritten_bytes'])}, {size(row['on_disk_bytes'])} on disk",
    ),
    _question(
        "maps", "How many memory maps would a broker hold?",
        """
        SELECT topic,
               count(*)                                  AS segments,
               count(index_bytes) + count(timeindex_bytes) AS maps
        FROM segments
        WHERE state IN ('active', 'closed')
        GROUP BY topic
        ORDER BY maps DESC, topic
        """,
        "maps",
        lambda rows: f"{count(sum(row['maps'] for row in rows), 'memory map')} at most, "
        f"{share(sum(row['maps'] for row in rows), MAX_MAP_COUNT)} of what Linux allows",
        f"Index files, each a map once it was used; vm.max_map_count is {group(MAX_MAP_COUNT)} unless it was raised",
        lambda row: f"{group(row['maps'])}, {count(row['segments'], 'segment')}",
    ),
    _question(
        "codecs", "What does each codec save?",
        """
        SELECT codec,
               count(*)          AS batches,
               sum(record_count) AS records,
               sum(size_bytes)   AS log_bytes,
               round(sum(size_bytes) / sum(record_count), 1)
                 AS bytes_a_record
        FROM batches
        GROUP BY codec
        ORDER BY bytes_a_record
        """,
        "bytes_a_record",
        lambda rows: f"A record takes {size(rows[0]['bytes_a_record'])} with {rows[0]['codec']}, "
        f"{size(rows[-1]['bytes_a_record'])} with {rows[-1]['codec']}",
        "Bytes of .log a record, batch headers included; topics differ in their records too",
        lambda row: f"{row['bytes_a_record']:g} B, {count(row['batches'], 'batch', 'batches')}, {size(row['log_bytes'])}",
    ),
    _question(
        "late", "Which topics hold late records?",
        """
        WITH before AS (
          SELECT topic, partition, max_timestamp_ms,
                 max(max_timestamp_ms) OVER (
                   PARTITION BY topic, partition ORDER BY base_offset
                   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                 ) AS newest_ms
          FROM batches
        )
        SELECT topic, partition,
               count(*)                          AS late_batches,
               max(newest_ms - max_timestamp_ms) AS latest_by_ms
        FROM before
        WHERE max_timestamp_ms < newest_ms
        GROUP BY topic, partition
        ORDER BY late_batches DESC
        LIMIT 12
        """,
        "late_batches",
        lambda rows: f"{count(rows[0]['late_batches'], 'batch', 'batches')} of {partition(rows[0])} came late, "
        f"by up to {duration(rows[0]['latest_by_ms'])}",
        "Batches whose newest record is older than one before them: no time entry can stand for it",
        lambda row: f"{group(row['late_batches'])}, by up to {duration(row['latest_by_ms'])}",
    ),
    _question(
        "future", "Whose newest record is in the future?",
        """
        SELECT topic, partition,
               max(max_timestamp_ms)                       AS newest_timestamp_ms,
               max(max_timestamp_ms - log_mtime_ns DIV 1000000) AS ahead_ms
        FROM segments
        GROUP BY topic, partition
        HAVING ahead_ms > 3600000
        ORDER BY ahead_ms DESC
        """,
        "ahead_ms",
        lambda rows: f"The newest record of {partition(rows[0])} is {duration(rows[0]['ahead_ms'])} ahead of its file",
        "How far the largest timestamp lies beyond the last write of its .log: retention by time waits as long",
    ),
    _question(
        "compacted", "Which offsets were compacted away?",
        """
        SELECT topic, partition,
               max(last_offset) - min(base_offset) + 1 AS offsets,
               max(last_offset) - min(base_offset) + 1
                 - sum(record_count)                   AS gone
        FROM batches
        GROUP BY topic, partition
        HAVING gone > 0
        ORDER BY gone DESC
        """,
        "gone",
        lambda rows: f"{share(rows[0]['gone'], rows[0]['offsets'])} of the offsets of {partition(rows[0])} hold no record any more",
        "Offsets between the first and the last that no record has",
        lambda row: f"{group(row['gone'])} of {group(row['offsets'])}",
    ),
    _question(
        "producers", "Which producers wrote to which topic?",
        """
        SELECT topic, producer_id,
               max(producer_epoch) AS epoch,
               count(*)            AS batches,
               sum(record_count)   AS records,
               bool_or(is_transactional) AS transactional
        FROM batches
        WHERE producer_id >= 0
        GROUP BY topic, producer_id
        ORDER BY records DESC
        LIMIT 12
        """,
        "records",
        lambda rows: f"Producer {rows[0]['producer_id']} wrote the most, {group(rows[0]['records'])} records of {rows[0]['topic']}",
        "Records of producers with an id, which idempotent and transactional ones have",
        lambda row: f"{group(row['records'])}{', in transactions' if row['transactional'] else ''}",
    ),
    _question(
        "retention", "What keeps the segments?",
        """
        SELECT state,
               count(*)   AS segments,
               sum(bytes) AS log_bytes,
               from_unixtime(max(gone_ms) DIV 1000) AS last_gone
        FROM retention
        GROUP BY state
        ORDER BY log_bytes DESC
        """,
        "log_bytes",
        lambda rows: f"{size(_due(rows))} of {size(sum(row['log_bytes'] for row in rows))} of log are due at the next pass of retention",
        "Bytes of segments by what keeps them; what is due is deleted unless the topic's own settings say otherwise",
        lambda row: f"{size(row['log_bytes'])}, {count(row['segments'], 'segment')}: {HELD.get(row['state'], 'due')}",
    ),
)
BY_NAME = {one.name: one for one in QUESTIONS}


def asked(text: str) -> Question | None:
    """The question whose query this is, letter by letter but for blanks around it."""
    return next((one for one in QUESTIONS if one.sql == text.strip()), None)
