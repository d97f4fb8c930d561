"""Where this session is in a class: its room, its seat or the teacher's chair, and the way there.

The code of the room is in the address, as in the link that learners open. The token that says who
this is stays in the session, and in the browser's session storage for a reload: an address bar on a
projector shows nothing of it.
"""

from dataclasses import dataclass

import streamlit as st

from kafkaviz import messages
from kafkaviz.app.state import page_state
from kafkaviz.app.state.class_room import ClassPosition, ClassRoom, ClassRooms, StepKey
from kafkaviz.app.state.lesson_step import address_step, open_step

ROOMS = ClassRooms()  # of this server


@dataclass(frozen=True)
class Attendance:
    """This session in a class: at a seat, or as its teacher."""

    room: ClassRoom
    token: str
    is_teacher: bool

    @property
    def is_with_teacher(self) -> bool:
        """Whether the page shows the step of the class."""
        return self.is_teacher or address_step() == self.room.position.step


def code() -> str:
    """The code that the address has, "" where it has none."""
    return st.query_params.get(page_state.CLASS, "")


def current() -> Attendance | None:
    """The class that this session attends; None where it is at no seat of the room, or none."""
    room = ROOMS.find(code()) if code() else None
    if room is None:
        return None
    token = _tokens().get(room.code, "")
    if token and room.is_teacher(token):
        room.hear_teacher()
        return Attendance(room, token, is_teacher=True)
    return Attendance(room, token, is_teacher=False) if room.seat(token) else None


def join_query(code: str, language: str) -> dict[str, str]:
    """The address parameters of a link into a class; of English nothing is said."""
    spoken = {} if language == messages.ENGLISH else {page_state.LANGUAGE: language}
    return {page_state.CLASS: code} | spoken


def enter(room: ClassRoom, token: str) -> None:
    """Attends a class from now on, as whom the token says."""
    st.query_params[page_state.CLASS] = room.code
    st.session_state[page_state.CLASS_TOKENS] = _tokens() | {room.code: token}
    st.session_state.pop(page_state.CLASS_STEP, None)


def leave() -> None:
    """Goes on alone; the seat is given back."""
    attendance = current()
    if attendance is not None and not attendance.is_teacher:
        attendance.room.leave(attendance.token)
    st.session_state.pop(page_state.CLASS_TOKENS, None)
    st.session_state.pop(page_state.CLASS_STEP, None)
    st.query_params.pop(page_state.CLASS, None)


def follow() -> None:
    """Puts the step of the class into the address, for who is with the teacher.

    Who went elsewhere stays there: an address that the class did not lead to is their own, and so
    is the glossary. Of a teacher with two windows one follows the other so.
    """
    attendance = current()
    if attendance is None:
        return
    position = attendance.room.position
    st.session_state[page_state.CLASS_REVISION] = position.revision
    step, at = position.step, address_step()
    last = st.session_state.get(page_state.CLASS_STEP)
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
    """To the step of the class."""
    attendance = current()
    if attendance is not None:
        _go_to(attendance.room.position)


def _go_to(position: ClassPosition) -> None:
    if position.step is None:
        return
    if address_step() != position.step or is_aside():
        open_step(*position.step)
    if position.track:
        st.query_params[page_state.TRACK] = position.track
    else:
        st.query_params.pop(page_state.TRACK, None)
    st.session_state[page_state.CLASS_STEP] = position.step


def lead(step: StepKey) -> None:
    """Shows a step to the class, if this session is its teacher's."""
    attendance = current()
    if attendance is not None and attendance.is_teacher:
        position = attendance.room.show(step, st.query_params.get(page_state.TRACK, ""))
        st.session_state[page_state.CLASS_STEP] = step
        st.session_state[page_state.CLASS_REVISION] = position.revision


def is_aside() -> bool:
    """Whether the page shows something in the place of a step."""
    return any(st.query_params.get(name) for name in page_state.ASIDE)


def is_teacher() -> bool:
    """Whether this session teaches."""
    attendance = current()
    return attendance is not None and attendance.is_teacher


def is_learner() -> bool:
    """Whether this session is at a seat."""
    attendance = current()
    return attendance is not None and not attendance.is_teacher


def is_revealed(step: StepKey) -> bool | None:
    """Whether the class has seen the answers of a step; None where that is nothing to this session.

    To a learner it is of the class's step alone: elsewhere an answer reveals itself, as without a
    class.
    """
    attendance = current()
    if attendance is None or not (attendance.is_teacher or attendance.room.position.step == step):
        return None
    return attendance.room.is_revealed(step)


def record_answer(step: StepKey, answer: str) -> None:
    """Tells the class an answer of this session: a letter, or that a task is solved."""
    attendance = current()
    if attendance is not None and not attendance.is_teacher:
        attendance.room.answer(attendance.token, step, answer)


def record_failure(step: StepKey, text: str) -> None:
    """Tells the class of a wrong answer to a task."""
    attendance = current()
    if attendance is not None and not attendance.is_teacher:
        attendance.room.fail(attendance.token, step, text)


def _tokens() -> dict[str, str]:
    return st.session_state.get(page_state.CLASS_TOKENS, {})
