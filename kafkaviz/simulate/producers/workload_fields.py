"""The keys of a workload file: one list of fields per table."""

from kafkaviz.binary.codec import CODECS
from kafkaviz.messages import Message, message
from kafkaviz.simulate.producers import toml_fields
from kafkaviz.simulate.producers.distributions import (
    CONSTANT,
    EXPONENTIAL,
    LOGNORMAL,
    MAX_NUMBER,
    UNIFORM,
    Spread,
)
from kafkaviz.simulate.producers.toml_fields import (
    LONGEST_MS,
    TomlField,
    ValueCodec,
    choice,
    duration,
    flag,
    list_of,
    moment,
    number,
    table_of,
    text,
    toml_error,
    whole_number,
)
from kafkaviz.simulate.producers.traffic import (
    ARRIVALS,
    CONTENTS,
    MAX_PRODUCERS,
    MAX_RECORDS,
    MAX_VALUE_BYTES,
    RATES,
    TIMESTAMPS,
    Bursts,
    Header,
    RecordKeys,
    TimestampShift,
    TransactionTraffic,
)

_SPREAD = (
    TomlField("shape", choice((UNIFORM, EXPONENTIAL, LOGNORMAL))),
    TomlField("mean", number(0, MAX_NUMBER)),
    TomlField("least", whole_number(0)),
    TomlField("most", whole_number(0)),
    TomlField("sigma", number(0.01, 3)),
)


def spread(least: int, most: int) -> ValueCodec:
    """Returns the kind for a distribution.

    It is an integer; or { least, most }, which is uniform; or { shape, mean, sigma, least, most }.
    """

    def read_spread(value: object, where: Message) -> Spread:
        if not isinstance(value, dict):
            return Spread(CONSTANT, whole_number(least, most).read(value, where))
        distribution = toml_fields.read_table(
            Spread, _SPREAD, {"shape": UNIFORM} | value, where, "toml.key_of_table"
        )
        low = value.get("least", least)
        high = value.get("most", most)
        if not least <= low <= high <= most:
            raise toml_error(
                where, message("toml.spread_outside", low=low, high=high, least=least, most=most)
            )
        if distribution.shape == UNIFORM and (
            not {"least", "most"} <= value.keys() or value.keys() & {"mean", "sigma"}
        ):
            raise toml_error(where, message("toml.spread_without_ends"))
        if distribution.shape != UNIFORM and not (
            "mean" in value and low <= distribution.mean <= high
        ):
            raise toml_error(where, message("toml.spread_mean", low=low, high=high))
        return distribution

    return ValueCodec(read_spread, spread_text)


def spread_text(value: Spread) -> str:
    if value.shape == CONSTANT:
        return str(value.mean)
    parts = [
        line
        for line in toml_fields.lines(value, _SPREAD)
        if value.shape != UNIFORM or not line.startswith("shape")
    ]
    parts += [f"mean = {value.mean!r}"] * (value.shape != UNIFORM and value.mean == Spread.mean)
    parts += [f"least = {value.least}"] * (value.shape == UNIFORM and value.least == Spread.least)
    parts += [f"most = {value.most}"] * (value.shape == UNIFORM and value.most == Spread.most)
    return f"{{ {', '.join(parts)} }}"


_SHARE = number(0, 1)
_ASTRAY = (TomlField("share", _SHARE), TomlField("by_ms", spread(0, MAX_NUMBER)))
_KEYS = (
    TomlField("count", whole_number(1)),
    TomlField("zipf", number(0, 4)),
    TomlField("in_turn", flag()),
    TomlField("prefix", text(1000)),
)
_HEADER = (TomlField("name", text(1000)), TomlField("size_bytes", whole_number(0, 1 << 20)))
_TRANSACTIONS = (
    TomlField("batches", spread(1, 1_000_000)),
    TomlField("abort_share", _SHARE),
    TomlField("leave_open", flag()),
)
_BURSTS = (TomlField("on", duration(1), "on_ms"), TomlField("off", duration(), "off_ms"))
RATE_KEYS = {f"{unit}_per_s": unit for unit in RATES}
ENDS = ("duration", "records", "batches", "bytes")
PHASE = (
    TomlField("name", text(200)),
    TomlField("silence", duration(), "silence_ms"),
    TomlField("duration", duration(1), "duration_ms"),
    TomlField("records", whole_number(1, 1 << 40)),
    TomlField("batches", whole_number(1, 1 << 40)),
    TomlField("bytes", whole_number(1, 1 << 50), "size_bytes"),
    TomlField("arrivals", choice(ARRIVALS)),
    TomlField("bursts", table_of(Bursts, _BURSTS)),
    TomlField("records_per_batch", spread(1, MAX_RECORDS)),
    TomlField("batch_bytes", whole_number(1, 1 << 30)),
    TomlField("value_bytes", spread(0, MAX_VALUE_BYTES)),
    TomlField("null_share", _SHARE),
    TomlField("content", choice(CONTENTS)),
    TomlField("keys", table_of(RecordKeys, _KEYS)),
    TomlField("headers", list_of(table_of(Header, _HEADER), 100)),
    TomlField("codec", choice(CODECS)),
    TomlField("timestamps", choice(TIMESTAMPS)),
    TomlField("clock_ahead", duration(-LONGEST_MS), "clock_ahead_ms"),
    TomlField("events_from", moment(), "events_from_ms"),
    TomlField("events_speed", number(0, 1_000_000)),
    TomlField("late", table_of(TimestampShift, _ASTRAY)),
    TomlField("future", table_of(TimestampShift, _ASTRAY)),
    TomlField("delay", duration(), "delay_ms"),
    TomlField("producers", whole_number(1, MAX_PRODUCERS)),
    TomlField("idempotent", flag()),
    TomlField("transactions", table_of(TransactionTraffic, _TRANSACTIONS)),
    TomlField("leader_epoch", whole_number(0)),
    TomlField("fetch_batches", whole_number(1, 100_000)),
)
WORKLOAD = (
    TomlField("title", text(200)),
    TomlField("story", text()),
    TomlField("topic", text(249)),
    TomlField("partition", whole_number(0)),
    TomlField("start", moment(), "start_ms"),
    TomlField("start_offset", whole_number(0, 1 << 50)),
    TomlField("seed", whole_number(0, (1 << 63) - 1)),
    TomlField("kafka_version", text(20)),
)
