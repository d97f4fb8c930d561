import time
from threading import Event

from kafkaviz.app.state.check_jobs import check_jobs
from kafkaviz.app.state.ingests import server_ingests
from kafkaviz.app.state.measure_jobs import batching_jobs, measure_jobs
from kafkaviz.app.state.queries import queries
from kafkaviz.jobs import Job, ReadProgress
from kafkaviz.pipeline.ingest.job import Progress


class FakeIngest:
    def __init__(self, progress: Progress) -> None:
        self._progress, self.started_at = progress, time.monotonic()

    @property
    def state(self) -> str:
        return self._progress.state

    @property
    def is_over(self) -> bool:
        return self.state not in ("starting", "reading", "writing")

    def progress(self) -> Progress:
        return self._progress

    def cancel(self) -> None:
        self._progress = Progress(state="cancelled")


class FakeStarts:
    """Replaces start_ingest and records its arguments."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.requests = progress, []

    def __call__(
        self, directories, catalog_path, master="local[*]", full=False, delay_s=0.0
    ) -> FakeIngest:
        self.requests.append((list(directories), catalog_path, master))
        return FakeIngest(self.progress)


def forget_runs() -> None:
    """Forgets all runs of this server; the cached content of directories stays."""
    for registry in (server_ingests, check_jobs, measure_jobs, batching_jobs, queries):
        registry.clear()


def cancelled_job() -> Job:
    job = Job(lambda report: Event().wait(60), ReadProgress())
    job.cancel()
    return job
