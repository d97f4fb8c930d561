"""Shows what each byte in a broker's log directories is used for.

Each byte has exactly one use, so the uses add up to the lengths of all files. Names and sizes come
from the directory listing. At first, all bytes of .log files and indexes count as UNREAD. After a
check has read these files, `with_summaries` divides the bytes of a .log into records, batch headers
and other uses. It divides the bytes of an index into entries and preallocated slots.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kafkaviz.errors import CannotOpen
from kafkaviz.format import names, offset_index, time_index
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, LogDirectory
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment

if TYPE_CHECKING:  # the worker of queries imports this module, without the slower checks
    from kafkaviz.analysis.checks.summary import CheckSummary


class Use(StrEnum):
    """The purposes for which bytes on disk are used."""

    # in the .log of a segment without a suffix such as .deleted
    RECORDS = "records"
    SUPERSEDED = "superseded"  # records that the next cleaning removes, if it was computed
    BATCH_HEADERS = "batch-headers"
    CONTROL_BATCHES = "control-batches"  # transaction markers, and KRaft's control records
    ABORTED = "aborted"  # records of aborted transactions
    DAMAGED = "damaged"  # bytes outside complete, correct batches
    UNREAD = "unread"  # bytes of a .log or an index that was not read, or cannot be read
    INDEX_ENTRIES = "index-entries"
    PREALLOCATED = "preallocated"  # unwritten slots of an index, zeros at the end of a .log
    STATE = "state"  # producer snapshots, leader epochs, partition.metadata, quorum-state
    METADATA_SNAPSHOTS = "metadata-snapshots"
    BROKER_FILES = "broker-files"  # checkpoints, meta.properties, .lock
    WAITING = "waiting-for-deletion"  # .deleted files and -delete directories
    LEFTOVER = "leftover"  # left by an interrupted cleaning or write, or an index without a .log
    STRAY = "stray"
    FUTURE = "future"  # a replica that moves between two log directories
    REMOTE_INDEX_CACHE = "remote-index-cache"
    FOREIGN = "foreign"  # not Kafka's


CHECKED_USES = tuple(use for use in Use if use != Use.SUPERSEDED)
DIRECTORY_USES = {"delete": Use.WAITING, "future": Use.FUTURE, "stray": Use.STRAY}
SUFFIX_USES = {"deleted": Use.WAITING, "cleaned": Use.LEFTOVER, "swap": Use.LEFTOVER}
STATE_FILES = (names.LEADER_EPOCHS, names.PARTITION_METADATA, names.QUORUM_STATE)


@dataclass(frozen=True, kw_only=True)
class DiskShare:
    """How many bytes of a partition, or of a log directory outside partitions, each use has.

    - The values of `uses` are positive and add up to `length_bytes`.
    """

    log_directory: str
    partition: str | None  # the partition directory's name; None: files outside partitions
    topic: str | None
    uses: Mapping[Use, int]
    files: int
    # the disk space of the files. Holes make it less than their length. Whole filesystem blocks
    # make it more.
    allocated_bytes: int
    unreadable: tuple[Path, ...] = ()  # folders that cannot be listed. Their files are not counted.
    # length minus disk space, summed over the files with holes; None: the share comes from a
    # catalog
    hole_bytes: int | None = field(default=None, compare=False)

    @property
    def length_bytes(self) -> int:
        return sum(self.uses.values())


class FileUse(NamedTuple):
    """A file with its use."""

    info: FileInfo
    use: Use
    # the outermost folder with only files of this use, such as a -delete directory; None: the file
    # is not in such a folder
    folder: Path | None = None


class FileLister:
    """Lists the files of log directories with their uses. Collects unreadable folders."""

    def __init__(self) -> None:
        self.unreadable: set[Path] = set()

    def partition_files(self, partition: Partition) -> Iterator[FileUse]:
        local = partition.without_remote()
        directory_use = DIRECTORY_USES.get(local.state)
        folder = local.path if directory_use else None
        for segment in local.segments:
            use = directory_use or _segment_use(segment)
            for info in segment.files:
                yield FileUse(info, use, folder)
        for info in local.other_files:
            yield FileUse(info, directory_use or _state_use(info.name), folder)
        for name in self._folders_in(local.path):
            for info in self._files_below(local.path / name):
                yield FileUse(info, directory_use or Use.FOREIGN, folder or local.path / name)

    def other_files(
        self, directory: LogDirectory, partitions: Sequence[Partition]
    ) -> Iterator[FileUse]:
        """Yields the files in a log directory that are not in `partitions`."""
        for info in self._files_in(directory.path):
            is_own = info.name.removesuffix(".tmp") in names.OWN_FILES
            yield FileUse(info, Use.BROKER_FILES if is_own else Use.FOREIGN)
        opened = {partition.directory for partition in partitions}
        for name in self._folders_in(directory.path):
            if name not in opened:
                use = Use.FOREIGN
                if name in names.NO_PARTITIONS:
                    use = Use.REMOTE_INDEX_CACHE
                elif names.parse_directory(name):
                    use = Use.UNREAD  # the partition was not opened, or is newer than the listing
                folder = directory.path / name
                for info in self._files_below(folder):
                    yield FileUse(info, use, folder)

    def _files_below(self, folder: Path) -> Iterator[FileInfo]:
        folders = [folder]
        while folders:
            current = folders.pop()
            yield from self._files_in(current)
            folders += [current / name for name in self._folders_in(current)]

    def _files_in(self, folder: Path) -> list[FileInfo]:
        try:
            return file.list_files(folder)
        except CannotOpen:
            self.unreadable.add(folder)
            return []

    def _folders_in(self, folder: Path) -> list[str]:
        try:
            with file.scan(folder) as entries:
                folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
                return sorted(entry.name for entry in folders)
        except CannotOpen:
            self.unreadable.add(folder)
            return []


def disk_shares(broker: Broker) -> Iterator[DiskShare]:
    """Yields a DiskShare per partition, and per log directory for its files outside partitions.

    If a single partition was opened, yields only the DiskShare of this partition. The .log files
    and indexes of segments that a broker would use count as UNREAD; see `with_summaries`.
    """
    for partition in broker.partitions:
        yield partition_share(partition, broker.directory_of(partition).text)
    yield from directory_shares(broker)


def directory_shares(broker: Broker) -> Iterator[DiskShare]:
    """Yields a DiskShare per log directory, for its files outside partitions."""
    if not broker.is_lone:
        for directory in broker.log_directories:
            lister = FileLister()
            files = lister.other_files(directory, broker.partitions_in(directory))
            yield _share(files, lister, directory.text, None)


def partition_share(partition: Partition, log_directory: str) -> DiskShare:
    """Returns how a partition uses its bytes. Counts only local files."""
    lister = FileLister()
    return _share(lister.partition_files(partition), lister, log_directory, partition)


def _share(
    files: Iterable[FileUse], lister: FileLister, log_directory: str, partition: Partition | None
) -> DiskShare:
    uses: Counter[Use] = Counter()
    file_count = 0
    allocated_bytes = 0
    hole_bytes = 0
    for info, use, _ in files:
        file_count += 1
        hole_bytes += max(0, info.size_bytes - info.allocated_bytes)
        allocated_bytes += info.allocated_bytes
        uses[use] += info.size_bytes
    return DiskShare(
        log_directory=log_directory,
        partition=partition.directory if partition else None,
        topic=partition.topic if partition else None,
        uses=_nonzero(uses),
        files=file_count,
        allocated_bytes=allocated_bytes,
        unreadable=tuple(sorted(lister.unreadable)),
        hole_bytes=hole_bytes,
    )


def with_summaries(
    share: DiskShare, partition: Partition, summaries: Iterable["CheckSummary"]
) -> DiskShare:
    """Divides the UNREAD bytes of a partition's .log files and indexes into their uses.

    `summaries` are in ascending order of segments.
    """
    if partition.state != "current":
        return share
    uses = Counter(share.uses)
    open_bytes: dict[int, int] = {}
    for summary in summaries:
        if not summary.segment.is_in_use or summary.segment.base_offset in partition.remote_bases:
            continue
        segment_uses = _divide_segment(summary)
        aborted_bytes = _aborted_earlier(summary, open_bytes)
        segment_uses[Use.RECORDS] -= aborted_bytes
        segment_uses[Use.ABORTED] += aborted_bytes
        uses.update(segment_uses)
        uses[Use.UNREAD] -= segment_uses.total()
    return replace(share, uses=_nonzero(uses))


def with_cleaning(share: DiskShare, superseded_bytes: int) -> DiskShare:
    """Moves `superseded_bytes` from RECORDS to SUPERSEDED. The next log cleaning removes them."""
    uses = Counter(share.uses)
    superseded_bytes = min(superseded_bytes, uses[Use.RECORDS])
    uses[Use.RECORDS] -= superseded_bytes
    uses[Use.SUPERSEDED] += superseded_bytes
    return replace(share, uses=_nonzero(uses))


def total_uses(shares: Iterable[DiskShare]) -> dict[Use, int]:
    """Returns the total bytes per use, in the order of Use. Leaves out uses without bytes."""
    totals: Counter[Use] = Counter()
    for share in shares:
        totals.update(share.uses)
    return _nonzero(totals)


def _nonzero(uses: Counter[Use]) -> dict[Use, int]:
    return {use: uses[use] for use in Use if uses[use]}


def usage_object(shares: Sequence[DiskShare]) -> dict:
    """Returns the bytes per use as a JSON object: in total, and per log directory."""
    by_directory: dict[str, list[DiskShare]] = defaultdict(list)
    for share in shares:
        by_directory[share.log_directory].append(share)
    return {
        **_totals_object(shares),
        "unreadable": [archive.display_text(path) for share in shares for path in share.unreadable],
        "log_directories": [
            {"path": path, **_totals_object(own_shares)}
            for path, own_shares in by_directory.items()
        ],
    }


def _totals_object(shares: Sequence[DiskShare]) -> dict:
    return {
        "length_bytes": sum(share.length_bytes for share in shares),
        "allocated_bytes": sum(share.allocated_bytes for share in shares),
        "uses": {str(use): size for use, size in total_uses(shares).items()},
    }


def _divide_segment(summary: "CheckSummary") -> Counter[Use]:
    segment = summary.segment
    uses: Counter[Use] = Counter()
    if not summary.read_fault:
        uses[Use.CONTROL_BATCHES] = summary.control_bytes
        uses[Use.BATCH_HEADERS] = summary.header_bytes
        uses[Use.ABORTED] = summary.aborted_bytes
        uses[Use.RECORDS] = summary.sound_bytes - (
            summary.control_bytes + summary.header_bytes + summary.aborted_bytes
        )
        # a running broker may have appended after the .log was listed
        rest_bytes = max(0, segment.log.size_bytes - summary.sound_bytes)
        uses[Use.PREALLOCATED if summary.tail_kind == "zeros" else Use.DAMAGED] += rest_bytes
    for kind, count, layout in (
        ("index", summary.entries, offset_index),
        ("timeindex", summary.time_entries, time_index),
    ):
        info = getattr(segment, kind)
        if info and kind not in summary.unreadable_indexes:
            entry_bytes = min(count * layout.ENTRY.itemsize, info.size_bytes)
            uses[Use.INDEX_ENTRIES] += entry_bytes
            uses[Use.PREALLOCATED] += info.size_bytes - entry_bytes
    if segment.txnindex:
        uses[Use.INDEX_ENTRIES] += segment.txnindex.size_bytes
    return uses


def _aborted_earlier(summary: "CheckSummary", open_bytes: dict[int, int]) -> int:
    """Returns how many bytes of earlier segments are in transactions that this segment aborts.

    Updates `open_bytes`: producer id -> bytes of its open transaction.
    """
    aborted_bytes = 0
    for kind, producer, event in summary.steps:
        if kind == "end":
            size = open_bytes.pop(producer, 0)
            aborted_bytes += size if getattr(event, "is_abort", False) else 0
    for producer, size in summary.open_bytes:
        open_bytes[producer] = open_bytes.get(producer, 0) + size
    return aborted_bytes


def _segment_use(segment: Segment) -> Use:
    if not segment.is_in_use:
        return SUFFIX_USES[segment.state]
    return Use.UNREAD if segment.log else Use.LEFTOVER


def _state_use(file_name: str) -> Use:
    parsed = names.parse_file(file_name)
    if parsed and parsed.suffix in SUFFIX_USES:
        return SUFFIX_USES[parsed.suffix]
    if parsed and parsed.kind == "checkpoint":
        return Use.LEFTOVER if parsed.suffix else Use.METADATA_SNAPSHOTS
    if (parsed and parsed.kind == "snapshot") or file_name in STATE_FILES:
        return Use.STATE
    return Use.LEFTOVER if file_name.removesuffix(".tmp") in STATE_FILES else Use.FOREIGN
