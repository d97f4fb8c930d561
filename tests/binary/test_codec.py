"""Codecs: framings byte by byte, round trips, and data that is cut, damaged or too large."""

import gc
import gzip
import struct
import tracemalloc
import zlib

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.binary import codec, varint
from kafkaviz.errors import CorruptBytes

COMPRESSED = codec.CODECS[1:]
# 160 kB: several blocks of lz4 and snappy
TEXT = b"".join(b'{"order":%d,"status":"shipped"}' % number for number in range(5000))
DATA = st.one_of(st.binary(max_size=200), st.binary(max_size=20).map(lambda some: some * 4000))
XERIAL = bytes.fromhex("82534e41505059000000000100000001")


def refused(name: str, data: bytes, **options) -> CorruptBytes:
    with pytest.raises(CorruptBytes) as fault:
        codec.decompress(name, data, **options)
    return fault.value


def test_codec_ids():
    names = " ".join(codec.name(codec_id) for codec_id in range(5))
    assert names == "none gzip snappy lz4 zstd"
    for codec_id in (5, 6, 7):
        with pytest.raises(CorruptBytes, match=f"Unknown compression type id: {codec_id}"):
            codec.name(codec_id)


@pytest.mark.parametrize("name", codec.CODECS)
@settings(max_examples=30)
@given(data=DATA)
def test_data_comes_back(name, data):
    compressed = codec.compress(name, memoryview(data))
    assert codec.compress(name, data) == compressed
    for buffer in (compressed, memoryview(compressed)):
        assert codec.decompress(name, buffer) == data


@pytest.mark.parametrize("name", codec.CODECS)
def test_the_limit_is_the_largest_size_that_passes(name):
    compressed = codec.compress(name, TEXT)
    assert codec.decompress(name, compressed, limit_bytes=len(TEXT)) == TEXT
    what = refused(name, compressed, limit_bytes=len(TEXT) - 1).what
    assert f"expands past {len(TEXT) - 1} bytes" in str(what)


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_gigabyte_of_zeros_stops_at_the_limit(name):
    if name == "snappy":
        block = pa.compress(bytes(2**24), "snappy", asbytes=True)
        bomb = XERIAL + (struct.pack(">i", len(block)) + block) * 64
    elif name == "lz4":
        block = pa.compress(bytes(2**16), "lz4_raw", asbytes=True)
        blocks = (struct.pack("<I", len(block)) + block) * 2**14
        bomb = bytes.fromhex("04224d18604082") + blocks + bytes(4)
    else:
        bomb = codec.compress(name, bytes(2**26)) * 16
    what = refused(name, bomb, limit_bytes=1_000_000).what
    assert "expands past 1000000 bytes" in str(what)


@pytest.mark.parametrize("name", COMPRESSED)
def test_cut_data_is_refused(name):
    """Cut anywhere, except between the blocks of snappy and before the first byte of zstd, where
    nothing distinguishes a cut from an end.
    """
    compressed = codec.compress(name, TEXT[:40_000])
    block_ends = set()
    if name == "snappy":
        block_ends = {16, 20 + struct.unpack_from(">i", compressed, 16)[0]}
    size = len(compressed)
    for cut in (*range(min(size, 300)), *range(300, size, 97), *range(size - 12, size)):
        if (name == "zstd" and cut == 0) or any(end <= cut < end + 4 for end in block_ends):
            assert TEXT.startswith(codec.decompress(name, compressed[:cut]))
        else:
            assert refused(name, compressed[:cut]).position <= cut


@pytest.mark.parametrize("name", COMPRESSED)
@settings(max_examples=150)
@given(
    places=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=3)
)
def test_damaged_data_gives_bytes_or_corrupt_bytes(name, places):
    compressed = bytearray(codec.compress(name, TEXT[:3000]))
    for place, byte in places:
        compressed[place % len(compressed)] = byte
    try:
        assert len(codec.decompress(name, compressed, limit_bytes=10_000)) <= 10_000
    except CorruptBytes as fault:
        assert 0 <= fault.position <= len(compressed)


def arrow_decompress(name: str, data: bytes) -> bytes | None:
    """Returns pyarrow's result for a bare snappy block or a frame; None if it refuses it."""
    try:
        if name == "snappy":
            size_bytes, _ = varint.read_unsigned(data, 0)
            return pa.decompress(data, size_bytes, "snappy", asbytes=True)
        return pa.CompressedInputStream(pa.BufferReader(data), name).read()
    except (OSError, ValueError, CorruptBytes):
        return None


@pytest.mark.parametrize("name", ["snappy", "lz4", "zstd"])
@settings(max_examples=300)
@given(
    size=st.sampled_from((1, 40, 3000, 70_000)),
    place=st.integers(0, 10**6),
    bits=st.integers(0, 255),
    cut=st.integers(0, 3),
)
def test_damage_is_refused_where_arrow_refuses_it(name, size, place, bits, cut):
    """Arrow calls the libraries of C; like ours, it may read a flipped byte as a wrong byte."""
    if name == "snappy":
        compressed = bytearray(pa.compress(TEXT[:size], "snappy", asbytes=True))
    else:
        compressed = bytearray(codec.compress(name, TEXT[:size]))
    head_bytes = 7 if name == "lz4" else 0  # of lz4 Kafka reads less than Arrow does
    compressed[head_bytes + place % (len(compressed) - head_bytes)] ^= bits
    data = bytes(compressed[: len(compressed) - cut])
    expected = arrow_decompress(name, data)
    if expected is None:
        refused(name, data)
    else:
        assert codec.decompress(name, data) == expected


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_zstd_frame_that_says_it_is_empty_is_read_to_its_end(cut):
    frame = codec.compress("zstd", b"")
    assert codec.decompress("zstd", frame) == b""
    assert arrow_decompress("zstd", frame[:-cut]) is None
    refused("zstd", frame[:-cut])
    refused("zstd", b'\x28\xb5\x2f\xfd"\x01\x09\x00\x00{')


@pytest.mark.parametrize("name", COMPRESSED)
@given(data=st.binary(max_size=60))
def test_any_bytes_give_bytes_or_corrupt_bytes(name, data):
    """With and without the first bytes of a real frame in front."""
    for start in (b"", codec.compress(name, b"abc")[:20]):
        try:
            codec.decompress(name, start + data, limit_bytes=10_000)
        except CorruptBytes as fault:
            assert 0 <= fault.position <= len(start + data)


def test_gzip_members_follow_each_other_and_the_rest_is_left_unread():
    members = gzip.compress(b"ab") + gzip.compress(b"cd")
    assert codec.decompress("gzip", members + b"garbage") == b"abcd"
    damaged = bytearray(gzip.compress(b"ab"))
    damaged[-8] ^= 1  # its checksum
    assert "incorrect data check" in str(refused("gzip", bytes(damaged)).what)
    assert refused("gzip", zlib.compress(b"ab")).position == 0


def test_snappy_is_written_in_blocks_of_32_kib():
    """The xerial header of snappy-java, then size and block."""
    compressed = codec.compress("snappy", TEXT[:40_000])
    size = struct.unpack_from(">i", compressed, 16)[0]
    first = pa.decompress(compressed[20 : 20 + size], 32 * 1024, "snappy", asbytes=True)
    assert (compressed[:16], first) == (XERIAL, TEXT[: 32 * 1024])


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (pa.compress(b"bare", "snappy", asbytes=True), b"bare"),
        (pa.compress(TEXT, "snappy", asbytes=True), TEXT),
        (XERIAL, b""),
        (XERIAL[:11] + b"\x00" + XERIAL[12:], b""),  # no version is refused
        (XERIAL + b"\x00\x00\x00", b""),  # fewer bytes than a size: nothing more
        (codec.compress("snappy", b"ab") + codec.compress("snappy", b"cd"), b"abcd"),
    ],
)
def test_snappy_framings_that_java_reads(data, answer):
    """Checked with SnappyInputStream of snappy-java 1.1.10.8."""
    assert codec.decompress("snappy", data) == answer


@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b"", 0),
        (XERIAL[:15], 0),
        (XERIAL + struct.pack(">i", -1), 16),
        # version 0 in the header of a second stream
        (XERIAL + XERIAL[:11] + b"\x00" + XERIAL[12:], 16),
        (XERIAL + XERIAL[:12], 16),
        (XERIAL + struct.pack(">i", 3) + b"\x01\x00", 16),
        (XERIAL + struct.pack(">i", 0), 20),
        (XERIAL + struct.pack(">i", 3) + b"\x02\x00a", 20),  # says two bytes, holds one
        (b"\xff\xff\xff\xff\xff", 0),
    ],
)
def test_broken_snappy_says_where(data, position):
    """Checked with SnappyInputStream of snappy-java 1.1.10.8."""
    assert refused("snappy", data).position == position


def test_lz4_is_written_as_kafka_writes_it():
    """FLG 60 BD 40 HC 82, blocks of at most 64 KiB, uncompressed if larger, an end mark."""
    assert codec.compress("lz4", b"abc") == bytes.fromhex("04224d18604082") + STORED
    compressed = codec.compress("lz4", TEXT)
    size = struct.unpack_from("<I", compressed, 7)[0]
    first = pa.decompress(compressed[11 : 11 + size], 64 * 1024, "lz4_raw", asbytes=True)
    assert first == TEXT[: 64 * 1024] and compressed.endswith(bytes(4))


LARGE = struct.pack("<I", 65537) + bytes(70_000)
STORED = b"\x03\x00\x00\x80abc" + bytes(4)  # one block and the end mark


def lz4_frame(
    flags: int, sizes: int, extra: bytes = b"", blocks: bytes = STORED, check: int | None = None
) -> bytes:
    descriptor = bytes([flags, sizes]) + extra
    checked = codec._lz4_header_check(descriptor) if check is None else bytes([check])
    return bytes.fromhex("04224d18") + descriptor + checked + blocks


@pytest.mark.parametrize(
    "frame",
    [
        lz4_frame(0x60, 0x40, check=0x82),
        lz4_frame(0x60, 0x70),
        lz4_frame(0x68, 0x40, extra=struct.pack("<Q", 3)),
        lz4_frame(0x68, 0x40, extra=struct.pack("<Q", 99)),  # the content size is not looked at
        lz4_frame(0x64, 0x40) + b"wrong",  # nor the checksum of the content
        lz4_frame(0x60, 0x40) + b"anything",  # nor what follows the frame
        lz4_frame(
            0x70, 0x40, blocks=b"\x03\x00\x00\x80abc" + struct.pack("<I", 0x32D153FF) + bytes(4)
        ),
    ],
)
def test_lz4_frames_that_kafka_reads(frame):
    """As Lz4BlockInputStream of Kafka 4.3.1."""
    assert codec.decompress("lz4", frame) == b"abc"


@pytest.mark.parametrize(
    ("frame", "position", "what"),
    [
        (b"", 0, "Stream ended prematurely"),
        (b"\x05" + lz4_frame(0x60, 0x40)[1:], 0, "Stream unsupported (invalid magic bytes)"),
        (lz4_frame(0x61, 0x40), 4, "Reserved bits must be 0"),
        (lz4_frame(0x40, 0x40), 4, "Dependent block stream is unsupported"),
        (lz4_frame(0x20, 0x40), 4, "Version 0 is unsupported"),
        (lz4_frame(0x60, 0x41), 5, "Reserved2 field must be 0"),
        (lz4_frame(0x60, 0x30), 5, "Block size value must be between 4 and 7"),
        (lz4_frame(0x60, 0xC0), 5, "Reserved3 field must be 0"),
        (lz4_frame(0x60, 0x40, check=0x1A), 6, "Stream frame descriptor corrupted"),
        (lz4_frame(0x60, 0x40, blocks=LARGE), 7, "Block size 65537 exceeded max: 65536"),
        # no end mark
        (lz4_frame(0x60, 0x40, blocks=b"\x03\x00\x00\x80abc"), 14, "Stream ended prematurely"),
        (lz4_frame(0x60, 0x40, blocks=b"\x04\x00\x00\x80abc"), 14, "Stream ended prematurely"),
        (lz4_frame(0x64, 0x40) + b"cut", 18, "Stream ended prematurely"),
        (
            lz4_frame(0x70, 0x40, blocks=b"\x03\x00\x00\x80abc" + bytes(4) + bytes(4)),
            0,
            "ERROR_blockChecksum_invalid",
        ),
    ],
)
def test_broken_lz4_says_where(frame, position, what):
    """Kafka's Lz4BlockInputStream has the same words, except for a wrong checksum of a block."""
    fault = refused("lz4", frame)
    assert (fault.position, str(fault.what)) == (position, f"lz4: {what}")


def test_the_header_checksum_of_magic_0_is_not_looked_at():
    """Writers of magic 0 put 1a after FLG 60 BD 40."""
    frame = lz4_frame(0x60, 0x40, check=0x1A)
    assert codec.decompress("lz4", frame, lz4_header_checked=False) == b"abc"


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPRESSED)
def test_refused_data_leaves_no_room_taken(name):
    """A log can hold a damaged batch a million times, so not even the failed piece, up to a
    mebibyte, may stay allocated.
    """
    cut = codec.compress(name, TEXT)[:-30]
    refused(name, cut)
    tracemalloc.start()
    try:
        for _ in range(20):
            refused(name, cut)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 1 << 20
    finally:
        tracemalloc.stop()


def test_levels_are_those_of_the_libraries():
    """lz4's level 9 is Kafka's name for its fast compressor; the high one stops at 12."""
    for level in (1, 3, 6):
        stream = zstandard.ZstdCompressor(level=level, write_content_size=False).compressobj()
        block = stream.compress(TEXT) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        # twice, because the compressor of a level is kept
        for _ in range(2):
            assert codec.compress_as_broker("zstd", TEXT, level)[: len(block)] == block
    for level in (1, 6, 9):
        deflater = zlib.compressobj(level, wbits=-15)
        body = deflater.compress(TEXT) + deflater.flush()
        assert codec.compress_as_broker("gzip", TEXT, level)[10:-8] == body
    fast = codec.compress_as_broker("lz4", TEXT)
    assert codec.compress_as_broker("lz4", TEXT, 9) == fast
    high = [len(codec.compress_as_broker("lz4", TEXT, level)) for level in (3, 12, 17)]
    assert len(fast) > high[0] >= high[1] == high[2]


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 150_000])
@pytest.mark.parametrize(
    ("name", "level"), [("lz4", 12), ("zstd", 6), ("gzip", 1), ("snappy", None)]
)
def test_what_is_packed_at_a_level_comes_back(name, level, size):
    data = np.random.default_rng(size).integers(0, 20, size).astype(np.uint8).tobytes()
    assert codec.decompress(name, codec.compress_as_broker(name, data, level)) == data
