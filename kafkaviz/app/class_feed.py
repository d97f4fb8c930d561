"""Tells the browsers of a class at once that it goes on: a request that is answered when it does.

A page that asked each second would cost a run of its script each time, and would still be late by
half a second. Such a request waits, and costs next to nothing meanwhile.

    GET /_kafkaviz/class?code=KQ7R&revision=3     {"revision": 4}, or 3 after WAIT_S
    X-Class-Token: of a seat of the room, or the teacher's; without one the answer is -1 at once,
                   and 429 where MAX_WAITS requests of it are waiting
"""

import asyncio
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from starlette.requests import Request
from starlette.responses import JSONResponse

from kafkaviz.app.state.class_seat import ROOMS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/_kafkaviz/class"
TOKEN_HEADER = "x-class-token"
WAIT_S = 15.0
MAX_WAITS = 8  # of one token at a time: a tab has one, and one more while it is loaded anew
NO_CLASS = -1  # the revision of a room that is over, or where this token is at no seat


class ClassFeed:
    """Answers requests for PATH; all others are the application's.

    Attributes:
        is_served: whether this process serves one: Streamlit's own command does not.
    """

    is_served: ClassVar[bool] = False

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self._waits: Counter[str] = Counter()  # requests of each token that wait now
        ClassFeed.is_served = True

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """One request, or one connection."""
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
        """The revision when it is another, or at once that this token waits often enough."""
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
    """The revision of a room as soon as it is not the known one, or after WAIT_S."""
    room = ROOMS.find(code)
    if room is None or not (room.is_teacher(token) or room.seat(token)):
        return NO_CLASS
    loop, has_moved = asyncio.get_running_loop(), asyncio.Event()
    with room.watched(lambda: loop.call_soon_threadsafe(has_moved.set)):
        if str(room.position.revision) == known:
            with suppress(TimeoutError):
                await asyncio.wait_for(has_moved.wait(), WAIT_S)
    return NO_CLASS if room.is_closed else room.position.revision
