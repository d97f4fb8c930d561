"""Ranks topics by the bytes that their advised changes would save."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafkaviz.analysis.batching.advice import (
    INDEX,
    SECONDS,
    BatchingAnswer,
    BatchingTopic,
    advise,
    order,
)
from kafkaviz.analysis.tuning.recommendation import Recommendation, TuningVerdict
from kafkaviz.analysis.tuning.tuning_case import TuningCase, TuningSource


@dataclass(frozen=True, kw_only=True)
class RankedTopic:
    """A topic, and the changes that are advised for it.

    Attributes:
        recommendation: the recommendation for index.interval.bytes. None: the topic has no batch.
        batching: the advice on batches and codec. None: a workload, which has no records.
        savings: pairs of a part to change ("batches", "codec" or "index") and the bytes that it
            saves, the largest first. The saving is 0 if the index becomes larger.
    """

    case: TuningCase
    recommendation: Recommendation | None
    batching: BatchingAnswer | None
    savings: tuple[tuple[str, int], ...]

    @property
    def saved_bytes(self) -> int:
        return sum(saved_bytes for _, saved_bytes in self.savings)


def batching_topics(source: TuningSource) -> dict[str, BatchingTopic]:
    """Returns the topics with records, by the name of their tuning case. A workload has none."""
    return {
        case.name: BatchingTopic(
            name=case.today.topic or case.name,
            windows=case.sample.windows,
            log_bytes=case.sample.log_bytes,
            interval_bytes=case.today.interval_bytes,
            by_base_offset=source.by_base_offset,
        )
        for case in source.cases
        if case.sample and case.sample.log_bytes
    }


def measure_batching(
    source: TuningSource,
    seconds: float = SECONDS,
    on_progress: Callable[[str, float], None] = lambda _name, _share: None,
    advise_all: Callable[..., tuple[BatchingAnswer, ...]] = advise,
) -> dict[str, BatchingAnswer]:
    """Returns the advice on batches and codec by case name; empty for a workload.

    `advise_all` measures the topics, in this process or on Spark.
    """
    topics = batching_topics(source)
    answers = advise_all(list(topics.values()), seconds=seconds, on_progress=on_progress)
    return dict(zip(topics, answers, strict=True))


def rank_topics(
    source: TuningSource,
    recommendations: Mapping[str, Recommendation | None],
    batching: Mapping[str, BatchingAnswer],
) -> tuple[RankedTopic, ...]:
    """Returns the topics, ordered by the bytes that their changes save, the largest first."""
    topics = [
        _ranked(case, recommendations.get(case.name), batching.get(case.name))
        for case in source.cases
    ]
    return tuple(
        sorted(topics, key=lambda topic: (-topic.saved_bytes, not topic.savings, topic.case.name))
    )


def _ranked(
    case: TuningCase, recommendation: Recommendation | None, batching: BatchingAnswer | None
) -> RankedTopic:
    index_bytes = 0
    is_index_changed = recommendation is not None and recommendation.verdict == TuningVerdict.CHANGE
    if recommendation is not None and is_index_changed:
        saved_share = max(0.0, recommendation.gain.index_share.low)
        index_bytes = round(saved_share * case.measurement.log_bytes)
    savings = order(batching, index_bytes) if batching else ()
    if is_index_changed and (INDEX, index_bytes) not in savings:
        savings = (*savings, (INDEX, index_bytes))
    return RankedTopic(case=case, recommendation=recommendation, batching=batching, savings=savings)
