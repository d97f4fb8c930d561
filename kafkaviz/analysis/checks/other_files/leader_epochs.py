"""The checks of leader-epoch-checkpoint: readable, ascending, and in agreement with the batches."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.other_files import unreadable_files
from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.findings.finding import Evidence, Finding
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.names import LEADER_EPOCHS
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.messages import Message, message


def check_partition(
    partition: Partition, summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    if not any(file_info.name == LEADER_EPOCHS for file_info in partition.other_files):
        return
    try:
        data = file.read(partition.path / LEADER_EPOCHS, limit_bytes=file.TEXT_BYTES)
        epochs = checkpoint.parse_leader_epochs(data)
    except CorruptBytes as fault:
        is_uncaught = isinstance(fault, checkpoint.UncaughtRefusal)
        yield facts.make_finding(
            "leader-epoch-bad",
            LEADER_EPOCHS,
            message("finding.at_byte", byte=fault.position, problem=fault.what),
            Evidence(fault.what),
            (fault.position, None),
            consequence=message("consequence.ends_start") if is_uncaught else None,
        )
        return
    except KafkavizError as fault:
        yield unreadable_files.file_finding(LEADER_EPOCHS, fault, facts)
        return
    for (epoch, start), (next_epoch, next_start) in pairwise(epochs):
        if next_epoch <= epoch or next_start <= start:
            text = message(
                "finding.epoch_follows",
                later=next_epoch,
                start=next_start,
                epoch=epoch,
                before=start,
            )
            yield _epoch_finding(text, Evidence(text, message("evidence.growing_epochs")), facts)
            return
    yield from _compare_with_log(epochs, summaries, facts)


def _compare_with_log(
    epochs: list[tuple[int, int]], summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    """Yields a finding about the first batch whose epoch begins after it, or is not in the file.

    After a kill nothing is compared, because the next start corrects the file.
    """
    if any(summary.is_unsound for summary in summaries) or not epochs or facts.clean is False:
        return
    starts = dict(epochs)
    # retention may leave only an empty segment, at whose base offset the epoch begins
    end = max((_end_offset(summary) for summary in summaries), default=0)
    for summary in summaries:
        for epoch, offset, position in summary.epochs:
            is_known = (
                epoch < 0 or offset < epochs[0][1] or (epoch in starts and starts[epoch] <= offset)
            )
            if not is_known:
                claim = (
                    message("finding.says_epoch_begins", epoch=epoch, offset=starts[epoch])
                    if epoch in starts
                    else message("finding.has_no_epoch", epoch=epoch)
                )
                text = message(
                    "finding.epoch_of_batch",
                    file=LEADER_EPOCHS,
                    claim=claim,
                    offset=offset,
                    byte=position,
                    log=f"{summary.segment.name}.log",
                )
                evidence = Evidence(
                    claim, message("evidence.epoch_from", epoch=epoch, offset=offset)
                )
                yield _epoch_finding(text, evidence, facts)
                return
    if epochs[-1][1] > end:
        text = message(
            "finding.epoch_beyond_end", epoch=epochs[-1][0], offset=epochs[-1][1], end=end
        )
        yield _epoch_finding(
            text, Evidence(text, message("evidence.offset_up_to", offset=end)), facts
        )


def _end_offset(summary: CheckSummary) -> int:
    if summary.last_offset is None:
        return summary.segment.base_offset
    return summary.last_offset + 1


def _epoch_finding(text: Message, evidence: Evidence, facts: PartitionFacts) -> Finding:
    """Returns a finding about a file that Kafka reads although it is wrong."""
    consequence = message("consequence.epochs_taken")
    return facts.make_finding(
        "leader-epoch-bad", LEADER_EPOCHS, text, evidence, consequence=consequence
    )
