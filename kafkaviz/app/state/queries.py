"""The running and finished queries of this server."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.jobs import JobRegistry

if TYPE_CHECKING:
    from kafkaviz.pipeline.sql.query import Query

# limits for all cached answers together
MAX_ANSWERS = 12
MAX_ANSWER_BYTES = 1 << 28
# after this time a disconnected tab counts as closed; lost connections are restored sooner
CLOSED_AFTER_S = 5.0
WATCH_INTERVAL_S = 1.0


class Queries:
    """The queries of this server, by catalog and text.

    - All tabs share the queries, so a link or Back does not run a query again.
    - A query is cancelled when no open tab waits for it.
    """

    def __init__(self) -> None:
        self._queries: JobRegistry[tuple, Query] = JobRegistry(
            MAX_ANSWERS, size_bytes=_answer_bytes, limit_bytes=MAX_ANSWER_BYTES
        )
        self._lock = threading.Lock()
        # the sessions that wait for each query
        self._tabs: WeakKeyDictionary[Query, set[str]] = WeakKeyDictionary()
        self._is_watched = False

    def get_or_start(self, snapshot: BrokerSnapshot, text: str) -> "Query":
        """Returns the query. Starts it if it is new or was cancelled by another tab."""
        return self._join(
            snapshot,
            text,
            lambda query: query.state == "cancelled" and _tab() not in self._tabs[query],
        )

    def restart(self, snapshot: BrokerSnapshot, text: str) -> "Query":
        """Returns the query. Starts it again if it has ended."""
        return self._join(snapshot, text, lambda _query: True)

    def _join(
        self, snapshot: BrokerSnapshot, text: str, is_stale: Callable[["Query"], bool]
    ) -> "Query":
        key = _key(snapshot, text)
        with self._lock:
            query = self._queries.get_or_start(key, partial(self._start, key), is_stale)
            self._tabs.setdefault(query, set()).add(_tab())
            return query

    def leave(self, snapshot: BrokerSnapshot, text: str) -> None:
        """Removes this tab from a query. Cancels the query if no other open tab waits for it."""
        with self._lock:
            query = self._queries.get(_key(snapshot, text))
            tabs = self._tabs[query] if query else set()
            tabs.discard(_tab())
            is_awaited = any(map(_is_open, tabs))
        if query and not is_awaited:
            query.cancel()

    def _start(self, key: tuple) -> "Query":
        from kafkaviz.pipeline.sql.query import Query

        if not self._is_watched:
            self._is_watched = True
            threading.Thread(target=self._watch, name="kafkaviz-queries", daemon=True).start()
        return Query(key[0], key[-1])

    def _watch(self) -> None:
        closed_at: dict[Query, float] = {}
        while True:
            time.sleep(WATCH_INTERVAL_S)
            with self._lock:
                running = [
                    (query, set(self._tabs[query]))
                    for query in self._queries.jobs()
                    if not query.is_over
                ]
                self._is_watched = bool(running)
            if not running:
                return
            now = time.monotonic()
            for query, tabs in running:
                if any(map(_is_open, tabs)):
                    closed_at.pop(query, None)
                elif now - closed_at.setdefault(query, now) >= CLOSED_AFTER_S:
                    query.cancel()


def _key(snapshot: BrokerSnapshot, text: str) -> tuple:
    broker = snapshot.broker
    return broker_cache.catalog_path(broker), broker_cache.catalog_stamp(broker), text


def _tab() -> str:
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def _is_open(tab: str) -> bool:
    """Returns whether a tab is connected. True without a server, as in tests."""
    return not runtime.exists() or runtime.get_instance().is_active_session(tab)


def _answer_bytes(query: "Query") -> int:
    return query.result.rows.nbytes if query.result else 0


@st.cache_resource(show_spinner=False)
def queries() -> Queries:
    return Queries()
