"""The widgets of a class: the join button, the controls above a step, and the answer counts.

The teacher's page reads the room once per second. A learner's browser waits for the next revision
of the room (class_seat.ClassFeed). A new revision reruns only two fragments of the page (PARTS).
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st
from streamlit.errors import StreamlitAPIException

from kafkaviz import workshop
from kafkaviz.app import access
from kafkaviz.app.frontend import register_component
from kafkaviz.app.widgets import elements
from kafkaviz.html import Html, tag
from kafkaviz.messages import language, say, say_count
from kafkaviz.render.sentences import describe_error
from kafkaviz.workshop import class_seat, class_start
from kafkaviz.workshop.class_room import ClassFull, ClassRoom, StepKey, StuckSeat, clean_code
from kafkaviz.workshop.class_seat import ROOMS, Attendance, ClassFeed
from kafkaviz.workshop.lesson_state import LessonPosition

CSS = Path(__file__).with_suffix(".css")
POLL_S = 1.0  # how often the teacher's page is updated from the room
PARTS = ("kv_class_crumb", "kv_class_body")  # keys of the fragments that show the current step
MAX_STUCK_SHOWN = 4
COMMAND = "kafkaviz app --class"
# Held while a part of a learner's page is drawn. Twenty threads that draw at once pass Python's
# lock to each other at every message, and take twice the CPU time of twenty threads in sequence.
_drawing_lock = threading.Lock()
_class_link = register_component("class_link", "hidden")


def render_part(key: str, render: Callable[[], None]) -> None:
    """Draws a part of the page; `key` is in PARTS. For a learner, the part can rerun alone."""
    if class_seat.is_learner():
        st.fragment(partial(_run_part, render), key=key)()
    else:
        render()


def _run_part(render: Callable[[], None]) -> None:
    """Draws a part of a learner's page. Meanwhile the parts of other learners wait."""
    if class_seat.current() is None:  # the session has left the class
        st.rerun()  # the whole page
    with _drawing_lock:
        render()


def rerun_outdated_page(lesson: str, track: str) -> None:
    """Reruns a learner's page if it was drawn for another lesson or track, or shows no step.

    For example, the glossary is not a step.
    """
    if class_seat.is_learner() and (
        st.session_state.get(workshop.CLASS_PICKER) != lesson
        or st.session_state.get(workshop.CLASS_PICKER_TRACK) != track
        or class_seat.is_aside()
    ):
        st.rerun()


def _rerun_parts() -> None:
    if class_seat.is_learner():
        with suppress(StreamlitAPIException):  # the printed form has no fragments
            st.rerun(PARTS)


def render_button() -> None:
    """Draws the popover to join or teach a class; nothing if the address already names a class."""
    if class_seat.code():
        return
    # the key stays the same, because under a new key the popover would be closed
    with st.popover(
        say("class.title"),
        icon=":material/groups:",
        type="tertiary",
        key="kv_class_way_in",
        help=say("class.title_help"),
    ):
        st.markdown(say("class.join_words"))
        with st.container(horizontal=True, vertical_alignment="bottom", gap=8):
            st.text_input(
                say("class.code"), key="kv_class_code", max_chars=12, on_change=_join, width=140
            )
            st.button(say("class.join"), key="kv_class_join", on_click=_join)
        if note := st.session_state.pop(workshop.CLASS_NOTE, None):
            st.html(tag("p", note, class_="kv-class-note", role="alert"))
        if not access.may_open_class():
            return
        st.divider()
        if not ClassFeed.is_served:
            st.markdown(say("class.no_feed", command="`kafkaviz app`"))
            return
        st.markdown(say("class.teach_words"))
        st.button(say("class.teach"), key="kv_class_teach", on_click=_teach)


def _join() -> None:
    text = clean_code(st.session_state.get("kv_class_code", ""))
    # If a code is typed and the button is pressed next, this is called twice in one run.
    if not text or class_seat.current() is not None:
        return
    if ROOMS.find(text) is None:
        st.session_state[workshop.CLASS_NOTE] = say("class.no_such_code", code=text)
        return
    st.query_params[workshop.CLASS] = text
    _take_seat()


def _teach() -> None:
    try:
        room = ROOMS.open()
    except ClassFull as fault:
        st.session_state[workshop.CLASS_NOTE] = describe_error(fault)
        return
    class_seat.enter(room, room.secret)


def _take_seat() -> None:
    room = ROOMS.find(class_seat.code())
    if room is None:
        return
    try:
        class_seat.enter(room, room.take_seat().token)
    except ClassFull as fault:
        st.session_state[workshop.CLASS_NOTE] = describe_error(fault)


def render_strip(position: LessonPosition) -> None:
    """Draws the class controls above a step, for teacher, learner, or someone not in the class."""
    code = class_seat.code()
    if not code:
        return
    attendance = class_seat.current()
    room = attendance.room if attendance else ROOMS.find(code)
    with st.container(key="kv_class_strip", horizontal=True, vertical_alignment="center", gap=8):
        if room is None:
            title = say("class.no_such_code", code=clean_code(code)[:12])
            _say_status(title, say("class.gone_words"))
            st.button(say("class.alone"), key="kv_class_leave", on_click=class_seat.leave)
        elif attendance is None:
            _visitor(room)
        elif attendance.is_teacher:
            _teacher(attendance, position)
        else:
            _learner(attendance, position)


def render_link() -> None:
    """Connects the browser to the workshop class in the page's address. Draws nothing visible.

    The browser stores the seat's token and sends it again after a reload. A learner's browser also
    waits for the next step of the class and then requests a rerun.
    """
    code = clean_code(class_seat.code())
    if not code:
        return
    attendance = class_seat.current()
    data = {
        "code": code,
        "token": attendance.token if attendance else "",
        "revision": st.session_state.get(workshop.CLASS_REVISION, 0),
        "listens": attendance is not None and not attendance.is_teacher,
    }

    def enter() -> None:
        token = str((st.session_state.get("kv_class_link") or {}).get("token") or "")
        room = ROOMS.find(code)
        if room is not None and token and (room.is_teacher(token) or room.seat(token)):
            class_seat.enter(room, token)

    _class_link(
        key="kv_class_link",
        data=data,
        on_token_change=enter,
        on_revision_change=_rerun_parts,
        width="content",
    )


def _visitor(room: ClassRoom) -> None:
    note = st.session_state.pop(workshop.CLASS_NOTE, "")
    _say_status(say("class.label", code=room.code), note or say("class.take_seat_words"))
    st.button(say("class.take_seat"), type="primary", key="kv_class_seat", on_click=_take_seat)
    st.button(say("class.alone"), type="tertiary", key="kv_class_leave", on_click=class_seat.leave)


def _say_status(title: str, text: str, help_text: str = "") -> None:
    parts = [tag("b", title), tag("span", text)]
    if help_text:
        mark = elements.severity("warning")
        parts.append(tag("span", mark, help_text, class_="kv-class-stuck", role="status"))
    st.html(tag("div", *parts, class_="kv-class"))


def _learner(attendance: Attendance, position: LessonPosition) -> None:
    seat = attendance.room.seat(attendance.token)
    if seat is None:
        return
    _learner_status(attendance, position, seat.number)
    if not attendance.is_with_teacher and attendance.room.position.step is not None:
        st.button(
            say("class.back"),
            type="primary",
            key="kv_class_back",
            icon=":material/keyboard_return:",
            on_click=class_seat.return_to_class,
        )
    st.button(
        say("class.not_stuck" if seat.has_raised_hand else "class.stuck"),
        type="tertiary",
        icon=f":material/{'front_hand' if not seat.has_raised_hand else 'check'}:",
        key="kv_class_stuck",
        on_click=_toggle_hand,
    )
    st.button(say("class.leave"), type="tertiary", key="kv_class_leave", on_click=class_seat.leave)


def _toggle_hand() -> None:
    attendance = class_seat.current()
    seat = attendance.room.seat(attendance.token) if attendance else None
    if attendance and seat:
        attendance.room.raise_hand(attendance.token, is_raised=not seat.has_raised_hand)


def _learner_status(attendance: Attendance, position: LessonPosition, number: int) -> None:
    room = attendance.room
    place = "class.with_teacher" if attendance.is_with_teacher else "class.elsewhere"
    if room.position.step is None:
        place = "class.waiting"
    words = [say("class.your_seat", number=number), say(place)]
    if attendance.is_with_teacher and room.is_revealed(position.step_key):
        words.append(say("class.revealed"))
    _say_status(say("class.label", code=room.code), " · ".join(words))


def _progress_texts(room: ClassRoom, position: LessonPosition) -> list[str]:
    tally = room.tally(position.step_key)
    if room.is_revealed(position.step_key):
        return [say("class.revealed")]
    words = []
    if position.step.blocks("predict"):
        words.append(say("class.answered", count=tally.chosen, seats=tally.seats))
    if position.step.blocks("exercise"):
        words.append(say("class.solved", count=tally.solved, seats=tally.seats))
    return words


def _teacher(attendance: Attendance, position: LessonPosition) -> None:
    room = attendance.room
    _teacher_status(position)
    if position.step.blocks("predict", "exercise") and not room.is_revealed(position.step_key):
        st.button(
            say("class.reveal"),
            type="primary",
            key="kv_class_reveal",
            icon=":material/visibility:",
            help=say("class.reveal_help"),
            on_click=room.reveal,
            args=(position.step_key,),
        )
        if position.step.blocks("predict"):
            st.toggle(
                say("class.bars"), value=True, key="kv_class_bars", help=say("class.bars_help")
            )
    if st.button(
        say("class.show_code"), type="tertiary", icon=":material/qr_code_2:", key="kv_class_show"
    ):
        st.dialog(say("class.label", code=room.code))(_code_dialog)(room.code)
    with st.popover(say("class.end"), type="tertiary", key="kv_class_end"):
        count = room.tally(position.step_key).seats
        ask = say_count("class.end_asks", count, count=count) if count else ""
        st.markdown(ask or say("class.end_asks_nobody"))
        st.button(say("class.end"), key="kv_class_end_now", on_click=_end)


def _end() -> None:
    attendance = class_seat.current()
    if attendance is not None and attendance.is_teacher:
        ROOMS.close(attendance.room)
    class_seat.leave()


@st.fragment(run_every=POLL_S)
def _teacher_status(position: LessonPosition) -> None:
    attendance = class_seat.current()
    if attendance is None or attendance.room.position.revision != st.session_state.get(
        workshop.CLASS_REVISION
    ):
        st.rerun()
    room = attendance.room
    seats = room.tally(position.step_key).seats
    words = [say("class.nobody")]
    if seats:
        words = [say_count("class.seats", seats, count=seats), *_progress_texts(room, position)]
    stuck = room.stuck_seats(
        has_question=bool(position.step.blocks("predict")),
        has_task=bool(position.step.blocks("exercise")),
    )
    _say_status(say("class.label", code=room.code), " · ".join(words), _stuck_text(stuck))


def _stuck_text(stuck: Sequence[StuckSeat]) -> str:
    texts = [
        say(f"class.stuck_{seat.reason.value}", number=seat.number, tries=seat.tries)
        for seat in stuck[:MAX_STUCK_SHOWN]
    ]
    if len(stuck) > MAX_STUCK_SHOWN:
        texts.append(say("class.stuck_more", count=len(stuck) - MAX_STUCK_SHOWN))
    return " · ".join(texts)


def _code_dialog(code: str) -> None:
    st.html(tag("div", code, class_="kv-class-code"))
    addresses = join_addresses(code)
    if not addresses:
        st.markdown(say("class.code_alone", command=f"`{COMMAND}`"))
        return
    st.markdown(say("class.code_words"))
    for address in addresses:
        st.code(address, language=None, wrap_lines=True)
    alt = say("class.qr", address=addresses[0])
    st.html(tag("img", class_="kv-class-qr", alt=alt, src=class_start.qr_uri(addresses[0])))


def join_addresses(code: str) -> list[str]:
    """Returns the links that learners can open; [] if other machines cannot reach the server."""
    url = urlsplit(st.context.url or "")
    query = urlencode(class_seat.join_query(code, language()))
    if url.hostname and not access.is_own_machine(url.hostname):
        return [urlunsplit((url.scheme, url.netloc, url.path, query, ""))]
    if not access.is_reached_by_others():
        return []
    port = f":{url.port}" if url.port else ""
    return [
        urlunsplit((url.scheme, f"{address}{port}", url.path, query, ""))
        for address in class_start.reachable_addresses(st.get_option("server.address") or "")
    ]


def render_bars(step: StepKey, letters: Sequence[str]) -> None:
    """Draws the shares of learners per answer. Before the reveal, only the teacher sees them."""
    attendance = class_seat.current()
    if attendance is None:
        return
    if attendance.room.is_revealed(step):
        _render_counts(attendance.room, step, letters)
    elif attendance.is_teacher and st.session_state.get("kv_class_bars", True):
        _render_live_counts(step, letters)


@st.fragment(run_every=POLL_S)
def _render_live_counts(step: StepKey, letters: Sequence[str]) -> None:
    attendance = class_seat.current()
    if attendance is not None:
        _render_counts(attendance.room, step, letters)


def _render_counts(room: ClassRoom, step: StepKey, letters: Sequence[str]) -> None:
    """Draws CSS bars on the answer buttons, and a list of counts for screen readers."""
    tally = room.tally(step)
    counts = [tally.letters.get(letter, 0) for letter in letters]
    shares = [count / max(tally.chosen, 1) for count in counts]
    rules = "".join(
        f".stApp .st-key-kv_choice_{index} {{ --kv-share: {share:.1%}; --kv-count: '{count}'; }}"
        for index, (count, share) in enumerate(zip(counts, shares, strict=True))
    )
    items = (
        tag("li", say("class.count_of", letter=letter.upper(), count=count))
        for letter, count in zip(letters, counts, strict=True)
    )
    counts_list = tag("ul", *items, aria_label=say("class.counts"))
    st.html(tag("div", counts_list, tag("style", Html(rules)), class_="kv-class-counts"))


def question_hint(step: StepKey, *, is_chosen: bool) -> str | None:
    """Returns the hint below a question of a class; None outside a class."""
    if class_seat.is_revealed(step) is None:
        return None
    if class_seat.is_teacher():
        return say("class.choose_teacher")
    return say("class.will_reveal" if is_chosen else "class.choose")
