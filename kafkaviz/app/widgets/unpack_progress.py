"""Unpacks an archive while the page waits, with a progress strip and a button to cancel."""

import os
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.app import access, page_state
from kafkaviz.app.widgets import elements, faults
from kafkaviz.errors import CannotOpen
from kafkaviz.log.archives import archive
from kafkaviz.messages import say


def unpack(directory: str, key_end: str = "") -> None:
    """Unpacks the archives that an address leads to, unless that was done before.

    Drawing the progress also lets Streamlit stop the script when the visitor cancels or leaves.

    Args:
        key_end: a suffix of widget keys, for a second call in the same run.

    Raises:
        CannotOpen: an archive cannot be read.
    """
    for number, path in enumerate(page_state.split_directories(directory)):
        _unpack_one(path, f"{key_end} {number}" if number else key_end)


def _unpack_one(directory: str, key_end: str) -> None:
    path = access.resolve_typed_path(directory)
    archive.refresh(path)
    archive_path = archive.enclosing_archive(path) or path
    if (
        not archive.is_archive(archive_path)
        or not os.path.isfile(archive_path)
        or archive.unpack_target(archive_path).exists()
    ):
        return
    strip = _Strip(archive_path, key_end)
    try:
        archive.unpack_if_archive(archive_path, strip.update)
    except CannotOpen:
        strip.clear()
        raise
    strip.clear()


class _Strip:
    """The progress strip of one archive. It is drawn at the first update."""

    def __init__(self, archive_path: Path, key_end: str) -> None:
        self._key_end = key_end
        self._archive_path = archive_path
        self._slot: DeltaGenerator | None = None
        self._line: DeltaGenerator  # set by _draw

    def update(self, bytes_read: int) -> None:
        if self._slot is None:
            self._slot = st.empty()
            self._draw(self._slot)
        text = say("progress.unpacked", size=units.format_bytes(bytes_read))
        self._line.html(f'<div class="kv-sm kv-fnt">{text}</div>')

    def _draw(self, slot: DeltaGenerator) -> None:
        finding = say("progress.unpacking", name=units.escape_controls(self._archive_path.name))
        with slot.container():
            st.space(48)  # the page is still empty
            with elements.state(
                f"unpacking{self._key_end}",
                "unarchive",
                finding,
                say("progress.unpacking_why"),
                level=1,
            ):
                self._line = st.empty()
                if directory := self._fallback_directory():
                    st.button(
                        say("common.cancel"),
                        key=f"kv_unpack_cancel{self._key_end}",
                        on_click=faults.open_directory,
                        args=(directory,),
                    )

    def _fallback_directory(self) -> str | None:
        """Returns the directory to open after Cancel: the server's own, else a sample."""
        candidates = list(map(Path, access.configured_directories()))
        return next(
            (str(path) for path in [*candidates, *access.samples()] if path != self._archive_path),
            None,
        )

    def clear(self) -> None:
        if self._slot is not None:
            self._slot.empty()
