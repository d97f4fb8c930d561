"""Which queries are allowed, by DuckDB's syntax tree, and their errors in our words."""

import json
from collections.abc import Callable, Iterator

import duckdb
import pytest

from kafkaviz.pipeline.sql import sql


class DuckDBFault(Exception):
    """The error that DuckDB raises with `errors_as_json`."""

    def __init__(self, kind: str, text: str, **details: str) -> None:
        words = {"exception_type": kind, "exception_message": text} | details
        super().__init__(f"{kind} Error: {json.dumps(words)}")


@pytest.fixture(scope="module")
def parse() -> Iterator[Callable[[str], dict]]:
    with duckdb.connect(":memory:") as connection:
        yield lambda text: json.loads(
            connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()[0][0]
        )


@pytest.mark.parametrize(
    ("text", "key", "advice", "marked"),
    [
        (" \n", "query.none", "query.start_with", None),
        (f"SELECT {'1' * sql.LONGEST}", "query.too_long", "query.most_characters", None),
        ("SELECT topic FORM segments", "query.not_understood", None, "segments"),
        ("SELECT offset FROM batches", "query.not_understood", "query.offset_is_a_word", "FROM"),
        ("SELECT *\nFROM segments WHERE (", "query.ends_too_early", None, "("),
        ("  DROP TABLE segments", "query.no_question", None, "DROP"),
        ("SELECT 1; SELECT 2", "query.several", "query.run_one_by_one", None),
        ("SELECT * FROM segment", "query.no_table", "query.did_you_mean", "segment"),
        ("SELECT * FROM main.segments", "query.no_table", "query.tables", "main.segments"),
        ("SELECT * FROM '/etc/hostname'", "query.no_table", "query.tables", "'/etc/hostname'"),
        ("FROM sqlite_master", "query.no_table", "query.tables", "sqlite_master"),
        ("FROM pg_catalog.pg_class", "query.no_table", "query.tables", "pg_catalog.pg_class"),
        ("FROM glob('*')", "query.forbidden_function", "query.could_tell_more", "glob('*')"),
        ("SELECT ?", "query.no_parameters", "query.write_value", "?"),
        ("SELECT $1", "query.no_parameters", "query.write_value", "$1"),
    ],
)
def test_what_is_refused(parse, text, key, advice, marked):
    with pytest.raises(sql.QueryError) as refusal:
        sql.check_query(text, parse)
    error = refusal.value
    assert error.what.key == key
    assert (error.advice and error.advice.key) == advice
    place = sql.locate_error(text, error)
    assert (place and place.text[place.first : place.last]) == marked


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO segments SELECT * FROM segments",
        "WITH a AS (SELECT 1) INSERT INTO x SELECT * FROM a",
        "WITH a AS (INSERT INTO segments VALUES (1) RETURNING *) SELECT * FROM a",
        "CREATE TABLE x AS SELECT 1",
        "SET memory_limit = '9GB'",
        "COPY segments TO '/tmp/x'",
        "ATTACH '/tmp/x'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "EXPLAIN SELECT 1",
        "SHOW TABLES",
        "EXPORT DATABASE '/tmp/x'",
        "PREPARE a AS SELECT 1",
        "VACUUM",
    ],
)
def test_only_a_select_is_run(parse, text):
    with pytest.raises(sql.QueryError) as refusal:
        sql.check_query(text, parse)
    assert refusal.value.what.key == "query.no_question"


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("read_csv", "SELECT * FROM read_csv('/etc/hostname')"),
        ("glob", "SELECT * FROM segments, LATERAL (SELECT 1 FROM glob('/*'))"),
        ("read_json", "SELECT 1 FROM segments WHERE 1 IN (SELECT x FROM read_json('/y'))"),
        ("sniff_csv", "SELECT (SELECT max(1 + (SELECT count(*) FROM sniff_csv('/y'))))"),
        ("duckdb_settings", "WITH a AS (FROM duckdb_settings()) SELECT * FROM a"),
        ("query", "FROM query('SELECT 1')"),
        ("json_execute_serialized_sql", "FROM json_execute_serialized_sql('{}')"),
        ("current_setting", "SELECT current_setting('temp_directory')"),
        ("current_setting", "SELECT sum(1) OVER (ORDER BY current_setting('a')) FROM segments"),
        ("current_setting", "SELECT system.main.current_setting('home_directory')"),
        ("getenv", "SELECT 1 FROM segments GROUP BY topic HAVING getenv('a') = ''"),
        ("getvariable", "SELECT list_transform([1], lambda x: getvariable('a'))"),
        ("pg_typeof", "SELECT 1 HAVING pg_typeof(1) = ''"),
        ("nextval", "SELECT nextval('a')"),
        ("write_log", "SELECT write_log('a')"),
    ],
)
def test_a_function_that_reaches_out_is_refused_anywhere(parse, function, text):
    with pytest.raises(sql.QueryError, match=f"^The function {function} is not allowed"):
        sql.check_query(text, parse)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pg_settings", "FROM pg_settings, (WITH pg_settings AS (SELECT 1 a) SELECT 1)"),
        ("duckdb_views", "FROM duckdb_views, (WITH Duckdb_Views AS (SELECT 1) SELECT 1)"),
        ("/etc/x", "SELECT * FROM '/etc/x', (WITH \"/etc/x\" AS (SELECT 1) SELECT 1)"),
    ],
)
def test_a_name_of_with_does_not_hide_another_table(parse, name, text):
    with pytest.raises(sql.QueryError, match=f"WITH gives a table the name {name}"):
        sql.check_query(text, parse)


@pytest.mark.parametrize(
    ("details", "key", "advice"),
    [
        (
            {"error_subtype": "COLUMN_NOT_FOUND", "name": "tpic", "candidates": "topic,state"},
            "query.no_column",
            "query.columns_like_it",
        ),
        ({"error_subtype": "COLUMN_NOT_FOUND", "name": "x"}, "query.no_column", None),
        (
            {
                "error_subtype": "MISSING_ENTRY",
                "type": "Scalar Function",
                "name": "cuont",
                "candidates": "count",
            },
            "query.no_function",
            "query.did_you_mean",
        ),
        (
            {"error_subtype": "MISSING_ENTRY", "type": "Table", "name": "x"},
            "query.no_table",
            "query.tables",
        ),
    ],
)
def test_a_common_mistake_is_reported_in_our_words(details, key, advice):
    error = sql.query_error(DuckDBFault("Binder", "unused", **details), "SELECT 1")
    assert error.what.key == key
    assert (error.advice and error.advice.key) == advice


def test_other_mistakes_are_reported_in_duckdbs_first_sentence():
    """The rest is advice, but not the list of all candidates."""
    text = "No overload fits!\n Add casts. Or not. Candidates: a, b"
    error = sql.query_error(DuckDBFault("Binder", text), "SELECT 1")
    assert str(error.what) == "No overload fits! Add casts"
    assert str(error.advice) == "Or not."


@pytest.mark.parametrize(
    "fault",
    [
        ValueError("no JSON"),
        ValueError("{no JSON"),
        ValueError('{"exception_type": "Binder"}'),
        ValueError('{"exception_type": 7, "exception_message": ""}'[:1]),
        DuckDBFault("Out of Memory", "256 MiB"),
        DuckDBFault("IO", "No files found"),
        DuckDBFault("INTERNAL", "assertion"),
        DuckDBFault("Interrupt", ""),
    ],
    ids=str,
)
def test_a_fault_that_no_query_is_to_blame_for(fault):
    assert sql.query_error(fault, "SELECT 1") is None


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        ({"location": "[13,4]"}, ("nope", (10, 14))),
        ({"position": "13"}, ("nope", (10, None))),
        ({"location": "[90,4]"}, (None, (None, None))),
        ({"position": "soon"}, (None, (None, None))),
        ({}, (None, (None, None))),
    ],
    ids=str,
)
def test_the_place_of_a_fault_is_counted_in_characters(details, expected):
    """DuckDB counts bytes from the beginning of its input."""
    text = "SELECT 中, nope"
    error = sql.query_error(DuckDBFault("Binder", "x", **details), f"{text}", 1)
    marked, place = expected
    assert (error.start, error.stop) == place
    location = sql.locate_error(text, error)
    assert (location and location.text[location.first : location.last]) == marked


def test_a_fault_of_a_query_of_several_lines_names_one():
    """Lines and columns count from 1, as in an editor."""
    error = sql.QueryError(sql.EMPTY[0], None, 11, 14)
    location = sql.locate_error("SELECT 1,\n nope", error)
    assert (location.line, location.column, location.text) == (2, 2, " nope")


def test_a_fault_of_all_of_a_query_has_no_line():
    """Marking each of its lines would say nothing; a query of one line is marked."""
    error = sql.QueryError(sql.EMPTY[0], None, 0, 11)
    assert sql.locate_error("SELECT 1,\n2\n", error) is None
    assert sql.locate_error("SELECT 1, 2", error).line == 1
