"""A partition directory as plain values: its files, and what the broker knows of it."""

from dataclasses import dataclass, field

from kafkaviz.binary.file_view import FileView
from kafkaviz.format.names import parse_directory
from kafkaviz.messages import Message
from kafkaviz.simulate.config import IndexConfig

# of a .log that Kafka opens, startup.file_records: a position is a Java int
MAX_LOG_BYTES = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class StoredLog:
    """A partition directory, and what the broker knows of it.

    Attributes:
        directory: its name.
        files: of all kinds, sub-directories left out.
        recovery_point: as the checkpoint of the broker directory has it, 0 where it says nothing.
        log_start_offset: as the checkpoint of the broker directory has it, 0 where it says nothing.
        stray_reason: why the cluster's metadata does not want the partition on this broker, or
            None.
        replay_error: of the metadata log, what the node throws as it applies the records, or None.
        folders: the names of its sub-directories. Kafka passes over them where it lists files, and
            opens one that has the name of a file.
    """

    directory: str
    files: tuple[FileView, ...]
    config: IndexConfig = field(default_factory=IndexConfig)
    recovery_point: int = 0
    log_start_offset: int = 0
    stray_reason: Message | None = None
    replay_error: str | None = None
    folders: tuple[str, ...] = ()

    @property
    def topic(self) -> str:
        """The topic in its name; all of a name that is none of a topic-partition."""
        name = parse_directory(self.directory)
        return name.topic if name else self.directory
