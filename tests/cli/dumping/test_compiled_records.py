"""The compiled printing of records gives the same lines as the plain one, batch by batch."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.binary import codec
from kafkaviz.binary.decoders import runs
from kafkaviz.cli.dumping import record_lines
from kafkaviz.cli.dumping.compiled_records import ROOM_BYTES, LineBuffer, is_utf8
from kafkaviz.format.record import Record, build
from tests.cli.dumping.running import dumped
from tests.cli.hostile_files import batch
from tests.support.cases import all_cases

LOG = "00000000000000000000.log"
TEXT = st.one_of(st.none(), st.binary(max_size=12), st.text(max_size=12).map(str.encode))
RECORDS = st.lists(
    st.builds(
        Record, offset_delta=st.integers(-5, 2**31 - 1), timestamp_delta_ms=st.integers(-(2**40), 2**40),
        key=TEXT, value=TEXT, headers=st.lists(st.tuples(st.text(max_size=5), TEXT), max_size=3).map(tuple),
    ),
    max_size=4,
)  # fmt: skip
BATCHES = st.lists(
    st.tuples(
        RECORDS,
        st.sampled_from([0, 0, 1, 2, 3, 4]),
        st.sampled_from([0, 8, 0x40]),
        st.integers(-1, 2**31 - 1),
    ),
    max_size=6,
)


def encode_log(batches: list[tuple]) -> bytes:
    """Returns a log of (records, codec, attributes, base sequence) rows, 100 offsets apart."""
    log = b""
    for number, (records, codec_id, attributes, base_sequence) in enumerate(batches):
        body = build(records)
        body = codec.compress(codec.name(codec_id), body) if codec_id and records else body
        log += batch(
            body,
            len(records),
            100 * number,
            codec_id | attributes,
            time_ms=10**12,
            max_timestamp_ms=10**12 + 7,
            base_sequence=base_sequence,
        )
    return log


def no_runs(_lines, batches: np.ndarray, _sizes) -> list[tuple[int, int, int]]:
    return [(0, len(batches), -1)]


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--print-data-log",), ("--deep-iteration",)])
@settings(max_examples=60, deadline=None)
@given(batches=BATCHES, room_bytes=st.just(ROOM_BYTES) | st.integers(0, 4000))
def test_both_ways_print_the_same(options, batches, room_bytes, tmp_path_factory):
    """Any keys, values, headers, codecs and room; sequences restart from 0, offsets have gaps."""
    folder = tmp_path_factory.mktemp("log")
    (folder / LOG).write_bytes(encode_log(batches))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "LIBRARY_RANGES", 0)
        patch.setattr(record_lines, "LineBuffer", partial(LineBuffer, room_bytes))
        compiled = dumped(folder, [*options, LOG])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_lines.RecordLines, "_codec_runs", no_runs)
        assert dumped(folder, [*options, LOG]) == compiled
    assert compiled.out.count(b"baseOffset: ") >= len(batches)
    assert compiled.status == 0


def test_little_room_is_used_again_and_again(monkeypatch, data):
    """Buffers that hold one batch at a time, or not even one, print the same as large ones."""
    folder = data / "kafka-4.3.1" / "nulls-0"
    expected = dumped(folder, ["--print-data-log", LOG])
    for room_bytes in (10, 3000, 9000):
        monkeypatch.setattr(record_lines, "LineBuffer", partial(LineBuffer, room_bytes))
        assert dumped(folder, ["--print-data-log", LOG]) == expected
    assert expected.out.count(b" headerKeys: [") >= 120


def test_a_gap_before_every_record(monkeypatch, tmp_path):
    """Lines that are shorter than the bound leave room for more records than there may be gaps."""
    records = [
        Record(offset_delta=2 * index, timestamp_delta_ms=0, key=None, value=None)
        for index in range(10)
    ]
    log = encode_log([(records, 0, 0, -1), (records[:8], 0, 0, -1)])
    (tmp_path / LOG).write_bytes(log)
    expected = dumped(tmp_path, ["--print-data-log", LOG])
    for room_bytes in range(2000, 6000, 100):
        monkeypatch.setattr(record_lines, "LineBuffer", partial(LineBuffer, room_bytes))
        assert dumped(tmp_path, ["--print-data-log", LOG]) == expected
    assert expected.err.count("is followed by") == 17


@given(
    st.one_of(
        st.binary(max_size=8),
        st.text(max_size=4).map(str.encode),
        st.text(max_size=3).map(lambda text: text.encode("utf-16-be")),
    )
)
def test_utf8_is_what_python_decodes(data):
    """Every sequence of bytes gets the same answer."""
    assert accepts(data) == decodes(data)


def accepts(data: bytes) -> bool:
    return is_utf8(np.frombuffer(b"x" + data + b"x", np.uint8), 1, 1 + len(data))


def decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@all_cases("lead", range(0x80, 0x100))
def test_utf8_at_its_edges(lead):
    for second in (0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0):
        for rest in (b"", b"\x80", b"\xbf\x80", b"\xc0"):
            data = bytes([lead, second]) + rest
            assert accepts(data) == decodes(data)


@pytest.mark.parametrize("codec_id", [1, 2, 3, 4])
def test_a_run_of_compressed_batches_prints_as_each_by_itself(codec_id, tmp_path, monkeypatch):
    """Up to a batch that cannot be decompressed, which ends the dump."""
    records = [Record(offset_delta=0, timestamp_delta_ms=1, key=b"k", value=b"v" * 50)]
    codecs = [0, codec_id, codec_id, codec_id, 0, 1, 2, codec_id, codec_id]
    batches = [(records * (1 + number), each, 0, 5) for number, each in enumerate(codecs)]
    log = encode_log(batches)
    broken = log[:-9] + b"\xff\xff\xff" + log[-6:]
    for data in (log, broken):
        (tmp_path / LOG).write_bytes(data)
        printed = []
        for library_ranges in (1 << 60, 0):
            monkeypatch.setattr(runs, "LIBRARY_RANGES", library_ranges)
            printed.append(dumped(tmp_path, ["--print-data-log", "--files", LOG]))
        assert printed[0] == printed[1]
        assert printed[0].out.count(b"baseOffset") >= 8
    assert printed[0].err
