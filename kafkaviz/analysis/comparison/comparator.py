"""The comparison of two directories, partition by partition.

For example:

    comparison = compare("/backup/broker-1", "/backup/broker-2")
    comparison.counts                   # {Relation.IDENTICAL: 3, Relation.DIVERGED: 1}
    comparison.partitions[0].relation   # Relation.DIVERGED
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kafkaviz.analysis.checks.plan import cleaner_offsets
from kafkaviz.analysis.comparison import index_differences, leader_epochs, partition_matching
from kafkaviz.analysis.comparison.batches import BatchStream, LogTail, record_offsets
from kafkaviz.analysis.comparison.byte_differences import (
    ByteDifference,
    FileLocation,
    differing_places,
    one_sided,
    pair,
)
from kafkaviz.analysis.comparison.comparison import (
    SIDES,
    BrokerComparison,
    Lag,
    OffsetCollector,
    OffsetRange,
    PartitionComparison,
    Relation,
    Replica,
)
from kafkaviz.analysis.comparison.record_alignment import RecordAlignment, align
from kafkaviz.analysis.comparison.start_changes import compare_start, is_same_directory
from kafkaviz.analysis.inferred_release import assume_release
from kafkaviz.analysis.opened_path import open_log_path
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format.names import LEADER_EPOCHS
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, LogDirectory, Problem, open_broker
from kafkaviz.log.partition import CheckpointOffsets, Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.log.settings import Settings, SettingValue, open_settings
from kafkaviz.messages import Message, Text, message
from kafkaviz.simulate.recovery import LeaderEpochs
from kafkaviz.versions import ENTRY_PER_BATCH, TRUNCATION_ON_FETCH, search_profile

PartitionCallback = Callable[[str], object]
INTERVAL = "index.interval.bytes"


def compare(
    a: Path | str | Sequence[Path | str],
    b: Path | str | Sequence[Path | str],
    on_partition: PartitionCallback | None = None,
) -> BrokerComparison:
    """Compares two broker directories, partition directories, archives, or single logs.

    If meta.properties shows that `a` and `b` are two states of one directory, the start-up that is
    predicted for `a` is compared with the changes in `b`. Nothing is written.

    Args:
        a: a path, or a sequence of all log directories of a broker.
        b: the path or log directories of the other side, or of `a` in a later state.
        on_partition: called with the name of each partition before it is compared.

    Raises:
        CannotOpen: `a` or `b` cannot be opened.
    """
    return compare_brokers(_open(a), _open(b), on_partition)


def compare_brokers(
    a: Broker, b: Broker, on_partition: PartitionCallback | None = None
) -> BrokerComparison:
    comparer = _Comparer(a, b)
    is_lone = a.is_lone or b.is_lone
    find_matches = partition_matching.match_lone if is_lone else partition_matching.match_partitions
    comparisons = []
    problems = [*a.problems, *b.problems]
    for match in find_matches(a.partitions, b.partitions):
        if on_partition:
            on_partition(comparer.name_of(match))
        try:
            comparisons.append(comparer.compare(match))
        except CannotOpen as fault:
            problems.append(Problem.from_fault(match.partition.path, fault))
    start = None
    if comparer.is_one_directory:
        try:
            start = compare_start(a, b, comparer.settings[0])
        except KafkavizError as fault:
            problems.append(Problem.from_fault(getattr(fault, "path", b.source), fault))
    return BrokerComparison(
        (a.sources_text, b.sources_text), tuple(comparisons), start, tuple(problems)
    )


def _open(paths_of_side: Path | str | Sequence[Path | str]) -> Broker:
    """Opens a path, or several log directories of one broker.

    A .log is opened as a broker with only this segment and the leader epochs of its partition.
    """
    if not isinstance(paths_of_side, Path | str):
        if len(paths_of_side) > 1:
            return open_broker(*paths_of_side)
        paths_of_side = paths_of_side[0]
    source = file.absolute_path(paths_of_side)
    located = archive.locate(source)
    if located.is_file() and not archive.is_archive(located):
        opened = open_log_path(source)
        partition = opened.partition
        segments = tuple(
            segment for segment in partition.live if segment.base_offset == opened.base_offset
        )
        alone = replace(
            partition,
            segments=segments,
            other_files=tuple(info for info in partition.other_files if info.name == LEADER_EPOCHS),
            checkpoints=CheckpointOffsets(),
        )
        return _lone_broker(source, alone, opened.broker)
    try:
        broker = open_broker(source)
    except CannotOpen as fault:
        if fault.kind != "not-kafka":
            raise
        try:
            opened = open_log_path(source)
        except CannotOpen:
            raise fault from None
        return _lone_broker(source, opened.partition, opened.broker)
    if broker.is_lone and not broker.partitions:
        raise CannotOpen(source, broker.problems[0].what, kind=broker.problems[0].kind)
    return broker


def _lone_broker(source: Path, partition: Partition, around: Broker | None) -> Broker:
    if around is not None:
        return replace(around, sources=(source,), partitions=(partition,))
    return Broker(
        sources=(source,),
        log_directories=(LogDirectory(path=partition.path.parent, source=source),),
        partitions=(partition,),
        is_lone=True,
    )


class _Comparer:
    def __init__(self, a: Broker, b: Broker) -> None:
        self._brokers = a, b
        self._releases = assume_release(a), assume_release(b)
        releases = [assumed_release.release for assumed_release in self._releases]
        self.settings = open_settings(a, releases[0]), open_settings(b, releases[1])
        self.is_one_directory = is_same_directory(a, b)
        self._cleaner_offsets = cleaner_offsets(a), cleaner_offsets(b)
        self._is_per_append = not all(map(ENTRY_PER_BATCH.applies_to, releases))
        self._profile = search_profile(self._releases[0].version)

    def name_of(self, match: partition_matching.PartitionMatch) -> str:
        return self._brokers[0 if match.a else 1].partition_name(match.partition)

    def compare(self, match: partition_matching.PartitionMatch) -> PartitionComparison:
        if match.a is None or match.b is None:
            return self._describe_alone(match)
        partitions = match.a, match.b
        alignment = align(match.a.live, match.b.live)
        replicas = self._replica(match.a, 0, alignment), self._replica(match.b, 1, alignment)
        interval_settings = self._interval(match.a, 0), self._interval(match.b, 1)
        indexes = self._compare_indexes(partitions, interval_settings, alignment)
        _add_tails(alignment)
        comparison = PartitionComparison(
            partition=self.name_of(match),
            relations=(),
            interval_settings=interval_settings,
            replicas=replicas,
            compared_from=max(replica.log_start_offset for replica in replicas),
            compared_to=min(replica.log_end_offset for replica in replicas),
            first_divergent_offset=alignment.first_divergent_offset,
            leader_epochs_there=alignment.leader_epochs_there,
            segment_bases_equal=replicas[0].segments == replicas[1].segments,
            only_in=pair(collector.result() for collector in alignment.only_in),
            different=alignment.different.result(),
            unreadable=alignment.unreadable.result(),
            truncations=self._truncations(partitions, replicas),
            lag=_lag(replicas, alignment),
            differences=tuple(alignment.differences),
            difference_count=alignment.difference_count,
            rewritten_batches=alignment.rewritten_batches,
            damaged_batches=pair(alignment.damaged_batches),
            indexes=tuple(indexes),
        )
        relations = tuple(self._relations(comparison, alignment))
        comparison = replace(comparison, relations=relations[::-1])
        notes = _notes(comparison, alignment, is_one_directory=self.is_one_directory)
        return replace(comparison, notes=tuple(notes))

    def _describe_alone(self, match: partition_matching.PartitionMatch) -> PartitionComparison:
        alignment = align(match.a.live if match.a else (), match.b.live if match.b else ())
        return PartitionComparison(
            partition=self.name_of(match),
            relations=(Relation.ONLY_IN_A if match.a else Relation.ONLY_IN_B,),
            interval_settings=(self._interval(match.a, 0), self._interval(match.b, 1)),
            replicas=(
                self._replica(match.a, 0, alignment) if match.a else None,
                self._replica(match.b, 1, alignment) if match.b else None,
            ),
            only_in=pair(collector.result() for collector in alignment.only_in),
            other_generation=match.other_generation,
            other_directory=match.other_directory,
        )

    def _interval(self, partition: Partition | None, side: int) -> SettingValue | None:
        if partition is None:
            return None
        return self.settings[side].find(partition.topic, INTERVAL)

    def _replica(self, partition: Partition, side: int, alignment: RecordAlignment) -> Replica:
        log_start = partition.log_start_offset or 0
        log_end = max(alignment.end_offsets[side] or 0, log_start)
        tail = alignment.tails[side]
        is_unclean = self._brokers[side].shutdown_state == "unclean"
        entries, is_from_batches = _read_epochs(partition, is_unclean=is_unclean)
        epochs = leader_epochs.EpochHistory(
            entries, log_start, log_end, partition.high_watermark, is_from_batches
        )
        cleaner_checkpoint = None
        if partition.state == "current":
            key = (partition.topic, partition.partition)
            cleaner_checkpoint = self._cleaner_offsets[side].get(key)
        return Replica(
            directory=self._brokers[side].partition_name(partition),
            topic_id=partition.topic_id,
            log_start_offset=log_start,
            log_end_offset=log_end,
            high_watermark=partition.high_watermark,
            cleaner_checkpoint=cleaner_checkpoint,
            segments=tuple(segment.base_offset for segment in partition.live),
            epochs=epochs,
            torn_bytes=tail.size_bytes if tail else 0,
        )

    def _truncations(
        self, partitions: tuple[Partition, Partition], replicas: tuple[Replica, Replica]
    ) -> tuple[leader_epochs.FollowerTruncation, leader_epochs.FollowerTruncation]:
        truncations = []
        for leader, follower in ((0, 1), (1, 0)):
            truncation = leader_epochs.walk_truncation(
                replicas[leader].epochs,
                replicas[follower].epochs,
                is_request=not TRUNCATION_ON_FETCH.applies_to(self._releases[leader].release),
            )
            lost = _lost_offsets(
                partitions[follower], replicas[follower], truncation.follower_keeps_below
            )
            truncations.append(replace(truncation, follower_loses=lost))
        return pair(truncations)

    def _compare_indexes(
        self,
        partitions: tuple[Partition, Partition],
        interval_settings: tuple[SettingValue | None, SettingValue | None],
        alignment: RecordAlignment,
    ) -> list[index_differences.IndexComparison]:
        others = {segment.base_offset: segment for segment in partitions[1].live}
        intervals = pair(map(_known_interval, interval_settings, self.settings))
        indexes: list[index_differences.IndexComparison] = []
        differences: list[ByteDifference] = []
        for segment in partitions[0].live:
            other = others.get(segment.base_offset)
            if other is None:
                continue
            is_same_log = segment.base_offset not in alignment.differing_segments
            for index in index_differences.compare_indexes(
                segment,
                other,
                self._profile,
                intervals,
                is_same_log=is_same_log,
                is_per_append=self._is_per_append,
            ):
                indexes.append(index)
                if is_same_log or index.reason is index_differences.IndexReason.DAMAGE:
                    differences.append(index_differences.describe_index(segment, other, index))
            is_equal = index_differences.is_equal_index(segment.txnindex, other.txnindex)
            if is_same_log and not is_equal:
                differences.append(_txn_index_difference(segment, other))
        alignment.add_differences(differences)
        return indexes

    def _relations(
        self, comparison: PartitionComparison, alignment: RecordAlignment
    ) -> Iterator[Relation]:
        a, b = comparison.replicas
        assert a is not None and b is not None
        is_damaged = any(alignment.damaged_batches)
        has_gaps = _has_gaps(comparison)
        relations = {
            Relation.SEGMENTS_DIFFER: bool(alignment.differing_segments)
            or not comparison.segment_bases_equal,
            Relation.INDEX_FILES_DIFFER: bool(comparison.indexes)
            or any(
                difference.location.file.endswith("index") for difference in comparison.differences
            ),
            Relation.START_DIFFERS: a.log_start_offset != b.log_start_offset,
            Relation.DIVERGED: alignment.diverged > 0,
            Relation.ALTERED: alignment.altered > 0,
            Relation.DAMAGED: is_damaged or self._has_tail_after_clean_stop(alignment),
            Relation.CLEANED_DIFFERENTLY: has_gaps,
        }
        if a.log_end_offset != b.log_end_offset and not alignment.diverged:
            is_prefix = not (alignment.altered or is_damaged or has_gaps)
            longer, shorter = (a, b) if a.log_end_offset > b.log_end_offset else (b, a)
            # the shorter log has a later leader epoch, which begins at or before its end
            is_doomed = shorter.epochs.latest_election > longer.epochs.latest_election
            relations[Relation.DOOMED_TAIL] = is_doomed
            relations[Relation.BEHIND] = is_prefix and not is_doomed
        true_relations = [relation for relation in Relation if relations.get(relation)]
        yield from true_relations or [Relation.IDENTICAL]

    def _has_tail_after_clean_stop(self, alignment: RecordAlignment) -> bool:
        # no crash explains these tails, and the next start-up keeps them
        return any(
            self._brokers[side].shutdown_state == "clean" for side, _ in _differing_tails(alignment)
        )


def _differing_tails(alignment: RecordAlignment) -> Iterator[tuple[int, LogTail]]:
    for side, tail in enumerate(alignment.tails):
        if tail and tail.segment.base_offset in alignment.differing_segments:
            yield side, tail


def _add_tails(alignment: RecordAlignment) -> None:
    for side, tail in _differing_tails(alignment):
        place = FileLocation(tail.segment.log.name, tail.position, tail.size_bytes)
        values = one_sided(side, tail.kind)
        alignment.add_differences([ByteDifference(one_sided(side, place), "tail", values)])


def _known_interval(setting: SettingValue | None, settings: Settings) -> int | None:
    """Returns index.interval.bytes if known. A default is known only with the metadata log."""
    if setting is None or not setting.is_known:
        return None
    if not setting.is_given and not settings.has_metadata_log:
        return None
    return int(setting.value)


def _has_gaps(comparison: PartitionComparison) -> bool:
    start = comparison.compared_from or 0
    end = comparison.compared_to or 0
    return any(
        first < end and last >= start
        for records in comparison.only_in
        for first, last in records.ranges
    )


def _lag(replicas: tuple[Replica, Replica], alignment: RecordAlignment) -> Lag | None:
    ends = [replica.log_end_offset for replica in replicas]
    if ends[0] == ends[1]:
        return None
    behind = 0 if ends[0] < ends[1] else 1
    early_ms = alignment.newest_ms[behind]
    late_ms = alignment.newest_ms[1 - behind]
    time_ms = None if early_ms is None or late_ms is None else late_ms - early_ms
    return Lag(SIDES[behind], abs(ends[0] - ends[1]), alignment.lag_bytes[1 - behind], time_ms)


def _lost_offsets(
    partition: Partition, replica: Replica, keeps_below: int | None
) -> tuple[OffsetRange, ...]:
    if keeps_below is None or keeps_below >= replica.log_end_offset:
        return ()
    collector = OffsetCollector()
    place = bisect_right(replica.segments, keeps_below) - 1
    with BatchStream(partition.live[max(0, place) :]) as stream:
        for batches in stream.readable_rows():
            for offsets in record_offsets(stream, batches["last_offset"] >= keeps_below):
                collector.add_offsets(offsets[offsets >= keeps_below])
    return collector.result().ranges


def _read_epochs(
    partition: Partition, *, is_unclean: bool
) -> tuple[tuple[tuple[int, int], ...], bool]:
    """Returns a replica's (epoch, start offset) pairs, and whether the pairs are from batches.

    The replica's batches are used if leader-epoch-checkpoint is missing or unreadable. After an
    unclean shutdown, the epochs in the last segment are added to the epochs in the file.
    """
    checkpointed = leader_epochs.checkpointed_epochs(partition)
    epochs = checkpointed or LeaderEpochs()
    is_from_batches = checkpointed is None
    if is_from_batches or is_unclean:
        for segment in partition.live if is_from_batches else partition.live[-1:]:
            for batches in segment.scan():
                epochs.take(batches)
    return tuple(epochs.entries), is_from_batches


def _txn_index_difference(a: LogSegment, b: LogSegment) -> ByteDifference:
    infos = a.txnindex, b.txnindex
    data = pair(file.read(info.path) if info else b"" for info in infos)
    places = differing_places(*data)
    position = int(places[0]) if len(places) else min(map(len, data))
    locations = pair(
        FileLocation(info.name, position, max(0, len(part) - position)) if info else None
        for info, part in zip(infos, data, strict=True)
    )
    return ByteDifference(locations, "entry", (None, None))


def _notes(
    comparison: PartitionComparison, alignment: RecordAlignment, *, is_one_directory: bool
) -> Iterator[Message]:
    a, b = comparison.replicas
    assert a is not None and b is not None
    interval_a, interval_b = comparison.interval_settings
    if interval_a and interval_b and interval_a.value != interval_b.value:
        yield message(
            "comparison.interval_settings",
            a=_interval_text(interval_a),
            b=_interval_text(interval_b),
        )
    if comparison.relation is Relation.SEGMENTS_DIFFER and not comparison.segment_bases_equal:
        yield message("comparison.other_bounds")
    if comparison.rewritten_batches:
        yield message("comparison.rewritten", n=comparison.rewritten_batches)
    for side, tail in _differing_tails(alignment):
        key = f"comparison.tail_{tail.kind}"
        yield message(key, side=SIDES[side], n=tail.size_bytes, at=tail.position)
    if Relation.CLEANED_DIFFERENTLY in comparison.relations:
        offsets = [replica.cleaner_checkpoint for replica in (a, b)]
        if any(offset is not None for offset in offsets):
            yield message("comparison.cleaned_to", a=offsets[0], b=offsets[1])
    parted = {Relation.DIVERGED, Relation.DOOMED_TAIL} & set(comparison.relations)
    if parted and all(replica.high_watermark == replica.log_end_offset for replica in (a, b)):
        yield message("comparison.watermarks", a=a.high_watermark, b=b.high_watermark)
    for side, replica in zip(SIDES, (a, b), strict=True):
        if replica.epochs.is_from_batches and replica.segments:
            yield message("comparison.epochs_from_batches", side=side)
    if a.epochs.entries != b.epochs.entries and not parted:
        yield message(
            "comparison.epochs_changed" if is_one_directory else "comparison.epochs_differ"
        )


def _interval_text(setting: SettingValue) -> Text:
    if not setting.is_known:
        return setting.source
    return message("comparison.interval_setting", value=setting.value, source=setting.source)
