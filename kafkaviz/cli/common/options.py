"""What commands take of their options: settings, and folders to write into."""

import argparse
from pathlib import Path

from kafkaviz.cli.common import output


def parse_setting(text: str) -> tuple[str, str]:
    """NAME=VALUE in two."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE")
    return name, value


def parse_folder(text: str) -> Path:
    """A folder with a name: the empty text, as of a variable that is not set, would be where one
    is.
    """
    if not text:
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return Path(text)


def resolve_release(version: str | None, path: Path, advice: str) -> str:
    """The release that was given, else the one that the directory around a path looks like; a later
    one than any known is said on stderr.

    advice: as of paths.assumed.
    """
    from kafkaviz.analysis import paths

    if version:
        return version
    assumed = paths.assume_release(path, advice)
    output.say_newer(assumed.reason)
    return assumed.text
