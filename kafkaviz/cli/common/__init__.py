"""Options that several commands share, and functions that check and write output files.

output.py prints for all commands.
"""

import argparse
import math
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kafkaviz.messages import message, say


def add_json_option(parser: argparse.ArgumentParser) -> None:
    help_text = 'print the result as one JSON object; its "schema" names the form'
    parser.add_argument("--json", action="store_true", help=help_text)


def add_setting_option(
    parser: argparse.ArgumentParser, help_text: str = "a setting; may be repeated"
) -> None:
    """Adds --set. `args.overrides` becomes a list of (name, value)."""
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        dest="overrides",
        action="append",
        default=[],
        type=parse_setting,
        help=help_text,
    )


def add_tiered_option(parser: argparse.ArgumentParser) -> None:
    """Adds --tiered. `args.tiered` is the path of the store of remote segments, or None."""
    help_text = (
        "the store of the remote segments: a folder of LocalTieredStorage or of Aiven's "
        "plugin; its segments are read before the local ones"
    )
    parser.add_argument("--tiered", metavar="STORE", type=Path, help=help_text)


def join_tiered(path: Path, store: Path | None) -> Path:
    """Returns one path that names a directory and its store of remote segments, if any."""
    if store is None:
        return path
    from kafkaviz.log import broker

    return broker.join_tiered(path, store)


def join_tiered_paths(paths: Sequence[Path], store: Path | None) -> Sequence[Path]:
    """Returns `paths` if `store` is None. Otherwise joins the only path with the store.

    Raises CannotOpen if there are a store and several paths. See `join_tiered`.
    """
    if store is None:
        return paths
    if len(paths) > 1:
        from kafkaviz.errors import CannotOpen

        problem = message("errors.tiered_of_one")
        raise CannotOpen(paths[1], problem, message("errors.give_log_directory"))
    return [join_tiered(paths[0], store)]


def add_paths_argument(
    parser: argparse.ArgumentParser, help_text: str, metavar: str = "PATH"
) -> None:
    """Adds the directories of one broker. `args.paths` becomes a list of paths."""
    several = "for a broker with several log directories, all of them or the folder that holds them"
    help_text = f"{help_text}; {several}"
    parser.add_argument("paths", metavar=metavar, type=Path, nargs="+", help=help_text)


def add_version_option(parser: argparse.ArgumentParser, help_text: str) -> None:
    parser.add_argument("--kafka-version", metavar="V", help=help_text)


def parse_setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(say("cli.no_setting", text=text))
    return name, value


def parse_number(text: str, is_allowed: Callable[[float], bool], problem: str) -> float:
    """Returns a number. Raises ArgumentTypeError(problem) if it is not a number or not allowed."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not is_allowed(number):
        raise argparse.ArgumentTypeError(problem)
    return number


def parse_folder(text: str) -> Path:
    if not text:  # from an unset shell variable; Path would take "" for the current folder
        raise argparse.ArgumentTypeError(say("cli.empty_folder_name"))
    return Path(text)


def add_log_dirs_option(parser: argparse.ArgumentParser) -> None:
    help_text = (
        "the broker's other log directories, with commas between as in log.dirs, or the "
        "folder that holds them all: one of them holds the metadata log, which names the topic's "
        "settings"
    )
    parser.add_argument("--log-dirs", metavar="DIRS", type=Path, help=help_text)


def check_destination(out: Path, inspected: Iterable[Path]) -> Path:
    """Returns the resolved path of the file to write.

    Raises CannotOpen if the file would be in one of the `inspected` directories, or in any other
    broker or partition directory.
    """
    from kafkaviz.errors import CannotOpen, translate_os_errors
    from kafkaviz.format import names
    from kafkaviz.log import file

    out = file.output_path(out)
    with translate_os_errors(out):
        target = out.resolve()
        input_folders = {path.resolve() for path in inspected}
        if target.is_dir():
            raise CannotOpen(out, message("system.eisdir"), message("errors.name_file_in_it"))
        if not target.parent.is_dir():
            what = message("errors.not_there")
            advice = message("errors.make_folder_first")
            raise CannotOpen(target.parent, what, advice, kind="missing")
        for folder in target.parents:
            if (
                folder in input_folders
                or (folder / names.META_PROPERTIES).exists()
                or (names.parse_directory(folder.name) and any(folder.glob("*.log")))
            ):
                what = message("errors.in_kafka_directory", path=folder)
                raise CannotOpen(out, what, message("errors.name_another_folder"))
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
