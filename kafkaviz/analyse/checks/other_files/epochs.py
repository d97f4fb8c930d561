"""The checks of leader-epoch-checkpoint: can it be read, do its epochs and offsets grow, do the
batches say the same?
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.other_files import unreadable
from kafkaviz.analyse.checks.summary import Summary
from kafkaviz.analyse.finding import Evidence, Finding
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.names import LEADER_EPOCHS
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.units import group


def of_partition(
    partition: Partition, summaries: Sequence[Summary], facts: Facts
) -> Iterator[Finding]:
    """leader-epoch-checkpoint by itself, and beside the epochs of the batches."""
    if not any(found.name == LEADER_EPOCHS for found in partition.others):
        return
    try:
        epochs = checkpoint.parse_leader_epochs(file.read_text(partition.path / LEADER_EPOCHS))
    except CorruptBytes as fault:
        yield facts.found(
            "leader-epoch-bad",
            LEADER_EPOCHS,
            f"byte {fault.position}: {fault.what}",
            Evidence(fault.what),
            fault.position,
        )
        return
    except KafkavizError as fault:
        yield unreadable.of_file(LEADER_EPOCHS, fault, facts)
        return
    for (epoch, start), (later, start_later) in pairwise(epochs):
        if later <= epoch or start_later <= start:
            message = (
                f"epoch {later} from offset {group(start_later)} follows epoch {epoch} from offset "
                f"{group(start)}"
            )
            yield _wrong_epochs(message, Evidence(message, "epochs and offsets that grow"), facts)
            return
    yield from _epochs_beside_log(epochs, summaries, facts)


def _epochs_beside_log(
    epochs: list[tuple[int, int]], summaries: Sequence[Summary], facts: Facts
) -> Iterator[Finding]:
    """Batches whose epoch began, by the checkpoint, behind them, or is not in it; after a kill the
    next start settles that.
    """
    if any(told.unsound for told in summaries) or not epochs or facts.clean is False:
        return
    starts = dict(epochs)
    end = max(
        (told.last_offset + 1 for told in summaries if told.last_offset is not None), default=0
    )
    for told in summaries:
        for epoch, offset, position in told.epochs:
            known = (
                epoch < 0 or offset < epochs[0][1] or (epoch in starts and starts[epoch] <= offset)
            )
            if not known:
                said = (
                    f"says that epoch {epoch} begins at offset {group(starts[epoch])}"
                    if epoch in starts
                    else f"has no epoch {epoch}"
                )
                place = f"byte {group(position)} of {told.segment.name}.log"
                message = (
                    f"{LEADER_EPOCHS} {said}; the batch of offset {group(offset)} is of it ("
                    f"{place})"
                )
                evidence = Evidence(said, f"epoch {epoch} from offset {group(offset)} or before")
                yield _wrong_epochs(message, evidence, facts)
                return
    if epochs[-1][1] > end:
        message = (
            f"epoch {epochs[-1][0]} begins at offset {group(epochs[-1][1])}, past the log's end "
            f"{group(end)}"
        )
        yield _wrong_epochs(message, Evidence(message, f"an offset up to {group(end)}"), facts)


def _wrong_epochs(message: str, evidence: Evidence, facts: Facts) -> Finding:
    """Of a file that Kafka reads, and should not believe."""
    consequence = (
        "A start takes them as they are; wrong epochs make followers truncate at wrong offsets"
    )
    return facts.found(
        "leader-epoch-bad", LEADER_EPOCHS, message, evidence, consequence=consequence
    )
