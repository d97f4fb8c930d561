"""Streamlit's HTML page with what a reader would else wait for.

That is the look, and a skeleton until Streamlit's scripts have drawn something. Streamlit sends a
page's elements again with each run: a stylesheet that is in the HTML is sent once, and is there
before anything is drawn.
"""

import gzip
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders

from kafkaviz.app import streamlit_scripts
from kafkaviz.app.compression import LEVEL
from kafkaviz.app.widgets import elements
from kafkaviz.figures import tokens

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

APP_FOLDER = Path(__file__).parent
FRONTEND_FOLDER = APP_FOLDER / "frontend"
ROUTES = ("/_stcore/", "/media/", "/component/")
ROOT = b'<div id="root">'  # where Streamlit draws
CHART_PAGES = ("/", "/rolls", "/tuning")  # which begin with a chart
# of a request: a browser's copy may be of another version of the look, which Streamlit cannot know;
# and what is compressed cannot be filled
LEFT_OUT = (b"if-none-match", b"if-modified-since", b"accept-encoding")


@cache
def stylesheet() -> str:
    """The tokens, the marks of the severities, and the rules that config.toml cannot say."""
    marks = (
        f'--kv-mark-{name}: url("data:image/svg+xml,{quote(_read_svg(name))}");'
        for name in elements.SEVERITIES
    )
    rules = (
        (APP_FOLDER / name).read_text(encoding="utf-8")
        for name in ("look.css", "narrow.css", "paper.css")
    )
    return f"{tokens.STYLESHEET}:root {{ {' '.join(marks)} }}\n{''.join(rules)}"


def _read_svg(name: str) -> str:
    return (APP_FOLDER / "art" / f"{name}.svg").read_text(encoding="utf-8").strip()


class IndexPage:
    """Puts the look and a skeleton into Streamlit's HTML page, whichever page's address it has.

    A page that begins with a chart lets the browser fetch the script that draws it, its largest,
    while the page is worked out: Streamlit asks for it only when the chart arrives.
    """

    in_use: ClassVar = False  # else, under Streamlit's own command, each run sends the look

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        IndexPage.in_use = True

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """One request, or one connection."""
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
                body = fill(b"".join(parts), begins_with_chart=scope["path"] in CHART_PAGES)
                await _send_page(start, body, send, takes_gzip=takes_gzip)
                return
            await send(message)

        await self._app({**scope, "headers": headers}, receive, send_filled)


def _is_page(path: str) -> bool:
    """Whether this is the address of a page: of no file, and of none of Streamlit's own routes."""
    return "." not in path.rpartition("/")[2] and not any(route in path for route in ROUTES)


async def _send_page(start: "Message", body: bytes, send: "Send", *, takes_gzip: bool) -> None:
    headers = MutableHeaders(scope=start)
    for name in ("etag", "last-modified"):  # of Streamlit's own file
        if name in headers:
            del headers[name]
    headers.add_vary_header("Accept-Encoding")
    if takes_gzip:
        body = gzip.compress(body, LEVEL, mtime=0)
        headers["content-encoding"] = "gzip"
    headers["content-length"] = str(len(body))
    await send(start)
    await send({"type": "http.response.body", "body": body})


def fill(html: bytes, *, begins_with_chart: bool) -> bytes:
    """The page with all of it; as it was where it has no place for what Streamlit draws.

    Of two rules of one weight the later one holds: Streamlit puts its own into the head, and pages
    send theirs into that place.
    """
    return html.replace(ROOT, _look(begins_with_chart=begins_with_chart) + ROOT, 1)


@cache
def _look(*, begins_with_chart: bool) -> bytes:
    """The style, the skeleton and its script."""
    style, markup = (
        (FRONTEND_FOLDER / f"index_page.{kind}").read_text(encoding="utf-8")
        for kind in ("css", "html")
    )
    script = (FRONTEND_FOLDER / "bundles" / "index_page.js").read_text(encoding="utf-8")
    charts, tables = (
        streamlit_scripts.script_paths([name])
        for name in (streamlit_scripts.CHART, streamlit_scripts.TABLE)
    )
    preloads = [f'<link rel="modulepreload" crossorigin href="./{path}">' for path in charts]
    names = " ".join(Path(path).name for path in (*charts, *tables))
    data = f'data-scripts="{escape(names)}"' + (" data-charts" if begins_with_chart else "")
    return "\n".join(
        (
            *(preloads if begins_with_chart else ()),
            f"<style>{stylesheet()}{style}</style>",
            markup.replace('id="kv-wait"', f'id="kv-wait" {data}', 1),
            f'<script type="module" async>{script}</script>\n',
        )
    ).encode()
