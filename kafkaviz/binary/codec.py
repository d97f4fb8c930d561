"""Compression and decompression in the framings that Kafka's clients write.

gzip and zstd use their standard formats. lz4 is a part of the LZ4 frame format. snappy is a header
and blocks in the format of the snappy-java library (called xerial). Some clients write a single
snappy block without a header.

Most batches hold about 1 KB, so the cost of each library call matters:

- cramjam decompresses single lz4 and snappy blocks in 0.3 µs per call.
- cramjam's zstd creates a context at each call and takes 10 µs. A zstandard context that is kept
  takes 2 µs.
- zlib-ng takes two thirds of zlib's time and refuses the same data.
- pyarrow has all codecs but needs 170 MB; these libraries need 30 MB together.
"""

import gzip
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import cast

import cramjam
import numpy as np
import zstandard
from zlib_ng import zlib_ng

from kafkaviz.binary import varint
from kafkaviz.errors import CorruptBytes, FaultKind
from kafkaviz.messages import Message, message, verbatim

# the index of a codec is its id in the attributes of a batch
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LZ4_FAST_LEVEL = 9  # Kafka's default level of lz4; it selects the fast compressor
LIMIT_BYTES = 256 * 2**20  # far above what a broker takes in one batch, low enough for memory

_PIECE_BYTES = 2**20  # the most bytes to decompress before the limit is checked
_ROOM_BYTES = 2**16  # the smallest output buffer to try first
_GROWTH = 8  # factor by which the buffer grows if it was too small
_NO_MORE_ROOM = "failed to write whole buffer"  # cramjam's error if the buffer is too small
_CONTEXTS = threading.local()  # the zstd contexts of each thread
_GZIP_ERROR = cast("type[Exception]", zlib_ng.error)
_GZIP_MEMBER = b"\x1f\x8b\x08"
_GZIP_HEADER_BYTES = 10
_JAVA_GZIP_HEADER = _GZIP_MEMBER + bytes(6) + b"\xff"  # since Java 16 the system is "unknown"
_PAST_LIMIT = "codec.expands_past_limit"
_STREAM_BYTES = 16 * 1024  # decompressed bytes that Kafka's streams request per read
_INFLATER_BYTES = 8 * 1024  # compressed bytes that Kafka's gzip stream reads at once
_ZSTD_STEP_BYTES = 16  # a call that fails returns nothing, so the steps are small
# cramjam's type stubs do not accept arrays
_snappy_into: Callable[..., int] = cramjam.snappy.decompress_raw_into
_lz4_into: Callable[..., int] = cramjam.lz4.decompress_block_into
_XERIAL = struct.Struct(">8sii")  # magic, version, the oldest version that can read it
XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_BLOCK_BYTES = 32 * 1024
_LZ4_HEADER_BYTES = 7
_LZ4_MAGIC = struct.pack("<I", 0x184D2204)
_LZ4_BLOCK_BYTES = 64 * 1024
_LZ4_STORED = 1 << 31  # flag in a block's size field: the block is not compressed
# flags of the frame header
_LZ4_CONTENT_CHECK = 0b100
_LZ4_CONTENT_SIZE = 0b1000
_LZ4_BLOCK_CHECKS = 0b10000
_LZ4_INDEPENDENT = 0b1100000  # version 1, with independent blocks
_LZ4_HIGH_LEVEL = 3  # the lowest level of the high compressor
_INT = struct.Struct(">i")
_LZ4_INT = struct.Struct("<I")
_ZSTD_MAGIC = struct.pack("<I", 0xFD2FB528)
_ZSTD_LEVEL = 1


class _NotPlain(Exception):
    """Raised if a frame is not plain enough for the fast lz4 code."""


def name(codec_id: int) -> str:
    """Returns the name of a codec id.

    Raises CorruptBytes for the ids 5 to 7, which no Kafka release up to 4.3 knows.
    """
    if not 0 <= codec_id < len(CODECS):
        words = verbatim(f"Unknown compression type id: {codec_id}")
        raise CorruptBytes(0, words, FaultKind.ARGUMENT)
    return CODECS[codec_id]


def compress(codec: str, data: bytes | memoryview) -> bytes:
    """Compresses data in the framing of Kafka. Equal data gives equal bytes."""
    return _COMPRESS[codec](bytes(data))


def compress_as_broker(codec: str, data: bytes, level: int | None = None) -> bytes:
    """Compresses like the Java classes of Kafka, such as GzipCompression (4.3.1).

    For gzip, lz4 and zstd, the result also depends on the release of the compression library.

    Args:
        level: compression.gzip.level (1 to 9), compression.lz4.level (1 to 17) or
            compression.zstd.level (up to 22). None is Kafka's default: gzip 6, lz4 9 and zstd 3. At
            level 9, Lz4BlockOutputStream uses lz4's fast compressor. At every other level it uses
            the high compressor, whose highest level is 12.
    """
    if codec == "gzip":
        gzip_level = zlib.Z_DEFAULT_COMPRESSION if level is None else level
        deflater = zlib.compressobj(gzip_level, wbits=-zlib.MAX_WBITS)
        body = deflater.compress(data) + deflater.flush()
        return _JAVA_GZIP_HEADER + body + struct.pack("<II", zlib.crc32(data), len(data))
    if codec == "zstd":
        stream = _zstd_compressor(3 if level is None else level).compressobj()
        # zstd-jni flushes before it ends the frame, which adds an empty last block
        block = stream.compress(data) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        return block + stream.flush()
    if codec == "lz4" and level not in (None, LZ4_FAST_LEVEL):
        return _to_lz4(data, partial(_lz4_high_block, level=level))
    return compress(codec, data)


def _zstd_compressor(level: int) -> zstandard.ZstdCompressor:
    """Returns this thread's compressor, which is kept because creating it is slow."""
    compressors = vars(_CONTEXTS).setdefault("zstd_compressors", {})
    if level not in compressors:
        compressors[level] = zstandard.ZstdCompressor(level=level, write_content_size=False)
    return compressors[level]


def decompress(
    codec: str,
    data: bytes | memoryview,
    limit_bytes: int = LIMIT_BYTES,
    *,
    lz4_header_checked: bool = True,
) -> bytes:
    """Decompresses the data of a batch or message.

    Check the checksum of the batch first: a damaged byte can decompress to wrong data without an
    error. An incomplete second gzip member, zstd frame or snappy stream is refused here, although
    Kafka 4.3 may stop reading before it.

    Args:
        limit_bytes: the most bytes that the data may expand to.
        lz4_header_checked: False for magic 0, whose writers put a wrong checksum into the LZ4 frame
            header (KIP-57).

    Raises:
        CorruptBytes: Kafka 4.3 fails to decompress the data, or the data expands past the limit.
            The position is a byte of `data`, or 0 if unknown.
    """
    data = memoryview(data)
    match codec:
        case "none":
            return _join(iter([bytes(data)]), limit_bytes)
        case "gzip":
            return _join(_from_gzip(data), limit_bytes)
        case "snappy":
            return _join(_from_snappy(data, limit_bytes), limit_bytes)
        case "lz4":
            return _from_lz4(data, limit_bytes, header_checked=lz4_header_checked)
        case _:
            return _from_zstd(data, limit_bytes)


def decompress_prefix(
    codec: str, data: bytes | memoryview, limit_bytes: int = LIMIT_BYTES
) -> tuple[bytes, CorruptBytes | None]:
    """Returns the data that Kafka gets from a damaged magic 2 batch, and the error or None.

    Kafka 4.3.1 reads a stream 16 KiB at a time (ChunkedBytesStream) and loses the data of a read
    that fails. Only an lz4 stream returns data block by block, so blocks before the damage survive.

    Raises CorruptBytes if the data expands past the limit.
    """
    try:
        return decompress(codec, data, limit_bytes), None
    except CorruptBytes as fault:
        if fault.what.key == _PAST_LIMIT:
            raise
        pieces: list[bytes | memoryview] = []
        with suppress(CorruptBytes, _GZIP_ERROR):
            for piece in _PREFIXES[codec](memoryview(data), limit_bytes):
                pieces.append(piece)
        return b"".join(pieces), fault


def _gzip_prefix(data: memoryview, _limit_bytes: int) -> Iterator[bytes]:
    """Yields the data of the first gzip member. Like Java, ignores the trailer of the member."""
    if len(data) < _GZIP_HEADER_BYTES or data[:3] != _GZIP_MEMBER or data[3]:
        return  # Kafka's writers set no flags
    inflater = zlib_ng.decompressobj(wbits=-15)
    for start in range(_GZIP_HEADER_BYTES, len(data), _INFLATER_BYTES):
        rest: bytes | memoryview = data[start : start + _INFLATER_BYTES]
        while len(rest) and not inflater.eof:
            yield inflater.decompress(rest, _STREAM_BYTES)
            rest = inflater.unconsumed_tail


def _lz4_prefix(data: memoryview, limit_bytes: int) -> Iterator[bytes]:
    """Yields the data of each block. Each block is decompressed and checked as a separate frame."""
    flags, block_bytes, position = _lz4_header(data, header_checked=True)
    descriptor = bytes([flags & (_LZ4_INDEPENDENT | _LZ4_BLOCK_CHECKS), data[5]])
    head = _LZ4_MAGIC + descriptor + _lz4_header_check(descriptor)
    check_bytes = _LZ4_INT.size if flags & _LZ4_BLOCK_CHECKS else 0
    while size_bytes := _lz4_size(data, position) & ~_LZ4_STORED:
        end = position + _LZ4_INT.size + size_bytes + check_bytes
        if size_bytes > block_bytes or end > len(data):
            return
        frame = head + data[position:end] + _LZ4_INT.pack(0)
        yield _from_frames("lz4", cramjam.lz4.decompress_into, frame, limit_bytes)
        position = end


def _snappy_prefix(data: memoryview, limit_bytes: int) -> Iterator[bytes]:
    """Yields the data before the first bad block, cut to a multiple of 16 KiB."""
    content = bytearray()
    with suppress(CorruptBytes):
        for block in _from_snappy(data, limit_bytes):
            content += block
    yield bytes(content[: len(content) - len(content) % _STREAM_BYTES])


def _zstd_prefix(data: memoryview, limit_bytes: int) -> Iterator[bytes]:
    """Yields the decompressed data in one piece.

    If `data` is damaged, yields the bytes before the damage, cut to a multiple of 16 KiB.
    """
    stream = zstandard.ZstdDecompressor().decompressobj()
    content = bytearray()
    try:
        for start in range(0, len(data), _ZSTD_STEP_BYTES):
            content += stream.decompress(data[start : start + _ZSTD_STEP_BYTES])
            _check_limit(len(content), limit_bytes)
            if stream.eof:
                break
    except zstandard.ZstdError:
        del content[len(content) - len(content) % _STREAM_BYTES :]
    yield bytes(content)


def _join(pieces: Iterator[bytes | memoryview], limit_bytes: int) -> bytes:
    buffers: list[bytes | memoryview] = []
    size_bytes = 0
    for piece in pieces:
        buffers.append(piece)
        size_bytes += len(piece)
        _check_limit(size_bytes, limit_bytes)
    return b"".join(buffers)


def _check_limit(size_bytes: int, limit_bytes: int) -> None:
    if size_bytes > limit_bytes:
        raise CorruptBytes(0, message(_PAST_LIMIT, limit=limit_bytes), FaultKind.CODEC)


def _failure(codec: str, position: int, problem: Message | str) -> CorruptBytes:
    what = message("codec.failed", codec=codec, problem=problem)
    return CorruptBytes(position, what, FaultKind.CODEC)


# ---- gzip and zstd


def _from_gzip(data: memoryview) -> Iterator[bytes]:
    """Yields the data of all gzip members. Like GZIPInputStream, ignores bytes after the last."""
    rest: bytes | memoryview = data
    while True:
        member = zlib_ng.decompressobj(wbits=31)
        try:
            while not member.eof and len(rest):
                yield member.decompress(rest, _PIECE_BYTES)
                rest = member.unconsumed_tail
        except _GZIP_ERROR as fault:
            raise _failure("gzip", 0, str(fault)) from fault
        if not member.eof:
            raise _failure("gzip", len(data), message("codec.ends_too_early"))
        rest = member.unused_data
        if not rest.startswith(_GZIP_MEMBER):
            return


def _from_zstd(data: memoryview, limit_bytes: int) -> bytes:
    """Returns the data of all frames. For a single frame, uses this thread's decompressor."""
    if data[:4] == _ZSTD_MAGIC:
        try:
            content_bytes = zstandard.frame_content_size(data)
            # -1: the header has no size. 0: zstandard would not check the rest of the frame.
            if content_bytes and content_bytes <= limit_bytes:
                return _zstd_context().decompress(
                    data, min(_room(data), limit_bytes), allow_extra_data=False
                )
        except zstandard.ZstdError:
            pass  # several frames, too large a frame, or corrupt: see the slow path
    return _from_frames("zstd", cramjam.zstd.decompress_into, data, limit_bytes)


def _zstd_context() -> zstandard.ZstdDecompressor:
    if not hasattr(_CONTEXTS, "zstd"):
        _CONTEXTS.zstd = zstandard.ZstdDecompressor()
    return _CONTEXTS.zstd


def _from_frames(
    codec: str, decompress_into: Callable[..., int], data: bytes | memoryview, limit_bytes: int
) -> bytes:
    """Returns the data of all frames. The output buffer grows until the data fits."""
    if not len(data):
        return b""
    room_bytes = min(_room(data), limit_bytes)
    while True:
        room = np.empty(room_bytes, np.uint8)
        try:
            return room[: decompress_into(data, room)].tobytes()
        except cramjam.DecompressionError as fault:
            text = str(fault).removeprefix(f"{codec}: ")
            if text != _NO_MORE_ROOM:
                raise _failure(codec, 0, text) from fault
        _check_limit(room_bytes + 1, limit_bytes)
        room_bytes = min(_GROWTH * room_bytes, limit_bytes)


def _room(data: bytes | memoryview) -> int:
    return max(_ROOM_BYTES, _GROWTH * len(data))


# ---- snappy


def _to_snappy(data: bytes) -> bytes:
    """Returns a xerial header, then (compressed size, block) for each 32 KiB of data."""
    pieces = [_XERIAL.pack(XERIAL_MAGIC, 1, 1)]
    for position in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = cramjam.snappy.compress_raw(data[position : position + _XERIAL_BLOCK_BYTES])
        pieces += (_INT.pack(len(block)), bytes(block))
    return b"".join(pieces)


def _from_snappy(data: memoryview, limit_bytes: int) -> Iterator[memoryview]:
    """Yields each block's data, like snappy-java 1.1. Data without xerial header is one block."""
    if len(data) < _XERIAL.size or data[:8] != XERIAL_MAGIC:
        yield _snappy_block(data, 0, limit_bytes)
        return
    position = _XERIAL.size
    while position + _INT.size <= len(data):
        size_bytes = _INT.unpack_from(data, position)[0]
        # another stream follows: its magic reads as a negative size
        if size_bytes < 0 and _is_xerial(data[position : position + _XERIAL.size]):
            position += _XERIAL.size
            continue
        start = position + _INT.size
        position = start + size_bytes
        if size_bytes < 0 or position > len(data):
            problem = message("codec.block_cut", size=size_bytes, available=len(data) - start)
            raise _failure("snappy", start - _INT.size, problem)
        yield _snappy_block(data[start:position], start, limit_bytes)


def _is_xerial(header: memoryview) -> bool:
    """Returns whether `header` begins another xerial stream after the first one.

    snappy-java checks the version in such a header, but not in the first header of the data.
    """
    return (
        len(header) == _XERIAL.size and header[:8] == XERIAL_MAGIC and _XERIAL.unpack(header)[1] > 0
    )


def _snappy_block(block: memoryview, position: int, limit_bytes: int) -> memoryview:
    """Decompresses a block. `position` is the position of the block in the input, for errors."""
    try:
        size_bytes, _ = varint.read_unsigned(block, 0)
        _check_limit(size_bytes, limit_bytes)
        room = np.empty(size_bytes, np.uint8)
        return room[: _snappy_into(block, room)].data
    except cramjam.DecompressionError as fault:
        raise _failure("snappy", position, str(fault)) from fault
    except CorruptBytes as fault:
        raise _failure("snappy", position + fault.position, fault.what) from fault


# ---- lz4


def _to_lz4(data: bytes, write_block: Callable[[bytes], bytes]) -> bytes:
    """Returns a frame as Lz4BlockOutputStream writes it. Only the frame's header has a checksum."""
    blocks = [
        write_block(data[position : position + _LZ4_BLOCK_BYTES])
        for position in range(0, len(data), _LZ4_BLOCK_BYTES)
    ]
    return b"".join([_LZ4_KAFKA_HEADER, *blocks, _LZ4_INT.pack(0)])


def _lz4_block(data: bytes) -> bytes:
    block = bytes(cramjam.lz4.compress_block(data, store_size=False))
    if len(block) < len(data):
        return _LZ4_INT.pack(len(block)) + block
    return _LZ4_INT.pack(len(data) | _LZ4_STORED) + data


def _lz4_high_block(data: bytes, level: int) -> bytes:
    """Compresses a block with lz4's high compressor, which cramjam offers only for streams."""
    stream = cramjam.lz4.Compressor(
        level=max(level, _LZ4_HIGH_LEVEL), content_checksum=False, block_linked=False
    )
    stream.compress(data)
    frame = memoryview(bytes(stream.finish()))
    block_start = _LZ4_HEADER_BYTES + _LZ4_INT.size
    size_bytes = _lz4_size(frame, _LZ4_HEADER_BYTES) & ~_LZ4_STORED
    # leave out the checksum that cramjam adds to each block
    return bytes(frame[_LZ4_HEADER_BYTES : block_start + size_bytes])


def _from_lz4(data: memoryview, limit_bytes: int, *, header_checked: bool) -> bytes:
    """Returns the data of the first frame, by the rules of Kafka's Lz4BlockInputStream.

    Dependent blocks and dictionaries are not supported. The checksum of the content is not checked.
    """
    block_bytes = _LZ4_PLAIN_HEADERS.get(bytes(data[:_LZ4_HEADER_BYTES]))
    if block_bytes is not None:
        try:
            return _join(_lz4_blocks(data, block_bytes), limit_bytes)
        except (cramjam.DecompressionError, _NotPlain):
            pass  # the slow path decides
    frame = _normalise_lz4_frame(data, header_checked=header_checked)
    return _from_frames("lz4", cramjam.lz4.decompress_into, frame, limit_bytes)


def _lz4_blocks(data: memoryview, block_bytes: int) -> Iterator[bytes | memoryview]:
    """Yields the data of each block of a frame without block checksums.

    Raises _NotPlain if the size of a block is wrong.
    """
    position = _LZ4_HEADER_BYTES
    room = np.empty(block_bytes, np.uint8)
    while field := _lz4_size(data, position):
        size_bytes = field & ~_LZ4_STORED
        block = data[position + _LZ4_INT.size : position + _LZ4_INT.size + size_bytes]
        if not 0 < len(block) == size_bytes <= block_bytes:
            raise _NotPlain
        position += _LZ4_INT.size + size_bytes
        if field & _LZ4_STORED:
            yield block
        else:
            count = _lz4_into(block, room, output_len=block_bytes)
            yield room[:count].tobytes()


def _normalise_lz4_frame(data: memoryview, *, header_checked: bool) -> bytes:
    """Returns the first frame of `data`, with a new header that any LZ4 library accepts.

    Keeps the checksums of blocks, so that the library checks them. Raises CorruptBytes if the
    header or a block size is invalid, or if the frame is cut short.
    """
    flags, block_bytes, start = _lz4_header(data, header_checked=header_checked)
    end = start
    while size_bytes := _lz4_size(data, end) & ~_LZ4_STORED:
        if size_bytes > block_bytes:
            raise _failure("lz4", end, f"Block size {size_bytes} exceeded max: {block_bytes}")
        end += _LZ4_INT.size + size_bytes + (_LZ4_INT.size if flags & _LZ4_BLOCK_CHECKS else 0)
    end += _LZ4_INT.size
    if flags & _LZ4_CONTENT_CHECK and end + _LZ4_INT.size > len(data):
        raise _failure("lz4", end, "Stream ended prematurely")
    descriptor = bytes([flags & (_LZ4_INDEPENDENT | _LZ4_BLOCK_CHECKS), data[5]])
    return b"".join([_LZ4_MAGIC, descriptor, _lz4_header_check(descriptor), data[start:end]])


def _lz4_header(data: memoryview, *, header_checked: bool) -> tuple[int, int, int]:
    """Returns (flags, largest block size, position of the first block) of a frame."""
    if len(data) < 7:
        raise _failure("lz4", len(data), "Stream ended prematurely")
    if data[:4] != _LZ4_MAGIC:
        raise _failure("lz4", 0, "Stream unsupported (invalid magic bytes)")
    flags = data[4]
    sizes = data[5]
    end = 6 + (8 if flags & _LZ4_CONTENT_SIZE else 0)
    is_cut = end >= len(data)
    is_corrupt = header_checked and data[end : end + 1] != _lz4_header_check(data[4:end])
    for is_wrong, position, fault in (
        (flags & 0b11, 4, "Reserved bits must be 0"),
        (not flags & 0b100000, 4, "Dependent block stream is unsupported"),
        (flags >> 6 != 1, 4, f"Version {flags >> 6} is unsupported"),
        (sizes & 0b1111, 5, "Reserved2 field must be 0"),
        ((sizes >> 4 & 7) < 4, 5, "Block size value must be between 4 and 7"),
        (sizes >> 7, 5, "Reserved3 field must be 0"),
        (is_cut, len(data), "Stream ended prematurely"),
        (is_corrupt, end, "Stream frame descriptor corrupted"),
    ):
        if is_wrong:
            raise _failure("lz4", position, fault)
    return flags, 1 << 8 + 2 * (sizes >> 4), end + 1


def _lz4_size(data: memoryview, position: int) -> int:
    if position + _LZ4_INT.size > len(data):
        raise _failure("lz4", len(data), "Stream ended prematurely")
    return _LZ4_INT.unpack_from(data, position)[0]


def _lz4_header_check(descriptor: bytes | memoryview) -> bytes:
    """Returns the checksum of a frame header of up to 15 bytes: the second byte of xxHash32."""
    sum32 = 0x165667B1 + len(descriptor)
    for position in range(0, len(descriptor) - 3, 4):
        sum32 += _LZ4_INT.unpack_from(descriptor, position)[0] * 0xC2B2AE3D
        sum32 = _rotate_left(sum32, 17) * 0x27D4EB2F
    for byte in descriptor[len(descriptor) & ~3 :]:
        sum32 = _rotate_left(sum32 + byte * 0x165667B1, 11) * 0x9E3779B1
    for shift, prime in ((15, 0x85EBCA77), (13, 0xC2B2AE3D), (16, 1)):
        sum32 = (sum32 & 0xFFFFFFFF ^ (sum32 & 0xFFFFFFFF) >> shift) * prime
    return bytes([sum32 >> 8 & 0xFF])


def _rotate_left(number: int, bits: int) -> int:
    number &= 0xFFFFFFFF
    return (number << bits | number >> 32 - bits) & 0xFFFFFFFF


# the headers that Kafka's own clients write, with the largest block size of each
_LZ4_PLAIN_HEADERS = {
    _LZ4_MAGIC + descriptor + _lz4_header_check(descriptor): 1 << 8 + 2 * code
    for code in (4, 5, 6, 7)
    for descriptor in [bytes([_LZ4_INDEPENDENT, code << 4])]
}
_LZ4_KAFKA_HEADER = min(_LZ4_PLAIN_HEADERS)  # with blocks of 64 KiB
_PREFIXES: dict[str, Callable[[memoryview, int], Iterator[bytes | memoryview]]] = {
    "gzip": _gzip_prefix,
    "snappy": _snappy_prefix,
    "lz4": _lz4_prefix,
    "zstd": _zstd_prefix,
}
_COMPRESS = {
    "none": bytes,
    "gzip": partial(gzip.compress, mtime=0),
    "snappy": _to_snappy,
    "lz4": partial(_to_lz4, write_block=_lz4_block),
    "zstd": lambda data: bytes(cramjam.zstd.compress(data, _ZSTD_LEVEL)),
}
