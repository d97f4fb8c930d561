"""What the page Explore shares between its runs and its tabs: the queries of this server, and an answer as table, CSV and Parquet."""

import io
import os
import threading
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from kafkaviz.figures import unused_words
from kafkaviz.ui import cache, parts
from kafkaviz.ui.cache import Listed
from kafkaviz.units import MISSING, group, legible
from kafkaviz.words import counted, say

if TYPE_CHECKING:
    from kafkaviz.pipeline.catalog_info import CatalogInfo
    from kafkaviz.pipeline.query import Answer, Query

KEPT = 12  # answers
LEAST = 1e-12  # a number as small is written with a power
SHORT_ROWS = 100  # a table up to here is exact HTML; a longer one scrolls, and is sorted, in Streamlit's
OWN = "checked"  # a table of kafkaviz's own, that no question is about
SHORT_TYPES = {"string": "text", "int32": "int", "int64": "long", "bool": "bool", "double": "double"}


class Queries:
    """The queries of this server by catalog and text: shared by all tabs, so that a link or a way back asks nothing twice."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple, Query] = {}

    def of(self, here: Listed, text: str) -> "Query":
        """The query to the directory's catalog as it is now; started at the first call."""
        with self._lock:
            key = self._key(here, text)
            if key not in self._known:
                self._start(here, key)
            return self._known[key]

    def again(self, here: Listed, text: str) -> "Query":
        """The same, started anew where it is over."""
        with self._lock:
            key = self._key(here, text)
            if key not in self._known or self._known[key].is_over:
                self._start(here, key)
            return self._known[key]

    def leave(self, here: Listed, text: str) -> None:
        """Ends a query that somebody left for another before its answer came."""
        with self._lock:
            query = self._known.get(self._key(here, text))
        if query and not query.is_over:
            query.cancel()

    def _key(self, here: Listed, text: str) -> tuple:
        return cache.catalog_path(here.broker), cache.catalog_stamp(here.broker), text

    def _start(self, here: Listed, key: tuple) -> None:
        from kafkaviz.pipeline.query import Query

        self._known.pop(key, None)
        self._known[key] = Query(cache.catalog_path(here.broker), key[-1], os.environ.get("KAFKAVIZ_MASTER", "local[*]"))
        for old in [one for one, query in self._known.items() if query.is_over][: max(0, len(self._known) - KEPT)]:
            del self._known[old]


@st.cache_resource(show_spinner=False)
def queries() -> Queries:
    """This server's queries."""
    return Queries()


def took(answer: "Answer") -> str:
    """How many rows came in which time, and whether texts in them were cut."""
    said = say("explore.took", rows=count(answer), seconds=f"{answer.seconds:.1f}")
    return say("explore.texts_cut", took=said, n=group(answer.cut_at)) if answer.cut_at else said


def count(answer: "Answer") -> str:
    """How many rows, and whether there are more: 6 rows, the first 10 000 of 54 432 rows."""
    shown = answer.rows.num_rows
    if answer.all_rows is None:
        return say("explore.first_of_more", n=group(shown))
    if answer.is_cut:
        return say("explore.first_of", n=group(shown), all=group(answer.all_rows))
    return counted("explore.rows", shown, n=group(shown))


def table(rows: pa.Table) -> None:
    """The answer, as text and numbers and nothing else."""
    if rows.num_rows > SHORT_ROWS:
        st.dataframe(rows, hide_index=True, height=480, row_height=31, key="kv_answer", placeholder=MISSING)
        return
    right = [_is_right(field.type) for field in rows.schema]
    heads = zip(rows.column_names, right, strict=True)
    head = "".join(f"<th{' class=r' if is_right else ''}>{parts.escape(name)}</th>" for name, is_right in heads)
    parts.table(head, (_row(row.values(), right) for row in rows.to_pylist()))


def _is_right(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _row(values: Sequence[object], right: Sequence[bool]) -> str:
    pairs = zip(values, right, strict=True)
    cells = (f'<td class="kv-mono{" r kv-tight" if is_right else ""}">{cell(value)}</td>' for value, is_right in pairs)
    return f"<tr>{''.join(cells)}</tr>"


def cell(value: object) -> str:
    """A value as HTML, exact: a whole number with its digits grouped, NULL as a dash."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return group(value)
    return parts.escape(_digits(value) if isinstance(value, float) else str(value))


def _digits(value: float) -> str:
    """Ten of them, without a power: 0.000034; what is smaller than any share of a byte keeps it."""
    text = f"{value:.10g}"
    return format(Decimal(text), "f") if LEAST <= abs(value) < 1 else text


def csv(rows: pa.Table) -> bytes:
    """The rows as CSV with a line of names; NULL is an empty field, and text stands in quotes."""
    from pyarrow import csv as csv_format

    plain = [column if _is_plain(column.type) else column.cast(pa.string()) for column in rows.columns]
    sink = io.BytesIO()
    csv_format.write_csv(pa.table(plain, names=rows.column_names), sink)
    return sink.getvalue()


def _is_plain(kind: pa.DataType) -> bool:
    return not (pa.types.is_duration(kind) or pa.types.is_decimal(kind))


def parquet(rows: pa.Table) -> bytes:
    """The rows as a Parquet file, every column with its type."""
    import pyarrow.parquet as parquet_format

    sink = io.BytesIO()
    parquet_format.write_table(rows, sink, compression="zstd")
    return sink.getvalue()


def tables(info: "CatalogInfo | None") -> str:
    """The tables, their rows and their columns, as HTML; a column's name is taken into the query by a click."""
    from kafkaviz.pipeline.schema import TABLES

    shown = "".join(_table(name, TABLES[name], info) for name in TABLES if name != OWN)
    heads = f"<span>{say('explore.tables')}</span><span>{say('explore.of_rows')}</span>"
    renamed = unused_words.no_rows([one.suffix for one in info.segments if one.suffix] if info else [])
    note = f'<div class="kv-sm kv-fnt">{parts.escape(renamed)}</div>' if renamed else ""
    return f'<div class="kv-tables"><div class="kv-lab kv-two">{heads}</div>{shown}{note}</div>'


def _table(name: str, schema: pa.Schema, info: "CatalogInfo | None") -> str:
    columns = "".join(
        f'<div><button type="button" class="kv-col">{field.name}</button><span>{SHORT_TYPES.get(str(field.type), field.type)}</span></div>'
        for field in schema
    )
    rows = group(info.rows[name]) if info else MISSING
    row = parts.escape(say(f"explore.row_of_{name}"))
    return f"<details><summary>{parts.mono(name)}<span>{rows}</span></summary><p>{row}</p>{columns}</details>"


def file_name(here: Listed, question: str, suffix: str) -> str:
    """What a download is called."""
    return f"{legible(Path(here.broker.name).name)}-{question or 'query'}.{suffix}"
