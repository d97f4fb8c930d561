"""What a replay of a log on disk starts from: its files, and the settings that it was run with."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kafkaviz import config_def
from kafkaviz.analyse import paths
from kafkaviz.analyse.infer import inferred_limits, roll_reasons
from kafkaviz.analyse.rebuilt import settings_around
from kafkaviz.analyse.restart import Log, stored
from kafkaviz.analyse.rolled import glance
from kafkaviz.config_def import Release, Value
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import names
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Origin
from kafkaviz.simulate.config import IndexConfig
from kafkaviz.simulate.starting.directory import INDEXES
from kafkaviz.simulate.stored import StoredFile, StoredLog
from kafkaviz.simulate.whole.simulation import Simulated


@dataclass(frozen=True)
class Replayed:
    """A partition directory as plain values.

    settings: by topic name, those that the directory tells, and the limits that its rolls are
    inferred from; inferred: the latter. inputs: the directories that nothing is written into.
    """

    log: StoredLog
    settings: Mapping[str, Value]
    inferred: Mapping[str, Value]
    inputs: tuple[Path, ...]


def open_replayed(path: Path, release: Release) -> Replayed:
    """The log of a partition directory, or of an archive of one; CannotOpen for any other path."""
    partition, base_offset = paths.open_segments(path, paths.WHOLE_LOG)
    if base_offset is not None:
        raise CannotOpen(path, "is a .log", "give its partition directory", kind="not-kafka")
    if not partition.live:
        raise CannotOpen(partition.path, "holds no .log", kind="missing")
    # the directory that is written has the same name
    if not names.parse_directory(partition.directory):
        raise CannotOpen(
            partition.path,
            "has not the name of a topic-partition",
            "give the copy one such as orders-0",
            kind="not-kafka",
        )
    found = settings_around(partition, release, {}).of_topic(partition.topic)
    told = {
        name: one.value
        for name, one in found.items()
        if one.origin != Origin.DEFAULT and name in config_def.TOPIC_SETTINGS
    }
    inferred = {name: value for name, value in _limits(partition).items() if name not in told}
    return Replayed(
        stored(Log(partition, IndexConfig())), told | inferred, inferred, (partition.path,)
    )


def _limits(partition: Partition) -> dict[str, Value]:
    """What the closed segments say of segment.bytes, segment.ms and segment.index.bytes; nothing
    where they cannot be read.
    """
    try:
        facts = [glance(one) for one in partition.live]
    except KafkavizError:
        return {}
    return {name: one.value for name, one in inferred_limits(facts, roll_reasons(facts)).items()}


@dataclass(frozen=True)
class Compared:
    """A file of a copied segment beside that of its replay. from_position: the first byte that
    differs, None where all are the same.
    """

    name: str
    from_position: int | None


def compared(replayed: Replayed, simulated: Simulated) -> list[Compared]:
    """The indexes of each copied segment; a replay without a segment of that base offset has files
    of no bytes there.

    An index of a log that was not closed is compared up to its last byte that is not zero.
    """
    again = {one.name.rpartition("/")[2]: one for one in simulated.files}
    own = [
        one
        for one in replayed.log.files
        if (name := names.parse_file(one.name)) and name.kind in INDEXES and not name.suffix
    ]
    return [Compared(one.name, _differs_from(one, again.get(one.name))) for one in own]


def _differs_from(own: StoredFile, again: StoredFile | None) -> int | None:
    contents = [one.content().rstrip(b"\0") if one else b"" for one in (own, again)]
    if contents[0] == contents[1]:
        return None
    shorter = min(map(len, contents))
    first, second = (np.frombuffer(one, np.uint8, shorter) for one in contents)
    return int(np.argmax(first != second)) if (first != second).any() else shorter
