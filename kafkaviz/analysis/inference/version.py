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
CALLER_DECIDES, WORKLOAD_DECIDES = "it was given", "the workload is for it"
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
class ReleaseTrace:
    """Something on disk that only some releases leave."""

    reason: str
    first: Release | None = None  # it was not there before this release
    last: Release | None = None  # it is not there after this one


@dataclass(frozen=True)
class InferredRelease:
    """The releases that fit every trace, and the traces that say so."""

    first: Release | None
    last: Release | None
    reason: str

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
class AssumedRelease:
    """The release whose behaviour is told, and why that one."""

    version: tuple[int, ...]
    reason: str

    @property
    def text(self) -> str:
        """4.3.1."""
        return ".".join(map(str, self.version))

    @property
    def is_decided(self) -> bool:
        """Whether a trace says so: else it is the newest that is known."""
        return not self.reason.endswith((NOTHING_DECIDES, READ_AS_NEWEST))


def newer_than_known(reason: str) -> str:
    """Of the because of an Assumed: that the directory is newer than any release that is known, in
    one sentence; "" where it is not.
    """
    return reason if reason.endswith(READ_AS_NEWEST) else ""


def infer_release(broker: Broker) -> InferredRelease:
    """The versions that may have written the directory, the strongest traces named."""
    traces = list(_find_traces(broker))
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
    reason = "; ".join(dict.fromkeys(trace.reason for trace in (first, last) if trace))
    return InferredRelease(first.first if first else None, last.last if last else None, reason)


def assumed_version(broker: Broker, version: str | None = None) -> AssumedRelease:
    """The release given, such as "3.9" or "4.3.1"; else what the directory's own traces say; else
    the newest that is known.

    A trace that only says "not before" leaves all later ones, but for the metadata.version that the
    brokers last agreed on: none is likely to be much newer. Where something of a later release lies
    there all the same, they are: a level is raised some time after an upgrade. What is newer than
    any release that is known is read as the newest of them.
    """
    if version:
        return AssumedRelease(versions.parse(version), CALLER_DECIDES)
    newest, inferred = versions.NEWEST_RELEASE, infer_release(broker)
    if inferred.is_newer:
        return AssumedRelease(newest, "; ".join((inferred.reason, READ_AS_NEWEST)))
    release = next(
        (
            candidate
            for candidate in (inferred.last, _agreed_release(broker))
            if candidate and candidate >= (inferred.first or candidate)
        ),
        None,
    )
    if release is None:
        reason = "; ".join(filter(None, (inferred.reason, NOTHING_DECIDES)))
        return AssumedRelease(newest, reason)
    return AssumedRelease(versions.recorded_patch(release), inferred.reason)


def _find_traces(broker: Broker) -> Iterator[ReleaseTrace]:
    yield from _unknown_traces(broker)
    yield from _metadata_version_traces(broker)
    yield from _metadata_log_traces(broker)
    if "brokerEpoch" in (broker.clean_body or {}):
        yield ReleaseTrace(
            ".kafka_cleanshutdown holds a broker epoch, as 3.7 brought", first=(3, 7)
        )
    elif (
        broker.is_clean
        and broker.clean_body is None
        and CLEAN_SHUTDOWN not in {problem.path.name for problem in broker.problems}
    ):
        yield ReleaseTrace(".kafka_cleanshutdown is empty, as up to 3.6", last=(3, 6))
    if broker.directory_id:
        yield ReleaseTrace("meta.properties names a directory id, as 3.7 brought", first=(3, 7))
    if broker.properties.get("version", "0") == "0" and broker.properties:
        yield ReleaseTrace("meta.properties is of the ZooKeeper kind, gone in 4.0", last=(3, 9))
    file_names = {
        extra_file.name for partition in broker.partitions for extra_file in partition.other_files
    }
    if PARTITION_METADATA in file_names:
        yield ReleaseTrace("partition.metadata names topic ids, as 2.8 brought", first=(2, 8))
    elif LEADER_EPOCHS in file_names:
        yield ReleaseTrace("leader-epoch-checkpoint is there, as 0.11 brought", first=(0, 11))


def _unknown_traces(broker: Broker) -> Iterator[ReleaseTrace]:
    """What no release that is known writes: a later one does, where the bytes are whole."""
    versions_by_file = {
        META_PROPERTIES: broker.properties.get("version"),
        CLEAN_SHUTDOWN: (broker.clean_body or {}).get("version"),
    }
    for name, version in versions_by_file.items():
        if re.fullmatch("[0-9]{1,9}", str(version)) and int(str(version)) > KNOWN_VERSIONS[name]:
            yield ReleaseTrace(
                f"{name} is of version {version}, which Kafka {versions.NEWEST} does not know",
                first=LATER,
            )
    for file, features in _snapshot_features(broker):
        for name, level in features.items():
            if name != METADATA_VERSION and not versions.knows_level(name, level):
                yield ReleaseTrace(
                    (
                        f"{file} sets {name} to level {level}, which Kafka {versions.NEWEST} does "
                        "not know"
                    ),
                    first=LATER,
                )


def _metadata_log_traces(broker: Broker) -> Iterator[ReleaseTrace]:
    """How 4.4 formats a directory, and how it leaves the metadata log at a stop."""
    if METADATA_VERSION in _features(broker.path / metadata_log.DIRECTORY / FIRST_SNAPSHOT):
        yield ReleaseTrace(
            "the first snapshot of the metadata log sets metadata.version, as 4.4 brought",
            first=(4, 4),
        )
    log = next(
        (
            partition
            for partition in broker.partitions
            if partition.directory == metadata_log.DIRECTORY
        ),
        None,
    )
    if broker.is_clean and log and log.live and is_untrimmed(log.live[-1]):
        yield ReleaseTrace(
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
            and segment.offset_slots.unwritten_slots
            and segment.time_slots.unwritten_slots
        )
    except KafkavizError:
        return False


def formatting_release(broker: Broker) -> Release | None:
    """The first release that can have formatted the directory, so that no older one wrote what is
    in it; None if nothing tells.
    """
    formatting = _formatting_level(broker)
    return _release_of_level(formatting[1]) if formatting else None


def _agreed_release(broker: Broker) -> Release | None:
    """The release that brought the metadata.version of the newest snapshot, or of the formatting
    where there is none.
    """
    return next((_release_of_level(level) for _, level in reversed(_levels(broker))), None)


def _metadata_version_traces(broker: Broker) -> Iterator[ReleaseTrace]:
    """The metadata.version that the directory was formatted with, and the one that it was raised to
    since.
    """
    for file, level in _levels(broker):
        if not versions.knows_level(METADATA_VERSION, level):
            yield ReleaseTrace(
                (
                    f"{file} sets {METADATA_VERSION} to level {level}, which Kafka "
                    f"{versions.NEWEST} does not know"
                ),
                first=LATER,
            )
        elif release := _release_of_level(level):
            yield ReleaseTrace(
                (
                    f"{file} sets metadata.version to level {level}, which "
                    f"{versions.text(release)} brought"
                ),
                first=release,
            )


def _release_of_level(level: int) -> Release | None:
    return versions.release_of_metadata_version(level)


def _levels(broker: Broker) -> list[tuple[str, int]]:
    """(file, level of metadata.version): of the formatting, then of the newest snapshot where that
    differs.
    """
    formatting, snapshot = _formatting_level(broker), _newest_snapshot(broker)
    file_levels = [formatting] if formatting is not None else []
    return (
        file_levels
        if snapshot is None or (formatting and snapshot[1] == formatting[1])
        else [*file_levels, snapshot]
    )


def _formatting_level(broker: Broker) -> tuple[str, int] | None:
    """(file, level): of bootstrap.checkpoint, or since 4.4 of the first snapshot, which formatting
    writes and nothing after it.
    """
    first = f"{metadata_log.DIRECTORY}/{FIRST_SNAPSHOT}"
    file_levels = (
        (name, _features(broker.path / name).get(METADATA_VERSION)) for name in (BOOTSTRAP, first)
    )
    return next(((name, level) for name, level in file_levels if level is not None), None)


def _newest_snapshot(broker: Broker) -> tuple[str, int] | None:
    """The newest snapshot of the metadata log that can be read, and the level in it; None where
    there is none.
    """
    levels = (
        (file, features.get(METADATA_VERSION)) for file, features in _snapshot_features(broker)
    )
    return next(((file, level) for file, level in levels if level is not None), None)


def _snapshot_features(broker: Broker) -> Iterator[tuple[str, dict[str, int]]]:
    """(file, features) of the newest snapshot of the metadata log that sets any; of those before it
    nothing is said.
    """
    try:
        log = metadata_log.find_partition(broker)
    except KafkavizError:
        return
    for file, _ in metadata_log.snapshots(log) if log else ():
        if features := _features(file.path):
            yield f"{metadata_log.DIRECTORY}/{file.name}", features
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
            batch = bytes(batch_records.batch_bytes(data))
            features = (
                metadata.feature_level(value or b"") for value in record_heads.values(batch)
            )
            levels |= {feature.name: feature.level for feature in features if feature}
            data = data[len(batch) :]
    except KafkavizError:
        pass
    return levels
