"""The file that a command writes: outside of Kafka's directories, and either complete or absent."""

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def check_destination(out: Path, inspected: Iterable[Path]) -> Path:
    """Returns the resolved path of the file to write.

    Args:
        inspected: the directories that the command reads.

    Raises:
        CannotOpen: the file would be in an inspected directory, or in another directory of Kafka.
    """
    from kafkaviz.errors import CannotOpen, translate_os_errors
    from kafkaviz.format import names
    from kafkaviz.log import file
    from kafkaviz.messages import message

    out = file.output_path(out)
    with translate_os_errors(out):
        target = out.resolve()
        input_folders = {path.resolve() for path in inspected}
        folders = [
            folder
            for folder in target.parents
            if folder in input_folders
            or (folder / names.META_PROPERTIES).exists()
            or names.parse_directory(folder.name)
        ]
        if target.is_dir():
            raise CannotOpen(out, message("system.eisdir"), message("errors.name_file_in_it"))
        if not target.parent.is_dir():
            raise CannotOpen(
                target.parent,
                message("errors.not_there"),
                message("errors.make_folder_first"),
                kind="missing",
            )
    kafka_folder = next(
        (
            folder
            for folder in folders
            if folder in input_folders
            or (folder / names.META_PROPERTIES).exists()
            or any(folder.glob("*.log"))
        ),
        None,
    )
    if kafka_folder:
        raise CannotOpen(
            out,
            message("errors.in_kafka_directory", path=kafka_folder),
            message("errors.name_another_folder"),
        )
    return target


@contextmanager
def complete_file(out: Path) -> Generator[IO[bytes]]:
    """Yields a temporary file next to `out`. Renames it to `out` after the with block."""
    from kafkaviz.errors import translate_os_errors

    temporary = out.with_name(f".{out.name}.{os.getpid()}")
    with translate_os_errors(out):
        try:
            with open(temporary, "xb") as stream:
                yield stream
            temporary.replace(out)
        finally:
            temporary.unlink(missing_ok=True)
