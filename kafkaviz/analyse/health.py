"""The health of a topic-partition and of a broker directory: all findings, the worst first, and what the next start will do.

    health = check("/var/lib/kafka")
    health.counts          {"error": 0, "warning": 2, "info": 5}
    health.findings[0]     Finding(code="unclean-shutdown", ...)
    health.restart.starts  True
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kafkaviz import versions
from kafkaviz.analyse.checks import between, cost, other_files, retention, segment, state
from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.segment import Checked
from kafkaviz.analyse.finding import CODES, FAMILIES, SEVERITIES, Code, Evidence, Finding, Version, as_info, counts, in_order
from kafkaviz.analyse.infer.version import formatted_by, looks_like
from kafkaviz.analyse.restart import NEWEST, Restart, foretell, foretell_partition
from kafkaviz.errors import KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.log import archive, file
from kafkaviz.log.broker import CHECKPOINTS, META_PROPERTIES, Broker, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.simulate.config import IndexConfig

__all__ = [
    "CODES", "FAMILIES", "SEVERITIES", "Assumed", "Code", "Evidence", "Finding", "Health", "assumed_version", "check", "check_partition",
    "counts", "facts_of", "in_order", "joined",
]  # fmt: skip

COMPACTED_TOPICS = ("__consumer_offsets", "__transaction_state", "__share_group_state")


@dataclass(frozen=True)
class Assumed:
    """The release whose behaviour is told, and why that one."""

    version: Version
    because: str

    @property
    def text(self) -> str:
        """4.3.1."""
        return ".".join(map(str, self.version))


@dataclass(frozen=True)
class Health:
    """All findings about a broker directory or one partition, and the start that is foretold; None where that could not be told."""

    broker: Broker
    version: Assumed
    findings: tuple[Finding, ...]
    restart: Restart | None

    @property
    def counts(self) -> dict[str, int]:
        """How many findings of each severity."""
        return counts(self.findings)

    def of(self, partition: str | None) -> tuple[Finding, ...]:
        """The findings about one partition directory, or None: about the broker directory itself."""
        return tuple(one for one in self.findings if one.partition == partition)


def assumed_version(broker: Broker, given: str | None = None) -> Assumed:
    """The release given, such as "3.9" or "4.3.1"; else what the directory's own traces say; else the newest that is known.

    A trace that only says "not before" leaves all later ones, unless it tells the release that formatted the directory.
    """
    if given:
        return Assumed(versions.parse(given), "it was given")
    looks = looks_like(broker)
    release = looks.last or formatted_by(broker)
    if release is None:
        because = "; ".join(filter(None, (looks.because, "nothing says that it was not the newest that is known")))
        return Assumed(NEWEST, because)
    return Assumed(NEWEST if release[:2] == NEWEST[:2] else release, looks.because)


def check(
    broker: Broker | Path | str, version: str | None = None, now_ms: int | None = None, partition: str | None = None,
    settings: Settings | None = None, watch: Callable[[Partition], None] | None = None,
) -> Health:
    """The health of a broker directory, or of one partition directory in it; of what was opened as one partition, of that alone.

    broker: as it was opened, or its path, as for open_broker.
    version: as for assumed_version. now_ms: the time that counts as now, by default that of the newest .log or checkpoint.
    settings: what each partition's log is run with, by default as the metadata log and a server.properties beside it tell.
    watch(partition) is told of each partition before it is read.
    """
    broker = broker if isinstance(broker, Broker) else open_broker(broker)
    assumed = assumed_version(broker, version)
    partition = partition or (broker.partitions[0].directory if is_lone(broker) else None)
    known = settings or open_settings(broker, assumed.version)
    wanted = broker.partitions if partition is None else (broker.partition(partition),)
    now_ms = newest_ms(broker) if now_ms is None else now_ms
    compacted = compacted_partitions(broker)
    findings: list[Finding] = []
    for one in wanted:
        if watch:
            watch(one)
        findings += check_partition(one, facts_of(broker, one, assumed, now_ms, compacted, known))
    if partition is None and _is_whole(broker):
        findings += _of_broker(broker, assumed)
    told = _restart(broker, wanted[0] if partition is not None else None, assumed, known)
    if told is not None:
        findings += state.of_restart(told, assumed.version)
    return Health(broker, assumed, in_order(findings), told)


def facts_of(
    broker: Broker, partition: Partition, assumed: Assumed, now_ms: int, compacted: frozenset[tuple[str, int]], settings: Settings
) -> Facts:
    """What the checks of a partition and its segments need to know."""
    policy = str(settings.find(partition.topic, "cleanup.policy").value).split(",")
    was_compacted = partition.topic in COMPACTED_TOPICS or (partition.topic, partition.partition) in compacted
    metadata_log = partition.topic == other_files.METADATA_TOPIC
    return Facts(
        partition=partition.directory,
        clean=broker.clean if _is_whole(broker) else None,
        version=assumed.version,
        oldest_writer=formatted_by(broker) or (),
        now_ms=now_ms,
        compacted=was_compacted or "compact" in policy,
        metadata_log=metadata_log,
        expires="delete" in policy and not metadata_log and not (was_compacted and policy == ["delete"]),
        retention_ms=int(settings.find(partition.topic, "retention.ms").value),
    )


def check_partition(partition: Partition, facts: Facts) -> list[Finding]:
    """The findings about one partition, read here and now."""
    return joined(partition, facts, [segment.check(one, facts) for one in partition.segments])


def joined(partition: Partition, facts: Facts, checked: Sequence[Checked]) -> list[Finding]:
    """The findings about one partition from those of its segments, in its order, wherever they were read."""
    findings = [found for one in checked for found in one.findings]
    summaries = [one.summary for one in checked if one.summary is not None]
    findings += between.of_partition(partition, summaries, facts)
    findings += other_files.of_partition(partition, summaries, facts)
    findings += state.of_partition(partition, summaries, facts)
    findings += retention.of_partition(summaries, facts)
    findings += cost.of_partition(summaries, facts)
    return as_info(findings) if partition.state == "delete" else findings


def newest_ms(broker: Broker) -> int:
    """When the broker last wrote, as far as a copy tells: the newest modification time of its logs and checkpoints."""
    logs = [one.log.mtime_ns for partition in broker.partitions for one in partition.live]
    checkpoints = [path for name in CHECKPOINTS.values() if (path := broker.path / name).exists()]
    return max([*logs, *(file.info(path).mtime_ns for path in checkpoints)], default=0) // 1_000_000


def compacted_partitions(broker: Broker) -> frozenset[tuple[str, int]]:
    """The topic-partitions that were compacted once, as cleaner-offset-checkpoint has them."""
    path = broker.path / other_files.CLEANER_CHECKPOINT
    try:
        return frozenset(checkpoint.parse_offsets(file.read_text(path))) if path.exists() else frozenset()
    except KafkavizError:
        return frozenset()


def is_lone(broker: Broker) -> bool:
    """Whether one partition directory was opened, not the broker directory around it."""
    return bool(broker.partitions) and broker.path != archive.opened(broker.source)


def _is_whole(broker: Broker) -> bool:
    """Whether the directory around the partitions is a broker's."""
    return (broker.path / META_PROPERTIES).exists() or bool(broker.clean)


def _of_broker(broker: Broker, assumed: Assumed) -> Iterator[Finding]:
    yield from other_files.of_broker(broker, assumed.version)
    yield from state.of_broker(broker, assumed.version)
    yield from cost.of_broker(broker, assumed.version)


def _restart(broker: Broker, partition: Partition | None, assumed: Assumed, settings: Settings) -> Restart | None:
    """None where a file that a start reads may not be read; without its broker directory a partition counts as stopped cleanly."""
    def config(one: Partition) -> IndexConfig:
        names = ("index.interval.bytes", "segment.index.bytes")
        return IndexConfig(*(int(settings.find(one.topic, name).value) for name in names))
    broker = broker if _is_whole(broker) else replace(broker, clean=True)
    try:
        if partition is not None:
            return foretell_partition(broker, partition, config(partition), assumed.version)
        return foretell(broker, config, assumed.version)
    except KafkavizError:
        return None
