"""This session's part in a class: its room, its seat or teacher's role, and its current step.

The address contains the room's code, as in the link that learners open. The seat's token is kept
in the session and, for reloads, in the browser's session storage. The token is not in the address,
so that a projector does not show it.
"""

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse

from kafkaviz import messages, workshop
from kafkaviz.app import page_state
from kafkaviz.workshop import address_step, open_step, set_parameter
from kafkaviz.workshop.class_room import ClassPosition, ClassRoom, ClassRooms, StepKey

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
ROOMS = ClassRooms()  # the rooms of this server


@dataclass(frozen=True)
class Attendance:
    """This session's part in a class, as learner or teacher."""

    room: ClassRoom
    token: str
    is_teacher: bool

    @property
    def is_with_teacher(self) -> bool:
        """Returns whether this page shows the teacher's step."""
        return self.is_teacher or address_step() == self.room.position.step


def code() -> str:
    return st.query_params.get(workshop.CLASS, "")


def current() -> Attendance | None:
    """Returns how this session takes part in the class that the URL names. None: not at all."""
    room = ROOMS.find(code()) if code() else None
    if room is None:
        return None
    token = _tokens().get(room.code, "")
    if token and room.is_teacher(token):
        room.heartbeat()
        return Attendance(room, token, is_teacher=True)
    return Attendance(room, token, is_teacher=False) if room.seat(token) else None


def join_query(code: str, language: str) -> dict[str, str]:
    """Returns the URL parameters of a link that joins a class. English needs no parameter."""
    spoken = {} if language == messages.ENGLISH else {page_state.LANGUAGE: language}
    return {workshop.CLASS: code} | spoken


def enter(room: ClassRoom, token: str) -> None:
    """Makes this session attend a class. `token` is a seat's token, or the teacher's secret."""
    st.query_params[workshop.CLASS] = room.code
    st.session_state[workshop.CLASS_TOKENS] = _tokens() | {room.code: token}
    st.session_state.pop(workshop.CLASS_STEP, None)


def leave() -> None:
    if learner := _learner():
        learner.room.leave(learner.token)
    st.session_state.pop(workshop.CLASS_TOKENS, None)
    st.session_state.pop(workshop.CLASS_STEP, None)
    st.query_params.pop(workshop.CLASS, None)


def follow() -> None:
    """Moves this page to the teacher's step if this session follows the class.

    A learner who opens another step or the glossary stops following, until the learner returns to
    the class. With two teacher windows, each window follows the other.
    """
    attendance = current()
    if attendance is None:
        return
    position = attendance.room.position
    st.session_state[workshop.CLASS_REVISION] = position.revision
    step = position.step
    at = address_step()
    last = st.session_state.get(workshop.CLASS_STEP)
    if step is None or is_aside():
        return
    is_led = at is None or at == last
    if attendance.is_teacher:
        is_led &= at != step
    else:
        is_led |= last is None or at == step
    if is_led:
        _go_to(position)


def return_to_class() -> None:
    attendance = current()
    if attendance is not None:
        _go_to(attendance.room.position)


def _go_to(position: ClassPosition) -> None:
    if position.step is None:
        return
    if address_step() != position.step or is_aside():
        open_step(*position.step)
    set_parameter(workshop.TRACK, position.track)
    st.session_state[workshop.CLASS_STEP] = position.step


def lead(step: StepKey) -> None:
    """Shows a step to the class if this session is the teacher's."""
    attendance = current()
    if attendance is not None and attendance.is_teacher:
        position = attendance.room.show(step, st.query_params.get(workshop.TRACK, ""))
        st.session_state[workshop.CLASS_STEP] = step
        st.session_state[workshop.CLASS_REVISION] = position.revision


def is_aside() -> bool:
    """Returns whether this page shows something other than a step, such as the glossary."""
    return any(st.query_params.get(name) for name in workshop.ASIDE)


def is_teacher() -> bool:
    attendance = current()
    return attendance is not None and attendance.is_teacher


def is_learner() -> bool:
    return _learner() is not None


def _learner() -> Attendance | None:
    attendance = current()
    return None if attendance is None or attendance.is_teacher else attendance


def is_revealed(step: StepKey) -> bool | None:
    """Returns whether the teacher has revealed the answers of a step.

    Returns None outside a class. Also returns None for a learner if the class is at another step.
    If the result is None, the page shows the right answer as soon as the reader has answered.
    """
    attendance = current()
    if attendance is None or not (attendance.is_teacher or attendance.room.position.step == step):
        return None
    return attendance.room.is_revealed(step)


def record_answer(step: StepKey, answer: str) -> None:
    """Stores this learner's answer in the room: a letter, or SOLVED for a task."""
    if learner := _learner():
        learner.room.answer(learner.token, step, answer)


def record_failure(step: StepKey, text: str) -> None:
    if learner := _learner():
        learner.room.fail(learner.token, step, text)


def _tokens() -> dict[str, str]:
    return st.session_state.get(workshop.CLASS_TOKENS, {})


PATH = "/_kafkaviz/class"
TOKEN_HEADER = "x-class-token"
WAIT_S = 15.0
MAX_WAITS = 8  # waiting requests per token; a browser tab has one, or two during a reload
NO_CLASS = -1  # the answer if the room is closed or the token has no seat in it


class ClassFeed:
    """ASGI middleware that answers browsers' requests for the next revision of a room."""

    is_served: ClassVar[bool] = False  # whether this process has it; False under `streamlit run`

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self._waits: Counter[str] = Counter()  # waiting requests per token
        ClassFeed.is_served = True

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or not scope["path"].endswith(PATH):
            await self._app(scope, receive, send)
            return
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> JSONResponse:
        """Returns the next revision; HTTP 429 if MAX_WAITS requests with this token are waiting."""
        token = request.headers.get(TOKEN_HEADER, "")
        if self._waits[token] >= MAX_WAITS:
            return JSONResponse({"waits": MAX_WAITS}, status_code=429)
        self._waits[token] += 1
        try:
            query = request.query_params
            revision = await _next_revision(query.get("code", ""), token, query.get("revision", ""))
        finally:
            self._waits[token] -= 1
            if not self._waits[token]:
                del self._waits[token]
        return JSONResponse({"revision": revision}, headers={"Cache-Control": "no-store"})


async def _next_revision(code: str, token: str, known: str) -> int:
    """Returns the room's revision once it differs from `known`, or after WAIT_S seconds."""
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
