"""The transactional ids of producers, from the records of __transaction_state."""

from collections.abc import Iterable

from kafkaviz.errors import KafkavizError
from kafkaviz.format import coordinator_records
from kafkaviz.format.batch import is_control
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment

TOPIC = "__transaction_state"
MAX_BYTES = 256 << 20  # total size of the logs that are read


def read_transactional_ids(partitions: Iterable[Partition]) -> dict[int, str]:
    """Returns the transactional id that its coordinator wrote last, by producer id.

    The result is empty if the coordinator's partitions are on other brokers. A segment with a fault
    is read up to there. Logs beyond MAX_BYTES in total are not read.
    """
    producers: dict[str, int] = {}
    left_bytes = MAX_BYTES
    for partition in partitions:
        if partition.topic != TOPIC or partition.state != "current":
            continue
        for segment in partition.live:
            left_bytes -= segment.log.size_bytes
            if left_bytes < 0:
                break
            _take_segment(segment, producers)
    return {producer: name for name, producer in producers.items()}


def _take_segment(segment: LogSegment, producers: dict[str, int]) -> None:
    try:
        for batches in segment.scan():
            for position in batches["position"][~is_control(batches)].tolist():
                for record in segment.iterate(position):
                    state = coordinator_records.decode(
                        record.key, record.value, record.offset, "transactions"
                    )
                    if state.key is None:
                        continue
                    if state.value is None:
                        producers.pop(state.key["transactionalId"], None)
                    else:
                        producers[state.key["transactionalId"]] = state.value["producerId"]
    except KafkavizError:
        return  # another check reports the fault
