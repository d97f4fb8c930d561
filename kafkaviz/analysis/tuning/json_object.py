"""A tuning result as one plain object, which `kafkaviz tune --json` prints."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from kafkaviz.analysis.batching import ranking
from kafkaviz.analysis.batching.advice import BatchingAnswer
from kafkaviz.analysis.batching.batch_facts import ProducerFacts
from kafkaviz.analysis.batching.producer_advice import BatchAdvice, CodecAdvice
from kafkaviz.analysis.cost.cost_model import LookupCosts
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.analysis.tuning import segment_size, tuning_text
from kafkaviz.analysis.tuning.index_size import log_rounds, sweep_index_sizes
from kafkaviz.analysis.tuning.interval_cost import Budgets, tiered_cost
from kafkaviz.analysis.tuning.measurement import BROKER_SETTING, SETTING
from kafkaviz.analysis.tuning.recommendation import Recommendation
from kafkaviz.analysis.tuning.tuning_case import BROKER, TuningCase, TuningSource
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

    `answers` and `batching` have one value per case, by name. `total` is for all cases together.
    """
    case = source.total
    topics = ranking.rank_topics(source, answers, batching or {})
    lone_topic = topics[0] if len(topics) == 1 else None
    result = {
        "answer": _answer_object(topics, case),
        **_batching_object(lone_topic),
        "source": {"kind": source.kind, "name": source.name, **to_json_object(case)},
        "kafka_version": {"assumed": source.version, "because": source.assumed_release.reason},
        "sample": case.sample,
        "current": _current_object(case, total),
        "sweep": case.measurement.parts.sweep(),
        "index_size_sweep": _index_sizes_object(source, costs),
        "recommendation": _recommendation_object(source, case, total),
        "budgets": budgets,
        "costs": costs,
    }
    if total:
        result |= _limits_object(case, total)
        _, size_advice = segment_size.advise_segment_sizes(source)
        topic = None if source.kind == BROKER else case.today.topic
        result["segment_size"] = _segment_size_object(size_advice, topic)
    if source.kind == BROKER:
        result["topics"] = [_topic_object(topic) for topic in topics]
        result["metadata_left_out"] = source.metadata_left_out
    result["unused_left_out"] = [segment.path for segment in source.inactive_segments]
    result["problems"] = source.problems
    return to_json_object(result)


def _current_object(case: TuningCase, total: Recommendation | None) -> dict:
    today = case.today
    index = case.measurement.parts.index_of(today.interval_bytes)
    return {
        SETTING: today.interval_bytes,
        "interval_source": today.interval_source,
        "segment.bytes": today.config.segment_bytes,
        "segment.index.bytes": today.config.segment_index_bytes,
        "segment.ms": today.config.segment_ms,
        "tiered": today.is_tiered,
        "per_append": today.is_coarse,
        "inferred": today.inferred_settings,
        "unknown": today.unknown_settings,
        **to_json_object(case.measurement.parts.sweep()[index]),
        "replayed": _entries_object(case.replayed_entries),
        "on_disk": case.disk_entries and _entries_object(case.disk_entries),
        **(to_json_object(total.current_cost) if total else {}),
    }


def _entries_object(entries: tuple[int, int]) -> dict[str, int]:
    return dict(zip(("offset_entries", "time_entries"), entries, strict=True))


def _index_sizes_object(source: TuningSource, costs: LookupCosts) -> list[dict] | None:
    """Returns the outcome and costs of each segment.index.bytes; None if no log can be replayed."""
    case = source.total
    if case.logs is None:
        return None
    costs = costs.with_one_read_share(case.measurement.one_read_share)
    return [
        {
            **to_json_object(outcome),
            **{
                f"{name}_{field}": value
                for name, is_warm in (("warm", True), ("plain", False))
                for field, value in asdict(outcome.search(warm=is_warm)).items()
            },
            "mean_us": costs.warm_us(outcome.headers),
            "cold_mean_us": outcome.cold_us(costs),
        }
        for outcome in sweep_index_sizes(log_rounds(source), case.today.config)
    ]


def _recommendation_object(
    source: TuningSource, case: TuningCase, recommendation: Recommendation | None
) -> dict:
    is_broker = source.kind == BROKER
    result = {
        "setting": BROKER_SETTING if is_broker else SETTING,
        "today_known": case.today.is_interval_known,
    }
    if recommendation is None:
        return result | {
            "verdict": "keep",
            "value": case.today.interval_bytes,
            "because": [message("tuning_answer.no_batch")],
            "reasons": [],
            "not_fixed": [],
        }
    cost = recommendation.proposed_cost
    is_change = recommendation.verdict == "change"
    topic = None if is_broker else case.today.topic
    command = tuning_text.alter_line(SETTING, recommendation.value, topic) if is_change else None
    return {
        **result,
        **to_json_object(recommendation),
        "because": list(map(tuning_text.describe_reason, recommendation.reasons)),
        "not_fixed": list(map(tuning_text.describe_reason, recommendation.not_fixed)),
        "proposed": {**to_json_object(cost.row), **to_json_object(cost)},
        "command": command,
        "reaches": tuning_text.describe_reach(SETTING),
    }


def _limits_object(case: TuningCase, total: Recommendation) -> dict:
    limits = segment_size.limits_at(case.measurement, case.today.config, total.value)
    ends = zip(
        ("segment_bytes", "segment_ms_bytes", "offset_full_bytes", "time_full_bytes"),
        limits.ends_bytes.values(),
        strict=True,
    )
    apparent_bytes, allocated_bytes = case.index_files or (None, None)
    return {
        "limits": {**to_json_object(limits), **dict(ends)},
        "footprint": {
            **segment_size.footprint_at(case.measurement, case.today, total.value),
            "apparent_bytes": apparent_bytes,
            "allocated_bytes": allocated_bytes,
        },
        "tiered": tiered_cost(total.current_cost, total.proposed_cost, case.today)
        if case.today.is_tiered
        else None,
    }


def _segment_size_object(advice: segment_size.SegmentSizeAdvice, topic: str | None) -> dict:
    setting = segment_size.SEGMENT_SETTING
    command = tuning_text.alter_line(setting, advice.value, topic) if advice.considered else None
    return {
        **to_json_object(advice),
        "setting": setting,
        "because": tuning_text.describe_segment_reason(advice),
        "command": command,
    }


def _answer_object(topics: Sequence[ranking.RankedTopic], case: TuningCase) -> dict:
    first = topics[0]
    return {
        "sentence": ranking.main_sentence(topics, case.measurement.log_bytes),
        "part": first.savings[0][0] if first.savings else None,
        "topic": first.case.today.topic if first.savings else None,
        "saved_bytes": sum(topic.saved_bytes for topic in topics),
    }


def _batching_object(topic: ranking.RankedTopic | None) -> dict:
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
        "because": list(map(ranking.describe_advice_reason, advice.reasons)),
    }


def _producer_object(producer: ProducerFacts) -> dict:
    codecs = [{"codec": name, "share": share} for name, share in producer.codecs]
    return {**to_json_object(producer), "codecs": codecs}


def _topic_object(topic: ranking.RankedTopic) -> dict:
    case = topic.case
    recommendation = topic.recommendation
    result = {
        "topic": case.name,
        "saved_bytes": topic.saved_bytes,
        "changes": [part for part, _ in topic.savings],
        **_batching_object(topic),
        **to_json_object(case),
        SETTING: case.today.interval_bytes,
        "interval_source": case.today.interval_source,
        "unknown": case.today.unknown_settings,
    }
    if recommendation is None:
        return result | {"verdict": "keep", "value": case.today.interval_bytes, "because": []}
    return result | {
        "verdict": recommendation.verdict,
        "value": recommendation.value,
        "because": list(map(tuning_text.describe_reason, recommendation.reasons)),
        "headers_p99": recommendation.current_cost.row["headers_p99"],
        "p99_us": recommendation.current_cost.p99_us,
        "index_share": recommendation.current_cost.index_share,
    }
