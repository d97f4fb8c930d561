"""Interpretation of a path given to a command.

The path can be a broker directory, a partition directory, a segment given by its .log, or an index.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from kafkaviz import versions
from kafkaviz.analysis.lookup import lookups
from kafkaviz.binary.file_view import FileView
from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.format.names import PartitionName, SegmentName
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, open_broker, read_broker
from kafkaviz.log.partition import Partition, open_partition
from kafkaviz.log.remote.address import Store
from kafkaviz.log.tiered import tiered_view
from kafkaviz.log.tiered.tiered_view import RemoteFile
from kafkaviz.messages import Message, message
from kafkaviz.search.log_view import LogView, SegmentView, view_partition, view_segment

INDEXES = ("index", "timeindex")
ADVICE_ANY = message("errors.give_any")
ADVICE_LOG = message("errors.give_log")  # for commands that cannot read an index by itself
ADVICE_PARTITION = message("errors.give_partition")


def index_kind(path: Path) -> str | None:
    """Returns which index a path names, "index" or "timeindex", or None for other files."""
    name = names.parse_file(path.name)
    return name.kind if name and name.kind in INDEXES else None


def broker_around(path: Path, advice: Message = ADVICE_ANY) -> Broker | None:
    """Returns the broker directory that contains a path.

    Args:
        advice: the advice in the error for a path that is not part of a log.

    Returns:
        None if lookups.broker_around gives None for the partition.

    Raises:
        CannotOpen: the path is not part of a log.
    """
    path = archive.locate(path)
    if archive.is_archive(path) or path.is_dir():
        return lookups.broker_around(_partition(path, advice))
    _file_name(path, advice)
    return lookups.broker_around(_partition_around(path))


def open_log(
    path: Path, version: str, *, as_is: bool = False, broker: Broker | None = None
) -> LogView:
    """Returns the log that a lookup searches: a partition, or the one segment of a .log.

    Raises:
        CannotOpen: the path is neither.
    """
    path = archive.locate(path)
    if archive.is_archive(path) or path.is_dir():
        return lookups.open_log_view(_partition(path), version, as_is=as_is, broker=broker)
    name = _file_name(path)
    if name.kind != "log":
        raise CannotOpen(path, message("errors.is_no_log"), ADVICE_ANY, kind="not-kafka")
    partition = _partition_around(path)
    if name.suffix:  # a file that brokers do not serve, such as .deleted
        return LogView(
            partition.directory,
            (view_segment(partition.segment(name.base_offset, name.suffix).with_log()),),
        )
    return _open_alone(partition, name.base_offset, version, as_is=as_is, broker=broker)


def open_index(
    path: Path, version: str, *, as_is: bool = False, broker: Broker | None = None
) -> tuple[str, SegmentView]:
    """Returns the segment that an index belongs to; no other file of it needs to exist.

    Returns:
        The name of the partition directory, and the segment.
    """
    path = archive.locate(path)
    name = _file_name(path)
    index_info = file.info(path)
    partition = _partition_around(path)
    segment = next(
        (
            live_segment
            for live_segment in partition.live
            if not name.suffix and live_segment.base_offset == name.base_offset
        ),
        None,
    )
    if segment and not as_is and lookups.needs_recovery(partition, versions.parse(version)):
        recovered_segments = lookups.open_log_view(partition, version, broker=broker).segments
        recovered_segment = next(
            (
                candidate
                for candidate in recovered_segments
                if candidate.base_offset == name.base_offset
            ),
            None,
        )
        if recovered_segment:
            return partition.directory, recovered_segment
    log = FileView(name=path.name, size_bytes=0, open_reader=lambda: file.reader(path))
    index: dict[str, Any] = {name.kind: file.view(index_info)}
    return partition.directory, SegmentView(base_offset=name.base_offset, log=log, **index)


def remote_files(path: Path) -> dict[int, RemoteFile]:
    path = archive.locate(path)
    if archive.is_archive(path) or path.is_dir():
        return tiered_view.remote_files(_partition(path).path)
    return tiered_view.remote_files(path.parent)


def tiered_store(path: Path) -> Store | None:
    return tiered_view.remote_store(archive.locate(path))


def open_segments(path: Path, advice: Message = ADVICE_LOG) -> tuple[Partition, int | None]:
    """Returns the partition of a partition directory, an archive of one, or a .log.

    Returns:
        The partition, and for the path of a .log its base offset.
    """
    path = archive.locate(path)
    if archive.is_archive(path) or path.is_dir():
        return _partition(path, advice), None
    name = _file_name(path, advice)
    if (name.kind, name.suffix) != ("log", ""):
        raise CannotOpen(path, message("errors.is_no_log_in_use"), advice, kind="not-kafka")
    return _partition_around(path), name.base_offset


def _open_alone(
    partition: Partition, base_offset: int, version: str, *, as_is: bool, broker: Broker | None
) -> LogView:
    """Returns a log with one segment only; a log start within the segment still applies."""
    segment = partition.segment(base_offset, _plain_state(partition, base_offset)).with_log()
    if not as_is and lookups.needs_recovery(partition, versions.parse(version)):
        log = lookups.open_log_view(partition, version, broker=broker)
        own_segments = tuple(
            log_segment for log_segment in log.segments if log_segment.base_offset == base_offset
        )
        if not own_segments:
            raise CannotOpen(
                segment.log.path,
                message("errors.deleted_by_start"),
                message("errors.give_as_is"),
                kind="missing",
            )
        return replace(log, segments=own_segments)
    return replace(view_partition(partition), segments=(view_segment(segment),))


def _plain_state(partition: Partition, base_offset: int) -> str | None:
    return next(
        (
            log_segment.state
            for log_segment in partition.live
            if log_segment.base_offset == base_offset
        ),
        None,
    )


def _partition(path: Path, advice: Message = ADVICE_ANY) -> Partition:
    root = archive.unpack_if_archive(path)
    paths_inside = _list_directory(root)
    has_log = any(path_inside.suffix == ".log" for path_inside in paths_inside)
    if has_log and not names.parse_directory(root.name):
        return open_partition(root, PartitionName(root.name, 0))
    if (
        not has_log
        and names.parse_directory(root.name)
        and not any(path_inside.is_dir() for path_inside in paths_inside)
    ):
        raise CannotOpen(root, message("errors.holds_no_log"), advice, kind="missing")
    broker = read_broker(path, root)
    if len(broker.partitions) > 1:
        # with several log directories, the partition is in one of them, not in `path` itself
        first = broker.partitions[0]
        is_below = first.path.is_relative_to(root)
        place = path / first.path.relative_to(root) if is_below else path / first.directory
        hint = message("errors.name_one_partition", path=place)
        raise CannotOpen(
            path,
            message("errors.holds_partitions", count=len(broker.partitions)),
            hint,
            kind="not-kafka",
        )
    return _sole_partition(broker, advice)


def _sole_partition(broker: Broker, advice: Message = ADVICE_ANY) -> Partition:
    """Returns the only partition of a broker directory.

    Raises:
        CannotOpen: no partition can be read, for example because it has just vanished.
    """
    if broker.partitions:
        return broker.partitions[0]
    if broker.problems:
        raise CannotOpen(
            broker.problems[0].path, broker.problems[0].what, kind=broker.problems[0].kind
        )
    raise CannotOpen(broker.path, message("errors.holds_no_partition"), advice, kind="missing")


def _list_directory(directory: Path) -> list[Path]:
    with file.translate_os_errors(directory):
        return list(directory.iterdir())


def _partition_around(path: Path) -> Partition:
    directory = path.parent
    if names.parse_directory(directory.name) and any(
        file_path.suffix == ".log" for file_path in _list_directory(directory)
    ):
        return _sole_partition(open_broker(directory))
    return open_partition(directory, PartitionName(directory.name, 0))


def _file_name(path: Path, advice: Message = ADVICE_ANY) -> SegmentName:
    with file.translate_os_errors(path):
        path.stat()
    name = names.parse_file(path.name)
    if not name:
        raise CannotOpen(path, message("errors.is_no_segment_file"), advice, kind="not-kafka")
    return name
