"""docs/serve.md: the limits it tells are those of the code and of the settings that the server starts with."""

import os
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kafkaviz.log import archive
from kafkaviz.ui import leftovers
from tests.test_commands import wait_for

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serve.md").read_text()
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())


def test_the_limits_of_uploads_are_told_right():
    """Kinds, size, what may be unpacked, for how long."""
    assert all(f"`{suffix}`" in PAGE for suffix in archive.SUFFIXES)
    assert SETTINGS["server"]["maxUploadSize"] == 1024 and "| size | 1 GiB" in PAGE
    assert (archive.LIMIT_FILES, archive.LIMIT_BYTES, archive.SPARED_BYTES) == (4_000_000, 1 << 40, 1 << 30)
    assert leftovers.KEPT_DAYS == 7 and "a week after it was opened last" in PAGE


def test_only_this_machine_may_ask_by_default():
    """And pages of other sites may not, whoever serves it."""
    assert SETTINGS["server"]["address"] == "127.0.0.1"
    off = [name for name in ("enableCORS", "enableXsrfProtection") if SETTINGS["server"].get(name, True) is not True]
    assert off == [] and SETTINGS["client"]["showErrorDetails"] == "none"


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux to tell who listens where")
def test_the_port_is_closed_to_others(tmp_path):
    """As the system sees it: the server of `kafkaviz app`, started elsewhere, listens on 127.0.0.1 and on nothing else."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "kafkaviz", "app", "--port", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, env={**_environment(), "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL) as process:
        try:
            assert wait_for(f"http://127.0.0.1:{port}/_stcore/health", seconds=60) == b"ok"
            listening = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
            assert [cells[1] for cells in listening if cells[3] == "0A" and cells[1].endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]
        finally:
            process.terminate()


def _environment() -> dict[str, str]:
    """Without settings of Streamlit's."""
    return {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
