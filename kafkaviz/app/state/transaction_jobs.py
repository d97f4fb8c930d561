"""The transactions of this server's partitions: one background job per listing and partition.

A job reads the log to its end, which takes eight seconds for 1 GiB in small batches.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import streamlit as st

from kafkaviz.analysis.transactions import coordinator
from kafkaviz.analysis.transactions.coordinator import CoordinatorState
from kafkaviz.analysis.transactions.listing import PartitionTransactions, list_transactions
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.jobs import Job, JobRegistry, ReadProgress
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition

# the job fails with CannotOpen if the partition has no .log
TransactionJob: TypeAlias = Job[PartitionTransactions, ReadProgress]
MAX_JOBS = 8  # a result lists at most 10 000 transactions that ended


@st.cache_resource(show_spinner=False)
def transaction_jobs() -> JobRegistry[tuple[str, str], TransactionJob]:
    """Returns the jobs of this server, by (BrokerSnapshot.key, topic-partition)."""
    return JobRegistry(MAX_JOBS, forgets_running=True)


def get_or_start(snapshot: BrokerSnapshot, partition: Partition) -> TransactionJob:
    states = segment_cache.coordinator_states(snapshot)
    newest_ms = segment_cache.newest_ms(snapshot)
    progress = ReadProgress(0, partition.live_log_bytes, partition.label)
    work = partial(_read, snapshot.broker, partition, states, newest_ms)
    return transaction_jobs().get_or_start(
        (snapshot.key, snapshot.broker.partition_name(partition)), lambda: Job(work, progress)
    )


def restart(snapshot: BrokerSnapshot, partition: Partition) -> None:
    """Forgets the partition's job. The next run of the page starts a new job."""
    name = snapshot.broker.partition_name(partition)
    transaction_jobs().forget(lambda key: key == (snapshot.key, name))


def _read(
    broker: Broker,
    partition: Partition,
    states: Mapping[int, CoordinatorState] | None,
    newest_ms: int | None,
    report: Callable[[ReadProgress], None],
) -> PartitionTransactions:
    total_bytes = partition.live_log_bytes
    transactions = list_transactions(
        partition,
        coordinator.transactional_ids(states),
        lambda name, share: report(ReadProgress(round(share * total_bytes), total_bytes, name)),
        broker=broker,
    )
    if transactions.held_by is None or newest_ms is None:
        return transactions
    hold = coordinator.judge(partition.label, transactions.held_by, states, newest_ms)
    return replace(transactions, hold=hold)
