"""The keys of a workload's file: a list a table, by which simulate.sending.workload reads and
writes it.
"""

from kafkaviz.binary.codec import CODECS
from kafkaviz.simulate.sending import toml_fields
from kafkaviz.simulate.sending.draws import CONSTANT, EXPONENTIAL, LOGNORMAL, MOST, UNIFORM, Spread
from kafkaviz.simulate.sending.toml_fields import (
    LONGEST_MS,
    Field,
    Kind,
    choice,
    duration,
    flag,
    inner,
    moment,
    number,
    several,
    text,
    whole,
    wrong,
)
from kafkaviz.simulate.sending.traffic import (
    ARRIVALS,
    CONTENTS,
    MOST_PRODUCERS,
    MOST_RECORDS,
    MOST_VALUE_BYTES,
    RATES,
    TIMESTAMPS,
    Astray,
    Bursts,
    Header,
    Keys,
    Transactions,
)

_SPREAD = (
    Field("shape", choice((UNIFORM, EXPONENTIAL, LOGNORMAL))),
    Field("mean", number(0, MOST)),
    Field("least", whole(0)),
    Field("most", whole(0)),
    Field("sigma", number(0.01, 3)),
)


def spread(least: int, most: int) -> Kind:
    """A whole number; or { least, most }, uniform; or { shape, mean, sigma, least, most }."""

    def read_spread(value: object, where: str) -> Spread:
        if not isinstance(value, dict):
            return Spread(CONSTANT, whole(least, most).read(value, where))
        found = toml_fields.read(Spread, _SPREAD, {"shape": UNIFORM} | value, f"{where}.")
        low, high = value.get("least", least), value.get("most", most)
        if not least <= low <= high <= most:
            raise wrong(where, f"{low} to {high} is not within {least} to {most}")
        if found.shape == UNIFORM and (
            not {"least", "most"} <= value.keys() or value.keys() & {"mean", "sigma"}
        ):
            raise wrong(where, "give least and most, or a shape and a mean")
        if found.shape != UNIFORM and not ("mean" in value and low <= found.mean <= high):
            raise wrong(where, f"give a mean from {low} to {high}")
        return found

    return Kind(read_spread, spread_text)


def spread_text(value: Spread) -> str:
    """As spread reads it."""
    if value.shape == CONSTANT:
        return str(value.mean)
    given = [
        line
        for line in toml_fields.lines(value, _SPREAD)
        if value.shape != UNIFORM or not line.startswith("shape")
    ]
    given += [f"mean = {value.mean!r}"] * (value.shape != UNIFORM and value.mean == Spread.mean)
    given += [f"least = {value.least}"] * (value.shape == UNIFORM and value.least == Spread.least)
    given += [f"most = {value.most}"] * (value.shape == UNIFORM and value.most == Spread.most)
    return f"{{ {', '.join(given)} }}"


_SHARE = number(0, 1)
_ASTRAY = (Field("share", _SHARE), Field("by_ms", spread(0, MOST)))
_KEYS = (
    Field("count", whole(1)),
    Field("zipf", number(0, 4)),
    Field("in_turn", flag()),
    Field("prefix", text(1000)),
)
_HEADER = (Field("name", text(1000)), Field("size_bytes", whole(0, 1 << 20)))
_TRANSACTIONS = (
    Field("batches", spread(1, 1_000_000)),
    Field("abort_share", _SHARE),
    Field("leave_open", flag()),
)
_BURSTS = (Field("on", duration(1), "on_ms"), Field("off", duration(), "off_ms"))
RATE_KEYS = {f"{of}_per_s": of for of in RATES}
ENDS = ("duration", "records", "batches", "bytes")
PHASE = (
    Field("name", text(200)),
    Field("silence", duration(), "silence_ms"),
    Field("duration", duration(1), "duration_ms"),
    Field("records", whole(1, 1 << 40)),
    Field("batches", whole(1, 1 << 40)),
    Field("bytes", whole(1, 1 << 50), "size_bytes"),
    Field("arrivals", choice(ARRIVALS)),
    Field("bursts", inner(Bursts, _BURSTS)),
    Field("records_per_batch", spread(1, MOST_RECORDS)),
    Field("batch_bytes", whole(1, 1 << 30)),
    Field("value_bytes", spread(0, MOST_VALUE_BYTES)),
    Field("null_share", _SHARE),
    Field("content", choice(CONTENTS)),
    Field("keys", inner(Keys, _KEYS)),
    Field("headers", several(inner(Header, _HEADER), 100)),
    Field("codec", choice(CODECS)),
    Field("timestamps", choice(TIMESTAMPS)),
    Field("clock_ahead", duration(-LONGEST_MS), "clock_ahead_ms"),
    Field("events_from", moment(), "events_from_ms"),
    Field("events_speed", number(0, 1_000_000)),
    Field("late", inner(Astray, _ASTRAY)),
    Field("future", inner(Astray, _ASTRAY)),
    Field("delay", duration(), "delay_ms"),
    Field("producers", whole(1, MOST_PRODUCERS)),
    Field("idempotent", flag()),
    Field("transactions", inner(Transactions, _TRANSACTIONS)),
    Field("leader_epoch", whole(0)),
    Field("fetch_batches", whole(1, 100_000)),
)
WORKLOAD = (
    Field("title", text(200)),
    Field("story", text()),
    Field("topic", text(249)),
    Field("partition", whole(0)),
    Field("start", moment(), "start_ms"),
    Field("start_offset", whole(0, 1 << 50)),
    Field("seed", whole(0, (1 << 63) - 1)),
    Field("kafka_version", text(20)),
)
