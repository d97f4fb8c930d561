"""What a path given to a command means: a broker directory, a partition directory, one segment by
its .log, or an index by itself.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from kafkaviz import versions
from kafkaviz.analyse import lookups
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.infer.version import Assumed
from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.format.names import PartitionName, SegmentName
from kafkaviz.log import archive, file
from kafkaviz.log.broker import Broker, open_broker, own_files
from kafkaviz.log.partition import Partition, open_partition
from kafkaviz.search import served as serving
from kafkaviz.search.served import ServedLog, ServedSegment

INDEXES = ("index", "timeindex")
WHAT_TO_GIVE = "give a partition directory, a .log, an .index or a .timeindex"
LOGS = "give a partition directory or a .log"  # of what reads no index by itself
WHOLE_LOG = "give a partition directory, or an archive of one"


def index_kind(path: Path) -> str | None:
    """ "index" or "timeindex" where the path names one, else None."""
    name = names.parse_file(path.name)
    return name.kind if name and name.kind in INDEXES else None


def version(path: Path, told: str = WHAT_TO_GIVE) -> str:
    """The release that the directory around a path looks like; told: what to give instead of a path
    that is none of it.
    """
    return assumed(path, told).text


def assumed(path: Path, told: str = WHAT_TO_GIVE) -> Assumed:
    """The same, and why that one. CannotOpen as open_log and open_index."""
    path = archive.locate(path)
    if archive.is_archive(path) or path.is_dir():
        return lookups.assumed(_partition(path, told))
    _file_name(path, told)
    return lookups.assumed(_around(path))


def open_log(path: Path, version: str, as_is: bool = False) -> ServedLog:
    """What a lookup in a partition, or in the one segment whose .log this is, searches.

    CannotOpen for any other path.
    """
    path = archive.locate(path)
    if archive.is_archive(path) or path.is_dir():
        return lookups.served(_partition(path), version, as_is)
    name = _file_name(path)
    if name.kind != "log":
        raise CannotOpen(path, "is no .log", WHAT_TO_GIVE, kind="not-kafka")
    partition = _around(path)
    if name.suffix:  # a broker serves none of these
        return ServedLog(
            partition.directory,
            (serving.of_segment(partition.segment(name.base_offset, name.suffix)),),
        )
    return _alone(partition, name.base_offset, version, as_is)


def open_index(path: Path, version: str, as_is: bool = False) -> tuple[str, ServedSegment]:
    """(the directory's name, the segment that the index belongs to); of the segment nothing else
    need be there.
    """
    path = archive.locate(path)
    name, found = _file_name(path), file.info(path)
    partition = _around(path)
    segment = next(
        (one for one in partition.live if not name.suffix and one.base_offset == name.base_offset),
        None,
    )
    if segment and not as_is and lookups.needs_recovery(partition, versions.parse(version)):
        recovered = lookups.served(partition, version).segments
        kept = next((one for one in recovered if one.base_offset == name.base_offset), None)
        if kept:
            return partition.directory, kept
    log = serving.ServedFile(path.name, 0, lambda: file.reader(path))
    index: dict[str, Any] = {name.kind: serving.of_file(found)}
    return partition.directory, ServedSegment(name.base_offset, log, **index)


def open_directory(path: Path | str) -> Broker:
    """A broker directory, a partition directory alone, an archive of either, or a partition in an
    archive. CannotOpen as open_broker.

    An archive that holds one partition and no file of a broker is that partition alone, as its
    directory is.
    """
    given, path = file.absolute(path), archive.locate(Path(path))
    broker = open_broker(path)
    if (
        archive.is_archive(path)
        and path.is_file()
        and len(broker.partitions) == 1
        and not own_files(broker.path)
    ):
        broker = open_broker(broker.partitions[0].path)
    return replace(broker, source=given)


def open_segments(path: Path, told: str = LOGS) -> tuple[Partition, int | None]:
    """(the partition, the base offset of its one .log that the path names): a partition directory,
    an archive of one, or a .log.
    """
    path = archive.locate(path)
    if archive.is_archive(path) or path.is_dir():
        return _partition(path, told), None
    name = _file_name(path, told)
    if (name.kind, name.suffix) != ("log", ""):
        raise CannotOpen(path, "is no .log of a segment in use", told, kind="not-kafka")
    return _around(path), name.base_offset


def _alone(partition: Partition, base_offset: int, version: str, as_is: bool) -> ServedLog:
    """One segment as if there were no other; a log start within it counts."""
    segment = partition.segment(base_offset, _plain_state(partition, base_offset))
    if not as_is and lookups.needs_recovery(partition, versions.parse(version)):
        log = lookups.served(partition, version)
        kept = tuple(one for one in log.segments if one.base_offset == base_offset)
        if not kept:
            raise CannotOpen(
                existing(segment.log).path,
                "is deleted by the next start",
                "give --as-is to read it nevertheless",
                kind="missing",
            )
        return replace(log, segments=kept)
    return replace(serving.as_they_are(partition), segments=(serving.of_segment(segment),))


def _plain_state(partition: Partition, base_offset: int) -> str | None:
    return next((one.state for one in partition.live if one.base_offset == base_offset), None)


def _partition(path: Path, told: str = WHAT_TO_GIVE) -> Partition:
    """The partition of a directory, or the only one of an archive."""
    root = archive.opened(path)
    inside = _inside(root)
    has_log = any(one.suffix == ".log" for one in inside)
    if has_log and not names.parse_directory(root.name):
        return open_partition(root, PartitionName(root.name, 0))
    if not has_log and names.parse_directory(root.name) and not any(one.is_dir() for one in inside):
        raise CannotOpen(root, "holds no .log", told, kind="missing")
    broker = open_broker(path)
    if len(broker.partitions) > 1:
        such_as = f"name one of them, such as {path / broker.partitions[0].directory}"
        raise CannotOpen(
            path, f"holds {len(broker.partitions)} partitions", such_as, kind="not-kafka"
        )
    return _only(broker, told)


def _only(broker: Broker, told: str = WHAT_TO_GIVE) -> Partition:
    """The one partition of a broker directory; CannotOpen where there is none that can be read, as
    when it vanishes meanwhile.
    """
    if broker.partitions:
        return broker.partitions[0]
    if broker.problems:
        raise CannotOpen(
            broker.problems[0].path, broker.problems[0].what, kind=broker.problems[0].kind
        )
    raise CannotOpen(broker.path, "holds no partition", told, kind="missing")


def _inside(directory: Path) -> list[Path]:
    """What lies in a directory."""
    with file.failing_kindly(directory):
        return list(directory.iterdir())


def _around(path: Path) -> Partition:
    """The partition directory that a file lies in, whatever its name."""
    directory = path.parent
    if names.parse_directory(directory.name) and any(
        one.suffix == ".log" for one in _inside(directory)
    ):
        return _only(open_broker(directory))
    return open_partition(directory, PartitionName(directory.name, 0))


def _file_name(path: Path, told: str = WHAT_TO_GIVE) -> SegmentName:
    with file.failing_kindly(path):
        path.stat()
    name = names.parse_file(path.name)
    if not name:
        raise CannotOpen(path, "is no file of a segment", told, kind="not-kafka")
    return name
