"""What a follower drops from its log when it meets a leader, step by step.

Each replica keeps (epoch, the offset at which it began). A follower names its newest epoch; the
leader answers with the newest epoch that it has itself up to that one, and where that epoch ends in
its log. Before 0.11 the high watermark decided that, and records were lost or differed (KIP-101);
since 2.0 the answer names the epoch too, and the follower asks again where it lacks it (KIP-279).

    leader    (0, 0) (2, 120) (5, 180) (6, 220)     6 is the epoch it is elected with
    follower  (0, 0) (2, 120) (3, 180), ends at 250
    the follower fetches at 250 with epoch 3: epoch 2 ends at 180; it drops 180 to 249
    the follower fetches at 180 with epoch 2: epoch 2 ends at 180; nothing is left to drop

As LeaderEpochFileCache.endOffsetFor, UnifiedLog.endOffsetForEpoch and
AbstractFetcherThread.getOffsetTruncationState have it, 4.0; what 4.4.0 did with two real replicas
agrees. Since 2.7 the epoch goes along with a fetch, and the leader gives no records where it
diverges (KIP-595, Partition.readRecords); before, OffsetsForLeaderEpoch is a request of its own.
Both end at the same offset.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from kafkaviz.errors import KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.names import LEADER_EPOCHS
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.simulate.recovery.epochs import LeaderEpochs

UNDEFINED = -1
MAX_STEPS = 10_000  # each drops an epoch of the follower


class TruncationRule(StrEnum):
    """What an answer makes the follower do."""

    KEEP = "keep"  # its epoch ends at or behind its log end
    END_OF_EPOCH = "end-of-epoch"  # to the smaller of both ends of the epoch answered
    ASK_AGAIN = "ask-again"  # it lacks that epoch: to the end of the one before, and once more
    LEADER_END = "leader-end"  # it has no epoch so low: to where the leader's ends
    HIGH_WATERMARK = "high-watermark"  # it has no epoch at all
    START_ANEW = "start-anew"  # it ends below the leader's log start: everything goes


@dataclass(frozen=True)
class EpochEndOffset:
    """An epoch, and the offset behind its last record; both UNDEFINED where nothing is known."""

    epoch: int
    end_offset: int


@dataclass(frozen=True)
class EpochHistory:
    """The leader epochs of one replica.

    Attributes:
        entries: (epoch, start offset), both ascending.
        is_from_batches: whether leader-epoch-checkpoint is not there or cannot be read.
    """

    entries: tuple[tuple[int, int], ...]
    log_start_offset: int
    log_end_offset: int
    high_watermark: int | None = None
    is_from_batches: bool = False

    @property
    def latest(self) -> int:
        """The newest epoch, UNDEFINED where none is known."""
        return self.entries[-1][0] if self.entries else UNDEFINED

    @property
    def latest_election(self) -> int:
        """The newest epoch that began at or before the log's end, with or without a record.

        A leader notes its epoch when it is elected (UnifiedLog.assignEpochStartOffset, 4.0), before
        it writes anything: the replica with the newest one was elected last, or has a record of
        the one that was.

        Returns:
            UNDEFINED where none is known.
        """
        return max(
            (epoch for epoch, start in self.entries if start <= self.log_end_offset),
            default=UNDEFINED,
        )

    def after_load(self) -> "EpochHistory":
        """As a start loads it: without epochs that have no record at the end of the log.

        UnifiedLog.initializeLeaderEpochCache and LogLoader.load, 4.0. Those before the log start
        become one that begins there.
        """
        epochs = LeaderEpochs(self.entries)
        epochs.cut_to(self.log_start_offset, self.log_end_offset)
        return replace(self, entries=tuple(epochs.entries))

    def as_leader(self, epoch: int) -> "EpochHistory":
        """After it was elected: the new epoch begins at the log's end."""
        return replace(self, entries=(*self.entries, (epoch, self.log_end_offset)))

    def truncate(self, end_offset: int) -> "EpochHistory":
        """After the log was cut to end there."""
        return replace(
            self,
            entries=tuple(entry for entry in self.entries if entry[1] < end_offset),
            log_start_offset=min(self.log_start_offset, end_offset),
            log_end_offset=end_offset,
        )

    def end_offset_for(self, epoch: int) -> EpochEndOffset:
        """Where an epoch ends in this log (LeaderEpochFileCache.endOffsetFor, 4.0)."""
        if epoch == UNDEFINED:
            return EpochEndOffset(UNDEFINED, UNDEFINED)
        if epoch == self.latest:
            return EpochEndOffset(epoch, self.log_end_offset)
        later = [start for other, start in self.entries if other > epoch]
        if not later:
            return EpochEndOffset(UNDEFINED, UNDEFINED)
        earlier = [other for other, _ in self.entries if other <= epoch]
        return EpochEndOffset(earlier[-1] if earlier else epoch, later[0])


@dataclass(frozen=True)
class TruncationStep:
    """One question of the follower, the answer, and what follows.

    Attributes:
        epoch: that the follower names; None where it has none, and asks nothing.
        fetch_offset: where its log ends then.
        answer: None where nothing is asked, or the leader's log starts above the fetch offset.
        truncates_to: where its log ends afterwards.
    """

    epoch: int | None
    fetch_offset: int
    answer: EpochEndOffset | None
    rule: TruncationRule
    truncates_to: int


@dataclass(frozen=True)
class TruncationWalk:
    """How a follower comes to be a prefix of its leader.

    Attributes:
        leader_epoch: that the leader is elected with: one above all that either side knows.
        follower_keeps_below: None of a follower without a record.
        follower_loses: (first, last) of the offsets that it has records of and drops.
        follower_log_start: below which it then deletes, as the leader's log starts there.
    """

    leader_epoch: int
    steps: tuple[TruncationStep, ...]
    follower_keeps_below: int | None
    follower_log_start: int
    follower_loses: tuple[tuple[int, int], ...] = ()

    @property
    def drop_count(self) -> int:
        """How many records the follower drops."""
        return sum(last - first + 1 for first, last in self.follower_loses)


def checkpointed_epochs(partition: Partition) -> LeaderEpochs | None:
    """The epochs in leader-epoch-checkpoint; None where that is missing or cannot be read."""
    if not any(info.name == LEADER_EPOCHS for info in partition.other_files):
        return None
    try:
        data = file.read(partition.path / LEADER_EPOCHS, limit_bytes=file.TEXT_BYTES)
        return LeaderEpochs(checkpoint.parse_leader_epochs(data))
    except KafkavizError:
        return None


def walk_truncation(
    leader: EpochHistory, follower: EpochHistory, *, is_request: bool = False
) -> TruncationWalk:
    """What a follower does when it is started beside this leader.

    Args:
        is_request: by OffsetsForLeaderEpoch, as 2.0 to 2.6 ask; else along with a fetch.
    """
    leader_epoch = max(leader.latest, follower.latest) + 1
    is_empty = follower.log_end_offset <= follower.log_start_offset
    elected = leader.after_load().as_leader(leader_epoch)
    steps = tuple(_steps(elected, follower.after_load(), is_request=is_request))
    return TruncationWalk(
        leader_epoch,
        steps,
        None if is_empty else steps[-1].truncates_to,
        max(follower.log_start_offset, leader.log_start_offset),
    )


def _steps(
    leader: EpochHistory, follower: EpochHistory, *, is_request: bool
) -> Iterator[TruncationStep]:
    for _ in range(MAX_STEPS):
        step = _step(leader, follower)
        yield step
        is_asked_again = step.rule is TruncationRule.ASK_AGAIN
        if is_asked_again or (step.rule is TruncationRule.END_OF_EPOCH and not is_request):
            follower = follower.truncate(step.truncates_to)
        else:
            return
        if not follower.entries:
            return


def _step(leader: EpochHistory, follower: EpochHistory) -> TruncationStep:
    end = follower.log_end_offset
    if not follower.entries:
        cut_end = min(end, follower.high_watermark or 0)
        return TruncationStep(None, end, None, TruncationRule.HIGH_WATERMARK, cut_end)
    epoch = follower.latest
    answer = leader.end_offset_for(epoch)
    if end < leader.log_start_offset:
        first = follower.log_start_offset
        return TruncationStep(epoch, end, None, TruncationRule.START_ANEW, first)
    if answer.epoch >= epoch and answer.end_offset >= end:
        return TruncationStep(epoch, end, answer, TruncationRule.KEEP, end)
    return TruncationStep(epoch, end, answer, *_rule(answer, follower))


def _rule(answer: EpochEndOffset, follower: EpochHistory) -> tuple[TruncationRule, int]:
    """AbstractFetcherThread.getOffsetTruncationState, 4.0."""
    end, own = follower.log_end_offset, follower.end_offset_for(answer.epoch)
    if own.end_offset == UNDEFINED:
        return TruncationRule.LEADER_END, min(answer.end_offset, end)
    if own.epoch != answer.epoch:
        return TruncationRule.ASK_AGAIN, min(own.end_offset, end)
    return TruncationRule.END_OF_EPOCH, min(own.end_offset, answer.end_offset, end)
