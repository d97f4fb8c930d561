"""Queries to a catalog: each question of the page Explore compared with plain Python and Spark,
refusals, and the end of a query.
"""

import bisect
import itertools
import math
import os
import resource
import shutil
import signal
import threading
import time
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pytest

from kafkaviz import versions
from kafkaviz.analysis import broker_health, sweep
from kafkaviz.analysis.lookup.served_log import open_log
from kafkaviz.analysis.opened_path import open_path
from kafkaviz.errors import CannotOpen
from kafkaviz.figures.questions import QUESTION_BY_NAME, QUESTIONS
from kafkaviz.jobs import JobCancelled
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.sql import query, sql
from kafkaviz.pipeline.sql.query import (
    MAX_QUERIES,
    Query,
    QueryTooLarge,
    QueryTooLong,
    WorkerLost,
    WorkerPool,
)
from kafkaviz.pipeline.sql.sql_worker import CELL_CHARACTERS
from kafkaviz.search.lookup import lookup_in_view
from tests.pipeline import catalog_rows, plain_rows
from tests.support.ingest import ingest_in_process, run_ingest, without_spark

PATIENCE_S = 180
ENDLESS = "SELECT count(*) FROM batches a, batches b, batches c"
TITLES = {  # of the answers on the sample broker
    "half-full": (
        "5 topic-partitions roll segments less than half full; refunds-0 reaches < 0.01 % of "
        "Kafka’s default, since no file gives segment.bytes"
    ),
    "sparsest": "bulk-import-0 has an entry only every 792 KiB",
    "densest": "The indexes of tiny-index-0 hold 8.2 % of its log",
    "worst-lookup": "A fetch of offset 201 in __cluster_metadata-0 reads 57 batch headers",
    "small-batches": "6 topics have batches smaller than 200 B; heartbeat has 40\u202f000 of them",
    "larger-batches": (
        "Batches of 16 KiB would save 2.32 MiB of headers in heartbeat, 63 % of its log"
    ),
    "codec-where": "Uncompressed records of heartbeat take the most bytes, 3.70 MiB",
    "unindexed": "39\u202f073 of the 40\u202f000 batches of heartbeat have no entry",
    "interval": "The indexes take 1 MiB with one entry per batch, and 1.07 KiB at an interval of 4 MiB",
    "16-kib": (
        "With an interval of 16 KiB, one fetch in a hundred from heartbeat reads 170 headers or more, "
        "instead of 43 with 4 KiB"
    ),
    "preallocated": (
        "20 MiB of index were never written, in 1 topic-partition; 8 KiB of them take space on disk"
    ),
    "maps": "184 memory maps at most, 0.28 % of the limit of Linux",
    "codecs": "A record takes 32 B with zstd, 100 B with none",
    "late": "537 batches of sensors-late-0 came late, by up to 400 d",
    "future": "The newest record of sensors-late-0 is 339 d later than the modification time of its file",
    "compacted": "84 % of the offsets of accounts-1 no longer hold a record",
    "producers": "Producer 0 wrote the most, 46\u202f000 records in orders",
}
PARTITION = ("topic", "partition")
SPARK_ASKED = ("half-full", "late", "codecs")  # in each run; all of them nightly
# after the decimal point
DIGITS = {
    "fill": 6,
    "index_share": 5,
    "share": 4,
    "ratio": 2,
    "records_a_batch": 1,
    "records_per_batch": 1,
    "bytes_a_record": 1,
    "worst_headers_mean": 1,
}


@pytest.fixture(scope="module")
def catalog_folder(clean: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("query") / "catalog"
    ingest_in_process(clean, catalog=out)
    return out


@pytest.fixture(scope="module")
def orders_folder(clean: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a catalog of one topic-partition without findings."""
    out = tmp_path_factory.mktemp("orders") / "catalog"
    with pytest.MonkeyPatch.context() as patched:
        without_spark(patched)
        run_ingest(clean / "orders-0", catalog=out)
    return out


@pytest.fixture(scope="module")
def plain(clean: Path, catalog_folder: Path) -> dict[str, list[dict]]:
    """The rows of the in-process reader; the size of records is the catalog's, which test_scan
    compares.
    """
    broker = open_broker(clean)
    tables = plain_rows.tables_of(clean)
    swept = []
    for partition in broker.partitions:
        for segment in partition.segments:
            if segment.is_in_use and len(segment.batches()):
                swept += [
                    {"topic": partition.topic}
                    | dict(zip(row.dtype.names, row.tolist(), strict=True))
                    for row in sweep.sweep(segment.batches())
                ]
    states = [
        {"state": segment.state, "bytes": segment.age.size_bytes, "gone_ms": segment.gone_ms}
        for log in broker_health.check(broker).retention
        for segment in log.segments
    ]
    batches = catalog_rows.rows(catalog_folder, "batches")
    return tables | {"sweep": swept, "retention": states, "batches": batches}


def ask(catalog_folder: Path, text: str, **more: int) -> list[dict]:
    return Query(catalog_folder, text, **more).wait(PATIENCE_S).rows.to_pylist()


def by(rows: list[dict], *names: str) -> dict[tuple, list[dict]]:
    answers = defaultdict(list)
    for row in rows:
        answers[tuple(row[name] for name in names)].append(row)
    return answers


def total(rows: list[dict], *names: str) -> int:
    return sum(row[name] or 0 for row in rows for name in names)


def half_full(tables: dict) -> dict:
    small = [
        row
        for row in tables["segments"]
        if row["state"] == "closed" and row["log_bytes"] < row["segment_bytes"] / 2
    ]
    return {
        key: {
            "closed": len(rows),
            "fill": sum(row["log_bytes"] / row["segment_bytes"] for row in rows) / len(rows),
            "log_bytes": float(round(total(rows, "log_bytes") / len(rows))),
            "segment_bytes": rows[0]["segment_bytes"],
            "by_default": rows[0]["segment_bytes_source"].startswith("default"),
        }
        for key, rows in by(small, *PARTITION, "roll_reason").items()
    }


def sparsest(tables: dict) -> dict:
    indexed = by([row for row in tables["segments"] if row["offset_entries"]], *PARTITION)
    return {
        key: {"bytes_per_entry": total(rows, "log_bytes") / total(rows, "offset_entries")}
        for key, rows in indexed.items()
    }


def densest(tables: dict) -> dict:
    logs = by([row for row in tables["segments"] if row["log_bytes"]], *PARTITION)
    return {
        key: {
            "entries": total(rows, "offset_entries"),
            "index_share": (8 * total(rows, "offset_entries") + 12 * total(rows, "time_entries"))
            / total(rows, "log_bytes"),
        }
        for key, rows in logs.items()
    }


def worst_lookup(tables: dict) -> dict:
    """Returns the longest scan to the first offset of a batch: from the batch of the last entry
    whose key is not above it, or byte 0.
    """
    keys, worst = by(tables["offset_entries"], "topic", "partition", "segment_base_offset"), {}
    for segment, rows in by(tables["batches"], "topic", "partition", "segment_base_offset").items():
        rows = sorted(rows, key=lambda row: row["position"])
        at = {row["position"]: number for number, row in enumerate(rows)}
        entries = sorted((entry["offset"], entry["position"]) for entry in keys.get(segment, []))
        furthest = [0, *itertools.accumulate((position for _, position in entries), max)]
        for number, row in enumerate(rows):
            start = furthest[
                bisect.bisect_right(entries, row["base_offset"], key=lambda entry: entry[0])
            ]
            distances = (
                number - at[start] + 1,
                row["base_offset"],
                row["position"] + row["size_bytes"] - start,
            )
            worst[segment[:2]] = max(worst.get(segment[:2], distances), distances)
    return {
        key: {"offset": offset, "headers": headers, "bytes": size}
        for key, (headers, offset, size) in worst.items()
    }


def small_batches(tables: dict) -> dict:
    answers = {}
    for key, rows in by(tables["batches"], "topic").items():
        if round(total(rows, "size_bytes") / len(rows)) < 200:
            means = {
                "records_a_batch": total(rows, "record_count") / len(rows),
                "batch_bytes": total(rows, "size_bytes") / len(rows),
            }
            answers[key] = {"batches": len(rows)} | means
    return answers


def of_records(tables: dict) -> list[dict]:
    return [row for row in tables["batches"] if row["magic"] == 2 and not row["is_control"]]


def larger_batches(tables: dict) -> dict:
    answers = {}
    for key, rows in by(of_records(tables), "topic").items():
        full = math.ceil(total(rows, "uncompressed_bytes") / 16384)
        saved = 61 * (len(rows) - full)
        if saved:
            answers[key] = {
                "saved_bytes": saved,
                "share": saved / total(rows, "size_bytes"),
                "batches": len(rows),
                "full_batches": full,
                "records_per_batch": total(rows, "record_count") / len(rows),
            }
    return answers


def codec_where(tables: dict) -> dict:
    answers = {}
    for key, rows in by(of_records(tables), "topic", "codec").items():
        packed = total(rows, "size_bytes") - 61 * len(rows)
        answers[key] = {
            "log_bytes": total(rows, "size_bytes"),
            "batches": len(rows),
            "uncompressed_bytes": total(rows, "uncompressed_bytes"),
            "ratio": total(rows, "uncompressed_bytes") / packed,
        }
    return answers


def unindexed(tables: dict) -> dict:
    answers = {}
    for key, rows in by(tables["batches"], "topic").items():
        none = sum(row["entry_slot"] is None for row in rows)
        answers[key] = {"not_indexed": none, "batches": len(rows), "share": none / len(rows)}
    return answers


def interval(tables: dict) -> dict:
    return {
        key: {
            "index_bytes": total(rows, "index_bytes"),
            "worst_headers_mean": max(row["headers_mean"] for row in rows),
            "headers_max": max(row["headers_max"] for row in rows),
        }
        for key, rows in by(tables["sweep"], "interval_bytes").items()
    }


def sixteen_kib(tables: dict) -> dict:
    answers = {}
    for key, rows in by(tables["sweep"], "topic").items():
        now, then = (
            [row for row in rows if row["interval_bytes"] == interval] for interval in (4096, 16384)
        )
        answers[key] = {
            "headers_p99_at_4_kib": max(row["headers_p99"] for row in now),
            "headers_p99_at_16_kib": max(row["headers_p99"] for row in then),
            "saved_bytes": total(now, "index_bytes") - total(then, "index_bytes"),
        }
    return answers


def preallocated(tables: dict) -> dict:
    answers = {}
    for key, rows in by(tables["segments"], *PARTITION).items():
        slots = [
            row
            for row in rows
            if None not in (row["unwritten_offset_slots"], row["unwritten_time_slots"])
        ]
        unwritten = 8 * total(slots, "unwritten_offset_slots") + 12 * total(
            slots, "unwritten_time_slots"
        )
        if unwritten:
            answers[key] = {
                "unwritten_bytes": unwritten,
                "length_bytes": total(rows, "index_bytes", "timeindex_bytes"),
                "on_disk_bytes": total(rows, "index_allocated_bytes", "timeindex_allocated_bytes"),
            }
    return answers


def maps(tables: dict) -> dict:
    used = by([row for row in tables["segments"] if row["state"] in ("active", "closed")], "topic")
    return {
        key: {
            "segments": len(rows),
            "maps": sum(
                row[name] is not None for row in rows for name in ("index_bytes", "timeindex_bytes")
            ),
        }
        for key, rows in used.items()
    }


def topic_bytes(tables: dict) -> dict:
    answers = {}
    for key, rows in by(tables["segments"], "topic").items():
        log_bytes = sum(row["log_bytes"] or 0 for row in rows)
        kinds = ("index_bytes", "timeindex_bytes", "txnindex_bytes")
        index_bytes = sum(row[kind] or 0 for row in rows for kind in kinds)
        answers[key] = {
            "partitions": len({row["partition"] for row in rows}),
            "log_bytes": log_bytes,
            "index_bytes": index_bytes,
            "bytes": log_bytes + index_bytes,
        }
    return answers


def codecs(tables: dict) -> dict:
    answers = {}
    for key, rows in by(tables["batches"], "codec").items():
        records, size = total(rows, "record_count"), total(rows, "size_bytes")
        answers[key] = {
            "batches": len(rows),
            "records": records,
            "log_bytes": size,
            "bytes_a_record": size / records,
        }
    return answers


def late(tables: dict) -> dict:
    answers = {}
    for key, rows in by(tables["batches"], *PARTITION).items():
        newest, lags = None, []
        for row in sorted(rows, key=lambda batch: batch["base_offset"]):
            if newest is not None and row["max_timestamp_ms"] < newest:
                lags.append(newest - row["max_timestamp_ms"])
            newest = max(newest or row["max_timestamp_ms"], row["max_timestamp_ms"])
        if lags:
            answers[key] = {"late_batches": len(lags), "latest_by_ms": max(lags)}
    return answers


def future(tables: dict) -> dict:
    answers = {}
    for key, rows in by(
        [row for row in tables["segments"] if row["max_timestamp_ms"] is not None], *PARTITION
    ).items():
        ahead = max(row["max_timestamp_ms"] - row["log_mtime_ns"] // 1_000_000 for row in rows)
        if ahead > 3_600_000:
            answers[key] = {
                "newest_timestamp_ms": max(row["max_timestamp_ms"] for row in rows),
                "ahead_ms": ahead,
            }
    return answers


def compacted(tables: dict) -> dict:
    answers = {}
    for key, rows in by(tables["batches"], *PARTITION).items():
        offsets = (
            max(row["last_offset"] for row in rows) - min(row["base_offset"] for row in rows) + 1
        )
        if offsets > total(rows, "record_count"):
            answers[key] = {"offsets": offsets, "gone": offsets - total(rows, "record_count")}
    return answers


def producers(tables: dict) -> dict:
    written = by(
        [row for row in tables["batches"] if (row["producer_id"] or 0) >= 0], "topic", "producer_id"
    )
    return {
        key: {
            "epoch": max(row["producer_epoch"] for row in rows),
            "batches": len(rows),
            "records": total(rows, "record_count"),
            "transactional": any(row["is_transactional"] for row in rows),
        }
        for key, rows in written.items()
    }


def retention(tables: dict) -> dict:
    return {
        key: {"segments": len(rows), "log_bytes": total(rows, "bytes")}
        for key, rows in by(tables["retention"], "state").items()
    }


# how each is answered plainly; the column it is ordered by, and whether the most comes first; the
# most rows
PLAIN = {
    "half-full": (half_full, "fill", False, 99),
    "sparsest": (sparsest, "bytes_per_entry", True, 8),
    "densest": (densest, "index_share", True, 8),
    "worst-lookup": (worst_lookup, "headers", True, 8),
    "small-batches": (small_batches, "batches", True, 99),
    "larger-batches": (larger_batches, "saved_bytes", True, 12),
    "unindexed": (unindexed, "not_indexed", True, 12),
    "interval": (interval, "interval_bytes", False, 99),
    "16-kib": (sixteen_kib, "headers_p99_at_16_kib", True, 12),
    "preallocated": (preallocated, "unwritten_bytes", True, 99),
    "maps": (maps, "maps", True, 99),
    "topic-bytes": (topic_bytes, "bytes", True, 99),
    "codecs": (codecs, "bytes_a_record", False, 99),
    "codec-where": (codec_where, "log_bytes", True, 12),
    "late": (late, "late_batches", True, 12),
    "future": (future, "ahead_ms", True, 99),
    "compacted": (compacted, "gone", True, 99),
    "producers": (producers, "records", True, 12),
    "retention": (retention, "log_bytes", True, 99),
}


def rounded(column: str, value: float) -> object:
    """Rounds the value as the query does: half up, where Python rounds half to even."""
    return pytest.approx(value, abs=0.5001 * 10 ** -DIGITS.get(column, 0))


@pytest.mark.parametrize("name", [question.name for question in QUESTIONS])
def test_a_question_is_answered_as_plain_python_does(name, catalog_folder, plain):
    answer = ask(catalog_folder, QUESTION_BY_NAME[name].sql)
    plainly, order, most_first, most = PLAIN[name]
    expected = plainly(plain)
    keys = list(answer[0])[: len(next(iter(expected)))]
    answers = {tuple(row[key] for key in keys): row for row in answer}
    assert len(answers) == len(answer) == min(most, len(expected)) > 0
    for key, row in answers.items():
        for column, value in expected[key].items():
            assert row[column] == (rounded(column, value) if isinstance(value, float) else value), (
                column
            )
    ordered = [row[order] for row in answer]
    assert ordered == sorted(ordered, reverse=most_first)
    if order in next(iter(expected.values())):
        best = sorted((row[order] for row in expected.values()), reverse=most_first)[:most]
        assert ordered == [rounded(order, value) for value in best]
    if name in TITLES:
        assert QUESTION_BY_NAME[name].title(answer) == TITLES[name]
    tail = QUESTION_BY_NAME[name].tail
    assert tail is None or all(tail(row) for row in answer)


@pytest.mark.slow
def test_the_worst_lookup_is_what_the_search_reads(catalog_folder, plain, clean):
    """Header by header, as the release of these scans does it.

    At every indexed batch, the one before it and the last of a segment, where the search reads
    most, and at every fiftieth.
    """
    worst = ask(catalog_folder, QUESTION_BY_NAME["worst-lookup"].sql)
    for row in worst[1:3]:  # the first is the metadata log, which consumers do not read
        log = open_log(open_path(clean / f"{row['topic']}-{row['partition']}", "4.0"), as_is=True)

        def headers(offset: int, log=log) -> int:
            found = lookup_in_view(log, versions.search_profile("4.0", None), offset=offset)
            return len({read.position for read in found.scan.reads})

        assert headers(row["offset"]) == row["headers"]
        own = by(plain["batches"], *PARTITION)[row["topic"], row["partition"]]
        last = {batch["segment_base_offset"]: batch["base_offset"] for batch in own}
        around = [pair for pair in itertools.pairwise(own) if pair[1]["entry_slot"] is not None]
        furthest = {batch["base_offset"] for pair in around for batch in pair} | {*last.values()}
        assert row["offset"] in furthest
        offsets = {*furthest, *(batch["base_offset"] for batch in own[::50])}
        assert max(map(headers, offsets)) == row["headers"]


def rows_of(spark: object, catalog_folder: Path, text: str) -> list[dict]:
    from pyspark.sql import functions as F

    for name, files in catalog.read(catalog_folder).info.tables.items():
        if files and name in text:
            spark.read.parquet(
                *(str(catalog_folder / name / file) for file in files)
            ).createOrReplaceTempView(name)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    frame = spark.sql(text)
    bare = [
        F.col(name) if kind != "timestamp" else F.unix_micros(name).alias(name)
        for name, kind in frame.dtypes
    ]
    return frame.select(bare).toArrow().to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    [
        question
        if question.name in SPARK_ASKED
        else pytest.param(question, marks=pytest.mark.nightly)
        for question in QUESTIONS
    ],
    ids=lambda question: question.name,
)
def test_spark_gives_the_same_rows(catalog_folder, on_spark, spark, question):
    """Every question is SQL for both engines; their order is tested above."""
    ours = ask(catalog_folder, question.sql)
    theirs = rows_of(spark, catalog_folder, question.sql)
    for row in ours:
        for name, value in row.items():
            if hasattr(value, "timestamp"):
                row[name] = int(value.timestamp() * 1e6)
    if "LIMIT" in question.sql:  # of rows that are as large, either may be the last
        least = ours[-1][question.value]
        ours, theirs = (
            [row for row in rows if row[question.value] != least] for rows in (ours, theirs)
        )
    key = lambda row: tuple(map(str, row.values()))  # noqa: E731
    assert sorted(ours, key=key) == sorted(theirs, key=key)


SECRET = "KAFKAVIZ_SECRET"


@pytest.mark.parametrize(
    ("text", "what", "marked"),
    [
        ("COPY (SELECT 1) TO '{ran}'", "Only one SELECT", "COPY"),
        ("ATTACH '{ran}'", "Only one SELECT", "ATTACH"),
        ("EXPORT DATABASE '{ran}'", "Only one SELECT", "EXPORT"),
        ("SELECT 1; DROP TABLE segments", "Only one SELECT", None),
        ("SELECT * FROM '/etc/hostname'", "Unknown table /etc/hostname", "'/etc/hostname'"),
        ("SELECT getenv('HOME')", "The function getenv is not allowed", "getenv('HOME')"),
        ("SELECT topic, nope FROM segments", "Unknown column nope", "nope"),
        ("SELECT '中', nope FROM segments", "Unknown column nope", "nope"),
        ("SELECT nope(1)", "Unknown function nope", "nope(1)"),
        ("SELECT * FROM segment", "Unknown table segment", "segment"),
        ("SELECT *\nFROM segments\nWHERE (", "The query ends too early", "("),
        ("SELECT topic FORM segments", "Not understood from segments on", "segments"),
        (
            "SELECT 1,\n  CAST(topic AS INT) FROM segments; -- so",
            "Could not convert string '",
            "CAST(topic AS INT)",
        ),
        (
            "SELECT topic, count(*) FROM segments",
            'column "topic" must appear in the GROUP BY clause',
            "topic",
        ),
        ("SELECT repeat('x', 10000000000)", "Cannot create a string of size", None),
        ("SELECT 9223372036854775807 + 1", "Overflow in addition", None),
        ("SELECT regexp_matches('a', '(')", "missing", None),
        ("-- nothing", "The query is empty", None),
        (f"SELECT {'(' * 3000}1{')' * 3000}", "", None),
        (f"SELECT {'1+' * 3900}1", "", None),
    ],
)
def test_what_is_no_question_is_refused(text, what, marked, catalog_folder, tmp_path):
    """In one line with its place and no path of the server; nothing of it runs."""
    text = text.replace("{ran}", str(tmp_path / "ran"))
    with pytest.raises(sql.QueryError) as error:
        ask(catalog_folder, text)
    line = str(error.value)
    assert str(error.value.what).startswith(what)
    assert "\n" not in line and '{"' not in line and str(catalog_folder) not in line
    if marked:
        place = sql.locate_error(text, error.value)
        assert place.text[place.first : place.last] == marked
        assert text.split("\n")[place.line - 1] == place.text
    assert not (tmp_path / "ran").exists()


def test_a_column_that_is_a_word_of_sql_is_explained(catalog_folder):
    with pytest.raises(sql.QueryError, match='the column is written "offset"'):
        ask(catalog_folder, "SELECT offset FROM offset_entries")
    text = 'SELECT min("offset") AS "offset", min(offset_entries.offset) AS b FROM offset_entries'
    assert ask(catalog_folder, text)[0].keys() == {"offset", "b"}


def test_a_query_learns_nothing_of_the_server(catalog_folder, monkeypatch):
    """Neither by the environment nor by ${…}; the files of a catalog have no path."""
    monkeypatch.setenv(SECRET, "s3cret")
    worker = query.Worker()
    request = {
        "folder": str(catalog_folder),
        "tables": {},
        "text": "SELECT '${env:HOME}' AS a, '${system:java.home}' AS b",
        "most_rows": 9,
    }
    head, body = worker.ask(request)
    environment = Path(f"/proc/{worker.pid}/environ").read_bytes().split(b"\0")
    worker.end()
    assert head["all_rows"] == 1 and pa.ipc.open_stream(body).read_all().to_pylist() == [
        {"a": "${env:HOME}", "b": "${system:java.home}"}
    ]
    assert {variable.split(b"=")[0] for variable in environment if variable} <= {
        b"PYTHONPATH",
        b"LC_CTYPE",
    }
    text = "SELECT current_user AS a, current_database() AS b, current_schema() AS c"
    assert ask(catalog_folder, text) == [{"a": "duckdb", "b": "memory", "c": "main"}]


def test_the_files_of_others_are_closed_even_to_a_function_that_is_not_refused(
    catalog_folder, tmp_path, monkeypatch
):
    """The lock of the database backs up the check of the text."""
    import duckdb

    from kafkaviz.pipeline.sql import sql_worker

    monkeypatch.chdir(catalog_folder)
    database = duckdb.connect(":memory:", config=sql_worker.CONFIG)
    sql_worker._create_views(
        database,
        {name: list(files) for name, files in catalog.read(catalog_folder).info.tables.items()},
    )
    (tmp_path / "a.csv").write_text("a\n1\n")
    for text in (
        f"SELECT * FROM '{tmp_path}/a.csv'",
        f"FROM read_text('{tmp_path}/a.csv')",
        "FROM glob('*')",
        f"COPY segments TO '{tmp_path}/b'",
        "FROM duckdb_secrets()",
        f"ATTACH '{tmp_path}/c'",
        "LOAD httpfs",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '9GB'",
        "SET temp_directory = '/tmp'",
        "FROM read_json('_catalog.json')",
    ):
        with pytest.raises(duckdb.Error):
            database.execute(text).fetchall()
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert database.execute("SELECT count(*) FROM segments").fetchone()[0] > 0
    database.close()


def test_questions_of_every_shape_are_answered(catalog_folder):
    """WITH, subqueries, windows, values, table functions, descriptions, comments."""
    for text in (
        (
            "WITH a AS (SELECT topic FROM segments), b AS (SELECT * FROM a) SELECT count(*) AS n "
            "FROM b JOIN a USING (topic)"
        ),
        (
            "SELECT * FROM segments s WHERE EXISTS (SELECT 1 FROM batches b WHERE b.topic = "
            "s.topic) LIMIT 3"
        ),
        "FROM segments SELECT count(*) AS n WHERE state = 'closed'",
        "VALUES (1, 'a'), (2, 'b')",
        "FROM partitions;",
        "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, name) -- so\n; /* ; */ -- and so",
        "(SELECT 1)",
        "SELECT ';' -- '",
        "SELECT * FROM range(3)",
        "TABLE partitions",
        "WITH Recent AS (FROM batches) SELECT * FROM recent JOIN Partitions USING (topic);",
        "SELECT unnest([1, 2]), n.range FROM range(3) n",
        "SELECT topic FROM segments UNION SELECT topic FROM partitions",
        (
            "SELECT * FROM (SELECT topic, state FROM segments) PIVOT (count(*) FOR state IN "
            "('active', 'closed'))"
        ),
        "SELECT list_transform([1, 2], lambda x: x + 1) AS a;",
        "DESCRIBE segments",
        "SUMMARIZE partitions",
        (
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT "
            "* FROM r"
        ),
        (
            "SELECT DISTINCT ON (topic) * FROM segments QUALIFY row_number() OVER (PARTITION BY "
            "topic) = 1"
        ),
        "SELECT * EXCLUDE (topic) FROM segments",
    ):
        assert ask(catalog_folder, text), text
    text = "SELECT n FROM (VALUES (1), (3), (2)) AS t(n) ORDER BY n DESC"
    assert ask(catalog_folder, text) == [{"n": 3}, {"n": 2}, {"n": 1}]


def test_what_a_page_could_not_hold_is_text(catalog_folder):
    """Maps, lists, intervals, bytes; a sum stays a number, and columns have unique names."""
    text = """SELECT map {'a': 1} AS m, [1, 2] AS a, INTERVAL 2 MONTH AS i, '\\x00\\xFF'::BLOB AS b, 1 AS n, 2 AS n, 3 AS N, NULL AS "o""o",
        sum(9) AS s, 1::UTINYINT AS u, {'a': 'b'} AS r"""
    cells = {
        "m": "{a=1}",
        "a": "[1, 2]",
        "i": "2 months",
        "b": "00FF",
        "n": 1,
        "n 2": 2,
        "N 3": 3,
        'o"o': None,
    }
    answer = Query(catalog_folder, text).wait(PATIENCE_S)
    assert answer.rows.to_pylist() == [cells | {"s": 9, "u": 1, "r": "{'a': b}"}]
    assert answer.rows.schema.field("s").type == pa.int64()
    assert ask(catalog_folder, "SELECT sum(9223372036854775807) AS s FROM range(2)") == [
        {"s": 18446744073709551614}
    ]
    (row,) = ask(
        catalog_folder,
        "SELECT to_timestamp(0) AS a, TIMESTAMP '2026-01-02 03:04:05' AS b, DATE '2026-01-02' AS c",
    )
    assert [str(row[name]) for name in "abc"] == [
        "1970-01-01 00:00:00+00:00",
        "2026-01-02 03:04:05",
        "2026-01-02",
    ]


def test_a_long_answer_is_cut_and_counted(catalog_folder, plain):
    for limit, all_rows in (("", len(plain["batches"])), ("LIMIT 100", 100)):
        text = f"SELECT * FROM batches {limit}"
        answer = Query(catalog_folder, text, most_rows=100).wait(PATIENCE_S)
        assert (answer.rows.num_rows, answer.all_rows) == (100, all_rows)
        assert answer.is_cut == (all_rows > 100)


def test_a_long_text_is_cut_where_it_is_computed(catalog_folder, plain):
    """A list of all batches in a cell, and in every row another; shorter text stays whole, and the
    answer states the limit.
    """
    text = "SELECT topic, list(batches) AS a FROM batches GROUP BY topic"
    answer = Query(catalog_folder, text).wait(PATIENCE_S)
    texts = answer.rows["a"].to_pylist()
    assert answer.cut_at == CELL_CHARACTERS // 2 and max(map(len, texts)) == answer.cut_at + 1
    assert all(text.endswith("…") == (len(text) > answer.cut_at) for text in texts)
    text = "SELECT topic, repeat('x', 100) AS a FROM segments"
    assert Query(catalog_folder, text).wait(PATIENCE_S).cut_at == 0


def test_a_table_of_no_rows_has_its_columns(orders_folder):
    answer = Query(orders_folder, "SELECT * FROM findings").wait(PATIENCE_S)
    assert answer.rows.num_rows == 0 and {"code", "severity", "message"} <= set(
        answer.rows.column_names
    )
    assert answer.rows.schema.field("position").type == pa.int64()


@pytest.mark.parametrize(
    "name", ["b{1,2}", "x[1]", "10:30", "a*", "a?", "o'clock", 'a"b', "%41 b", "中文", "file:x"]
)
def test_a_catalog_is_queried_whatever_its_folder_is_called(
    name, tmp_path, orders_folder, catalog_folder
):
    folder = shutil.copytree(orders_folder, tmp_path / name / "catalog", symlinks=True)
    if other := {"b": "b1", "x": "x1", "a": "ab"}.get(name[0]):
        (tmp_path / other).mkdir()
        (tmp_path / other / "catalog").symlink_to(catalog_folder)
    assert ask(folder, "SELECT DISTINCT topic FROM segments") == [{"topic": "orders"}]


def test_no_catalog(tmp_path):
    with pytest.raises(CannotOpen, match="is not a catalog"):
        ask(tmp_path, "SELECT 1")


def test_a_catalog_that_is_replaced_meanwhile_is_read_again(
    catalog_folder, clean, tmp_path, in_process, monkeypatch
):
    """The query knew files that are gone; it says so if nothing replaced them."""
    out = tmp_path / "catalog"
    in_process(clean / "orders-0", catalog=out)
    before = catalog.read_info(out)
    in_process(clean / "refunds-0", catalog=out, full=True)
    now = catalog.read_info(out)
    answers = [now, before]
    monkeypatch.setattr(catalog, "read_info", lambda path: answers.pop())
    assert ask(out, "SELECT DISTINCT topic FROM segments") == [{"topic": "refunds"}] and not answers
    monkeypatch.setattr(catalog, "read_info", lambda path: before)
    with pytest.raises(CannotOpen, match="names files that do not exist"):
        ask(out, "SELECT DISTINCT topic FROM segments")


def running(text: str, catalog_folder: Path) -> Query:
    query_, until = Query(catalog_folder, text), time.monotonic() + PATIENCE_S
    while query_.state == "waiting" and time.monotonic() < until:
        time.sleep(0.02)
    assert query_.state == "running"
    return query_


def test_a_query_that_would_not_end_is_cancelled(catalog_folder):
    query_ = running(ENDLESS, catalog_folder)
    time.sleep(0.2)
    pid = query_._worker.pid
    began = time.monotonic()
    query_.cancel()
    assert query_.is_over and query_.state == "cancelled" and time.monotonic() - began < 5
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(JobCancelled):
        query_.wait()
    assert ask(catalog_folder, "SELECT 1 AS one") == [{"one": 1}]
    query_.cancel()
    assert query_.state == "cancelled"


def test_a_query_that_takes_too_long_is_ended(catalog_folder, monkeypatch):
    monkeypatch.setenv(query.SECONDS, "1")
    with pytest.raises(QueryTooLong, match="longer than 1 s"):
        ask(catalog_folder, "SELECT count(*) FROM range(1000000000000000)")
    monkeypatch.delenv(query.SECONDS)
    assert ask(catalog_folder, "SELECT 1 AS one") == [{"one": 1}]
    monkeypatch.setenv(query.SECONDS, "soon")
    with pytest.raises(
        query.KafkavizError, match="KAFKAVIZ_QUERY_SECONDS is not a whole number above 0: soon"
    ):
        ask(catalog_folder, "SELECT 1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "SELECT length(printf('%1000000000d', 1))",
        "SELECT list(range) FROM range(1000000000)",
        *(
            pytest.param(text, marks=pytest.mark.nightly)
            for text in (
                "SELECT length(repeat('x', 4000000000))",
                "WITH RECURSIVE r AS (SELECT 'a' AS s UNION ALL SELECT s || s FROM r) SELECT "
                "length(s) FROM r",
                "SELECT list_sort(range(300000000))",
                "SELECT length(format('{:1000000000d}', 1))",
                "SELECT len(array_resize([1], 1000000000))",
                "SELECT length(list_reduce(list_transform(range(33), lambda x: 'aaaaaaaa'), lambda "
                "a, b: a || a))",
                "SELECT string_agg(repeat('x', 1000000)) FROM range(100000)",
                "SELECT map(range(100000000), range(100000000))",
                "SELECT repeat(a, 400000000) FROM (SELECT 'xxxx' AS a)",
            )
        ),
    ],
)
def test_a_query_that_takes_too_much_memory_is_ended(text, catalog_folder, monkeypatch):
    """In one sentence; this process keeps its size, and the next query is answered."""
    for worker in query.POOL._idle:
        worker.end()  # it has the limit of before
    monkeypatch.setenv(query.MEMORY, "128")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(
        (QueryTooLarge, WorkerLost), match=r"the query needs more than 128 MiB of memory|ended"
    ):
        ask(catalog_folder, text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024
    assert ask(catalog_folder, "SELECT 1 AS one") == [{"one": 1}]


@pytest.mark.slow
def test_a_cross_join_does_not_take_the_memory(catalog_folder):
    """A join of everything with itself has many million rows: the first are returned, with a note
    that there are more.
    """
    text = "SELECT b.offset FROM batches a, offset_entries b, offset_entries c"
    answer = Query(catalog_folder, text).wait(PATIENCE_S)
    assert answer.rows.num_rows == 10_000 and answer.is_cut


def test_a_deep_pattern_comes_to_an_end(catalog_folder):
    assert ask(
        catalog_folder, "SELECT regexp_matches(repeat('a', 5000) || '!', '(a|aa)+$') AS a"
    ) == [{"a": False}]


def test_others_wait_for_their_turn(catalog_folder):
    """Only so many run at once; a waiter that gives up starts nothing, and the next in line runs."""
    busy = [running(ENDLESS, catalog_folder) for _ in range(MAX_QUERIES)]
    given_up = Query(catalog_folder, "SELECT 1 AS one")
    next_one = Query(catalog_folder, "SELECT 2 AS two")
    time.sleep(0.1)
    assert {query_.state for query_ in (given_up, next_one)} == {"waiting"}
    given_up.cancel()
    assert given_up.is_over and next_one.state == "waiting"
    busy[0].cancel()
    assert next_one.wait(PATIENCE_S).rows.to_pylist() == [{"two": 2}]
    busy[1].cancel()


def test_a_warm_process_is_kept_and_no_more_than_one(catalog_folder):
    running(ENDLESS, catalog_folder).cancel()
    assert ask(catalog_folder, "SELECT 1 AS one")
    (process,) = query.POOL._idle
    assert ask(catalog_folder, "SELECT 2 AS two")
    assert query.POOL._idle == [process] and process.is_alive


def test_a_worker_that_does_not_start_is_not_awaited(monkeypatch):
    pool, over = WorkerPool(limit=1), threading.Event()
    monkeypatch.setattr(query, "MODULE", "no.such.module")
    for _ in range(3):
        worker = pool.take(over)
        with pytest.raises(query.WorkerLost):
            worker.ask({})
        pool.give_back(worker)
    monkeypatch.setenv(query.MEMORY, "-1")
    for _ in range(3):
        with pytest.raises(
            query.KafkavizError, match="KAFKAVIZ_QUERY_MEMORY is not a whole number"
        ):
            pool.take(over)
    over.set()
    assert pool.take(over) is None


def test_a_killed_process_is_reported_and_another_started(catalog_folder, plain):
    query_ = running(ENDLESS, catalog_folder)
    os.kill(query_._worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerLost, match="the process that worked on the query ended"):
        query_.wait(PATIENCE_S)
    assert ask(catalog_folder, "SELECT count(*) AS n FROM partitions") == [
        {"n": len(plain["partitions"])}
    ]


def test_a_worker_ends_with_its_server(catalog_folder):
    """Even in the middle of a query: its stdin is closed."""
    worker = query.Worker()
    head, _ = worker.ask(
        {"folder": str(catalog_folder), "tables": {}, "text": "SELECT 1", "most_rows": 9}
    )
    assert head["all_rows"] == 1
    worker._process.stdin.write(
        b'{"folder": "/", "tables": {}, "text": "SELECT count(*) FROM range(1000000000000000)", '
        b'"most_rows": 9}\n'
    )
    worker._process.stdin.close()
    assert worker._process.wait(20) == 0
