"""An archive from the visitor's own machine.

Saved into the cache folder, and opened from there like any other.
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
from kafkaviz.app.state import upload_expiry
from kafkaviz.app.widgets import elements, faults
from kafkaviz.figures.text.join_text import join_or
from kafkaviz.log.archives import archive
from kafkaviz.messages import say

COPY_BYTES = 1 << 20
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def dialog() -> None:
    """Takes an archive of a broker directory; opens it as soon as it is here."""
    st.dialog(say("broker.upload"))(_upload_form)()


def _upload_form() -> None:
    st.markdown(elements.escape_markdown(upload_hint()))
    upload = st.file_uploader(
        say("broker.upload_field"),
        type=archive.SUFFIXES,
        label_visibility="collapsed",
        key="kv_archive",
    )
    if upload is not None:
        faults.open_directory(str(save(upload, upload.name)))
        st.rerun()


def upload_hint() -> str:
    """What may be given: the formats of log.archives.archive, and how many bytes of one."""
    largest = units.size(int(st.get_option("server.maxUploadSize")) << 20)
    return say("broker.upload_words", formats=join_or(archive.SUFFIXES), size=largest)


def save(content: BufferedIOBase, name: str) -> Path:
    """The archive's file in the cache folder, named by its content: the same archive is kept once.

    That name is all that leads there: who has not the archive, nor an address from somebody who
    has, cannot open it.
    """
    upload_expiry.sweep()
    digest = hashlib.file_digest(content, "sha256").hexdigest()[:32]
    target = upload_expiry.folder() / digest / safe_name(name)
    if not target.exists():
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        upload_expiry.keep_private()
        content.seek(0)
        # one a visitor: two may upload the same at once
        with tempfile.TemporaryDirectory(dir=target.parent) as temporary_folder:
            with open(Path(temporary_folder) / target.name, "wb", opener=_open_private) as out:
                shutil.copyfileobj(content, out, COPY_BYTES)
            Path(out.name).replace(target)
    return target


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def safe_name(name: str) -> str:
    """A file name that stays in its folder; its ending says how to unpack it."""
    file_name = UNSAFE.sub("-", PurePath(name.replace("\\", "/")).name).lstrip(".-")
    return file_name if archive.is_archive(Path(file_name)) else "archive.tar"
