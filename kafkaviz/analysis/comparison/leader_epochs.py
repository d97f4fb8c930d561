"""How a follower truncates its log when it begins to follow a leader, step by step.

Each replica keeps pairs of a leader epoch and the offset at which the epoch began. A follower sends
its newest epoch. The leader finds its own newest epoch that is not above the sent epoch. It answers
with this epoch and the epoch's end offset. The follower truncates its log at that offset. A
follower that lacks the epoch in the answer asks again (KIP-279). For example:

    leader    (0, 0) (2, 120) (5, 180) (6, 220)     elected with epoch 6
    follower  (0, 0) (2, 120) (3, 180)              the log ends at 250
    the follower fetches at 250 with epoch 3: epoch 2 ends at 180; it drops 180 to 249
    the follower fetches at 180 with epoch 2: epoch 2 ends at 180; nothing is left to drop

The rules are from LeaderEpochFileCache.endOffsetFor, UnifiedLog.endOffsetForEpoch and
AbstractFetcherThread.getOffsetTruncationState of 4.0. Two real replicas on 4.4.0 took these steps.
Since 2.7 a fetch has the epoch (KIP-595). Before, the follower sent OffsetsForLeaderEpoch. The two
protocols truncate at the same offset.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from kafkaviz.errors import KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.names import LEADER_EPOCHS
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.simulate.recovery import LeaderEpochs

UNDEFINED = -1
MAX_STEPS = 10_000  # a limit on the truncation steps, each of which drops an epoch of the follower


class TruncationRule(StrEnum):
    # in the leader's log, the epoch ends at or after the follower's log end: nothing to truncate
    KEEP = "keep"
    END_OF_EPOCH = "end-of-epoch"  # truncate to the epoch's end, the lower one of both logs
    # the follower lacks the epoch in the answer: truncate to the end of the epoch before it, repeat
    ASK_AGAIN = "ask-again"
    # all epochs of the follower are newer: truncate to the end of the epoch in the answer
    LEADER_END = "leader-end"
    HIGH_WATERMARK = "high-watermark"  # the follower has no epoch: truncate to the high watermark
    START_ANEW = "start-anew"  # the follower's log ends below the leader's log start: drop it all


@dataclass(frozen=True)
class EpochEndOffset:
    """An epoch, and the offset after its last record. If unknown, both are UNDEFINED."""

    epoch: int
    end_offset: int


@dataclass(frozen=True)
class EpochHistory:
    """The leader epochs of one replica."""

    entries: tuple[tuple[int, int], ...]  # (epoch, start offset), both ascending
    log_start_offset: int
    log_end_offset: int
    high_watermark: int | None = None
    is_from_batches: bool = False  # because leader-epoch-checkpoint is missing or unreadable

    @property
    def latest(self) -> int:
        return self.entries[-1][0] if self.entries else UNDEFINED

    @property
    def latest_election(self) -> int:
        """The newest epoch that began at or before the log end, or UNDEFINED.

        An epoch without a record counts: when a leader is elected, it writes its epoch to
        leader-epoch-checkpoint (UnifiedLog.assignEpochStartOffset, 4.0).
        """
        return max(
            (epoch for epoch, start in self.entries if start <= self.log_end_offset),
            default=UNDEFINED,
        )

    def after_startup(self) -> "EpochHistory":
        """Returns the history after broker start-up.

        The last epochs are dropped if they have no record. Epochs before the log start become one
        epoch that begins at the log start (UnifiedLog.initializeLeaderEpochCache and
        LogLoader.load, 4.0).
        """
        epochs = LeaderEpochs(self.entries)
        epochs.cut_to(self.log_start_offset, self.log_end_offset)
        return replace(self, entries=tuple(epochs.entries))

    def truncate(self, end_offset: int) -> "EpochHistory":
        return replace(
            self,
            entries=tuple(entry for entry in self.entries if entry[1] < end_offset),
            log_start_offset=min(self.log_start_offset, end_offset),
            log_end_offset=end_offset,
        )

    def end_offset_for(self, epoch: int) -> EpochEndOffset:
        """Returns where an epoch ends in this log (LeaderEpochFileCache.endOffsetFor, 4.0)."""
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
    """A request of the follower, the leader's answer, and the effect."""

    epoch: int | None  # that the follower sends; None if it has none
    fetch_offset: int  # the follower's log end before the step
    answer: EpochEndOffset | None  # None: no epoch, or the leader's log starts above `fetch_offset`
    rule: TruncationRule
    truncates_to: int  # the follower's log end after the step


@dataclass(frozen=True)
class FollowerTruncation:
    """The steps that make a follower's log a prefix of the leader's log."""

    leader_epoch: int  # of the new leader, one above every epoch on both sides
    steps: tuple[TruncationStep, ...]
    follower_keeps_below: int | None  # the follower's log end after the steps; None: an empty log
    follower_log_start: int  # after the steps: the higher start of both logs
    follower_loses: tuple[tuple[int, int], ...] = ()  # (first, last) offsets of dropped records

    @property
    def drop_count(self) -> int:
        return sum(last - first + 1 for first, last in self.follower_loses)


def checkpointed_epochs(partition: Partition) -> LeaderEpochs | None:
    if not any(info.name == LEADER_EPOCHS for info in partition.other_files):
        return None
    try:
        data = file.read(partition.path / LEADER_EPOCHS, limit_bytes=file.TEXT_BYTES)
        return LeaderEpochs(checkpoint.parse_leader_epochs(data))
    except KafkavizError:
        return None


def walk_truncation(
    leader: EpochHistory, follower: EpochHistory, *, is_request: bool = False
) -> FollowerTruncation:
    """Returns how a follower truncates its log when it starts to follow this leader.

    Args:
        is_request: whether the follower sends OffsetsForLeaderEpoch, as in 2.0 to 2.6. Otherwise
            it sends its epoch with a fetch.
    """
    leader_epoch = max(leader.latest, follower.latest) + 1
    is_empty = follower.log_end_offset <= follower.log_start_offset
    started = leader.after_startup()
    elected = replace(started, entries=(*started.entries, (leader_epoch, started.log_end_offset)))
    steps = tuple(_steps(elected, follower.after_startup(), is_request=is_request))
    return FollowerTruncation(
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
    own = follower.end_offset_for(answer.epoch)
    rule = TruncationRule.END_OF_EPOCH
    cut_end = min(own.end_offset, answer.end_offset, end)
    if own.end_offset == UNDEFINED:
        rule = TruncationRule.LEADER_END
        cut_end = min(answer.end_offset, end)
    elif own.epoch != answer.epoch:
        rule = TruncationRule.ASK_AGAIN
        cut_end = min(own.end_offset, end)
    return TruncationStep(epoch, end, answer, rule, cut_end)
