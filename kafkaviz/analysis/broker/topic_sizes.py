"""The bytes of each topic in a broker directory, from the sizes of its files."""

from collections import defaultdict
from dataclasses import dataclass

from kafkaviz.log.broker import Broker

INDEX_KINDS = ("index", "timeindex", "txnindex")


@dataclass(frozen=True)
class TopicSize:
    """The partitions and bytes of one topic.

    Attributes:
        partitions: number of its partition directories, including those to be deleted.
        index_bytes: length of its .index, .timeindex and .txnindex files; preallocated ones may
            take less space on disk.
    """

    topic: str
    partitions: int
    log_bytes: int
    index_bytes: int

    @property
    def size_bytes(self) -> int:
        return self.log_bytes + self.index_bytes


def topic_sizes(broker: Broker) -> tuple[TopicSize, ...]:
    """Returns the size of each topic, the largest first.

    Segments in tiered storage are not counted.
    """
    directories = defaultdict(list)
    for partition in broker.partitions:
        directories[partition.topic].append(partition.without_remote())
    sizes = []
    for topic, partitions in directories.items():
        segments = [segment for partition in partitions for segment in partition.segments]
        indexes = [getattr(segment, kind) for segment in segments for kind in INDEX_KINDS]
        log_bytes = sum(segment.log.size_bytes for segment in segments if segment.log)
        index_bytes = sum(index.size_bytes for index in indexes if index)
        sizes.append(TopicSize(topic, len(partitions), log_bytes, index_bytes))
    return tuple(sorted(sizes, key=lambda size: (-size.size_bytes, size.topic)))
