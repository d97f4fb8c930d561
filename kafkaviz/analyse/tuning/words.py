"""Reasons of a recommendation in words, the line that changes a setting, and what such a change
reaches.
"""

from collections.abc import Callable, Mapping, Sequence

from kafkaviz import units
from kafkaviz.analyse.cost_model import Range
from kafkaviz.analyse.limits import OFFSET_INDEX, SIZE, TIME, TIME_INDEX
from kafkaviz.analyse.tuning.consequences import Limits
from kafkaviz.analyse.tuning.gain import Gain
from kafkaviz.analyse.tuning.measured import SETTING
from kafkaviz.analyse.tuning.priced import At, spent
from kafkaviz.analyse.tuning.reasons import Reason
from kafkaviz.analyse.tuning.rule import Recommendation, Verdict
from kafkaviz.analyse.unused import Unused, marks
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


def us(value: float) -> str:
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


def us_range(one: Range) -> str:
    """42 µs (34 to 92 µs)."""
    low, high = us(one.low), us(one.high)
    if low.split()[1] == high.split()[1]:
        low = low.split()[0]
    return f"{us(one.typical)} ({low} to {high})"


def share(part: float) -> str:
    """A share of the log, which may be below 0."""
    return ("−" if part < 0 else "") + units.share(abs(part), 1.0)


def headline(one: Recommendation, name: str = SETTING) -> str:
    """The answer in a line. name: that of the setting, a topic's or the broker's."""
    if one.verdict == Verdict.KEEP:
        return f"keep {name} = {one.value}"
    return f"change {name} from {one.today.interval_bytes} to {one.value}"


def words(reason: Reason) -> str:
    """One reason as a sentence."""
    return _WORDS[reason.code](reason.values)


def gain_words(gain: Gain) -> str:
    """What a change brings, each number with its range."""
    index = (
        f"the index {'shrinks' if gain.index_share.typical >= 0 else 'grows'} by "
        f"{share(abs(gain.index_share.typical))} of the log"
    )
    ends = sorted((abs(gain.index_share.low), abs(gain.index_share.high)))
    cores = f", and {_signed(gain.cores.typical)} cores" if gain.cores else ""
    lookups = f"the p99 lookup takes {_less(gain.p99_us)}, the mean one {_less(gain.mean_us)}"
    return f"{lookups}; {index} ({share(ends[0])} to {share(ends[1])}){cores}"


def _less(one: Range) -> str:
    """18.9 µs (15.8 to 42 µs) less; of a range around 0 both ends with their sign."""
    if one.low >= 0:
        return f"{us_range(one)} less"
    if one.high <= 0:
        return f"{us_range(Range(-one.high, -one.typical, -one.low))} more"
    return f"{us(-one.typical)} more or less ({us(one.low)} to {us(one.high)} less)"


def _signed(cores: float) -> str:
    return f"{abs(cores):.2f} {'fewer' if cores >= 0 else 'more'}"


def _budget(values: Mapping) -> str:
    at, budgets, missed, costs = values["at"], values["budgets"], values["missed"], values["costs"]
    known = (
        "calibrated"
        if costs.calibrated
        else "modelled"
        if costs.is_modelled
        else "measured on one machine"
    )
    told = f"p99 of {int(at.row['headers_p99'])} headers takes {us_range(at.p99_us)} warm, {known}"
    if budgets.p99_us is not None:
        told += f"; {us(budgets.p99_us)} are allowed"
    if missed:
        return (
            f"at {at.interval_bytes} the high end of "
            f"{' and '.join(BUDGET_NAMES[one] for one in missed)} is over the budget: {told}"
        )
    met = "every budget is met" if spent(at, budgets) else "no budget is given"
    return f"at {at.interval_bytes} {met}: {told}"


def _every(values: Mapping) -> str:
    which = "the default " if values["is_default"] else ""
    return (
        f"{which}{values['interval']} already indexes every batch but a segment's first: no "
        "smaller interval can add an entry"
    )


def _most(values: Mapping) -> str:
    which = "the default " if values["is_default"] else ""
    found = (
        f"{values['entries']} of the {values['of']} batches that can have an entry, "
        f"{units.share(values['entries'], values['of'])}"
    )
    return f"{which}{values['interval']} already indexes {found}"


def _plateau(values: Mapping) -> str:
    return (
        f"below your smallest batch, {values['least_batch_bytes']} B, nothing changes: every such "
        "interval gives the same index"
    )


def _faster(values: Mapping) -> str:
    return f"{values['to']} instead of {values['from']}: {gain_words(values['gain'])}"


def _faster_too_little(values: Mapping) -> str:
    gain = gain_words(values["gain"])
    return (
        f"with {values['to']} {gain}; a change is worth it where the low end of what p99 gains is "
        f"above {us(values['least_us'])}"
    )


def _unmeetable(values: Mapping) -> str:
    taken = spent(values["at"], values["budgets"])
    missed = (
        (
            f"{BUDGET_NAMES[one]} is {amount(one, taken[one][0])} of {amount(one, taken[one][1])} "
            "allowed"
        )
        for one in values["missed"]
    )
    return (
        f"no interval meets every budget: {values['to']} comes nearest, and with it "
        f"{' and '.join(missed)}"
    )


def _cores(value: float) -> str:
    """0.50; of less than a hundredth the first digit that is none: 0.0001."""
    return (
        f"{value:.2f}"
        if value >= 0.01 or value <= 0
        else f"{value:.1g}"
        if value >= 0.0001
        else "< 0.0001"
    )


def amount(name: str, value: float) -> str:
    """What a budget allows, in its unit. name: "p99", "cold-p99", "cores" or "index"."""
    return _cores(value) if name == "cores" else share(value) if name == "index" else us(value)


def _smaller(values: Mapping) -> str:
    return f"{values['to']} instead of {values['from']}: {gain_words(values['gain'])}"


def _smaller_too_little(values: Mapping) -> str:
    saved = share(values["gain"].index_share.typical)
    return (
        f"going up to {values['to']} would still fit the budgets and save {saved} of the log: too "
        "little to be worth a change"
    )


def _tiered(values: Mapping) -> str:
    cached = f"{values['cached_segments_now']:.0f} to {values['cached_segments_other']:.0f}"
    carried = share(values["carried_share_other"])
    return (
        f"with remote storage the index cache of 1 GiB then holds {cached} segments; a read "
        f"carries {carried} of a fetch for nothing"
    )


def _cold(values: Mapping) -> str:
    at, costs = values["at"], values["costs"]
    reads = (
        f"{at.index_reads:.1f} reads of the index and {at.cold_reads_mean:.1f} of the .log from "
        f"{costs.storage.name}"
    )
    return f"a lookup that finds nothing in memory: {reads} on average, {us_range(at.cold_mean_us)}"


def _tiny(values: Mapping) -> str:
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


def _followers(values: Mapping) -> str:
    fetch = units.size(values["append_bytes"])
    headers = f"{values['headers_mean']:.0f} headers on average and {values['headers_p99']} at p99"
    return (
        f"up to 3.9.0 and in 4.0.0 a follower that appends {fetch} at once indexes that once "
        f"(KAFKA-806): there a lookup reads {headers}"
    )


def _too_little_data(values: Mapping) -> str:
    return (
        f"{values['batches']} batches are too few to tell a gain from chance: {values['to']} is "
        "what the budgets alone would choose"
    )


def _on_disk(values: Mapping) -> str:
    there = (
        f"the index on disk has {values['entries']} entries, and a lookup in it reads "
        f"{values['headers_p99']} headers at p99"
    )
    again = f"{values['entries_replayed']} and {values['headers_p99_replayed']}"
    return f"{there}; replayed batch by batch {values['interval']} has {again}"


def _other_index(values: Mapping, how: str) -> str:
    why = "another interval made it, or damage: what a change would bring is not known"
    return f"{_on_disk(values)}. Its entries lie {how} than restarts explain: {why}"


def _topics(values: Mapping) -> str:
    changing = values["changing"]
    alone = values["topics"] == 1
    if not changing and alone:
        return "its one topic gains nothing by another interval"
    if not changing:
        return f"of {values['topics']} topics none gains by another interval"
    named = ", ".join(f"{name} ({value})" for name, value in list(changing.items())[:5])
    more = f" and {len(changing) - 5} more" if len(changing) > 5 else ""
    many = (
        "its one topic would gain by an interval of its own"
        if alone
        else (
            f"{len(changing)} of {values['topics']} topics would gain by an interval of their own"
        )
    )
    return f"{many}: {named}{more}; the broker's default stays"


_WORDS: dict[str, Callable[[Mapping], str]] = {
    "every-batch-indexed": _every,
    "most-batches-indexed": _most,
    "plateau": _plateau,
    "within-budget": _budget,
    "over-budget": _budget,
    "on-disk": _on_disk,
    "coarser": lambda values: _other_index(values, "farther apart"),
    "denser": lambda values: _other_index(values, "closer together"),
    "coarse": lambda values: COARSE,
    "followers": _followers,
    "too-little-data": _too_little_data,
    "unmeetable": _unmeetable,
    "bound-tiered": lambda values: f"{REMOTE}: not above {values['most_bytes']:.0f} B",
    "bound-hdd": lambda values: f"{SEEKS}: not above a batch, {values['most_bytes']:.0f} B",
    "faster": _faster,
    "faster-too-little": _faster_too_little,
    "smaller": _smaller,
    "smaller-too-little": _smaller_too_little,
    "smaller-for-tiered": _tiered,
    "topic-by-topic": _topics,
    "tiny-batches": _tiny,
    "two-headers": lambda values: TWO_HEADERS,
    "cold": _cold,
    "old-segments": lambda values: OLD_SEGMENTS,
}


CODES = tuple(_WORDS)


def left_out_words(names: Sequence[Unused], metadata_left_out: bool) -> str:
    """What no number of a source counts: without 3 segments not in use (-delete, .deleted); ""
    where that is nothing.
    """
    number = f"{units.many(len(names), 'segment')} not in use ({marks(names)})" if names else ""
    both = [one for one in (number, METADATA_TOPIC if metadata_left_out else "") if one]
    return " and ".join(f"without {one}" for one in both)


def limit_words(one: Limits) -> str:
    """Which limit ends a segment first, and what an index needs."""
    full = units.size(one.ends_bytes[one.binding])
    safe = (
        f"segment.index.bytes is safe from {one.safe_index_bytes} on: no index is full before "
        "segment.bytes are"
    )
    if not one.ends_bytes[one.binding]:
        return f"each append starts a segment: its time index has room for no entry; {safe}"
    first = {
        SIZE: f"is full by segment.bytes, {full}",
        TIME: f"ends by segment.ms, at the speed of its timestamps at {full} of .log",
        OFFSET_INDEX: f"ends by its full offset index, at {full} of .log",
        TIME_INDEX: f"ends by its full time index, at {full} of .log",
    }[one.binding]
    return f"a segment {first}; {safe}"


def footprint_words(one: Mapping[str, int], index_files: tuple[int, int] | None) -> str:
    """Files, maps and what is preallocated. one: consequences.footprint_at."""
    stale = (
        f" and up to {one['stale_maps']} dead ones that rolls leave (KAFKA-19390)"
        if one["stale_maps"]
        else ""
    )
    told = (
        f"{one['files']} files; {one['maps']} maps if every segment is loaded{stale}, "
        f"{one['maps_left']} are left of vm.max_map_count"
    )
    active = (
        f"active segments' indexes look {units.size(one['preallocated_bytes'])} long while a "
        "broker runs"
    )
    if index_files is None:
        return f"{told}; {active}"
    return (
        f"{told}; index files look {units.size(index_files[0])} long here and take "
        f"{units.size(index_files[1])}; {active}"
    )


def price_words(at: At) -> str:
    """What the interval says that index bytes are worth."""
    return (
        f"{SETTING} = {at.interval_bytes} prices 1 MB of index a GiB of log at {us(at.price_us)} "
        "of a mean lookup"
    )


def alter_line(name: str, value: object, topic: str | None) -> str:
    """The command of Kafka's that sets it, of a topic or, without one, of all brokers by the
    broker's name for it.
    """
    whose = f"topics --entity-name {topic}" if topic is not None else "brokers --entity-default"
    named = name if topic is not None else TOPIC_SETTINGS[name].broker_names[0][0]
    return (
        f"kafka-configs.sh --bootstrap-server {BOOTSTRAP} --alter --entity-type {whose} "
        f"--add-config {named}={value}"
    )


def reach_words(name: str) -> str:
    """What a changed setting reaches."""
    if name in NEW_SEGMENTS:
        return (
            f"{name} reaches segments that are made from then on; those that are there keep their "
            "indexes"
        )
    return f"{name} counts from the next append on" if name in AT_ONCE else f"{name} counts at once"
