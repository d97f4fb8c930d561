"""The Explore page without a browser and without DuckDB: states, address and downloads."""

import io
import queue
import threading
import time
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from kafkaviz import units
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.pages import explore
from kafkaviz.app.pages.explore import QUOTED_COLUMNS, tables_html
from kafkaviz.app.state import ingests, queries
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures.questions import QUESTION_BY_NAME, QUESTIONS
from kafkaviz.jobs import JobCancelled
from kafkaviz.messages import verbatim
from kafkaviz.pipeline.catalog.schema import OWN_TABLES, TABLES
from kafkaviz.pipeline.sql import query as query_module
from kafkaviz.pipeline.sql import sql
from kafkaviz.pipeline.sql.query import Query, QueryResult, QueryTooLarge, QueryTooLong, WorkerLost
from kafkaviz.pipeline.sql.sql import QueryError
from tests.support.pages import (
    assert_no_exception,
    component_data,
    open_page,
    page_html,
    press_label,
)

CODECS = pa.table(
    {
        "codec": ["zstd", "none"],
        "batches": [540, 100],
        "records": [12_415, 900],
        "log_bytes": [390_553, 90_000],
        "bytes_a_record": [31.5, 100.0],
    }
)
SELECT = "SELECT codec, count(*) AS n\nFROM batches\nGROUP BY codec"


class FakeQuery:
    """A query that is as far as the test says."""

    queries: ClassVar[list[str]] = []
    now: str = "done"
    seconds: float = 0.4
    answer: QueryResult | None = QueryResult(CODECS, 2, 0.4)
    error: KafkavizError | None = None

    def __init__(self, catalog_path: Path, text: str) -> None:
        self.text, self.own = text, None
        FakeQuery.queries.append(text)

    @property
    def state(self) -> str:
        return self.own or FakeQuery.now

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    @property
    def result(self) -> QueryResult | None:
        return self.answer if self.state == "done" else None

    def cancel(self) -> None:
        self.own = None if self.is_over else "cancelled"

    def wait(self, timeout_s: float | None = None) -> QueryResult | None:
        if self.state == "cancelled":
            raise JobCancelled("the query was cancelled")
        if self.error:
            raise self.error
        return self.result


@pytest.fixture
def fake(monkeypatch, starts) -> type[FakeQuery]:
    """Replaces queries by fakes; set their results before the page runs."""
    fresh = type("FakeQuery", (FakeQuery,), {})
    monkeypatch.setattr(FakeQuery, "queries", [])
    monkeypatch.setattr(query_module, "Query", fresh)
    for name in ("now", "seconds", "answer", "error"):
        monkeypatch.setattr(FakeQuery, name, getattr(FakeQuery, name))
    return FakeQuery


@pytest.fixture
def ingested_broker(damaged, in_process, monkeypatch) -> Path:
    broker = broker_cache.broker(damaged)
    in_process(broker.source, catalog=broker_cache.catalog_path(broker), findings=True)
    return damaged


def page(directory: Path, **query: str) -> AppTest:
    return open_page("explore", dir=directory, **query)


def field(at: AppTest) -> dict:
    return component_data(at, "kafkaviz.sql")


def test_the_first_question_runs_by_itself(ingested_broker, fake):
    at = page(ingested_broker, ask="codecs")
    assert field(at)["text"] == QUESTION_BY_NAME["codecs"].sql
    assert fake.queries == [QUESTION_BY_NAME["codecs"].sql]
    assert "2 rows, 0.4 s" in page_html(at)
    assert "A record takes 32 B with zstd, 100 B with none" in page_html(at)
    assert '<td class="kv-mono r kv-tight">12\u202f415</td>' in page_html(at)
    assert len(at.get("plotly_chart")) == 1
    assert field(page(ingested_broker))["text"] == QUESTIONS[0].sql
    assert "1 segment (.cleaned) appears only in the table “segments”" in page_html(at)


def test_a_question_is_chosen(ingested_broker, fake):
    """The address has its name; the first question leaves the address unchanged."""
    at = press_label(page(ingested_broker), "Where is the index densest?")
    assert at.query_params["ask"] == "densest"
    assert fake.queries[-1] == QUESTION_BY_NAME["densest"].sql
    assert (
        "sql" not in at.query_params
        and "ask" not in press_label(at, QUESTIONS[0].text).query_params
    )


def test_a_link_brings_a_query_back(ingested_broker, fake):
    for _ in range(2):
        assert field(page(ingested_broker, sql=SELECT))["text"] == SELECT
    assert fake.queries == [SELECT]


def test_another_column_is_drawn(ingested_broker, fake):
    """The address keeps it until another question is asked."""
    at = page(ingested_broker, ask="codecs", draw="log_bytes")
    assert "log_bytes: 87.9 KiB to 381 KiB" in page_html(at)
    (choice,) = at.selectbox
    at = assert_no_exception(choice.select("records").run())
    assert at.query_params["draw"] == "records" and "records: 900 to 12\u202f415" in page_html(at)
    at = assert_no_exception(at.selectbox[0].select("bytes_a_record").run())
    assert "draw" not in at.query_params and "A record takes 32 B" in page_html(at)
    at = press_label(
        page(ingested_broker, ask="codecs", draw="log_bytes"), "Where is the index densest?"
    )
    assert "draw" not in at.query_params and at.query_params["ask"] == "densest"
    assert "A record takes 32 B" in page_html(page(ingested_broker, ask="codecs", draw="nope"))


def test_the_tables_are_listed_with_their_rows_and_columns(ingested_broker, fake):
    text = page_html(page(ingested_broker))
    rows = broker_cache.catalog_info(broker_cache.open_snapshot(ingested_broker)).rows
    assert text.count("<summary>") == len(TABLES) - len(OWN_TABLES)
    for name in ("checked", "stamps"):
        assert f'<span class="kv-mono">{name}</span>' not in text
    for name in ("segments", "retention", "sweep", "findings"):
        count = units.format_count(rows[name])
        assert f'<summary><span class="kv-mono">{name}</span><span>{count}</span>' in text
    assert '<button type="button" class="kv-col">headers_p99</button><span>long</span>' in text


def test_a_column_is_taken_as_a_query_has_it(ingested_broker):
    written = {
        name: sql.quote_name(name) if name in QUOTED_COLUMNS else name
        for schema in TABLES.values()
        for name in schema.names
    }
    catalog = broker_cache.catalog_path(broker_cache.broker(ingested_broker))
    for table, schema in TABLES.items():
        names = ", ".join(written[name] for name in schema.names)
        answer = Query(catalog, f"SELECT {names} FROM {table}").wait(60)
        assert answer.rows.column_names == schema.names
    text = tables_html(None)
    assert 'class="kv-col" data-name="&quot;offset&quot;">offset</button>' in text
    assert all(name in text for name in QUOTED_COLUMNS)


def test_a_mistake_is_marked(ingested_broker, fake):
    """One message with its position, also in the field; the unchanged query cannot be run again."""
    fake.now = "failed"
    fake.error = QueryError("Unknown column <b>", "Similar columns: topic", 14, 17)
    at = page(ingested_broker, sql="SELECT topic, <b>\nFROM segments")
    assert "Unknown column &lt;b&gt;" in page_html(at)
    assert "Line 1, character 15. Similar columns: topic" in page_html(at)
    assert "<i>1</i>SELECT topic, <b>&lt;b&gt;</b>" in page_html(at)
    assert field(at)["wrong"] == [14, 17]
    assert not [button for button in at.button if button.label == "Run again"]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (WorkerLost("it ended"), "The process that worked on this query ended"),
        (QueryTooLong(60), "The query took longer than 60 s and was ended"),
        (QueryTooLarge(1024), "The query needs more than 1\u202f024 MiB of memory"),
    ],
)
def test_a_query_that_was_ended_is_reported_and_run_again(error, expected, ingested_broker, fake):
    fake.now, fake.error = "failed", error
    at = page(ingested_broker, sql=SELECT)
    assert expected in page_html(at) and "Nothing was changed" in page_html(at)
    fake.now, fake.error = "done", None
    at = press_label(at, "Run again")
    assert "2 rows" in page_html(at) and fake.queries == [SELECT, SELECT]


def test_a_fault_of_the_catalog_shows_no_path_of_the_server(ingested_broker, fake):
    fake.now = "failed"
    lacks = verbatim("names files that do not exist")
    fake.error = CannotOpen("/srv/cache/catalogs/x", lacks, verbatim("run kafkaviz ingest"))
    text = page_html(page(ingested_broker, sql=SELECT))
    assert (
        "names files that do not exist. Nothing was changed." in text and "/srv/cache" not in text
    )


def test_any_other_failure_is_one_line(ingested_broker, fake):
    fake.now, fake.error = "failed", KafkavizError(verbatim("no Java was found"))
    text = page_html(page(ingested_broker, sql=SELECT))
    assert "The query did not end" in text and "no Java was found. Nothing was changed." in text


def test_while_it_runs_the_page_shows_how_far(ingested_broker, fake, monkeypatch):
    fake.now = "waiting"
    waiting = page_html(page(ingested_broker, sql=SELECT))
    assert "The query waits for other queries to end" in waiting
    fake.now, fake.seconds = "running", 1.2
    at = page(ingested_broker, sql=SELECT)
    assert '<span>The query runs</span><span class="kv-fnt">1 s</span>' in page_html(at)
    assert "rows," not in page_html(at)
    at = assert_no_exception(press_label(at, "Cancel").run())
    assert "The query was cancelled" in page_html(at)
    fake.now = "done"
    assert "2 rows" in page_html(press_label(at, "Run again"))


def test_a_query_that_is_left_is_ended(ingested_broker, fake):
    """It is ended unless another tab waits for it."""
    fake.now = "running"
    at = page(ingested_broker, sql=SELECT)
    left = queries.queries().get_or_start(broker_cache.open_snapshot(ingested_broker), SELECT)
    assert not left.is_over
    press_label(at, "Where is the index densest?")
    assert not left.is_over  # this test waits too
    queries.queries().leave(broker_cache.open_snapshot(ingested_broker), SELECT)
    assert left.is_over


def test_a_cancelled_query_is_run_again_by_another_visitor(ingested_broker, fake, monkeypatch):
    snapshot, known, tab = broker_cache.open_snapshot(ingested_broker), queries.Queries(), ["a"]
    monkeypatch.setattr(queries, "_tab", lambda: tab[0])
    fake.now = "running"
    first = known.get_or_start(snapshot, SELECT)
    first.cancel()
    assert known.get_or_start(snapshot, SELECT) is first
    tab[0] = "b"
    again = known.get_or_start(snapshot, SELECT)
    assert again is not first and not again.is_over


def test_a_query_whose_tabs_are_closed_is_ended(ingested_broker, fake, monkeypatch):
    """All tabs must be closed for some seconds; the query survives if one returns."""
    snapshot = broker_cache.open_snapshot(ingested_broker)
    known, opened = queries.Queries(), {"a", "b"}
    now = iter(range(1000))
    monkeypatch.setattr(queries.time, "sleep", lambda seconds: beats.get(timeout=60))
    monkeypatch.setattr(queries.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(queries, "_is_open", lambda tab: looked.put(tab) or tab in opened)
    beats, looked, tabs = queue.Queue(), queue.Queue(), iter("ab")
    monkeypatch.setattr(queries, "_tab", lambda: next(tabs))
    fake.now = "running"
    query = known.get_or_start(snapshot, SELECT)
    assert known.get_or_start(snapshot, SELECT) is query

    def looks(times: int = 1) -> None:
        """Returns after the watcher has looked this often and finished its work."""
        for _ in range(times):
            beats.put(None)
            looked.get(timeout=60)

    looks(20)
    opened.clear()
    looks(3)
    opened.add("b")
    looks(20)
    assert not query.is_over
    opened.clear()
    for _ in range(20):
        beats.put(None)
    until = time.time() + 60
    while not query.is_over and time.time() < until:
        threading.Event().wait(0.01)
    assert query.is_over


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (QueryResult(CODECS, 54_432, 1.0), "the first 2 of 54\u202f432 rows, 1.0 s"),
        (QueryResult(CODECS, None, 1.0), "the first 2 rows; more follow, 1.0 s"),
        (QueryResult(CODECS.slice(0, 1), 1, 1.0), "1 row, 1.0 s"),
        (QueryResult(CODECS.slice(0, 0), 0, 1.0), "No row matches"),
    ],
)
def test_how_much_there_is(answer, expected, ingested_broker, fake):
    """A truncated answer says how many rows there are."""
    fake.answer = answer
    assert expected in page_html(page(ingested_broker, sql=SELECT))


def test_a_long_answer_scrolls(ingested_broker, fake):
    rows = pa.table({"topic": [str(row) for row in range(101)], "n": list(range(101))})
    fake.answer = QueryResult(rows, 101, 0.1)
    at = page(ingested_broker, sql=SELECT)
    assert len(at.dataframe) == 1 and len(at.dataframe[0].value) == 101


def test_text_of_a_log_is_text(ingested_broker, fake):
    """In the table, in the title and in a column name."""
    rows = pa.table({"topic": ["<script>"], "<img>": ["<b>x</b>"], "n": [1]})
    fake.answer = QueryResult(rows, 1, 0.1)
    text = page_html(page(ingested_broker, sql=SELECT))
    assert "<script>" not in text and "<img>" not in text and "&lt;b&gt;x&lt;/b&gt;" in text


def test_before_there_is_a_catalog(killed, fake, starts, tmp_path, monkeypatch):
    """The ingest is started and shown. No query runs, and its text is kept."""
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path))
    at = page(killed, sql=SELECT)
    assert "The tables of this directory are being made" in page_html(at)
    assert "of 20 MiB read" in page_html(at)
    assert len(starts.requests) == 1
    assert fake.queries == []
    assert field(at)["text"] == SELECT
    assert "<span>–</span>" in page_html(at)
    ingests.get_or_start(broker_cache.open_snapshot(killed)).cancel()
    at = assert_no_exception(at.run())
    assert "This directory has no tables yet" in page_html(at)
    assert any(button.label == "Start again" for button in at.button)


def test_a_catalog_of_before_is_queried_and_called_old(ingested_broker, fake, starts, monkeypatch):
    monkeypatch.setattr(broker_cache, "is_fresh", lambda snapshot: False)
    at = page(ingested_broker, ask="codecs")
    assert "The directory has changed since its tables were made" in page_html(at)
    assert "2 rows" in page_html(at)
    assert "of 20 MiB read" in page_html(at)


@pytest.mark.parametrize(
    ("all_rows", "labels", "part"),
    [
        (54_432, ["CSV, first 2", "Parquet, first 2"], "-first-2"),
        (None, ["CSV, first 2", "Parquet, first 2"], "-first-2"),
        (2, ["CSV", "Parquet"], ""),
    ],
)
def test_a_part_of_the_rows_is_called_one(ingested_broker, fake, all_rows, labels, part):
    """The buttons and the file's name say so."""
    fake.answer = QueryResult(CODECS, all_rows, 1.0)
    at = page(ingested_broker, ask="codecs")
    assert [element.proto.label for element in at.get("download_button")] == labels
    assert explore.file_name(fake.answer, "kafka", "SELECT 1") == f"kafka-query{part}"


def test_csv_and_parquet_hold_the_rows():
    """Values are exact and typed. Text in the CSV is quoted because of line breaks."""
    rows = pa.table(
        {
            "topic": ['a "b"\n', None],
            "n": [1, None],
            "share": [0.1, 2.0],
            "d": pa.array([None, 5], pa.duration("us")),
        }
    )
    assert pyarrow.parquet.read_table(io.BytesIO(explore.parquet(rows))).equals(rows)
    text = explore.csv(rows).decode()
    assert text.startswith('"topic","n","share","d"\n"a ""b""\n",1,0.1,')
    assert text.endswith("\n,,2,5\n".replace(",5", ',"5"'))


def test_csv_holds_no_formula():
    """Neither in a cell nor in a column name; numbers and Parquet are unchanged."""
    rows = pa.table(
        {"=a": ["=cmd|' /C calc'!A0", "-1", None], "@n": [-1, 2, None], "t": ["-x", "+49", "x"]}
    )
    lines = ['"\'=a","\'@n","t"', "\"'=cmd|' /C calc'!A0\",-1,\"'-x\"", '"-1",2,"+49"', ',,"x"', ""]
    assert explore.csv(rows).decode().split("\n") == lines
    assert pyarrow.parquet.read_table(io.BytesIO(explore.parquet(rows))).equals(rows)


def test_answers_are_not_kept_for_ever(ingested_broker, fake):
    """The newest answers are kept, and a running query is not dropped."""
    snapshot, known = broker_cache.open_snapshot(ingested_broker), queries.queries()
    for number in range(queries.MAX_ANSWERS + 5):
        known.get_or_start(snapshot, f"SELECT {number}")
    assert len(known._queries.jobs()) == queries.MAX_ANSWERS
    st.cache_resource.clear()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.000034, "0.000034"),
        (5e-06, "0.000005"),
        (0.0, "0"),
        (-0.00012, "-0.00012"),
        (1e-300, "1e-300"),
        (1e21, "1e+21"),
    ],
)
def test_a_small_share_is_written_without_a_power(value, text):
    assert explore.cell_html(value) == text
