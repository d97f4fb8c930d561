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
    """The keys of records: `count` different keys, each `prefix` followed by digits."""

    count: int
    zipf: float = 0.0  # weight 1 / r^zipf for the r-th key; 0: equally likely
    in_turn: bool = False  # one after another instead of at random
    prefix: str = "key-"


@dataclass(frozen=True)
class Header:
    """A record header. Its value has `size_bytes` hexadecimal digits; None: a null value."""

    name: str
    size_bytes: int | None = None


@dataclass(frozen=True)
class Bursts:
    """Bursts and pauses in turn: records come for `on_ms`, then no records for `off_ms`.

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
    """Transactions: each producer sends some batches, then its coordinator writes a marker."""

    batches: Spread = _UNIT_SPREAD  # per transaction
    abort_share: float = 0.0  # fraction of transactions that end with ABORT
    leave_open: bool = False  # the open transactions at the end of the phase get no marker


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A period with one kind of traffic, or a period of silence.

    The phase ends at the first limit that is reached: `duration_ms`, `records`, `batches`, or
    `size_bytes` (before compression).
    """

    name: str = ""
    silence_ms: int | None = None
    duration_ms: int | None = None
    records: int | None = None
    batches: int | None = None
    size_bytes: int | None = None
    rate: float = 1.0  # average amount of `rate_of` per second
    rate_of: str = RECORDS  # records, bytes before compression, or batches
    arrivals: str = EVEN  # "even", or "by-chance" with random waits between batches
    bursts: Bursts | None = None
    records_per_batch: Spread = _UNIT_SPREAD
    # the limit of a batch before compression; a record that would exceed it starts a new batch
    batch_bytes: int = REQUEST_BYTES
    value_bytes: Spread = _HUNDRED
    null_share: float = 0.0
    content: str = TEXT
    keys: RecordKeys | None = None
    headers: tuple[Header, ...] = ()
    codec: str = "none"
    timestamps: str = CREATE  # "create": the time of each record; "none": -1
    clock_ahead_ms: int = 0  # the producers' clock minus the broker's
    events_from_ms: int | None = None  # the first timestamp; None: the phase's start
    events_speed: float = 1.0  # ms by which timestamps advance per ms of the clock
    late: TimestampShift | None = None  # lowers the timestamps of a fraction of the records
    future: TimestampShift | None = None  # raises some timestamps
    delay_ms: int = 0  # from a batch's last record to its arrival at the broker
    producers: int = 1
    idempotent: bool = True
    transactions: TransactionTraffic | None = None
    leader_epoch: int = 0
    fetch_batches: int = 1  # batches per append; more than 1 only on a follower
