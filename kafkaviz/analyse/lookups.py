"""Lookups in a partition directory, read as the next start of its broker would leave it.

A directory that was stopped cleanly is served as it lies there, wrong bytes included. Of one that
was not, the segments that reach above the recovery point are recovered first; so is, in either, a
segment without an .index or with a .txnindex that fails its check, and up to Kafka 2.2 one with any
index that does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kafkaviz import versions
from kafkaviz.analyse.infer.version import NOTHING_DECIDES, Assumed, assumed_version
from kafkaviz.analyse.recovered import distrusted, recovered
from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.broker import CHECKPOINTS, CLEAN_SHUTDOWN, META_PROPERTIES, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.search import lookup as searching
from kafkaviz.search import served as serving
from kafkaviz.search.bounds import READ_UNCOMMITTED
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.profile import profile
from kafkaviz.search.served import ON_DISK, RECOVERED, ServedFile, ServedLog, ServedSegment
from kafkaviz.simulate.config import IndexConfig, Profile
from kafkaviz.simulate.config import profile as start_profile
from kafkaviz.simulate.stored import MOST_LOG_BYTES, StoredFile, StoredLog
from kafkaviz.units import many

# room in an index: of a segment that no start gets open every entry can be read
MOST_BYTES = 2**31 - 1


def lookup(
    partition: Partition,
    offset: int | None = None,
    timestamp_ms: int | str | None = None,
    version: str | None = None,
    search: str | None = None,
    isolation: str = READ_UNCOMMITTED,
    as_is: bool = False,
) -> Lookup:
    """Where an offset or a timestamp leads to, with every step; give one of the two.

    timestamp_ms: ms, or "earliest", "latest", "max". version: the Kafka that searches, by default
    as assumed. search: "plain" or "warm" in place of its own. isolation: "read_uncommitted" or
    "read_committed". as_is: the bytes as they lie there, whatever a start would do to them.
    CannotOpen where there is no .log or one may not be read, CorruptFile where the way leads into
    bytes that break their format.
    """
    version = version or assumed(partition).text
    of = profile(version, search)
    return searching.lookup(served(partition, version, as_is), of, offset, timestamp_ms, isolation)


def assumed(partition: Partition) -> Assumed:
    """The release that the broker directory around a partition looks like, the newest where nothing
    tells.
    """
    if not partition.live or not names.parse_directory(partition.directory):
        return Assumed(versions.NEWEST_RELEASE, NOTHING_DECIDES)
    return assumed_version(open_broker(partition.path))


def served(partition: Partition, version: str | None = None, as_is: bool = False) -> ServedLog:
    """What a broker of that version has open once it has started on the directory; CannotOpen where
    there is no .log.
    """
    if not partition.live:
        raise CannotOpen(partition.path, "holds no .log", kind="missing")
    if as_is:
        return serving.as_they_are(partition)
    release = versions.parse(version) if version else assumed(partition).version
    return (
        _recovered(partition, release)
        if needs_recovery(partition, release)
        else serving.as_they_are(partition)
    )


def needs_recovery(partition: Partition, release: tuple[int, ...] | None = None) -> bool:
    """Whether a start of that release, by default as assumed, would look into a .log, and may
    change what a search reads.

    The metadata log is recovered at every start; up to 4.3 a clean stop has trimmed it. Never of a
    directory without the files of a broker around it.
    """
    root = partition.path.parent
    around = (META_PROPERTIES, CLEAN_SHUTDOWN, *CHECKPOINTS.values())
    if not any(file.is_there(root / name) for name in around):
        return False
    of = start_profile(release or assumed(partition).version)
    is_clean = file.is_there(root / CLEAN_SHUTDOWN) and (
        of.close_trims or partition.topic != names.METADATA_TOPIC
    )
    return not is_clean or any(_is_distrusted(one, of) for one in partition.live)


def _is_distrusted(segment: Segment, of: Profile) -> bool:
    try:
        return distrusted(segment, of) is not None
    except CorruptBytes:  # the start ends there
        return True


def recovered_words(names: Sequence[str]) -> str:
    """That some files are shown as recovery would leave them, "" where there are none; names: of
    all of them.
    """
    if not names:
        return ""
    stems, kinds = zip(*(name.split(".") for name in names), strict=True)
    more = len(names) - 1
    told = f"{names[0]} and {many(more, 'file')} more" if more else names[0]
    if len(names) > 1 and len(set(stems)) == 1:
        told = f"the .{', .'.join(kinds[:-1])} and .{kinds[-1]} of {stems[0]}"
    verb, them, lie = ("is", "it", "it lies") if len(names) == 1 else ("are", "them", "they lie")
    return (
        f"{told} {verb} read as the recovery of the next start would leave {them}, not as {lie} on "
        "disk"
    )


def start_words(error: str, has_unopened: bool = False) -> str:
    """That no broker will serve what is shown. has_unopened: as log_unopened tells."""
    what = (
        f"a .log of more than {MOST_LOG_BYTES} bytes is read as it lies on disk, and what else"
        if has_unopened
        else "what"
    )
    return (
        f"the next start ends here with {error}; {what} it would not come to is read as if each "
        "segment were recovered by itself"
    )


def log_unopened(segments: Sequence[ServedSegment]) -> bool:
    """Whether one of the logs is longer than Kafka opens: no recovery leaves it otherwise than it
    lies on disk.
    """
    return any(one.size_bytes > MOST_LOG_BYTES for one in segments)


def _recovered(partition: Partition, release: versions.Release) -> ServedLog:
    from kafkaviz.analyse.restart import Log, configs, stored
    from kafkaviz.log.settings import open_settings
    from kafkaviz.simulate.starting.loading import Loading

    broker, known, done = open_broker(partition.path), partition.checkpoints, set()
    config = configs(open_settings(broker, release))(partition)
    log = stored(Log(partition, config, known.recovery_point or 0, known.log_start or 0))
    on_disk = {one.name: one for one in log.files}
    watch = lambda _, base, found: done.add(base) if not found.raised else None  # noqa: E731 - an OnRecovered
    clean = broker.clean
    if partition.topic == names.METADATA_TOPIC:
        # KafkaRaftLog opens it so
        log, clean = replace(log, config=IndexConfig(), recovery_point=0, log_start_offset=0), False
    loading = Loading(log, clean, start_profile(release), watch=watch)
    failed = next((step for step in loading.run() if step.action == "fail"), None)
    left = loading.files()
    if failed:
        for base in recovered(partition.live, clean, known.recovery_point, release) - done:
            left = _by_itself(left, log, base, start_profile(release))
    snapshots = {found.name: serving.of_file(found) for found in partition.snapshots.values()}
    files = {}
    for name, one in left.items():
        source = ON_DISK if one is on_disk.get(name) else RECOVERED
        files[name] = ServedFile(
            name, one.size_bytes, one.opened, one.modified_ms, str(partition.path / name), source
        )
    made = serving.of_files(partition.directory, files | snapshots, known.log_start)
    return (
        replace(
            made, segments=tuple(replace(one, start_error=failed.error) for one in made.segments)
        )
        if failed
        else made
    )


def _by_itself(
    files: Mapping[str, StoredFile], log: StoredLog, base: int, of: Profile
) -> dict[str, StoredFile]:
    """The files with one segment of them recovered as if there were no other, and room for all its
    entries.
    """
    from kafkaviz.simulate.starting.loading import Loading

    kinds = {
        name: parsed for name in files if (parsed := names.parse_file(name)) and not parsed.suffix
    }
    own = {name for name, parsed in kinds.items() if parsed.base_offset == base}
    snapshots = tuple(one for one in log.files if one.name.endswith(".snapshot"))
    alone = (*(files[name] for name in own), *snapshots)
    loading = Loading(
        StoredLog(log.directory, alone, replace(log.config, segment_index_bytes=MOST_BYTES)),
        False,
        of,
    )
    loading.run()
    return {name: one for name, one in files.items() if name not in own} | loading.files()
