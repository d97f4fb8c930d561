"""What commands take of their options: settings, and folders to write into."""

import argparse
from pathlib import Path


def setting(text: str) -> tuple[str, str]:
    """NAME=VALUE in two."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE")
    return name, value


def folder(text: str) -> Path:
    """A folder with a name: the empty text, as of a variable that is not set, would be where one is."""
    if not text:
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return Path(text)
