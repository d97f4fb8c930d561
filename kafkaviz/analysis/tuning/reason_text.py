"""Reasons of a recommendation in words, the line that changes a setting, and what such a change
reaches.
"""

from collections.abc import Callable, Mapping, Sequence

from kafkaviz import units
from kafkaviz.analysis.cost_model import Range
from kafkaviz.analysis.inactive_segments import InactiveSegment, join_marks
from kafkaviz.analysis.limits import OFFSET_INDEX, SIZE, TIME, TIME_INDEX
from kafkaviz.analysis.tuning.consequences import SegmentLimits
from kafkaviz.analysis.tuning.gain import Gain
from kafkaviz.analysis.tuning.interval_price import IntervalPrice, budget_usage
from kafkaviz.analysis.tuning.log_measurement import SETTING
from kafkaviz.analysis.tuning.reasons import Reason
from kafkaviz.analysis.tuning.recommendation import Recommendation, TuningVerdict
from kafkaviz.config_def import TOPIC_SETTINGS
from kafkaviz.format.names import METADATA_TOPIC

# LogSegment takes them when it is made
NEW_SEGMENTS = ("index.interval.bytes", "segment.index.bytes")
# UnifiedLog asks for them at each append
AT_ONCE = ("segment.bytes", "segment.ms", "segment.jitter.ms")
BOOTSTRAP = "<broker>:9092"  # whoever runs it puts a name there
BUDGET_NAMES = {
    "p99": "p99 of a warm lookup",
    "cold-p99": "p99 of a cold lookup",
    "cores": "the processor's share",
    "index": "the index's size",
}
REMOTE = "with remote storage what a read skips is carried over the network"
SEEKS = "on a disk that seeks each header of a large batch is a seek"
COARSE = (
    "entries stand for whole appends (KAFKA-806): up to 3.9.0 and in 4.0.0 a follower's index is "
    "as coarse as its fetches, whatever the interval is; 3.9.1, 4.0.1 and later index each batch"
)
TWO_HEADERS = (
    "a fetch from the first record of a batch reads two headers at least: the key of an entry is "
    "its batch's last offset"
)
OLD_SEGMENTS = (
    "segments that are there: an index is not written anew, and the active segment keeps the "
    "interval it was made with"
)


def format_us(value: float) -> str:
    """A time: 0.8 µs, 42 µs, 1.4 ms."""
    if 0 < abs(value) < 0.05:
        return "< 0.1 µs"
    if abs(value) < 9.95:
        return f"{value:.1f} µs"
    return (
        f"{value:.0f} µs"
        if abs(value) < 999.5
        else f"{value / 1000:.1f} ms"
        if abs(value) < 999_500
        else f"{value / 1e6:.1f} s"
    )


def format_us_range(value: Range) -> str:
    """42 µs (34 to 92 µs)."""
    low, high = format_us(value.low), format_us(value.high)
    if low.split()[1] == high.split()[1]:
        low = low.split()[0]
    return f"{format_us(value.typical)} ({low} to {high})"


def format_share(part: float) -> str:
    """A share of the log, which may be below 0."""
    return ("−" if part < 0 else "") + units.share(abs(part), 1.0)


def headline(recommendation: Recommendation, name: str = SETTING) -> str:
    """The answer in a line. name: that of the setting, a topic's or the broker's."""
    if recommendation.verdict == TuningVerdict.KEEP:
        return f"keep {name} = {recommendation.value}"
    return (
        f"change {name} from {recommendation.current_price.interval_bytes} to "
        f"{recommendation.value}"
    )


def describe_reason(reason: Reason) -> str:
    """One reason as a sentence."""
    return _DESCRIPTIONS[reason.code](reason.values)


def describe_gain(gain: Gain) -> str:
    """What a change brings, each number with its range."""
    index = (
        f"the index {'shrinks' if gain.index_share.typical >= 0 else 'grows'} by "
        f"{format_share(abs(gain.index_share.typical))} of the log"
    )
    ends = sorted((abs(gain.index_share.low), abs(gain.index_share.high)))
    cores = f", and {_describe_cores(gain.cores.typical)} cores" if gain.cores else ""
    lookups = (
        f"the p99 lookup takes {_describe_saving(gain.p99_us)}, the mean one "
        f"{_describe_saving(gain.mean_us)}"
    )
    return f"{lookups}; {index} ({format_share(ends[0])} to {format_share(ends[1])}){cores}"


def _describe_saving(saving: Range) -> str:
    """18.9 µs (15.8 to 42 µs) less; of a range around 0 both ends with their sign."""
    if saving.low >= 0:
        return f"{format_us_range(saving)} less"
    if saving.high <= 0:
        return f"{format_us_range(Range(-saving.high, -saving.typical, -saving.low))} more"
    return (
        f"{format_us(-saving.typical)} more or less ({format_us(saving.low)} to "
        f"{format_us(saving.high)} less)"
    )


def _describe_cores(cores: float) -> str:
    return f"{abs(cores):.2f} {'fewer' if cores >= 0 else 'more'}"


def _describe_budget(values: Mapping) -> str:
    price, budgets, exceeded, costs = (
        values["at"],
        values["budgets"],
        values["missed"],
        values["costs"],
    )
    origin = (
        "calibrated"
        if costs.calibrated
        else "modelled"
        if costs.is_modelled
        else "measured on one machine"
    )
    text = (
        f"p99 of {int(price.row['headers_p99'])} headers takes {format_us_range(price.p99_us)} "
        f"warm, {origin}"
    )
    if budgets.p99_us is not None:
        text += f"; {format_us(budgets.p99_us)} are allowed"
    if exceeded:
        return (
            f"at {price.interval_bytes} the high end of "
            f"{' and '.join(BUDGET_NAMES[name] for name in exceeded)} is over the budget: {text}"
        )
    budget_text = "every budget is met" if budget_usage(price, budgets) else "no budget is given"
    return f"at {price.interval_bytes} {budget_text}: {text}"


def _describe_every_batch(values: Mapping) -> str:
    default_text = "the default " if values["is_default"] else ""
    return (
        f"{default_text}{values['interval']} already indexes every batch but a segment's first: no "
        "smaller interval can add an entry"
    )


def _describe_most_batches(values: Mapping) -> str:
    default_text = "the default " if values["is_default"] else ""
    count_text = (
        f"{values['entries']} of the {values['of']} batches that can have an entry, "
        f"{units.share(values['entries'], values['of'])}"
    )
    return f"{default_text}{values['interval']} already indexes {count_text}"


def _describe_plateau(values: Mapping) -> str:
    return (
        f"below your smallest batch, {values['least_batch_bytes']} B, nothing changes: every such "
        "interval gives the same index"
    )


def _describe_faster(values: Mapping) -> str:
    return f"{values['to']} instead of {values['from']}: {describe_gain(values['gain'])}"


def _describe_faster_too_little(values: Mapping) -> str:
    gain = describe_gain(values["gain"])
    return (
        f"with {values['to']} {gain}; a change is worth it where the low end of what p99 gains is "
        f"above {format_us(values['least_us'])}"
    )


def _describe_unmeetable(values: Mapping) -> str:
    use_by_name = budget_usage(values["at"], values["budgets"])
    exceeded = (
        (
            f"{BUDGET_NAMES[name]} is {format_amount(name, use_by_name[name][0])} of "
            f"{format_amount(name, use_by_name[name][1])} allowed"
        )
        for name in values["missed"]
    )
    return (
        f"no interval meets every budget: {values['to']} comes nearest, and with it "
        f"{' and '.join(exceeded)}"
    )


def _format_cores(value: float) -> str:
    """0.50; of less than a hundredth the first digit that is none: 0.0001."""
    return (
        f"{value:.2f}"
        if value >= 0.01 or value <= 0
        else f"{value:.1g}"
        if value >= 0.0001
        else "< 0.0001"
    )


def format_amount(name: str, value: float) -> str:
    """What a budget allows, in its unit. name: "p99", "cold-p99", "cores" or "index"."""
    return (
        _format_cores(value)
        if name == "cores"
        else format_share(value)
        if name == "index"
        else format_us(value)
    )


def _describe_smaller(values: Mapping) -> str:
    return f"{values['to']} instead of {values['from']}: {describe_gain(values['gain'])}"


def _describe_smaller_too_little(values: Mapping) -> str:
    saved_text = format_share(values["gain"].index_share.typical)
    return (
        f"going up to {values['to']} would still fit the budgets and save {saved_text} of the log: "
        "too little to be worth a change"
    )


def _describe_tiered(values: Mapping) -> str:
    cached_text = f"{values['cached_segments_now']:.0f} to {values['cached_segments_other']:.0f}"
    carried_text = format_share(values["carried_share_other"])
    return (
        f"with remote storage the index cache of 1 GiB then holds {cached_text} segments; a read "
        f"carries {carried_text} of a fetch for nothing"
    )


def _describe_cold(values: Mapping) -> str:
    price, costs = values["at"], values["costs"]
    reads = (
        f"{price.index_reads:.1f} reads of the index and {price.cold_reads_mean:.1f} of the .log "
        f"from {costs.storage.name}"
    )
    return (
        f"a lookup that finds nothing in memory: {reads} on average, "
        f"{format_us_range(price.cold_mean_us)}"
    )


def _describe_tiny(values: Mapping) -> str:
    header = units.share(61, values["batch_bytes"])
    single = (
        f", and {units.share(values['single_share'], 1)} of them hold one record"
        if values["single_share"] > 0.5
        else ""
    )
    return (
        f"batches of {values['batch_bytes']:.0f} B{single}: {header} of the log is batch headers, "
        "and each is a header to read. A producer that waits a few milliseconds (linger.ms) cuts "
        "both; an interval only trades headers for index"
    )


def _describe_followers(values: Mapping) -> str:
    fetch = units.size(values["append_bytes"])
    headers = f"{values['headers_mean']:.0f} headers on average and {values['headers_p99']} at p99"
    return (
        f"up to 3.9.0 and in 4.0.0 a follower that appends {fetch} at once indexes that once "
        f"(KAFKA-806): there a lookup reads {headers}"
    )


def _describe_too_little_data(values: Mapping) -> str:
    return (
        f"{values['batches']} batches are too few to tell a gain from chance: {values['to']} is "
        "what the budgets alone would choose"
    )


def _describe_on_disk(values: Mapping) -> str:
    disk_text = (
        f"the index on disk has {values['entries']} entries, and a lookup in it reads "
        f"{values['headers_p99']} headers at p99"
    )
    replay_text = f"{values['entries_replayed']} and {values['headers_p99_replayed']}"
    return f"{disk_text}; replayed batch by batch {values['interval']} has {replay_text}"


def _describe_other_index(values: Mapping, spacing: str) -> str:
    cause = "another interval made it, or damage: what a change would bring is not known"
    return f"{_describe_on_disk(values)}. Its entries lie {spacing} than restarts explain: {cause}"


def _describe_topics(values: Mapping) -> str:
    changed_intervals = values["changing"]
    is_single = values["topics"] == 1
    if not changed_intervals and is_single:
        return "its one topic gains nothing by another interval"
    if not changed_intervals:
        return f"of {values['topics']} topics none gains by another interval"
    interval_texts = ", ".join(
        f"{name} ({value})" for name, value in list(changed_intervals.items())[:5]
    )
    more = f" and {len(changed_intervals) - 5} more" if len(changed_intervals) > 5 else ""
    count_text = (
        "its one topic would gain by an interval of its own"
        if is_single
        else (
            f"{len(changed_intervals)} of {values['topics']} topics would gain by an interval "
            "of their own"
        )
    )
    return f"{count_text}: {interval_texts}{more}; the broker's default stays"


_DESCRIPTIONS: dict[str, Callable[[Mapping], str]] = {
    "every-batch-indexed": _describe_every_batch,
    "most-batches-indexed": _describe_most_batches,
    "plateau": _describe_plateau,
    "within-budget": _describe_budget,
    "over-budget": _describe_budget,
    "on-disk": _describe_on_disk,
    "coarser": lambda values: _describe_other_index(values, "farther apart"),
    "denser": lambda values: _describe_other_index(values, "closer together"),
    "coarse": lambda _values: COARSE,
    "followers": _describe_followers,
    "too-little-data": _describe_too_little_data,
    "unmeetable": _describe_unmeetable,
    "bound-tiered": lambda values: f"{REMOTE}: not above {values['most_bytes']:.0f} B",
    "bound-hdd": lambda values: f"{SEEKS}: not above a batch, {values['most_bytes']:.0f} B",
    "faster": _describe_faster,
    "faster-too-little": _describe_faster_too_little,
    "smaller": _describe_smaller,
    "smaller-too-little": _describe_smaller_too_little,
    "smaller-for-tiered": _describe_tiered,
    "topic-by-topic": _describe_topics,
    "tiny-batches": _describe_tiny,
    "two-headers": lambda _values: TWO_HEADERS,
    "cold": _describe_cold,
    "old-segments": lambda _values: OLD_SEGMENTS,
}


CODES = tuple(_DESCRIPTIONS)


def describe_left_out(names: Sequence[InactiveSegment], *, metadata_left_out: bool) -> str:
    """What no number of a source counts: without 3 segments not in use (-delete, .deleted); ""
    where that is nothing.
    """
    number = (
        f"{units.pluralize(len(names), 'segment')} not in use ({join_marks(names)})"
        if names
        else ""
    )
    parts = [part for part in (number, METADATA_TOPIC if metadata_left_out else "") if part]
    return " and ".join(f"without {part}" for part in parts)


def describe_limits(limits: SegmentLimits) -> str:
    """Which limit ends a segment first, and what an index needs."""
    full_size = units.size(limits.ends_bytes[limits.binding])
    safe_text = (
        f"segment.index.bytes is safe from {limits.safe_index_bytes} on: no index is full before "
        "segment.bytes are"
    )
    if not limits.ends_bytes[limits.binding]:
        return f"each append starts a segment: its time index has room for no entry; {safe_text}"
    first = {
        SIZE: f"is full by segment.bytes, {full_size}",
        TIME: f"ends by segment.ms, at the speed of its timestamps at {full_size} of .log",
        OFFSET_INDEX: f"ends by its full offset index, at {full_size} of .log",
        TIME_INDEX: f"ends by its full time index, at {full_size} of .log",
    }[limits.binding]
    return f"a segment {first}; {safe_text}"


def describe_footprint(footprint: Mapping[str, int], index_files: tuple[int, int] | None) -> str:
    """Files, maps and what is preallocated. footprint: consequences.footprint_at."""
    stale_text = (
        f" and up to {footprint['stale_maps']} dead ones that rolls leave (KAFKA-19390)"
        if footprint["stale_maps"]
        else ""
    )
    files_text = (
        f"{footprint['files']} files; {footprint['maps']} maps if every segment is loaded"
        f"{stale_text}, "
        f"{footprint['maps_left']} are left of vm.max_map_count"
    )
    active_text = (
        f"active segments' indexes look {units.size(footprint['preallocated_bytes'])} long while a "
        "broker runs"
    )
    if index_files is None:
        return f"{files_text}; {active_text}"
    return (
        f"{files_text}; index files look {units.size(index_files[0])} long here and take "
        f"{units.size(index_files[1])}; {active_text}"
    )


def describe_price(price: IntervalPrice) -> str:
    """What the interval says that index bytes are worth."""
    return (
        f"{SETTING} = {price.interval_bytes} prices 1 MB of index a GiB of log at "
        f"{format_us(price.price_us)} of a mean lookup"
    )


def alter_line(name: str, value: object, topic: str | None) -> str:
    """The command of Kafka's that sets it, of a topic or, without one, of all brokers by the
    broker's name for it.
    """
    entity = f"topics --entity-name {topic}" if topic is not None else "brokers --entity-default"
    setting_name = name if topic is not None else TOPIC_SETTINGS[name].broker_names[0][0]
    return (
        f"kafka-configs.sh --bootstrap-server {BOOTSTRAP} --alter --entity-type {entity} "
        f"--add-config {setting_name}={value}"
    )


def describe_reach(name: str) -> str:
    """What a changed setting reaches."""
    if name in NEW_SEGMENTS:
        return (
            f"{name} reaches segments that are made from then on; those that are there keep their "
            "indexes"
        )
    return f"{name} counts from the next append on" if name in AT_ONCE else f"{name} counts at once"
