"""The Workshop page: lessons about Kafka's files."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import streamlit as st

from kafkaviz import messages, workshop
from kafkaviz.app import page_state
from kafkaviz.app.frame import frame
from kafkaviz.app.frontend import register_component
from kafkaviz.app.registry import PAGES
from kafkaviz.app.scheduling import in_turn
from kafkaviz.app.state import session_language
from kafkaviz.app.widgets import elements, projector
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.app.widgets.tables import table
from kafkaviz.html import join, tag, worded
from kafkaviz.messages import say
from kafkaviz.workshop import class_bar, class_room, class_seat, lesson_state, open_step
from kafkaviz.workshop import lessons as lesson_files
from kafkaviz.workshop.figures.figure import render
from kafkaviz.workshop.lesson_state import LessonPosition
from kafkaviz.workshop.lessons.glossary import TERMS, GlossaryTerm, find_term
from kafkaviz.workshop.lessons.grammar import SHORT, Lesson, LessonFault
from kafkaviz.workshop.step import (
    lesson_head,
    render_back,
    render_downloads,
    render_lab,
    render_next,
    render_step,
)
from kafkaviz.workshop.takeaway.handouts import notes, render_handout
from kafkaviz.workshop.takeaway.page_file import inline_html

CSS = Path(__file__).with_name("workshop.css")
FOLLOWER = "kv_follow"
_notes_button = register_component("notes_button", "small_button")
_follower = register_component("follow", "hidden")
_clock = register_component("session_clock")


@in_turn
def render_page() -> None:
    """Draws a step, a lab, the end page, the glossary, a hand-out, or a notice."""
    lesson_state.restore_address()
    class_seat.follow()
    lessons, faults = lesson_files.lessons(session_language.language())
    position = lesson_state.current_position(lessons) if lessons else None
    crumbs = partial(_render_crumbs, lessons, position)
    location = frame("Workshop", crumbs, partial(_render_tools, position))
    apply_print_style()
    elements.draw_style(_stylesheet())
    _render_faults(faults)
    has_notes = bool(st.query_params.get(workshop.NOTES))
    if position is None:
        lead = say("workshop.no_lessons_below")
        elements.empty("lessons", say("workshop.no_lessons"), lead, level=1)
    elif st.query_params.get(workshop.WORD):
        render_glossary({lesson.name: lesson.title for lesson in lessons}, location.address)
    elif st.query_params.get(page_state.PAPER):
        render_handout(position, lesson_state.lesson_count(lessons), is_teacher=has_notes)
    elif st.query_params.get(workshop.END):
        render_end(lessons, position)
    else:
        lab_block = lesson_state.lab_block(position.lesson)
        # a lab is not a fragment, so that other learners need not wait for it
        if lab_block and lesson_state.is_lab_open(position.lesson) and not has_notes:
            with st.container(key="kv_body", gap=None):
                _render_top(lessons, position)
                render_lab(lessons, position, lab_block)
        else:
            class_bar.render_part("kv_class_body", lambda: _render_body(lessons))
        _follow(position)
    projector.apply()
    class_bar.render_link()
    lesson_state.remember_address()


def _render_body(lessons: Sequence[Lesson]) -> None:
    class_seat.follow()
    position = lesson_state.current_position(lessons)
    with st.container(key="kv_body", gap=None):  # without this, the fragment adds gaps
        _render_top(lessons, position)
        if st.query_params.get(workshop.NOTES):
            render_notes(lessons, position)
        else:
            render_step(lessons, position)
    lesson_state.remember_address()
    class_bar.rerun_outdated_page(position.lesson.name, lesson_state.track())


def _render_top(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    class_seat.lead(position.step_key)
    class_bar.render_strip(position)
    with st.container(key="kv_steps", horizontal=True, gap=12, vertical_alignment="center"):
        render_back(lessons, position)
        _render_lesson_strip(lessons, position)
        render_next(lessons, position)


def _follow(position: LessonPosition) -> None:
    """Keeps two windows of a teacher at the same step. Does nothing for the teacher of a class.

    In a class, both windows follow the class's step. A late message from one window to the other
    would move the class back to an earlier step.
    """
    if not class_seat.is_teacher():
        place = f"{position.lesson.name}.{position.part}"
        _follower(key=FOLLOWER, data={"place": place}, on_place_change=_open_place, width="content")


def _open_place() -> None:
    """Opens the step that the teacher's other window has sent, such as "batches.2"."""
    place = (st.session_state.get(FOLLOWER) or {}).get("place") or ""
    name, _, part = place.rpartition(".")
    if part.isdecimal() and len(part) < 10:
        open_step(name, int(part))


@cache
def _stylesheet() -> str:
    return CSS.read_text(encoding="utf-8") + class_bar.CSS.read_text(encoding="utf-8")


def _render_fold() -> None:
    """Draws the button that shows or hides the sidebar. The sidebar is hidden at first."""
    is_shown = st.session_state.get(workshop.PAGES_SHOWN, False)
    st.button(
        say("stage.pages"),
        icon=f":material/{'left_panel_close' if is_shown else 'left_panel_open'}:",
        type="tertiary",
        key="kv_fold",
        help=say("stage.pages_help"),
        on_click=_toggle_pages,
    )
    if not is_shown:
        st.html(tag("span", class_="kv-folded", hidden=True), width="content")


def _toggle_pages() -> None:
    is_shown = st.session_state.get(workshop.PAGES_SHOWN, False)
    st.session_state[workshop.PAGES_SHOWN] = not is_shown


def _render_crumbs(lessons: Sequence[Lesson], position: LessonPosition | None) -> None:
    _render_fold()
    elements.crumb(say("workshop.title"))
    if position is None:
        return
    elements.separator()
    _render_track_picker(lessons)
    st.session_state[workshop.CLASS_PICKER_TRACK] = lesson_state.track()
    elements.separator()
    class_bar.render_part("kv_class_crumb", lambda: _render_lesson_picker(lessons))


def _render_lesson_picker(lessons: Sequence[Lesson]) -> None:
    class_seat.follow()
    position = lesson_state.current_position(lessons)
    st.session_state[workshop.CLASS_PICKER] = position.lesson.name
    names = {
        _numbered_title(number, lesson): lesson
        for number, lesson in enumerate(lessons)
        if lesson_state.parts(lesson)
    }
    is_end = bool(st.query_params.get(workshop.END))
    title = _numbered_title(position.number, position.lesson)
    label = st.menu_button(
        elements.escape_markdown(say("workshop.finish") if is_end else title),
        [*names],
        format_func=elements.escape_markdown,
        type="tertiary",
        key="kv_pick_lesson",
    )
    if label and (is_end or names[label] is not position.lesson):
        open_step(names[label].name, lesson_state.parts(names[label])[0])
        st.rerun()


def _render_track_picker(lessons: Sequence[Lesson]) -> None:
    tracks = [
        name for name in ("", SHORT) if any(lesson_state.parts(lesson, name) for lesson in lessons)
    ]
    name = st.menu_button(
        say("track.minutes", minutes=f"{lesson_state.minutes(lessons):g}"),
        tracks,
        format_func=lambda name: say(
            f"track.{name or 'long'}",
            steps=sum(len(lesson_state.parts(lesson, name)) for lesson in lessons),
            minutes=f"{lesson_state.minutes(lessons, name):g}",
        ),
        type="tertiary",
        key="kv_pick_track",
        help=say("track.help"),
    )
    if name is not None and name != lesson_state.track():
        workshop.set_parameter(workshop.TRACK, name)
        st.rerun()


def _numbered_title(number: int, lesson: Lesson) -> str:
    return say("workshop.lesson_named", number=number + 1, title=lesson.title)


def _render_tools(position: LessonPosition | None) -> None:
    if position is not None:
        is_paper = bool(st.query_params.get(page_state.PAPER))
        has_notes = bool(st.query_params.get(workshop.NOTES))
        if is_paper or has_notes:
            st.button(
                say("workshop.notes"),
                icon=":material/close:" if has_notes else ":material/co_present:",
                type="tertiary",
                key="kv_notes",
                on_click=lesson_state.toggle_parameter,
                args=(workshop.NOTES,),
            )
        else:
            class_bar.render_button()
            projector.render_button()
            if not class_seat.is_learner():
                # opens this page with notes in a second window, see `_follow`
                words = messages.table("stage")
                _notes_button(key="kv_notes_window", data={"words": words}, width="content")
        label = say("workshop.lesson" if is_paper else "workshop.paper")
        st.button(
            label,
            icon=":material/print:",
            type="tertiary",
            key="kv_paper",
            on_click=lesson_state.toggle_parameter,
            args=(page_state.PAPER,),
        )


def _render_faults(faults: Sequence[LessonFault]) -> None:
    if not faults:
        return
    files = len({fault.file for fault in faults})
    finding = say("workshop.broken_one") if files == 1 else say("workshop.broken", count=files)
    with elements.state("broken", "warning", finding, say("workshop.broken_below")):
        st.code("\n".join(map(str, faults[:20])), language=None)
    st.space(16)


def _render_lesson_strip(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    with st.container(horizontal=True, gap=6, key="kv_lessons"):
        for number, lesson in enumerate(lessons):
            parts = lesson_state.parts(lesson)
            if not parts:
                continue
            is_done = lesson_state.is_done(lesson)
            if number == position.number:
                kind = "on"
            elif is_done:
                kind = "done"
            else:
                kind = "todo"
            with st.container(key=f"kv_lesson_{kind}_{number}"):
                label = f"✓ {lesson.short}" if is_done else lesson.short
                st.button(
                    elements.escape_markdown(label),
                    type="tertiary",
                    key=f"kv_go_{number}",
                    on_click=open_step,
                    args=(lesson.name, parts[0]),
                    width="stretch",
                )


CHOICE = "kv_word"


def render_glossary(lesson_titles: Mapping[str, str], address: Mapping[str, str]) -> None:
    """Draws the menu of words, the chosen word, and all words grouped by lesson.

    Links to other pages get the URL parameters `address`.
    """
    elements.title(say("glossary.title"), say("glossary.lead", count=len(TERMS)))
    close = partial(workshop.set_parameter, workshop.WORD, "")
    st.button(
        say("glossary.back"), icon=":material/arrow_back:", key="kv_word_back", on_click=close
    )
    term = find_term(st.query_params.get(workshop.WORD, ""))
    st.session_state[CHOICE] = term and term.key
    st.pills(
        say("glossary.choose"),
        [row.key for row in TERMS],
        format_func={row.key: row.short_name for row in TERMS}.__getitem__,
        key=CHOICE,
        on_change=_choose,
        label_visibility="collapsed",
    )
    if term is not None:
        _render_term(term, lesson_titles, address)
    for lesson in dict.fromkeys((*lesson_titles, *(row.lesson for row in TERMS))):
        terms = [row for row in TERMS if row.lesson == lesson]
        if terms:
            with st.container(key=f"kv_terms_{lesson}", gap=None):
                if lesson in lesson_titles:
                    with st.container(horizontal=True, vertical_alignment="center", gap=8):
                        st.html(tag("h2", lesson_titles[lesson], class_="kv-h2"), width="content")
                        _lesson_button(f"kv_words_open_{lesson}", say("glossary.lesson"), lesson)
                for row in terms:
                    _row(row, address)


def _render_term(
    term: GlossaryTerm, lesson_titles: Mapping[str, str], address: Mapping[str, str]
) -> None:
    with st.container(key="kv_word_card", gap=8):
        kafka = worded("glossary.kafka", text=inline_html(term.kafka))
        head = tag("h2", term.name, class_="kv-h2")
        meaning = tag("p", inline_html(term.meaning))
        st.html(join((head, meaning, tag("p", kafka, class_="kv-sm kv-fnt"))))
        with st.container(horizontal=True, gap=16, vertical_alignment="center", key="kv_word_ways"):
            _page_link(term, say("glossary.seen", page=elements.page_name(term.page)), address)
            if term.lesson in lesson_titles:
                title = elements.escape_markdown(lesson_titles[term.lesson])
                _lesson_button("kv_word_lesson", say("glossary.taught", title=title), term.lesson)


def _row(term: GlossaryTerm, address: Mapping[str, str]) -> None:
    with st.container(key=f"kv_row_{term.key}", horizontal=True, vertical_alignment="top", gap=16):
        meaning = tag("dd", inline_html(term.meaning), tag("small", inline_html(term.kafka)))
        st.html(tag("dl", tag("dt", term.name), meaning, class_="kv-word"))
        _page_link(term, elements.page_name(term.page), address)


def _page_link(term: GlossaryTerm, label: str, address: Mapping[str, str]) -> None:
    page = PAGES[term.page]
    if page.exists:
        icon = f":material/{page.icon}:"
        st.page_link(page.script, label=label, icon=icon, query_params=dict(address))


def _lesson_button(key: str, label: str, lesson: str) -> None:
    st.button(
        label,
        key=key,
        on_click=open_step,
        args=(lesson, 1),
        icon=":material/school:",
        type="tertiary",
    )


def _choose() -> None:
    workshop.set_parameter(workshop.WORD, st.session_state[CHOICE] or workshop.ALL_WORDS)


def render_notes(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    begin = lesson_state.begin_minute(lessons, position)
    total = lesson_state.minutes(lessons)
    step_text = lesson_state.position_text(lessons, position)
    with st.container(key="kv_notes_view", gap=16):
        st.html(lesson_head(step_text, position.step.title))
        plan = [begin, begin + position.step.minutes, total]
        _clock(key="kv_session_clock", data={"plan": plan, "words": messages.table("stage")})
        render([notes(position.step, begin, total)])
        _coming(lessons, position)
        with st.expander(say("workshop.session", minutes=f"{total:g}")):
            session_plan(lessons, position.number)


def _coming(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    following = lesson_state.next_step(lessons, position)
    with st.container(key="kv_coming", gap=4):
        if following is None:
            st.markdown(say("stage.next_none"))
            return
        lesson = next(lesson for lesson in lessons if lesson.name == following[0])
        step = lesson.steps[following[1] - 1]
        is_same = lesson is position.lesson
        label = say("stage.next") if is_same else say("stage.next_lesson", title=lesson.title)
        minutes = say("workshop.about_minutes", minutes=f"{step.minutes:g}")
        head = tag("div", label, " · ", minutes, class_="kv-lab")
        st.html(join((head, tag("p", step.title, class_="kv-next"))))
        for block in step.blocks("predict", "exercise")[:1]:
            st.markdown(say("stage.asks", text=block["ask"]))


def session_plan(lessons: Sequence[Lesson], current: int) -> None:
    """Draws a table of the lessons with the minute at which each lesson begins."""
    heads = [say(f"workshop.{name}") for name in ("begins", "title", "needs", "questions")]
    rows = []
    begin = 0.0
    for lesson in lessons:
        minutes = lesson_state.minutes([lesson])
        questions = len(lesson_state.questions(lesson))
        rows.append((f"{begin:g}", lesson.title, f"{minutes:g}", str(questions)))
        begin += minutes
    table(heads, rows, "rlrr", current)


REMEMBERED = 4  # number of sentences to remember
HOMEWORK = ("binary-search", 3)


def render_end(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    """Draws the end page: facts to remember, homework, and the share of right answers."""
    with st.container(key="kv_end"):
        remembered, scores = st.columns(2, gap=32)
        with remembered:
            minutes = say("workshop.about_minutes", minutes=f"{lesson_state.minutes(lessons):g}")
            st.html(lesson_head(minutes, say("workshop.finish")))
            sentences = (say(f"workshop.end_{n}") for n in range(1, REMEMBERED + 1))
            st.html(tag("ol", *(tag("li", inline_html(text)) for text in sentences)))
            if HOMEWORK[0] in {lesson.name for lesson in lessons}:
                st.html(tag("h2", say("workshop.homework"), class_="kv-h2"))
                st.markdown(say("workshop.homework_asks"))
                st.button(
                    say("workshop.homework_open"),
                    icon=":material/home_work:",
                    key="kv_homework",
                    on_click=open_step,
                    args=HOMEWORK,
                )
            with st.container(horizontal=True, gap=8):
                st.button(
                    say("workshop.lesson"),
                    icon=":material/arrow_back:",
                    key="kv_end_back",
                    on_click=open_step,
                    args=position.step_key,
                )
                if not class_seat.is_learner():
                    render_downloads(lessons, position.number)
        with scores:
            _render_scores(lessons)


def _render_scores(lessons: Sequence[Lesson]) -> None:
    """Draws the class's share of right answers per question, or the reader's score."""
    attendance = class_seat.current()
    own_answers = lesson_state.answers()
    title = "workshop.own_score" if attendance is None else "class.counts"
    st.html(tag("h2", say(title), class_="kv-h2"))
    if attendance is None and not own_answers:
        elements.paragraph(say("workshop.no_answers"))
        return
    rows = []
    for number, lesson in enumerate(lessons, 1):
        for name, part, is_task in lesson_state.questions(lesson):
            step = lesson.steps[part - 1]
            right = class_room.SOLVED if is_task else step.blocks("predict")[0].right_letter
            if attendance is None:
                answer = own_answers.get((name, part, is_task))
                score = {None: "–", right: "✓"}.get(answer, "✗")
            else:
                tally = attendance.room.tally((name, part))
                count = tally.solved if is_task else tally.letters.get(right, 0)
                score = say("workshop.of_seats", count=count, seats=tally.seats)
            kind = say("workshop.exercise" if is_task else "takeaway.question")
            rows.append((f"{number}.{part} {step.title}", kind, score))
    heads = [say(f"workshop.{name}") for name in ("step", "asked", "right")]
    table(heads, rows, "lll")
