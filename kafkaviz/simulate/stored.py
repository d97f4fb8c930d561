"""A partition directory as plain values: its files, wherever they lie, and what the broker knows of
it.
"""

from dataclasses import dataclass, field

from kafkaviz.binary.file_view import FileView
from kafkaviz.format.names import parse_directory
from kafkaviz.messages import Message
from kafkaviz.simulate.config import IndexConfig

# of a .log that Kafka opens, starting.file_records: a position is a Java int
MOST_LOG_BYTES = 2**31 - 1


@dataclass(frozen=True)
class StoredLog:
    """A partition directory, and what the broker knows of it.

    directory: its name. files: of all kinds, sub-directories left out. recovery_point,
    log_start_offset: as the checkpoints of the broker directory have them, 0 where they say
    nothing. stray_reason: why the cluster's metadata does not want it here, or None.
    """

    directory: str
    files: tuple[FileView, ...]
    config: IndexConfig = field(default_factory=IndexConfig)
    recovery_point: int = 0
    log_start_offset: int = 0
    stray_reason: Message | None = None

    @property
    def topic(self) -> str:
        """As its name says; the whole name where that is none of a topic-partition."""
        name = parse_directory(self.directory)
        return name.topic if name else self.directory
