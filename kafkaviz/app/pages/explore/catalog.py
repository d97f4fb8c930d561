"""The tables of the catalog, and the notices that it is out of date or missing."""

from collections import Counter
from functools import cache
from html import escape
from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import ingests
from kafkaviz.app.widgets import elements
from kafkaviz.figures.text.segment_text import no_rows_text
from kafkaviz.messages import say
from kafkaviz.units import MISSING, format_count, moment

if TYPE_CHECKING:
    from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo

QUOTED_COLUMNS = frozenset({"offset"})  # SQL keywords, which a query must quote
SHORT_TYPES = {
    "string": "text",
    "int32": "int",
    "int64": "long",
    "bool": "bool",
    "double": "double",
}


def tables_html(info: "CatalogInfo | None") -> str:
    """Returns the tables and their columns. A click on a column inserts it into the query."""
    from kafkaviz.pipeline.catalog.schema import OWN_TABLES, TABLES

    details = "".join(_table_html(name, info) for name in TABLES if name not in OWN_TABLES)
    heads = f"<span>{say('explore.tables')}</span><span>{say('explore.of_rows')}</span>"
    no_rows_note = no_rows_text(list(Counter(info.suffixes).elements()) if info else [])
    note = (
        f'<div class="kv-sm kv-fnt">{elements.escape(no_rows_note)}</div>' if no_rows_note else ""
    )
    return f'<div class="kv-tables"><div class="kv-lab kv-two">{heads}</div>{details}{note}</div>'


def _table_html(name: str, info: "CatalogInfo | None") -> str:
    rows = format_count(info.rows[name]) if info else MISSING
    row = elements.escape(say(f"explore.row_of_{name}"))
    return (
        f"<details><summary>{elements.mono(name)}<span>{rows}</span></summary>"
        f"<p>{row}</p>{_columns_html(name)}</details>"
    )


@cache
def _columns_html(name: str) -> str:
    from kafkaviz.pipeline.catalog.schema import TABLES

    return "".join(
        f'<div><button type="button" class="kv-col"{_name_attribute(field.name)}>'
        f"{field.name}</button>"
        f"<span>{SHORT_TYPES.get(str(field.type), field.type)}</span></div>"
        for field in TABLES[name]
    )


def _name_attribute(name: str) -> str:
    """Returns the quoted column name as an HTML attribute, or "" if a query needs no quotes."""
    from kafkaviz.pipeline.sql.sql import quote_name

    return f' data-name="{escape(quote_name(name))}"' if name in QUOTED_COLUMNS else ""


def render_out_of_date(snapshot: BrokerSnapshot) -> None:
    """Draws the time at which the tables were read."""
    catalog_time = moment(
        cast(int, broker_cache.catalog_stamp(snapshot.broker)) // 1_000_000, fraction=False
    )
    text = say("explore.out_of_date", time=catalog_time)
    st.html(f'<div class="kv-sm kv-fnt" role="status">{text}</div>')


def render_no_catalog(snapshot: BrokerSnapshot) -> None:
    """Draws a notice that the tables are missing: the pipeline is still reading, or it failed."""
    if ingests.is_awaited(snapshot):
        with elements.empty("catalog", say("explore.being_made"), say("explore.being_made_why")):
            pass
        return
    with elements.state("catalog", "info", say("explore.no_tables"), say("explore.no_tables_why")):
        pass
