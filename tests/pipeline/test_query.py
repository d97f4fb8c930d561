"""Queries to a catalog on Spark: each question of the page Explore against plain Python, what is refused, and how a query ends."""

import bisect
import itertools
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pytest

from kafkaviz.analyse import health, paths, sweep
from kafkaviz.errors import CannotOpen
from kafkaviz.figures.questions import BY_NAME, QUESTIONS
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline import job, sql
from kafkaviz.pipeline.query import CELL_CHARACTERS, Query
from kafkaviz.pipeline.run import Cancelled
from kafkaviz.search.lookup import lookup
from kafkaviz.search.profile import profile
from tests.pipeline import plain_rows
from tests.pipeline.conftest import TESTED, _ingest, _run_here

PATIENCE_S = 180
ENDLESS = "SELECT count(*) FROM batches a, batches b, batches c"
TITLES = {  # of the answers on the sample broker
    "half-full": "5 topic-partitions close segments less than half full; refunds-0 at < 0.01 % of segment.bytes",
    "sparsest": "bulk-import-0 has an entry only every 792 KiB",
    "densest": "The indexes of tiny-index-0 hold 8.2 % of its log",
    "worst-lookup": "A fetch of offset 201 of __cluster_metadata-0 reads 57 batch headers",
    "small-batches": "6 topics have batches smaller than 200 B; heartbeat has 40\u202f000 of them",
    "unindexed": "39\u202f073 of the 40\u202f000 batches of heartbeat have no entry",
    "interval": "Indexes of 1 MiB at an entry a batch, of 1.07 KiB at an interval of 4 MiB",
    "16-kib": "At 16 KiB one fetch in a hundred of heartbeat reads 170 headers, against 43 at 4 KiB",
    "preallocated": "20 MiB of index were never written, in 1 topic-partition; 8 KiB take room on disk",
    "maps": "184 memory maps at most, 0.28 % of what Linux allows",
    "codecs": "A record takes 32 B with zstd, 100 B with none",
    "late": "537 batches of sensors-late-0 came late, by up to 400 d",
    "future": "The newest record of sensors-late-0 is 339 d ahead of its file",
    "compacted": "84 % of the offsets of accounts-1 hold no record any more",
    "producers": "Producer 0 wrote the most, 46\u202f000 records of orders",
}
PARTITION = ("topic", "partition")
DIGITS = {"fill": 6, "index_share": 5, "share": 4, "records_a_batch": 1, "bytes_a_record": 1, "worst_headers_mean": 1}  # behind the point


@pytest.fixture(scope="module")
def made(clean: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The catalog of the sample broker."""
    from types import SimpleNamespace

    out = tmp_path_factory.mktemp("query") / "catalog"
    with pytest.MonkeyPatch.context() as patched:
        session = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=2))
        patched.setattr("kafkaviz.pipeline.session.session", lambda master: session)
        patched.setattr(job, "run_tasks", _run_here)
        _ingest(clean, catalog=out, findings=True)
    return out


@pytest.fixture(scope="module")
def plain(clean: Path) -> dict[str, list[dict]]:
    """The tables that the questions ask, in plain Python."""
    broker = open_broker(clean)
    tables = plain_rows.tables(broker, clean.name)
    swept = []
    for partition in broker.partitions:
        for segment in [one for one in partition.segments if one.in_use and len(one.batches())]:
            rows = sweep.sweep(segment.batches())
            swept += [{"topic": partition.topic} | dict(zip(row.dtype.names, row.tolist(), strict=True)) for row in rows]
    kept = [
        {"state": one.state, "bytes": one.aged.size_bytes, "gone_ms": one.gone_ms}
        for log in health.check(broker).retention for one in log.segments
    ]  # fmt: skip
    return tables | {"sweep": swept, "retention": kept}


def ask(made: Path, text: str, **more: int) -> list[dict]:
    return Query(made, text, TESTED, **more).wait(PATIENCE_S).rows.to_pylist()


def by(rows: list[dict], *names: str) -> dict[tuple, list[dict]]:
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return found


def total(rows: list[dict], *names: str) -> int:
    return sum(row[name] or 0 for row in rows for name in names)


def half_full(tables: dict) -> dict:
    small = [row for row in tables["segments"] if row["state"] == "closed" and row["log_bytes"] < row["segment_bytes"] / 2]
    return {
        key: {
            "closed": len(rows), "fill": sum(row["log_bytes"] / row["segment_bytes"] for row in rows) / len(rows),
            "log_bytes": float(round(total(rows, "log_bytes") / len(rows))), "segment_bytes": rows[0]["segment_bytes"],
        }
        for key, rows in by(small, *PARTITION, "roll_reason").items()
    }  # fmt: skip


def sparsest(tables: dict) -> dict:
    indexed = by([row for row in tables["segments"] if row["offset_entries"]], *PARTITION)
    return {key: {"bytes_per_entry": total(rows, "log_bytes") / total(rows, "offset_entries")} for key, rows in indexed.items()}


def densest(tables: dict) -> dict:
    logs = by([row for row in tables["segments"] if row["log_bytes"]], *PARTITION)
    return {
        key: {
            "entries": total(rows, "offset_entries"),
            "index_share": (8 * total(rows, "offset_entries") + 12 * total(rows, "time_entries")) / total(rows, "log_bytes"),
        }
        for key, rows in logs.items()
    }


def worst_lookup(tables: dict) -> dict:
    """Of the first offset of each batch: from the batch of the last entry whose key is not above it, or byte 0, to the batch itself."""
    keys, worst = by(tables["offset_entries"], "topic", "partition", "segment_base_offset"), {}
    for segment, rows in by(tables["batches"], "topic", "partition", "segment_base_offset").items():
        rows = sorted(rows, key=lambda row: row["position"])
        at = {row["position"]: number for number, row in enumerate(rows)}
        entries = sorted((entry["offset"], entry["position"]) for entry in keys.get(segment, []))
        furthest = [0, *itertools.accumulate((position for _, position in entries), max)]
        for number, row in enumerate(rows):
            start = furthest[bisect.bisect_right(entries, row["base_offset"], key=lambda entry: entry[0])]
            found = number - at[start] + 1, row["base_offset"], row["position"] + row["size_bytes"] - start
            worst[segment[:2]] = max(worst.get(segment[:2], found), found)
    return {key: {"offset": offset, "headers": headers, "bytes": size} for key, (headers, offset, size) in worst.items()}


def small_batches(tables: dict) -> dict:
    found = {}
    for key, rows in by(tables["batches"], "topic").items():
        if round(total(rows, "size_bytes") / len(rows)) < 200:
            means = {"records_a_batch": total(rows, "record_count") / len(rows), "batch_bytes": total(rows, "size_bytes") / len(rows)}
            found[key] = {"batches": len(rows)} | means
    return found


def unindexed(tables: dict) -> dict:
    found = {}
    for key, rows in by(tables["batches"], "topic").items():
        none = sum(row["entry_slot"] is None for row in rows)
        found[key] = {"not_indexed": none, "batches": len(rows), "share": none / len(rows)}
    return found


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
    found = {}
    for key, rows in by(tables["sweep"], "topic").items():
        now, then = ([row for row in rows if row["interval_bytes"] == interval] for interval in (4096, 16384))
        p99 = {f"headers_p99_at_{name}": max(row["headers_p99"] for row in of) for name, of in (("4_kib", now), ("16_kib", then))}
        found[key] = p99 | {"saved_bytes": total(now, "index_bytes") - total(then, "index_bytes")}
    return found


def preallocated(tables: dict) -> dict:
    found = {}
    for key, rows in by(tables["segments"], *PARTITION).items():
        slots = [row for row in rows if None not in (row["unwritten_offset_slots"], row["unwritten_time_slots"])]
        unwritten = 8 * total(slots, "unwritten_offset_slots") + 12 * total(slots, "unwritten_time_slots")
        if unwritten:
            length, disk = total(rows, "index_bytes", "timeindex_bytes"), total(rows, "index_allocated_bytes", "timeindex_allocated_bytes")
            found[key] = {"unwritten_bytes": unwritten, "length_bytes": length, "on_disk_bytes": disk}
    return found


def maps(tables: dict) -> dict:
    used = by([row for row in tables["segments"] if row["state"] in ("active", "closed")], "topic")
    return {
        key: {"segments": len(rows), "maps": sum(row[name] is not None for row in rows for name in ("index_bytes", "timeindex_bytes"))}
        for key, rows in used.items()
    }


def codecs(tables: dict) -> dict:
    found = {}
    for key, rows in by(tables["batches"], "codec").items():
        records, size = total(rows, "record_count"), total(rows, "size_bytes")
        found[key] = {"batches": len(rows), "records": records, "log_bytes": size, "bytes_a_record": size / records}
    return found


def late(tables: dict) -> dict:
    found = {}
    for key, rows in by(tables["batches"], *PARTITION).items():
        newest, lags = None, []
        for row in sorted(rows, key=lambda one: one["base_offset"]):
            if newest is not None and row["max_timestamp_ms"] < newest:
                lags.append(newest - row["max_timestamp_ms"])
            newest = max(newest or row["max_timestamp_ms"], row["max_timestamp_ms"])
        if lags:
            found[key] = {"late_batches": len(lags), "latest_by_ms": max(lags)}
    return found


def future(tables: dict) -> dict:
    found = {}
    for key, rows in by([row for row in tables["segments"] if row["max_timestamp_ms"] is not None], *PARTITION).items():
        ahead = max(row["max_timestamp_ms"] - row["log_mtime_ns"] // 1_000_000 for row in rows)
        if ahead > 3_600_000:
            found[key] = {"newest_timestamp_ms": max(row["max_timestamp_ms"] for row in rows), "ahead_ms": ahead}
    return found


def compacted(tables: dict) -> dict:
    found = {}
    for key, rows in by(tables["batches"], *PARTITION).items():
        offsets = max(row["last_offset"] for row in rows) - min(row["base_offset"] for row in rows) + 1
        if offsets > total(rows, "record_count"):
            found[key] = {"offsets": offsets, "gone": offsets - total(rows, "record_count")}
    return found


def producers(tables: dict) -> dict:
    written = by([row for row in tables["batches"] if (row["producer_id"] or 0) >= 0], "topic", "producer_id")
    return {
        key: {
            "epoch": max(row["producer_epoch"] for row in rows), "batches": len(rows), "records": total(rows, "record_count"),
            "transactional": any(row["is_transactional"] for row in rows),
        }
        for key, rows in written.items()
    }  # fmt: skip


def retention(tables: dict) -> dict:
    return {key: {"segments": len(rows), "log_bytes": total(rows, "bytes")} for key, rows in by(tables["retention"], "state").items()}


PLAIN = {  # how each is answered plainly; the column it is ordered by, and whether the most comes first; the most rows
    "half-full": (half_full, "fill", False, 99), "sparsest": (sparsest, "bytes_per_entry", True, 8),
    "densest": (densest, "index_share", True, 8),
    "worst-lookup": (worst_lookup, "headers", True, 8), "small-batches": (small_batches, "batches", True, 99),
    "unindexed": (unindexed, "not_indexed", True, 12), "interval": (interval, "interval_bytes", False, 99),
    "16-kib": (sixteen_kib, "headers_p99_at_16_kib", True, 12), "preallocated": (preallocated, "unwritten_bytes", True, 99),
    "maps": (maps, "maps", True, 99), "codecs": (codecs, "bytes_a_record", False, 99), "late": (late, "late_batches", True, 12),
    "future": (future, "ahead_ms", True, 99), "compacted": (compacted, "gone", True, 99), "producers": (producers, "records", True, 12),
    "retention": (retention, "log_bytes", True, 99),
}  # fmt: skip


def rounded(column: str, value: float) -> object:
    """The value as the query rounds it: half up there, half to even here."""
    return pytest.approx(value, abs=0.5001 * 10 ** -DIGITS.get(column, 0))


@pytest.mark.parametrize("name", [one.name for one in QUESTIONS])
def test_a_question_is_answered_as_plain_python_does(name, made, plain, spark):
    """Every row of the answer, their order, and that none is missing."""
    answer, (plainly, order, most_first, most) = ask(made, BY_NAME[name].sql), PLAIN[name]
    expected = plainly(plain)
    keys = list(answer[0])[: len(next(iter(expected)))]
    found = {tuple(row[key] for key in keys): row for row in answer}
    assert len(found) == len(answer) == min(most, len(expected)) > 0
    for key, row in found.items():
        for column, value in expected[key].items():
            assert row[column] == (rounded(column, value) if isinstance(value, float) else value), column
    ordered = [row[order] for row in answer]
    assert ordered == sorted(ordered, reverse=most_first)
    if order in next(iter(expected.values())):
        best = sorted((row[order] for row in expected.values()), reverse=most_first)[:most]
        assert ordered == [rounded(order, value) for value in best]
    if name in TITLES:
        assert BY_NAME[name].title(answer) == TITLES[name]
    tail = BY_NAME[name].tail
    assert tail is None or all(tail(row) for row in answer)


def test_the_worst_lookup_is_what_the_search_reads(made, plain, clean, spark):
    """Header by header, as the release of these scans does it.

    At every batch with an entry, the one before it and the last of a segment, for up to them the search reads most; and at every tenth.
    """
    worst = ask(made, BY_NAME["worst-lookup"].sql)
    for row in worst[1:4]:  # the first is the metadata log, which is no topic of a consumer
        log = paths.open_log(clean / f"{row['topic']}-{row['partition']}", "4.0", True)

        def headers(offset: int, log=log) -> int:
            return len({read.position for read in lookup(log, profile("4.0", None), offset=offset).scan.reads})

        assert headers(row["offset"]) == row["headers"]
        own = [one for one in plain["batches"] if (one["topic"], one["partition"]) == (row["topic"], row["partition"])]
        last = {one["segment_base_offset"]: one["base_offset"] for one in own}
        around = [pair for pair in itertools.pairwise(own) if pair[1]["entry_slot"] is not None]
        furthest = {one["base_offset"] for pair in around for one in pair} | set(last.values())
        assert row["offset"] in furthest
        offsets = {*furthest, *(one["base_offset"] for one in own[::10])}
        assert max(map(headers, offsets)) == row["headers"]


@pytest.mark.parametrize(
    ("text", "what", "marked"),
    [
        ("DROP TABLE segments", "Only a question", "DROP TABLE segments"),
        ("INSERT INTO segments SELECT * FROM segments", "Only a question", "INSERT INTO segments"),
        ("WITH a AS (SELECT 1) INSERT INTO x SELECT * FROM a", "Only a question", "INSERT INTO x"),
        ("FROM segments INSERT INTO x SELECT *", "Only a question", None),
        ("CREATE TABLE x AS SELECT 1", "Only a question", None),
        ("SET spark.sql.runSQLOnFiles=true", "Only a question", None),
        ("CACHE TABLE x AS SELECT 1", "Only a question", None),
        ("EXPLAIN SELECT 1", "Only a question", None),
        ("EXECUTE IMMEDIATE 'DROP TABLE x'", "Only a question", None),
        ("BEGIN SELECT 1; END", "Only a question", None),
        ("SELECT TRANSFORM(topic) USING 'touch {ran}' AS (b) FROM segments", "Only a question", None),
        ("SELECT 1 WHERE EXISTS (SELECT TRANSFORM(topic) USING 'touch {ran}' AS (b) FROM segments)", "Only a question", None),
        ("SELECT 1; SELECT 2", "Not understood from SELECT on", "SELECT"),
        ("SELECT * FROM text.`/etc/hostname`", "There is no table text./etc/hostname", "text.`/etc/hostname`"),
        ("SELECT * FROM segments, LATERAL (SELECT 1 FROM csv.`/y`)", "There is no table csv./y", "csv.`/y`"),
        ("SELECT 1 FROM segments WHERE 1 IN (SELECT x FROM csv.`/y`)", "There is no table csv./y", "csv.`/y`"),
        ("SELECT (SELECT max(1 + (SELECT 1 FROM csv.`/y`)))", "There is no table csv./y", "csv.`/y`"),
        ("SELECT * FROM range(TABLE(SELECT * FROM csv.`/y`))", "There is no table csv./y", "csv.`/y`"),
        ("SELECT * FROM IDENTIFIER('text.`/etc/hostname`')", "There is no table text./etc/hostname", None),
        ("SELECT * FROM IDENTIFIER('seg' || 'ments')", "Only a question", None),
        ("SELECT IDENTIFIER('refl' || 'ect')('a')", "A function's name", None),
        ("SELECT reflect('java.lang.System', 'exit', 0)", "The function reflect", "reflect('java.lang.System', 'exit', 0)"),
        ("SELECT explode(array(system.builtin.`JAVA_METHOD`('a', 'b')))", "The function JAVA_METHOD", None),
        ("SELECT 1 FROM segments LATERAL VIEW reflect('a') t", "The function reflect", None),
        ("WITH a AS (SELECT try_reflect('a')) SELECT * FROM a", "The function try_reflect", None),
        ("SELECT 1 FROM segments GROUP BY topic HAVING reflect('a') = ''", "The function reflect", None),
        ("SELECT sum(1) OVER (ORDER BY reflect('a')) FROM segments", "The function reflect", None),
        ("SELECT xpath('<a/>', 'b')", "The function xpath", None),
        ("SELECT topic, nope FROM segments", "There is no column nope", "nope"),
        ("SELECT nope(1)", "There is no function nope", "nope(1)"),
        ("SELECT * FROM segment", "There is no table segment", "segment"),
        ("SELECT *\nFROM segments\nWHERE (", "Not understood", "("),
        ("SELECT 1 / 0", "A division by zero", "1 / 0"),
        ("SELECT CAST(topic AS INT) FROM segments", "The value '", "CAST(topic AS INT)"),
        ("SELECT topic, count(*) FROM segments", "The query does not include a GROUP BY clause", None),
        ("SELECT repeat('x', 2000000000)", "repeat would make a value too large", "repeat('x', 2000000000)"),
        ("SELECT repeat(a, 1000) FROM (SELECT rpad('x', 1000) AS a)", "rpad would make", None),
        ("SELECT SPACE(partition) FROM segments", "space takes a number here", "SPACE(partition)"),
        ("SELECT explode(sequence(1, 1000000000))", "sequence would make", None),
        ("  \n", "There is no query", None),
        (f"SELECT 1 -- {'x' * sql.LONGEST}", "The query has", None),
    ],
)  # fmt: skip
def test_what_is_no_question_is_refused(text, what, marked, made, tmp_path, spark):
    """In one line, with its place; nothing of it is run."""
    text = text.replace("{ran}", str(tmp_path / "ran"))
    with pytest.raises(sql.Wrong) as found:
        ask(made, text)
    assert found.value.what.startswith(what) and "\n" not in str(found.value) and "SQLSTATE" not in str(found.value)
    if marked:
        place = sql.place(text, found.value)
        assert place.text[place.first : place.last] == marked and text.split("\n")[place.line - 1] == place.text
    assert not (tmp_path / "ran").exists()


def test_nothing_is_told_of_the_server(made, spark):
    """The environment and the properties of a process: ${…} is text."""
    assert ask(made, "SELECT '${env:HOME}' AS a, '${system:java.home}' AS b") == [{"a": "${env:HOME}", "b": "${system:java.home}"}]


def test_questions_of_every_shape_are_answered(made, spark):
    """WITH, subqueries, windows, pipes, values, functions of tables."""
    for text in (
        "WITH a AS (SELECT topic FROM segments), b AS (SELECT * FROM a) SELECT count(*) AS n FROM b JOIN a USING (topic)",
        "SELECT * FROM segments s WHERE EXISTS (SELECT 1 FROM batches b WHERE b.topic = s.topic) LIMIT 3",
        "FROM segments |> WHERE state = 'closed' |> AGGREGATE count(*) AS n GROUP BY topic",
        "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, name)",
        "SELECT * FROM range(3)", "TABLE partitions", "SELECT topic FROM segments UNION SELECT topic FROM partitions",
        "SELECT * FROM (SELECT topic, state FROM segments) PIVOT (count(*) FOR state IN ('active', 'closed'))",
        "SELECT e.x FROM segments LATERAL VIEW explode(array(1, 2)) e AS x", "SELECT transform(array(1, 2), x -> x + 1) AS a;",
    ):  # fmt: skip
        assert ask(made, text), text


def test_what_a_page_could_not_hold_is_told_as_text(made, spark):
    """Maps, lists, intervals, bytes; and each column has a name of its own."""
    text = "SELECT map('a', 1) AS m, array(1, 2) AS a, INTERVAL 2 MONTH AS i, x'00ff' AS b, 1 AS n, 2 AS n, 3 AS N, NULL AS `o``o`"
    shown = {"m": "{a -> 1}", "a": "[1, 2]", "i": "INTERVAL '2' MONTH", "b": "00FF", "n": 1, "n 2": 2, "N 3": 3, "o`o": None}
    assert ask(made, text) == [shown]


def test_a_long_answer_is_cut_and_counted(made, plain, spark):
    """The first rows, and how many there would be."""
    answer = Query(made, "SELECT * FROM batches", TESTED, most_rows=100).wait(PATIENCE_S)
    assert answer.is_cut and answer.rows.num_rows == 100 and answer.all_rows == len(plain["batches"])
    whole = Query(made, "SELECT * FROM batches LIMIT 100", TESTED, most_rows=100).wait(PATIENCE_S)
    assert not whole.is_cut and whole.all_rows == 100


def test_a_long_text_is_cut_where_it_is_made(made, plain, spark):
    """A list of all batches in a cell, and in every row another; what fits stays whole, and the answer says at which length it cut."""
    answer = Query(made, "SELECT topic, collect_list(struct(*)) AS a FROM batches GROUP BY topic", TESTED).wait(PATIENCE_S)
    texts = answer.rows["a"].to_pylist()
    assert answer.cut_at == CELL_CHARACTERS // 2 and max(map(len, texts)) == answer.cut_at + 1
    assert all(text.endswith("…") == (len(text) > answer.cut_at) for text in texts)
    assert Query(made, "SELECT topic, repeat('x', 100) AS a FROM segments", TESTED).wait(PATIENCE_S).cut_at == 0
    assert ask(made, "SELECT hex(repeat('a', 4)) AS h, rpad('x', 3, '.') AS r, size(sequence(1, 24)) AS n") == [
        {"h": "61616161", "r": "x..", "n": 24}
    ]


def test_a_table_of_no_rows_has_its_columns(clean, tmp_path, in_process, spark, monkeypatch):
    """A catalog that was made without findings."""
    out = tmp_path / "catalog"
    in_process(clean / "orders-0", catalog=out)
    monkeypatch.undo()
    answer = Query(out, "SELECT * FROM findings", TESTED).wait(PATIENCE_S)
    assert answer.rows.num_rows == 0 and {"code", "severity", "message"} <= set(answer.rows.column_names)
    assert answer.rows.schema.field("position").type == pa.int64()


def test_no_catalog(tmp_path, spark):
    """Said as everywhere else."""
    with pytest.raises(CannotOpen, match="is no catalog"):
        ask(tmp_path, "SELECT 1")


def test_a_query_that_would_not_end_is_cancelled(made, spark):
    """While its tasks run; Spark is free for the next one at once."""
    query = Query(made, ENDLESS, TESTED)
    until = time.monotonic() + PATIENCE_S
    running = query.progress()
    while running.done_tasks >= running.total_tasks and time.monotonic() < until:
        time.sleep(0.05)
        running = query.progress()
    assert running.state == "running" and running.done_tasks < running.total_tasks
    began = time.monotonic()
    query.cancel()
    assert query.is_over and query.progress().state == "cancelled" and time.monotonic() - began < 5
    with pytest.raises(Cancelled):
        query.wait()
    assert ask(made, "SELECT 1 AS one") == [{"one": 1}]
    query.cancel()
    assert query.progress().state == "cancelled"


def test_a_cross_join_does_not_take_the_memory(made, spark):
    """All that joins one row is many million rows: they are not held at once, so that the same Spark answers the next query."""
    answer = Query(made, "SELECT b.offset FROM batches a, offset_entries b, offset_entries c", TESTED).wait(PATIENCE_S)
    assert answer.rows.num_rows == 10_000 and answer.all_rows is None and answer.is_cut
    assert spark.range(3).count() == 3


KILLED = """
import os, signal, sys, time
from pathlib import Path
from pyspark import SparkContext
from kafkaviz.pipeline.query import Lost, Query

query = Query(Path({made!r}), {text!r}, "local[1]")
while not query.progress().total_tasks:
    time.sleep(0.1)
time.sleep(1)
os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
killed = time.monotonic()
try:
    query.wait(60)
except Lost as lost:
    print("lost:", lost, time.monotonic() - killed < 15)
print("next:", Query(Path({made!r}), "SELECT count(*) AS n FROM partitions", "local[1]").wait(120).rows.to_pylist())
"""


def test_a_killed_spark_is_said_and_started_again(made, plain, cache):
    """In a process of its own: the query under way fails by name, the next one is answered."""
    script = KILLED.format(made=str(made), text=ENDLESS)
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240, cwd=Path(__file__).parents[2])
    assert "lost: Spark's Java process ended while it worked on the query True" in told.stdout, told.stdout + told.stderr[-800:]
    assert f"next: [{{'n': {len(plain['partitions'])}}}]" in told.stdout
