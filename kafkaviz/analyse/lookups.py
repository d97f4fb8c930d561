"""Lookups in a partition directory, read as the next start of its broker would leave it.

A directory that was stopped cleanly is served as it lies there, wrong bytes included. Of one that was not, the segments that reach
above the recovery point are recovered first; so is, in either, a segment without an .index or with a .txnindex that fails its check,
and up to Kafka 2.2 one with any index that does.
"""

from dataclasses import replace

from kafkaviz import versions
from kafkaviz.analyse.infer.version import assumed_version
from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import names, txn_index
from kafkaviz.log.broker import CHECKPOINTS, CLEAN_SHUTDOWN, META_PROPERTIES, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.search import lookup as searching
from kafkaviz.search import served as serving
from kafkaviz.search.bounds import READ_UNCOMMITTED
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.profile import profile
from kafkaviz.search.served import ServedFile, ServedLog

MOST_BYTES = 2**31 - 1  # room in an index: what keeps a start from succeeding keeps no one from reading


def lookup(
    partition: Partition, offset: int | None = None, timestamp_ms: int | str | None = None, version: str | None = None,
    search: str | None = None, isolation: str = READ_UNCOMMITTED, as_is: bool = False,
) -> Lookup:
    """Where an offset or a timestamp leads to, with every step; give one of the two.

    timestamp_ms: ms, or "earliest", "latest", "max". version: the Kafka that searches, by default as
    assumed. search: "plain" or "warm" in place of its own.
    isolation: "read_uncommitted" or "read_committed". as_is: the bytes as they lie there, whatever a start would do to them.
    CannotOpen where there is no .log or one may not be read, CorruptFile where the way leads into bytes that break their format.
    """
    version = version or assumed(partition)
    of = profile(version, search)
    return searching.lookup(served(partition, version, as_is), of, offset, timestamp_ms, isolation)


def assumed(partition: Partition) -> str:
    """The release that the broker directory around a partition looks like, the newest where nothing tells."""
    if not partition.live or not names.parse_directory(partition.directory):
        return versions.NEWEST
    return assumed_version(open_broker(partition.path)).text


def served(partition: Partition, version: str | None = None, as_is: bool = False) -> ServedLog:
    """What a broker of that version has open once it has started on the directory; CannotOpen where there is no .log."""
    if not partition.live:
        raise CannotOpen(partition.path, "holds no .log", kind="missing")
    if as_is:
        return serving.as_they_are(partition)
    release = versions.parse(version or assumed(partition))
    return _recovered(partition, release) if needs_recovery(partition, release) else serving.as_they_are(partition)


def needs_recovery(partition: Partition, release: tuple[int, ...] | None = None) -> bool:
    """Whether a start of that release, by default as assumed, would change what a search reads.

    Never of a directory without the files of a broker around it.
    """
    root = partition.path.parent
    around = (META_PROPERTIES, CLEAN_SHUTDOWN, *CHECKPOINTS.values())
    if not any((root / name).exists() for name in around):
        return False
    return not (root / CLEAN_SHUTDOWN).exists() or any(map(_fails_its_check, partition.live)) or _fails_old_check(partition, release)


def _fails_its_check(segment: Segment) -> bool:
    """LogSegment.sanityCheck, from 2.3 on."""
    if not segment.index:
        return True
    try:
        txn_index.check(segment.txn_index, segment.base_offset)
    except CorruptBytes:
        return True
    return False


def _fails_old_check(partition: Partition, release: tuple[int, ...] | None) -> bool:
    """What sanityCheck looked at besides up to 2.2."""
    from kafkaviz.simulate.config import IndexConfig
    from kafkaviz.simulate.config import profile as start_profile

    of = start_profile(release or versions.parse(assumed(partition)))
    if not of.checks_indexes:
        return False
    from kafkaviz.analyse.restart import Log, stored
    from kafkaviz.simulate.directory import Directory
    from kafkaviz.simulate.index_check import old_fault

    directory = Directory(stored(Log(partition, IndexConfig())))
    return any(old_fault(directory, one.base_offset, of) for one in partition.live)


def _recovered(partition: Partition, release: versions.Release) -> ServedLog:
    from kafkaviz.analyse.restart import Log, configs, stored
    from kafkaviz.log.settings import open_settings
    from kafkaviz.simulate.config import profile as start_profile
    from kafkaviz.simulate.loading import Loading

    broker = open_broker(partition.path)
    config = replace(configs(open_settings(broker, release))(partition), segment_index_bytes=MOST_BYTES)
    known = partition.checkpoints
    loading = Loading(stored(Log(partition, config, known.recovery_point or 0, known.log_start or 0)), broker.clean, start_profile(release))
    loading.run()
    snapshots = {found.name: serving.of_file(found) for found in partition.snapshots.values()}
    files = {
        name: ServedFile(name, one.size_bytes, one.opened, one.modified_ms, str(partition.path / name))
        for name, one in loading.files().items()
    }
    return serving.of_files(partition.directory, files | snapshots, known.log_start)
