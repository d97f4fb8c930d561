"""Looks up an offset or a timestamp in a partition directory, and explains the result."""

from kafkaviz import versions
from kafkaviz.analysis.inferred_release import assume_release
from kafkaviz.analysis.lookup.served_log import open_log_view
from kafkaviz.analysis.opened_path import broker_around
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.search.fetch import READ_UNCOMMITTED
from kafkaviz.search.lookup import Lookup, lookup_in_view


def lookup(
    partition: Partition,
    *,
    offset: int | None = None,
    timestamp_ms: int | str | None = None,
    version: str | None = None,
    search: str | None = None,
    isolation: str = READ_UNCOMMITTED,
    as_is: bool = False,
    broker: Broker | None = None,
) -> Lookup:
    """Looks up an offset or a timestamp, and records every step.

    Either `offset` or `timestamp_ms` must be given.

    Args:
        timestamp_ms: a time in ms, or "earliest", "latest" or "max".
        version: the Kafka release that searches. None: the assumed release.
        search: the index search, "plain" or "warm". None: that of the release.
        isolation: "read_uncommitted" or "read_committed".
        as_is: whether to search the files without recovering them first.
        broker: the broker with all opened log directories. None: only the partition's directory.

    Raises:
        CannotOpen: there is no .log, or a file cannot be read.
        CorruptFile: the search reads bytes that break their format.
    """
    if not version:
        broker = broker or broker_around(partition)
        version = assume_release(broker).version
    search_profile = versions.search_profile(version, search)
    return lookup_in_view(
        open_log_view(partition, version, as_is=as_is, broker=broker),
        search_profile,
        offset,
        timestamp_ms,
        isolation,
    )
