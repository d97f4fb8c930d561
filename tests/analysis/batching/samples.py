"""Samples of records that are made from a table of batches, in memory or as a .log."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kafkaviz.analysis.batching.record_sample import (
    SAMPLED_BATCH,
    SAMPLED_RECORD,
    RecordSample,
    read_sample,
)
from kafkaviz.analysis.tuning.log_windows import LogWindow, choose_windows
from kafkaviz.binary import codec, varint
from kafkaviz.format import record
from kafkaviz.format.batch import CONTROL, LOG_APPEND_TIME
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.partition import Partition
from tests.pipeline import whole_logs


@dataclass(frozen=True)
class Sent:
    """A batch that a producer sent: a record at each of these times."""

    times_ms: Sequence[int]
    producer_id: int = 7
    epoch: int = 0
    attributes: int = 0
    codec_name: str = "none"
    value_bytes: int = 20
    window: int = 0
    is_json: bool = False  # whether values are orders as JSON instead of a repeated letter

    def value(self, offset: int) -> bytes:
        if not self.is_json:
            return bytes([65 + offset % 26]) * self.value_bytes
        draw = random.Random(offset)
        order = {
            "order": offset,
            "customer": f"{draw.getrandbits(40):010x}",
            "status": draw.choice(["shipped", "paid", "cancelled"]),
            "total": round(draw.uniform(1, 500), 2),
        }
        return json.dumps(order).encode()

    def records(self, base_offset: int) -> list[record.Record]:
        return [
            record.Record(
                offset_delta=delta,
                timestamp_delta_ms=time_ms - self.times_ms[0],
                key=f"key-{base_offset + delta}".encode(),
                value=self.value(base_offset + delta),
                headers=(("trace", b"\0"),) if delta % 3 == 2 else (),
            )
            for delta, time_ms in enumerate(self.times_ms)
        ]

    def batch(self, base_offset: int) -> bytes:
        """Returns its bytes; a marker of a transaction if it is a control batch."""
        body = record.build(self.records(base_offset))
        if self.attributes & CONTROL:
            body = record.build(
                [record.Record(offset_delta=0, timestamp_delta_ms=0, key=bytes(4), value=bytes(6))]
            )
        if self.codec_name != "none":
            body = codec.compress_as_broker(self.codec_name, body)
        return whole_logs.framed(
            base_offset,
            body,
            self.times_ms,
            codec.CODECS.index(self.codec_name) | self.attributes,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
        )


def sample(sent: Sequence[Sent]) -> RecordSample:
    """Returns the sample of these batches, as read_sample would return it for their windows."""
    batches = np.zeros(len(sent), SAMPLED_BATCH)
    records = []
    pieces = []
    position = plain_bytes = offset = 0
    for row, one in enumerate(sent):
        data = one.batch(offset)
        is_control = bool(one.attributes & CONTROL)
        batches[row]["position"], batches[row]["size_bytes"] = position, len(data)
        batches[row]["base_offset"] = offset
        batches[row]["last_offset"] = offset + len(one.times_ms) - 1
        batches[row]["magic"], batches[row]["window"] = 2, one.window
        batches[row]["attributes"] = codec.CODECS.index(one.codec_name) | one.attributes
        batches[row]["base_timestamp_ms"] = one.times_ms[0]
        batches[row]["max_timestamp_ms"] = max(one.times_ms)
        batches[row]["producer_id"], batches[row]["producer_epoch"] = one.producer_id, one.epoch
        batches[row]["record_count"] = len(one.times_ms)
        batches[row]["first_record"] = len(records)
        for delta, built in enumerate([] if is_control else one.records(offset)):
            body = record.build([built])
            _, length_end = varint.read_varint(body)
            _, offset_at = varint.read_varlong(body, length_end + 1)
            _, tail = varint.read_varint(body, offset_at)
            time_ms = one.times_ms[delta]
            if one.attributes & LOG_APPEND_TIME:
                time_ms = max(one.times_ms)
            start = plain_bytes
            plain_bytes += len(body)
            records.append((row, offset + delta, time_ms, start, start + tail, plain_bytes))
            pieces.append(body)
            batches[row]["plain_bytes"] += len(body)
        batches[row]["end_record"] = len(records)
        position += len(data)
        offset += len(one.times_ms)
    return RecordSample(
        windows=(),
        batches=batches,
        records=np.array(records, SAMPLED_RECORD),
        data=np.frombuffer(b"".join(pieces), np.uint8),
        stored_bytes=position,
    )


def log_windows(broker: Path, sent: Sequence[Sent]) -> list[LogWindow]:
    """Writes the batches as topic-partition orders-0, and returns it as one window."""
    whole_logs.broker(broker)
    offset = 0
    data = []
    for one in sent:
        data.append(one.batch(offset))
        offset += len(one.times_ms)
    (broker / "orders-0").mkdir(parents=True)
    (broker / "orders-0" / f"{0:020}.log").write_bytes(b"".join(data))
    return [whole_window(open_broker(broker).partitions[0])]


def read_topic(
    broker: Broker, topic: str, window_bytes: int | None = None, most_bytes: int = 1 << 30
) -> RecordSample:
    """Returns the records of windows of a topic, by default all records."""
    logs = [(one, one.live) for one in broker.partitions if one.topic == topic]
    return read_sample(choose_windows(logs, window_bytes), most_bytes)


def whole_window(partition: Partition) -> LogWindow:
    segment = partition.live[0]
    return LogWindow(partition, segment, 0, segment.log.size_bytes)
