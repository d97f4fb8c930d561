from math import inf

from kafkaviz.format import record
from kafkaviz.format.batch import CONTROL, HEADER, TRANSACTIONAL
from kafkaviz.log.broker import Problem
from kafkaviz.log.partition import Partition
from kafkaviz.pipeline.datasource.transactions import UncommittedTransactions, plan_transactions
from tests.pipeline import whole_logs
from tests.pipeline.whole_logs import START_MS


def of_producer(producer_id: int, base_offset: int, count: int = 2, value_bytes: int = 10) -> bytes:
    return owned(
        whole_logs.batch(base_offset, [START_MS] * count, value_bytes, attributes=TRANSACTIONAL),
        producer_id,
    )


def marker(producer_id: int, offset: int, kind: int) -> bytes:
    body = record.build(
        [
            record.Record(
                offset_delta=0, timestamp_delta_ms=0, key=bytes([0, 0, 0, kind]), value=bytes(6)
            )
        ]
    )
    return owned(whole_logs.framed(offset, body, [START_MS], TRANSACTIONAL | CONTROL), producer_id)


def owned(data: bytes, producer_id: int) -> bytes:
    at = HEADER.fields["producer_id"][1]
    return whole_logs.summed(
        data[:at] + producer_id.to_bytes(8, "big") + bytes(2) + data[at + 10 :]
    )


def plain(base_offset: int) -> bytes:
    return whole_logs.batch(base_offset, [START_MS])


def read_transactions(
    partition: Partition, last_offset: float = inf, first_offset: float = -inf
) -> tuple[UncommittedTransactions, list[Problem]]:
    """Returns the same as `plan_transactions`, after reading the tail of the log."""
    known, problems = plan_transactions(partition, last_offset, first_offset)
    transactions, unread = known.follow_tail(last_offset)
    return transactions, problems + unread
