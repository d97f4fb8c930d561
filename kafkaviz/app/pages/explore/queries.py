"""The queries of this server, by catalog and text; one that no tab waits for any more is ended."""

import threading
import time
from typing import TYPE_CHECKING, cast

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import Query, QueryResult

MOST_ANSWERS, MOST_ANSWER_BYTES = 12, 1 << 28  # answers, and their rows in all
CLOSED_AFTER_S = (
    5.0  # a tab that is gone for as long was closed; a connection that broke is back before
)
WATCH_INTERVAL_S = 1.0


class Queries:
    """The queries of this server by catalog and text: shared by all tabs, so that a link or a way
    back asks nothing twice.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queries: dict[
            tuple, tuple[Query, set[str]]
        ] = {}  # with the sessions that wait for it
        self._is_watched = False

    def get_or_start(self, snapshot: BrokerSnapshot, text: str) -> "Query":
        """The query to the directory's catalog as it is now; started at the first call, and where
        another tab cancelled it.
        """
        with self._lock:
            key, tab = self._key(snapshot, text), _tab()
            if key not in self._queries or (
                self._state(key) == "cancelled" and tab not in self._queries[key][1]
            ):
                self._start(key)
            query, tabs = self._queries[key]
            tabs.add(tab)
            return query

    def restart(self, snapshot: BrokerSnapshot, text: str) -> "Query":
        """The same, started anew where it is over."""
        with self._lock:
            key = self._key(snapshot, text)
            if key not in self._queries or self._queries[key][0].is_over:
                self._start(key)
            query, tabs = self._queries[key]
            tabs.add(_tab())
            return query

    def leave(self, snapshot: BrokerSnapshot, text: str) -> None:
        """Ends a query that somebody left for another before its answer came, unless other tabs
        wait for it.
        """
        with self._lock:
            query, tabs = self._queries.get(self._key(snapshot, text), (None, set()))
            tabs.discard(_tab())
            is_awaited = any(map(_is_open, tabs))
        if query and not query.is_over and not is_awaited:
            query.cancel()

    def _key(self, snapshot: BrokerSnapshot, text: str) -> tuple:
        return (
            broker_cache.catalog_path(snapshot.broker),
            broker_cache.catalog_stamp(snapshot.broker),
            text,
        )

    def _state(self, key: tuple) -> str:
        return self._queries[key][0].progress().state

    def _start(self, key: tuple) -> None:
        from kafkaviz.pipeline.query import Query

        self._queries.pop(key, None)
        self._queries[key] = Query(key[0], key[-1]), set()
        self._forget()
        if not self._is_watched:
            self._is_watched = True
            threading.Thread(target=self._watch, name="kafkaviz-queries", daemon=True).start()

    def _forget(self) -> None:
        """Drops the oldest that are over, down to so many and so many bytes."""
        finished_bytes = {
            key: _answer_bytes(query) for key, (query, _) in self._queries.items() if query.is_over
        }
        for key in list(finished_bytes):
            if (
                len(self._queries) <= MOST_ANSWERS
                and sum(finished_bytes.values()) <= MOST_ANSWER_BYTES
            ):
                return
            del self._queries[key], finished_bytes[key]

    def _watch(self) -> None:
        """Ends what no tab waits for, until nothing runs."""
        closed_at: dict[Query, float] = {}
        while True:
            time.sleep(WATCH_INTERVAL_S)
            with self._lock:
                running = [
                    (query, set(tabs))
                    for query, tabs in self._queries.values()
                    if not query.is_over
                ]
                self._is_watched = bool(running)
            if not running:
                return
            for query, tabs in running:
                if any(map(_is_open, tabs)):
                    closed_at.pop(query, None)
                elif (
                    time.monotonic() - closed_at.setdefault(query, time.monotonic())
                    >= CLOSED_AFTER_S
                ):
                    query.cancel()


def _tab() -> str:
    """The session of the tab that asks."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def _is_open(tab: str) -> bool:
    """Whether the tab is still connected; without a server, as in tests, every one is."""
    return not runtime.exists() or runtime.get_instance().is_active_session(tab)


def _answer_bytes(query: "Query") -> int:
    """Of an answer's rows."""
    return cast("QueryResult", query.wait(0)).rows.nbytes if query.progress().state == "done" else 0


@st.cache_resource(show_spinner=False)
def queries() -> Queries:
    """This server's queries."""
    return Queries()
