"""Static files are sent compressed: once for all browsers, and only files that may be cached."""

import asyncio
import gzip
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import streamlit

from kafkaviz.app.middleware import StaticCompression

SCRIPT = b"export const value = 1;\n" * 200
IMMUTABLE = "public, immutable, max-age=31536000"
PATH = "/static/js/index.D9Z0.js"


class _Files:
    """An application with one file that counts its requests."""

    def __init__(
        self,
        *,
        cache_control=IMMUTABLE,
        kind="text/javascript",
        status=200,
        body=SCRIPT,
        length=None,
    ):
        self.asked = 0
        self._headers = {"cache-control": cache_control, "content-type": kind, "etag": '"1"'}
        self._headers["content-length"] = str(len(body) if length is None else length)
        self._status, self._body = status, body

    async def __call__(self, scope, receive, send) -> None:
        self.asked += 1
        await asyncio.sleep(0)
        headers = [(name.encode(), value.encode()) for name, value in self._headers.items()]
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        half = len(self._body) // 2
        await send({"type": "http.response.body", "body": self._body[:half], "more_body": True})
        await send({"type": "http.response.body", "body": self._body[half:]})


def _ask(app, *requests: dict) -> list[tuple[dict, bytes]]:
    """Returns the headers and body of each answer to concurrent requests."""

    async def ask(request: dict) -> tuple[dict, bytes]:
        messages = []

        async def send(message) -> None:
            messages.append(message)

        headers = [(name, value) for name, value in request.get("headers", {}).items()]
        scope = {"type": "http", "method": "GET", "path": PATH} | request | {"headers": headers}
        await app(scope, None, send)
        parts = [message["body"] for message in messages[1:]]
        return dict(messages[0]["headers"]), b"".join(parts)

    async def ask_all() -> list:
        return await asyncio.gather(*map(ask, requests))

    with ThreadPoolExecutor() as threads:  # a browser keeps an event loop in the tests' own
        return threads.submit(asyncio.run, ask_all()).result()


GZIP = {"headers": {b"accept-encoding": b"gzip, deflate, br"}}


def test_a_hashed_file_comes_compressed():
    """Its headers let a browser unpack and cache it."""
    [(headers, body)] = _ask(StaticCompression(_Files()), GZIP)
    assert gzip.decompress(body) == SCRIPT
    assert len(body) < len(SCRIPT) / 10
    assert headers[b"content-encoding"] == b"gzip"
    assert headers[b"content-length"] == str(len(body)).encode()
    assert headers[b"cache-control"] == IMMUTABLE.encode()
    assert headers[b"vary"] == b"Accept-Encoding"
    assert headers[b"etag"] == b'W/"1"'


def test_it_is_compressed_once():
    files = _Files()
    compression = StaticCompression(files)
    answers = _ask(compression, *[GZIP] * 20)
    assert {body for _, body in answers} == {answers[0][1]}
    assert files.asked == 1


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"headers": {b"accept-encoding": b"br"}},
        {"headers": GZIP["headers"] | {b"range": b"bytes=0-9"}},
        {"headers": GZIP["headers"] | {b"if-none-match": b'"1"'}},
        GZIP | {"method": "HEAD"},
        GZIP | {"path": "/"},
    ],
    ids=["no gzip", "brotli alone", "a range", "has it", "HEAD", "a page"],
)
def test_other_requests_are_left_alone(request_):
    """Range requests and clients without gzip get Streamlit's own answer."""
    [(headers, body)] = _ask(StaticCompression(_Files()), request_)
    assert b"content-encoding" not in headers
    assert body == SCRIPT


@pytest.mark.parametrize(
    "file",
    [
        {"cache_control": "no-cache"},
        {"kind": "font/woff2"},
        {"status": 404},
        {"body": b"short"},
        {"length": len(SCRIPT) + 1},
    ],
    ids=["no hashed name", "a font", "no file", "short", "one that breaks off"],
)
def test_other_answers_are_neither_compressed_nor_kept(file):
    files = _Files(**file)
    compression = StaticCompression(files)
    [(headers, _)] = _ask(compression, GZIP)
    assert b"content-encoding" not in headers
    assert compression._answers == {}


def test_the_real_server_compresses_the_script_of_charts(server):
    """A lesson with a chart fetches little else: 4.4 MB, sent as 1.4 and cached for a year."""
    [script] = (Path(streamlit.__file__).parent / "static").rglob("PlotlyChart.*.js")
    address = f"{server}/static/js/{script.name}"
    request = urllib.request.Request(address, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request) as answer:
        headers, body = answer.headers, answer.read()
    assert headers["Content-Encoding"] == "gzip"
    assert "immutable" in headers["Cache-Control"]
    assert len(body) < script.stat().st_size / 3 < 1_600_000
    assert gzip.decompress(body) == script.read_bytes()
