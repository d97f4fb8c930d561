"""Long polling for classes: a request is answered as soon as the class moves on.

Polling every second would run the page's script each time and still be half a second late. A
waiting request costs next to nothing.

    GET /_kafkaviz/class?code=KQ7R&revision=3     {"revision": 4}, or 3 after WAIT_S
    X-Class-Token: the token of a seat in the room, or the teacher's

Without such a token the answer is {"revision": -1} at once. If MAX_WAITS requests of a token are
waiting already, the status is 429.
"""

import asyncio
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from starlette.requests import Request
from starlette.responses import JSONResponse

from kafkaviz.workshop.classroom.class_seat import ROOMS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/_kafkaviz/class"
TOKEN_HEADER = "x-class-token"
WAIT_S = 15.0
MAX_WAITS = 8  # per token: a browser tab has one, and a second one while it reloads
NO_CLASS = -1  # the revision of a closed room, and the answer to a token without a seat in the room


class ClassFeed:
    """Answers requests for PATH and passes all others to the application.

    Attributes:
        is_served: whether this process answers them. Under Streamlit's own command it does not.
    """

    is_served: ClassVar[bool] = False

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self._waits: Counter[str] = Counter()  # waiting requests per token
        ClassFeed.is_served = True

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or not scope["path"].endswith(PATH):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        response = await self._answer(
            request.query_params.get("code", ""),
            request.headers.get(TOKEN_HEADER, ""),
            request.query_params.get("revision", ""),
        )
        await response(scope, receive, send)

    async def _answer(self, code: str, token: str, known: str) -> JSONResponse:
        """Answers with the next revision, or with 429 if too many requests of the token wait."""
        if self._waits[token] >= MAX_WAITS:
            return JSONResponse({"waits": MAX_WAITS}, status_code=429)
        self._waits[token] += 1
        try:
            revision = await _next_revision(code, token, known)
        finally:
            self._waits[token] -= 1
            if not self._waits[token]:
                del self._waits[token]
        return JSONResponse({"revision": revision}, headers={"Cache-Control": "no-store"})


async def _next_revision(code: str, token: str, known: str) -> int:
    """Returns the revision of a room once it differs from the known one, or after WAIT_S."""
    room = ROOMS.find(code)
    if room is None or not (room.is_teacher(token) or room.seat(token)):
        return NO_CLASS
    loop = asyncio.get_running_loop()
    has_moved = asyncio.Event()
    with room.watched(lambda: loop.call_soon_threadsafe(has_moved.set)):
        if str(room.position.revision) == known:
            with suppress(TimeoutError):
                await asyncio.wait_for(has_moved.wait(), WAIT_S)
    return NO_CLASS if room.is_closed else room.position.revision
