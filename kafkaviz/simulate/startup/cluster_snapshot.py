"""The newest snapshot of the cluster's metadata, which a node reads before the metadata log.

As KRaftControlRecordStateMachine and RecordsIterator of Kafka 4.3.1: each batch's checksum is
looked at, and one that is wrong ends the start. Of 00000000000000000200-0000000003.checkpoint and
00000000000000000900-0000000004.checkpoint the second alone is read.
"""

from collections.abc import Iterator

import numpy as np

from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.binary.file_view import FileView
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, names
from kafkaviz.format.batch import CORRUPT_RECORD
from kafkaviz.format.walk import Walk
from kafkaviz.messages import message
from kafkaviz.simulate.recovery.recovery import BrokerException
from kafkaviz.simulate.startup import way_outs
from kafkaviz.simulate.steps import StartupStep
from kafkaviz.simulate.stored_log import StoredLog


def newest(file_names: Iterator[str]) -> str | None:
    """The name of the newest finished snapshot, or None."""
    parsed_names = ((names.parse_file(name), name) for name in file_names)
    snapshots = [
        ((parsed_name.base_offset, parsed_name.epoch), name)
        for parsed_name, name in parsed_names
        if parsed_name and (parsed_name.kind, parsed_name.suffix) == ("checkpoint", "")
    ]
    return max(snapshots)[1] if snapshots else None


def steps(log: StoredLog) -> Iterator[StartupStep]:
    """The end of the start, where the newest snapshot is damaged."""
    name = newest(file.name for file in log.files)
    fault = _fault(next(file for file in log.files if file.name == name)) if name else None
    if fault:
        why = message("start.cluster_snapshot_damaged", byte=fault[0])
        yield StartupStep(
            partition=log.directory,
            segment=None,
            action="fail",
            cause="snapshot-corrupt",
            why=why,
            file=f"{log.directory}/{name}",
            error=str(fault[1]) if fault[1] else None,
            way_out=way_outs.CLUSTER_SNAPSHOT,
        )


def _fault(file: FileView) -> tuple[int, BrokerException | None] | None:
    """What is wrong with a snapshot.

    Returns:
        The byte from which it cannot be read, and what Kafka throws, None where its words are not
        known; or None if nothing is wrong.
    """
    with file.open_reader() as read:
        walk = Walk(read, 0, file.size_bytes)
        for batches in walk:
            for position, size_bytes in zip(
                batches["position"].tolist(), batches["size_bytes"].tolist(), strict=True
            ):
                if size_bytes > LIMIT_BYTES:
                    return position, None
                data = np.empty(size_bytes, np.uint8)
                try:
                    batch_records.ensure_valid(data[: read(position, data)].data)
                except CorruptBytes as fault:
                    return position, BrokerException(CORRUPT_RECORD, str(fault.what))
    return (walk.end.position, None) if walk.end.position < file.size_bytes else None
