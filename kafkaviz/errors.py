"""What kafkaviz raises: every error is one line that says what, where, and what to do."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


class KafkavizError(Exception):
    """Something a person must know; its text is one line without a traceback."""


class CorruptBytes(KafkavizError):
    """Bytes that break their format, at a byte of the buffer; floors that know no paths raise
    it.
    """

    def __init__(self, position: int, what: str) -> None:
        super().__init__(f"byte {position}: {what}")
        self.position, self.what = position, what

    def in_file(self, path: Path | str, start: int = 0) -> "CorruptFile":
        """The same fault, told of a file; start is the file's byte where the buffer began."""
        return CorruptFile(path, start + self.position, self.what)


class CorruptFile(KafkavizError):
    """A file whose bytes break its format."""

    def __init__(self, path: Path | str, position: int, what: str) -> None:
        super().__init__(f"{path}, byte {position}: {what}")
        self.path, self.position, self.what = Path(path), position, what

    def __reduce__(self) -> tuple:
        """Rebuilt from its parts: the error crosses from Spark's workers to the driver."""
        return CorruptFile, (self.path, self.position, self.what)


class CannotOpen(KafkavizError):
    """A path that cannot be opened as what it was given for."""

    def __init__(
        self,
        path: Path | str,
        what: str,
        next_step: str = "",
        kind: str = "file",
        nearby: tuple[Path, ...] = (),
    ) -> None:
        """kind: "missing", "permission", "special", "large", "not-kafka", "archive" or "file";
        nearby: brokers one level down.
        """
        super().__init__(f"{path}: {what}" + (f"; {next_step}" if next_step else ""))
        self.path, self.what, self.next_step, self.kind, self.nearby = (
            Path(path),
            what,
            next_step,
            kind,
            tuple(nearby),
        )

    def __reduce__(self) -> tuple:
        """Rebuilt from its parts: the error crosses from Spark's workers to the driver."""
        return CannotOpen, (self.path, self.what, self.next_step, self.kind, self.nearby)


class RefusedSetting(KafkavizError):
    """A setting that Kafka does not know, or a value that it refuses, with Kafka's reason."""

    def __init__(self, name: str, value: str | None, reason: str) -> None:
        """value: as it was given; None where the name is at fault."""
        super().__init__(
            reason if value is None else f"Invalid value {value} for configuration {name}: {reason}"
        )
        self.name, self.value, self.reason = name, value, reason

    def __reduce__(self) -> tuple:
        """Rebuilt from its parts: the error crosses from Spark's workers to the driver."""
        return RefusedSetting, (self.name, self.value, self.reason)


@contextmanager
def translate_os_errors(path: Path) -> Generator[None]:
    """Turns the system's error into one line for a person."""
    try:
        yield
    except FileNotFoundError:
        raise CannotOpen(
            path,
            "is not there",
            "check the path; it may have been moved or removed",
            kind="missing",
        ) from None
    except PermissionError:
        raise CannotOpen(
            path,
            "may not be read",
            "copy it, or start kafkaviz as a user who may",
            kind="permission",
        ) from None
    except OSError as error:
        raise CannotOpen(path, (error.strerror or str(error)).lower(), kind="file") from None
