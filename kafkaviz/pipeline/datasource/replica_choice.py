"""Chooses which replica of a topic-partition is read, and gives the reason.

The chosen replica is the one that the others would follow. A replica that lost an election may have
records that no other replica has. It deletes these records at its next start-up
(analysis/comparison/leader_epochs.py), so they are no longer part of the log.

    offers-0 of broker 1   epochs (0, 0) (2, 120) (3, 180), ends at 225
    offers-0 of broker 2   epochs (0, 0) (2, 120) (5, 180), ends at 180: elected last, is read

`CRITERIA` are applied in order: latest leader epoch, largest log end offset, leader in the newest
metadata log, largest log start offset (deleteRecords moves it on the leader first).
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from kafkaviz.analysis.comparison.leader_epochs import EpochHistory, checkpointed_epochs
from kafkaviz.errors import CannotOpen
from kafkaviz.format.metadata import NO_LEADER, PartitionLeader
from kafkaviz.log.batch_starts import open_batch_starts
from kafkaviz.log.broker import Broker
from kafkaviz.log.metadata_log import MetadataImage, read_image
from kafkaviz.log.partition import Partition
from kafkaviz.log.scans import HeaderScan, Hole
from kafkaviz.pipeline.datasource.pushdown import PushedFilters
from kafkaviz.pipeline.datasource.source_schema import ONE_REPLICA, RECORD_FORMATS, SourceOptions
from kafkaviz.pipeline.datasource.transactions import end_offset
from kafkaviz.pipeline.read.inventory import Inventory
from kafkaviz.simulate.recovery import LeaderEpochs


class ReplicaReason(StrEnum):
    """Why a replica is read: the criterion by which it was chosen."""

    ONLY = "only replica"
    LATEST_EPOCH = "latest leader epoch"
    LAST_END = "largest log end offset"
    LEADER = "leader in the metadata log"
    LAST_START = "largest log start offset"
    FIRST_BROKER = "first broker of the largest log end offset"


@dataclass(frozen=True, kw_only=True)
class _Replica:
    broker_name: str
    broker: Broker
    partition: Partition
    epochs: EpochHistory

    @property
    def node_id(self) -> int:
        node_id = self.broker.node_number
        return NO_LEADER if node_id is None else node_id


class _Cluster:
    def __init__(self, brokers: Sequence[Broker]) -> None:
        self._brokers = brokers

    @cached_property
    def _image(self) -> MetadataImage:
        images = [read_image(broker, has_leaders=True) for broker in self._brokers]
        return max(images, key=lambda image: image.end_offset)

    def leader(self, partition: Partition) -> PartitionLeader | None:
        """Returns the current leader of a partition, or the last leader; None if unknown."""
        topic_id = partition.topic_id or self._image.topic_ids.get(partition.topic, "")
        leader = self._image.leaders.get(topic_id, {}).get(partition.partition)
        return leader if leader and leader.leader != NO_LEADER else None


def select_replicas(
    name: str, inventory: Inventory, filters: PushedFilters, options: SourceOptions
) -> dict[int, str | None]:
    """Returns {id(partition): reason} for each replica to read.

    Only logs with the same topic id in the same known cluster are replicas of each other. The
    reason is a `ReplicaReason`, or None if all replicas are read.
    """
    brokers = dict(inventory.brokers)
    replicas: dict[tuple, list[tuple[str, Partition]]] = {}
    for broker_name, partition in inventory.partitions:
        broker = brokers[broker_name]
        is_current = partition.state == "current"
        if (
            (options.renamed or is_current or broker.is_lone)
            and filters.has_topic(partition.topic)
            and filters.has_partition(partition.partition)
        ):
            key = (id(partition),)
            if broker.cluster_id and is_current:
                key = (broker.cluster_id, partition.topic_id, partition.label)
            replicas.setdefault(key, []).append((broker_name, partition))
    default = ONE_REPLICA if name in RECORD_FORMATS else None
    if (options.replicas or default) != ONE_REPLICA:
        return {id(partition): None for group in replicas.values() for _, partition in group}
    clusters: dict[str | None, _Cluster] = {}
    chosen = {}
    for group in replicas.values():
        if len(group) == 1:
            chosen[id(group[0][1])] = ReplicaReason.ONLY.value
            continue
        cluster_id = brokers[group[0][0]].cluster_id
        if cluster_id not in clusters:
            of_cluster = [broker for broker in brokers.values() if broker.cluster_id == cluster_id]
            clusters[cluster_id] = _Cluster(of_cluster)
        candidates = [_read_replica(name, brokers[name], partition) for name, partition in group]
        replica, reason = _choose(candidates, clusters[cluster_id])
        chosen[id(replica.partition)] = reason.value
    return chosen


def _choose(replicas: list[_Replica], cluster: _Cluster) -> tuple[_Replica, ReplicaReason]:
    for reason, measure in CRITERIA.items():
        values = [measure(replica, cluster) for replica in replicas]
        best = max(values)
        measured = zip(replicas, values, strict=True)
        replicas = [replica for replica, value in measured if value == best]
        if len(replicas) == 1:
            return replicas[0], reason
    return min(replicas, key=lambda replica: replica.broker_name), ReplicaReason.FIRST_BROKER


def _latest_epoch(replica: _Replica, cluster: _Cluster) -> int:
    """Returns the latest epoch that a replica has seen.

    Batches show an election only after the new leader has written something. So if a leader has
    no leader-epoch-checkpoint, the leader's epoch in the metadata log counts too.
    """
    epoch = replica.epochs.latest_election
    if not replica.epochs.is_from_batches:
        return epoch
    leader = cluster.leader(replica.partition)
    if leader is None or leader.epoch is None or leader.leader != replica.node_id:
        return epoch
    return max(epoch, leader.epoch)


def _is_leader(replica: _Replica, cluster: _Cluster) -> bool:
    leader = cluster.leader(replica.partition)
    if leader is None or leader.epoch is None:
        return False
    return leader.leader == replica.node_id and leader.epoch >= replica.epochs.latest_election


CRITERIA: dict[ReplicaReason, Callable[[_Replica, _Cluster], int]] = {
    ReplicaReason.LATEST_EPOCH: _latest_epoch,
    ReplicaReason.LAST_END: lambda replica, _cluster: replica.epochs.log_end_offset,
    ReplicaReason.LEADER: _is_leader,
    ReplicaReason.LAST_START: lambda replica, _cluster: replica.epochs.log_start_offset,
}


def _read_replica(broker_name: str, broker: Broker, partition: Partition) -> _Replica:
    log_end = max(end_offset(partition), 0)
    checkpointed = checkpointed_epochs(partition)
    epochs = checkpointed or LeaderEpochs()
    if checkpointed is None or not broker.directory_of(partition).is_clean:
        _add_last_epochs(partition, log_end, epochs)
    history = EpochHistory(
        tuple(epochs.entries),
        log_start_offset=partition.log_start_offset or 0,
        log_end_offset=log_end,
        is_from_batches=checkpointed is None,
    )
    return _Replica(broker_name=broker_name, broker=broker, partition=partition, epochs=history)


def _add_last_epochs(partition: Partition, log_end: int, epochs: LeaderEpochs) -> None:
    written = [segment for segment in partition.live if segment.log.size_bytes]
    if not written:
        return
    segment = written[-1]
    # an unreadable log has only its checkpoint's epochs; reading it later reports the reason
    with suppress(CannotOpen), open_batch_starts(segment) as batch_starts:
        start = batch_starts.position_before_offset(log_end - 1)
        for batches in HeaderScan(batch_starts, start, segment.log.size_bytes):
            if not isinstance(batches, Hole):
                epochs.take(batches)
