"""Which Kafka wrote a directory, from the traces it left."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from kafkaviz import versions
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch_records, metadata, record_heads
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.format.names import (
    BOOTSTRAP,
    CLEAN_SHUTDOWN,
    LEADER_EPOCHS,
    META_PROPERTIES,
    PARTITION_METADATA,
)
from kafkaviz.log import metadata_log
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import read
from kafkaviz.log.segment import Segment
from kafkaviz.versions import Release

METADATA_VERSION = "metadata.version"
GIVEN, OF_WORKLOAD = "it was given", "the workload is for it"
NOTHING_DECIDES = "nothing says that it was not the newest that is known"
READ_AS_NEWEST = (
    f"that is newer than Kafka {versions.NEWEST}, the newest that is known, so it is read as that "
    "one"
)
# of what no release that is known writes: this one, or a later one
LATER = max(versions.METADATA_VERSION_FIRST_LEVELS)
KNOWN_VERSIONS = {META_PROPERTIES: 1, CLEAN_SHUTDOWN: 0}
FIRST_SNAPSHOT = f"{0:020d}-{0:010d}.checkpoint"
# of bootstrap.checkpoint, which holds a few records, and of a snapshot, which begins with the
# features
MOST_BYTES = 1 << 20


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
    def is_newer(self) -> bool:
        """Whether that is a later release than any that is known."""
        return self.first is not None and not versions.is_known(self.first)

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
        return not self.because.endswith((NOTHING_DECIDES, READ_AS_NEWEST))


def newer(because: str) -> str:
    """Of the because of an Assumed: that the directory is newer than any release that is known, in
    one sentence; "" where it is not.
    """
    return because if because.endswith(READ_AS_NEWEST) else ""


def looks_like(broker: Broker) -> Looks:
    """The versions that may have written the directory, the strongest traces named."""
    traces = list(_traces(broker))
    first = max(
        (trace for trace in traces if trace.first),
        key=lambda trace: cast(Release, trace.first),
        default=None,
    )
    last = min(
        (trace for trace in traces if trace.last),
        key=lambda trace: cast(Release, trace.last),
        default=None,
    )
    because = "; ".join(dict.fromkeys(trace.because for trace in (first, last) if trace))
    return Looks(first.first if first else None, last.last if last else None, because)


def assumed_version(broker: Broker, given: str | None = None) -> Assumed:
    """The release given, such as "3.9" or "4.3.1"; else what the directory's own traces say; else
    the newest that is known.

    A trace that only says "not before" leaves all later ones, but for the metadata.version that the
    brokers last agreed on: none is likely to be much newer. Where something of a later release lies
    there all the same, they are: a level is raised some time after an upgrade. What is newer than
    any release that is known is read as the newest of them.
    """
    if given:
        return Assumed(versions.parse(given), GIVEN)
    newest, looks = versions.NEWEST_RELEASE, looks_like(broker)
    if looks.is_newer:
        return Assumed(newest, "; ".join((looks.because, READ_AS_NEWEST)))
    release = next(
        (one for one in (looks.last, _agreed_on(broker)) if one and one >= (looks.first or one)),
        None,
    )
    if release is None:
        because = "; ".join(filter(None, (looks.because, NOTHING_DECIDES)))
        return Assumed(newest, because)
    return Assumed(versions.recorded(release), looks.because)


def _traces(broker: Broker) -> Iterator[Trace]:
    yield from _unknown(broker)
    yield from _metadata_version(broker)
    yield from _metadata_log(broker)
    if "brokerEpoch" in (broker.clean_body or {}):
        yield Trace(".kafka_cleanshutdown holds a broker epoch, as 3.7 brought", first=(3, 7))
    elif (
        broker.clean
        and broker.clean_body is None
        and CLEAN_SHUTDOWN not in {problem.path.name for problem in broker.problems}
    ):
        yield Trace(".kafka_cleanshutdown is empty, as up to 3.6", last=(3, 6))
    if broker.directory_id:
        yield Trace("meta.properties names a directory id, as 3.7 brought", first=(3, 7))
    if broker.properties.get("version", "0") == "0" and broker.properties:
        yield Trace("meta.properties is of the ZooKeeper kind, gone in 4.0", last=(3, 9))
    found = {one.name for partition in broker.partitions for one in partition.others}
    if PARTITION_METADATA in found:
        yield Trace("partition.metadata names topic ids, as 2.8 brought", first=(2, 8))
    elif LEADER_EPOCHS in found:
        yield Trace("leader-epoch-checkpoint is there, as 0.11 brought", first=(0, 11))


def _unknown(broker: Broker) -> Iterator[Trace]:
    """What no release that is known writes: a later one does, where the bytes are whole."""
    told = {
        META_PROPERTIES: broker.properties.get("version"),
        CLEAN_SHUTDOWN: (broker.clean_body or {}).get("version"),
    }
    for name, version in told.items():
        if re.fullmatch("[0-9]{1,9}", str(version)) and int(str(version)) > KNOWN_VERSIONS[name]:
            yield Trace(
                f"{name} is of version {version}, which Kafka {versions.NEWEST} does not know",
                first=LATER,
            )
    for file, found in _snapshot_features(broker):
        for name, level in found.items():
            if name != METADATA_VERSION and not versions.knows_level(name, level):
                yield Trace(
                    (
                        f"{file} sets {name} to level {level}, which Kafka {versions.NEWEST} does "
                        "not know"
                    ),
                    first=LATER,
                )


def _metadata_log(broker: Broker) -> Iterator[Trace]:
    """How 4.4 formats a directory, and how it leaves the metadata log at a stop."""
    if METADATA_VERSION in _features(broker.path / metadata_log.DIRECTORY / FIRST_SNAPSHOT):
        yield Trace(
            "the first snapshot of the metadata log sets metadata.version, as 4.4 brought",
            first=(4, 4),
        )
    log = next((one for one in broker.partitions if one.directory == metadata_log.DIRECTORY), None)
    if broker.clean and log and log.live and is_untrimmed(log.live[-1]):
        yield Trace(
            "a clean stop left the indexes of the metadata log untrimmed, as 4.4 brought",
            first=(4, 4),
        )


def is_untrimmed(segment: Segment) -> bool:
    """Whether both indexes of a segment have their preallocated length: they go on behind the
    entries. False where one cannot be read.
    """
    try:
        return bool(
            segment.index
            and segment.timeindex
            and segment.offset_slots.unwritten
            and segment.time_slots.unwritten
        )
    except KafkavizError:
        return False


def formatted_by(broker: Broker) -> Release | None:
    """The first release that can have formatted the directory, so that no older one wrote what is
    in it; None if nothing tells.
    """
    found = _formatted_with(broker)
    return _brought(found[1]) if found else None


def _agreed_on(broker: Broker) -> Release | None:
    """The release that brought the metadata.version of the newest snapshot, or of the formatting
    where there is none.
    """
    return next((_brought(level) for _, level in reversed(_levels(broker))), None)


def _metadata_version(broker: Broker) -> Iterator[Trace]:
    """The metadata.version that the directory was formatted with, and the one that it was raised to
    since.
    """
    for file, level in _levels(broker):
        if not versions.knows_level(METADATA_VERSION, level):
            yield Trace(
                (
                    f"{file} sets {METADATA_VERSION} to level {level}, which Kafka "
                    f"{versions.NEWEST} does not know"
                ),
                first=LATER,
            )
        elif release := _brought(level):
            yield Trace(
                (
                    f"{file} sets metadata.version to level {level}, which "
                    f"{versions.text(release)} brought"
                ),
                first=release,
            )


def _brought(level: int) -> Release | None:
    return versions.release_of_metadata_version(level)


def _levels(broker: Broker) -> list[tuple[str, int]]:
    """(file, level of metadata.version): of the formatting, then of the newest snapshot where that
    differs.
    """
    formatted, snapshot = _formatted_with(broker), _newest_snapshot(broker)
    told = [formatted] if formatted is not None else []
    return (
        told
        if snapshot is None or (formatted and snapshot[1] == formatted[1])
        else [*told, snapshot]
    )


def _formatted_with(broker: Broker) -> tuple[str, int] | None:
    """(file, level): of bootstrap.checkpoint, or since 4.4 of the first snapshot, which formatting
    writes and nothing after it.
    """
    first = f"{metadata_log.DIRECTORY}/{FIRST_SNAPSHOT}"
    found = (
        (name, _features(broker.path / name).get(METADATA_VERSION)) for name in (BOOTSTRAP, first)
    )
    return next(((name, level) for name, level in found if level is not None), None)


def _newest_snapshot(broker: Broker) -> tuple[str, int] | None:
    """The newest snapshot of the metadata log that can be read, and the level in it; None where
    there is none.
    """
    levels = ((file, found.get(METADATA_VERSION)) for file, found in _snapshot_features(broker))
    return next(((file, level) for file, level in levels if level is not None), None)


def _snapshot_features(broker: Broker) -> Iterator[tuple[str, dict[str, int]]]:
    """(file, features) of the newest snapshot of the metadata log that sets any; of those before it
    nothing is said.
    """
    try:
        log = metadata_log.found_in(broker)
    except KafkavizError:
        return
    for file, _ in metadata_log.snapshots(log) if log else ():
        if found := _features(file.path):
            yield f"{metadata_log.DIRECTORY}/{file.name}", found
            return


def _features(path: Path) -> dict[str, int]:
    """The levels that a .checkpoint of metadata records sets, up to the batch that sets
    metadata.version: a snapshot begins with them.

    Nothing where there is no file, or it sets none before its end or before what cannot be read. It
    is batch after batch, like a .log. Read without any compiled code: a lookup asks too.
    """
    levels: dict[str, int] = {}
    try:
        data = read(path, 0, MOST_BYTES)
        while METADATA_VERSION not in levels and len(data) > HEADER_BYTES:
            batch = bytes(batch_records.whole(data))
            features = (
                metadata.feature_level(value or b"") for value in record_heads.values(batch)
            )
            levels |= {one.name: one.level for one in features if one}
            data = data[len(batch) :]
    except KafkavizError:
        pass
    return levels
