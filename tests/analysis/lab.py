import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from kafkaviz.binary.crc32c import crc32c
from kafkaviz.format import checkpoint, offset_index, time_index, txn_index
from kafkaviz.format.batch import CRC_START, HEADER
from kafkaviz.format.names import OFFSET_CHECKPOINTS
from kafkaviz.format.walk import walk
from kafkaviz.simulate.config import IndexConfig
from kafkaviz.simulate.recovery import recover
from tests.support.bytes_reader import reader

PARTITIONS = (
    "__cluster_metadata-0",
    "append-time-0",
    "clicks-none-0",
    "orders-0",
    "payments-0",
    "sensors-late-0",
)
LAYOUTS = {".index": offset_index, ".timeindex": time_index, ".txnindex": txn_index}
CRC_AT = HEADER.fields["crc"][1]


class Lab:
    """A copy of some partitions of a broker directory."""

    def __init__(self, healthy: Path, into: Path, partitions: Sequence[str] = PARTITIONS) -> None:
        self.path = into
        into.mkdir()
        for path in healthy.iterdir():
            if path.is_file():
                shutil.copy2(path, into / path.name)
            elif path.name in partitions:
                shutil.copytree(path, into / path.name, copy_function=_linked)
        for name in OFFSET_CHECKPOINTS:
            self._forget_others(into / name, partitions)

    def _forget_others(self, path: Path, partitions: Sequence[str]) -> None:
        if not path.exists():
            return
        offsets = checkpoint.parse_offsets(path.read_bytes())
        copied = {
            (topic, number): offset
            for (topic, number), offset in offsets.items()
            if f"{topic}-{number}" in partitions
        }
        self.write(path, checkpoint.build_offsets(copied))

    def files(self, partition: str, suffix: str) -> list[Path]:
        return sorted((self.path / partition).glob(f"*{suffix}"))

    def write(self, path: Path, data: bytes) -> None:
        stat = (path if path.exists() else self.path / "meta.properties").stat()
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def change(self, path: Path, change: Callable[[bytearray], object]) -> None:
        """Changes some bytes of a file in place."""
        data = bytearray(path.read_bytes())
        change(data)
        self.write(path, bytes(data))

    def entries(self, path: Path, change: Callable[[np.ndarray], np.ndarray | None]) -> None:
        layout = LAYOUTS[path.suffix]
        table = layout.parse(path.read_bytes()).copy()
        changed = change(table)
        self.write(path, layout.build(table if changed is None else changed))

    def batch(self, path: Path, number: int, crc: bool = True, **fields: int) -> None:
        """Changes header fields of a batch, and gives it a right checksum unless `crc` is False."""
        rows = walk(path.read_bytes())[0]

        def edit(data: bytearray) -> None:
            self.set(
                data, int(rows["position"][number]), int(rows["size_bytes"][number]), crc, **fields
            )

        self.change(path, edit)

    def batches(self, path: Path, change: Callable[[np.void], dict[str, int]]) -> None:
        rows = walk(path.read_bytes())[0]

        def edit(data: bytearray) -> None:
            for row in rows:
                self.set(data, int(row["position"]), int(row["size_bytes"]), True, **change(row))

        self.change(path, edit)

    @staticmethod
    def set(data: bytearray, position: int, size_bytes: int, crc: bool, **fields: int) -> None:
        for name, value in fields.items():
            kind, at = HEADER.fields[name][:2]
            data[position + at : position + at + kind.itemsize] = (
                np.array(value).astype(kind).tobytes()
            )
        if crc:
            sum_ = crc32c(bytes(data[position + CRC_START : position + size_bytes]))
            data[position + CRC_AT : position + CRC_START] = sum_.to_bytes(4, "big")

    def reindex(self, log: Path, interval_bytes: int = 4096) -> None:
        """Rewrites both indexes of a .log as recovery does."""
        data = log.read_bytes()
        recovery = recover(
            reader(data), len(data), int(log.stem), IndexConfig(index_interval_bytes=interval_bytes)
        )
        self.write(log.with_suffix(".index"), recovery.index())
        self.write(log.with_suffix(".timeindex"), recovery.timeindex())

    def checkpoint(self, name: str, topic: str, partition: int, offset: int) -> None:
        """Adds a line to a checkpoint, or changes an offset in it."""
        lines = (self.path / name).read_text().splitlines()[2:]
        remaining = [line for line in lines if line.rsplit(" ", 1)[0] != f"{topic} {partition}"] + [
            f"{topic} {partition} {offset}"
        ]
        self.write(self.path / name, "\n".join(["0", str(len(remaining)), *remaining, ""]).encode())

    def unclean(self) -> None:
        (self.path / ".kafka_cleanshutdown").unlink()


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
