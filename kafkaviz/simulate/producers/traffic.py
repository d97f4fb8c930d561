"""What producers send: one phase of a workload, in which one kind of traffic comes, and the parts
that describe it.
"""

from dataclasses import dataclass

from kafkaviz.simulate.producers.distributions import Spread

RECORDS, BYTES, BATCHES = RATES = ("records", "bytes", "batches")
EVEN, BY_CHANCE = ARRIVALS = ("even", "by-chance")
CREATE, NONE = TIMESTAMPS = ("create", "none")
TEXT, RANDOM = CONTENTS = ("text", "random")
MOST_RECORDS, MOST_VALUE_BYTES, MOST_PRODUCERS = 1_000_000, 64 << 20, 10_000
REQUEST_BYTES = 1 << 20  # max.request.size of a producer: the most that a batch is filled to

_UNIT_SPREAD, _HUNDRED = Spread(), Spread(mean=100)


@dataclass(frozen=True)
class RecordKeys:
    """count different keys: prefix and a number in digits.

    zipf: rank r is drawn as often as 1 / r^zipf, 0 for all alike. in_turn: one after another
    instead.
    """

    count: int
    zipf: float = 0.0
    in_turn: bool = False
    prefix: str = "key-"


@dataclass(frozen=True)
class Header:
    """A record header: hexadecimal digits that differ from record to record; null where it has no
    size.
    """

    name: str
    size_bytes: int | None = None


@dataclass(frozen=True)
class Bursts:
    """All records of on_ms and off_ms come within on_ms; the rate is that of both together."""

    on_ms: int
    off_ms: int


@dataclass(frozen=True)
class TimestampShift:
    """A share of the records whose timestamps are some milliseconds off."""

    share: float
    by_ms: Spread


@dataclass(frozen=True)
class TransactionTraffic:
    """Each producer sends so many batches, then its coordinator writes a marker: COMMIT, or ABORT
    for a share of them.

    leave_open: those that are open where the phase ends get no marker.
    """

    batches: Spread = _UNIT_SPREAD
    abort_share: float = 0.0
    leave_open: bool = False


@dataclass(frozen=True)
class Phase:
    """A stretch of time in which one kind of traffic comes, or in silence none.

    It ends at the first of duration_ms, records, batches and size_bytes (before compression) that
    is given. rate, rate_of: so many records, bytes before compression, or batches a second; a batch
    takes the time that the one before it stands for, and its records come evenly within it.
    batch_bytes: a batch takes no further record that would make it larger, before compression.
    clock_ahead_ms: the producers' clock before or behind the broker's. events_from_ms,
    events_speed: the timestamps are of another time, which passes so many times as fast. late,
    future: a share of the records are off by more. timestamps: "none" for -1. delay_ms: from a
    batch's last record to the broker. fetch_batches: so many batches come as one append, as to a
    follower.
    """

    name: str = ""
    silence_ms: int | None = None
    duration_ms: int | None = None
    records: int | None = None
    batches: int | None = None
    size_bytes: int | None = None
    rate: float = 1.0
    rate_of: str = RECORDS
    arrivals: str = EVEN
    bursts: Bursts | None = None
    records_per_batch: Spread = _UNIT_SPREAD
    batch_bytes: int = REQUEST_BYTES
    value_bytes: Spread = _HUNDRED
    null_share: float = 0.0
    content: str = TEXT
    keys: RecordKeys | None = None
    headers: tuple[Header, ...] = ()
    codec: str = "none"
    timestamps: str = CREATE
    clock_ahead_ms: int = 0
    events_from_ms: int | None = None
    events_speed: float = 1.0
    late: TimestampShift | None = None
    future: TimestampShift | None = None
    delay_ms: int = 0
    producers: int = 1
    idempotent: bool = True
    transactions: TransactionTraffic | None = None
    leader_epoch: int = 0
    fetch_batches: int = 1
