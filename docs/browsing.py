"""A server of the app and a Chromium for it, used for the pictures of the documents and by browser
tests.

It is here because nobody imports tests/, as tests/test_floors.py says.
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
    # to optimize what runs for a second takes an eighth of a page's processor time
    "--js-flags=--no-maglev --no-turbofan",
]
# on a deep link Streamlit asks for these below the page's path first: 404
HARMLESS = ("_stcore/host-config", "_stcore/health")
START_S = 120  # more than a server ever took


@contextmanager
def serving(cache: Path, *arguments: str) -> Iterator[str]:
    """The address of an app that keeps its cache, and server.log, in this folder. arguments: of
    `kafkaviz app`.
    """
    with started(cache, *arguments) as (address, _):
        yield address


@contextmanager
def started(
    cache: Path, *arguments: str, python: Path | str = sys.executable, cwd: Path = ROOT
) -> Iterator[tuple[str, subprocess.Popen]]:
    """Returns the same, and the process of the server, run by this checkout or by
    another Python.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(python),
        "-m",
        "kafkaviz",
        "app",
        *arguments,
        "--port",
        str(port),
        "--master",
        "local[2]",
    ]
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
    """Until the server answers; TimeoutError where it does not."""
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
    """The Chromium of this machine, or else what playwright brought."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def watch(page: "Page") -> list[str]:
    """Returns a list that grows with each console error of a page, except Streamlit's harmless
    ones.
    """
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
    """An error of the console with the address it is about."""
    return f"{message.text} {(message.location or {}).get('url', '')}"
