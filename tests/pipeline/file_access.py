"""Files of an inspected directory: which are opened, and one that looks changed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafkaviz.log import file


@contextmanager
def opened_files(monkeypatch) -> Iterator[list[str]]:
    names: list[str] = []
    reader, read_written = file.reader, file.read_data
    with monkeypatch.context() as patch:
        patch.setattr(
            file,
            "reader",
            lambda path: names.append(f"{path.parent.name}/{path.name}") or reader(path),
        )
        patch.setattr(
            file,
            "read_data",
            lambda path: names.append(f"{path.parent.name}/{path.name}") or read_written(path),
        )
        yield names


def touch(path: Path) -> None:
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
