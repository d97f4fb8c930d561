"""The doors to the floors below, kept open between reruns and shared by all tabs."""

import os
from pathlib import Path

import streamlit as st

from kafkaviz.errors import CannotOpen
from kafkaviz.log.archive import cache_folder
from kafkaviz.log.broker import Broker, open_broker

SAMPLES = Path(__file__).parents[2] / "sample_data"


def samples() -> list[Path]:
    """The sample broker directories that lie beside the app."""
    if not SAMPLES.is_dir():
        return []
    return sorted(path for path in SAMPLES.iterdir() if path.is_dir() and not path.name.startswith((".", "_")))


def broker(directory: str | Path) -> Broker:
    """A broker directory as it lies there now: names and sizes, read anew when they changed. Raises CannotOpen."""
    return _broker(str(allowed(Path(directory).expanduser().absolute())))


@st.cache_resource(max_entries=8, show_spinner=False, validate=lambda found: _stamps(found[0]) == found[1])
def _opened(directory: str) -> tuple[Broker, tuple]:
    found = open_broker(directory)
    return found, _stamps(found)


def _broker(directory: str) -> Broker:
    return _opened(directory)[0]


def _stamps(broker: Broker) -> tuple:
    """What tells that a directory changed: the times of its folders, and the lengths of the logs that grow."""
    folders = [broker.source, broker.path, *(partition.path for partition in broker.partitions)]
    growing = [partition.active.log.path for partition in broker.partitions if partition.active]
    return tuple(_mtime_ns(path) for path in folders), tuple(_size_bytes(path) for path in growing)


def _mtime_ns(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _size_bytes(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def allowed(path: Path) -> Path:
    """The path, if KAFKAVIZ_ALLOW_ROOT lets this server open it; links are followed before it is judged."""
    roots = os.environ.get("KAFKAVIZ_ALLOW_ROOT")
    if not roots:
        return path
    inside = [Path(root).resolve() for root in roots.split(os.pathsep)] + [SAMPLES.resolve(), uploads().resolve()]
    if not any(path.resolve().is_relative_to(root) for root in inside):
        raise CannotOpen(path, "lies outside what this server may open", f"give a path below {roots}", kind="permission")
    return path


def uploads() -> Path:
    """Where archives go that a visitor uploads."""
    return cache_folder() / "uploads"
