"""Infers which Kafka release wrote a directory."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from kafkaviz import versions
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch_records, metadata
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
from kafkaviz.messages import Message, message
from kafkaviz.versions import Release

METADATA_VERSION = "metadata.version"
CALLER_DECIDES = message("release.given")
WORKLOAD_DECIDES = message("release.of_workload")
NOTHING_DECIDES = message("release.no_trace")
METADATA_LOG_ELSEWHERE = message("release.metadata_log_elsewhere", newest=versions.NEWEST)
READ_AS_NEWEST = message("release.read_as_newest", newest=versions.NEWEST)
# the release that stands for "newer than all known releases"
LATER = max(versions.METADATA_VERSION_FIRST_LEVELS)
KNOWN_VERSIONS = {META_PROPERTIES: 1, CLEAN_SHUTDOWN: 0}
FIRST_SNAPSHOT = f"{0:020d}-{0:010d}.checkpoint"
# enough for bootstrap.checkpoint, which has a few records, and for the features at the start of a
# snapshot
MAX_BYTES = 1 << 20
Levels = Sequence[tuple[str, int]]  # pairs (file name, metadata.version)


@dataclass(frozen=True)
class ReleaseTrace:
    """Something on disk that no release before `first` or after `last` writes. None: no limit."""

    reason: Message
    first: Release | None = None  # the first release that writes it
    last: Release | None = None  # the last release that writes it


@dataclass(frozen=True)
class InferredRelease:
    """The releases that agree with every trace, from `first` to `last`. None: no limit."""

    first: Release | None
    last: Release | None
    traces: tuple[Message, ...]

    @property
    def reason(self) -> Message | None:
        return message("release.traces", traces=self.traces) if self.traces else None

    @property
    def is_newer(self) -> bool:
        return self.first is not None and not versions.is_known(self.first)

    @property
    def text(self) -> Message:
        """The range in words: "4.3 or later", "2.8 to 3.6", "an unknown version"."""
        first = versions.text(self.first) if self.first else None
        last = versions.text(self.last) if self.last else None
        if self.first and self.last and self.last > self.first:
            return message("release.between", first=first, last=last)
        if first and last:
            return message("release.one", release=first)
        if first:
            return message("release.or_later", release=first)
        if last:
            return message("release.or_earlier", release=last)
        return message("release.unknown")


@dataclass(frozen=True)
class AssumedRelease:
    """The release that checks and lookups assume for a broker, with reasons."""

    release: Release
    traces: tuple[Message, ...]

    @property
    def version(self) -> str:
        return ".".join(map(str, self.release))

    @property
    def reason(self) -> Message:
        return message("release.traces", traces=self.traces)

    @property
    def newer_than_known(self) -> Message | None:
        """Why the files must be from a release that kafkaviz does not know yet.

        None: a known release may have written them.
        """
        return self.reason if READ_AS_NEWEST in self.traces else None

    @property
    def is_decided(self) -> bool:
        """Whether the caller or a trace decided the release. False: the newest known is assumed."""
        undecided = {NOTHING_DECIDES, READ_AS_NEWEST, METADATA_LOG_ELSEWHERE}
        return not undecided.intersection(self.traces[-1:])

    @property
    def is_known(self) -> bool:
        """False if only a metadata log that was not opened can show the release."""
        return METADATA_LOG_ELSEWHERE not in self.traces


def infer_release(broker: Broker) -> InferredRelease:
    return _infer_release(broker, _levels(broker))


def _infer_release(broker: Broker, levels: Levels) -> InferredRelease:
    firsts = []
    lasts = []
    for trace in _find_traces(broker, levels):
        if trace.first:
            firsts.append((trace.first, trace.reason))
        if trace.last:
            lasts.append((trace.last, trace.reason))
    first, first_reason = max(firsts, key=itemgetter(0), default=(None, None))
    last, last_reason = min(lasts, key=itemgetter(0), default=(None, None))
    reasons = dict.fromkeys(filter(None, (first_reason, last_reason)))
    return InferredRelease(first, last, tuple(reasons))


def assume_release(broker: Broker | None, version: str | None = None) -> AssumedRelease:
    """Returns the release whose behaviour is assumed.

    It is the first of these that applies:

    1. `version`, such as "3.9" or "4.3.1".
    2. The newest known release, if the directory is newer than all known releases.
    3. The newest known release, if all of these are true: the metadata log was not opened, no trace
       excludes newer releases, and bootstrap.checkpoint has no metadata.version.
    4. The last release that agrees with all traces.
    5. The release that introduced the newest metadata.version in the files, unless a trace shows a
       later release. A broker is rarely much newer than its metadata.version.
    6. The newest known release.
    """
    if version:
        return AssumedRelease(versions.parse(version), (CALLER_DECIDES,))
    newest = versions.NEWEST_RELEASE
    if broker is None:
        return AssumedRelease(newest, (NOTHING_DECIDES,))
    levels = _levels(broker)
    inferred = _infer_release(broker, levels)
    if inferred.is_newer:
        return AssumedRelease(newest, (*inferred.traces, READ_AS_NEWEST))
    is_formatting_known = _formatting_level(broker) is not None
    if broker.lacks_metadata_log and inferred.last is None and not is_formatting_known:
        return AssumedRelease(newest, (*inferred.traces, METADATA_LOG_ELSEWHERE))
    # the release that introduced the newest metadata.version in the files
    agreed = versions.release_of_metadata_version(levels[-1][1]) if levels else None
    for candidate in (inferred.last, agreed):
        if candidate and candidate >= (inferred.first or candidate):
            return AssumedRelease(versions.recorded_patch(candidate), inferred.traces)
    return AssumedRelease(newest, (*inferred.traces, NOTHING_DECIDES))


def _find_traces(broker: Broker, levels: Levels) -> Iterator[ReleaseTrace]:
    yield from _unknown_traces(broker)
    yield from _metadata_version_traces(levels)
    yield from _metadata_log_traces(broker)
    if "brokerEpoch" in (broker.clean_body or {}):
        yield ReleaseTrace(message("release.broker_epoch"), first=(3, 7))
    elif (
        broker.main_directory.is_clean
        and broker.clean_body is None
        and CLEAN_SHUTDOWN not in {problem.path.name for problem in broker.problems}
    ):
        yield ReleaseTrace(message("release.empty_marker"), last=(3, 6))
    if broker.directory_id:
        yield ReleaseTrace(message("release.directory_id"), first=(3, 7))
    if broker.properties.get("version", "0") == "0" and broker.properties:
        yield ReleaseTrace(message("release.zookeeper_properties"), last=(3, 9))
    file_names = {info.name for partition in broker.partitions for info in partition.other_files}
    if PARTITION_METADATA in file_names:
        yield ReleaseTrace(message("release.topic_ids"), first=(2, 8))
    elif LEADER_EPOCHS in file_names:
        yield ReleaseTrace(message("release.leader_epochs"), first=(0, 11))


def _unknown_traces(broker: Broker) -> Iterator[ReleaseTrace]:
    versions_by_file = {
        META_PROPERTIES: broker.properties.get("version"),
        CLEAN_SHUTDOWN: (broker.clean_body or {}).get("version"),
    }
    for name, version in versions_by_file.items():
        if re.fullmatch("[0-9]{1,9}", str(version)) and int(str(version)) > KNOWN_VERSIONS[name]:
            newest = versions.NEWEST
            reason = message("release.unknown_version", name=name, version=version, newest=newest)
            yield ReleaseTrace(reason, first=LATER)
    file, features = _snapshot_features(broker)
    for name, level in features.items():
        if name != METADATA_VERSION and not versions.knows_level(name, level):
            yield _unknown_level_trace(file, name, level)


def _unknown_level_trace(file: str, name: str, level: int) -> ReleaseTrace:
    newest = versions.NEWEST
    reason = message("release.unknown_level", file=file, name=name, level=level, newest=newest)
    return ReleaseTrace(reason, first=LATER)


def _metadata_log_traces(broker: Broker) -> Iterator[ReleaseTrace]:
    path = broker.path / metadata_log.DIRECTORY
    if METADATA_VERSION in _features(path / FIRST_SNAPSHOT):
        yield ReleaseTrace(message("release.first_snapshot"), first=(4, 4))
    if not broker.main_directory.is_clean:
        return
    for log in broker.partitions:
        if log.path == path and log.live and is_untrimmed(log.live[-1]):
            yield ReleaseTrace(message("release.untrimmed_indexes"), first=(4, 4))


def is_untrimmed(segment: Segment) -> bool:
    """Returns whether both indexes end in preallocated slots. False if one is unreadable."""
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
    """Returns the first release that can have formatted the directory; None if unknown."""
    formatting = _formatting_level(broker)
    return versions.release_of_metadata_version(formatting[1]) if formatting else None


def _metadata_version_traces(levels: Levels) -> Iterator[ReleaseTrace]:
    for file, level in levels:
        if not versions.knows_level(METADATA_VERSION, level):
            yield _unknown_level_trace(file, METADATA_VERSION, level)
        elif release := versions.release_of_metadata_version(level):
            text = versions.text(release)
            reason = message("release.metadata_version", file=file, level=level, release=text)
            yield ReleaseTrace(reason, first=release)


def _levels(broker: Broker) -> Levels:
    """Reads the metadata.version at formatting, then the newest if it is different."""
    file_levels = list(filter(None, (_formatting_level(broker), _newest_level(broker))))
    has_changed = len({level for _, level in file_levels}) > 1
    return file_levels if has_changed else file_levels[:1]


def _newest_level(broker: Broker) -> tuple[str, int] | None:
    """Returns the newest metadata.version in the metadata log, as (file name, version).

    If the log does not show it, uses the newest snapshot that has features.
    """
    image = metadata_log.read_image(broker)
    features = image.features
    if METADATA_VERSION in features:
        file = f"{metadata_log.DIRECTORY}/{image.feature_files[METADATA_VERSION]}"
    else:
        file, features = _snapshot_features(broker)
    return (file, features[METADATA_VERSION]) if METADATA_VERSION in features else None


def _formatting_level(broker: Broker) -> tuple[str, int] | None:
    """Returns the metadata.version from formatting, as (file name, version).

    The file is bootstrap.checkpoint or, since 4.4, the first snapshot. This file never changes.
    """
    for name in (BOOTSTRAP, f"{metadata_log.DIRECTORY}/{FIRST_SNAPSHOT}"):
        level = _features(broker.path / name).get(METADATA_VERSION)
        if level is not None:
            return name, level
    return None


def _snapshot_features(broker: Broker) -> tuple[str, dict[str, int]]:
    """Returns (file name, feature levels by name) of the newest snapshot that has features."""
    try:
        log = metadata_log.find_partition(broker)
    except KafkavizError:
        return "", {}
    for file, _ in metadata_log.snapshots(log) if log else ():
        if features := _features(file.path):
            return f"{metadata_log.DIRECTORY}/{file.name}", features
    return "", {}


def _features(path: Path) -> dict[str, int]:
    """Returns the feature levels in a .checkpoint file of metadata records; {} if unreadable.

    Stops after the batch with metadata.version: the features are at a snapshot's start. Runs no
    compiled code, because compiled code takes time to load, and every lookup calls this function.
    """
    levels: dict[str, int] = {}
    with suppress(KafkavizError):
        data = read(path, 0, MAX_BYTES)
        while METADATA_VERSION not in levels and len(data) > HEADER_BYTES:
            batch = bytes(batch_records.batch_bytes(data))
            values = batch_records.values(batch)
            features = [metadata.feature_level(value or b"") for value in values]
            levels |= {feature.name: feature.level for feature in features if feature}
            data = data[len(batch) :]
    return levels
