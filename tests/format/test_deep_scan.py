"""The deep scan, compared with the reader of single batches and a plain version, on bytes of real
brokers, cut and flipped anywhere.
"""

import struct
import zlib
from itertools import pairwise

import numpy as np
import pytest
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.binary import codec
from kafkaviz.binary.decoders import runs
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import record
from kafkaviz.format.batch import BATCH
from kafkaviz.format.deep_scan import CHECKED_BATCH, FAULTS, OFFSETS, TIMES, DeepScan
from kafkaviz.format.record import Record
from kafkaviz.format.walk import WalkEnd, walk
from kafkaviz.log.archives.archive import unpack_if_archive
from tests.cli.hostile_files import batch
from tests.conftest import DATA
from tests.format import plain_record
from tests.support.batch_reading import records_until_fault
from tests.support.bytes_reader import reader
from tests.support.cases import all_cases
from tests.support.legacy_messages import build_message
from tests.support.recorded import recorded

LOGS = sorted(DATA.glob("kafka-*/*/*.log"))
FEW = [
    Record(offset_delta=0, timestamp_delta_ms=0, key=b"k1", value=b"v1"),
    Record(
        offset_delta=1,
        timestamp_delta_ms=5,
        key=None,
        value=b"",
        headers=(("h", b"x"), ("i", None)),
    ),
    Record(offset_delta=2, timestamp_delta_ms=-3, key=b"", value=None),
]


@pytest.fixture(autouse=True)
def compiled_decompressors(monkeypatch):
    """Uses the compiled decompressors from the first byte on, as after some thousand batches."""
    monkeypatch.setattr(runs, "LIBRARY_RANGES", 0)


def batch_bytes(
    base_offset: int,
    records: list[Record],
    name: str = "none",
    attributes: int = 0,
    count: int | None = None,
) -> bytes:
    body = codec.compress(name, record.build(records))
    attributes |= codec.CODECS.index(name)
    count = len(records) if count is None else count
    return batch(body, count, base_offset, attributes, 1000, max_timestamp_ms=2000)


INNER = codec.compress(
    "gzip",
    build_message(1, 0, b"a", b"b", timestamp_ms=5)
    + build_message(1, 1, b"c", b"d", timestamp_ms=6),
)
ALL_KINDS = b"".join(
    [
        batch_bytes(0, FEW),
        *(batch_bytes(10 * place, FEW * 4, name) for place, name in enumerate(codec.CODECS[1:], 1)),
        batch_bytes(50, FEW, attributes=0x08),
        batch_bytes(60, []),
        build_message(0, 70, b"k", b"v"),
        build_message(1, 71, None, b"value", timestamp_ms=1234),
        build_message(1, 73, None, INNER, timestamp_ms=6, attributes=1),
        batch_bytes(80, FEW),
    ]
)


def scan(data: bytes, **options) -> tuple[np.ndarray, list, WalkEnd]:
    faults = []
    steps = DeepScan(reader(data), 0, len(data), faults.extend, **options)
    return np.concatenate([np.empty(0, CHECKED_BATCH), *steps]), faults, steps.end


def plain(data: bytes) -> tuple[list, list, WalkEnd]:
    """Scans with the header walk, the library's checksum and the plain reader of records."""
    batches, end = walk(data)
    checked, faults = [], []
    for row in batches:
        position = int(row["position"])
        batch_data = data[position : position + row["size_bytes"]]
        records, fault = of_one(row, batch_data)
        if fault:
            faults.append((position, position + fault.position, fault.what))
        valid = crc_of(row, batch_data) == row["crc"]
        sizes = [
            sum(record.size_bytes for record in records),
            sum(len(record.key or b"") for record in records),
            sum(len(record.value or b"") for record in records),
        ]
        checked.append((valid, fault is not None, len(records), *sizes))
    return checked, faults, end


def crc_of(batch: np.void, batch_data: bytes) -> int | None:
    if batch["magic"] < 2:
        return zlib.crc32(batch_data[16:])
    return crc32c(batch_data[21:]) if len(batch_data) >= 61 else None


def of_one(batch: np.void, batch_data: bytes) -> tuple[list, CorruptBytes | None]:
    """Returns the records that can be read from one batch, and the fault that ends them."""
    if batch["magic"] < 2 or len(batch_data) < 61:
        return records_until_fault(batch_data)
    body = batch_data[61:]
    count, codec_id = int(batch["record_count"]), int(batch["attributes"]) & 7
    try:
        if not codec_id or count <= 0:
            return plainly(body, count)
        try:
            plain_body = codec.decompress(codec.name(codec_id), body)
            return plain_record.parse(plain_body, count, True), None
        except CorruptBytes as inner:
            raise records_until_fault(batch_data)[1] from inner
    except CorruptBytes as raised:
        return [], raised


def plainly(body: bytes, count: int) -> tuple[list[Record], CorruptBytes | None]:
    """Returns the records of an uncompressed batch before the fault, and the fault."""
    records, position = [], 0
    try:
        while len(records) < count:
            records.append(plain_record.parse_record(body, position, False))
            position += records[-1].size_bytes
        plain_record.parse(body, count, False)
    except CorruptBytes as fault:
        return records, CorruptBytes(61 + fault.position, fault.what)
    return records, None


def assert_same(data: bytes, **options) -> tuple[np.ndarray, list, WalkEnd]:
    batches, faults, end = scan(data, **options)
    checked, plain_faults, plain_end = plain(data)
    table = np.empty(len(batches), BATCH)
    for name in BATCH.names:
        table[name] = batches[name]
    assert (table == walk(data)[0]).all() and end == plain_end
    rows = batches[
        ["crc_valid", "fault", "records_read", "records_bytes", "key_bytes", "value_bytes"]
    ].tolist()
    assert [(valid, fault > 0, *sums) for valid, fault, *sums in rows] == checked
    assert [(fault.batch_position, fault.position, fault.what) for fault in faults] == plain_faults
    assert [fault.code for fault in faults] == [FAULTS[code] for code in batches["fault"] if code]
    return batches, faults, end


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_real_logs_read_the_same_both_ways(path):
    batches, faults, _ = assert_same(path.read_bytes())
    assert batches["crc_valid"].all() and not faults
    assert batches["records_read"].sum() == batches["record_count"].sum() > 0


def test_every_codec_and_magic_in_one_log():
    batches, faults, end = assert_same(ALL_KINDS)
    assert batches["crc_valid"].all() and not faults and end == WalkEnd(len(ALL_KINDS), "end")
    assert batches["records_read"].tolist() == [3, *[12] * 4, 3, 0, 1, 1, 2, 3]


@pytest.mark.parametrize("chunk_bytes", [61, 90, 100, 150, 333, 1 << 20])
def test_chunks_of_any_size_give_the_same(chunk_bytes):
    """Batches across the border of two chunks, or larger, are returned once and whole."""
    assert (assert_same(ALL_KINDS, chunk_bytes=chunk_bytes)[0] == scan(ALL_KINDS)[0]).all()


@all_cases("cut", range(0, len(ALL_KINDS), 7))
def test_a_cut_log_keeps_its_whole_batches(cut):
    assert assert_same(ALL_KINDS[:cut], chunk_bytes=128)[2].position <= cut


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, len(ALL_KINDS) - 1),
    st.sampled_from([1, 2, 8, 64, 128, 255]),
    st.sampled_from([61, 200, 1 << 20]),
)
def test_a_flipped_byte_reads_the_same_both_ways(at, mask, chunk_bytes):
    """The plain reader gives the same checksums, sizes and words."""
    damaged = bytearray(ALL_KINDS)
    damaged[at] ^= mask
    assert_same(bytes(damaged), chunk_bytes=chunk_bytes)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-2, 5), st.binary(max_size=40), st.integers(0, 3)), max_size=5)
)
def test_any_bytes_as_records(batches):
    """A fault among the records ends them, even if the checksum of the garbage is right."""
    data = b""
    for count, body, flags in batches:
        body = record.build(FEW[:flags]) + body
        last = dict(last_offset_delta=0, max_timestamp_ms=7)
        data += batch(body, count, 2**63 - 2, flags * 8, 2**62, **last)
    assert_same(data)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (dict(count=2), "batch-record-count"),
        (dict(count=4), "batch-record-count"),
        (dict(count=-1), "batch-record-count"),
        (dict(name="zstd", count=4), "batch-record-count"),
        (dict(attributes=5), "decompress-failed"),
        (dict(attributes=1), "decompress-failed"),
    ],
)
def test_faults_have_their_code(change, code):
    data = batch_bytes(0, FEW) + batch_bytes(3, FEW, **change) + batch_bytes(6, FEW)
    batches, faults, _ = assert_same(data)
    assert batches["crc_valid"].all() and [fault.code for fault in faults] == [code]
    assert faults[0].batch_position == batches["position"][1] and batches["records_read"][2] == 3


def test_a_bad_checksum_does_not_end_the_scan():
    """Kafka's dump continues after it and reads the records."""
    data = bytearray(batch_bytes(0, FEW) + batch_bytes(3, FEW))
    data[17] ^= 1
    batches, faults, end = assert_same(bytes(data))
    assert batches["crc_valid"].tolist() == [False, True]
    assert batches["records_read"].sum() == 6
    assert not faults and end.reason == "end"


def test_a_header_that_is_cut_short_by_its_length():
    data = bytearray(batch_bytes(0, FEW))
    data[8:12] = struct.pack(">i", 30)
    batches, faults, _ = scan(bytes(data))
    assert not batches["crc_valid"][0] and faults[0].code == "batch-bad-length"
    assert "minimum allowed overhead 61" in str(faults[0].what)


def one_record(value: bytes) -> list[Record]:
    return [Record(offset_delta=0, timestamp_delta_ms=0, key=None, value=value)]


@pytest.mark.parametrize("name", codec.CODECS)
def test_a_batch_above_the_limit_is_summed_and_skipped(name):
    """It is read chunk by chunk, and decompression stops at the limit."""
    large = batch_bytes(3, one_record(np.random.default_rng(1).bytes(5000)), name)
    data = batch_bytes(0, FEW) + large + batch_bytes(4, FEW)
    batches, faults, end = scan(data, chunk_bytes=256, limit_bytes=2000)
    assert batches["crc_valid"].all() and end.reason == "end"
    assert batches["records_read"].tolist() == [3, 0, 3]
    [fault] = faults
    assert (fault.code, fault.batch_position) == ("batch-too-large", batches["position"][1])


def test_a_bomb_is_a_fault():
    bomb = batch_bytes(0, one_record(bytes(50_000)), "zstd")
    batches, faults, _ = scan(bomb + batch_bytes(1, FEW), limit_bytes=2000)
    assert len(bomb) < 200 and batches["crc_valid"].all()
    assert batches["records_read"].tolist() == [0, 3]
    assert faults[0].code == "decompress-failed"


def test_a_large_message_of_magic_1_has_its_own_checksum():
    """The checksum is computed chunk by chunk, and a flipped byte is seen."""
    data = build_message(1, 0, None, bytes(5000), timestamp_ms=5)
    for damaged in (0, 1):
        batches, _, _ = scan(data[:-1] + bytes([damaged]), chunk_bytes=256, limit_bytes=2000)
        assert batches["crc_valid"].tolist() == [not damaged]


@pytest.mark.parametrize("lost", [1, 30, 100, 2000])
@pytest.mark.parametrize("limit_bytes", [1000, 1 << 20])
def test_a_file_that_shrinks_ends_the_scan(lost, limit_bytes):
    data = batch_bytes(0, FEW) + batch_bytes(3, one_record(bytes(3000)))
    steps = DeepScan(reader(data[:-lost]), 0, len(data), chunk_bytes=128, limit_bytes=limit_bytes)
    assert sum(batches["records_read"].sum() for batches in steps) == 3
    assert steps.end == WalkEnd(len(batch_bytes(0, FEW)), "short")


@settings(max_examples=150, deadline=None)
@given(
    sizes=st.lists(
        st.tuples(*[st.sampled_from([-1, 0, 1, 63, 64, 8191, 8192, 70_000])] * 2), max_size=4
    ),
    deltas=st.lists(st.integers(0, 2**40), min_size=4, max_size=4),
    headers=st.lists(
        st.tuples(st.text(max_size=4), st.none() | st.binary(max_size=70)), max_size=3
    ),
    flips=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=3),
    name=st.sampled_from(["none", "lz4"]),
    change=st.integers(-1, 1),
)
def test_sizes_are_those_of_the_records(sizes, deltas, headers, flips, name, change):
    """For sound and damaged records, those of the plain reader."""
    records = [
        Record(
            offset_delta=place,
            timestamp_delta_ms=delta,
            key=None if key < 0 else bytes(key),
            value=None if value < 0 else bytes(value),
            headers=tuple(headers),
        )
        for place, ((key, value), delta) in enumerate(zip(sizes, deltas, strict=False))
    ]
    body = bytearray(record.build(records))
    for place, byte in flips if body else ():
        body[place % len(body)] = byte
    stored = codec.compress(name, bytes(body))
    count = max(0, len(records) + change)
    assert_same(batch(stored, count, 7, codec.CODECS.index(name), 1000, max_timestamp_ms=2000))


@settings(max_examples=150, deadline=None)
@given(
    deltas=st.lists(
        st.tuples(
            st.sampled_from([-(2**40), -70, -1, 0, 1, 63, 64, 8191, 8192, 2**40])
            | st.integers(-100, 20_000),
            st.sampled_from([-1, 0, 1, 2, 63, 64, 65, 8192, 2**31 - 1]) | st.integers(0, 300),
        ),
        min_size=1,
        max_size=6,
    ),
    is_sorted=st.booleans(),
    last_delta=st.sampled_from([0, 5, 2**31 - 1]),
    late_ms=st.sampled_from([0, 0, 0, 1, -1]),
)
def test_deltas_that_do_not_fit_the_header(deltas, is_sorted, last_delta, late_ms):
    """Offsets that do not increase or leave the header's range, and a wrong largest timestamp."""
    times = [time for time, _ in deltas]
    offsets = [offset for _, offset in deltas]
    if is_sorted:
        offsets = sorted(set(offsets))
        times = times[: len(offsets)]
    body = record.build(
        [
            Record(offset_delta=offset, timestamp_delta_ms=time, key=None, value=b"v")
            for time, offset in zip(times, offsets, strict=True)
        ]
    )
    base_ms = 2**41
    fields = {"last_offset_delta": last_delta, "max_timestamp_ms": base_ms + max(times) + late_ms}
    data = batch(body, len(offsets), 7, time_ms=base_ms, **fields)
    is_increasing = all(low < high for low, high in pairwise([-1, *offsets]))
    expected = 0 if is_increasing and offsets[-1] <= last_delta else OFFSETS
    expected |= TIMES if late_ms else 0
    [row] = scan(data)[0]
    assert row["oddities"] == expected


def test_sizes_with_a_flip_of_every_bit():
    data = batch_bytes(0, FEW)
    for place in range(61, len(data)):
        for bit in range(8):
            assert_same(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])


def test_recorded_batches_of_kafka():
    """Kafka's own classes (4.3.1) wrote the batches, whole and damaged."""
    lines = recorded("batches")
    assert len(lines) > 50
    for line in lines:
        assert_same(bytes.fromhex(line["hex"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "archive",
    [
        "kafka-2.8.2-legacy",
        "kafka-3.9.0-leader",
        pytest.param("kafka-4.3.1-clean", marks=pytest.mark.nightly),
        "kafka-4.3.1-damaged",
    ],
)
def test_every_log_of_whole_directories(archive, shared):
    root = unpack_if_archive(shared / "data" / f"{archive}.tar.gz")
    paths = [path for path in root.rglob("*.log") if path.stem.isdigit()]
    assert len(paths) > 30
    for path in paths:
        assert_same(path.read_bytes())
