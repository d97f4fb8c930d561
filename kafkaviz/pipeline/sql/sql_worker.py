"""A process that runs queries with DuckDB on the Parquet files of a catalog.

query.py starts `python -m kafkaviz.pipeline.sql.sql_worker MIB THREADS` with PYTHONPATH as the only
environment variable. The process is not trusted: DuckDB can read only the catalog's files, and a
query that takes all memory ends only this process.

A request is a line of JSON on stdin with folder, tables (the files of each), text and `most_rows`.
A reply is a line of JSON on stdout, followed by an Arrow stream. "bytes" in the JSON is the size of
the stream. At the end of stdin the process exits, even during a query.
"""

import io
import json
import os
import queue
import re
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from kafkaviz.pipeline.catalog.schema import TABLES
from kafkaviz.pipeline.sql import sql
from kafkaviz.pipeline.sql.sql import MAX_BYTES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

# The most characters of text in a row, shared by its columns, and the least limit for a column.
CELL_CHARACTERS = 5000
MIN_CHARACTERS = 500
EXPLAIN = "EXPLAIN "
COUNTED_WITHIN_S = 3.0  # time limit for counting all rows of a result that was cut
EXTRA_MIB = 256  # memory of a query that DuckDB's own limit does not count
NICENESS = 5  # pages and ingests have a higher priority
# the SQL type of each Arrow type
TYPES = {
    "string": "VARCHAR",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "bool": "BOOLEAN",
    "double": "DOUBLE",
}
PLAIN = re.compile(  # SQL types whose values Arrow, CSV and a page can hold unchanged
    r"BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*|DATE|TIMESTAMP( WITH "
    r"TIME ZONE|_.*)?"
)
CONFIG: dict[str, str | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",  # no temporary file is written to the disk
    "secret_directory": "",
    "errors_as_json": "true",
}


def main(memory_mib: int, threads: int) -> None:
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a library's output must not mix with replies
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    database = CatalogDatabase(memory_mib, threads)
    while True:
        head, body = database.reply(json.loads(requests.get()))
        replies.write(json.dumps(head | {"bytes": len(body)}).encode() + b"\n" + body)
        replies.flush()


def _listen(requests: "queue.SimpleQueue[bytes]") -> None:
    for line in sys.stdin.buffer:
        requests.put(line)
    os._exit(0)  # ends a running query too


class CatalogDatabase:
    """An in-memory database whose tables are the files of a catalog.

    The database is kept until another catalog is queried.
    """

    def __init__(self, memory_mib: int, threads: int) -> None:
        self._config = CONFIG | {"memory_limit": f"{memory_mib}MiB", "threads": str(threads)}
        self._memory_mib = memory_mib
        self._is_limited = False
        self._key: tuple | None = None
        self._database: DuckDBPyConnection | None = None

    def reply(self, request: Mapping[str, Any]) -> tuple[dict, bytes]:
        try:
            database = self._open_database(request["folder"], request["tables"])
            return _run_query(database.cursor(), request["text"], request["most_rows"])
        except sql.QueryError as error:
            return {"wrong": _plain_error(error)}, b""
        except (MemoryError, duckdb.OutOfMemoryException, pa.ArrowMemoryError):
            return {"too_large": True}, b""
        except (duckdb.IOException, OSError):
            return {"lost_files": True}, b""
        except Exception as fault:  # only the error's name, as the text may reveal details
            if error := sql.query_error(fault, request["text"]):
                return {"wrong": _plain_error(error)}, b""
            return {"failed": type(fault).__name__}, b""

    def _open_database(
        self, folder: str, tables: Mapping[str, Sequence[str]]
    ) -> "DuckDBPyConnection":
        os.chdir(folder)  # file names are relative, so a * in the folder's path is not a pattern
        key = (folder, json.dumps(tables))
        if self._database is None or self._key != key:
            if self._database is not None:
                self._database.close()
            self._database = duckdb.connect(":memory:", config=self._config)
            self._key = key
            _create_views(self._database, tables)
        if not self._is_limited:
            _limit_memory(self._memory_mib)
            self._is_limited = True
        return self._database


def _create_views(database: "DuckDBPyConnection", tables: Mapping[str, Sequence[str]]) -> None:
    """Creates a view for each table with files, and an empty table for each without files.

    Afterwards the database can read no other files, and its settings are locked.
    """
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    paths = {name: [f"{name}/{file}" for file in files] for name, files in tables.items()}
    allowed_paths = [path for files in paths.values() for path in files]
    if allowed_paths:
        database.execute(f"SET allowed_paths = {_sql_list(allowed_paths)}")
    for name, files in paths.items():
        if files:
            rows = f"read_parquet({_sql_list(files)}, hive_partitioning = false)"
            names = database.sql(f"FROM {rows}").columns
            absent = "".join(  # columns that a catalog of an older kafkaviz lacks
                f", NULL::{TYPES[str(field.type)]} AS {sql.quote_name(field.name)}"
                for field in TABLES[name]
                if field.name not in names
            )
            database.execute(f"CREATE VIEW {name} AS SELECT *{absent} FROM {rows}")
        else:
            columns = ", ".join(
                f"{sql.quote_name(field.name)} {TYPES[str(field.type)]}" for field in TABLES[name]
            )
            database.execute(f"CREATE TABLE {name} ({columns})")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")


def _sql_list(names: Sequence[str]) -> str:
    # file names in a catalog contain no quotes
    return "[" + ", ".join(f"'{name}'" for name in names) + "]"


def _limit_memory(mib: int) -> None:
    """Limits the memory of the process.

    DuckDB's own limit does not count everything, such as the result of printf('%1000000000d', 1).
    """
    # not every system can report and limit these
    with suppress(ImportError, OSError, ValueError, StopIteration):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/status") as status:
            used_bytes = next(
                int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:")
            )
        most = used_bytes + (mib + EXTRA_MIB << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _plain_error(error: sql.QueryError) -> list:
    parts = (error.what, error.advice)
    return [*(part and part.to_json() for part in parts), error.start, error.stop]


def _run_query(cursor: "DuckDBPyConnection", text: str, most_rows: int) -> tuple[dict, bytes]:
    began = time.monotonic()
    sql.check_query(
        text,
        lambda statement: json.loads(
            cursor.sql("SELECT json_serialize_sql(?)", params=[statement]).fetchall()[0][0]
        ),
    )
    relation = _prepare(cursor, text)
    columns, most = _select_list(relation)
    prefix = f"SELECT {columns} FROM (\n"
    suffix = "\n)"
    text = _strip_end(text)
    try:
        query = f"{prefix}{text}{suffix} LIMIT {most_rows + 1}"
        rows = _narrow_sums(cursor.sql(query).to_arrow_table())
    except duckdb.Error as fault:
        raise sql.query_error(fault, text, len(prefix.encode())) or fault from None
    seconds = time.monotonic() - began
    result = rows.slice(0, most_rows)
    all_rows: int | None = rows.num_rows
    if rows.num_rows > most_rows:
        all_rows = _count_rows(cursor, f"SELECT count(*) FROM (\n{text}{suffix}")
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, result.schema) as stream:
        stream.write_table(result)
    body = sink.getvalue()
    if len(body) > MAX_BYTES:
        raise MemoryError
    cut_at = most if _is_cut(result, most) else 0
    return {"all_rows": all_rows, "seconds": seconds, "cut_at": cut_at}, body


def _prepare(cursor: "DuckDBPyConnection", text: str) -> "DuckDBPyRelation":
    try:
        return cursor.sql(text)
    # This error has no position. EXPLAIN fails in the same way, with a position.
    except duckdb.Error as fault:
        try:
            cursor.execute(f"{EXPLAIN}{text}").fetchall()
        except duckdb.Error as explain_fault:
            raise sql.query_error(explain_fault, text, len(EXPLAIN)) or explain_fault from None
        raise fault


def _strip_end(text: str) -> str:
    data = text.encode()
    end = None
    for start, kind in reversed(duckdb.tokenize(text)):
        if kind != duckdb.token_type.comment and data[start : start + 1] != b";":
            break
        end = start
    return data[:end].decode()


def _select_list(relation: "DuckDBPyRelation") -> tuple[str, int]:
    """Returns SQL for the columns of a query, and the length limit of a cell in characters.

    Each column gets a unique name. Values that Arrow, CSV or a web page cannot hold become text of
    limited length. The query cuts the text, because the full values might not fit into memory.
    """
    columns = []
    for place, kind in enumerate(map(str, relation.types), 1):
        is_text = not PLAIN.fullmatch(kind)
        expression = f"CAST(#{place} AS VARCHAR)" if is_text else f"#{place}"
        if kind == "BLOB":
            expression = f"hex(#{place})"
        columns.append((expression, is_text))
    most = max(MIN_CHARACTERS, CELL_CHARACTERS // max(1, sum(is_text for _, is_text in columns)))
    names = map(sql.quote_name, _unique_names(relation.columns))
    parts = (
        f"{_shorten(column, most) if is_text else column} AS {name}"
        for name, (column, is_text) in zip(names, columns, strict=True)
    )
    return ", ".join(parts), most


def _shorten(text: str, most: int) -> str:
    return f"CASE WHEN length({text}) > {most} THEN left({text}, {most}) || '…' ELSE {text} END"


def _narrow_sums(rows: pa.Table) -> pa.Table:
    for place, field in enumerate(rows.schema):
        # DuckDB returns sums of whole numbers as 128 bits
        if pa.types.is_decimal(field.type) and field.type.scale == 0 and field.type.precision == 38:
            with suppress(pa.ArrowInvalid):
                rows = rows.set_column(place, field.name, rows.column(place).cast(pa.int64()))
    return rows


def _is_cut(rows: pa.Table, most: int) -> bool:
    import pyarrow.compute as pc

    texts = (column for column in rows.columns if pa.types.is_string(column.type))
    return any(
        # ty: ignore[missing-attribute] - pyarrow makes these functions during its import
        (pc.max(pc.utf8_length(column)).as_py() or 0) > most
        for column in texts
    )


def _count_rows(cursor: "DuckDBPyConnection", text: str) -> int | None:
    timer = threading.Timer(COUNTED_WITHIN_S, cursor.interrupt)
    timer.start()
    try:
        return cursor.sql(text).fetchall()[0][0]
    except duckdb.Error:
        return None
    finally:
        timer.cancel()


def _unique_names(names: Sequence[str]) -> Iterator[str]:
    """Makes column names unique: "topic", "topic" becomes "topic", "topic 2"."""
    lowercase_names: set[str] = set()
    for name in names:
        unique = name
        times = 1
        while unique.lower() in lowercase_names:
            times += 1
            unique = f"{name} {times}"
        lowercase_names.add(unique.lower())
        yield unique


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    main(*map(int, sys.argv[1:]))
