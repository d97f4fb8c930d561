"""The background jobs that Tuning needs: one measures a source, one measures its records."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from kafkaviz.analysis.batching.advice import BatchingAnswer
from kafkaviz.analysis.batching.ranking import batching_topics, measure_batching
from kafkaviz.analysis.tuning.source import open_broker_source, open_source
from kafkaviz.analysis.tuning.tuning_case import TuningSource
from kafkaviz.errors import KafkavizError
from kafkaviz.jobs import Job, JobRegistry, ReadMeter, ReadProgress
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import verbatim

MAX_JOBS = 12  # of each kind; the newest are kept


@dataclass(frozen=True, kw_only=True)
class MeasureRequest:
    key: str
    path_or_text: str  # a path or name for tuning.source.open_source, or the text of a workload
    kind: str
    sizes: tuple[tuple[str, int], ...] = ()  # size in bytes by name of the .log
    is_text: bool = False
    version: str | None = None
    # the broker's log directories if it has several. The topic settings are read from all of them.
    # Unless the source is a partition, only the topic `topic` is measured; "" stands for all
    # topics.
    log_directories: tuple[Path, ...] = ()
    topic: str = ""

    @property
    def total_bytes(self) -> int:
        return sum(size for _, size in self.sizes)


class _TuningJob(Job[Any, ReadProgress]):
    def explain(self, error: Exception) -> Exception:
        return KafkavizError(verbatim(f"{type(error).__name__}: {error}"))


class MeasureJob(_TuningJob):
    """The job that measures a source. Its result is a TuningSource."""

    def __init__(self, request: MeasureRequest) -> None:
        self.request = request
        super().__init__(partial(_measure, request), ReadProgress(0, request.total_bytes))

    @property
    def is_empty(self) -> bool:
        return self.result is not None and not any(
            case.measurement.parts.batches for case in self.result.cases
        )


class BatchingJob(_TuningJob):
    """The job that measures each topic's records. The result is one BatchingAnswer per topic."""

    def __init__(self, source: TuningSource) -> None:
        super().__init__(partial(_measure_records, source), ReadProgress())


def _measure_records(
    source: TuningSource, report: Callable[[ReadProgress], None]
) -> dict[str, BatchingAnswer]:
    sizes = {topic.name: topic.log_bytes for topic in batching_topics(source).values()}
    return measure_batching(source, on_progress=ReadMeter(report, sizes).show)


def _measure(request: MeasureRequest, report: Callable[[ReadProgress], None]) -> TuningSource:
    meter = ReadMeter(report, dict(request.sizes))
    broker = open_broker(*request.log_directories) if request.log_directories else None
    if broker and request.kind != "partition":
        topic = request.topic or None
        return open_broker_source(
            broker, topic, request.version, on_progress=meter.show, on_sizes=meter.expect
        )
    if not request.is_text:
        return open_source(
            request.path_or_text,
            request.version,
            on_progress=meter.show,
            on_sizes=meter.expect,
            broker=broker,
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workload.toml"
        path.write_text(request.path_or_text, encoding="utf-8")
        return open_source(path, request.version)


@st.cache_resource(show_spinner=False)
def measure_jobs() -> JobRegistry[str, MeasureJob]:
    """Returns the measurements of this server by source. All tabs share them."""
    return JobRegistry(MAX_JOBS, forgets_running=True)


@st.cache_resource(show_spinner=False)
def batching_jobs() -> JobRegistry[str, BatchingJob]:
    """Returns the jobs that measure records, by the key of the measured source."""
    return JobRegistry(MAX_JOBS, forgets_running=True)


def get_or_start(request: MeasureRequest) -> MeasureJob:
    return measure_jobs().get_or_start(request.key, partial(MeasureJob, request))


def restart(request: MeasureRequest) -> None:
    """Starts a measurement again if it has ended. Used as a button's on_click."""
    measure_jobs().restart(request.key, partial(MeasureJob, request))


def get_or_start_batching(key: str, source: TuningSource) -> BatchingJob:
    return batching_jobs().get_or_start(key, partial(BatchingJob, source))


def restart_batching(key: str, source: TuningSource) -> None:
    """Starts a measurement of records again if it has ended. Used as a button's on_click."""
    batching_jobs().restart(key, partial(BatchingJob, source))
