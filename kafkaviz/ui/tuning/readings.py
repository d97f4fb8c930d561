"""Logs measured in the background: one thread a source, shared by all visitors of this server."""

import tempfile
import threading
import time
from pathlib import Path

import streamlit as st

from kafkaviz.analyse.tuning.source import Source, Watch, open_source
from kafkaviz.errors import KafkavizError
from kafkaviz.ui.tuning.scopes import Wanted

PATIENCE_S = 2.5  # that a page waits for a reading before it shows how far it is
READINGS = 12  # that are kept, the newest


class Stopped(Exception):
    """Somebody pressed Cancel."""


class Reading:
    """One source that is being measured, in a thread of its own."""

    def __init__(self, of: Wanted) -> None:
        self.of, self.since, self.used = of, time.monotonic(), time.monotonic()
        self.source: Source | None = None
        self.fault: Exception | None = None
        self._sizes, self._done_bytes, self._now, self._share, self._is_stopped = (
            dict(of.sizes),
            0,
            "",
            0.0,
            False,
        )
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.source = _opened(self.of, self._watch)
        except (KafkavizError, Stopped) as fault:
            self.fault = fault
        except Exception as fault:  # the thread has nobody above it: the page shows what went wrong
            self.fault = KafkavizError(f"{type(fault).__name__}: {fault}")

    def _watch(self, name: str, share: float = 0.0) -> None:
        if self._is_stopped:
            raise Stopped
        if name != self._now:
            self._done_bytes += self._sizes.get(self._now, 0)
        self._now, self._share = name, share

    @property
    def is_empty(self) -> bool:
        """Whether it ended, and there is no batch to tune."""
        return self.source is not None and not any(
            case.measured.parts.batches for case in self.source.cases
        )

    def wait(self, patience_s: float) -> bool:
        """Whether it ended within so long."""
        self.used = time.monotonic()
        self._thread.join(patience_s)
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Ends at the next step of a log."""
        self._is_stopped = True

    @property
    def progress(self) -> tuple[int, int, str, float]:
        """(bytes of .log that are done, of the one that is read now as much as its share, of how
        many, that .log, seconds so far).
        """
        done = self._done_bytes + int(self._share * self._sizes.get(self._now, 0))
        return done, self.of.total_bytes, self._now, time.monotonic() - self.since


def _opened(of: Wanted, watch: Watch) -> Source:
    if not of.is_text:
        return open_source(of.given, of.version, watch=watch)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workload.toml"
        path.write_text(of.given, encoding="utf-8")
        return open_source(path, of.version)


class Readings:
    """The readings of this server, by what they read: no log is measured twice at once."""

    def __init__(self) -> None:
        self._lock, self._known = threading.Lock(), {}

    def of(self, wanted: Wanted) -> Reading:
        """The one of this key; it is begun where there is none, and anew after it was cancelled."""
        with self._lock:
            found = self._known.get(wanted.key)
            if found is None or isinstance(found.fault, Stopped):
                found = self._known[wanted.key] = Reading(wanted)
                for key in sorted(self._known, key=lambda one: self._known[one].used)[:-READINGS]:
                    self._known.pop(key).cancel()
            return found


@st.cache_resource(show_spinner=False)
def readings() -> Readings:
    """This server's readings."""
    return Readings()
