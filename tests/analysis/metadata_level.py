"""A real broker directory with a metadata.version that no known release has."""

import shutil
from pathlib import Path

from kafkaviz.binary.crc32c import crc32c
from kafkaviz.format.batch import CRC_START
from kafkaviz.format.walk import walk

OF_4_4 = 33  # the level of the directories of 4.4.0
SETS = b"\x01\x0c\x00\x11metadata.version"  # a FeatureLevelRecord of it, up to its level
METADATA = "__cluster_metadata-0"


def raise_level(source: Path, out: Path, level: int) -> Path:
    """Copies a directory and changes the level in bootstrap.checkpoint, log and snapshots."""
    shutil.copytree(source, out)
    files = [
        *(out / METADATA).glob("*.checkpoint"),
        *(out / METADATA).glob("*.log"),
        *out.glob("bootstrap.checkpoint"),
    ]
    assert sum(map(lambda path: set_level(path, level), files)) >= len(files) - 1
    return out


def set_level(path: Path, level: int) -> int:
    """Sets the level in a file of metadata records, and returns how many records set it."""
    data, count = bytearray(path.read_bytes()), 0
    batches, end = walk(bytes(data))
    assert end.reason == "end"
    for position, size_bytes in zip(
        batches["position"].tolist(), batches["size_bytes"].tolist(), strict=True
    ):
        at = data.find(SETS, position, position + size_bytes)
        while at >= 0:
            place = slice(at + len(SETS), at + len(SETS) + 2)
            assert int.from_bytes(data[place]) == OF_4_4
            data[place], count = level.to_bytes(2), count + 1
            at = data.find(SETS, at + 1, position + size_bytes)
        checksum = slice(position + CRC_START - 4, position + CRC_START)
        data[checksum] = crc32c(bytes(data[position + CRC_START : position + size_bytes])).to_bytes(
            4
        )
    path.chmod(0o600)
    path.write_bytes(data)
    return count
