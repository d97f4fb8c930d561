"""Ranks topics by the bytes that their advised changes would save, and describes the advice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from kafkaviz import units
from kafkaviz.analysis.batching.advice import (
    BATCHES,
    CODEC,
    INDEX,
    SECONDS,
    BatchingAnswer,
    BatchingTopic,
    advise,
    rank_changes,
)
from kafkaviz.analysis.batching.producer_advice import (
    CHANGE,
    AdviceReason,
    BatchAdvice,
    CodecAdvice,
)
from kafkaviz.analysis.tuning.recommendation import Recommendation, TuningVerdict
from kafkaviz.analysis.tuning.tuning_case import TuningCase, TuningSource
from kafkaviz.analysis.tuning.tuning_text import describe_gain, headline
from kafkaviz.messages import Message, message


@dataclass(frozen=True, kw_only=True)
class RankedTopic:
    """A topic, and the changes that are advised for it."""

    case: TuningCase
    recommendation: Recommendation | None  # for index.interval.bytes. None: no batch
    batching: BatchingAnswer | None  # None: a simulated workload
    # changes and the bytes they save, as in `rank_changes`. 0: the advised index is not smaller
    savings: tuple[tuple[str, int], ...]

    @property
    def saved_bytes(self) -> int:
        return sum(saved_bytes for _, saved_bytes in self.savings)


def batching_topics(source: TuningSource) -> dict[str, BatchingTopic]:
    """Returns the topics with records, by TuningCase.name. Empty for a simulated workload."""
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
    """Returns the advice on batches and codec, by TuningCase.name. Empty for a simulated workload.

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
    """Returns the topics, ordered by the bytes that their advised changes save, largest first."""
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
    savings = rank_changes(batching, index_bytes) if batching else ()
    if is_index_changed and (INDEX, index_bytes) not in savings:
        savings = (*savings, (INDEX, index_bytes))
    return RankedTopic(case=case, recommendation=recommendation, batching=batching, savings=savings)


# reasons that are left out of the short answer, because its other lines say the same
TOLD_CODES = ("header-share", "fewer-headers", "ratio")


def main_sentence(topics: Sequence[RankedTopic], log_bytes: int) -> Message:
    """Returns a message with the change that saves most, or that nothing should change.

    `topics` come from `rank_topics`.
    """
    first = topics[0]
    if not first.savings:
        is_measured = any(topic.batching for topic in topics)
        return message("batching_answer.all_stay" if is_measured else "batching_answer.index_stays")
    part, _ = first.savings[0]
    effect = _describe_effect(part, first)
    gaining = [topic for topic in topics if topic.savings]
    if len(topics) == 1:
        return message(f"batching_answer.main_{part}", effect=effect)
    return message(
        "batching_answer.first_topic",
        n=len(gaining),
        saved=sum(topic.saved_bytes for topic in gaining),
        log=log_bytes,
        topic=first.case.name,
        effect=effect,
    )


def _describe_effect(part: str, topic: RankedTopic) -> Message:
    answer = topic.batching
    if answer and part == BATCHES:
        return message(
            "batching_answer.batches_effect",
            settings=setting_lines(answer.batches),
            effects=describe_effects(answer),
        )
    if answer and part == CODEC:
        return message(
            "batching_answer.codec_effect",
            before=answer.codec.codec_before,
            after=answer.codec.codec_after,
            saved=describe_saving(answer.codec, answer.sample.log_bytes),
        )
    recommendation = cast(Recommendation, topic.recommendation)
    return message(
        "batching_answer.index_effect",
        change=headline(recommendation),
        gain=describe_gain(recommendation.gain),
    )


def setting_lines(advice: BatchAdvice | CodecAdvice) -> tuple[str, ...]:
    """Returns the advised settings as lines for a producer's properties file."""
    return tuple(f"{name}={value}" for name, value in advice.settings)


def describe_saving(advice: BatchAdvice | CodecAdvice, log_bytes: int) -> Message:
    saving = advice.saving
    if isinstance(advice, BatchAdvice) and advice.is_up_to:
        return message(
            "batching_answer.saves_up_to",
            high=saving.high_bytes,
            log=log_bytes,
            share=saving.high_share,
        )
    return message(
        "batching_answer.saves",
        low=saving.low_bytes,
        high=saving.high_bytes,
        log=log_bytes,
        low_share=saving.low_share,
        high_share=saving.high_share,
    )


def describe_effects(answer: BatchingAnswer) -> Message:
    """Returns a message with the saved bytes. Adds the headers per lookup if their number falls."""
    advice = answer.batches
    saved = describe_saving(advice, answer.sample.log_bytes)
    before = advice.headers_before
    after = advice.headers_after
    if before is None or after is None or after >= before:
        return saved
    headers = message("batching_answer.headers", before=before, after=after)
    return message("common.clauses", parts=(saved, headers))


def batches_headline(answer: BatchingAnswer) -> Message:
    total = answer.facts.total
    key = "change_batches" if answer.batches.verdict == CHANGE else "keep_batches"
    return message(
        f"batching_answer.{key}",
        records=total.records_per_batch_mean,
        size=round(total.batch_bytes_mean),
        share=total.header_share,
    )


def describe_batches_price(advice: BatchAdvice) -> Message:
    return message(
        "batching_answer.price_batches", ms=advice.latency_ms, memory=advice.producer_memory_bytes
    )


def codec_headline(advice: CodecAdvice) -> Message:
    if advice.codec_before is None:
        return message("batching_answer.unknown_codec")
    if advice.verdict == CHANGE:
        return message(
            "batching_answer.change_codec", before=advice.codec_before, after=advice.codec_after
        )
    return message("batching_answer.keep_codec", codec=advice.codec_before)


def describe_codec_price(advice: CodecAdvice) -> Message:
    return message(
        "batching_answer.price_codec",
        pack_before=_format_us(advice.pack_us_per_mib_before),
        pack_after=_format_us(advice.pack_us_per_mib_after),
        unpack_before=_format_us(advice.unpack_us_per_mib_before),
        unpack_after=_format_us(advice.unpack_us_per_mib_after),
    )


def _format_us(time_us: float | None) -> str:
    return units.MISSING if time_us is None else units.format_us(time_us)


def describe_sample(answer: BatchingAnswer) -> Message:
    sample = answer.sample
    key = "sample_whole" if sample.is_whole else "sample_part"
    return message(
        f"batching_answer.{key}",
        records=sample.records,
        stored=sample.stored_bytes,
        log=sample.log_bytes,
        places=sample.windows,
    )


def main_reasons(advice: BatchAdvice | CodecAdvice) -> tuple[AdviceReason, ...]:
    """Returns the reasons to print: all except those in TOLD_CODES."""
    return tuple(reason for reason in advice.reasons if reason.code not in TOLD_CODES)


def _format_count_or_share(value: float) -> str:
    return units.format_count(value) if isinstance(value, int) else f"{100 * value:.0f} %"


_REASON_FORMATS: dict[str, Callable] = {
    "share": lambda share: units.format_percent(share, 1) if share else "0 %",
    "records_per_batch": lambda records: f"{records:.1f}",
    "batch_bytes": lambda size: units.format_bytes(round(size)),
    "batches": units.format_count,
    "windows": units.format_count,
    "low": _format_count_or_share,
    "high": _format_count_or_share,
    "before": lambda headers: f"{headers:.2f}",
    "after": lambda headers: f"{headers:.2f}",
}


def describe_advice_reason(reason: AdviceReason) -> Message:
    values = {name: _REASON_FORMATS.get(name, str)(value) for name, value in reason.values.items()}
    variant = ""
    if reason.code == "ratio" and values["low"] == values["high"]:
        variant = "-exact"
    elif reason.code == "codec-is-best" and values.get("codec") == values["best"]:
        variant = "-of-all"
    return message(f"batching_reason.{reason.code}{variant}", **values)
