"""Which Kafka wrote a directory, from the traces it left."""

from collections.abc import Iterator
from dataclasses import dataclass

from kafkaviz import versions
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch_records, metadata, record_heads
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.format.names import BOOTSTRAP, LEADER_EPOCHS, PARTITION_METADATA
from kafkaviz.log.broker import CLEAN_SHUTDOWN, Broker
from kafkaviz.log.file import read
from kafkaviz.versions import Release

NOTHING_DECIDES = "nothing says that it was not the newest that is known"
MOST_BYTES = 1 << 20  # of bootstrap.checkpoint, which holds a few records


@dataclass(frozen=True)
class Trace:
    """Something on disk that only some releases leave."""

    because: str
    first: Release | None = None  # it was not there before this release
    last: Release | None = None  # it is not there after this one


@dataclass(frozen=True)
class Looks:
    """The releases that fit every trace, and the traces that say so."""

    first: Release | None
    last: Release | None
    because: str

    @property
    def text(self) -> str:
        """4.3 or later; 2.8 to 3.6; an unknown version."""
        if self.first and self.last and self.last > self.first:
            return f"{versions.text(self.first)} to {versions.text(self.last)}"
        if self.first and self.last:
            return versions.text(self.first)
        if self.first:
            return f"{versions.text(self.first)} or later"
        return f"{versions.text(self.last)} or earlier" if self.last else "of an unknown version"


@dataclass(frozen=True)
class Assumed:
    """The release whose behaviour is told, and why that one."""

    version: tuple[int, ...]
    because: str

    @property
    def text(self) -> str:
        """4.3.1."""
        return ".".join(map(str, self.version))

    @property
    def is_decided(self) -> bool:
        """Whether a trace says so: else it is the newest that is known."""
        return not self.because.endswith(NOTHING_DECIDES)


def looks_like(broker: Broker) -> Looks:
    """The versions that may have written the directory, the strongest traces named."""
    traces = list(_traces(broker))
    first = max((trace for trace in traces if trace.first), key=lambda trace: trace.first, default=None)
    last = min((trace for trace in traces if trace.last), key=lambda trace: trace.last, default=None)
    because = "; ".join(dict.fromkeys(trace.because for trace in (first, last) if trace))
    return Looks(first.first if first else None, last.last if last else None, because)


def assumed_version(broker: Broker, given: str | None = None) -> Assumed:
    """The release given, such as "3.9" or "4.3.1"; else what the directory's own traces say; else the newest that is known.

    A trace that only says "not before" leaves all later ones, unless it tells the release that formatted the directory.
    """
    if given:
        return Assumed(versions.parse(given), "it was given")
    newest, looks = versions.NEWEST_RELEASE, looks_like(broker)
    release = looks.last or formatted_by(broker)
    if release is None:
        because = "; ".join(filter(None, (looks.because, NOTHING_DECIDES)))
        return Assumed(newest, because)
    return Assumed(newest if release[:2] == newest[:2] else release, looks.because)


def _traces(broker: Broker) -> Iterator[Trace]:
    yield from _metadata_version(broker)
    if "brokerEpoch" in (broker.clean_body or {}):
        yield Trace(".kafka_cleanshutdown holds a broker epoch, as 3.7 brought", first=(3, 7))
    elif broker.clean and broker.clean_body is None and CLEAN_SHUTDOWN not in {problem.path.name for problem in broker.problems}:
        yield Trace(".kafka_cleanshutdown is empty, as up to 3.6", last=(3, 6))
    if broker.directory_id:
        yield Trace("meta.properties names a directory id, as 3.7 brought", first=(3, 7))
    if broker.properties.get("version", "0") == "0" and broker.properties:
        yield Trace("meta.properties is of the ZooKeeper kind, gone in 4.0", last=(3, 9))
    names = {found.name for partition in broker.partitions for found in partition.others}
    if PARTITION_METADATA in names:
        yield Trace("partition.metadata names topic ids, as 2.8 brought", first=(2, 8))
    elif LEADER_EPOCHS in names:
        yield Trace("leader-epoch-checkpoint is there, as 0.11 brought", first=(0, 11))


def formatted_by(broker: Broker) -> Release | None:
    """The first release that can have formatted the directory, so that no older one wrote what is in it; None if nothing tells."""
    level = _metadata_level(broker)
    return versions.release_of_metadata_version(level) if level is not None else None


def _metadata_version(broker: Broker) -> Iterator[Trace]:
    """The metadata.version that the directory was formatted with."""
    level, release = _metadata_level(broker), formatted_by(broker)
    if release:
        yield Trace(f"{BOOTSTRAP} sets metadata.version to level {level}, which {versions.text(release)} brought", first=release)


def _metadata_level(broker: Broker) -> int | None:
    """The level of metadata.version in bootstrap.checkpoint, which is written when a directory is formatted."""
    path = broker.path / BOOTSTRAP
    try:
        return _feature_levels(read(path, 0, MOST_BYTES)).get("metadata.version") if path.exists() else None
    except KafkavizError:
        return None


def _feature_levels(bootstrap: bytes) -> dict[str, int]:
    """Each feature and its level; a .checkpoint is batch after batch, like a .log. Read without any compiled code: a lookup asks too."""
    levels: dict[str, int] = {}
    while len(bootstrap) > HEADER_BYTES:
        batch = bytes(batch_records.whole(bootstrap))
        for value in record_heads.values(batch):
            feature = metadata.feature_level(value or b"")
            levels.update({feature.name: feature.level} if feature else {})
        bootstrap = bootstrap[len(batch) :]
    return levels
