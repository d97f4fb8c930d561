"""The ASGI middleware of the server: stylesheet, compression and checks.

- HtmlShell adds the stylesheet and a skeleton to the HTML page. The skeleton is visible until
  Streamlit's scripts have drawn something. The stylesheet is part of the HTML, because Streamlit
  would send it again with every run.
- StaticCompression sends Streamlit's own scripts and styles with gzip. A compressing middleware
  would compress them again for each browser. The file names contain a hash of the content, so one
  result serves every browser.
- HostCheck refuses other host names. The Host header of a request must be an IP address, localhost,
  this machine's name or an allowed name. Otherwise a web site could point its own name at 127.0.0.1
  (DNS rebinding), and the user's browser would let that site use the app.
- FrameGuard: no other site may show a page in a frame.
"""

import asyncio
import gzip
import ipaddress
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from kafkaviz.app.frontend import FRONTEND_FOLDER, read_svg
from kafkaviz.app.widgets import elements
from kafkaviz.figures import tokens
from kafkaviz.html import Html, tag

STREAMLIT_FILES = Path(st.__file__).parent / "static"
LARGE_SCRIPTS = ("PlotlyChart", "DataFrame")  # scripts of charts and of tables
ROUTES = ("/_stcore/", "/media/", "/component/")
ROOT = b'<div id="root">'  # the element that Streamlit draws into
# Request headers that are not passed on. The first two would let Streamlit answer that the
# browser's cached copy is current, although its stylesheet may be old. The third would let
# Streamlit compress the page, which then could not be extended.
LEFT_OUT = (b"if-none-match", b"if-modified-since", b"accept-encoding")
LEVEL = 6  # level 9 takes three times as long and saves 1 % more
SMALLEST_BYTES = 1024
COMPRESSIBLE = ("text/", "application/javascript", "application/json", "image/svg+xml")
FOLDER = "/static/"
NO_FRAMES = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
}
METRICS_PATH = "/_stcore/metrics"  # sums over all visitors, hidden from them


@cache
def stylesheet() -> str:
    """Returns the app's CSS: design tokens, severity icons, and rules."""
    marks = (
        f'--kv-mark-{name}: url("data:image/svg+xml,{quote(read_svg(name).strip())}");'
        for name in elements.SEVERITIES
    )
    rules = map(elements.read_css, ("look.css", "narrow.css", "paper.css"))
    return f"{tokens.STYLESHEET}:root {{ {' '.join(marks)} }}\n{''.join(rules)}"


class HtmlShell:
    """Adds the stylesheet and a skeleton to the HTML that Streamlit serves for every page."""

    # if False, as under `streamlit run`, each run sends the stylesheet
    in_use: ClassVar = False

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        HtmlShell.in_use = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or not _is_page(scope["path"]):
            await self._app(scope, receive, send)
            return
        takes_gzip = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        headers = [header for header in scope["headers"] if header[0] not in LEFT_OUT]
        start: Message = {}
        parts: list[bytes] = []

        async def send_filled(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                content_type = Headers(raw=message["headers"]).get("content-type", "")
                if message["status"] == 200 and content_type.startswith("text/html"):
                    start = message
                    return
            elif start:
                parts.append(message.get("body", b""))
                if message.get("more_body"):
                    return
                await _send_page(start, fill(b"".join(parts)), send, takes_gzip=takes_gzip)
                return
            await send(message)

        await self._app({**scope, "headers": headers}, receive, send_filled)


def _is_page(path: str) -> bool:
    return "." not in path.rpartition("/")[2] and not any(route in path for route in ROUTES)


async def _send_page(start: Message, body: bytes, send: Send, *, takes_gzip: bool) -> None:
    headers = MutableHeaders(scope=start)
    for name in ("etag", "last-modified"):  # both describe Streamlit's original file
        if name in headers:
            del headers[name]
    headers.add_vary_header("Accept-Encoding")
    if takes_gzip:
        body = gzip.compress(body, LEVEL, mtime=0)
        headers["content-encoding"] = "gzip"
    headers["content-length"] = str(len(body))
    await send(start)
    await send({"type": "http.response.body", "body": body})


def fill(html: bytes) -> bytes:
    """Inserts the stylesheet and the skeleton before ROOT. Without ROOT, returns `html` unchanged.

    Before ROOT, the stylesheet follows Streamlit's CSS and overrides it. CSS inside a page comes
    later, and overrides the stylesheet.
    """
    return html.replace(ROOT, _look() + ROOT, 1)


@cache
def _look() -> bytes:
    style, markup = (
        (FRONTEND_FOLDER / f"index_page.{kind}").read_text(encoding="utf-8")
        for kind in ("css", "html")
    )
    script = (FRONTEND_FOLDER / "bundles" / "index_page.js").read_text(encoding="utf-8")
    scripts = STREAMLIT_FILES / "static" / "js"
    names = " ".join(
        path.name for name in LARGE_SCRIPTS for path in sorted(scripts.glob(f"{name}.*.js"))
    )
    parts = (
        tag("style", Html(stylesheet() + style)),
        markup.replace('id="kv-wait"', f'id="kv-wait" data-scripts="{escape(names)}"', 1),
        tag("script", Html(script), type="module", **{"async": True}),
    )
    return ("\n".join(parts) + "\n").encode()


# ---- compression

Answer = tuple[MutableHeaders, bytes]  # headers and body of a response


class StaticCompression:
    """Sends Streamlit's static files with gzip, if the browser accepts it.

    Only responses that Streamlit marks as immutable are compressed and kept. Streamlit marks only
    existing files with a hash in their name, so the number of kept responses is limited.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._answers: dict[str, asyncio.Future[Answer | None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._answer(scope, receive) if self._may_compress(scope) else None
        if answer is None:
            await self._app(scope, receive, send)
            return
        headers, body = answer
        await send({"type": "http.response.start", "status": 200, "headers": headers.raw})
        await send({"type": "http.response.body", "body": body})

    @staticmethod
    def _may_compress(scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] != "GET" or FOLDER not in scope["path"]:
            return False
        headers = Headers(scope=scope)
        return "gzip" in headers.get("accept-encoding", "") and not (
            {"range", "if-none-match", "if-modified-since"} & set(headers.keys())
        )

    async def _answer(self, scope: Scope, receive: Receive) -> Answer | None:
        """Returns headers and body of the compressed file, or None to send the file uncompressed.

        Browsers that request the file while it is being compressed wait for the result.
        """
        path = scope["path"]
        if path in self._answers:
            return await asyncio.shield(self._answers[path])
        answer = self._answers[path] = asyncio.get_running_loop().create_future()
        result = None
        try:
            result = await self._compress(scope, receive)
        finally:
            answer.set_result(result)
            if result is None:
                del self._answers[path]
        return result

    async def _compress(self, scope: Scope, receive: Receive) -> Answer | None:
        status = 0
        headers = MutableHeaders()
        parts = []

        async def collect(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(raw=list(message["headers"]))
            elif status == 200:
                parts.append(message.get("body", b""))

        await self._app(scope, receive, collect)
        body = b"".join(parts)
        if (
            status != 200
            or "immutable" not in headers.get("cache-control", "")
            or "content-encoding" in headers
            or not headers.get("content-type", "").startswith(COMPRESSIBLE)
            or len(body) < SMALLEST_BYTES
            # the answer was cut off
            or headers.get("content-length", str(len(body))) != str(len(body))
        ):
            return None
        body = await asyncio.to_thread(gzip.compress, body, LEVEL, mtime=0)
        if "etag" in headers:  # a weak ETag, because the bytes differ from the original
            headers["etag"] = f"W/{headers['etag'].removeprefix('W/')}"
        headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(body))
        headers.add_vary_header("Accept-Encoding")
        return headers, body


# ---- checks


class HostCheck:
    """Refuses requests and connections whose Host header does not name this server."""

    def __init__(self, app: ASGIApp, names: Sequence[str]) -> None:
        self._app = app
        self._names = frozenset(name.lower().rstrip(".") for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_host = scope["type"] in ("http", "websocket")
        if not has_host or self._is_own(Headers(scope=scope).get("host", "")):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose(code=1008)(scope, receive, send)
        else:
            words = (
                "This server is not known by that name. Its owner allows one with: kafkaviz app "
                "--allow-host NAME\n"
            )
            await PlainTextResponse(words, status_code=421)(scope, receive, send)

    def _is_own(self, host: str) -> bool:
        name = host.partition(":")[0]
        if host.startswith("["):
            name = host.partition("]")[0].removeprefix("[")
        return name.lower().rstrip(".") in self._names or _is_address(name)


class FrameGuard:
    """Forbids other sites to show a page in a frame. Hides the server's metrics."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"].endswith(METRICS_PATH):
            await PlainTextResponse("Not found\n", status_code=404)(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(NO_FRAMES)
            await send(message)

        await self._app(scope, receive, send_guarded)


def _is_address(name: str) -> bool:
    """Returns whether the host `name` is an IP address. DNS cannot redirect an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
