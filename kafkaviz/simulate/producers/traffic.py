"""What producers send: a phase of a workload, in which one kind of traffic comes, and its parts."""

from dataclasses import dataclass

from kafkaviz.simulate.producers.distributions import Spread

RECORDS, BYTES, BATCHES = RATES = ("records", "bytes", "batches")
EVEN, BY_CHANCE = ARRIVALS = ("even", "by-chance")
CREATE, NONE = TIMESTAMPS = ("create", "none")
TEXT, RANDOM = CONTENTS = ("text", "random")
MAX_RECORDS, MAX_VALUE_BYTES, MAX_PRODUCERS = 1_000_000, 64 << 20, 10_000
REQUEST_BYTES = 1 << 20  # max.request.size of a producer: the most that a batch is filled to

_UNIT_SPREAD, _HUNDRED = Spread(), Spread(mean=100)


@dataclass(frozen=True)
class RecordKeys:
    """A number of different keys: a prefix and a number in digits.

    Attributes:
        zipf: rank r is drawn as often as 1 / r^zipf, 0 for all alike.
        in_turn: one after another instead.
    """

    count: int
    zipf: float = 0.0
    in_turn: bool = False
    prefix: str = "key-"


@dataclass(frozen=True)
class Header:
    """A record header: hexadecimal digits that differ from record to record.

    Attributes:
        size_bytes: None for a null value.
    """

    name: str
    size_bytes: int | None = None


@dataclass(frozen=True)
class Bursts:
    """Bursts and pauses: all records of on_ms and off_ms come within on_ms.

    The rate is that of both together.
    """

    on_ms: int
    off_ms: int


@dataclass(frozen=True)
class TimestampShift:
    """A share of the records whose timestamps are some milliseconds off."""

    share: float
    by_ms: Spread


@dataclass(frozen=True)
class TransactionTraffic:
    """Each producer sends some batches, then its coordinator writes a marker, COMMIT or ABORT.

    Attributes:
        batches: in a transaction.
        abort_share: of the transactions that end with ABORT.
        leave_open: those that are open where the phase ends get no marker.
    """

    batches: Spread = _UNIT_SPREAD
    abort_share: float = 0.0
    leave_open: bool = False


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A period in which one kind of traffic comes, or in silence none.

    It ends at the first of duration_ms, records, batches and size_bytes (before compression) that
    is given.

    Attributes:
        rate: so many of rate_of a second; a batch takes the time that the amount of the one before
            it needs, and its records come evenly within it.
        rate_of: records, bytes before compression, or batches.
        batch_bytes: a batch takes no further record that would make it larger, before compression.
        timestamps: "none" for -1.
        clock_ahead_ms: the producers' clock before or behind the broker's.
        events_from_ms: the timestamps are of another time, from this one on.
        events_speed: how many times as fast that time passes.
        late: a share of the records are off by more.
        future: a share of the records are off by more.
        delay_ms: from a batch's last record to the broker.
        fetch_batches: so many batches come as one append, as to a follower.
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
