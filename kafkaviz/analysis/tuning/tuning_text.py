"""The messages for a recommendation, and the command that changes a setting."""

from collections.abc import Callable, Mapping, Sequence

from kafkaviz import units
from kafkaviz.analysis.cost.cost_model import MAX_MAP_COUNT, LookupCosts, Range
from kafkaviz.analysis.tuning.interval_cost import Gain, IntervalCost, budget_usage
from kafkaviz.analysis.tuning.measurement import SETTING
from kafkaviz.analysis.tuning.recommendation import Reason, ReasonCode, Recommendation
from kafkaviz.analysis.tuning.segment_size import SegmentLimits, SegmentNumbers, SegmentSizeAdvice
from kafkaviz.analysis.tuning.tuning_case import TuningCase
from kafkaviz.config_def import TOPIC_SETTINGS
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.messages import Message, message

# LogSegment reads these settings when it is created
NEW_SEGMENTS = ("index.interval.bytes", "segment.index.bytes")
# UnifiedLog reads these settings at each append
AT_ONCE = ("segment.bytes", "segment.ms", "segment.jitter.ms")
BOOTSTRAP = "<broker>:9092"  # a placeholder that the user replaces
MAX_NAMES = 5  # a message names at most this many topics
FETCH_US = 200.0  # the shortest round trip of a fetch between machines of one data centre
DETAIL_CODES = ("plateau", "followers", "bound-tiered", "bound-hdd")
# codes that share a message
SHARED_KEYS: dict[ReasonCode, str] = {
    "within-budget": "budget",
    "over-budget": "budget",
    "faster": "gained",
    "smaller": "gained",
}


def format_us_range(value: Range) -> Message:
    """Returns a range such as "42 µs (34 to 92 µs)"."""
    low = units.format_us(value.low)
    high = units.format_us(value.high)
    if low.split()[1] == high.split()[1]:
        low = low.split()[0]
    return message("tuning_reason.range", us=units.format_us(value.typical), low=low, high=high)


def format_share(part: float) -> str:
    return ("−" if part < 0 else "") + units.format_percent(abs(part), 1.0)


def headline(recommendation: Recommendation, name: str = SETTING) -> Message:
    """Returns the recommendation in one line. `name` is Kafka's name of the setting."""
    return setting_headline(
        name,
        recommendation.current_cost.interval_bytes,
        recommendation.value,
        is_known=recommendation.is_today_known,
    )


def setting_headline(name: str, current: int, value: int, *, is_known: bool) -> Message:
    """Returns a message saying that a setting stays or changes.

    Args:
        is_known: whether the current value is known; otherwise it is assumed.
    """
    if current == value:
        key = "keep" if is_known else "no_change_unknown"
        return message(f"tuning_answer.{key}", name=name, value=value)
    key = "change" if is_known else "change_unknown"
    return message(f"tuning_answer.{key}", name=name, current=current, value=value)


def main_reasons(recommendation: Recommendation) -> tuple[Reason, ...]:
    """Returns the decisive reasons: those whose code is not in `DETAIL_CODES`."""
    return tuple(reason for reason in recommendation.reasons if reason.code not in DETAIL_CODES)


def describe_reason(reason: Reason) -> Message:
    values = reason.plain_values
    if reason.code == "topic-by-topic":
        return _describe_topics("interval_topics", reason.values["changing"])
    if reason.code in _DERIVED_VALUES:
        values |= _DERIVED_VALUES[reason.code](reason.values)
    variant = ""
    if values.get("is_default"):
        variant = "-default"
    elif reason.code == "tiny-batches" and values["single_share"] > 0.5:
        variant = "-single"
    return message(f"tuning_reason.{SHARED_KEYS.get(reason.code, reason.code)}{variant}", **values)


def describe_gain(gain: Gain) -> Message:
    low, high = sorted((abs(gain.index_share.low), abs(gain.index_share.high)))
    return message(
        f"tuning_reason.gain_{'shrinks' if gain.index_share.typical >= 0 else 'grows'}",
        p99=_describe_saving(gain.p99_us),
        mean=_describe_saving(gain.mean_us),
        share=abs(gain.index_share.typical),
        low=low,
        high=high,
    )


def _describe_saving(saving: Range) -> Message:
    """Returns a text such as "18.9 µs (15.8 to 42 µs) less".

    If the range goes from a loss to a saving, the text gives both ends.
    """
    if saving.low >= 0:
        return message("tuning_reason.less", us=format_us_range(saving))
    if saving.high <= 0:
        cost = Range(-saving.high, -saving.typical, -saving.low)
        return message("tuning_reason.more", us=format_us_range(cost))
    key = "more_or_less_saves" if saving.typical > 0 else "more_or_less"
    us = abs(saving.typical)
    return message(f"tuning_reason.{key}", us=us, low=-saving.low, high=saving.high)


def _budget_values(values: Mapping) -> dict[str, object]:
    """Returns the interval, and for each budget a message that compares the cost with the limit."""
    cost = values["at"]
    costs = values["costs"]
    origin = "calibrated" if costs.calibrated else "measured"
    uses = budget_usage(cost, values["budgets"])
    states = {name: "over" if name in values["missed"] else "inside" for name in uses}
    allowed_us = values["budgets"].p99_us
    if states.get("p99") == "over" and cost.p99_us.typical <= allowed_us:
        states["p99"] = "over_at_worst"
    parts = [
        message(
            f"tuning_reason.p99_{states.get('p99', 'unasked')}",
            headers=int(cost.row["headers_p99"]),
            us=cost.p99_us.typical,
            worst=cost.p99_us.high,
            allowed=allowed_us,
            known=message(f"tuning_reason.{'modelled' if costs.is_modelled else origin}"),
        )
    ]
    if "index" in uses:
        share, allowed = uses["index"]
        parts.append(
            message(f"tuning_reason.index_{states['index']}", share=share, allowed=allowed)
        )
    return {"interval": cost.interval_bytes, "parts": tuple(parts)}


def _unmeetable_values(values: Mapping) -> dict[str, object]:
    usage = budget_usage(values["at"], values["budgets"])
    exceeded = tuple(
        message(f"tuning_reason.over_{name}", used=usage[name][0], allowed=usage[name][1])
        for name in values["missed"]
    )
    return {"missed": exceeded}


def _cold_values(values: Mapping) -> dict[str, object]:
    cost = values["at"]
    return {
        "index": cost.index_reads,
        "reads": cost.cold_reads_mean,
        "storage": values["costs"].storage.name,
        "us": format_us_range(cost.cold_mean_us),
    }


def _describe_topics(key: str, changed_values: Mapping[str, int]) -> Message:
    if not changed_values:
        return message(f"tuning_answer.{key}_none")
    names = [
        message("tuning_reason.topic", name=name, interval=value)
        for name, value in changed_values.items()
    ]
    return message(f"tuning_answer.{key}", n=len(names), names=describe_names(names))


def describe_names(names: Sequence[str | Message]) -> Message:
    """Returns a message with the first five names and the number of the others."""
    first = tuple(names[:MAX_NAMES])
    others = len(names) - MAX_NAMES
    if others > 0:
        return message("common.list_and_more", names=first, n=others)
    return message("common.names", names=first)


# computes the values that a message needs in addition to those of its reason
_DERIVED_VALUES: dict[ReasonCode, Callable[[Mapping], dict[str, object]]] = {
    "most-batches-indexed": lambda values: {
        "indexable": values["of"],
        "share": (values["entries"], values["of"]),
    },
    "within-budget": _budget_values,
    "over-budget": _budget_values,
    **dict.fromkeys(
        ("coarser", "denser"),
        lambda values: {"on_disk": message("tuning_reason.on-disk", **values)},
    ),
    "unmeetable": _unmeetable_values,
    **dict.fromkeys(
        ("faster", "faster-too-little", "smaller"),
        lambda values: {"gain": describe_gain(values["gain"])},
    ),
    "smaller-too-little": lambda values: {
        "saved": format_share(values["gain"].index_share.typical)
    },
    "tiny-batches": lambda values: {"header": (HEADER_BYTES, values["batch_bytes"])},
    "cold": _cold_values,
}


def describe_limits(limits: SegmentLimits) -> Message:
    full_bytes = limits.ends_bytes[limits.binding]
    limit = limits.binding if full_bytes else "every_append"
    return message(f"tuning_answer.limit_{limit}", full=full_bytes, safe=limits.safe_index_bytes)


def describe_price(cost: IntervalCost) -> Message:
    """Returns a message: the µs that a lookup saves per MB of index added to each GiB of log."""
    return message(
        "tuning_answer.price",
        interval=cost.interval_bytes,
        us=cost.price_us,
        share=(cost.price_us, FETCH_US),
    )


def describe_known(case: TuningCase, costs: LookupCosts) -> Message:
    """Returns a message saying which numbers of a case are counted, estimated or modelled."""
    each = costs.with_one_read_share(case.measurement.one_read_share).each_us
    how = message("tuning_answer.presets")
    if costs.calibrated:
        how = message("tuning_answer.calibrated", day=costs.calibrated)
    return message(
        "tuning_answer.known", entries=_describe_entries(case), how=how, **each._asdict()
    )


def _describe_entries(case: TuningCase) -> Message:
    offsets, times = case.replayed_entries
    if case.sample and not case.sample.is_whole:
        return message(
            "tuning_answer.estimated",
            offsets=offsets,
            times=times,
            sampled=case.sample.sampled_bytes,
            log=case.sample.log_bytes,
            windows=len(case.sample.windows),
            segments=message("common.n_segments", n=case.sample.segments),
        )
    there_offsets, there_times = case.disk_entries or (None, None)
    key = "exact_as_replayed"
    if case.disk_entries is not None:
        key = "exact_same" if case.disk_entries == case.replayed_entries else "exact_other"
    return message(
        f"tuning_answer.{key}",
        offsets=offsets,
        times=times,
        there_offsets=there_offsets,
        there_times=there_times,
    )


def describe_segment_reason(advice: SegmentSizeAdvice) -> Message:
    if advice.reason == "topic-by-topic":
        return _describe_topics("segment_topics", advice.changing)
    today = advice.today
    retained_bytes = advice.retained_bytes or 0.0
    return message(
        f"tuning_answer.segment_{advice.reason.replace('-', '_')}",
        ended=round(today.ended_bytes),
        size=round(retained_bytes),
        share=today.ended_bytes / max(1.0, retained_bytes),
        maps=int(today.maps.value),
        most=MAX_MAP_COUNT,
        active=round(today.active_bytes.value),
        cause=message(f"roll_cause.{advice.binding}"),
    )


def describe_segment_numbers(numbers: SegmentNumbers) -> Message:
    """Returns a message with the numbers that depend on segment.bytes, each with a `Basis`."""
    named_numbers = {
        "overshoot": numbers.overshoot_bytes,
        "active": numbers.active_bytes,
        "recovered": numbers.recovered_bytes,
        "maps": numbers.maps,
    }
    parts = tuple(
        message(
            f"tuning_answer.segment_{name}_number",
            value=round(number.value),
            most=MAX_MAP_COUNT,
            known=message(f"tuning_answer.known_{number.basis}"),
        )
        for name, number in named_numbers.items()
        if number is not None
    )
    return message("common.clauses", parts=parts)


def alter_line(name: str, value: object, topic: str | None) -> str:
    """Returns the kafka-configs.sh command that changes a setting of a topic.

    If `topic` is None, the command changes the default of all brokers. Brokers have a different
    name for the setting, such as log.index.interval.bytes.
    """
    entity = f"topics --entity-name {topic}" if topic is not None else "brokers --entity-default"
    setting_name = name if topic is not None else TOPIC_SETTINGS[name].broker_names[0][0]
    return (
        f"kafka-configs.sh --bootstrap-server {BOOTSTRAP} --alter --entity-type {entity} "
        f"--add-config {setting_name}={value}"
    )


def describe_reach(name: str) -> Message:
    if name in NEW_SEGMENTS:
        return message("tuning_answer.reaches_new_segments", name=name)
    key = "reaches_next_append" if name in AT_ONCE else "reaches_at_once"
    return message(f"tuning_answer.{key}", name=name)
