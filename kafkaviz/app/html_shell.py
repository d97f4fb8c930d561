"""Streamlit's HTML page, extended by the stylesheet and a skeleton.

The skeleton is visible until Streamlit's scripts have drawn something. The stylesheet is part of
the HTML, because Streamlit would send it again with every run.
"""

import gzip
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders

from kafkaviz.app.compression import LEVEL
from kafkaviz.app.frontend import read_svg
from kafkaviz.app.widgets import elements
from kafkaviz.figures import tokens
from kafkaviz.html import Html, tag

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

STREAMLIT_FILES = Path(st.__file__).parent / "static"
APP_FOLDER = Path(__file__).parent
FRONTEND_FOLDER = APP_FOLDER / "frontend"
LARGE_SCRIPTS = ("PlotlyChart", "DataFrame")  # scripts of charts and of tables
ROUTES = ("/_stcore/", "/media/", "/component/")
ROOT = b'<div id="root">'  # the element that Streamlit draws into
# Request headers that are not passed on. The first two would let Streamlit answer that the
# browser's cached copy is current, although its stylesheet may be old. The third would let
# Streamlit compress the page, which then could not be extended.
LEFT_OUT = (b"if-none-match", b"if-modified-since", b"accept-encoding")


@cache
def stylesheet() -> str:
    """Returns the app's CSS: design tokens, severity icons, and rules config.toml lacks."""
    marks = (
        f'--kv-mark-{name}: url("data:image/svg+xml,{quote(read_svg(name).strip())}");'
        for name in elements.SEVERITIES
    )
    rules = (
        (APP_FOLDER / name).read_text(encoding="utf-8")
        for name in ("look.css", "narrow.css", "paper.css")
    )
    return f"{tokens.STYLESHEET}:root {{ {' '.join(marks)} }}\n{''.join(rules)}"


class HtmlShell:
    """Adds the stylesheet and a skeleton to the HTML that Streamlit serves for every page."""

    # if False, as under `streamlit run`, each run sends the stylesheet
    in_use: ClassVar = False

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        HtmlShell.in_use = True

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or not _is_page(scope["path"]):
            await self._app(scope, receive, send)
            return
        takes_gzip = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        headers = [header for header in scope["headers"] if header[0] not in LEFT_OUT]
        start: Message = {}
        parts: list[bytes] = []

        async def send_filled(message: "Message") -> None:
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


async def _send_page(start: "Message", body: bytes, send: "Send", *, takes_gzip: bool) -> None:
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
    """Returns the extended page, or the page unchanged if it has no ROOT element.

    The addition is inserted before ROOT. There it overrides Streamlit's CSS rules in the head, and
    pages can override it.
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
