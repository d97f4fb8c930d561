"""What can be tuned: a topic-partition, a topic, a broker directory or a workload; and what is read
of each.
"""

import hashlib
from dataclasses import dataclass

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.pages.tuning.options import ALL_OF, BROKER, WORKLOAD
from kafkaviz.app.workloads import OWN_TITLE, preset_name, story_text
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.units import escape_controls
from kafkaviz.words import say


@dataclass(frozen=True)
class MeasureRequest:
    """What is to be measured. path_or_text: as tuning.source.open_source takes it, or the text of a
    workload; sizes: bytes by .log.
    """

    key: str
    path_or_text: str
    kind: str
    sizes: tuple[tuple[str, int], ...] = ()
    is_text: bool = False
    version: str | None = None

    @property
    def total_bytes(self) -> int:
        """Of .log, that are read."""
        return sum(size for _, size in self.sizes)


def scope_choices(
    broker: Broker | None, own_partition: Partition | None, rival_count: int = 2
) -> dict[str, tuple[str, str]]:
    """What there is to choose from, by label: (kind, topic-partition or topic).

    The open topic-partition and the largest others, the whole of its topic where that has more, the
    broker, and a workload.
    """
    choices = {}
    if broker and own_partition:
        rivals = sorted(_rivals(broker, own_partition), key=log_bytes, reverse=True)[:rival_count]
        has_several = (
            sum(
                partition.topic == own_partition.topic and partition.state == "current"
                for partition in broker.partitions
            )
            > 1
        )
        partitions = sorted(
            [own_partition, *rivals[: rival_count - has_several]], key=log_bytes, reverse=True
        )
        choices |= {
            escape_controls(partition.directory): ("partition", partition.directory)
            for partition in partitions
        }
        if has_several:
            choices[f"{ALL_OF}{escape_controls(own_partition.topic)}"] = (
                "topic",
                own_partition.topic,
            )
    if broker and broker.partitions:
        choices[BROKER] = ("broker", "")
    return choices | {WORKLOAD: ("workload", "")}


def _rivals(broker: Broker, own_partition: Partition) -> list[Partition]:
    candidates = (
        partition
        for partition in broker.partitions
        if partition.state == "current" and not partition.topic.startswith("__")
    )
    return [
        partition
        for partition in candidates
        if partition.directory != own_partition.directory and partition.topic != own_partition.topic
    ]


def log_bytes(partition: Partition) -> int:
    """Of all .log files of a topic-partition."""
    return sum(segment.log.size_bytes for segment in partition.live if segment.log)


def directory_request(
    snapshot: BrokerSnapshot, kind: str, name: str, version: str | None
) -> MeasureRequest:
    """A part of a broker directory."""
    broker = snapshot.broker
    partitions = [
        partition
        for partition in broker.partitions
        if partition.state == "current" and _is_in_scope(partition, kind, name)
    ]
    sizes = tuple(
        (f"{partition.directory}/{segment.name}.log", segment.log.size_bytes)
        for partition in partitions
        for segment in partition.live
    )
    path = {
        "partition": lambda: broker.partition(name).path,
        "topic": lambda: broker.path / name,
        "broker": lambda: broker.path,
    }[kind]()
    return MeasureRequest(
        f"{snapshot.key}|{kind}|{name!a}|{version}", str(path), kind, sizes, version=version
    )


def _is_in_scope(partition: Partition, kind: str, name: str) -> bool:
    return kind == "broker" or name == (
        partition.directory if kind == "partition" else partition.topic
    )


def workload_request(name: str, text: str, version: str | None) -> MeasureRequest:
    """A workload that comes along, by its title, or a text that somebody wrote."""
    if name != OWN_TITLE:
        return MeasureRequest(
            f"workload|{name}|{version}", preset_name(name), "workload", version=version
        )
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return MeasureRequest(
        f"workload|{digest}|{version}", text, "workload", is_text=True, version=version
    )


def describe_workload(name: str) -> str:
    """What a workload is about, in a sentence or two."""
    return say("workloads.own_below") if name == OWN_TITLE else story_text(name)
