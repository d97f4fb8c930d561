"""The moments at which a command touches a directory, and a change of that directory at one of them.

A command that reads a file calls the system: it lists a folder, asks for a size, opens, reads. Each
call is a moment. With

    with Moments(folder, at=17, change=lambda: log.unlink()):
        main(["check", folder])

the log vanishes just before the seventeenth call. Trying every number tries every order.
"""

import builtins
import os
from collections.abc import Callable
from pathlib import Path

PATH_CALLS = ("stat", "lstat", "scandir", "listdir", "access", "readlink")  # of os, the path first
NUMBERED = ("fstat", "pread", "preadv", "lseek")  # of os, of a file that is open


class Moments:
    """Counts the calls about a folder during a with block, and makes a change at one of them."""

    def __init__(
        self, folder: Path, at: int = -1, change: Callable[[], object] = lambda: None
    ) -> None:
        """`at`: the number of the call, from 0; -1 for no change."""
        self.count, self._at, self._change = 0, at, change
        self._folder, self._open = str(folder), set()
        self._changes, self._before = False, {}

    def __enter__(self) -> "Moments":
        for name in (*PATH_CALLS, *NUMBERED):
            call = self._before[name] = getattr(os, name)
            counting = self._counting_paths if name in PATH_CALLS else self._numbered
            setattr(os, name, counting(call))
        self._before["open"], builtins.open = builtins.open, self._opening(builtins.open)
        return self

    def __exit__(self, *exception: object) -> None:
        builtins.open = self._before.pop("open")
        for name, call in self._before.items():
            setattr(os, name, call)

    def _passes(self) -> None:
        if self._changes:
            return  # the calls of the change itself
        self.count += 1
        if self.count - 1 == self._at:
            self._changes = True
            self._change()
            self._changes = False

    def _is_inside(self, path: object) -> bool:
        return isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self._folder)

    def _counting_paths(self, call: Callable) -> Callable:
        def counted(path: object = ".", *args: object, **more: object) -> object:
            if self._is_inside(path):
                self._passes()
            return call(path, *args, **more)

        return counted

    def _numbered(self, call: Callable) -> Callable:
        def counted(number: int, *args: object) -> object:
            if number in self._open:
                self._passes()
            return call(number, *args)

        return counted

    def _opening(self, call: Callable) -> Callable:
        def counted(path: object, *args: object, **more: object) -> object:
            if not self._is_inside(path):
                return call(path, *args, **more)
            self._passes()
            file = call(path, *args, **more)
            self._open.add(file.fileno())
            return file

        return counted
