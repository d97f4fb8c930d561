"""A worker's handling of a request, in this process and without its limits."""

import io
import json
import os
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.catalog.schema import TABLES
from kafkaviz.pipeline.sql import query, sql_worker
from kafkaviz.pipeline.sql.sql_worker import CatalogDatabase
from tests.pipeline.small_logs import write_broker
from tests.support import ingest


@pytest.fixture(scope="module")
def catalogs(tmp_path_factory) -> tuple[Path, Path]:
    """Returns the catalogs of two brokers without findings: the tables of the checks have no file."""
    folder, partitions = (
        tmp_path_factory.mktemp("sql"),
        {
            "first": {"orders-0": [[100] * 3, [100] * 2], "refunds-0": [[200] * 4]},
            "second": {"audit-0": [[100]]},
        },
    )
    with pytest.MonkeyPatch.context() as patched:
        ingest.without_spark(patched)
        for name, logs in partitions.items():
            ingest.run_ingest(write_broker(folder / name, logs), catalog=folder / f"{name}-catalog")
    return folder / "first-catalog", folder / "second-catalog"


@pytest.fixture(scope="module")
def database() -> Iterator[CatalogDatabase]:
    """Opens a database without a limit, which would last until this process ends."""
    database = CatalogDatabase(256, 1)
    database._is_limited = True
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(".")  # each request goes to the folder of its catalog
        yield database


def request(folder: Path, text: str, most_rows: int = 100) -> dict:
    tables = {name: list(files) for name, files in catalog.read_info(folder).tables.items()}
    return {"folder": str(folder), "tables": tables, "text": text, "most_rows": most_rows}


@pytest.fixture
def reply(database, catalogs):
    def ask(text: str, most_rows: int = 100) -> tuple[dict, list[dict]]:
        head, body = database.reply(request(catalogs[0], text, most_rows))
        return head, pa.ipc.open_stream(body).read_all().to_pylist() if body else []

    return ask


def test_the_rows_of_a_query(reply):
    head, rows = reply("SELECT topic, count(*) AS n FROM batches GROUP BY topic ORDER BY topic")
    assert rows == [{"topic": "orders", "n": 5}, {"topic": "refunds", "n": 4}]
    assert (head["all_rows"], head["cut_at"]) == (2, 0)
    assert 0 < head["seconds"] < 60


def test_rows_that_take_long_to_count_are_not_counted(reply, monkeypatch):
    monkeypatch.setattr(sql_worker, "COUNTED_WITHIN_S", 0.05)
    head, rows = reply("SELECT a.range AS n FROM range(10000000) a, range(10000000) b", most_rows=2)
    assert (len(rows), head["all_rows"]) == (2, None)


def test_a_column_that_an_older_catalog_lacks_is_null(database, catalogs, tmp_path):
    folder = shutil.copytree(catalogs[0], tmp_path / "catalog", symlinks=True)
    for path in (folder / "batches").resolve().iterdir():
        rows = pq.read_table(path, partitioning=None)
        pq.write_table(rows.drop_columns(["uncompressed_bytes"]), path)
    text = "SELECT count(*) AS n, count(uncompressed_bytes) AS known FROM batches"
    _, body = database.reply(request(folder, text))
    assert pa.ipc.open_stream(body).read_all().to_pylist() == [{"n": 9, "known": 0}]


def test_another_catalog_is_opened_and_the_first_again(database, catalogs):
    topics = []
    for folder in (*catalogs, catalogs[0]):
        _, body = database.reply(request(folder, "SELECT DISTINCT topic FROM segments ORDER BY 1"))
        topics.append(pa.ipc.open_stream(body).read_all()["topic"].to_pylist())
    assert topics == [["orders", "refunds"], ["audit"], ["orders", "refunds"]]


def test_a_reply_that_is_too_large_is_not_sent(reply, monkeypatch):
    monkeypatch.setattr(sql_worker, "MAX_BYTES", 10)
    assert reply("SELECT 1") == ({"too_large": True}, [])


def test_memory_that_runs_out_is_said(reply, monkeypatch):
    for error in (MemoryError, pa.ArrowMemoryError, duckdb.OutOfMemoryException):

        def run(cursor, text, most_rows, error=error):
            raise error

        monkeypatch.setattr(sql_worker, "_run_query", run)
        assert reply("SELECT 1") == ({"too_large": True}, [])


def test_files_that_are_gone_are_said(database, catalogs, tmp_path):
    """An ingest may have replaced them; a missing folder is the same."""
    lost = request(catalogs[0], "SELECT * FROM batches")
    tables = {name: [] for name in TABLES} | {"batches": ["gone.parquet"]}
    assert database.reply(lost | {"tables": tables}) == ({"lost_files": True}, b"")
    assert database.reply(lost | {"folder": str(tmp_path / "gone")}) == ({"lost_files": True}, b"")


def test_a_fault_of_ours_is_reported_by_its_name_alone(database, catalogs):
    head, _ = database.reply(request(catalogs[0], "SELECT 1") | {"most_rows": None})
    assert head == {"failed": "TypeError"}


def data_bytes() -> int:
    """Returns this process's memory for data."""
    status = Path("/proc/self/status").read_text()
    return next(
        int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmData:")
    )


def test_the_process_may_take_so_much_memory_and_leaves_no_core(monkeypatch):
    """In addition to its present memory, also for memory that DuckDB does not count."""
    limits = {}
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limit: limits.update({kind: limit}))
    before_bytes = data_bytes()
    sql_worker._limit_memory(64)
    assert limits[resource.RLIMIT_CORE] == (0, 0)
    soft, hard = limits[resource.RLIMIT_DATA]
    more_bytes = 64 + sql_worker.EXTRA_MIB << 20
    assert soft == hard
    assert abs(soft - more_bytes - before_bytes) < 32 << 20


def test_requests_are_answered_one_after_the_other(catalogs, monkeypatch, capfdbinary):
    """One line of JSON each, followed by the bytes of the rows; any other output is ignored."""
    texts = ["SELECT 1 AS a", "SELECT nope", "SELECT 2 AS a"]
    lines = [json.dumps(request(catalogs[0], text)).encode() for text in texts]
    reply_to = CatalogDatabase.reply

    def print_and_reply(self, request):
        os.write(1, b"a word of a library")
        return reply_to(self, request)

    monkeypatch.setattr(CatalogDatabase, "reply", print_and_reply)
    monkeypatch.setattr(sql_worker, "_limit_memory", lambda mib: None)
    monkeypatch.setattr(
        sql_worker, "_listen", lambda requests: [requests.put(line) for line in (*lines, b"{")]
    )
    monkeypatch.chdir(".")
    with pytest.raises(json.JSONDecodeError):  # of the last request
        sql_worker.main(64, 1)
    replies = capfdbinary.readouterr().out
    answers = []
    while replies:
        line, _, replies = replies.partition(b"\n")
        head = json.loads(line)
        body, replies = replies[: head["bytes"]], replies[head["bytes"] :]
        answers.append(pa.ipc.open_stream(body).read_all().to_pylist() if body else "wrong" in head)
    assert answers == [[{"a": 1}], True, [{"a": 2}]]


def test_the_end_of_the_server_ends_the_process(monkeypatch):
    lines, statuses = [], []
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=[b"first\n", b"second\n"]))
    monkeypatch.setattr(sql_worker.os, "_exit", statuses.append)
    sql_worker._listen(SimpleNamespace(put=lines.append))
    assert (lines, statuses) == ([b"first\n", b"second\n"], [0])


class FakeWorker:
    is_alive = True

    def __init__(self, reply: tuple[dict, bytes] | Exception) -> None:
        self._reply, self.is_ended = reply, False

    def ask(self, _request: dict) -> tuple[dict, bytes]:
        if isinstance(self._reply, Exception):
            raise self._reply
        return self._reply

    def end(self) -> None:
        self.is_ended = True


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (({"failed": "KeyError"}, b""), "KeyError"),
        (RuntimeError("its pipe is odd"), "its pipe is odd"),
    ],
)
def test_a_worker_that_fails_is_distinguished_from_a_wrong_query(
    catalogs, monkeypatch, answer, reason
):
    pool = query.WorkerPool()
    monkeypatch.setattr(query, "POOL", pool)
    monkeypatch.setattr(query, "Worker", lambda: FakeWorker(answer))
    with pytest.raises(query.WorkerLost) as fault:
        query.Query(catalogs[0], "SELECT 1").wait(60)
    assert dict(fault.value.message.values) == {"reason": reason}


@pytest.mark.parametrize(
    "output", [b"", b"no JSON\n", b'{"bytes": 7}\nshort', b'{"bytes": 11}\nabcdefghijk'], ids=repr
)
def test_a_reply_that_is_cut_or_too_large_ends_its_worker(output, monkeypatch):
    """Whatever it said before: its rest must not be read as the next reply."""
    monkeypatch.setattr(query, "MAX_BYTES", 10)
    steps = []
    worker = object.__new__(query.Worker)
    worker._process = SimpleNamespace(
        kill=lambda: steps.append("kill"), wait=lambda: steps.append("wait")
    )
    worker._input, worker._output = io.BytesIO(), io.BytesIO(output)
    with pytest.raises(query.WorkerLost):
        worker.ask({})
    assert steps == ["kill", "wait"]
