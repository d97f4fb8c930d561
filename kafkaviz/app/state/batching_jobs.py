"""The measurements of a source's records, one background job per source."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from kafkaviz.analysis.batching.advice import BatchingAnswer, BatchingTopic, advise
from kafkaviz.analysis.batching.ranking import batching_topics
from kafkaviz.analysis.tuning.tuning_case import TuningSource
from kafkaviz.errors import KafkavizError
from kafkaviz.jobs import Job, JobRegistry, ReadProgress
from kafkaviz.messages import verbatim

MAX_JOBS = 12  # the newest ones are kept

BatchingAnswers = tuple[BatchingAnswer, ...]


class BatchingJob(Job[BatchingAnswers, ReadProgress]):
    """Measures the batches and codecs of each topic; its progress counts their bytes."""

    def __init__(self, source: TuningSource) -> None:
        super().__init__(
            partial(_measure, list(batching_topics(source).values())), ReadProgress(0, 0)
        )

    def explain(self, error: Exception) -> Exception:
        """Returns an unexpected error as one that shows its type and text."""
        return KafkavizError(verbatim(f"{type(error).__name__}: {error}"))


def _measure(
    topics: list[BatchingTopic], report: Callable[[ReadProgress], None]
) -> BatchingAnswers:
    """Returns an answer per topic, the one with the most to save first."""
    total_bytes = sum(topic.log_bytes for topic in topics)
    sizes = {topic.name: topic.log_bytes for topic in topics}
    starts = {}
    start_bytes = 0
    for topic in topics:
        starts[topic.name] = start_bytes
        start_bytes += topic.log_bytes

    def report_share(name: str, share: float) -> None:
        done_bytes = starts[name] + int(share * sizes[name])
        report(ReadProgress(done_bytes, total_bytes, name))

    answers = advise(topics, on_progress=report_share)
    return tuple(sorted(answers, key=lambda answer: -answer.saved_bytes))


@st.cache_resource(show_spinner=False)
def batching_jobs() -> JobRegistry[str, BatchingJob]:
    """Returns the jobs of this server by source, so that no source is measured twice at once."""
    return JobRegistry(MAX_JOBS, forgets_running=True)


def get_or_start(key: str, source: TuningSource) -> BatchingJob:
    return batching_jobs().get_or_start(key, partial(BatchingJob, source))


def restart(key: str, source: TuningSource) -> None:
    """Starts the job again if it has ended, as a button's on_click."""
    batching_jobs().restart(key, partial(BatchingJob, source))
