"""The line of each record below its batch, and what goes on from record to record: offsets that do not follow each other."""

import numpy as np

from kafkaviz.commands.dumping import death
from kafkaviz.commands.dumping.batch_lines import TIMESTAMP_TYPES, timestamp_type
from kafkaviz.commands.dumping.console import Console
from kafkaviz.commands.dumping.decoders import control_text, decoder
from kafkaviz.commands.dumping.options import Options
from kafkaviz.commands.dumping.report import Report
from kafkaviz.format import batch, legacy
from kafkaviz.format.batch import MAGIC_2
from kafkaviz.format.batch_records import BatchRecord, until_fault


class RecordLines:
    """Prints the records of one file's batches, in their order.

    The offset before the first is -1, so a file whose first record has another offset than 0 is reported, as by Kafka's tool
    since it is written in Java.
    """

    def __init__(self, options: Options, absolute_path: str, report: Report) -> None:
        self._options, self._absolute_path, self._report = options, absolute_path, report
        self._decode = decoder(options) if options.prints else None
        self._last_offset = -1

    def print(self, row: np.void, data: bytes, console: Console) -> None:
        """Prints the records of a batch (a row of format.batch.BATCH, its bytes); a Death where one cannot be read."""
        records, fault = until_fault(data)
        is_control = bool(batch.is_control(row.reshape(1))[0])
        time_label = f"{TIMESTAMP_TYPES[int(timestamp_type(row.reshape(1))[0])]}: "
        for place, record in enumerate(records):
            self._check(record.offset)
            if not self._options.skip_record_metadata:
                console.write(_metadata(record, time_label, _sizes(record, place, data)))
            console.write(self._content(record, is_control) + b"\n")
        if fault:
            raise death.of_records(fault.what, row["magic"] < MAGIC_2, int(row["position"]) + fault.position)

    def _check(self, offset: int) -> None:
        """Notes an offset that is not the one after the last."""
        if offset != self._last_offset + 1:
            self._report.non_consecutive.setdefault(self._absolute_path, {})[self._last_offset] = offset
        self._last_offset = offset

    def _content(self, record: BatchRecord, is_control: bool) -> bytes:
        """What follows the metadata of a record; without metadata, the line."""
        bare = self._options.skip_record_metadata
        if is_control:
            return b"" if bare else b" " + control_text(record)
        if not self._decode:
            return b""
        shown = self._decode(record)
        return b"".join([b"| " if bare and shown else b" " if shown else b"", b" ".join(shown)])


def _sizes(record: BatchRecord, place: int, data: bytes) -> tuple[int, int]:
    """The sizes of key and value, -1 for null; a message of magic 0 or 1 shows what it stores, which damage may have made lower."""
    if record.is_valid is False:
        stored = legacy.read(data).rows[place]
        return int(stored["key_size_bytes"]), int(stored["value_size_bytes"])
    return -1 if record.key is None else len(record.key), -1 if record.value is None else len(record.value)


def _metadata(record: BatchRecord, time_label: str, sizes: tuple[int, int]) -> bytes:
    """| offset: 7 CreateTime: 1790000000000 keySize: -1 valueSize: 5, and what the magic adds."""
    key_bytes, value_bytes = sizes
    told = f"| offset: {record.offset} {time_label}{record.timestamp_ms} keySize: {key_bytes} valueSize: {value_bytes}"
    if record.crc is not None:
        return f"{told} isValid: {'true' if record.is_valid else 'false'} crc: {record.crc}".encode()
    names = ",".join(name for name, _ in record.headers)
    return f"{told} sequence: {-1 if record.sequence is None else record.sequence} headerKeys: [{names}]".encode()
