"""A batch read as far as Kafka's iterator gets, and built from a row of the table of batches."""

import numpy as np
from crc32c import crc32c

from kafkaviz.binary import codec
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, record
from kafkaviz.format.batch import BATCH, CRC_START, HEADER
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.record import Record


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


def all_records(
    data: bytes | memoryview, codec_id: int, record_count: int, limit_bytes: int = codec.LIMIT_BYTES
) -> list[Record]:
    """Returns the records of a batch's body, with deltas."""
    return [
        found
        for body, table in record.runs(data, codec_id, record_count, limit_bytes)
        for found in record.records_from_rows(body, table)
    ]


def build_from_row(row: np.void, body: bytes) -> bytes:
    """Returns a batch by the dtype of format/ and one call for the checksum."""
    header = np.zeros(1, HEADER)
    for name in set(HEADER.names) & set(BATCH.names):
        header[name] = row[name]
    header["batch_length_bytes"] = row["size_bytes"] - 12
    header["last_offset_delta"] = row["last_offset"] - row["base_offset"]
    header["crc"] = crc32c(header.tobytes()[CRC_START:] + body)
    return header.tobytes() + body
