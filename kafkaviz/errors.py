"""The errors of kafkaviz; each is one Message that says what happened, where, and what to do.

The text of an error has three forms:

    str(error)                  the English line, as the command line prints it
    error.render("zh")          the same line in another language
    error.what.render("zh")     the fault without its place
"""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from kafkaviz.messages import Message, message, verbatim

# the system errors that have a text in messages/: ENOENT is system.enoent
SYSTEM_CODES = frozenset((
    "EACCES", "EAGAIN", "EBADF", "EBUSY", "EDQUOT", "EEXIST", "EFBIG", "EHOSTDOWN", "EINTR",
    "EINVAL", "EIO", "EISDIR", "ELOOP", "EMFILE", "ENAMETOOLONG", "ENFILE", "ENODEV", "ENOENT",
    "ENOMEM", "ENOSPC", "ENOTCONN", "ENOTDIR", "ENOTEMPTY", "ENXIO", "EOVERFLOW", "EPERM",
    "EREMOTEIO", "EROFS", "ESTALE", "ETIMEDOUT", "EUCLEAN",
))  # fmt: skip


class KafkavizError(Exception):
    """An error for the user; its text is one line without a traceback."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message

    def __reduce__(self) -> tuple:
        # Spark pickles errors. A subclass may have other parameters, so __init__ is not called.
        return Exception.__new__, (type(self), *self.args), vars(self)

    def render(self, language: str) -> str:
        return self.message.render(language)


class FaultKind(Enum):
    """A kind of batch fault. format/java.py has Kafka's exception for each kind."""

    RECORD = "record"  # any fault that is not one of the others
    END = "end"  # the data ends within its records
    LEFTOVER = "leftover"  # bytes are left after the last record
    LENGTH = "length"  # the length of a batch in a .log is below the minimum
    SIZE = "size"  # the length of a batch in memory is below the minimum
    ARGUMENT = "argument"  # a method of Java refuses a number
    BOUNDS = "bounds"  # a field is beyond the end of its buffer
    CODEC = "codec"  # the data cannot be decompressed
    TXN_INDEX = "txn-index"  # the version of an entry of a .txnindex is unknown


class CorruptBytes(KafkavizError):
    """Bytes that break their format, in a file of unknown path. `in_file` adds the path."""

    def __init__(self, position: int, what: Message, kind: FaultKind = FaultKind.RECORD) -> None:
        super().__init__(message("errors.at_byte", position=position, problem=what))
        self.position = position  # the byte of the buffer where the fault is
        self.what = what  # the fault without its place
        self.kind = kind

    def after(self, start: int) -> "CorruptBytes":
        """Returns this fault for a larger buffer, which has the fault's buffer at byte `start`."""
        return type(self)(start + self.position, self.what, self.kind)

    def in_file(self, path: Path | str, start: int = 0) -> "CorruptFile":
        """Returns this fault for a file, which has the fault's buffer at byte `start`."""
        return CorruptFile(path, start + self.position, self.what)


class NotRead(CorruptBytes):
    """Bytes that would take too much time or memory to read; Kafka may read them."""


class CorruptFile(KafkavizError):
    """A file whose bytes break its format."""

    def __init__(self, path: Path | str, position: int, what: Message) -> None:
        super().__init__(
            message("errors.at_byte_of_file", path=path, position=position, problem=what)
        )
        self.path = Path(path)
        self.position = position  # the byte of the file where the fault is
        self.what = what  # the fault without its place


class CannotOpen(KafkavizError):
    """A path that cannot be opened, or is of the wrong kind."""

    def __init__(
        self,
        path: Path | str,
        what: Message,
        next_step: Message | None = None,
        kind: str = "file",
        nearby: tuple[Path, ...] = (),
    ) -> None:
        super().__init__(
            message("errors.of_path", path=path, problem=what)
            if next_step is None
            else message("errors.of_path_next", path=path, problem=what, next_step=next_step)
        )
        self.path = Path(path)
        self.what = what
        self.next_step = next_step  # advice for the user, or None
        # "missing", "permission", "special", "large", "not-kafka", "archive", "outside", "file"
        self.kind = kind
        self.nearby = tuple(nearby)  # broker directories one level below the path


class RefusedSetting(KafkavizError):
    """A setting that Kafka does not know, or a value that it refuses, with Kafka's reason."""

    def __init__(self, name: str, value: str | None, reason: Message) -> None:
        super().__init__(
            reason
            if value is None
            else message("setting.invalid_value", value=value, name=name, reason=reason)
        )
        self.name = name
        self.value = value  # the text that was given, or None if the name is at fault
        self.reason = reason


def system_problem(error: OSError) -> Message:
    """Returns a system error's text in lower case. It is translatable if system.toml has it."""
    text = (error.strerror or str(error)).lower()
    code = errno.errorcode.get(error.errno or 0, "")
    if code not in SYSTEM_CODES:
        return verbatim(text)
    problem = message(f"system.{code.lower()}")
    return problem if str(problem) == text else verbatim(text)


def too_large(path: Path | str, size_bytes: int, limit_bytes: int) -> CannotOpen:
    return CannotOpen(
        path, message("errors.file_too_large", size=size_bytes, limit=limit_bytes), kind="large"
    )


@contextmanager
def translate_os_errors(path: Path) -> Generator[None]:
    try:
        yield
    except FileNotFoundError:
        raise CannotOpen(
            path, message("errors.not_there"), message("errors.check_the_path"), kind="missing"
        ) from None
    except PermissionError:
        what = message("errors.may_not_be_read")
        advice = message("errors.copy_or_change_user")
        raise CannotOpen(path, what, advice, kind="permission") from None
    except OSError as error:
        raise CannotOpen(path, system_problem(error)) from None
