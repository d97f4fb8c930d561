"""One background task: work in a thread of its own that others watch, wait for and cancel.

A checkup, a measurement, a query and an ingest are jobs. The work is a function that is given
`report`: each call says how far it is, and ends the work where the job was cancelled meanwhile.

    def count(report):
        for number in range(100):
            report(ReadProgress(number, 100))
        return 100

    job = Job(count, ReadProgress())
    job.progress().share    # 0.37
    job.wait()              # 100; after job.cancel() it raises JobCancelled

Not a concurrent.futures.Future: that cannot be cancelled once it runs, and its pool lets no process
end before its threads do.
"""

import threading
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message

SETTLES_WITHIN_S = 1.0  # the thread of most jobs that were stopped
ResultT = TypeVar("ResultT")
ProgressT = TypeVar("ProgressT")
KeyT = TypeVar("KeyT", bound=Hashable)
JobT = TypeVar("JobT", bound="Job[Any, Any]")


class JobCancelled(KafkavizError):
    """The error of a cancelled job; what it had read is discarded."""


@dataclass(frozen=True)
class ReadProgress:
    """How far a job is that reads .log files."""

    done_bytes: int = 0
    total_bytes: int = 0
    name: str = ""  # of what is being read

    @property
    def share(self) -> float:
        """The share of the bytes that are done; 0 where there are none."""
        return self.done_bytes / self.total_bytes if self.total_bytes else 0.0


class Job(Generic[ResultT, ProgressT]):
    """Work in a daemon thread; it starts at once and ends once.

    Attributes:
        state: the one that it starts in or has entered since, at last "done", "failed" or
            "cancelled", by which time there is a result or an error.
        started_at: of time.monotonic().
    """

    protected_states: tuple[str, ...] = ()  # in which cancelling does nothing

    def __init__(
        self,
        work: Callable[[Callable[[ProgressT], None]], ResultT],
        progress: ProgressT,
        state: str = "running",
    ) -> None:
        """Starts the thread.

        A subclass sets its own attributes before: the thread may need them at once.
        """
        self.state, self.done_state = state, "done"
        self.result: ResultT | None = None
        self.error: Exception | None = None
        self.started_at, self._ended_at = time.monotonic(), None
        self._progress = progress
        self._lock, self._end_event = threading.Lock(), threading.Event()
        name = f"kafkaviz-{type(self).__name__.lower()}"
        self._thread = threading.Thread(target=self._run, args=(work,), name=name, daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self._end_event.is_set()

    @property
    def seconds(self) -> float:
        """The time that it has taken so far, or took in all."""
        return (self._ended_at or time.monotonic()) - self.started_at

    def progress(self) -> ProgressT:
        """How far it is now."""
        return self._progress

    def ends_within(self, seconds: float) -> bool:
        """Waits for the job, at most this long.

        Returns:
            Whether it is over.
        """
        return self._end_event.wait(seconds)

    def wait(self, timeout_s: float | None = None) -> ResultT | None:
        """Waits for the result.

        Returns:
            None where it takes longer than timeout_s.

        Raises:
            JobCancelled: the job was cancelled.
            Exception: the error of the work.
        """
        if self._end_event.wait(timeout_s) and self.error is not None:
            raise self.error
        return self.result

    def cancel(self) -> None:
        """Ends it at once, unless it is over or protected; its thread ends at its next report."""
        self.stop(self.cancellation())

    def stop(self, error: Exception) -> None:
        """Ends it from outside with this error, at once unless it is over or protected."""
        state = "cancelled" if isinstance(error, JobCancelled) else "failed"
        if self._end(state, error=error):
            self.on_stop()

    def settle(self, timeout_s: float = SETTLES_WITHIN_S) -> None:
        """Waits until the thread of a job that was stopped has cleaned up, or for this long."""
        self._thread.join(timeout_s)

    def report(self, progress: ProgressT) -> None:
        """Called by the work: sets how far it is.

        Raises:
            JobCancelled: the job is over.
        """
        self._progress = progress
        self.enter(self.state)

    def enter(self, state: str) -> None:
        """Called by the work: sets the state.

        Raises:
            JobCancelled: the job is over.
        """
        with self._lock:
            if self.is_over:
                raise self.cancellation()
            self.state = state

    def cancellation(self) -> JobCancelled:
        """The error that it ends with when it is cancelled."""
        return JobCancelled(message("errors.job_cancelled"))

    def on_stop(self) -> None:
        """For subclasses: stops what else works for a job that was stopped."""

    def explain(self, error: Exception) -> Exception:
        """For subclasses: the error to report in place of one that is not a KafkavizError."""
        return error

    def _run(self, work: Callable[[Callable[[ProgressT], None]], ResultT]) -> None:
        try:
            result = work(self.report)
            self._end(self.done_state, result)  # which the work may have changed
        except KafkavizError as error:
            self._end("failed", error=error.with_traceback(None))  # whose frames hold what was read
        except Exception as error:
            self._end("failed", error=self.explain(error))
            if self.error is error:
                raise  # the server's log must have all of it

    def _end(
        self, state: str, result: ResultT | None = None, error: Exception | None = None
    ) -> bool:
        """Ends the job.

        Returns:
            False where it had ended already.
        """
        with self._lock:
            if self.is_over or (state == "cancelled" and self.state in self.protected_states):
                return False
            self.state, self.result, self.error = state, result, error
            self._ended_at = time.monotonic()
            self._end_event.set()
            return True


class JobRegistry(Generic[KeyT, JobT]):
    """Jobs by their keys, shared by all threads: nothing is done twice at once.

    Beyond its limits it forgets the least recently used.
    """

    def __init__(
        self,
        limit: int,
        *,
        forgets_running: bool = False,
        size_bytes: Callable[[JobT], int] = lambda _job: 0,
        limit_bytes: int = 0,
    ) -> None:
        """Sets up an empty registry.

        Args:
            limit: how many jobs.
            forgets_running: cancels and forgets running jobs too, not only those that are over.
            size_bytes: the size of a job's result.
            limit_bytes: of all results.
        """
        self._limit, self._forgets_running = limit, forgets_running
        self._size_bytes, self._limit_bytes = size_bytes, limit_bytes
        self._lock = threading.Lock()
        self._jobs: dict[KeyT, JobT] = {}  # the most recently used is the last

    def jobs(self) -> list[JobT]:
        """The jobs in the registry."""
        with self._lock:
            return list(self._jobs.values())

    def get(self, key: KeyT) -> JobT | None:
        """The job of this key, if there is one."""
        with self._lock:
            return self._jobs.get(key)

    def get_or_start(
        self,
        key: KeyT,
        start: Callable[[], JobT],
        is_stale: Callable[[JobT], bool] = lambda _job: False,
    ) -> JobT:
        """The job of this key, started where there is none.

        A job that is over and stale is started anew.
        """
        with self._lock:
            job = self._jobs.pop(key, None)
            if job is None or (job.is_over and is_stale(job)):
                job = start()
            forgotten = self._forget_unused()
            self._jobs[key] = job
        _cancel(forgotten)
        return job

    def restart(self, key: KeyT, start: Callable[[], JobT]) -> JobT:
        """The job of this key, started anew where it is over."""
        return self.get_or_start(key, start, lambda _job: True)

    def forget(self, matches: Callable[[KeyT], bool]) -> None:
        """Cancels and forgets the jobs of such keys."""
        with self._lock:
            forgotten = [self._jobs.pop(key) for key in list(filter(matches, self._jobs))]
        _cancel(forgotten)

    def _forget_unused(self) -> list[JobT]:
        """Frees a place for one more job.

        Returns:
            The jobs that had it, to be cancelled once the lock is released.
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
    """Without the registry's lock: an on_stop may take its time."""
    for job in forgotten:
        job.cancel()
