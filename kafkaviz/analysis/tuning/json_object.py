"""A tuning result as one plain object, as `kafkaviz tune --json` prints it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from kafkaviz.analysis.batching.advice import BatchingAnswer
from kafkaviz.analysis.batching.batch_advice import BatchAdvice
from kafkaviz.analysis.batching.batch_facts import ProducerFacts
from kafkaviz.analysis.batching.batching_text import describe_advice_reason, main_sentence
from kafkaviz.analysis.batching.codec_advice import CodecAdvice
from kafkaviz.analysis.batching.ranking import RankedTopic, rank_topics
from kafkaviz.analysis.cost.cost_model import LookupCosts, Range
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.analysis.tuning.index_size import IndexSizeOutcome, sweep_source
from kafkaviz.analysis.tuning.interval_cost import Budgets, IntervalCost, by_target, tiered_cost
from kafkaviz.analysis.tuning.measurement import BROKER_SETTING, SETTING
from kafkaviz.analysis.tuning.recommendation import Reason, Recommendation
from kafkaviz.analysis.tuning.segment_size import (
    SEGMENT_SETTING,
    SegmentSizeAdvice,
    advise_segment_sizes,
    footprint_at,
    limits_at,
)
from kafkaviz.analysis.tuning.tuning_case import BROKER, TuningCase, TuningSource
from kafkaviz.analysis.tuning.tuning_text import (
    alter_line,
    describe_reach,
    describe_reason,
    describe_segment_reason,
)
from kafkaviz.binary.layouts import field_names
from kafkaviz.messages import message


def tuning_object(
    source: TuningSource,
    answers: Mapping[str, Recommendation | None],
    total: Recommendation | None,
    budgets: Budgets,
    costs: LookupCosts,
    *,
    batching: Mapping[str, BatchingAnswer] | None = None,
) -> dict:
    """Returns the complete result.

    Args:
        answers: the recommendations by the name of a case.
        total: the recommendation for all of them.
        batching: the advice on batches and codec by the name of a case; None if it is not known.
    """
    case = source.total
    topics = rank_topics(source, answers, batching or {})
    lone_topic = topics[0] if len(topics) == 1 else None
    result = {
        "answer": _answer_object(topics, case),
        **_batching_object(lone_topic),
        "source": {"kind": source.kind, "name": source.name, **to_json_object(case)},
        "kafka_version": {"assumed": source.version, "because": str(source.assumed_release.reason)},
        "sample": case.sample,
        "current": _current_object(case, total),
        "sweep": case.measurement.parts.sweep(),
        "index_size_sweep": _index_sizes_object(source, costs),
        "recommendation": _recommendation_object(source, case, total),
        "budgets": budgets,
        "costs": {
            "header_us": costs.header_us,
            "first_us": costs.first_us,
            "storage": costs.storage.name,
            "read_us": costs.storage.read_us,
            "modelled": costs.reads_once and not costs.calibrated,
            "calibrated": costs.calibrated,
        },
    }
    if total:
        result |= _limits_object(case, total)
        _, size_advice = advise_segment_sizes(source)
        topic = None if source.kind == BROKER else case.today.topic
        result["segment_size"] = _segment_size_object(size_advice, topic)
    if source.kind == BROKER:
        result["topics"] = [_topic_object(topic) for topic in topics]
        result["metadata_left_out"] = source.metadata_left_out
    result["unused_left_out"] = [
        inactive_segment.path for inactive_segment in source.inactive_segments
    ]
    result["problems"] = source.problems
    return to_json_object(result)


def _current_object(case: TuningCase, total: Recommendation | None) -> dict:
    today = case.today
    index = case.measurement.parts.index_of(case.today.interval_bytes)
    result = {
        SETTING: today.interval_bytes,
        "interval_source": str(today.interval_source),
        "segment.bytes": today.config.segment_bytes,
        "segment.index.bytes": today.config.segment_index_bytes,
        "segment.ms": today.config.segment_ms,
        "tiered": today.is_tiered,
        "per_append": today.is_coarse,
        "inferred": list(today.inferred_settings),
        "unknown": list(today.unknown_settings),
        **to_json_object(case.measurement.parts.sweep()[index]),
        "replayed": dict(
            zip(("offset_entries", "time_entries"), case.replayed_entries, strict=True)
        ),
        "on_disk": None
        if case.disk_entries is None
        else dict(zip(("offset_entries", "time_entries"), case.disk_entries, strict=True)),
    }
    return result | (_cost_object(total.current_cost) if total else {})


def _cost_object(cost: IntervalCost) -> dict:
    return {
        "mean_us": cost.mean_us,
        "p99_us": cost.p99_us,
        "cold_mean_us": cost.cold_mean_us,
        "cold_reads_mean": cost.cold_reads_mean,
        "cold_index_reads": cost.index_reads,
        "by_target": {name: _header_object(row) for name, row in by_target(cost).items()},
        "index_share": cost.index_share,
        "price_us": cost.price_us,
    }


def _index_sizes_object(source: TuningSource, costs: LookupCosts) -> list[dict] | None:
    """Returns each segment.index.bytes at today's interval; None without a log to append again."""
    case = source.total
    if case.logs is None:
        return None
    costs = costs.with_one_read_share(case.measurement.one_read_share)
    return [_index_size_object(outcome, costs) for outcome in sweep_source(source)]


def _index_size_object(outcome: IndexSizeOutcome, costs: LookupCosts) -> dict:
    warm = outcome.search()
    plain = outcome.search(warm=False)
    return {
        "segment_index_bytes": outcome.index_bytes,
        "offset_slots": outcome.offset_slots,
        "usable_time_slots": outcome.usable_time_slots,
        "segments": outcome.segments,
        "rolls": dict(outcome.rolls),
        "segment_log_bytes": outcome.log_bytes,
        "rolls_per_gib": outcome.rolls_per_gib,
        "rolls_per_day": outcome.rolls_per_day,
        "offset_entries": outcome.offset_entries,
        "time_entries": outcome.time_entries,
        "headers_mean": outcome.headers,
        **{
            f"{name}_{search}": value
            for name, cost in (("warm", warm), ("plain", plain))
            for search, value in asdict(cost).items()
        },
        "cold_index_reads": outcome.cold_index_reads,
        "mean_us": costs.warm_us(outcome.headers),
        "cold_mean_us": outcome.cold_us(costs),
    }


def _header_object(row: np.void) -> dict:
    return {
        name: row[name].item()
        for name in field_names(row.dtype)
        if name.startswith("headers") or name == "skipped_bytes_mean"
    }


def _recommendation_object(
    source: TuningSource, case: TuningCase, recommendation: Recommendation | None
) -> dict:
    is_broker = source.kind == BROKER
    setting = BROKER_SETTING if is_broker else SETTING
    if recommendation is None:
        reason_texts = [str(message("tuning_answer.no_batch"))]
        value = case.today.interval_bytes
        return {
            "verdict": "keep",
            "today_known": case.today.is_interval_known,
            "setting": setting,
            "value": value,
            "because": reason_texts,
            "reasons": [],
            "not_fixed": [],
        }
    topic = None if is_broker else case.today.topic
    return {
        "verdict": str(recommendation.verdict),
        "today_known": recommendation.is_today_known,
        "setting": setting,
        "value": recommendation.value,
        "because": [str(describe_reason(reason)) for reason in recommendation.reasons],
        "reasons": [_reason_object(reason) for reason in recommendation.reasons],
        "considered": recommendation.considered_bytes,
        "meets_budgets": recommendation.meets_budgets,
        "gain": recommendation.gain,
        "not_fixed": [str(describe_reason(reason)) for reason in recommendation.not_fixed],
        "proposed": {
            **to_json_object(recommendation.proposed_cost.row),
            **_cost_object(recommendation.proposed_cost),
        },
        "command": alter_line(SETTING, recommendation.value, topic)
        if recommendation.verdict == "change"
        else None,
        "reaches": str(describe_reach(SETTING)),
    }


def _reason_object(reason: Reason) -> dict:
    """Returns the reason's numbers and names; values that the object has elsewhere are left out."""
    return {
        "code": reason.code,
        **{
            name: value
            for name, value in reason.values.items()
            if isinstance(value, int | float | str | dict | tuple) and not isinstance(value, Range)
        },
    }


def _limits_object(case: TuningCase, total: Recommendation) -> dict:
    limits = limits_at(case.measurement, case.today.config, total.value)
    ends = zip(
        ("segment_bytes", "segment_ms_bytes", "offset_full_bytes", "time_full_bytes"),
        limits.ends_bytes.values(),
        strict=True,
    )
    sizes = {
        "least_index_bytes": limits.least_index_bytes,
        "safe_index_bytes": limits.safe_index_bytes,
    }
    limit_values = {"binding": limits.binding, **dict(ends), **sizes}
    files = dict(
        zip(("apparent_bytes", "allocated_bytes"), case.index_files or (None, None), strict=True)
    )
    footprint = footprint_at(case.measurement, case.today, total.value) | files
    tiered_values = (
        tiered_cost(total.current_cost, total.proposed_cost, case.today)
        if case.today.is_tiered
        else None
    )
    return {"limits": limit_values, "footprint": footprint, "tiered": tiered_values}


def _segment_size_object(advice: SegmentSizeAdvice, topic: str | None) -> dict:
    return {
        "verdict": str(advice.verdict),
        "setting": SEGMENT_SETTING,
        "value": advice.value,
        "because": str(describe_segment_reason(advice)),
        "code": advice.reason,
        "today": asdict(advice.today),
        "considered": advice.considered and asdict(advice.considered),
        "changing": dict(advice.changing),
        "command": alter_line(SEGMENT_SETTING, advice.value, topic) if advice.considered else None,
    }


def _answer_object(topics: Sequence[RankedTopic], case: TuningCase) -> dict:
    """Returns the change that matters most, and what all changes of the topics save."""
    first = topics[0]
    return {
        "sentence": str(main_sentence(topics, case.measurement.log_bytes)),
        "part": first.savings[0][0] if first.savings else None,
        "topic": first.case.today.topic if first.savings else None,
        "saved_bytes": sum(topic.saved_bytes for topic in topics),
    }


def _batching_object(topic: RankedTopic | None) -> dict:
    """Returns the advice on batches and codec; both are None without records."""
    if topic is None or topic.batching is None:
        return {"batches": None, "codec": None}
    answer = topic.batching
    merging = answer.merging
    batches = {
        **_advice_object(answer.batches),
        "today": _producer_object(answer.facts.total),
        "producers": [_producer_object(producer) for producer in answer.facts.by_producer],
        "merges": merging.merges if merging else [],
    }
    codec = {**_advice_object(answer.codec), "records": answer.sample, "packed": answer.packed}
    return {"batches": batches, "codec": codec}


def _advice_object(advice: BatchAdvice | CodecAdvice) -> dict:
    return {
        **to_json_object(advice),
        "settings": dict(advice.settings),
        "because": [str(describe_advice_reason(reason)) for reason in advice.reasons],
        "reasons": [{"code": reason.code, **reason.values} for reason in advice.reasons],
    }


def _producer_object(producer: ProducerFacts) -> dict:
    codecs = [{"codec": name, "share": share} for name, share in producer.codecs]
    return {**to_json_object(producer), "codecs": codecs}


def _topic_object(topic: RankedTopic) -> dict:
    case = topic.case
    recommendation = topic.recommendation
    result = {
        "topic": case.name,
        "saved_bytes": topic.saved_bytes,
        "changes": [part for part, _ in topic.savings],
        **_batching_object(topic),
        **to_json_object(case),
        SETTING: case.today.interval_bytes,
        "interval_source": str(case.today.interval_source),
        "unknown": list(case.today.unknown_settings),
    }
    if recommendation is None:
        return result | {"verdict": "keep", "value": case.today.interval_bytes, "because": []}
    return result | {
        "verdict": str(recommendation.verdict),
        "value": recommendation.value,
        "because": [str(describe_reason(reason)) for reason in recommendation.reasons],
        "headers_p99": recommendation.current_cost.row["headers_p99"],
        "p99_us": recommendation.current_cost.p99_us,
        "index_share": recommendation.current_cost.index_share,
    }
