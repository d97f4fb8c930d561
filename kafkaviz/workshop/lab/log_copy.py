"""A copy of a partition directory in memory, to be damaged.

The original is read and never written. Each fault returns another copy.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kafkaviz.analysis.restart.next_start import config_lookup, restart_log, stored_log
from kafkaviz.binary.file_view import FileView, in_memory
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.walk import walk
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import open_settings
from kafkaviz.simulate.stored_log import StoredLog
from kafkaviz.units import file_stem
from kafkaviz.versions import Release

INDEXES = {"index": offset_index, "timeindex": time_index}


@dataclass(frozen=True)
class LogCopy:
    """A partition directory in memory.

    Attributes:
        segment: the base offset of the segment that is damaged.
        is_clean: whether the broker was stopped cleanly.
    """

    log: StoredLog
    segment: int
    is_clean: bool = True

    @property
    def files(self) -> Mapping[str, FileView]:
        """The files by name."""
        return {file.name: file for file in self.log.files}

    @property
    def bases(self) -> list[int]:
        """The base offsets of the segments, in ascending order."""
        names = (name for name in self.files if name.endswith(".log"))
        return sorted(int(name.removesuffix(".log")) for name in names)

    def name(self, kind: str) -> str:
        """Returns the name of a file of the segment by its kind: "log", "index" or "timeindex"."""
        return f"{file_stem(self.segment)}.{kind}"

    def content(self, kind: str) -> bytes:
        """Returns the bytes of a file of the segment."""
        return self.files[self.name(kind)].content()

    def batches(self) -> np.ndarray:
        """Returns the batches of the segment as an array of format.batch.BATCH."""
        return walk(self.content("log"))[0]

    def entries(self, kind: str) -> np.ndarray:
        """Returns the entries of an index as an array of its ENTRY type."""
        return INDEXES[kind].parse(self.content(kind))

    def with_files(self, changed_files: Mapping[str, bytes | None], **changes: Any) -> "LogCopy":
        """Returns the copy with new content for some files, whose times stay the same.

        Args:
            changed_files: the content by file name; None removes the file.
            changes: fields of the StoredLog to replace.
        """
        files = dict(self.files)
        for name, data in changed_files.items():
            old_file = files.pop(name, None)
            if data is not None:
                files[name] = in_memory(name, data, old_file.modified_ms if old_file else 0)
        return replace(self, log=replace(self.log, files=tuple(files.values()), **changes))

    def after_kill(self) -> "LogCopy":
        """Returns the copy as left by a broker that was killed before it flushed the segment."""
        return replace(self, is_clean=False, log=replace(self.log, recovery_point=self.segment))


def copy_log(broker: Broker, partition: Partition, segment: int, release: Release) -> LogCopy:
    """Returns a copy of a partition directory, as after a clean stop.

    Args:
        segment: the base offset of the segment that will be damaged.
        release: the release of the broker that starts on the copy.

    Raises:
        CannotOpen: a file cannot be read, or is too large.
    """
    config = config_lookup(open_settings(broker, release))(partition)
    log = stored_log(restart_log(broker, partition, config))
    files = tuple(in_memory(file.name, file.content(), file.modified_ms) for file in log.files)
    return LogCopy(replace(log, files=files), segment)
