"""What can be tuned: a topic-partition, a topic, a broker directory or a workload; and what is read
of each.
"""

import hashlib
from dataclasses import dataclass

from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.tuning.options import ALL_OF, BROKER, WORKLOAD
from kafkaviz.ui.workloads import OWN, name_of, story_of
from kafkaviz.units import legible
from kafkaviz.words import say


@dataclass(frozen=True)
class Wanted:
    """What is to be measured. given: as tuning.source.open_source takes it, or the text of a
    workload; sizes: bytes by .log.
    """

    key: str
    given: str
    kind: str
    sizes: tuple[tuple[str, int], ...] = ()
    is_text: bool = False
    version: str | None = None

    @property
    def total_bytes(self) -> int:
        """Of .log, that are read."""
        return sum(size for _, size in self.sizes)


def scopes(
    broker: Broker | None, own: Partition | None, others: int = 2
) -> dict[str, tuple[str, str]]:
    """What there is to choose from, by label: (kind, topic-partition or topic).

    The open topic-partition and the largest others, the whole of its topic where that has more, the
    broker, and a workload.
    """
    found = {}
    if broker and own:
        near = sorted(_rivals(broker, own), key=log_bytes, reverse=True)[:others]
        several = (
            sum(one.topic == own.topic and one.state == "current" for one in broker.partitions) > 1
        )
        shown = sorted([own, *near[: others - several]], key=log_bytes, reverse=True)
        found |= {legible(one.directory): ("partition", one.directory) for one in shown}
        if several:
            found[f"{ALL_OF}{legible(own.topic)}"] = ("topic", own.topic)
    if broker and broker.partitions:
        found[BROKER] = ("broker", "")
    return found | {WORKLOAD: ("workload", "")}


def _rivals(broker: Broker, own: Partition) -> list[Partition]:
    usual = (
        one
        for one in broker.partitions
        if one.state == "current" and not one.topic.startswith("__")
    )
    return [one for one in usual if one.directory != own.directory and one.topic != own.topic]


def log_bytes(partition: Partition) -> int:
    """Of all .log files of a topic-partition."""
    return sum(one.log.size_bytes for one in partition.live if one.log)


def wanted(here: Listed, kind: str, name: str, version: str | None) -> Wanted:
    """A part of a broker directory."""
    broker = here.broker
    chosen = [
        one for one in broker.partitions if one.state == "current" and _is_meant(one, kind, name)
    ]
    sizes = tuple(
        (f"{one.directory}/{part.name}.log", part.log.size_bytes)
        for one in chosen
        for part in one.live
    )
    given = {
        "partition": lambda: broker.partition(name).path,
        "topic": lambda: broker.path / name,
        "broker": lambda: broker.path,
    }[kind]()
    return Wanted(f"{here.key}|{kind}|{name!a}|{version}", str(given), kind, sizes, version=version)


def _is_meant(partition: Partition, kind: str, name: str) -> bool:
    return kind == "broker" or name == (
        partition.directory if kind == "partition" else partition.topic
    )


def wanted_workload(name: str, text: str, version: str | None) -> Wanted:
    """A workload that comes along, by its title, or a text that somebody wrote."""
    if name != OWN:
        return Wanted(f"workload|{name}|{version}", name_of(name), "workload", version=version)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Wanted(f"workload|{digest}|{version}", text, "workload", is_text=True, version=version)


def story(name: str) -> str:
    """What a workload is about, in a sentence or two."""
    return say("workloads.own_below") if name == OWN else story_of(name)
