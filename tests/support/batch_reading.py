"""A batch read as far as Kafka's iterator gets."""

from kafkaviz.binary import codec
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records
from kafkaviz.format.batch_records import BatchRecord


def records_until_fault(
    data: bytes | memoryview, limit_bytes: int = codec.LIMIT_BYTES
) -> tuple[list[BatchRecord], CorruptBytes | None]:
    """Returns the records that Kafka's iterator gives before it raises, and its error or None."""
    records: list[BatchRecord] = []
    try:
        records.extend(batch_records.iterate(data, limit_bytes))
    except CorruptBytes as fault:
        return records, fault
    return records, None
