"""The measurements that Tuning needs, one background job per source."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from kafkaviz.analysis.tuning.source import open_broker_source, open_source
from kafkaviz.analysis.tuning.tuning_case import TuningSource
from kafkaviz.errors import KafkavizError
from kafkaviz.jobs import Job, JobRegistry, ReadProgress
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import verbatim

MAX_JOBS = 12  # the newest ones are kept


@dataclass(frozen=True, kw_only=True)
class MeasureRequest:
    key: str
    path_or_text: str  # a path or name for tuning.source.open_source, or the text of a workload
    kind: str
    sizes: tuple[tuple[str, int], ...] = ()  # size in bytes by name of the .log
    is_text: bool = False
    version: str | None = None
    # the broker's log directories if it has several. The settings come from all of them. Unless the
    # source is a partition, only `topic` is measured, or everything if it is "".
    log_directories: tuple[Path, ...] = ()
    topic: str = ""

    @property
    def total_bytes(self) -> int:
        return sum(size for _, size in self.sizes)


class MeasureJob(Job[TuningSource, ReadProgress]):
    def __init__(self, request: MeasureRequest) -> None:
        self.request = request
        super().__init__(partial(_measure, request), ReadProgress(0, request.total_bytes))

    @property
    def is_empty(self) -> bool:
        return self.result is not None and not any(
            case.measurement.parts.batches for case in self.result.cases
        )

    def explain(self, error: Exception) -> Exception:
        """Returns an unexpected error as one that shows its type and text."""
        return KafkavizError(verbatim(f"{type(error).__name__}: {error}"))


def _measure(request: MeasureRequest, report: Callable[[ReadProgress], None]) -> TuningSource:
    sizes = dict(request.sizes)
    total_bytes = request.total_bytes
    log_name = ""
    done_bytes = 0

    def report_share(name: str, share: float) -> None:
        """Reports the bytes read so far: this share of a .log, and all of the earlier ones."""
        nonlocal log_name, done_bytes
        if name != log_name:
            done_bytes += sizes.get(log_name, 0)
            log_name = name
        read_bytes = done_bytes + int(share * sizes.get(name, 0))
        report(ReadProgress(read_bytes, total_bytes, name))

    def note_sizes(sampled_sizes: Mapping[str, int]) -> None:
        """Takes the bytes of each .log that are read, which may be a sample."""
        nonlocal sizes, total_bytes
        sizes = dict(sampled_sizes)
        total_bytes = sum(sizes.values())

    if request.log_directories:
        broker = open_broker(*request.log_directories)
        if request.kind == "partition":
            path = request.path_or_text
            return open_source(
                path,
                request.version,
                on_progress=report_share,
                on_sizes=note_sizes,
                broker=broker,
            )
        return open_broker_source(
            broker,
            request.topic or None,
            request.version,
            report_share,
            on_sizes=note_sizes,
        )
    if not request.is_text:
        return open_source(
            request.path_or_text,
            request.version,
            on_progress=report_share,
            on_sizes=note_sizes,
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workload.toml"
        path.write_text(request.path_or_text, encoding="utf-8")
        return open_source(path, request.version)


@st.cache_resource(show_spinner=False)
def measure_jobs() -> JobRegistry[str, MeasureJob]:
    """Returns the jobs of this server by source, so that no log is measured twice at once."""
    return JobRegistry(MAX_JOBS, forgets_running=True)


def get_or_start(request: MeasureRequest) -> MeasureJob:
    return measure_jobs().get_or_start(request.key, partial(MeasureJob, request))


def restart(request: MeasureRequest) -> None:
    """Starts the job again if it has ended, as a button's on_click."""
    measure_jobs().restart(request.key, partial(MeasureJob, request))
