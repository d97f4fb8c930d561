"""Finds the directories that load() names: a path, a list of paths, or patterns.

    /mnt/brokers/*                 everything in /mnt/brokers, sorted by name
    /mnt/brokers/{17,18}           these two
    s3://bucket/brokers/1[0-9]     the matching ones in a store
    /mnt/brokers/1[^0]             all except 10, in Hadoop's syntax; 1[!0] is the same

If a path exists under exactly this name, it is not a pattern.
"""

import glob
import json
import os
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from urllib.parse import unquote, urlsplit

from kafkaviz.errors import CannotOpen
from kafkaviz.log.remote import address, file_system
from kafkaviz.log.remote.address import RemotePath
from kafkaviz.messages import message
from kafkaviz.pipeline.datasource.source_schema import BadOption
from kafkaviz.units import excerpt

PATHS_EXAMPLE = '["/mnt/brokers/1","/mnt/brokers/2"]'
BRACES = re.compile(r"\{([^{},]*,[^{}]*)\}")
MAGIC = re.compile(r"[*?\[]")
MAX_ALTERNATIVES = 10_000  # most alternatives to which the braces of one pattern may expand


def directories(option_values: Mapping[str, str]) -> list[str]:
    """Returns the directories and patterns in the options path and paths.

    Raises:
        BadOption: the option paths is not a JSON list of texts.
        CannotOpen: neither option names a directory.
    """
    if option_values.get("paths"):
        paths = _parse_paths(option_values["paths"])
    elif option_values.get("path"):
        paths = [option_values["path"]]
    else:
        paths = []
    if not paths:
        raise CannotOpen(
            "load()",
            message("errors.names_no_directory"),
            message("errors.give_a_load"),
            kind="missing",
        )
    return [_local_path(directory) for directory in paths]


def expand(path: str) -> list[str]:
    """Returns the paths that match a pattern, sorted by name; without a pattern, `path` itself.

    Raises:
        CannotOpen: nothing matches, a store cannot be listed, or the braces expand to more than
            `MAX_ALTERNATIVES` patterns.
    """
    if not _has_pattern(path):
        return [path]
    remote = address.parse(path)
    if os.path.lexists(path) or (remote is not None and not _has_pattern(remote.key)):
        return [path]
    _refuse_many_alternatives(path)
    if remote is not None:
        remote = RemotePath(remote.store, _as_python(remote.key))
        matches = [str(match) for match in _expand_remote(remote)]
    else:
        patterns = _alternatives(_as_python(os.path.expanduser(path)))
        matches = sorted({path for pattern in patterns for path in glob.glob(pattern)})
    if not matches:
        raise CannotOpen(path, message("errors.pattern_matches_nothing"), kind="missing")
    return matches


def _as_python(pattern: str) -> str:
    return pattern.replace("[^", "[!")


def _has_pattern(text: str) -> bool:
    return bool(MAGIC.search(text) or BRACES.search(text))


def _expand_remote(remote: RemotePath) -> list[RemotePath]:
    by_name: dict[str, RemotePath] = {}
    for key in _alternatives(remote.key):
        matches = [RemotePath(remote.store, "")]
        for part in key.split("/"):
            if MAGIC.search(part):
                matches = [
                    parent.child(entry.key)
                    for parent in matches
                    for entry in file_system.list_directory(parent, is_recursive=False)
                    if fnmatchcase(entry.key, part) and not entry.key.startswith(".")
                ]
            else:
                matches = [parent.child(part) for parent in matches]
        by_name |= {str(match): match for match in matches}
    return [by_name[name] for name in sorted(by_name)]


def _refuse_many_alternatives(pattern: str) -> None:
    count = 1
    open_braces: list[int] = []  # the number of alternatives so far in each open brace
    for character in pattern:
        if character == "{":
            open_braces.append(1)
        elif character == "," and open_braces:
            open_braces[-1] += 1
        elif character == "}" and open_braces:
            count *= open_braces.pop()
        if count > MAX_ALTERNATIVES:
            raise CannotOpen(
                excerpt(pattern),
                message("errors.too_many_alternatives", limit=MAX_ALTERNATIVES),
                kind="large",
            )


def _alternatives(pattern: str) -> Iterator[str]:
    """Yields the expansions of braces: /mnt/{1,2} gives /mnt/1 and /mnt/2."""
    match = BRACES.search(pattern)
    if match is None:
        yield pattern
        return
    for word in match[1].split(","):
        yield from _alternatives(f"{pattern[: match.start()]}{word}{pattern[match.end() :]}")


def _parse_paths(text: str) -> list[str]:
    try:
        paths = json.loads(text)
    except (ValueError, RecursionError):
        paths = None
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise BadOption(
            message("option.takes_json", option="paths", examples=(PATHS_EXAMPLE,), value=text)
        )
    return paths


def _local_path(directory: str) -> str:
    """Converts a file: URI to a path. Returns other addresses unchanged.

    Raises:
        CannotOpen: the address belongs to an unsupported store.
    """
    scheme, _, rest = directory.partition(":")
    if not rest or not scheme.isalnum() or len(scheme) < 2 or not rest.startswith("/"):
        return directory
    if address.parse(directory):
        return directory
    return unquote(urlsplit(directory).path)
