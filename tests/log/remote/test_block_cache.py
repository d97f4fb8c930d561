import multiprocessing
import os
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.log import file
from kafkaviz.log.remote import address, block_cache, file_system
from kafkaviz.log.remote.block_cache import BLOCK_BYTES, CachedFile, Extent, make_file
from kafkaviz.log.remote.file_system import REQUESTS
from tests.support.object_store import ObjectStore

MIB = 1 << 20
FOOTER_BYTES = block_cache.FOOTER.size


@pytest.fixture
def noise() -> bytes:
    return np.random.default_rng(26).bytes(20 * MIB + 12_345)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    folder = Path(address.files_root(), "parts")
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def stored(object_store, noise) -> Path:
    object_store.put("noise/file", noise)
    path = file.absolute_path("s3://kafka/noise/file")
    assert file.read(path, 0, 1) == noise[:1]
    object_store.requests.clear()
    return path


def _spread(path: Path) -> int:
    with CachedFile(path) as cached_file:
        return os.fstat(cached_file.fileno()).st_blocks * 512


def extent(
    position: int, length: int, path: Path, start: int, count: int, codec: str | None = None
) -> Extent:
    return Extent(
        position=position,
        length=length,
        object=str(path),
        object_position=start,
        object_length=count,
        codec=codec,
    )


def test_a_file_is_put_together_from_extents(folder, tmp_path, noise):
    """Plain ranges in any order, and compressed frames next to each other."""
    frames = [
        pa.compress(noise[start : start + MIB], "zstd", asbytes=True) for start in (MIB, 2 * MIB)
    ]
    (tmp_path / "plain").write_bytes(noise[3 * MIB :] + noise[:MIB])
    (tmp_path / "frames").write_bytes(b"head" + b"".join(frames))
    rest = len(noise) - 3 * MIB
    plain, packed = tmp_path / "plain", tmp_path / "frames"
    first, second = map(len, frames)
    extents = [
        extent(0, MIB, plain, rest, MIB),
        extent(MIB, MIB, packed, 4, first, "zstd"),
        extent(2 * MIB, MIB, packed, 4 + first, second, "zstd"),
        extent(3 * MIB, rest, plain, 0, rest),
    ]
    make_file(folder / "joined", len(noise), 1_000_000_007, extents)
    for position, length in ((MIB - 5, 10), (2 * MIB + 77, 3), (3 * MIB - 1, 2), (0, len(noise))):
        assert file.read(folder / "joined", position, length) == noise[position : position + length]
    assert file.info(folder / "joined").mtime_ns == 1_000_000_007
    block_cache.evict(0)
    assert file.read(folder / "joined") == noise


def test_an_invalid_frame_is_an_error(folder, tmp_path):
    (tmp_path / "frames").write_bytes(b"no frame at all")
    make_file(folder / "bad", 100, 0, [extent(0, 100, tmp_path / "frames", 3, 12, "zstd")])
    with pytest.raises(CannotOpen, match="frames: byte 3: not a zstd frame of 100 bytes"):
        file.read(folder / "bad")


def only_range(object_store: ObjectStore) -> tuple[int, int]:
    """Returns the first and the last byte of the only range that was requested."""
    (request,) = object_store.ranges
    first, _, last = request.byte_range.removeprefix("bytes=").partition("-")
    return int(first), int(last)


def test_point_reads_are_small_and_sequences_grow(stored, object_store, noise):
    """A single read takes 512 KiB; sequential reads grow to 8 MiB per request."""
    position = 10 * MIB + 3
    assert file.read(stored, position, 100) == noise[position : position + 100]
    first, last = only_range(object_store)
    assert last + 1 - first <= 512 << 10
    buffer, data = np.empty(128 << 10, np.uint8), bytearray()
    with file.reader(stored) as read:
        while count := read(len(data), buffer):
            data += buffer[:count].tobytes()
    assert bytes(data) == noise
    assert len(object_store.data_requests) <= 12


def test_a_read_at_the_end_brings_the_bytes_before(stored, object_store, noise):
    """A reader that goes back some bytes from the end finds them in the cache."""
    assert file.read(stored, len(noise) - 10, 10) == noise[-10:]
    start = len(noise) - (400 << 10)
    assert file.read(stored, start, 100) == noise[start : start + 100]
    first, last = only_range(object_store)
    assert last == len(noise) - 1 and last + 1 - first <= 512 << 10
    file.read(stored, 19 * MIB, 2 * MIB)
    assert len(object_store.ranges) == 2
    assert file.read(stored, 19 * MIB) == noise[19 * MIB :]


@pytest.mark.parametrize(
    ("name", "size_bytes", "is_whole"),
    [
        ("00000000000000000000.log", MIB, True),
        ("00000000000000000000.log", MIB + 1, False),
        ("00000000000000000000.index", 8 * MIB, True),
        ("00000000000000000000.timeindex", 8 * MIB + 1, False),
        ("archive.tar.gz", MIB + 1, False),
    ],
)
def test_what_is_small_or_searched_comes_whole(object_store, noise, name, size_bytes, is_whole):
    """One request, where each step of a search would need another."""
    object_store.put(f"noise/{name}", noise[:size_bytes])
    path = file.absolute_path(f"s3://kafka/noise/{name}")
    assert file.read(path, size_bytes // 2, 8) == noise[size_bytes // 2 : size_bytes // 2 + 8]
    (request,) = object_store.ranges
    assert (request.byte_range == f"bytes=0-{size_bytes - 1}") is is_whole
    file.read(path, 0, 8)
    assert len(object_store.ranges) == (1 if is_whole else 2)


def test_bytes_after_the_end_are_not_data(stored, noise):
    """The block file is longer than the file."""
    buffer = np.zeros(100, np.uint8)
    with file.reader(stored) as read:
        assert read(len(noise) - 5, buffer) == 5
        assert read(len(noise), buffer) == 0
        assert read(len(noise) + BLOCK_BYTES, buffer) == 0
    assert file.read(stored, len(noise) - 5, 100) == noise[-5:]


def test_an_eviction_takes_no_block_from_a_reader(stored, noise, monkeypatch):
    """A reader with the file open continues to read it; the next one fetches it again."""
    with file.reader(stored) as read:
        buffer = np.empty(MIB, np.uint8)
        read(0, buffer)
        assert block_cache.evict(0) > MIB
        assert _spread(stored) < BLOCK_BYTES
        for start in (0, 5 * MIB, 0):
            read(start, buffer)
            assert buffer.tobytes() == noise[start : start + MIB]
    assert file.read(stored) == noise


def test_blocks_stay_below_the_limit(object_store, noise, monkeypatch):
    monkeypatch.setenv(block_cache.LIMIT_VARIABLE, str(30 * MIB))
    monkeypatch.setattr(block_cache, "EVICTION_BYTES", MIB)
    paths = []
    for number in range(3):
        object_store.put(f"many/{number}", noise)
        paths.append(file.absolute_path(f"s3://kafka/many/{number}"))
        assert file.read(paths[-1]) == noise
    assert sum(_spread(path) for path in paths) < 45 * MIB
    assert file.read(paths[0], 5, 50) == noise[5:55]


@pytest.mark.parametrize("text", ["5GiB", "-1", "0", "5e9"])
def test_an_invalid_limit_is_refused(object_store, noise, monkeypatch, text):
    object_store.put("limited", noise)
    path = file.absolute_path("s3://kafka/limited")
    monkeypatch.setenv(block_cache.LIMIT_VARIABLE, text)
    with pytest.raises(KafkavizError, match="KAFKAVIZ_REMOTE_CACHE_BYTES is not a whole number"):
        file.read(path)


def test_flags_of_before_a_restart_count_for_nothing(stored, object_store, noise, monkeypatch):
    """They may have reached the disk before their blocks."""
    monkeypatch.setattr(block_cache, "_boot", lambda: "another start")
    assert file.read(stored, 0, 10) == noise[:10]
    assert object_store.ranges


def _checksum(path: Path, results: "multiprocessing.Queue[int]") -> None:
    results.put(zlib.crc32(file.read(path)))


def test_an_object_that_changed_unseen_loses_its_blocks(stored, object_store, noise, monkeypatch):
    """An object of the same size and time has another ETag, which pyarrow requests with the size;
    the first range ends the read.
    """
    other = bytes(reversed(noise))
    object_store.put("noise/file", other)
    file_system.forget_objects()  # or a minute later
    object_store.requests.clear()
    with pytest.raises(CannotOpen) as fault:
        file.read(stored, 10 * MIB, 4)
    assert dict(fault.value.what.values)["problem"].key == "remote.changed"
    assert [request.method for request in object_store.requests] == ["HEAD", "GET"]
    assert file.read(stored, 10 * MIB, 4) == other[10 * MIB : 10 * MIB + 4]
    assert file.read(stored, 0, 4) == other[:4]
    monkeypatch.setattr(file_system, "entity_tag", lambda *_, **__: None)  # as of hdfs
    assert file.read(stored) == other


def test_two_processes_read_the_same_file_at_once(stored, noise):
    """They fetch the same blocks and see all of them."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    readers = [context.Process(target=_checksum, args=(stored, results)) for _ in range(2)]
    for reader in readers:
        reader.start()
    checksums = [results.get(timeout=60) for _ in readers]
    for reader in readers:
        reader.join()
    assert checksums == [zlib.crc32(noise)] * 2


def test_requests_are_counted(stored, object_store):
    before = REQUESTS.data_requests
    file.read(stored)
    assert REQUESTS.data_requests - before == len(object_store.data_requests)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:3],
        lambda data: data[:-FOOTER_BYTES] + bytes(FOOTER_BYTES),
        lambda data: data[: -FOOTER_BYTES - 2] + b"x}" + data[-FOOTER_BYTES:],
    ],
    ids=["too short", "no footer", "no JSON"],
)
def test_a_block_file_that_is_damaged_is_made_again(stored, object_store, noise, damage):
    blocks = block_cache._blocks_path(stored)
    file.read(stored, 0, 1)
    blocks.write_bytes(damage(blocks.read_bytes()))
    object_store.requests.clear()
    assert file.read(stored, 0, 100) == noise[:100]
    assert object_store.ranges


def test_an_object_on_disk_that_became_shorter_is_said(folder, tmp_path):
    (tmp_path / "object").write_bytes(b"x" * 50)
    make_file(folder / "cut", 100, 0, [extent(0, 100, tmp_path / "object", 0, 100)])
    with pytest.raises(CannotOpen) as fault:
        file.read(folder / "cut")
    (what,) = (value for name, value in fault.value.what.values if name == "problem")
    assert (what.key, dict(what.values)) == ("remote.short_read", {"count": 50, "length": 100})


def test_a_folder_in_the_place_of_a_file_is_refused(folder):
    (folder / "file").mkdir()
    with pytest.raises(CannotOpen) as fault:
        CachedFile(folder / "file")
    assert fault.value.kind == "special"


def test_a_full_disk_ends_a_fetch(stored, monkeypatch):
    evicted = []
    block_cache.evict(0)
    monkeypatch.setattr(block_cache, "EVICTION_BYTES", 0)
    monkeypatch.setattr(block_cache, "_is_full", lambda root, count: True)
    monkeypatch.setattr(block_cache, "evict", evicted.append)
    with pytest.raises(CannotOpen) as fault:
        file.read(stored, 8 * MIB, 100)
    assert fault.value.what.key == "archive.few_bytes_left"
    assert evicted == [block_cache.limit(), 0]
