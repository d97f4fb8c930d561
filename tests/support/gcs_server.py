"""A local server of Google's storage, gcp-storage-emulator's, in a process of its own."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from pyarrow.fs import GcsFileSystem

BUCKET = "kafka"
SERVER = (
    "import sys; from gcp_storage_emulator.server import create_server;"
    f"create_server('127.0.0.1', int(sys.argv[1]), in_memory=True, default_bucket={BUCKET!r}).run()"
)
PATIENCE_S = 60


@contextmanager
def serving_gcs() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(server, port)
        yield port
    finally:
        server.kill()
        server.wait()


def put_directory(port: int, directory: Path, key: str) -> None:
    file_system = GcsFileSystem(
        endpoint_override=f"127.0.0.1:{port}",
        scheme="http",
        anonymous=True,
        retry_time_limit=timedelta(seconds=PATIENCE_S),
    )
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            name = f"{BUCKET}/{key}/{path.relative_to(directory)}"
            with file_system.open_output_stream(name) as out:
                out.write(path.read_bytes())


def _wait(server: subprocess.Popen, port: int) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while True:
        assert server.poll() is None, "gcp-storage-emulator ended; is it installed?"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < end_s
            time.sleep(0.1)
        else:
            return
