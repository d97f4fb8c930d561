"""Options that several commands share, and the parsers of their values."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from kafkaviz.messages import message, say


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json",
        action="store_true",
        help='print the result as one JSON object; its "schema" names the form',
    )


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
    """Adds --tiered, whose value is for `join_tiered`."""
    parser.add_argument(
        "--tiered",
        metavar="STORE",
        type=Path,
        help="the store of the remote segments: a folder of LocalTieredStorage or of Aiven's "
        "plugin; its segments are read before the local ones",
    )


def join_tiered(path: Path, store: Path | None) -> Path:
    """Returns the path of a view that also has the store's segments; `path` if `store` is None."""
    if store is None:
        return path
    from kafkaviz.log import broker

    return broker.join_tiered(path, store)


def join_tiered_paths(paths: Sequence[Path], store: Path | None) -> Sequence[Path]:
    """Returns the paths; with a store, one path that also has the store's segments.

    Raises:
        CannotOpen: there is a store and more than one path.
    """
    if store is None:
        return paths
    if len(paths) > 1:
        from kafkaviz.errors import CannotOpen

        problem = message("errors.tiered_of_one")
        raise CannotOpen(paths[1], problem, message("errors.give_log_directory"))
    return [join_tiered(paths[0], store)]


def parse_setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(say("cli.no_setting", text=text))
    return name, value


def parse_folder(text: str) -> Path:
    """Parses the name of a folder, but not "", which would mean the current folder.

    An unset shell variable gives "".
    """
    if not text:
        raise argparse.ArgumentTypeError(say("cli.empty_folder_name"))
    return Path(text)


def add_log_dirs_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--log-dirs",
        metavar="DIRS",
        type=Path,
        help="the broker's other log directories, with commas between as in log.dirs, or the "
        "folder that holds them all: one of them holds the metadata log, which names the topic's "
        "settings",
    )
