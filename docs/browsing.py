"""Starts the app and a Chromium, for the pictures of the documentation and for browser tests.

It is in docs/, because no module may import tests/: see tests/test_floors.py.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

ROOT = Path(__file__).parents[1]
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Drawing animations in a thread of their own takes a fifth of a page's processor time. The
    # optimizing compilers take an eighth.
    "--disable-threaded-animation",
    "--js-flags=--no-maglev --no-turbofan",
]
# for a deep link, Streamlit first requests these below the page's path, which gives 404
HARMLESS = ("_stcore/host-config", "_stcore/health")
START_S = 120  # no server has taken longer to start


@contextmanager
def serving(cache: Path, *arguments: str) -> Iterator[str]:
    """Runs the app and yields its address.

    `cache` is the folder of its cache and of server.log. `arguments` are passed to `kafkaviz app`.
    """
    with started(cache, *arguments) as (address, _):
        yield address


@contextmanager
def started(
    cache: Path, *arguments: str, python: Path | str = sys.executable, cwd: Path = ROOT
) -> Iterator[tuple[str, subprocess.Popen]]:
    """Does the same as `serving`, and also yields the process of the server.

    `python` runs the server. The default is the Python of this checkout.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--master", "local[2]"]
    command = [str(python), "-m", "kafkaviz", "app", *arguments, *options]
    environment = os.environ | {"KAFKAVIZ_CACHE": str(cache), "STREAMLIT_SERVER_HEADLESS": "true"}
    environment.pop("PYTHONPATH", None)
    with (
        open(cache / "server.log", "w") as log,
        subprocess.Popen(command, cwd=cwd, env=environment, stdout=log, stderr=log) as process,
    ):
        address = f"http://127.0.0.1:{port}"
        try:
            wait_until_healthy(address)
            yield address, process
        finally:
            process.terminate()


def wait_until_healthy(address: str) -> None:
    """Waits until the server answers. Raises TimeoutError if it does not."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise TimeoutError(f"{address} did not answer")


@contextmanager
def chromium() -> Iterator["Browser"]:
    """Yields the Chromium of this machine, or else the one that playwright installed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def watch(page: "Page") -> list[str]:
    """Returns a list to which each console error of a page is added. Skips harmless errors."""
    errors: list[str] = []

    def tell(error: str) -> None:
        if not any(harmless in error for harmless in HARMLESS):
            errors.append(error)

    page.on("pageerror", lambda error: tell(str(error)))
    page.on(
        "console", lambda message: tell(console_text(message)) if message.type == "error" else None
    )
    return errors


def console_text(message: "ConsoleMessage") -> str:
    """Returns the text of a console error, with the address that it is about."""
    return f"{message.text} {(message.location or {}).get('url', '')}"
