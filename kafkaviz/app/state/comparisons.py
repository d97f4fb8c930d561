"""The comparisons of this server, one background job per pair of directories."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import streamlit as st

from kafkaviz.analysis.comparison.comparator import compare_brokers
from kafkaviz.analysis.comparison.comparison import BrokerComparison
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import MAX_BROKERS, BrokerSnapshot
from kafkaviz.jobs import Job, JobRegistry, ReadMeter, ReadProgress

# the job fails with a KafkavizError if a directory cannot be read; other exceptions are bugs
ComparisonJob: TypeAlias = Job[BrokerComparison, ReadProgress]
SnapshotPair = tuple[BrokerSnapshot, BrokerSnapshot]


@st.cache_resource(show_spinner=False)
def comparisons() -> JobRegistry[tuple[str, str], ComparisonJob]:
    """Returns the comparisons of this server. A key has one text per side: see `_key`."""
    return JobRegistry(MAX_BROKERS, forgets_running=True)


def get_or_start(pair: SnapshotPair) -> ComparisonJob:
    return comparisons().get_or_start(_key(pair), partial(_start, pair))


def compare_again(pair: SnapshotPair) -> None:
    """Lists both directories again and forgets their comparison. Used as a button's on_click."""
    broker_cache.clear_all()
    comparisons().forget(lambda key: key == _key(pair))


def _key(pair: SnapshotPair) -> tuple[str, str]:
    return pair[0].key, pair[1].key


def _start(pair: SnapshotPair) -> ComparisonJob:
    sizes = sum((_log_bytes(snapshot) for snapshot in pair), Counter())
    return Job(partial(_compare, pair, sizes), ReadProgress(0, sizes.total()))


def _compare(
    pair: SnapshotPair, sizes: Mapping[str, int], report: Callable[[ReadProgress], None]
) -> BrokerComparison:
    return compare_brokers(pair[0].broker, pair[1].broker, ReadMeter(report, sizes).show)


def _log_bytes(snapshot: BrokerSnapshot) -> Counter[str]:
    partitions = snapshot.broker.partitions
    name_of = snapshot.broker.partition_name
    return Counter({name_of(partition): partition.live_log_bytes for partition in partitions})
