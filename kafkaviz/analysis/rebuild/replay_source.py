"""The input of a replay: the files of a log on disk, and the settings it was written with."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kafkaviz import config_def
from kafkaviz.analysis.inference import inferred_limits, roll_reasons
from kafkaviz.analysis.lookup import paths
from kafkaviz.analysis.rebuild.rebuild_source import find_settings
from kafkaviz.analysis.restart.next_start import RestartLog, stored_log
from kafkaviz.analysis.rolls.roll_inference import segment_facts
from kafkaviz.binary.file_view import FileView
from kafkaviz.config_def import Value
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import names
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.messages import message
from kafkaviz.simulate.config import IndexConfig
from kafkaviz.simulate.directory.simulation import Simulated
from kafkaviz.simulate.startup.partition_directory import INDEXES
from kafkaviz.simulate.stored_log import StoredLog
from kafkaviz.versions import Release


@dataclass(frozen=True)
class ReplaySource:
    """A partition directory as plain values.

    Attributes:
        settings: the directory's own settings by topic name, and those inferred from its rolls.
        inferred_settings: the inferred ones alone.
        inputs: the directories that must not be written to.
    """

    log: StoredLog
    settings: Mapping[str, Value]
    inferred_settings: Mapping[str, Value]
    inputs: tuple[Path, ...]


def open_replay_source(path: Path, release: Release, broker: Broker | None = None) -> ReplaySource:
    """Returns the log of a partition directory, or of an archive of one.

    Args:
        broker: the same as for `find_settings`.

    Raises:
        CannotOpen: the path is neither.
    """
    partition, base_offset = paths.open_segments(path, paths.ADVICE_PARTITION)
    if base_offset is not None:
        raise CannotOpen(
            path,
            message("errors.is_a_log"),
            message("errors.give_its_partition_directory"),
            kind="not-kafka",
        )
    if not partition.live:
        raise CannotOpen(partition.path, message("errors.holds_no_log"), kind="missing")
    # the replay writes a directory of the same name, so it must be one that Kafka accepts
    if not names.parse_directory(partition.directory):
        raise CannotOpen(
            partition.path,
            message("errors.no_partition_name"),
            message("errors.give_copy_a_name"),
            kind="not-kafka",
        )
    topic_settings = find_settings(partition, release, {}, broker).topic_settings(partition.topic)
    known_settings = {
        name: setting.value
        for name, setting in topic_settings.items()
        if setting.is_given and name in config_def.TOPIC_SETTINGS
    }
    inferred_settings = {
        name: value for name, value in _limits(partition).items() if name not in known_settings
    }
    return ReplaySource(
        stored_log(RestartLog(partition=partition, config=IndexConfig())),
        known_settings | inferred_settings,
        inferred_settings,
        (partition.path,),
    )


def _limits(partition: Partition) -> dict[str, Value]:
    """Returns segment.bytes, segment.ms and segment.index.bytes as far as the rolls bound them.

    The result is empty if the segments cannot be read.
    """
    try:
        facts = [segment_facts(segment) for segment in partition.live]
    except KafkavizError:
        return {}
    return {
        name: limit.value for name, limit in inferred_limits(facts, roll_reasons(facts)).items()
    }


@dataclass(frozen=True)
class IndexFileDiff:
    """A comparison of an index with that of the replay.

    Attributes:
        from_position: the first byte that differs, or None if the files are equal.
    """

    name: str
    from_position: int | None


def diff_indexes(source: ReplaySource, simulated: Simulated) -> list[IndexFileDiff]:
    """Compares the indexes of each copied segment with those of its replay.

    A segment that the replay does not have is compared with empty files. An index that was not
    closed is compared up to its last byte that is not zero.
    """
    replayed_files = {
        replayed_file.name.rpartition("/")[2]: replayed_file for replayed_file in simulated.files
    }
    copied_indexes = [
        copied_file
        for copied_file in source.log.files
        if (name := names.parse_file(copied_file.name)) and name.kind in INDEXES and not name.suffix
    ]
    return [
        IndexFileDiff(
            copied_file.name, _first_difference(copied_file, replayed_files.get(copied_file.name))
        )
        for copied_file in copied_indexes
    ]


def _first_difference(copied_file: FileView, replayed_file: FileView | None) -> int | None:
    contents = [
        stored_file.content().rstrip(b"\0") if stored_file else b""
        for stored_file in (copied_file, replayed_file)
    ]
    if contents[0] == contents[1]:
        return None
    common_bytes = min(map(len, contents))
    copied_bytes, replayed_bytes = (
        np.frombuffer(content, np.uint8, common_bytes) for content in contents
    )
    if (copied_bytes != replayed_bytes).any():
        return int(np.argmax(copied_bytes != replayed_bytes))
    return common_bytes
