"""Workloads of every kind, for properties that hold for all of them."""

from hypothesis import strategies as st

from kafkaviz.simulate.producers import traffic
from kafkaviz.simulate.producers.distributions import (
    CONSTANT,
    EXPONENTIAL,
    LOGNORMAL,
    UNIFORM,
    Spread,
)
from kafkaviz.simulate.producers.workload import Workload


def spreads(least: int, most: int) -> st.SearchStrategy[Spread]:
    limits = st.tuples(st.integers(least, most), st.integers(least, most)).map(sorted)
    return st.one_of(
        st.builds(Spread, st.just(CONSTANT), st.integers(least, most)),
        limits.map(lambda ends: Spread(UNIFORM, least=ends[0], most=ends[1])),
        st.builds(Spread, st.just(EXPONENTIAL), st.integers(least, most)),
        st.builds(
            lambda ends, sigma: Spread(LOGNORMAL, sum(ends) / 2, ends[0], ends[1], sigma),
            limits,
            st.floats(0.01, 3),
        ),
    )


def optional(strategy: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(st.none(), strategy)


SHARES = st.floats(0, 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PHASES = st.builds(
    traffic.Phase,
    name=TEXTS,
    duration_ms=optional(st.integers(1, 10**9)),
    records=optional(st.integers(1, 10**6)),
    batches=st.integers(1, 30),
    size_bytes=optional(st.integers(1, 10**6)),
    rate=st.floats(0.001, 1e6),
    rate_of=st.sampled_from(traffic.RATES),
    arrivals=st.sampled_from(traffic.ARRIVALS),
    bursts=optional(st.builds(traffic.Bursts, st.integers(1, 10**6), st.integers(0, 10**6))),
    records_per_batch=spreads(1, 20),
    batch_bytes=st.integers(1, 20_000),
    value_bytes=spreads(0, 300),
    null_share=SHARES,
    content=st.sampled_from(traffic.CONTENTS),
    keys=optional(
        st.builds(traffic.RecordKeys, st.integers(1, 10**6), st.floats(0, 4), st.booleans(), TEXTS)
    ),
    headers=st.lists(
        st.builds(traffic.Header, TEXTS, optional(st.integers(0, 40))), max_size=3
    ).map(tuple),
    codec=st.sampled_from(["none", "gzip", "snappy", "lz4", "zstd"]),
    timestamps=st.sampled_from(traffic.TIMESTAMPS),
    clock_ahead_ms=st.integers(-(10**12), 10**12),
    events_from_ms=optional(st.integers(0, 7 * 10**12)),
    events_speed=st.floats(0, 10**6),
    late=optional(st.builds(traffic.TimestampShift, SHARES, spreads(0, 10**9))),
    future=optional(st.builds(traffic.TimestampShift, SHARES, spreads(0, 10**9))),
    delay_ms=st.integers(0, 10**6),
    producers=st.integers(1, 4),
    idempotent=st.just(True),
    transactions=optional(
        st.builds(traffic.TransactionTraffic, spreads(1, 5), SHARES, st.booleans())
    ),
    fetch_batches=st.integers(1, 5),
)
SILENCES = st.builds(traffic.Phase, name=TEXTS, silence_ms=st.integers(0, 10**10))
WORKLOADS = st.builds(
    Workload,
    phases=st.lists(st.one_of(PHASES, SILENCES), min_size=1, max_size=3).map(tuple),
    title=TEXTS,
    story=TEXTS,
    topic=st.from_regex("[a-z][a-zA-Z0-9._-]{0,20}", fullmatch=True),
    partition=st.integers(0, 100),
    start_ms=st.integers(0, 7 * 10**12),
    start_offset=st.integers(0, 2**50),
    seed=st.integers(0, 2**63 - 1),
    settings=st.sampled_from([
        (),
        (("index.interval.bytes", 0), ("message.timestamp.type", "LogAppendTime"), ("preallocate", True)),
        (("cleanup.policy", "compact,delete"), ("min.cleanable.dirty.ratio", 0.25)),
    ]),
)  # fmt: skip
