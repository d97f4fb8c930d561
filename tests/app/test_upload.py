"""Uploads: saved once, under a name that cannot leave its folder."""

import io
import os
import stat
from pathlib import Path

import pytest
import streamlit as st

from kafkaviz import units
from kafkaviz.app import uploads
from kafkaviz.app.pages import broker
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import open_broker


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("kafka.tar.gz", "kafka.tar.gz"),
        ("../../etc/passwd.tar", "passwd.tar"),
        ("C:\\Users\\me\\kafka logs.zip", "kafka-logs.zip"),
        ("..tar", "archive.tar"),
        ("héllo<b>.tgz", "h-llo-b-.tgz"),
        ("", "archive.tar"),
        (".hidden.zip", "hidden.zip"),
    ],
)
def test_a_name_stays_in_its_folder(typed, name):
    """Only letters, digits, dots, dashes and underscores; the suffix is kept."""
    assert uploads.safe_name(typed) == name


def test_the_same_archive_is_kept_once():
    """It is named by its content."""
    first = uploads.save(io.BytesIO(b"one"), "kafka.zip")
    assert (
        first
        == uploads.save(io.BytesIO(b"one"), "kafka.zip")
        != uploads.save(io.BytesIO(b"two"), "kafka.zip")
    )
    assert first.read_bytes() == b"one" and first.is_relative_to(uploads.folder())
    assert [path.name for path in first.parent.iterdir()] == ["kafka.zip"]


def test_only_its_owner_reads_an_upload():
    """Neither the folders nor the file, whatever the umask, and also those created before."""
    uploads.folder().mkdir(parents=True, exist_ok=True)
    uploads.folder().chmod(0o755)
    before = os.umask(0)
    try:
        saved = uploads.save(io.BytesIO(b"secret"), "kafka.zip")
    finally:
        os.umask(before)
    assert [
        stat.S_IMODE(path.stat().st_mode) for path in (saved, saved.parent, uploads.folder())
    ] == [0o600, 0o700, 0o700]
    uploads.folder().chmod(0o755)
    uploads.sweep()
    assert stat.S_IMODE(uploads.folder().stat().st_mode) == 0o700


def test_files_of_segments_are_kept_as_a_partition():
    """Under Kafka's names, once for the same content, and opened as any directory."""
    contents = {
        "00000000000000000000.log": io.BytesIO(b"log"),
        "00000000000000000000.index": io.BytesIO(bytes(8)),
    }
    path = uploads.save_files(contents)
    assert path == uploads.save_files(contents) and path.is_relative_to(uploads.folder())
    [segment] = open_broker(path).partitions[0].segments
    assert [info.path.read_bytes() for info in segment.files] == [b"log", bytes(8)]
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in path.iterdir()} == {0o600}
    other = uploads.save_files({"00000000000000000001.log": io.BytesIO(b"log")})
    assert other.parent != path.parent


def test_uploads_lie_in_the_cache(cache: Path):
    assert uploads.folder().is_relative_to(cache)


def test_the_dialog_names_what_can_be_opened():
    """Each suffix of log.archive, and the server's own limit in the units of every page."""
    hint = broker.upload_hint()
    assert hint.startswith("A .tar, .tar.gz, .tgz, .tar.xz, .tar.bz2 or .zip of a broker directory")
    assert [suffix for suffix in archive.SUFFIXES if suffix not in hint] == []
    assert (
        f"at most {units.format_bytes(int(st.get_option('server.maxUploadSize')) << 20)}." in hint
    )
