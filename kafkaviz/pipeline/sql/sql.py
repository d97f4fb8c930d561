"""Checks a query that a user typed, before any part of it runs.

DuckDB can write tables and files, read any file (SELECT * FROM '/etc/passwd'), load extensions and
show its settings. So kafkaviz checks the syntax tree that DuckDB's own parser makes of the text.
The query must be a single SELECT over tables of the catalog. Functions that reach outside of the
catalog are refused. The process that runs the query (sql_worker.py) is confined too.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.pipeline.catalog.schema import TABLES

MAX_BYTES = 1 << 29  # most bytes in the reply of a process that runs a query
LONGEST = 8000  # most characters of a query, so that it fits into a URL
# the node types of a query that only reads
QUERY_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
# functions that may be used like a table, after FROM
ROW_FUNCTIONS = ("range", "generate_series", "unnest", "repeat", "json_each", "json_tree")
# Refused functions: they reveal the process and its settings, or have effects beyond the query. All
# other functions only compute with their arguments.
FORBIDDEN_FUNCTIONS = re.compile(
    "getenv|getvariable|current_setting|user_agent|inet_.*|pg_.*|.*duckdb.*|write_log|add_parquet_key|(next|curr|set)val|setseed|"
    "sleep_ms|(copy|import)_database|stats|read_.*|query.*|.*execute.*"
)
EMPTY = (message("query.none"), message("query.start_with"))
# prefixes of DuckDB's own views that can be named without a schema
OWN_VIEWS = ("duckdb_", "pg_", "pragma_", "sqlite_")
REACH_ADVICE = message("query.could_tell_more")
# errors that the query did not cause
SYSTEM_ERRORS = re.compile("internal|fatal|io|out.of.memory|interrupt|permission", re.IGNORECASE)
CharacterSpan = tuple[int | None, int | None]  # the first character, and the one after the last
_LOCATION = re.compile(r"\[(\d+),(\d+)\]")
_BARE_OFFSET = re.compile(r"(?<![\w.\"'])offset(?!\s+\d)(?![\w\"'])", re.IGNORECASE)


class QueryError(KafkavizError):
    """The error for a query that was refused or that failed."""

    def __init__(
        self,
        what: Message,
        advice: Message | None = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> None:
        """Creates the error. `start` and `stop` locate the wrong characters; None: unknown."""
        super().__init__(
            message("query.with_advice", problem=what, advice=advice)
            if advice
            else message("common.stop", text=what)
        )
        self.what = what
        self.advice = advice
        self.start = start
        self.stop = stop


@dataclass(frozen=True)
class ErrorLocation:
    """A line of the query: its number from 1, its text, and the indexes of the wrong characters."""

    line: int
    text: str
    first: int
    last: int  # index after the last wrong character

    @property
    def column(self) -> int:
        return self.first + 1


def locate_error(sql: str, error: QueryError) -> ErrorLocation | None:
    """Locates an error. None: unknown, or the query has several lines and is wrong as a whole."""
    if error.start is None or (
        error.start == 0
        and error.stop is not None
        and error.stop >= len(sql.rstrip())
        and "\n" in sql.strip()
    ):
        return None
    start = min(error.start, len(sql))
    line_start = sql.rfind("\n", 0, start) + 1
    text = sql[line_start:].split("\n", 1)[0]
    first = start - line_start
    stop = error.stop - line_start if error.stop is not None else _end_of_word(text, first)
    stop = max(first + 1, min(stop, len(text)))
    return ErrorLocation(sql.count("\n", 0, start) + 1, text, first, stop)


def quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def check_query(text: str, parse: Callable[[str], Mapping[str, Any]]) -> None:
    """Raises QueryError unless the text is a single SELECT over the catalog.

    `parse` returns the syntax tree of a text (DuckDB's json_serialize_sql).
    """
    if not text.strip():
        raise QueryError(*EMPTY)
    if len(text) > LONGEST:
        advice = message("query.most_characters", most=LONGEST)
        raise QueryError(message("query.too_long", count=len(text)), advice)
    tree = parse(text)
    if tree["error"]:
        if tree["error_type"] == "parser":
            # for a query that ends too early, the parser names the last word that exists
            retry = parse(f"{text}\nx")
            ends_early = not retry["error"] or retry.get("location") != tree.get("location")
            raise _parse_error(tree, text, ends_early=ends_early)
        raise _no_question(text)
    if not tree["statements"]:
        raise QueryError(*EMPTY)
    if len(tree["statements"]) > 1:
        raise QueryError(message("query.several"), message("query.run_one_by_one"))
    nodes = list(_nodes(tree))
    cte_names = {
        cte["key"].lower() for node in nodes for cte in (node.get("cte_map") or {}).get("map", ())
    }
    for name in cte_names:
        # outside of the WITH clause, such a name would mean a file or one of DuckDB's own views
        if not name.isidentifier() or name.startswith(OWN_VIEWS):
            what = message("query.with_name", name=name)
            raise QueryError(what, message("query.take_other_name"))
    for node in nodes:
        _check_node(node, cte_names, text)


def query_error(fault: Exception, text: str, prefix_bytes: int = 0) -> QueryError | None:
    """Returns a short error for DuckDB's exception; None if the query is not the cause.

    kafkaviz put `prefix_bytes` bytes of SQL before the query.
    """
    try:
        details = json.loads(str(fault)[str(fault).index("{") :])
        kind = details["exception_type"]
        message = details["exception_message"]
    except (ValueError, LookupError, TypeError):
        return None
    if SYSTEM_ERRORS.fullmatch(kind):
        return None
    return QueryError(*_describe(details, message), *_locate(details, text, prefix_bytes))


def _parse_error(details: Mapping[str, Any], text: str, *, ends_early: bool) -> QueryError:
    match = re.search(r'near "(.*)"', details["error_message"], re.DOTALL)
    if match is None or ends_early:
        what = message("query.ends_too_early")
    else:
        what = message("query.not_understood", name=match[1])
    advice = message("query.offset_is_a_word") if _BARE_OFFSET.search(text) else None
    return QueryError(what, advice, *_locate(details, text))


def _describe(details: Mapping[str, Any], duckdb_text: str) -> tuple[Message, Message | None]:
    near = tuple(filter(None, details.get("candidates", "").split(",")))
    subtype = details.get("error_subtype")
    name = details.get("name", "")
    if subtype == "COLUMN_NOT_FOUND":
        advice = message("query.columns_like_it", near=near) if near else None
        return message("query.no_column", name=name), advice
    if subtype == "MISSING_ENTRY" and "Function" in details.get("type", ""):
        advice = message("query.did_you_mean", near=near) if near else None
        return message("query.no_function", name=name), advice
    if subtype == "MISSING_ENTRY":
        return message("query.no_table", name=name), message("query.tables", tables=tuple(TABLES))
    # otherwise the first sentence of DuckDB's text is the problem, and the rest is the advice
    first, _, rest = " ".join(duckdb_text.split("Candidate")[0].split()).partition(". ")
    return (verbatim(first.rstrip(".!")), verbatim(rest) if rest else None)


def _nodes(tree: Any) -> Iterator[Mapping[str, Any]]:
    stack = [tree]  # recursion would fail on deep trees
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack += reversed(node.values())
        elif isinstance(node, list):
            stack += reversed(node)


def _check_node(node: Mapping[str, Any], cte_names: set[str], text: str) -> None:
    kind = node.get("type")
    span = _span(node, text)
    if isinstance(kind, str) and kind.endswith("_NODE") and kind not in QUERY_NODES:
        raise _no_question(text)
    if kind == "BASE_TABLE":
        _check_table(_path(node) or [node["table_name"]], cte_names, span)
    elif kind == "SHOW_REF" and not node.get("query"):
        raise _no_question(text)
    elif kind == "TABLE_FUNCTION":
        name = _path(node["function"])[-1]
        if name.lower() not in ROW_FUNCTIONS:
            raise QueryError(message("query.forbidden_function", name=name), REACH_ADVICE, *span)
    elif (
        "function_name" in node
        and (name := (_path(node) or [node["function_name"]])[-1])
        and FORBIDDEN_FUNCTIONS.fullmatch(name.lower())
    ):
        raise QueryError(message("query.forbidden_function", name=name), REACH_ADVICE, *span)
    elif kind == "VALUE_PARAMETER":
        raise QueryError(message("query.no_parameters"), message("query.write_value"), *span)


def _check_table(parts: list[str], cte_names: set[str], span: CharacterSpan) -> None:
    name = parts[-1].lower()
    if len(parts) == 1 and (name in cte_names or name in TABLES):
        return
    near = get_close_matches(name, TABLES, n=1)
    if near and len(parts) == 1:
        advice = message("query.did_you_mean", near=near)
    else:
        advice = message("query.tables", tables=tuple(TABLES))
    raise QueryError(message("query.no_table", name=".".join(parts)), advice, *span)


def _path(node: Mapping[str, Any]) -> list[str]:
    return (node.get("qualified_name") or {}).get("path") or []


def _span(node: Mapping[str, Any], text: str) -> CharacterSpan:
    start = node.get("query_location")
    size = node.get("query_location_length")
    if isinstance(start, int) and size:
        return _to_characters(text, start, start + size)
    return (None, None)


def _locate(details: Mapping[str, Any], text: str, prefix_bytes: int = 0) -> CharacterSpan:
    match = _LOCATION.fullmatch(details.get("location", ""))
    if match:
        start, size = map(int, match.groups())
        return _to_characters(text, start - prefix_bytes, start - prefix_bytes + size)
    position = details.get("position", "")
    if not position.isdigit():
        return None, None
    at = int(position) - prefix_bytes
    start, _ = _to_characters(text, at, at)
    return start, None


def _to_characters(text: str, start: int, stop: int) -> CharacterSpan:
    data = text.encode()
    if not 0 <= start <= stop <= len(data):
        return None, None
    return len(data[:start].decode(errors="ignore")), len(data[:stop].decode(errors="ignore"))


def _no_question(text: str) -> QueryError:
    start = len(text) - len(text.lstrip())
    return QueryError(message("query.no_question"), None, start, _end_of_word(text, start))


def _end_of_word(text: str, first: int) -> int:
    match = re.match(r"\w+|\S", text[first:])
    return first + (match.end() if match else 1)
