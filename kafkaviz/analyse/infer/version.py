"""Which Kafka wrote a directory, from the traces it left."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafkaviz import versions
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch_records, metadata, record_heads
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.format.names import BOOTSTRAP, LEADER_EPOCHS, PARTITION_METADATA
from kafkaviz.log import metadata_log
from kafkaviz.log.broker import CLEAN_SHUTDOWN, Broker
from kafkaviz.log.file import read
from kafkaviz.versions import Release

METADATA_VERSION = "metadata.version"
GIVEN, OF_WORKLOAD = "it was given", "the workload is for it"
NOTHING_DECIDES = "nothing says that it was not the newest that is known"
MOST_BYTES = 1 << 20  # of bootstrap.checkpoint, which holds a few records, and of a snapshot, which begins with the features


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

    A trace that only says "not before" leaves all later ones, but for the metadata.version that the brokers last agreed on: none is likely
    to be much newer. Where something of a later release lies there all the same, they are: a level is raised some time after an upgrade.
    """
    if given:
        return Assumed(versions.parse(given), GIVEN)
    newest, looks = versions.NEWEST_RELEASE, looks_like(broker)
    release = next((one for one in (looks.last, _agreed_on(broker)) if one and one >= (looks.first or one)), None)
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
    return _brought(_formatted_with(broker))


def _agreed_on(broker: Broker) -> Release | None:
    """The release that brought the metadata.version of the newest snapshot, or of the formatting where there is none."""
    return next((_brought(level) for _, level in reversed(_levels(broker))), None)


def _metadata_version(broker: Broker) -> Iterator[Trace]:
    """The metadata.version that the directory was formatted with, and the one that it was raised to since."""
    for file, level in _levels(broker):
        if release := _brought(level):
            yield Trace(f"{file} sets metadata.version to level {level}, which {versions.text(release)} brought", first=release)


def _brought(level: int | None) -> Release | None:
    return None if level is None else versions.release_of_metadata_version(level)


def _levels(broker: Broker) -> list[tuple[str, int]]:
    """(file, level of metadata.version): of the formatting, then of the newest snapshot where that differs."""
    formatted, snapshot = _formatted_with(broker), _newest_snapshot(broker)
    told = [(BOOTSTRAP, formatted)] if formatted is not None else []
    return told if snapshot is None or snapshot[1] == formatted else [*told, snapshot]


def _formatted_with(broker: Broker) -> int | None:
    """The level in bootstrap.checkpoint, which is written when a directory is formatted and never again."""
    path = broker.path / BOOTSTRAP
    return _level(path) if path.exists() else None


def _newest_snapshot(broker: Broker) -> tuple[str, int] | None:
    """The newest snapshot of the metadata log that can be read, and the level in it; None where there is none."""
    try:
        log = metadata_log.found_in(broker)
    except KafkavizError:
        return None
    found = ((file, _level(file.path)) for file, _ in (metadata_log.snapshots(log) if log else ()))
    return next(((f"{metadata_log.DIRECTORY}/{file.name}", level) for file, level in found if level is not None), None)


def _level(path: Path) -> int | None:
    """The level that a .checkpoint of metadata records sets; None if it sets none before its end, or before what cannot be read.

    It is batch after batch, like a .log. Read without any compiled code: a lookup asks too.
    """
    level = None
    try:
        data = read(path, 0, MOST_BYTES)
        while level is None and len(data) > HEADER_BYTES:
            batch = bytes(batch_records.whole(data))
            features = (metadata.feature_level(value or b"") for value in record_heads.values(batch))
            level = next((one.level for one in features if one and one.name == METADATA_VERSION), None)
            data = data[len(batch) :]
    except KafkavizError:
        return None
    return level
