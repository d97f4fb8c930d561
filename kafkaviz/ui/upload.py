"""An archive from the visitor's own machine: saved into the cache folder, and opened from there
like any other.
"""

import hashlib
import os
import re
import shutil
import tempfile
from io import BufferedIOBase
from pathlib import Path, PurePath

import streamlit as st

from kafkaviz import units
from kafkaviz.figures.listed import one_of
from kafkaviz.log import archive
from kafkaviz.ui import faults, leftovers, parts
from kafkaviz.words import say

PIECE_BYTES = 1 << 20
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def dialog() -> None:
    """Takes an archive of a broker directory; opens it as soon as it is here."""
    st.dialog(say("broker.upload"))(_ask)()


def _ask() -> None:
    st.markdown(parts.plain(words()))
    given = st.file_uploader(
        say("broker.upload_field"),
        type=archive.SUFFIXES,
        label_visibility="collapsed",
        key="kv_archive",
    )
    if given is not None:
        faults.go(str(save(given, given.name)))
        st.rerun()


def words() -> str:
    """What may be given: the formats that log.archive opens, and how large the server takes one."""
    largest = units.size(int(st.get_option("server.maxUploadSize")) << 20)
    return say("broker.upload_words", formats=one_of(archive.SUFFIXES), size=largest)


def save(content: BufferedIOBase, name: str) -> Path:
    """The archive's file in the cache folder, named by its content: the same archive is kept once.

    That name is all that leads there: who has not the archive, nor an address from somebody who
    has, cannot open it.
    """
    leftovers.sweep()
    digest = hashlib.file_digest(content, "sha256").hexdigest()[:32]
    target = leftovers.folder() / digest / safe_name(name)
    if not target.exists():
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        leftovers.keep_private()
        content.seek(0)
        # one a visitor: two may upload the same at once
        with tempfile.TemporaryDirectory(dir=target.parent) as aside:
            with open(Path(aside) / target.name, "wb", opener=_private) as out:
                shutil.copyfileobj(content, out, PIECE_BYTES)
            Path(out.name).replace(target)
    return target


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def safe_name(name: str) -> str:
    """A file name that stays in its folder; its ending says how to unpack it."""
    last = UNSAFE.sub("-", PurePath(name.replace("\\", "/")).name).lstrip(".-")
    return last if archive.is_archive(Path(last)) else "archive.tar"
