"""Logs measured in the background: one thread a source, shared by all visitors of this server."""

import tempfile
import threading
import time
from pathlib import Path

import streamlit as st

from kafkaviz.analysis.tuning.source import MeasureProgress, TuningSource, open_source
from kafkaviz.app.pages.tuning.scope import MeasureRequest
from kafkaviz.errors import KafkavizError

PATIENCE_S = 2.5  # that a page waits for a reading before it shows how far it is
MOST_JOBS = 12  # that are kept, the newest


class MeasureCancelled(Exception):
    """Somebody pressed Cancel."""


class MeasureJob:
    """One source that is being measured, in a thread of its own."""

    def __init__(self, request: MeasureRequest) -> None:
        self.request, self.started_s, self.used = request, time.monotonic(), time.monotonic()
        self.source: TuningSource | None = None
        self.fault: Exception | None = None
        self._sizes, self._done_bytes, self._log_name, self._share, self._is_stopped = (
            dict(request.sizes),
            0,
            "",
            0.0,
            False,
        )
        self._thread = threading.Thread(target=self._measure, daemon=True)
        self._thread.start()

    def _measure(self) -> None:
        try:
            self.source = _open(self.request, self._report_progress)
        except (KafkavizError, MeasureCancelled) as fault:
            self.fault = fault
        except Exception as fault:  # the thread has nobody above it: the page shows what went wrong
            self.fault = KafkavizError(f"{type(fault).__name__}: {fault}")

    def _report_progress(self, name: str, share: float = 0.0) -> None:
        if self._is_stopped:
            raise MeasureCancelled
        if name != self._log_name:
            self._done_bytes += self._sizes.get(self._log_name, 0)
        self._log_name, self._share = name, share

    @property
    def is_empty(self) -> bool:
        """Whether it ended, and there is no batch to tune."""
        return self.source is not None and not any(
            case.measurement.parts.batches for case in self.source.cases
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
        done = self._done_bytes + int(self._share * self._sizes.get(self._log_name, 0))
        return done, self.request.total_bytes, self._log_name, time.monotonic() - self.started_s


def _open(request: MeasureRequest, watch: MeasureProgress) -> TuningSource:
    if not request.is_text:
        return open_source(request.path_or_text, request.version, on_progress=watch)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workload.toml"
        path.write_text(request.path_or_text, encoding="utf-8")
        return open_source(path, request.version)


class MeasureJobs:
    """The readings of this server, by what they read: no log is measured twice at once."""

    def __init__(self) -> None:
        self._lock, self._jobs = threading.Lock(), {}

    def job(self, request: MeasureRequest) -> MeasureJob:
        """The one of this key; it is begun where there is none, and anew after it was cancelled."""
        with self._lock:
            job = self._jobs.get(request.key)
            if job is None or isinstance(job.fault, MeasureCancelled):
                job = self._jobs[request.key] = MeasureJob(request)
                for key in sorted(self._jobs, key=lambda job_key: self._jobs[job_key].used)[
                    :-MOST_JOBS
                ]:
                    self._jobs.pop(key).cancel()
            return job


@st.cache_resource(show_spinner=False)
def measure_jobs() -> MeasureJobs:
    """This server's readings."""
    return MeasureJobs()
