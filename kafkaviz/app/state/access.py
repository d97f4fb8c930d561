"""Who may open what, and whether visitors are several people.

The samples and uploads everybody, below which directories else.
"""

import ipaddress
import json
import os
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st

from kafkaviz.app.state import upload_expiry
from kafkaviz.errors import CannotOpen, CorruptFile
from kafkaviz.log import confinement, file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import join_tiered
from kafkaviz.log.file import translate_os_errors
from kafkaviz.log.remote import address
from kafkaviz.log.tiered import tiered_view
from kafkaviz.messages import message
from kafkaviz.resources import SAMPLES

ALLOW_ROOT = "KAFKAVIZ_ALLOW_ROOT"
TIERED = " --tiered "  # between a broker directory and the store of its remote segments
CLASS = "KAFKAVIZ_CLASS"  # the language in which `kafkaviz app --class` speaks; else not there


def samples() -> list[Path]:
    """The sample broker directories beside the app, packed as they come."""
    if not SAMPLES.is_dir():
        return []
    return sorted(path for path in SAMPLES.iterdir() if archive.is_archive(path))


def require_allowed(path: Path) -> Path:
    """The path, if this server may open it; links are followed before it is judged.

    What shows a directory joined with its tiered storage may be opened where both may.

    Raises:
        CannotOpen: of kind "outside", it leads to a file that this server may not open.
    """
    allowed_roots = roots()
    if allowed_roots is None:
        return path
    readable_roots = (*allowed_roots, SAMPLES, upload_expiry.folder())
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
    """Whether a path leads to somewhere in these directories."""
    # of a loop of links the part before it; Path.resolve raises there
    real_path = Path(os.path.realpath(path))
    return any(real_path.is_relative_to(os.path.realpath(directory)) for directory in directories)


def resolve_typed_path(text: str | Path) -> Path:
    """The absolute path that somebody typed, if this server may open it.

    Of `DIR --tiered STORE`, as the command line takes both, that of what shows them joined. Where
    visitors are several people, neither the homes of this machine's users nor the directory that
    the server runs in are shown.

    Raises:
        CannotOpen: this server may not open it, or one of both places.
    """
    directory, separator, store = str(text).partition(TIERED)
    if separator:
        with translate_corrupt_files():
            return join_tiered(_resolve(directory), _resolve(store))
    return _resolve(text)


@contextmanager
def translate_corrupt_files() -> Generator[None]:
    """Within it a file whose bytes break its format, as a manifest may be, cannot be opened."""
    try:
        yield
    except CorruptFile as fault:
        what = message("errors.at_byte", position=fault.position, problem=fault.what)
        raise CannotOpen(fault.path, what) from None


def _resolve(text: str | Path) -> Path:
    """The absolute path of one place, if this server may open it."""
    if roots() is None:
        return file.absolute_path(text)
    try:
        return require_allowed(file.absolute_path(text, expands_home=False))
    except CannotOpen as fault:
        raise CannotOpen(text, fault.what, fault.next_step, fault.kind) from None


def confine() -> None:
    """Limits every file that is opened from now on to what this server may open or keeps itself."""
    allowed_roots = roots()
    confinement.confine(
        None if allowed_roots is None else [*allowed_roots, SAMPLES, archive.cache_folder()]
    )


def refuse_links(root: Path, depth: int = 2) -> None:
    """Refuses links below an allowed root that lead out of it.

    They are judged before anything is read through them.

    Raises:
        CannotOpen: of kind "outside", a link leads out.
    """
    with translate_os_errors(root), os.scandir(root) as entries:
        for entry in entries:
            if entry.is_symlink():
                require_allowed(Path(entry.path))
            is_directory = False
            with suppress(OSError):  # a link that leads in a circle leads nowhere
                is_directory = entry.is_dir()
            if depth > 1 and is_directory and os.access(entry.path, os.R_OK | os.X_OK):
                refuse_links(Path(entry.path), depth - 1)


def roots() -> tuple[Path, ...] | None:
    """Below what directories may be opened, beside the samples and what was uploaded.

    KAFKAVIZ_ALLOW_ROOT holds one directory, several as PATH does, or a JSON list of them. Without
    it a server that others can reach, or that was started for a class, opens what it was started
    with, and nothing else.

    Returns:
        None where everything may.
    """
    directories = parse_directories(os.environ.get(ALLOW_ROOT, ""))
    if directories:
        return directories + _tiered_sources()
    if not (is_reached_by_others() or os.environ.get(CLASS)):
        return None
    return (*map(address.local_path, configured_directories()), *_tiered_sources())


def configured_directories() -> tuple[str, ...]:
    """What the server was started with: a directory, or the log directories of one broker.

    KAFKAVIZ_DIR holds the path of one, or a JSON list of several.
    """
    text = os.environ.get("KAFKAVIZ_DIR", "")
    if text.startswith("["):
        with suppress(ValueError):
            return tuple(map(str, json.loads(text)))
    return (text,) if text else ()


def _tiered_sources() -> tuple[Path, ...]:
    """What the server was started with, where that shows tiered storage.

    The view, and its sources, which the links in it lead to.
    """
    directories = configured_directories()
    if len(directories) != 1:
        return ()
    directory = Path(directories[0])
    sources = tiered_view.sources(directory)
    return (directory, *filter(None, sources)) if sources else ()


def parse_directories(variable: str) -> tuple[Path, ...]:
    """The directories that a variable of the environment names.

    As PATH does, or as a JSON list, where a name may hold PATH's colon.
    """
    try:
        return (
            tuple(map(address.local_path, json.loads(variable)))
            if variable.startswith("[")
            else _split_path_variable(variable)
        )
    except (ValueError, TypeError):
        return _split_path_variable(variable)


def _split_path_variable(variable: str) -> tuple[Path, ...]:
    parts = re.split(f"{os.pathsep}(?!//)", variable)  # not within s3://bucket
    return tuple(address.local_path(directory) for directory in parts if directory)


def takes_uploads() -> bool:
    """Whether visitors may upload archives: of a class nobody does."""
    return int(st.get_option("server.maxUploadSize")) > 0


def is_shared() -> bool:
    """Whether its visitors are several people.

    What one of them opened or uploaded is then not shown to the others.
    """
    return roots() is not None


def is_reached_by_others() -> bool:
    """Whether the server listens on more than this machine's own address."""
    if not st.runtime.exists():  # nobody listens
        return False
    return not is_own_machine(st.get_option("server.address") or "")


def may_open_class() -> bool:
    """Whether this visitor may open a class.

    Of a server that was started for one, who sits at its machine: learners are let in to join. It
    is no wall, a browser may say what it likes.
    """
    if not os.environ.get(CLASS):
        return True
    host = urlsplit(st.context.url or "").hostname
    addresses = filter(None, (st.context.ip_address, host))
    return all(map(is_own_machine, addresses))


def is_own_machine(host: str) -> bool:
    """Whether a name or address reaches nothing but the machine that asks for it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
