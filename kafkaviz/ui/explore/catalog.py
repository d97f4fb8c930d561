"""The catalog that is asked: its tables, and what the page says of one that is of another time, or
not there.
"""

from html import escape
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import streamlit as st

from kafkaviz.figures import unused_words
from kafkaviz.ui import cache, ingests, parts
from kafkaviz.ui.cache import Listed
from kafkaviz.units import MISSING, group, moment
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.pipeline.catalog_info import CatalogInfo

OWN = "checked"  # a table of kafkaviz's own, that no question is about
QUOTED = frozenset({"offset"})  # columns that are words of SQL: a query has them in quotes
SHORT_TYPES = {
    "string": "text",
    "int32": "int",
    "int64": "long",
    "bool": "bool",
    "double": "double",
}


def tables(info: "CatalogInfo | None") -> str:
    """The tables, their rows and their columns, as HTML; a column's name is taken into the query by
    a click.
    """
    from kafkaviz.pipeline.schema import TABLES

    shown = "".join(_table(name, TABLES[name], info) for name in TABLES if name != OWN)
    heads = f"<span>{say('explore.tables')}</span><span>{say('explore.of_rows')}</span>"
    renamed = unused_words.no_rows(
        [one.suffix for one in info.segments if one.suffix] if info else []
    )
    note = f'<div class="kv-sm kv-fnt">{parts.escape(renamed)}</div>' if renamed else ""
    return f'<div class="kv-tables"><div class="kv-lab kv-two">{heads}</div>{shown}{note}</div>'


def _table(name: str, schema: pa.Schema, info: "CatalogInfo | None") -> str:
    columns = "".join(
        f'<div><button type="button" class="kv-col"{_written(field.name)}>{field.name}</button>'
        f"<span>{SHORT_TYPES.get(str(field.type), field.type)}</span></div>"
        for field in schema
    )
    rows = group(info.rows[name]) if info else MISSING
    row = parts.escape(say(f"explore.row_of_{name}"))
    return (
        f"<details><summary>{parts.mono(name)}<span>{rows}</span></summary>"
        f"<p>{row}</p>{columns}</details>"
    )


def _written(name: str) -> str:
    """How a column stands in a query, as an attribute, where that is not its name."""
    from kafkaviz.pipeline.sql import quoted

    return f' data-name="{escape(quoted(name))}"' if name in QUOTED else ""


def out_of_date(here: Listed) -> None:
    """The tables tell of another time than now."""
    made = moment(cast(int, cache.catalog_stamp(here.broker)) // 1_000_000, fraction=False)
    words = say("explore.out_of_date", made=made)
    st.html(f'<div class="kv-sm kv-fnt" role="status">{words}</div>')


def no_catalog(here: Listed) -> None:
    """Nothing to ask yet: the pipeline reads the directory, or could not."""
    if ingests.is_awaited(here):
        with parts.empty("catalog", say("explore.being_made"), say("explore.being_made_why")):
            pass
        return
    with parts.state("catalog", "info", say("explore.no_tables"), say("explore.no_tables_why")):
        pass
