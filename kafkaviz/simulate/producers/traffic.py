"""The dataclasses that describe the traffic of producers in a phase of a workload."""

from dataclasses import dataclass

from kafkaviz.simulate.producers.distributions import Spread

RECORDS = "records"
BYTES = "bytes"
BATCHES = "batches"
RATES = (RECORDS, BYTES, BATCHES)
EVEN = "even"
BY_CHANCE = "by-chance"
ARRIVALS = (EVEN, BY_CHANCE)
CREATE = "create"
NONE = "none"
TIMESTAMPS = (CREATE, NONE)
TEXT = "text"
RANDOM = "random"
CONTENTS = (TEXT, RANDOM)
MAX_RECORDS = 1_000_000
MAX_VALUE_BYTES = 64 << 20
MAX_PRODUCERS = 10_000
REQUEST_BYTES = 1 << 20  # max.request.size of a producer: the default limit of a batch

_UNIT_SPREAD = Spread()
_HUNDRED = Spread(mean=100)


@dataclass(frozen=True)
class RecordKeys:
    """A number of different keys; each is a prefix and digits.

    Attributes:
        zipf: the r-th key is drawn with the weight 1 / r^zipf; 0 makes all keys equally likely.
        in_turn: whether keys are taken one after another instead of at random.
    """

    count: int
    zipf: float = 0.0
    in_turn: bool = False
    prefix: str = "key-"


@dataclass(frozen=True)
class Header:
    """A record header. Its value has `size_bytes` hexadecimal digits.

    If `size_bytes` is None, the value is null.
    """

    name: str
    size_bytes: int | None = None


@dataclass(frozen=True)
class Bursts:
    """Bursts and pauses: all records come within `on_ms`, none in the following `off_ms`.

    The phase's rate is the average over bursts and pauses.
    """

    on_ms: int
    off_ms: int


@dataclass(frozen=True)
class TimestampShift:
    """Shifts the timestamps of a fraction of the records by some milliseconds."""

    share: float
    by_ms: Spread


@dataclass(frozen=True)
class TransactionTraffic:
    """Transactions: each producer sends some batches, then its coordinator writes a marker.

    Attributes:
        batches: number of batches in a transaction.
        abort_share: fraction of the transactions that end with ABORT.
        leave_open: whether the open transactions at the end of the phase get no marker.
    """

    batches: Spread = _UNIT_SPREAD
    abort_share: float = 0.0
    leave_open: bool = False


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A period with one kind of traffic, or a period of silence.

    The phase ends at the first limit that is reached: `duration_ms`, `records`, `batches`, or
    `size_bytes` (before compression).

    Attributes:
        rate: average amount of `rate_of` per second.
        arrivals: "even", or "by-chance" with random waits between batches.
        rate_of: records, bytes before compression, or batches.
        batch_bytes: limit of a batch before compression. A record that would exceed the limit
            starts a new batch.
        timestamps: "create": the time of each record; "none": -1.
        clock_ahead_ms: the producers' clock minus the broker's.
        events_from_ms: the first timestamp, by default the start of the phase.
        events_speed: ms by which timestamps advance per ms of the clock.
        late: lowers the timestamps of a fraction of the records.
        future: raises the timestamps of a fraction of the records.
        delay_ms: time from a batch's last record to its arrival at the broker.
        fetch_batches: number of batches per append; more than 1 only on a follower.
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
