"""Opens a log as a broker serves it after start-up.

After a clean shutdown, the broker serves the files unchanged, even if they have wrong bytes. After
an unclean shutdown, start-up recovers the segment that contains the recovery point and all later
segments. It always recovers segments without an .index or with an invalid .txnindex, and up to
Kafka 2.2 segments with any invalid index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from kafkaviz import versions
from kafkaviz.analysis.inferred_release import assume_release
from kafkaviz.analysis.opened_path import ADVICE_ANY, OpenedPath, broker_around
from kafkaviz.analysis.restart.recovery_scope import distrust_reason, recovered_bases
from kafkaviz.binary.file_view import AFTER_RECOVERY, ON_DISK, FileView
from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import names
from kafkaviz.format.names import SegmentName
from kafkaviz.log import file, lone_files
from kafkaviz.log.broker import CHECKPOINTS, CLEAN_SHUTDOWN, META_PROPERTIES, Broker, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.remote import address
from kafkaviz.log.segment import LogSegment
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.log.tiered import tiered_view
from kafkaviz.messages import Message, message
from kafkaviz.search.log_view import LogView, SegmentView, view_files, view_partition, view_segment
from kafkaviz.simulate.config import IndexConfig, ReleaseBehaviour, release_behaviour
from kafkaviz.simulate.steps import MAX_LOG_BYTES, StoredLog
from kafkaviz.versions import Release

# segment.index.bytes with room for all entries of a segment that start-up cannot open
MAX_BYTES = 2**31 - 1


def open_log(opened: OpenedPath, *, as_is: bool = False) -> LogView:
    """Returns the log that a lookup searches: all segments of a partition, or only one .log.

    Raises CannotOpen if the path is neither a partition nor a .log, or if broker start-up deletes
    this .log.
    """
    partition = opened.partition
    name = opened.file_name
    if name is None:
        return open_log_view(partition, opened.version, as_is=as_is, broker=opened.broker)
    if name.kind != "log":
        raise CannotOpen(opened.path, message("errors.is_no_log"), ADVICE_ANY, kind="not-kafka")
    segment = partition.segment(name.base_offset, name.suffix or None).with_log()
    if name.suffix:  # a file that a broker does not serve, such as .deleted
        return LogView(partition.directory, (view_segment(segment),))
    if as_is or not needs_recovery(partition, opened.release):
        # the partition's log start offset may be inside this segment
        return replace(view_partition(partition), segments=(view_segment(segment),))
    log = open_log_view(partition, opened.version, broker=opened.broker)
    recovered_segment = _find_segment(log, name.base_offset)
    if recovered_segment is None:
        raise CannotOpen(
            segment.log.path,
            message("errors.deleted_by_start"),
            message("errors.give_as_is"),
            kind="missing",
        )
    return replace(log, segments=(recovered_segment,))


def open_index(opened: OpenedPath, *, as_is: bool = False) -> SegmentView:
    """Returns the segment of an index file. The segment's other files may be missing."""
    name = cast(SegmentName, opened.file_name)
    partition = opened.partition
    index_info = file.info(opened.path)
    is_live = not name.suffix and any(
        segment.base_offset == name.base_offset for segment in partition.live
    )
    if is_live and not as_is and needs_recovery(partition, opened.release):
        log = open_log_view(partition, opened.version, broker=opened.broker)
        recovered_segment = _find_segment(log, name.base_offset)
        if recovered_segment:
            return recovered_segment
    log_file = FileView(
        name=opened.path.name, size_bytes=0, open_reader=lambda: file.reader(opened.path)
    )
    index: dict[str, Any] = {name.kind: file.view(index_info)}
    return SegmentView(base_offset=name.base_offset, log=log_file, **index)


def _find_segment(log: LogView, base_offset: int) -> SegmentView | None:
    return next((segment for segment in log.segments if segment.base_offset == base_offset), None)


def open_log_view(
    partition: Partition,
    version: str | None = None,
    *,
    as_is: bool = False,
    broker: Broker | None = None,
    settings: Settings | None = None,
) -> LogView:
    """Returns the log as a broker of that version sees it after start-up.

    Args:
        settings: the broker's settings. None: they are read if start-up recovers the log.

    Raises:
        CannotOpen: the partition has no .log.
    """
    if not partition.live:
        raise CannotOpen(partition.path, message("errors.holds_no_log"), kind="missing")
    if as_is:
        return view_partition(partition)
    if version:
        release = versions.parse(version)
    else:
        release = assume_release(broker or broker_around(partition)).release
    if needs_recovery(partition, release):
        return _recovered_log_view(partition, release, broker, settings)
    return view_partition(partition)


def needs_recovery(partition: Partition, release: Release | None = None) -> bool:
    """Returns whether broker start-up may change what a search reads.

    Returns False for a partition directory without a broker's files next to it. The metadata log is
    recovered at every start-up. Up to Kafka 4.3, this changes nothing after a clean shutdown,
    because the shutdown has trimmed the indexes.
    """
    root = lone_files.folder_of(partition.path).parent
    broker_files = (META_PROPERTIES, CLEAN_SHUTDOWN, *CHECKPOINTS.values())
    if not any(file.is_there(root / name) for name in broker_files):
        return False
    behaviour = release_behaviour(release or assume_release(broker_around(partition)).release)
    is_clean = file.is_there(root / CLEAN_SHUTDOWN) and (
        behaviour.close_trims or partition.topic != names.METADATA_TOPIC
    )
    return not is_clean or any(
        _is_rebuilt_or_fatal(segment, behaviour) for segment in partition.live
    )


def _is_rebuilt_or_fatal(segment: LogSegment, behaviour: ReleaseBehaviour) -> bool:
    """Returns whether start-up rebuilds a segment's indexes, or fails because of an index."""
    try:
        return distrust_reason(segment, behaviour) is not None
    except CorruptBytes:
        return True


def describe_recovered(names: Sequence[str], *, is_assumed: bool = False) -> Message | None:
    """Returns a message that the named files are shown in their state after recovery.

    Returns None without names. If `is_assumed`, the message says that index.interval.bytes is
    unknown, so the broker's recovery may write other entries.
    """
    if not names:
        return None
    how = "by_default" if is_assumed else "by_start"
    if len(names) == 1:
        return message(f"recovered_files.one_{how}", file=names[0])
    stems, kinds = zip(*(name.split(".") for name in names), strict=True)
    if len(set(stems)) == 1:
        ends = tuple(f".{kind}" for kind in kinds)
        return message(f"recovered_files.of_one_segment_{how}", ends=ends, stem=stems[0])
    return message(f"recovered_files.several_{how}", file=names[0], n=len(names) - 1)


def describe_failed_start(error: str, *, has_unopened: bool = False) -> Message:
    """Returns a message which says that broker start-up fails, so no broker serves this log."""
    if has_unopened:
        return message("recovered_files.start_fails_unopened", error=error, bytes=MAX_LOG_BYTES)
    return message("recovered_files.start_fails", error=error)


def has_unopened_log(segments: Sequence[SegmentView]) -> bool:
    """Returns whether a .log is longer than Kafka can open. Recovery never changes such a file."""
    return any(segment_view.size_bytes > MAX_LOG_BYTES for segment_view in segments)


def _recovered_log_view(
    partition: Partition, release: Release, broker: Broker | None, settings: Settings | None
) -> LogView:
    from kafkaviz.analysis.restart.next_start import RestartLog, config_lookup, stored_log
    from kafkaviz.simulate.recovery import RecoveredSegment
    from kafkaviz.simulate.startup.log_loader import LogLoader

    broker = broker or open_broker(partition.path)
    checkpoints = partition.checkpoints
    finished_bases = set()
    config = config_lookup(settings or open_settings(broker, release))(partition)
    log = stored_log(
        RestartLog(
            partition=partition,
            config=config,
            recovery_point=checkpoints.recovery_point or 0,
            log_start_offset=checkpoints.log_start or 0,
        )
    )
    on_disk = {stored_file.name: stored_file for stored_file in log.files}

    def on_recovered(_directory: str, base: int, recovered_segment: RecoveredSegment) -> None:
        if not recovered_segment.exception:
            finished_bases.add(base)

    clean = broker.directory_of(partition).is_clean
    if partition.topic == names.METADATA_TOPIC:
        # KafkaRaftLog opens the metadata log in this way
        log = replace(log, config=IndexConfig(), recovery_point=0, log_start_offset=0)
        clean = False
    behaviour = release_behaviour(release)
    loading = LogLoader(log, clean=clean, behaviour=behaviour, on_recovered=on_recovered)
    failed_step = next((step for step in loading.run() if step.action == "fail"), None)
    files_after = loading.files()
    if failed_step:
        bases = recovered_bases(
            partition.live, clean=clean, recovery_point=checkpoints.recovery_point, release=release
        )
        for base in bases - finished_bases:
            files_after = _recover_alone(files_after, log, base, behaviour)
    snapshots = {snapshot.name: file.view(snapshot) for snapshot in partition.snapshots.values()}
    files = {}
    for name, stored_file in files_after.items():
        source = ON_DISK if stored_file is on_disk.get(name) else AFTER_RECOVERY
        files[name] = replace(
            stored_file, name=name, path=address.display(partition.path / name), source=source
        )
    log_view = replace(
        view_files(partition.directory, files | snapshots, checkpoints.log_start),
        tiered=tiered_view.tiered_offsets(partition.path),
    )
    segments = (
        replace(
            segment_view,
            start_error=failed_step.error if failed_step else None,
            has_assumed_settings=not config.is_known and bool(segment_view.recovered_files),
        )
        for segment_view in log_view.segments
    )
    return replace(log_view, segments=tuple(segments))


def _recover_alone(
    files: Mapping[str, FileView], log: StoredLog, base: int, behaviour: ReleaseBehaviour
) -> dict[str, FileView]:
    """Returns all `files`, with one segment recovered as if the log had no other segment.

    The rebuilt indexes have room for all entries, whatever segment.index.bytes is.
    """
    from kafkaviz.simulate.startup.log_loader import LogLoader

    kinds = {
        name: parsed for name in files if (parsed := names.parse_file(name)) and not parsed.suffix
    }
    own_names = {name for name, parsed in kinds.items() if parsed.base_offset == base}
    snapshots = tuple(
        stored_file for stored_file in log.files if stored_file.name.endswith(".snapshot")
    )
    files_of_segment = (*(files[name] for name in own_names), *snapshots)
    loading = LogLoader(
        StoredLog(
            directory=log.directory,
            files=files_of_segment,
            config=replace(log.config, segment_index_bytes=MAX_BYTES),
        ),
        clean=False,
        behaviour=behaviour,
    )
    loading.run()
    return {
        name: stored_file for name, stored_file in files.items() if name not in own_names
    } | loading.files()
