"""The limits in docs/serve.md match the code and the settings of the server."""

import os
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kafkaviz.app import uploads
from kafkaviz.log.archives import archive, members, tar_reader
from tests.support.http_answer import wait_for

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serve.md").read_text()
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())


def test_the_limits_of_uploads_are_documented_right():
    """Kinds, size, what may be unpacked, and for how long."""
    assert all(f"`{suffix}`" in PAGE for suffix in archive.SUFFIXES)
    assert SETTINGS["server"]["maxUploadSize"] == 1024 and "| size | 1 GiB" in PAGE
    assert archive.RESERVE_BYTES == 1 << 30 and "the last GiB of the disk" in PAGE
    assert (members.LIMIT_BYTES, members.LIMIT_HEADERS, members.LIMIT_FILES) == (
        1 << 40,
        4_000_000,
        1_000_000,
    )
    assert (
        "1 TiB, 4 000 000 headers, 1 000 000 files and folders, 64 nested folders" in PAGE
        and members.LIMIT_DEPTH == 64
    )
    assert (members.BASE_S, members.BYTES_PER_S) == (
        300,
        1 << 20,
    ) and "5 minutes plus a second for each MiB" in PAGE
    assert (tar_reader.NOTES_BYTES, tar_reader.TAIL_BYTES, members.DIRECTORY_BYTES) == (
        64 << 10,
        16 << 20,
        32 << 20,
    )
    assert archive.XZ_BYTES == 256 << 20 and "more than 256 MiB of memory" in PAGE
    assert "64 KiB of names" in PAGE and "16 MiB behind" in PAGE and "longer than 32 MiB" in PAGE
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


@pytest.mark.skipif(
    not Path("/proc/net/tcp").exists(), reason="needs Linux to tell who listens where"
)
def test_the_port_is_closed_to_others(tmp_path):
    """The server of `kafkaviz app`, started elsewhere, listens on 127.0.0.1 and on nothing else."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "kafkaviz", "app", "--port", str(port)]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**_environment(), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    ) as process:
        try:
            assert wait_for(f"http://127.0.0.1:{port}/_stcore/health", seconds=60) == b"ok"
            listening = [
                line.split()
                for name in ("tcp", "tcp6")
                for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
            ]
            assert [
                cells[1]
                for cells in listening
                if cells[3] == "0A" and cells[1].endswith(f":{port:04X}")
            ] == [f"0100007F:{port:04X}"]
        finally:
            process.terminate()


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
