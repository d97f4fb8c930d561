"""Who may open what: the samples and uploads everybody, below which directories else; and whether visitors are several people."""

import ipaddress
import os
from pathlib import Path

import streamlit as st

from kafkaviz.errors import CannotOpen
from kafkaviz.figures.listed import either
from kafkaviz.log import archive
from kafkaviz.log.file import failing_kindly
from kafkaviz.ui import leftovers

SAMPLES = Path(__file__).parents[2] / "sample_data"
ALLOW_ROOT = "KAFKAVIZ_ALLOW_ROOT"


def samples() -> list[Path]:
    """The sample broker directories beside the app, packed as they come."""
    if not SAMPLES.is_dir():
        return []
    return sorted(path for path in SAMPLES.iterdir() if archive.is_archive(path))


def allowed(path: Path) -> Path:
    """The path, if this server may open it; links are followed before it is judged. Raises CannotOpen of kind "outside"."""
    told = roots()
    if told is None:
        return path
    inside = [*told, SAMPLES, leftovers.folder()]
    if not any(path.resolve().is_relative_to(root.resolve()) for root in inside):
        where = either(map(str, told or [SAMPLES]))
        raise CannotOpen(path, "lies outside what this server may open", f"give a path below {where}", kind="outside")
    return path


def refuse_links(root: Path, depth: int = 2) -> None:
    """A link below an allowed root must not lead out of it, and is judged before anything is read through it.

    Raises CannotOpen of kind "outside".
    """
    with failing_kindly(root), os.scandir(root) as entries:
        for entry in entries:
            if entry.is_symlink():
                allowed(Path(entry.path))
            if depth > 1 and entry.is_dir() and os.access(entry.path, os.R_OK | os.X_OK):
                refuse_links(Path(entry.path), depth - 1)


def roots() -> tuple[Path, ...] | None:
    """Below what directories may be opened, beside the samples and what was uploaded; None where everything may.

    KAFKAVIZ_ALLOW_ROOT holds one directory, or several as PATH does. Without it a server that others can reach opens what it was started
    with, and nothing else.
    """
    named = os.environ.get(ALLOW_ROOT)
    if named:
        return tuple(Path(root) for root in named.split(os.pathsep) if root)
    if not is_reached_by_others():
        return None
    return tuple(Path(one) for one in [os.environ.get("KAFKAVIZ_DIR")] if one)


def is_shared() -> bool:
    """Whether its visitors are several people: what one of them opened or uploaded is then not shown to the others."""
    return roots() is not None


def is_reached_by_others() -> bool:
    """Whether the server listens on more than this machine's own address."""
    if not st.runtime.exists():  # nobody listens
        return False
    address = st.get_option("server.address") or ""
    try:
        return not ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address != "localhost"
