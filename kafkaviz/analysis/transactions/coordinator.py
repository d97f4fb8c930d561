"""The newest records in __transaction_state, in which the transaction coordinator keeps its state.

A transaction without a marker either still runs, or hangs. The coordinator's records show which:

    tx-payments-2   producer 4   Ongoing since 09:29:45, timeout 50 min   it runs until 10:19:45
    tx-payments-3   producer 5   CompleteAbort                            it hangs if still open
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from kafkaviz.analysis.transactions.listing import Hold, Transaction, Verdict
from kafkaviz.errors import KafkavizError
from kafkaviz.format import coordinator_records
from kafkaviz.format.batch import is_control
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment

TOPIC = "__transaction_state"
MAX_BYTES = 256 << 20  # at most this much is read in total
# TransactionState of Kafka 4.3.1, by number
STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)
ONGOING = "Ongoing"


@dataclass(frozen=True, kw_only=True)
class CoordinatorState:
    """The newest record for a transactional id in __transaction_state."""

    transactional_id: str
    producer_id: int
    state: str  # a name in STATES, or the number of an unknown state
    timeout_ms: int
    start_ms: int  # when the transaction started; -1: no transaction started
    partitions: frozenset[str]  # those in the transaction, such as "payments-0"

    @property
    def until_ms(self) -> int:
        """The time when the coordinator aborts the transaction, if the state is ONGOING."""
        return self.start_ms + self.timeout_ms


def judge(
    partition: str,
    transaction: Transaction,
    states: Mapping[int, CoordinatorState] | None,
    newest_ms: int,
) -> Hold:
    """Returns whether an open transaction hangs, and when the coordinator will abort it.

    `partition` is a name, such as "payments-0". `states` are from `read_states`. `newest_ms`, the
    newest time in the opened files, counts as the present.
    """
    open_ms = None
    if transaction.start_ms is not None and transaction.begins_before_log is False:
        open_ms = max(0, newest_ms - transaction.start_ms)
    state = (states or {}).get(transaction.producer_id)
    if state is None:
        verdict = Verdict.UNKNOWN if states is None else Verdict.ABSENT
        return Hold(verdict=verdict, open_ms=open_ms)
    verdict = Verdict.HANGING
    if state.state == ONGOING and partition in state.partitions:
        verdict = Verdict.OVERDUE if newest_ms > state.until_ms else Verdict.ONGOING
    elif state.state.startswith("Prepare"):
        verdict = Verdict.ENDING
    return Hold(
        verdict=verdict,
        open_ms=open_ms,
        coordinator_state=state.state,
        timeout_ms=state.timeout_ms,
        coordinator_start_ms=state.start_ms,
        until_ms=state.until_ms if state.state == ONGOING else None,
    )


def _logs(broker: Broker) -> Iterator[Partition]:
    """Yields the broker's partitions.

    If a lone partition was opened, yields the __transaction_state partitions next to it instead.
    """
    if not broker.is_lone:
        yield from broker.partitions
        return
    for partition in broker.partitions:
        for path in sorted(partition.path.parent.glob(f"{TOPIC}-*")):
            with suppress(KafkavizError):
                yield from open_broker(path).partitions


def read_states(broker: Broker) -> dict[int, CoordinatorState] | None:
    """Returns the newest state of each producer, by producer id; None without __transaction_state.

    Reads at most MAX_BYTES, and a damaged segment only up to the first fault.
    """
    states: dict[str, CoordinatorState] = {}
    is_there = False
    left_bytes = MAX_BYTES
    for partition in _logs(broker):
        if partition.topic != TOPIC or partition.state != "current":
            continue
        for segment in partition.live:
            is_there = True
            left_bytes -= segment.log.size_bytes
            if left_bytes < 0:
                break
            _take_segment(segment, states)
    return {state.producer_id: state for state in states.values()} if is_there else None


def transactional_ids(states: Mapping[int, CoordinatorState] | None) -> dict[int, str]:
    states = states or {}
    return {producer_id: state.transactional_id for producer_id, state in states.items()}


def _take_segment(segment: LogSegment, states: dict[str, CoordinatorState]) -> None:
    try:
        for batches in segment.scan():
            for position in batches["position"][~is_control(batches)].tolist():
                for record in segment.iterate(position):
                    decoded = coordinator_records.decode(
                        record.key, record.value, record.offset, "transactions"
                    )
                    if decoded.key is None:
                        continue
                    name = decoded.key["transactionalId"]
                    if decoded.value is None:
                        states.pop(name, None)
                    else:
                        states[name] = _state(name, decoded.value)
    except KafkavizError:
        return  # another check reports the fault


def _state(transactional_id: str, value: coordinator_records.Values) -> CoordinatorState:
    number = value["transactionStatus"]
    return CoordinatorState(
        transactional_id=transactional_id,
        producer_id=value["producerId"],
        state=STATES[number] if 0 <= number < len(STATES) else str(number),
        timeout_ms=value["transactionTimeoutMs"],
        start_ms=value["transactionStartTimestampMs"],
        partitions=frozenset(
            f"{part['topic']}-{number}"
            for part in value["transactionPartitions"] or ()
            for number in part["partitionIds"]
        ),
    )
