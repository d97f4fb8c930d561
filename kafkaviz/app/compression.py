"""Gzip for Streamlit's own scripts and styles, compressed once and kept in memory.

Streamlit serves these files uncompressed. A compressing middleware would compress them again for
each browser. The file names contain a hash of the content, so one result serves every browser.
"""

import asyncio
import gzip
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEVEL = 6  # level 9 takes three times as long and saves 1 % more
SMALLEST_BYTES = 1024
COMPRESSIBLE = ("text/", "application/javascript", "application/json", "image/svg+xml")
FOLDER = "/static/"


class StaticCompression:
    """Answers requests for hashed files with gzip, if the browser accepts it.

    Only answers that are marked as immutable are kept. Streamlit marks only existing files, so the
    cache cannot grow without limit.
    """

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self._answers: dict[str, asyncio.Future[tuple[MutableHeaders, bytes] | None]] = {}

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        answer = await self._answer(scope, receive) if self._may_compress(scope) else None
        if answer is None:
            await self._app(scope, receive, send)
            return
        headers, body = answer
        await send({"type": "http.response.start", "status": 200, "headers": headers.raw})
        await send({"type": "http.response.body", "body": body})

    @staticmethod
    def _may_compress(scope: "Scope") -> bool:
        if scope["type"] != "http" or scope["method"] != "GET" or FOLDER not in scope["path"]:
            return False
        headers = Headers(scope=scope)
        return "gzip" in headers.get("accept-encoding", "") and not (
            {"range", "if-none-match", "if-modified-since"} & set(headers.keys())
        )

    async def _answer(
        self, scope: "Scope", receive: "Receive"
    ) -> tuple[MutableHeaders, bytes] | None:
        """Returns the compressed file, or None if it is not to be compressed.

        Browsers that request the file while it is compressed wait for the result.
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

    async def _compress(
        self, scope: "Scope", receive: "Receive"
    ) -> tuple[MutableHeaders, bytes] | None:
        status = 0
        headers = MutableHeaders()
        parts = []

        async def collect(message: "Message") -> None:
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
