"""Reasons of a recommendation as sentences, from their values: in English those that kafkaviz tune
prints.
"""

from collections.abc import Callable, Mapping

from kafkaviz import units
from kafkaviz.analysis.cost_model import Range
from kafkaviz.analysis.tuning import Gain, Reason, Recommendation, budget_usage
from kafkaviz.analysis.tuning.reason_text import format_amount, format_share, format_us
from kafkaviz.figures.join_text import join_each_and, join_with_others
from kafkaviz.words import say

MOST_TOPICS = 5  # that are named


def describe_all(recommendation: Recommendation) -> list[str]:
    """Each reason of an answer, then what no interval changes, a sentence each."""
    return [to_sentence(reason) for reason in (*recommendation.reasons, *recommendation.not_fixed)]


def to_sentence(reason: Reason) -> str:
    """One reason with its full stop."""
    text = describe(reason)
    return say("reasons.sentence", words=f"{text[0].upper()}{text[1:]}")


def describe(reason: Reason) -> str:
    """One reason as a part of a sentence."""
    word_reason = _DESCRIBE_BY_CODE.get(reason.code)
    return word_reason(reason.values) if word_reason else say(f"reasons.{reason.code}")


def _every_indexed(values: Mapping) -> str:
    return say(
        "reasons.every_default" if values["is_default"] else "reasons.every",
        interval=values["interval"],
    )


def _most_indexed(values: Mapping) -> str:
    counts = {name: values[name] for name in ("interval", "entries", "of")}
    indexed_share = units.share(values["entries"], values["of"])
    return say(
        "reasons.most_default" if values["is_default"] else "reasons.most",
        **counts,
        share=indexed_share,
    )


def _plateau_text(values: Mapping) -> str:
    return say("reasons.plateau", least=values["least_batch_bytes"])


def _budget_text(values: Mapping) -> str:
    tuned, costs, allowed_us = values["at"], values["costs"], values["budgets"].p99_us
    basis = "calibrated" if costs.calibrated else "modelled" if costs.is_modelled else "measured"
    p99_values = {
        "headers": int(tuned.row["headers_p99"]),
        "p99": _range_text(tuned.p99_us),
        "known": say(f"reasons.{basis}"),
    }
    p99 = (
        say("reasons.p99", **p99_values)
        if allowed_us is None
        else say("reasons.p99_allowed", **p99_values, allowed=format_us(allowed_us))
    )
    if not values["missed"]:
        return say(
            "reasons.met" if budget_usage(tuned, values["budgets"]) else "reasons.unasked",
            interval=tuned.interval_bytes,
            p99=p99,
        )
    return say(
        "reasons.missed",
        interval=tuned.interval_bytes,
        p99=p99,
        which=join_each_and(say(f"reasons.budget_{budget}") for budget in values["missed"]),
    )


def _followers_text(values: Mapping) -> str:
    headers = {"mean": f"{values['headers_mean']:.0f}", "p99": values["headers_p99"]}
    return say("reasons.followers", fetch=units.size(values["append_bytes"]), **headers)


def _too_little_data_text(values: Mapping) -> str:
    return say("reasons.too-little-data", batches=values["batches"], to=values["to"])


def _bound_by(key: str) -> Callable[[Mapping], str]:
    return lambda values: say(key, most=f"{values['most_bytes']:.0f}")


def _improvement_text(values: Mapping) -> str:
    return say(
        "reasons.gained", to=values["to"], now=values["from"], gain=_gain_text(values["gain"])
    )


def _gain_text(gain: Gain) -> str:
    """What a change brings, each number with its range."""
    low, high = sorted((abs(gain.index_share.low), abs(gain.index_share.high)))
    text = say(
        "reasons.gain_shrinks" if gain.index_share.typical >= 0 else "reasons.gain_grows",
        p99=_less_text(gain.p99_us),
        mean=_less_text(gain.mean_us),
        share=format_share(abs(gain.index_share.typical)),
        low=format_share(low),
        high=format_share(high),
    )
    if not gain.cores:
        return text
    key = "reasons.cores_fewer" if gain.cores.typical >= 0 else "reasons.cores_more"
    return say(key, gain=text, cores=f"{abs(gain.cores.typical):.2f}")


def _less_text(change: Range) -> str:
    """18.9 µs (15.8 to 42 µs) less; of a range around 0 both ends with their sign."""
    if change.low >= 0:
        return say("reasons.less", us=_range_text(change))
    if change.high <= 0:
        return say(
            "reasons.more", us=_range_text(Range(-change.high, -change.typical, -change.low))
        )
    return say(
        "reasons.more_or_less",
        us=format_us(-change.typical),
        low=format_us(change.low),
        high=format_us(change.high),
    )


def _range_text(span: Range) -> str:
    """42 µs (34 to 92 µs)."""
    low, high = format_us(span.low), format_us(span.high)
    if low.split()[1] == high.split()[1]:
        low = low.split()[0]
    return say("reasons.range", us=format_us(span.typical), low=low, high=high)


def _faster_too_little_text(values: Mapping) -> str:
    return say(
        "reasons.faster-too-little",
        to=values["to"],
        gain=_gain_text(values["gain"]),
        least=format_us(values["least_us"]),
    )


def _unmeetable_text(values: Mapping) -> str:
    budget_use = budget_usage(values["at"], values["budgets"])
    amounts = {
        name: [format_amount(name, amount_us) for amount_us in use]
        for name, use in budget_use.items()
    }
    missed_texts = [
        say(
            "reasons.over",
            name=say(f"reasons.budget_{budget}"),
            taken=amounts[budget][0],
            allowed=amounts[budget][1],
        )
        for budget in values["missed"]
    ]
    return say("reasons.unmeetable", to=values["to"], missed=join_each_and(missed_texts))


def _smaller_too_little_text(values: Mapping) -> str:
    return say(
        "reasons.smaller-too-little",
        to=values["to"],
        saved=format_share(values["gain"].index_share.typical),
    )


def _tiered_text(values: Mapping) -> str:
    cached_segments = {
        name: f"{values[f'cached_segments_{name}']:.0f}" for name in ("now", "other")
    }
    return say(
        "reasons.smaller-for-tiered",
        **cached_segments,
        carried=format_share(values["carried_share_other"]),
    )


def _on_disk_text(values: Mapping) -> str:
    names = "interval", "entries", "entries_replayed", "headers_p99", "headers_p99_replayed"
    return say("reasons.on-disk", **{name: values[name] for name in names})


def _other_index_by(key: str) -> Callable[[Mapping], str]:
    return lambda values: say(key, there=_on_disk_text(values))


def _topics_text(values: Mapping) -> str:
    changed_topics = values["changing"]
    if not changed_topics:
        return say(
            "reasons.topic_none" if values["topics"] == 1 else "reasons.topics_none",
            topics=values["topics"],
        )
    topic_texts = (
        say("reasons.topic", name=name, interval=value)
        for name, value in list(changed_topics.items())[:MOST_TOPICS]
    )
    topics_text = join_with_others(topic_texts, max(len(changed_topics) - MOST_TOPICS, 0))
    return say(
        "reasons.topic_gains" if values["topics"] == 1 else "reasons.topics",
        n=len(changed_topics),
        topics=values["topics"],
        named=topics_text,
    )


def _tiny_batches_text(values: Mapping) -> str:
    single_share = values["single_share"]
    batch_values = {
        "batch": f"{values['batch_bytes']:.0f}",
        "header": units.share(61, values["batch_bytes"]),
    }
    return (
        say("reasons.tiny_single", **batch_values, share=units.share(single_share, 1))
        if single_share > 0.5
        else say("reasons.tiny", **batch_values)
    )


def _cold_text(values: Mapping) -> str:
    tuned = values["at"]
    read_counts = {"index": f"{tuned.index_reads:.1f}", "reads": f"{tuned.cold_reads_mean:.1f}"}
    return say(
        "reasons.cold",
        **read_counts,
        storage=values["costs"].storage.name,
        us=_range_text(tuned.cold_mean_us),
    )


_DESCRIBE_BY_CODE: dict[
    str, Callable[[Mapping], str]
] = {  # of the codes whose sentences have values
    "every-batch-indexed": _every_indexed,
    "most-batches-indexed": _most_indexed,
    "plateau": _plateau_text,
    "within-budget": _budget_text,
    "over-budget": _budget_text,
    "on-disk": _on_disk_text,
    "coarser": _other_index_by("reasons.coarser"),
    "denser": _other_index_by("reasons.denser"),
    "followers": _followers_text,
    "too-little-data": _too_little_data_text,
    "unmeetable": _unmeetable_text,
    "bound-tiered": _bound_by("reasons.bound-tiered"),
    "bound-hdd": _bound_by("reasons.bound-hdd"),
    "faster": _improvement_text,
    "faster-too-little": _faster_too_little_text,
    "smaller": _improvement_text,
    "smaller-too-little": _smaller_too_little_text,
    "smaller-for-tiered": _tiered_text,
    "topic-by-topic": _topics_text,
    "tiny-batches": _tiny_batches_text,
    "cold": _cold_text,
}
