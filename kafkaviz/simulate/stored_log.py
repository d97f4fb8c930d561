"""A partition directory as plain values: its files, and what the broker knows about it."""

from dataclasses import dataclass, field

from kafkaviz.binary.file_view import FileView
from kafkaviz.format.names import parse_directory
from kafkaviz.messages import Message
from kafkaviz.simulate.config import IndexConfig

# Kafka opens no larger .log (FileRecords.open), because a position is a Java int
MAX_LOG_BYTES = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class StoredLog:
    """A partition directory, and what the broker knows about it.

    Attributes:
        directory: the directory's name.
        files: files of all kinds, without subdirectories.
        recovery_point: the value in the broker's checkpoint; 0 if there is none.
        log_start_offset: the value in the broker's checkpoint; 0 if there is none.
        stray_reason: the reason why the cluster's metadata does not assign the partition to this
            broker, or None.
        replay_error: the exception that the node throws while it applies the records of the
            metadata log, or None.
        folders: the names of its subdirectories. Kafka skips them when it lists files, but fails if
            one has the name of a file that it opens.
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
        """The topic in the directory's name; the whole name if it is not a topic-partition's."""
        name = parse_directory(self.directory)
        return name.topic if name else self.directory
