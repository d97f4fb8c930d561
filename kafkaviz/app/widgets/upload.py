"""Uploads of an archive or of segment files, which are saved in the cache folder."""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from io import BufferedIOBase
from pathlib import Path, PurePath
from typing import cast

import streamlit as st

from kafkaviz import units
from kafkaviz.app import upload_expiry
from kafkaviz.app.widgets import elements, faults
from kafkaviz.figures.text.sentences import join_or
from kafkaviz.format.names import find_segment_name
from kafkaviz.log import lone_files
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import SEGMENT_KINDS
from kafkaviz.messages import say
from kafkaviz.units import escape_controls

COPY_BYTES = 1 << 20
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def dialog() -> None:
    st.dialog(say("broker.upload"))(_upload_form)()


def _upload_form() -> None:
    st.markdown(elements.escape_markdown(upload_hint()))
    uploads = st.file_uploader(
        say("broker.upload_field"),
        type=(*archive.SUFFIXES, *(f".{kind}" for kind in SEGMENT_KINDS)),
        accept_multiple_files=True,
        label_visibility="collapsed",
        key="kv_archive",
    )
    if not uploads:
        return
    contents = {find_segment_name(upload.name): upload for upload in uploads}
    if len(uploads) == 1 and archive.is_archive(Path(uploads[0].name)):
        path = save(uploads[0], uploads[0].name)
    elif None in contents or len(contents) < len(uploads):
        names = tuple(escape_controls(upload.name) for upload in uploads)
        st.warning(elements.escape_markdown(say("broker.upload_mixed", names=names)))
        return
    else:
        path = save_files(cast("dict[str, BufferedIOBase]", contents))
    faults.open_directory(str(path))
    st.rerun()


def upload_hint() -> str:
    largest = units.format_bytes(int(st.get_option("server.maxUploadSize")) << 20)
    kinds = join_or(f".{kind}" for kind in SEGMENT_KINDS)
    formats = join_or(archive.SUFFIXES)
    return say("broker.upload_words", formats=formats, kinds=kinds, size=largest)


def save(content: BufferedIOBase, name: str) -> Path:
    """Saves an uploaded archive in the cache folder and returns its path.

    The path contains a hash of the content, so only visitors with the archive or a link know it.
    """
    upload_expiry.sweep()
    digest = hashlib.file_digest(content, "sha256").hexdigest()[:32]
    target = upload_expiry.folder() / digest / safe_name(name)
    _write(target, content, target.parent)
    return target


def save_files(contents: Mapping[str, BufferedIOBase]) -> Path:
    """Saves segment files as a topic-partition under their Kafka names. Returns its path."""
    upload_expiry.sweep()
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(f"{name} {hashlib.file_digest(content, 'sha256').hexdigest()}\n".encode())
    upload = upload_expiry.folder() / digest.hexdigest()[:32]
    for name, content in contents.items():
        _write(upload / lone_files.UNNAMED / name, content, upload)
    return upload / lone_files.UNNAMED


def _write(target: Path, content: BufferedIOBase, upload: Path) -> None:
    """Writes a file atomically, readable only by this user."""
    if target.exists():
        return
    for folder in (upload, target.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    upload_expiry.keep_private()
    content.seek(0)
    # one folder per call, because two visitors may upload the same file at once
    with tempfile.TemporaryDirectory(dir=upload) as temporary_folder:
        with open(Path(temporary_folder) / target.name, "wb", opener=_open_private) as out:
            shutil.copyfileobj(content, out, COPY_BYTES)
        Path(out.name).replace(target)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def safe_name(name: str) -> str:
    """Returns a file name without a path. "archive.tar" if the suffix is not an archive's."""
    file_name = UNSAFE.sub("-", PurePath(name.replace("\\", "/")).name).lstrip(".-")
    return file_name if archive.is_archive(Path(file_name)) else "archive.tar"
