"""The limits in docs/serve.md match the code and the settings of the server."""

import tomllib
from pathlib import Path

from kafkaviz.app import uploads
from kafkaviz.log.archives import archive, members, tar_reader

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serve.md").read_text()
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())


def test_the_limits_of_uploads_are_documented_right():
    """Kinds, size, what may be unpacked, and for how long."""
    assert all(f"`{suffix}`" in PAGE for suffix in archive.SUFFIXES)
    assert SETTINGS["server"]["maxUploadSize"] == 1024 and "| size | 1 GiB" in PAGE
    assert archive.RESERVE_BYTES == 1 << 30 and "the last GiB of the disk" in PAGE
    assert members.LIMIT_BYTES == 1 << 40
    assert (members.LIMIT_HEADERS, members.LIMIT_FILES) == (4_000_000, 1_000_000)
    assert members.LIMIT_DEPTH == 64
    assert "1 TiB, 4 000 000 headers, 1 000 000 files and folders, 64 nested folders" in PAGE
    assert (members.BASE_S, members.BYTES_PER_S) == (300, 1 << 20)
    assert "5 minutes plus a second for each MiB" in PAGE
    assert archive.XZ_BYTES == 256 << 20 and "more than 256 MiB of memory" in PAGE
    assert tar_reader.NOTES_BYTES == 64 << 10 and "64 KiB of names" in PAGE
    assert tar_reader.TAIL_BYTES == 16 << 20 and "16 MiB behind" in PAGE
    assert members.DIRECTORY_BYTES == 32 << 20 and "longer than 32 MiB" in PAGE
    assert uploads.EXPIRY_DAYS == 7 and "a week after it was opened last" in PAGE


def test_only_this_machine_may_ask_by_default():
    """Pages of other sites may not, whoever serves it."""
    assert SETTINGS["server"]["address"] == "127.0.0.1"
    off = [
        name
        for name in ("enableCORS", "enableXsrfProtection")
        if SETTINGS["server"].get(name, True) is not True
    ]
    assert off == [] and SETTINGS["client"]["showErrorDetails"] == "none"
