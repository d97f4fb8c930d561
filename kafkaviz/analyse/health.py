"""The health of a topic-partition and of a broker directory: all findings, the worst first, and what the next start will do.

    health = check(open_broker("/var/lib/kafka"))
    health.counts          {"error": 0, "warning": 2, "info": 5}
    health.findings[0]     Finding(code="unclean-shutdown", ...)
    health.restart.starts  True
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kafkaviz import versions
from kafkaviz.analyse.checks import between, other_files, retention, segment, settings, state
from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.segment import Checked
from kafkaviz.analyse.finding import CODES, FAMILIES, SEVERITIES, Code, Evidence, Finding, Version, as_info, counts, in_order
from kafkaviz.analyse.infer.version import formatted_by, looks_like
from kafkaviz.analyse.restart import NEWEST, Restart, Settings, defaults, foretell, foretell_partition
from kafkaviz.errors import KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.log import file
from kafkaviz.log.broker import META_PROPERTIES, Broker
from kafkaviz.log.partition import Partition

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
    """The release given, such as "3.9" or "4.3.1"; else what the directory's own traces say; else the newest that is known."""
    if given:
        return Assumed(versions.parse(given), "it was given")
    looks = looks_like(broker)
    release = looks.last or looks.first
    if release is None:
        return Assumed(NEWEST, "nothing tells; this is the newest that is known")
    return Assumed(NEWEST if release[:2] == NEWEST[:2] else release, looks.because)


def check(
    broker: Broker, version: str | None = None, now_ms: int | None = None, partition: str | None = None,
    settings_of: Settings | None = None, watch: Callable[[Partition], None] | None = None,
) -> Health:
    """The health of a broker directory, or of one partition directory in it.

    version: as for assumed_version. now_ms: the time that counts as now, by default that of the newest file. settings_of: what each
    partition's log is run with. watch(partition) is told of each partition before it is read.
    """
    assumed = assumed_version(broker, version)
    wanted = broker.partitions if partition is None else (broker.partition(partition),)
    now_ms = newest_ms(broker) if now_ms is None else now_ms
    compacted = compacted_partitions(broker)
    findings: list[Finding] = []
    for one in wanted:
        if watch:
            watch(one)
        findings += check_partition(one, facts_of(broker, one, assumed, now_ms, compacted))
    if partition is None and _is_whole(broker):
        findings += _of_broker(broker, assumed)
    told = _restart(broker, wanted[0] if partition is not None else None, assumed, settings_of or defaults)
    if told is not None and (partition is not None or _is_whole(broker)):
        findings += state.of_restart(told, assumed.version)
    return Health(broker, assumed, in_order(findings), told)


def facts_of(
    broker: Broker, partition: Partition, assumed: Assumed, now_ms: int, compacted: frozenset[tuple[str, int]] = frozenset()
) -> Facts:
    """What the checks of a partition's segments need to know."""
    return Facts(
        partition=partition.directory,
        clean=broker.clean if _is_whole(broker) else None,
        version=assumed.version,
        oldest_writer=formatted_by(broker) or (),
        now_ms=now_ms,
        compacted=partition.topic in COMPACTED_TOPICS or (partition.topic, partition.partition) in compacted,
        metadata_log=partition.topic == other_files.METADATA_TOPIC,
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
    findings += retention.of_partition(summaries, facts, deletes=not facts.compacted and not facts.metadata_log)
    findings += settings.of_partition(summaries, facts)
    return as_info(findings) if partition.state == "delete" else findings


def newest_ms(broker: Broker) -> int:
    """The modification time of the newest file in use: when the broker last wrote, as far as a copy tells."""
    logs = [one.log.mtime_ns for partition in broker.partitions for one in partition.segments if one.log]
    small = [found.mtime_ns for partition in broker.partitions for found in partition.others]
    return max([*logs, *small], default=0) // 1_000_000


def compacted_partitions(broker: Broker) -> frozenset[tuple[str, int]]:
    """The topic-partitions that were compacted once, as cleaner-offset-checkpoint has them."""
    path = broker.path / other_files.CLEANER_CHECKPOINT
    try:
        return frozenset(checkpoint.parse_offsets(file.read_text(path))) if path.exists() else frozenset()
    except KafkavizError:
        return frozenset()


def _is_whole(broker: Broker) -> bool:
    """Whether the directory around the partitions is a broker's."""
    return (broker.path / META_PROPERTIES).exists() or bool(broker.clean)


def _of_broker(broker: Broker, assumed: Assumed) -> Iterator[Finding]:
    yield from other_files.of_broker(broker, assumed.version)
    yield from state.of_broker(broker, assumed.version)
    yield from settings.of_broker(broker, assumed.version)


def _restart(broker: Broker, partition: Partition | None, assumed: Assumed, settings_of: Settings) -> Restart | None:
    """None where a file that a start reads may not be read."""
    try:
        if partition is not None:
            return foretell_partition(broker, partition, settings_of(partition), assumed.version)
        return foretell(broker, settings_of, assumed.version)
    except KafkavizError:
        return None
