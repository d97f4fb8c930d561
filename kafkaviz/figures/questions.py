"""The questions of the Explore page: SQL queries over the catalog, and the texts of their figures.

The title of a figure is computed from the rows of the result. An edited query has no such title.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from kafkaviz.analysis.cost.cost_model import MAX_MAP_COUNT
from kafkaviz.analysis.retention import DUE_STATES, KEPT_STATES
from kafkaviz.messages import say, say_count
from kafkaviz.render import retention_text
from kafkaviz.render.sentences import join_details
from kafkaviz.units import format_bytes, format_count, format_percent

AnswerRow = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """A question, its query and its figure. The keys of its texts begin with "questions."."""

    name: str  # value of a URL parameter
    sql: str
    value: str  # the column that is drawn
    title: Callable[[Sequence[AnswerRow]], str]  # called with the rows, at least one
    # called with a row, returns the text after its bar; None shows only the value
    tail: Callable[[AnswerRow], str] | None = None

    @property
    def text(self) -> str:
        return say(f"questions.{self.name}")

    @property
    def caption(self) -> str:
        return say(f"questions.{self.name}_below", most=format_count(MAX_MAP_COUNT))


def _question(
    name: str, sql: str, value: str, title: Callable, tail: Callable | None = None
) -> Question:
    return Question(name, dedent(sql).strip(), value, title, tail)


def partition_name(row: AnswerRow) -> str:
    """Returns the topic-partition of a row, or its topic if the row has no partition."""
    if row.get("partition") is not None:
        return f"{row['topic']}-{row['partition']}"
    return str(row["topic"])


def _count_partitions(rows: Sequence[AnswerRow]) -> int:
    return len({partition_name(row) for row in rows})


QUESTIONS = (
    _question(
        "half-full",
        """
        WITH closed AS (
          SELECT topic, partition, roll_reason, log_bytes,
                 segment_bytes, log_bytes / segment_bytes AS fullness,
                 segment_bytes_source LIKE 'default of %' AS by_default
          FROM segments
          WHERE state = 'closed'
        )
        SELECT topic, partition, roll_reason,
               count(*)                AS closed,
               round(avg(fullness), 6) AS fill,
               round(avg(log_bytes))   AS log_bytes,
               max(segment_bytes)      AS segment_bytes,
               by_default
        FROM closed
        WHERE fullness < 0.5
        GROUP BY topic, partition, roll_reason, by_default
        ORDER BY fill, log_bytes
        """,
        "fill",
        lambda rows: say_count(
            "questions.half-full_title",
            _count_partitions(rows),
            first=partition_name(rows[0]),
            partitions=say_count("common.n_topic_partitions", _count_partitions(rows)),
            share=format_percent(rows[0]["log_bytes"], rows[0]["segment_bytes"]),
            limit=say(f"questions.half-full_{'default' if rows[0]['by_default'] else 'known'}"),
        ),
        lambda row: say(
            "questions.half-full_tail",
            size=format_bytes(row["log_bytes"]),
            limit=say("questions.half-full_of_default", limit=format_bytes(row["segment_bytes"]))
            if row["by_default"]
            else format_bytes(row["segment_bytes"]),
            segments=say_count("common.n_segments", row["closed"]),
            reason=say(f"rolls.cause_{row['roll_reason']}")
            if row["roll_reason"]
            else say("questions.unknown"),
        ),
    ),
    _question(
        "sparsest",
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
        lambda rows: say(
            "questions.sparsest_title",
            first=partition_name(rows[0]),
            size=rows[0]["bytes_per_entry"],
        ),
    ),
    _question(
        "densest",
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
        lambda rows: say(
            "questions.densest_title",
            first=partition_name(rows[0]),
            share=format_percent(rows[0]["index_share"], 1),
        ),
        lambda row: join_details(
            [
                format_percent(row["index_share"], 1),
                say_count("common.n_offset_entries", row["entries"]),
            ]
        ),
    ),
    _question(
        "worst-lookup",
        """
        WITH numbered AS (
          SELECT topic, partition, segment_base_offset, position, size_bytes,
                 coalesce(base_offset, last_offset) AS first_offset,
                 row_number() OVER (
                   PARTITION BY topic, partition, segment_base_offset
                   ORDER BY position) AS number
          FROM batches
        ), marks AS (
          SELECT topic, partition, segment_base_offset, first_offset,
                 number, position + size_bytes AS end_bytes,
                 NULL AS entry_number, NULL AS entry_position
          FROM numbered
          UNION ALL
          SELECT topic, partition, segment_base_offset, entries.offset,
                 NULL, NULL, number, position
          FROM offset_entries AS entries
          JOIN numbered USING (topic, partition, segment_base_offset, position)
        ), fetches AS (
          SELECT *,
                 number - coalesce(max(entry_number) OVER below, 1) + 1
                   AS headers,
                 end_bytes - coalesce(max(entry_position) OVER below, 0)
                   AS bytes
          FROM marks
          WINDOW below AS (  -- the last entry not above a batch's first offset
            PARTITION BY topic, partition, segment_base_offset
            ORDER BY first_offset, number NULLS FIRST
            ROWS UNBOUNDED PRECEDING)
        ), worst AS (
          SELECT *,
                 row_number() OVER (
                   PARTITION BY topic, partition
                   ORDER BY headers DESC, first_offset DESC) AS place
          FROM fetches
          WHERE number IS NOT NULL
        )
        SELECT topic, partition, first_offset AS offset, headers, bytes
        FROM worst
        WHERE place = 1
        ORDER BY headers DESC
        LIMIT 8
        """,
        "headers",
        lambda rows: say(
            "questions.worst-lookup_title",
            offset=format_count(rows[0]["offset"]),
            first=partition_name(rows[0]),
            headers=say_count("common.n_headers", rows[0]["headers"]),
        ),
        lambda row: say_count(
            "questions.worst-lookup_tail", row["headers"], size=format_bytes(row["bytes"])
        ),
    ),
    _question(
        "small-batches",
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
        lambda rows: say_count(
            "questions.small-batches_title",
            len(rows),
            first=rows[0]["topic"],
            batches=format_count(rows[0]["batches"]),
        ),
        lambda row: say_count(
            "questions.small-batches_tail",
            row["batches"],
            size=format_bytes(row["batch_bytes"]),
            records=f"{row['records_a_batch']:.1f}",
        ),
    ),
    _question(
        "larger-batches",
        """
        WITH topics AS (
          SELECT topic,
                 count(*)                 AS batches,
                 avg(record_count)        AS records_per_batch,
                 sum(size_bytes)          AS log_bytes,
                 ceil(sum(coalesce(uncompressed_bytes, size_bytes - 61))
                      / 16384)            AS full_batches
          FROM batches
          WHERE magic = 2 AND NOT is_control
          GROUP BY topic
        )
        SELECT topic,
               61 * (batches - full_batches) AS saved_bytes,
               round(61 * (batches - full_batches) / log_bytes, 4)
                 AS share,
               batches,
               full_batches,
               round(records_per_batch, 1)   AS records_per_batch
        FROM topics
        WHERE batches > full_batches
        ORDER BY saved_bytes DESC, topic
        LIMIT 12
        """,
        "saved_bytes",
        lambda rows: say(
            "questions.larger-batches_title",
            first=rows[0]["topic"],
            size=format_bytes(rows[0]["saved_bytes"]),
            share=format_percent(rows[0]["share"], 1),
        ),
        lambda row: say(
            "questions.larger-batches_tail",
            size=format_bytes(row["saved_bytes"]),
            share=format_percent(row["share"], 1),
            batches=say_count("common.n_batches", row["batches"]),
            full=format_count(row["full_batches"]),
            records=f"{row['records_per_batch']:.1f}",
        ),
    ),
    _question(
        "unindexed",
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
        lambda rows: say_count(
            "questions.unindexed_title",
            rows[0]["not_indexed"],
            all=rows[0]["batches"],
            first=rows[0]["topic"],
        ),
        lambda row: say_count(
            "questions.unindexed_tail", row["not_indexed"], share=format_percent(row["share"], 1)
        ),
    ),
    _question(
        "interval",
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
        lambda rows: say(
            "questions.interval_title",
            most=max(row["index_bytes"] for row in rows),
            least=min(row["index_bytes"] for row in rows),
            interval=rows[-1]["interval_bytes"],
        ),
    ),
    _question(
        "16-kib",
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
        lambda rows: say(
            "questions.16-kib_title",
            first=rows[0]["topic"],
            then=format_count(rows[0]["headers_p99_at_16_kib"]),
            now=format_count(rows[0]["headers_p99_at_4_kib"]),
        ),
        lambda row: say(
            "questions.16-kib_tail",
            then=format_count(row["headers_p99_at_16_kib"]),
            now=format_count(row["headers_p99_at_4_kib"]),
            size=format_bytes(row["saved_bytes"]),
        ),
    ),
    _question(
        "preallocated",
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
        lambda rows: say(
            "questions.preallocated_title",
            size=sum(row["unwritten_bytes"] for row in rows),
            partitions=say_count("common.n_topic_partitions", len(rows)),
            disk=sum(row["on_disk_bytes"] for row in rows),
        ),
        lambda row: say(
            "questions.preallocated_tail", size=row["unwritten_bytes"], disk=row["on_disk_bytes"]
        ),
    ),
    _question(
        "maps",
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
        lambda rows: say(
            "questions.maps_title",
            maps=say_count("questions.n_maps", sum(row["maps"] for row in rows)),
            share=format_percent(sum(row["maps"] for row in rows), MAX_MAP_COUNT),
        ),
        lambda row: join_details(
            [format_count(row["maps"]), say_count("common.n_segments", row["segments"])]
        ),
    ),
    _question(
        "topic-bytes",
        """
        WITH sizes AS (
          SELECT topic, partition, coalesce(log_bytes, 0) AS log_bytes,
                 coalesce(index_bytes, 0) + coalesce(timeindex_bytes, 0)
                   + coalesce(txnindex_bytes, 0) AS index_bytes
          FROM segments
        )
        SELECT topic,
               count(DISTINCT partition)          AS partitions,
               sum(log_bytes)                     AS log_bytes,
               sum(index_bytes)                   AS index_bytes,
               sum(log_bytes) + sum(index_bytes)  AS bytes
        FROM sizes
        GROUP BY topic
        ORDER BY bytes DESC, topic
        """,
        "bytes",
        lambda rows: say_count(
            "questions.topic-bytes_title",
            len(rows),
            size=format_bytes(sum(row["bytes"] for row in rows)),
            first=rows[0]["topic"],
            share=format_percent(rows[0]["bytes"], sum(row["bytes"] for row in rows)),
        ),
        lambda row: say(
            "questions.topic-bytes_tail",
            size=format_bytes(row["bytes"]),
            indexes=format_bytes(row["index_bytes"]),
            partitions=say_count("common.n_topic_partitions", row["partitions"]),
        ),
    ),
    _question(
        "codecs",
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
        lambda rows: say(
            "questions.codecs_title",
            least=rows[0]["bytes_a_record"],
            first=rows[0]["codec"],
            most=rows[-1]["bytes_a_record"],
            last=rows[-1]["codec"],
        ),
        lambda row: say(
            "questions.codecs_tail",
            n=f"{row['bytes_a_record']:g}",
            batches=say_count("common.n_batches", row["batches"]),
            size=row["log_bytes"],
        ),
    ),
    _question(
        "codec-where",
        """
        SELECT topic, codec,
               sum(size_bytes)         AS log_bytes,
               count(*)                AS batches,
               sum(uncompressed_bytes) AS uncompressed_bytes,
               round(sum(uncompressed_bytes)
                     / sum(CASE WHEN uncompressed_bytes IS NOT NULL
                                THEN size_bytes - 61 END), 2) AS ratio
        FROM batches
        WHERE magic = 2 AND NOT is_control
        GROUP BY topic, codec
        ORDER BY log_bytes DESC, topic, codec
        LIMIT 12
        """,
        "log_bytes",
        lambda rows: say(
            f"questions.codec-where_{'plain' if rows[0]['codec'] == 'none' else 'packed'}",
            first=rows[0]["topic"],
            size=format_bytes(rows[0]["log_bytes"]),
            codec=rows[0]["codec"],
        ),
        lambda row: join_details(
            [
                format_bytes(row["log_bytes"]),
                row["codec"],
                say("questions.ratio_unknown")
                if row["ratio"] is None
                else say("questions.ratio", n=f"{row['ratio']:.2f}"),
            ]
        ),
    ),
    _question(
        "late",
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
        lambda rows: say(
            "questions.late_title",
            batches=say_count("common.n_batches", rows[0]["late_batches"]),
            first=partition_name(rows[0]),
            by=rows[0]["latest_by_ms"],
        ),
        lambda row: say_count("questions.late_tail", row["late_batches"], by=row["latest_by_ms"]),
    ),
    _question(
        "future",
        """
        SELECT topic, partition,
               max(max_timestamp_ms) AS newest_timestamp_ms,
               max(max_timestamp_ms
                   - CAST(floor(log_mtime_ns / 1000000) AS BIGINT)) AS ahead_ms
        FROM segments
        GROUP BY topic, partition
        HAVING ahead_ms > 3600000
        ORDER BY ahead_ms DESC
        """,
        "ahead_ms",
        lambda rows: say(
            "questions.future_title", first=partition_name(rows[0]), ahead=rows[0]["ahead_ms"]
        ),
    ),
    _question(
        "compacted",
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
        lambda rows: say(
            "questions.compacted_title",
            share=format_percent(rows[0]["gone"], rows[0]["offsets"]),
            first=partition_name(rows[0]),
        ),
        lambda row: say_count("questions.compacted_tail", row["gone"], all=row["offsets"]),
    ),
    _question(
        "producers",
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
        lambda rows: say_count(
            "questions.producers_title",
            rows[0]["records"],
            id=rows[0]["producer_id"],
            first=rows[0]["topic"],
        ),
        lambda row: (
            say_count("questions.in_transactions", row["records"])
            if row["transactional"]
            else format_count(row["records"])
        ),
    ),
    _question(
        "retention",
        """
        SELECT state,
               count(*)   AS segments,
               sum(bytes) AS log_bytes,
               to_timestamp(floor(max(gone_ms) / 1000)) AS last_gone
        FROM retention
        GROUP BY state
        ORDER BY log_bytes DESC
        """,
        "log_bytes",
        lambda rows: say(
            "questions.retention_title",
            due=sum(row["log_bytes"] for row in rows if row["state"] in DUE_STATES),
            all=sum(row["log_bytes"] for row in rows),
        ),
        lambda row: say(
            "questions.retention_tail",
            size=row["log_bytes"],
            segments=say_count("common.n_segments", row["segments"]),
            why=retention_text.held_text(row["state"])
            if row["state"] in KEPT_STATES
            else say("questions.due"),
        ),
    ),
)
QUESTION_BY_NAME = {question.name: question for question in QUESTIONS}


def find_question(text: str) -> Question | None:
    """Returns the question with this SQL. Blanks around the SQL are ignored."""
    return next((question for question in QUESTIONS if question.sql == text.strip()), None)
