"""Reasons of a recommendation as sentences, from their values: in English those that kafkaviz tune
prints.
"""

from collections.abc import Callable, Mapping

from kafkaviz import units
from kafkaviz.analyse.cost_model import Range
from kafkaviz.analyse.tuning import Gain, Reason, Recommendation, spent
from kafkaviz.analyse.tuning.words import amount, share, us
from kafkaviz.figures.listed import and_more, both
from kafkaviz.words import say

MOST_TOPICS = 5  # that are named


def every(found: Recommendation) -> list[str]:
    """Each reason of an answer, then what no interval changes, a sentence each."""
    return [sentence(one) for one in (*found.because, *found.not_fixed)]


def sentence(reason: Reason) -> str:
    """One reason with its full stop."""
    told = words(reason)
    return say("reasons.sentence", words=f"{told[0].upper()}{told[1:]}")


def words(reason: Reason) -> str:
    """One reason as a part of a sentence."""
    told = _WORDS.get(reason.code)
    return told(reason.values) if told else say(f"reasons.{reason.code}")


def _every(values: Mapping) -> str:
    return say(
        "reasons.every_default" if values["is_default"] else "reasons.every",
        interval=values["interval"],
    )


def _most(values: Mapping) -> str:
    told = {name: values[name] for name in ("interval", "entries", "of")}
    part = units.share(values["entries"], values["of"])
    return say(
        "reasons.most_default" if values["is_default"] else "reasons.most", **told, share=part
    )


def _plateau(values: Mapping) -> str:
    return say("reasons.plateau", least=values["least_batch_bytes"])


def _budget(values: Mapping) -> str:
    at, costs, allowed_us = values["at"], values["costs"], values["budgets"].p99_us
    known = "calibrated" if costs.calibrated else "modelled" if costs.is_modelled else "measured"
    told = {
        "headers": int(at.row["headers_p99"]),
        "p99": _range(at.p99_us),
        "known": say(f"reasons.{known}"),
    }
    p99 = (
        say("reasons.p99", **told)
        if allowed_us is None
        else say("reasons.p99_allowed", **told, allowed=us(allowed_us))
    )
    if not values["missed"]:
        return say(
            "reasons.met" if spent(at, values["budgets"]) else "reasons.unasked",
            interval=at.interval_bytes,
            p99=p99,
        )
    return say(
        "reasons.missed",
        interval=at.interval_bytes,
        p99=p99,
        which=both(say(f"reasons.budget_{one}") for one in values["missed"]),
    )


def _followers(values: Mapping) -> str:
    headers = {"mean": f"{values['headers_mean']:.0f}", "p99": values["headers_p99"]}
    return say("reasons.followers", fetch=units.size(values["append_bytes"]), **headers)


def _too_little_data(values: Mapping) -> str:
    return say("reasons.too-little-data", batches=values["batches"], to=values["to"])


def _bound(key: str) -> Callable[[Mapping], str]:
    return lambda values: say(key, most=f"{values['most_bytes']:.0f}")


def _gained(values: Mapping) -> str:
    return say("reasons.gained", to=values["to"], now=values["from"], gain=_gain(values["gain"]))


def _gain(gain: Gain) -> str:
    """What a change brings, each number with its range."""
    low, high = sorted((abs(gain.index_share.low), abs(gain.index_share.high)))
    told = say(
        "reasons.gain_shrinks" if gain.index_share.typical >= 0 else "reasons.gain_grows",
        p99=_less(gain.p99_us),
        mean=_less(gain.mean_us),
        share=share(abs(gain.index_share.typical)),
        low=share(low),
        high=share(high),
    )
    if not gain.cores:
        return told
    key = "reasons.cores_fewer" if gain.cores.typical >= 0 else "reasons.cores_more"
    return say(key, gain=told, cores=f"{abs(gain.cores.typical):.2f}")


def _less(one: Range) -> str:
    """18.9 µs (15.8 to 42 µs) less; of a range around 0 both ends with their sign."""
    if one.low >= 0:
        return say("reasons.less", us=_range(one))
    if one.high <= 0:
        return say("reasons.more", us=_range(Range(-one.high, -one.typical, -one.low)))
    return say("reasons.more_or_less", us=us(-one.typical), low=us(one.low), high=us(one.high))


def _range(one: Range) -> str:
    """42 µs (34 to 92 µs)."""
    low, high = us(one.low), us(one.high)
    if low.split()[1] == high.split()[1]:
        low = low.split()[0]
    return say("reasons.range", us=us(one.typical), low=low, high=high)


def _faster_too_little(values: Mapping) -> str:
    return say(
        "reasons.faster-too-little",
        to=values["to"],
        gain=_gain(values["gain"]),
        least=us(values["least_us"]),
    )


def _unmeetable(values: Mapping) -> str:
    taken = spent(values["at"], values["budgets"])
    amounts = {name: [amount(name, one) for one in pair] for name, pair in taken.items()}
    missed = [
        say(
            "reasons.over",
            name=say(f"reasons.budget_{one}"),
            taken=amounts[one][0],
            allowed=amounts[one][1],
        )
        for one in values["missed"]
    ]
    return say("reasons.unmeetable", to=values["to"], missed=both(missed))


def _smaller_too_little(values: Mapping) -> str:
    return say(
        "reasons.smaller-too-little",
        to=values["to"],
        saved=share(values["gain"].index_share.typical),
    )


def _tiered(values: Mapping) -> str:
    cached = {name: f"{values[f'cached_segments_{name}']:.0f}" for name in ("now", "other")}
    return say("reasons.smaller-for-tiered", **cached, carried=share(values["carried_share_other"]))


def _on_disk(values: Mapping) -> str:
    names = "interval", "entries", "entries_replayed", "headers_p99", "headers_p99_replayed"
    return say("reasons.on-disk", **{name: values[name] for name in names})


def _other_index(key: str) -> Callable[[Mapping], str]:
    return lambda values: say(key, there=_on_disk(values))


def _topics(values: Mapping) -> str:
    changing = values["changing"]
    if not changing:
        return say(
            "reasons.topic_none" if values["topics"] == 1 else "reasons.topics_none",
            topics=values["topics"],
        )
    each = (
        say("reasons.topic", name=name, interval=value)
        for name, value in list(changing.items())[:MOST_TOPICS]
    )
    named = and_more(each, max(len(changing) - MOST_TOPICS, 0))
    return say(
        "reasons.topic_gains" if values["topics"] == 1 else "reasons.topics",
        n=len(changing),
        topics=values["topics"],
        named=named,
    )


def _tiny(values: Mapping) -> str:
    single = values["single_share"]
    told = {
        "batch": f"{values['batch_bytes']:.0f}",
        "header": units.share(61, values["batch_bytes"]),
    }
    return (
        say("reasons.tiny_single", **told, share=units.share(single, 1))
        if single > 0.5
        else say("reasons.tiny", **told)
    )


def _cold(values: Mapping) -> str:
    at = values["at"]
    reads = {"index": f"{at.index_reads:.1f}", "reads": f"{at.cold_reads_mean:.1f}"}
    return say(
        "reasons.cold", **reads, storage=values["costs"].storage.name, us=_range(at.cold_mean_us)
    )


_WORDS: dict[str, Callable[[Mapping], str]] = {  # of the codes whose sentences have values
    "every-batch-indexed": _every,
    "most-batches-indexed": _most,
    "plateau": _plateau,
    "within-budget": _budget,
    "over-budget": _budget,
    "on-disk": _on_disk,
    "coarser": _other_index("reasons.coarser"),
    "denser": _other_index("reasons.denser"),
    "followers": _followers,
    "too-little-data": _too_little_data,
    "unmeetable": _unmeetable,
    "bound-tiered": _bound("reasons.bound-tiered"),
    "bound-hdd": _bound("reasons.bound-hdd"),
    "faster": _gained,
    "faster-too-little": _faster_too_little,
    "smaller": _gained,
    "smaller-too-little": _smaller_too_little,
    "smaller-for-tiered": _tiered,
    "topic-by-topic": _topics,
    "tiny-batches": _tiny,
    "cold": _cold,
}
