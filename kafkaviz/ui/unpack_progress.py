"""An archive that is unpacked while the page waits: how far it is, and a way to stop it."""

import os
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.errors import CannotOpen
from kafkaviz.log import archive
from kafkaviz.ui import access, faults, parts
from kafkaviz.words import say


def unpack(directory: str) -> None:
    """Unpacks the archive that an address leads to, if it was not yet. Raises CannotOpen.

    What is drawn meanwhile is where Streamlit ends the script: of a visitor who presses Cancel,
    goes to another page, or has left.
    """
    path = access.allowed_as_typed(directory)
    packed = archive.containing(path) or path
    if (
        not archive.is_archive(packed)
        or not os.path.isfile(packed)
        or archive.unpacked(packed).exists()
    ):
        return
    strip = _Strip(packed)
    try:
        archive.opened(packed, strip.update)
    except CannotOpen:
        strip.clear()
        raise
    strip.clear()


class _Strip:
    """What the page shows once it takes longer than a moment."""

    def __init__(self, packed: Path) -> None:
        self._packed = packed
        self._place: DeltaGenerator | None = None
        self._line: DeltaGenerator  # once it is drawn

    def update(self, bytes_read: int) -> None:
        """Says how many bytes were read so far."""
        if self._place is None:
            self._place = st.empty()
            self._draw(self._place)
        self._line.html(
            f'<div class="kv-sm kv-fnt">{say("progress.unpacked", size=units.size(bytes_read))}'
            "</div>"
        )

    def _draw(self, place: DeltaGenerator) -> None:
        finding = say("progress.unpacking", name=units.legible(self._packed.name))
        with place.container():
            st.space(48)  # nothing else stands on the page yet
            with parts.state(
                "unpacking", "unarchive", finding, say("progress.unpacking_why"), level=1
            ):
                self._line = st.empty()
                if other := self._elsewhere():
                    st.button(
                        say("progress.cancel"),
                        key="kv_unpack_cancel",
                        on_click=faults.go,
                        args=(other,),
                    )

    def _elsewhere(self) -> str | None:
        """What is open after Cancel: the server's own directory, else a sample."""
        own = os.environ.get("KAFKAVIZ_DIR")
        known = [Path(own)] if own else []
        return next(
            (str(path) for path in [*known, *access.samples()] if path != self._packed), None
        )

    def clear(self) -> None:
        """Takes it off the page."""
        if self._place is not None:
            self._place.empty()
