from math import inf

from kafkaviz.format import record
from kafkaviz.format.batch import CONTROL, TRANSACTIONAL
from kafkaviz.log.broker import Problem
from kafkaviz.log.partition import Partition
from kafkaviz.pipeline.datasource.transactions import UncommittedTransactions, plan_transactions
from tests.pipeline.whole_logs import START_MS, batch, framed


def of_producer(producer_id: int, base_offset: int, count: int = 2, value_bytes: int = 10) -> bytes:
    producer = {"producer_id": producer_id, "producer_epoch": 0}
    times_ms = [START_MS] * count
    return batch(base_offset, times_ms, value_bytes, attributes=TRANSACTIONAL, **producer)


def marker(producer_id: int, offset: int, kind: int) -> bytes:
    key, value = bytes([0, 0, 0, kind]), bytes(6)
    end = record.Record(offset_delta=0, timestamp_delta_ms=0, key=key, value=value)
    producer = {"producer_id": producer_id, "producer_epoch": 0}
    return framed(offset, record.build([end]), [START_MS], TRANSACTIONAL | CONTROL, **producer)


def plain(base_offset: int) -> bytes:
    return batch(base_offset, [START_MS])


def read_transactions(
    partition: Partition, last_offset: float = inf, first_offset: float = -inf
) -> tuple[UncommittedTransactions, list[Problem]]:
    """Returns the same as `plan_transactions`, after reading the tail of the log."""
    known, problems = plan_transactions(partition, last_offset, first_offset)
    transactions, unread = known.follow_tail(last_offset)
    return transactions, problems + unread
