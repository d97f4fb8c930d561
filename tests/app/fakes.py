"""Stand-ins for jobs that a test must not start, such as an ingest on Spark."""

import time

from kafkaviz.app.pages.explore.queries import queries
from kafkaviz.app.state.checkups import checkups
from kafkaviz.app.state.ingests import server_ingests
from kafkaviz.app.state.measure_jobs import measure_jobs
from kafkaviz.pipeline.ingest.job import Progress


class FakeIngest:
    """An ingest that is as far as the test says."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self.started_at = progress, time.monotonic()

    @property
    def state(self) -> str:
        """The state of the progress that the test has set."""
        return self._progress.state

    @property
    def is_over(self) -> bool:
        """Whether that is an end."""
        return self.state not in ("starting", "reading", "writing")

    def progress(self) -> Progress:
        """The progress that the test has set."""
        return self._progress

    def cancel(self) -> None:
        """Is cancelled from now on."""
        self._progress = Progress(state="cancelled")


class FakeStarts:
    """In the place of start_ingest: remembers what was asked of it."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.requests = progress, []

    def __call__(
        self, directories, catalog_path, master="local[*]", full=False, delay_s=0.0
    ) -> FakeIngest:
        """A new fake ingest."""
        self.requests.append((list(directories), catalog_path, master))
        return FakeIngest(self.progress)


def forget_runs() -> None:
    """Forgets all runs of this server; cached content of directories stays."""
    for registry in (server_ingests, checkups, measure_jobs, queries):
        registry.clear()
