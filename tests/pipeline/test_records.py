"""Records of many batches at once, compared with format.batch_records, batch by batch."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.binary import codec
from kafkaviz.format import batch_records, record
from kafkaviz.format.batch import BATCH, is_control
from kafkaviz.format.walk import walk
from kafkaviz.pipeline.datasource import records as records_module
from kafkaviz.pipeline.datasource.pushdown import NumberRange
from kafkaviz.pipeline.datasource.records import RecordSelection, UnreadableBatch, records
from tests.pipeline import whole_logs
from tests.support.batch_reading import records_until_fault
from tests.support.bytes_reader import reader
from tests.support.recorded import recorded

EVERYTHING = RecordSelection(payload=True)
START_MS = whole_logs.START_MS


def rows_in(
    data: bytes, selection: RecordSelection = EVERYTHING, rows: Sequence[int] | None = None
) -> tuple[list[dict], list[UnreadableBatch]]:
    read, (batches, _) = reader(data), walk(data)
    read_rows, unreadable = [], []
    for columns in records(read, batches if rows is None else batches[list(rows)], selection):
        if isinstance(columns, UnreadableBatch):
            unreadable.append(columns)
        else:
            read_rows += pa.table(
                {name: pa.array(column) for name, column in columns.items()}
            ).to_pylist()
    return read_rows, unreadable


def twin(data: bytes) -> tuple[list[dict], list[int]]:
    """Reads a log batch by batch; a batch with a fault, or a wrong checksum of its own or inside,
    gives its position alone.
    """
    read_rows, unreadable = [], []
    for row in walk(data)[0]:
        position = int(row["position"])
        batch_bytes = data[position : position + int(row["size_bytes"])]
        parsed, fault = records_until_fault(batch_bytes)
        if (
            fault
            or not batch_records.is_crc_valid(batch_bytes)
            or any(record.is_valid is False for record in parsed)
        ):
            unreadable.append(position)
            continue
        for parsed_record in parsed:
            key, value = parsed_record.key, parsed_record.value
            headers = [{"name": name, "value": data} for name, data in parsed_record.headers]
            read_rows.append(
                {
                    "batch_position": position,
                    "offset": parsed_record.offset,
                    "timestamp_ms": parsed_record.timestamp_ms,
                    "is_control": bool(is_control(np.array([row]))[0]),
                    "key_size_bytes": None if key is None else len(key),
                    "value_size_bytes": None if value is None else len(value),
                    "header_count": len(headers),
                    "key": key,
                    "value": value,
                    "headers": headers,
                }
            )
    return read_rows, unreadable


def assert_as_twin(data: bytes) -> int:
    read_rows, unreadable = rows_in(data)
    expected, broken = twin(data)
    assert read_rows == expected and [batch.position for batch in unreadable] == broken
    return len(read_rows)


def test_batches_of_kafkas_own_classes():
    log_bytes = b"".join(
        bytes.fromhex(line["hex"])
        for line in recorded("batches")
        if line.get("valid") and "header" in line
    )
    assert assert_as_twin(log_bytes) > 500


def test_logs_of_old_brokers():
    logs = [bytes.fromhex(line["hex"]) for line in recorded("legacy_logs")]
    assert sum(map(assert_as_twin, logs)) > 500


@pytest.mark.parametrize("run_bytes", [1, 700, 8 << 20])
@pytest.mark.parametrize("plain_bytes", [1, 32 << 20])
def test_every_codec_and_any_cut(monkeypatch, run_bytes, plain_bytes):
    """However many batches are read and decoded at once; also with gaps between them."""
    monkeypatch.setattr(records_module, "RUN_BYTES", run_bytes)
    monkeypatch.setattr(records_module, "PLAIN_BYTES", plain_bytes)
    names = ("none", "gzip", "snappy", "lz4", "zstd")
    times_ms = range(START_MS, START_MS + 5)
    batches = (
        whole_logs.batch(5 * number, times_ms, 40, names[number % 5], 8 * (number % 3 == 0))
        for number in range(40)
    )
    data = b"".join(batches)
    assert assert_as_twin(data) == 200
    read_rows, _ = rows_in(data, rows=[3, 4, 17])
    assert [row["offset"] for row in read_rows] == [*range(15, 25), *range(85, 90)]


def test_a_fault_leaves_its_neighbours():
    batches = [whole_logs.batch(10 * number, [START_MS] * 4, 20) for number in range(3)]
    faults = 0
    for place in range(57, len(batches[1])):
        for value in (0x00, 0x7F, 0xFF):
            hurt = bytearray(batches[1])
            hurt[place] = value
            data = batches[0] + bytes(hurt) + batches[2]
            assert_as_twin(data)
            faults += len(rows_in(data)[1])
    assert faults > 60


def test_bytes_after_the_last_record_are_a_fault():
    """As in Kafka's iterator, compressed or not; the neighbours' records are returned."""
    parts = [
        record.Record(offset_delta=delta, timestamp_delta_ms=0, key=None, value=b"value")
        for delta in range(3)
    ]
    body = record.build(parts) + b"\0"
    for name, data in (("none", body), ("zstd", codec.compress("zstd", body))):
        hurt = whole_logs.framed(10, data, [START_MS] * 3, codec.CODECS.index(name))
        log = whole_logs.batch(0, [START_MS] * 4) + hurt + whole_logs.batch(20, [START_MS])
        assert assert_as_twin(log) >= 5 and len(rows_in(log)[1]) == 1


def test_limits_leave_out_the_rest():
    data = b"".join(
        whole_logs.batch(10 * number, range(START_MS + number, START_MS + number + 10))
        for number in range(20)
    )
    everything, _ = rows_in(data)
    selection = RecordSelection(
        NumberRange(35, 120), NumberRange(START_MS + 8, START_MS + 12), payload=True
    )
    expected = [
        row
        for row in everything
        if 35 <= row["offset"] <= 120 and START_MS + 8 <= row["timestamp_ms"] <= START_MS + 12
    ]
    assert rows_in(data, selection)[0] == expected and len(expected) > 10
    (short, _) = rows_in(data, RecordSelection(selection.offsets, selection.times_ms))
    assert short == [
        {name: value for name, value in row.items() if name not in ("key", "value", "headers")}
        for row in expected
    ]


@given(
    st.lists(st.tuples(st.integers(61, 3 << 20), st.sampled_from([0, 0, 0, 1, 61])), max_size=40)
)
def test_stretches_that_are_read_at_once(sizes_and_gaps):
    """Adjacent batches, up to 8 MiB or one batch: as a plain loop finds them."""
    batches = np.zeros(len(sizes_and_gaps), BATCH)
    runs, at = [], 0
    for number, (size_bytes, gap) in enumerate(sizes_and_gaps):
        batches[number]["position"], batches[number]["size_bytes"] = at + gap, size_bytes
        joins = (
            gap == 0
            and runs
            and at + size_bytes - batches[runs[-1][0]]["position"] <= records_module.RUN_BYTES
        )
        runs[-1].append(number) if joins else runs.append([number])
        at += gap + size_bytes
    positions = [run["position"].tolist() for run in records_module._runs(batches)]
    assert positions == [batches["position"][run].tolist() for run in runs]
