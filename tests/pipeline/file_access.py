"""Files of an inspected directory: which are opened, one that looks changed, one that is closed."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from kafkaviz.errors import CannotOpen
from kafkaviz.log import file
from kafkaviz.messages import message


@contextmanager
def opened_files(monkeypatch) -> Iterator[list[str]]:
    names: list[str] = []
    reader, read_written = file.reader, file.read_data
    with monkeypatch.context() as patch:
        for name, function in (("reader", reader), ("read_data", read_written)):
            patch.setattr(file, name, partial(_note, names, function))
        yield names


def _note(names: list[str], function: Callable, path: Path) -> object:
    names.append(f"{path.parent.name}/{path.name}")
    return function(path)


def close_file(closed: Path, monkeypatch) -> dict[str, bool]:
    """Denies access to a file until the value "now" of the returned dictionary is set."""
    readable = {"now": False}
    open_reader, access = file.reader, os.access

    def reader(path: Path):
        if path == closed and not readable["now"]:
            raise CannotOpen(path, message("errors.may_not_be_read"), kind="permission")
        return open_reader(path)

    monkeypatch.setattr(file, "reader", reader)
    monkeypatch.setattr(
        os, "access", lambda path, mode: readable["now"] if path == closed else access(path, mode)
    )
    return readable


def touch(path: Path) -> None:
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
