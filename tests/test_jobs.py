"""Background jobs: each ends once, however it is ended, and a registry starts none twice."""

import threading
from collections.abc import Callable, Iterator

import pytest

from kafkaviz.errors import KafkavizError
from kafkaviz.jobs import Job, JobCancelled, JobRegistry, ReadMeter, ReadProgress

PATIENCE_S = 30


class Gate:
    """Work that waits until it may continue."""

    def __init__(self) -> None:
        self.started, self.opened = threading.Event(), threading.Event()

    def work(self, report: Callable[[ReadProgress], None]) -> str:
        report(ReadProgress(1, 4, "a.log"))
        self.started.set()
        assert self.opened.wait(PATIENCE_S)
        report(ReadProgress(4, 4, "b.log"))
        return "all"

    def job(self) -> Job[str, ReadProgress]:
        job = Job(self.work, ReadProgress(0, 4))
        assert self.started.wait(PATIENCE_S)
        return job


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Yields a closed gate; no thread outlives the test."""
    gate = Gate()
    yield gate
    gate.opened.set()


def ended(result: object = None) -> Job:
    job = Job(lambda report: result, None)
    job.settle(PATIENCE_S)
    return job


def fail(error: Exception) -> Callable:
    def work(report: Callable) -> None:
        raise error

    return work


def test_a_job_runs_and_is_done(gate):
    job = gate.job()
    assert (job.state, job.is_over, job.result) == ("running", False, None)
    assert job.progress() == ReadProgress(1, 4, "a.log") and job.progress().share == 0.25
    gate.opened.set()
    assert job.wait(PATIENCE_S) == "all"
    assert (job.state, job.is_over, job.error) == ("done", True, None)
    assert job.progress().share == 1.0 and job.seconds == job.seconds


def test_nothing_to_read_is_no_share():
    assert ReadProgress().share == 0.0


def test_earlier_sources_count_as_read():
    """A source whose size is unknown adds nothing."""
    reports = []
    meter = ReadMeter(reports.append, {"a": 100, "b": 300})
    meter.show("a")
    meter.show("b", 0.5)
    meter.show("b", 0.75)
    meter.show("c", 0.5)
    assert reports == [
        ReadProgress(0, 400, "a"),
        ReadProgress(250, 400, "b"),
        ReadProgress(325, 400, "b"),
        ReadProgress(400, 400, "c"),
    ]


def test_who_waits_may_give_up(gate):
    job = gate.job()
    assert job.wait(0.01) is None and not job.wait_until_over(0.01) and job.state == "running"
    gate.opened.set()
    assert job.wait_until_over(PATIENCE_S)


def test_cancelled_while_it_runs(gate):
    """It is over at once; its thread ends at the next report, and its result is dropped."""
    job = gate.job()
    job.cancel()
    assert (job.state, job.is_over) == ("cancelled", True)
    with pytest.raises(JobCancelled, match="the job was cancelled"):
        job.wait()
    gate.opened.set()
    job.settle(PATIENCE_S)
    assert job.result is None and job.progress().done_bytes == 4 and job.state == "cancelled"


def test_cancelled_before_it_does_anything():
    may_start, reached = threading.Event(), []

    def work(report: Callable) -> None:
        assert may_start.wait(PATIENCE_S)
        report(None)
        reached.append(True)

    job = Job(work, None)
    job.cancel()
    may_start.set()
    job.settle(PATIENCE_S)
    assert job.state == "cancelled" and reached == []


def test_cancelled_after_its_end():
    job = ended("all")
    job.cancel()
    assert (job.state, job.wait()) == ("done", "all")


def test_work_that_never_reports_is_cancelled_too():
    opened = threading.Event()
    job = Job(lambda report: opened.wait(PATIENCE_S), None)
    job.cancel()
    opened.set()
    job.settle(PATIENCE_S)
    assert (job.state, job.result) == ("cancelled", None)


def test_an_error_of_ours_is_kept_without_what_it_read():
    """Its frames would keep the arrays of a log as long as the job."""
    job = Job(fail(KafkavizError("orders-0, byte 4: torn")), None)
    assert job.wait_until_over(PATIENCE_S)
    job.settle(PATIENCE_S)
    assert job.state == "failed" and job.error.__traceback__ is None
    with pytest.raises(KafkavizError, match="byte 4: torn"):
        job.wait()


def test_a_fault_reaches_the_log_of_the_server(monkeypatch):
    """The whole traceback; a caller that waits gets it too."""
    logged = []
    monkeypatch.setattr(threading, "excepthook", lambda args: logged.append(args.exc_value))
    fault = ZeroDivisionError("a fault")
    job = Job(fail(fault), None)
    job.settle(PATIENCE_S)
    assert (job.state, job.error, logged) == ("failed", fault, [fault])
    with pytest.raises(ZeroDivisionError):
        job.wait()


class StagedJob(Job[str, None]):
    """A subclass with states of its own, words for errors, and a helper to inform."""

    protected_states = ("writing",)

    def cancellation(self) -> JobCancelled:
        return JobCancelled("the run was cancelled")

    def __init__(self, work: Callable[["StagedJob"], str]) -> None:
        self.stops = []
        super().__init__(lambda report: work(self), None, state="starting")

    def on_stop(self) -> None:
        self.stops.append(self.state)

    def explain(self, error: Exception) -> Exception:
        return KafkavizError(f"short: {error}")


def test_what_else_works_for_a_job_is_reported_once(monkeypatch):
    """About a cancel and an end from outside, not where the work ends by itself."""
    opened = threading.Event()

    def work(job: StagedJob) -> str:
        assert opened.wait(PATIENCE_S)
        return "all"

    cancelled, late = StagedJob(work), StagedJob(work)
    cancelled.cancel()
    cancelled.cancel()
    late.stop(KafkavizError("it took too long"))
    late.cancel()
    assert cancelled.stops == ["cancelled"] and late.stops == ["failed"]
    with pytest.raises(JobCancelled, match="the run was cancelled"):
        cancelled.wait()
    with pytest.raises(KafkavizError, match="it took too long"):
        late.wait()
    opened.set()
    done = StagedJob(work)
    assert done.wait(PATIENCE_S) == "all" and done.stops == []


def test_a_state_that_is_protected_is_not_cancelled():
    writing, opened = threading.Event(), threading.Event()

    def work(job: StagedJob) -> str:
        job.enter("writing")
        writing.set()
        assert opened.wait(PATIENCE_S)
        job.done_state = "fresh"
        return "all"

    job = StagedJob(work)
    assert writing.wait(PATIENCE_S)
    job.cancel()
    assert job.state == "writing" and job.stops == []
    opened.set()
    assert job.wait(PATIENCE_S) == "all" and job.state == "fresh"


def test_a_cancelled_job_enters_no_state():
    """Its work ends there."""
    opened = threading.Event()

    def work(job: StagedJob) -> str:
        assert opened.wait(PATIENCE_S)
        job.enter("writing")
        return "all"

    job = StagedJob(work)
    job.cancel()
    opened.set()
    job.settle(PATIENCE_S)
    assert (job.state, job.result) == ("cancelled", None)


def test_a_subclass_says_what_went_wrong():
    job = StagedJob(lambda job: 1 // 0)
    with pytest.raises(KafkavizError, match="short: integer division"):
        job.wait(PATIENCE_S)
    assert job.state == "failed" and job.stops == []


def test_two_that_ask_for_the_same_start_one():
    """The second waits until the first has started it."""
    registry, starts, barrier = JobRegistry(8), [], threading.Barrier(8)

    def start() -> Job:
        starts.append(True)
        return ended()

    def ask() -> None:
        barrier.wait(PATIENCE_S)
        jobs.append(registry.get_or_start("a", start))

    jobs: list[Job] = []
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert len(starts) == 1 and len(jobs) == 8 and len(set(jobs)) == 1


def test_what_is_over_and_stale_is_started_again(gate):
    """A running job is neither; a request for a new one gets it once the old one is over."""
    registry, first = JobRegistry(8), gate.job()
    assert registry.get("a") is None
    assert registry.get_or_start("a", lambda: first) is first is registry.get("a")
    assert registry.get_or_start("a", ended, lambda job: True) is first
    assert registry.restart("a", ended) is first
    first.cancel()
    assert registry.get_or_start("a", ended) is first
    assert registry.get_or_start("a", ended, lambda job: job.state == "done") is first
    second = registry.get_or_start("a", ended, lambda job: job.state == "cancelled")
    assert second is not first and registry.jobs() == [second]
    third = registry.restart("a", ended)
    assert third is not second and registry.jobs() == [third]


def test_the_longest_unused_is_forgotten(gate):
    """Not the one that was started first, and none that runs."""
    registry, running = JobRegistry(4), gate.job()
    registry.get_or_start("running", lambda: running)
    for key in ("a", "b", "a", "c", "d"):
        registry.get_or_start(key, ended)
    assert [registry.get(key) is None for key in "abcd"] == [False, True, False, False]
    assert registry.get("running") is running and running.state == "running"


def test_jobs_that_run_are_forgotten_where_too_many_would(gate):
    registry, running = JobRegistry(2, forgets_running=True), gate.job()
    registry.get_or_start("running", lambda: running)
    for key in ("a", "b"):
        registry.get_or_start(key, ended)
    assert registry.get("running") is None and running.state == "cancelled"


def test_results_that_are_too_large_together_are_forgotten():
    """The oldest of them, until the others fit."""
    registry = JobRegistry(8, size_bytes=lambda job: job.result, limit_bytes=10)
    for key, size in (("a", 4), ("b", 4), ("c", 4)):
        registry.get_or_start(key, lambda size=size: ended(size))
    assert [job.result for job in registry.jobs()] == [4, 4, 4]  # makes room for the next
    registry.get_or_start("d", lambda: ended(0))
    assert [job.result for job in registry.jobs()] == [4, 4, 0]


def test_keys_are_forgotten_by_what_they_are_of(gate):
    """Their jobs are cancelled, the others stay."""
    registry, running, other = JobRegistry(8), gate.job(), ended()
    registry.get_or_start(("x", ""), lambda: running)
    registry.get_or_start(("y", ""), lambda: other)
    registry.forget(lambda key: key[0] == "x")
    assert running.state == "cancelled" and registry.jobs() == [other]


def test_stopping_what_is_forgotten_keeps_no_one_waiting(gate):
    """Its on_stop may take long: other jobs are found and started meanwhile."""
    registry = JobRegistry(1, forgets_running=True)
    found = []

    class SlowlyStopped(Job):
        def on_stop(self) -> None:
            finder = threading.Thread(target=lambda: found.append(registry.get("other")))
            finder.start()
            finder.join(5)

    def start() -> Job:
        return SlowlyStopped(gate.work, ReadProgress())

    registry.get_or_start("job", start)
    registry.forget(lambda key: key == "job")
    assert found == [None]
    registry.get_or_start("job", start)
    other = registry.get_or_start("other", ended)
    assert found == [None, other]


def test_a_start_that_fails_leaves_nothing():
    registry = JobRegistry(8)
    with pytest.raises(KafkavizError):
        registry.get_or_start("a", lambda: fail(KafkavizError("no"))(print))
    assert registry.jobs() == [] and registry.get_or_start("a", ended).state == "done"
