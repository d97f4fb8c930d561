"""Which paths visitors may open, and whether several people use the server."""

import ipaddress
import json
import os
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st

from kafkaviz.app import uploads
from kafkaviz.environment import SAMPLES
from kafkaviz.errors import CannotOpen, CorruptFile
from kafkaviz.log import confinement, file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import join_tiered
from kafkaviz.log.file import translate_os_errors
from kafkaviz.log.remote import address
from kafkaviz.log.tiered import tiered_view
from kafkaviz.messages import message

ALLOW_ROOT = "KAFKAVIZ_ALLOW_ROOT"
# separates a broker directory from the store of its remote segments in a typed path
TIERED = " --tiered "
CLASS = "KAFKAVIZ_CLASS"  # set to the language of `kafkaviz app --class`, otherwise unset


def samples() -> list[Path]:
    return sorted(filter(archive.is_archive, SAMPLES.glob("*")))


def require_allowed(path: Path) -> Path:
    """Returns the path if this server may open it. Raises CannotOpen (kind "outside") if not.

    Symbolic links are resolved first. A tiered view joins a broker directory with a remote store.
    The view is allowed if the directory and the store are allowed.
    """
    allowed_roots = roots()
    if allowed_roots is None:
        return path
    readable_roots = (*allowed_roots, SAMPLES, uploads.folder())
    sources = tiered_view.sources(path)
    if sources and all(_is_below(place, readable_roots) for place in filter(None, sources)):
        readable_roots += tiered_view.own_folders(path)
    if not _is_below(path, readable_roots):
        displayed_roots = tuple(map(address.display, allowed_roots or [SAMPLES]))
        raise CannotOpen(
            path,
            message("errors.outside_server"),
            message("errors.give_path_below", roots=displayed_roots),
            kind="outside",
        )
    return path


def _is_below(path: Path, directories: Iterable[Path]) -> bool:
    # in a loop of links, realpath resolves the part before the loop, whereas Path.resolve raises
    real_path = Path(os.path.realpath(path))
    return any(real_path.is_relative_to(os.path.realpath(directory)) for directory in directories)


def resolve_typed_path(text: str | Path) -> Path:
    """Returns the absolute path of typed text. Raises CannotOpen if this server may not open it.

    For `DIR --tiered STORE`, returns the path of the tiered view that joins both. On a server with
    several visitors, `~` is not expanded, and error messages show the typed path.
    """
    directory, separator, store = str(text).partition(TIERED)
    if separator:
        with translate_corrupt_files():
            return join_tiered(_resolve(directory), _resolve(store))
    return _resolve(text)


@contextmanager
def translate_corrupt_files() -> Generator[None]:
    try:
        yield
    except CorruptFile as fault:
        what = message("errors.at_byte", position=fault.position, problem=fault.what)
        raise CannotOpen(fault.path, what) from None


def _resolve(text: str | Path) -> Path:
    if roots() is None:
        return file.absolute_path(text)
    try:
        return require_allowed(file.absolute_path(text, expands_home=False))
    except CannotOpen as fault:
        raise CannotOpen(text, fault.what, fault.next_step, fault.kind) from None


def confine() -> None:
    """Limits all files opened from now on to the allowed roots, the samples and the app's cache."""
    allowed_roots = roots()
    confinement.confine(
        None if allowed_roots is None else [*allowed_roots, SAMPLES, archive.cache_folder()]
    )


def refuse_links(root: Path, depth: int = 2) -> None:
    """Raises CannotOpen if a symbolic link below `root` leads outside the allowed roots.

    Checks `depth` levels of directories. A depth of 1 checks only the entries of `root`.
    """
    with translate_os_errors(root), os.scandir(root) as entries:
        for entry in entries:
            if entry.is_symlink():
                require_allowed(Path(entry.path))
            is_directory = False
            with suppress(OSError):  # a loop of links is not a directory
                is_directory = entry.is_dir()
            if depth > 1 and is_directory and os.access(entry.path, os.R_OK | os.X_OK):
                refuse_links(Path(entry.path), depth - 1)


def roots() -> tuple[Path, ...] | None:
    """Returns the directories below which visitors may open files. None: all are allowed.

    The samples and uploads are allowed in addition. KAFKAVIZ_ALLOW_ROOT holds the directories,
    separated by colons or as a JSON list. Without this variable, a server for a class, or a server
    that others can reach, allows only the directories it was started with.
    """
    directories = parse_directories(os.environ.get(ALLOW_ROOT, ""))
    if directories:
        return directories + _tiered_sources()
    if not (is_reached_by_others() or os.environ.get(CLASS)):
        return None
    return (*map(address.local_path, configured_directories()), *_tiered_sources())


def configured_directories() -> tuple[str, ...]:
    """Returns the directories given at server start in KAFKAVIZ_DIR (path or JSON list)."""
    text = os.environ.get("KAFKAVIZ_DIR", "")
    if text.startswith("["):
        with suppress(ValueError):
            return tuple(map(str, json.loads(text)))
    return (text,) if text else ()


def _tiered_sources() -> tuple[Path, ...]:
    """Returns (view, *its sources) if the server was started with a tiered view, else ()."""
    directories = configured_directories()
    if len(directories) != 1:
        return ()
    directory = Path(directories[0])
    sources = tiered_view.sources(directory)
    return (directory, *filter(None, sources)) if sources else ()


def parse_directories(variable: str) -> tuple[Path, ...]:
    """Returns the paths in "/data/a:/data/b", or in the JSON list ["/data/a", "/data/b"]."""
    if variable.startswith("["):
        with suppress(ValueError, TypeError):
            return tuple(map(address.local_path, json.loads(variable)))
    parts = re.split(f"{os.pathsep}(?!//)", variable)  # does not split s3://bucket
    return tuple(address.local_path(directory) for directory in parts if directory)


def takes_uploads() -> bool:
    return int(st.get_option("server.maxUploadSize")) > 0


def is_shared() -> bool:
    """Returns whether several people use this server.

    If so, the directories that one visitor opened are hidden from the others.
    """
    return roots() is not None


def is_reached_by_others() -> bool:
    """Returns whether the server listens on more than the loopback address."""
    if not st.runtime.exists():  # no server runs
        return False
    return not is_own_machine(st.get_option("server.address") or "")


def may_open_class() -> bool:
    """Returns whether this visitor may start a class.

    On a server started with `kafkaviz app --class`, only a browser on the server's machine may do
    so. This check gives no security, because a browser can send any Host header.
    """
    if not os.environ.get(CLASS):
        return True
    host = urlsplit(st.context.url or "").hostname
    addresses = filter(None, (st.context.ip_address, host))
    return all(map(is_own_machine, addresses))


def is_own_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
