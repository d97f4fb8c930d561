"""What commands take of their options: settings, and folders to write into."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from kafkaviz.cli.common import output
from kafkaviz.messages import Message, message, say


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json",
        action="store_true",
        help='print the result as one JSON object; its "schema" names its form',
    )


def add_setting_option(
    parser: argparse.ArgumentParser, help_text: str = "a setting; may be repeated"
) -> None:
    """Adds --set; `overrides` of the arguments is then a list of (name, value)."""
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
    """Adds --tiered; join_tiered takes it."""
    parser.add_argument(
        "--tiered",
        metavar="STORE",
        type=Path,
        help="the store of its remote segments, read before those that are still there: a folder "
        "of LocalTieredStorage or of Aiven's plugin",
    )


def join_tiered(path: Path, store: Path | None) -> Path:
    """The path, or where it shows the remote segments of a store too."""
    if store is None:
        return path
    from kafkaviz.log import broker

    return broker.join_tiered(path, store)


def join_tiered_paths(paths: Sequence[Path], store: Path | None) -> Sequence[Path]:
    """The paths of a broker, or where the only one shows the remote segments of a store too.

    Raises:
        CannotOpen: there are several, and a store.
    """
    if store is None:
        return paths
    if len(paths) > 1:
        from kafkaviz.errors import CannotOpen

        problem = message("errors.tiered_of_one")
        raise CannotOpen(paths[1], problem, message("errors.give_log_directory"))
    return [join_tiered(paths[0], store)]


def parse_setting(text: str) -> tuple[str, str]:
    """NAME=VALUE in two."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(say("cli.no_setting", text=text))
    return name, value


def parse_folder(text: str) -> Path:
    """A folder with a name.

    The empty text, as of a variable that is not set, would be where one is.
    """
    if not text:
        raise argparse.ArgumentTypeError(say("cli.empty_folder_name"))
    return Path(text)


def resolve_release(version: str | None, path: Path, advice: Message) -> str:
    """The release that was given, else the one that the directory around a path looks like.

    A later one than any known is said on stderr.

    Args:
        advice: as of paths.broker_around.
    """
    from kafkaviz.analysis.inference.version import assume_release
    from kafkaviz.analysis.lookup import paths

    if version:
        return version
    assumed = assume_release(paths.broker_around(path, advice))
    output.say_newer(assumed.newer_than_known)
    return assumed.version
