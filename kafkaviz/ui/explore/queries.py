"""The queries of this server, by catalog and text."""

import os
import threading
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.ui import cache
from kafkaviz.ui.cache import Listed

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import Query

KEPT = 12  # answers


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
