"""Background tasks: work in its own thread that other threads watch, wait for and cancel.

A check, a measurement, a query and an ingest are jobs. The work is a function with the parameter
`report`. Each call of `report` sets the progress, and ends the work if the job was cancelled.

    def count(report):
        for number in range(100):
            report(ReadProgress(number, 100))
        return 100

    job = Job(count, ReadProgress())
    job.progress().share    # 0.37
    job.wait()              # 100; after job.cancel() it raises JobCancelled

A concurrent.futures.Future does not fit: it cannot be cancelled while it runs, and its pool keeps
the process alive until its threads end.
"""

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message

SETTLES_WITHIN_S = 1.0  # enough time for the threads of most stopped jobs
ResultT = TypeVar("ResultT")
ProgressT = TypeVar("ProgressT")
KeyT = TypeVar("KeyT", bound=Hashable)
JobT = TypeVar("JobT", bound="Job[Any, Any]")


class JobCancelled(KafkavizError):
    pass


@dataclass(frozen=True)
class ReadProgress:
    """The progress of a job that reads .log files."""

    done_bytes: int = 0
    total_bytes: int = 0
    name: str = ""  # the file being read

    @property
    def share(self) -> float:
        """The share of the bytes read so far, from 0 to 1; 0 if total_bytes is 0."""
        return self.done_bytes / self.total_bytes if self.total_bytes else 0.0


class ReadMeter:
    """Reports the progress of reading several sources, such as partitions, one after another."""

    def __init__(
        self, report: Callable[[ReadProgress], None], sizes: Mapping[str, int] | None = None
    ) -> None:
        self._report = report
        self._sizes: Mapping[str, int] = {}
        self._total_bytes = 0
        self._source = ""
        self._before_bytes = 0  # the bytes of the sources before `_source`
        self.expect(sizes or {})

    def expect(self, sizes: Mapping[str, int]) -> None:
        """Sets the bytes to read, by the name of the source."""
        self._sizes = sizes
        self._total_bytes = sum(sizes.values())

    def show(self, source: str, share: float = 0.0) -> None:
        """Reports the progress of a source, from 0 to 1. Earlier sources count as read."""
        if source != self._source:
            self._before_bytes += self._sizes.get(self._source, 0)
            self._source = source
        done_bytes = self._before_bytes + int(share * self._sizes.get(source, 0))
        self._report(ReadProgress(done_bytes, self._total_bytes, source))


class Job(Generic[ResultT, ProgressT]):
    """A background task. Its daemon thread starts when the Job is created."""

    protected_states: tuple[str, ...] = ()  # cancelling does nothing in these

    def __init__(
        self,
        work: Callable[[Callable[[ProgressT], None]], ResultT],
        progress: ProgressT,
        state: str = "running",
    ) -> None:
        """Starts the thread. A subclass must set its own attributes first."""
        self.state = state  # a job ends as "done", "failed" or "cancelled"
        self.done_state = "done"
        self.result: ResultT | None = None
        self.error: Exception | None = None
        self.started_at = time.monotonic()  # in seconds
        self._ended_at = None
        self._progress = progress
        self._lock = threading.Lock()
        self._end_event = threading.Event()
        name = f"kafkaviz-{type(self).__name__.lower()}"
        self._thread = threading.Thread(target=self._run, args=(work,), name=name, daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the job has ended, with or without success."""
        return self._end_event.is_set()

    @property
    def seconds(self) -> float:
        """The time since the start; for an ended job, the total."""
        return (self._ended_at or time.monotonic()) - self.started_at

    def progress(self) -> ProgressT:
        return self._progress

    def wait_until_over(self, seconds: float) -> bool:
        """Waits at most this long and returns whether the job is over."""
        return self._end_event.wait(seconds)

    def wait(self, timeout_s: float | None = None) -> ResultT | None:
        """Returns the result; None after `timeout_s`. Raises JobCancelled or the job's error."""
        if self._end_event.wait(timeout_s) and self.error is not None:
            raise self.error
        return self.result

    def cancel(self) -> None:
        """Ends the job at once, unless it is over or in one of `protected_states`.

        The thread runs until it next calls `report`.
        """
        self.stop(self.cancellation())

    def stop(self, error: Exception) -> None:
        """Ends the job at once with an error, unless it is over.

        A JobCancelled does not end a job that is in one of `protected_states`.
        """
        state = "cancelled" if isinstance(error, JobCancelled) else "failed"
        if self._end(state, error=error):
            self.on_stop()

    def settle(self, timeout_s: float = SETTLES_WITHIN_S) -> None:
        """Waits at most this long until the thread of a stopped job has cleaned up."""
        self._thread.join(timeout_s)

    def report(self, progress: ProgressT) -> None:
        """Sets the progress. Called by the work. Raises JobCancelled if the job is over."""
        self._progress = progress
        self.enter(self.state)

    def enter(self, state: str) -> None:
        """Sets the state. Called by the work. Raises JobCancelled if the job is over."""
        with self._lock:
            if self.is_over:
                raise self.cancellation()
            self.state = state

    def cancellation(self) -> JobCancelled:
        return JobCancelled(message("errors.job_cancelled"))

    def on_stop(self) -> None:
        """Called after the job was stopped. A subclass stops its other workers here."""

    def explain(self, error: Exception) -> Exception:
        """Returns the exception that `wait` raises if the work raised `error`.

        Returns `error` unless a subclass overrides this method.
        """
        return error

    def _run(self, work: Callable[[Callable[[ProgressT], None]], ResultT]) -> None:
        try:
            result = work(self.report)
            self._end(self.done_state, result)  # the work may have changed done_state
        except KafkavizError as error:
            self._end("failed", error=error.with_traceback(None))  # its frames would keep the data
        except Exception as error:
            self._end("failed", error=self.explain(error))
            if self.error is error:
                raise  # the server's log needs the traceback

    def _end(
        self, state: str, result: ResultT | None = None, error: Exception | None = None
    ) -> bool:
        """Ends the job. Returns False if it was already over, or may not be cancelled."""
        with self._lock:
            if self.is_over or (state == "cancelled" and self.state in self.protected_states):
                return False
            self.state = state
            self.result = result
            self.error = error
            self._ended_at = time.monotonic()
            self._end_event.set()
            return True


class JobRegistry(Generic[KeyT, JobT]):
    """Jobs by key. All threads share them, so the same work never runs twice at the same time.

    Above its limits the registry forgets the least recently used jobs. It keeps running jobs unless
    `forgets_running` is True.
    """

    def __init__(
        self,
        limit: int,
        *,
        forgets_running: bool = False,
        size_bytes: Callable[[JobT], int] = lambda _job: 0,
        limit_bytes: int = 0,
    ) -> None:
        self._limit = limit  # the most jobs to keep
        self._forgets_running = forgets_running  # whether running jobs may be forgotten, too
        self._size_bytes = size_bytes  # returns the size of a job's result
        self._limit_bytes = limit_bytes  # the most bytes of all results together
        self._lock = threading.Lock()
        self._jobs: dict[KeyT, JobT] = {}  # the most recently used is the last

    def jobs(self) -> list[JobT]:
        with self._lock:
            return list(self._jobs.values())

    def get(self, key: KeyT) -> JobT | None:
        with self._lock:
            return self._jobs.get(key)

    def get_or_start(
        self,
        key: KeyT,
        start: Callable[[], JobT],
        is_stale: Callable[[JobT], bool] = lambda _job: False,
    ) -> JobT:
        """Returns the job of `key`. Starts it if it is missing, or if it is over and stale."""
        with self._lock:
            job = self._jobs.pop(key, None)
            if job is None or (job.is_over and is_stale(job)):
                job = start()
            forgotten = self._forget_unused()
            self._jobs[key] = job
        _cancel(forgotten)
        return job

    def restart(self, key: KeyT, start: Callable[[], JobT]) -> JobT:
        """Returns the job of this key; starts it if it is missing or over."""
        return self.get_or_start(key, start, lambda _job: True)

    def forget(self, matches: Callable[[KeyT], bool]) -> None:
        with self._lock:
            forgotten = [self._jobs.pop(key) for key in list(filter(matches, self._jobs))]
        _cancel(forgotten)

    def _forget_unused(self) -> list[JobT]:
        """Removes jobs that may be forgotten, until one more job fits. Returns the removed jobs.

        The caller must cancel them after it has released the lock.
        """
        forgotten = []
        for key, job in list(self._jobs.items()):
            if len(self._jobs) < self._limit and self._total_bytes() <= self._limit_bytes:
                break
            if self._forgets_running or job.is_over:
                forgotten.append(self._jobs.pop(key))
        return forgotten

    def _total_bytes(self) -> int:
        return sum(map(self._size_bytes, self._jobs.values()))


def _cancel(forgotten: Iterable[Job]) -> None:
    """Cancels jobs. Call it without the registry's lock, because on_stop may be slow."""
    for job in forgotten:
        job.cancel()
