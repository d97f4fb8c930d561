"""One step of a lesson: text, questions, figures, navigation and downloads."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, Literal, cast

import streamlit as st

from kafkaviz import messages, workshop
from kafkaviz.app.registry import PAGES
from kafkaviz.app.state import session_language
from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.html import Html, tag
from kafkaviz.messages import say, say_count
from kafkaviz.render.sentences import describe_error_sentence
from kafkaviz.workshop import class_bar, class_room, class_seat, lesson_state, open_step
from kafkaviz.workshop.figures import LIVE
from kafkaviz.workshop.figures.ceiling_rule import slot_text
from kafkaviz.workshop.figures.figure import current_step, render
from kafkaviz.workshop.lab import break_it
from kafkaviz.workshop.lesson_state import LessonPosition
from kafkaviz.workshop.lessons import exercise, glossary, tasks
from kafkaviz.workshop.lessons.exercise import CeilingRule
from kafkaviz.workshop.lessons.grammar import LETTERS, Lesson, LessonBlock
from kafkaviz.workshop.takeaway import handouts, lesson_page, notebook

WIDTHS = (0.38, 0.62)  # relative widths of text and figures


def render_step(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    """Draws text and questions on the left, figures on the right."""
    figure_blocks = [block for block in position.step.blocks() if block.kind in LIVE]
    with st.container(key="kv_stage"):
        words, stage = st.columns(WIDTHS, gap=32)
        with words:
            _head(lessons, position)
            _prose(lessons, position)
            render_questions(position)
            _lab_card(position)
            _foot(lessons, position)
        with stage:
            with st.container(key="kv_figures", gap=None):
                _render_figures(figure_blocks, position)
            if lesson_state.is_settled(position):
                _render_page_link(figure_blocks, position)


def render_lab(lessons: Sequence[Lesson], position: LessonPosition, block: LessonBlock) -> None:
    name = position.lesson.name
    try:
        lab = break_it.make(block)
    except KafkavizError as fault:
        return render_fault(fault, "lab")
    label = say("break_it.of_lesson", number=position.number + 1, count=len(lessons))
    break_it.render(
        lab,
        block,
        name,
        lesson_state.lab_answers(name),
        partial(lesson_state.record_lab_answer, name),
        head=lesson_head(label, say("break_it.title")),
        widths=WIDTHS,
    )


def _lab_card(position: LessonPosition) -> None:
    """On a lesson's last step, draws the button to the lab and the reader's score in the lab."""
    block = lesson_state.lab_block(position.lesson)
    lesson = position.lesson
    if block is None or position.part != lesson_state.parts(lesson)[-1]:
        return
    try:
        lab = break_it.make(block)
        right, count = break_it.total_score(lab, lesson_state.lab_answers(lesson.name))
    except KafkavizError as fault:
        return render_fault(fault, "lab")
    with st.container(key="kv_break_card", horizontal=True, gap=12, vertical_alignment="center"):
        st.button(
            say("break_it.title"),
            icon=":material/build:",
            key="kv_break_open",
            on_click=lesson_state.open_lab,
            args=position.step_key,
        )
        score = say("break_it.card_score", right=right, count=count)
        score_html = tag("span", score, class_="kv-fnt")
        text = tag("div", say("break_it.card"), tag("br"), score_html, class_="kv-sm")
        st.html(text, width="stretch")


def _head(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    label = lesson_state.position_text(lessons, position)
    language = position.lesson.language
    if language != messages.language():
        language_name = messages.LANGUAGES.get(language, language)
        label += f" · {say('workshop.only_in', language=language_name)}"
    st.html(lesson_head(label, position.step.title, language))


def lesson_head(label: str, title: str, language: str | None = None) -> Html:
    label_html = tag("div", label, class_="kv-lab")
    return tag("div", label_html, tag("h1", title), class_="kv-lesson", lang=language)


def _prose(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    """Draws the text of a step. A help icon after each part explains its terms and settings."""
    taught = {lesson.name for lesson in lessons[: position.number]}
    step = position.step
    texts = [part for part in step.parts if isinstance(part, str)]
    questions = [block["ask"] for block in step.blocks("predict", "exercise")]
    with st.container(key="kv_prose", gap=None):
        for number, text in enumerate(texts, 1):
            words = [text, *questions] if number == len(texts) else [text]
            st.markdown(text, help=_word_help(taught, "\n".join(words)))


def _word_help(taught: Collection[str], text: str) -> str | None:
    texts = [(term.short_name, term.meaning) for term in glossary.explained_terms(taught, text)]
    codes = dict.fromkeys(re.findall("`([a-z.]+)`", text))
    texts += [(code, elements.broker_names(code)) for code in codes if elements.broker_names(code)]
    lines = (say("workshop.labelled", label=label, text=meaning) for label, meaning in texts)
    return "\n\n".join(lines) or None


def _foot(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    with st.container(horizontal=True, gap=8, vertical_alignment="center", key="kv_progress"):
        answers = lesson_state.answers()
        marks = [key in answers for each in lessons for key in lesson_state.questions(each)]
        text = say("workshop.progress", done=sum(marks), count=len(marks))
        st.html(tag("span", text, class_="kv-sm kv-fnt"), width="content")
        _reset(lesson_state.answer_count())
        st.button(
            say("glossary.title"),
            icon=":material/dictionary:",
            type="tertiary",
            key="kv_glossary_open",
            on_click=workshop.set_parameter,
            args=(workshop.WORD, workshop.ALL_WORDS),
        )
        # in a class the downloads would take a fifth of the time of a learner's rerun
        if not class_seat.is_learner():
            render_downloads(lessons, position.number)


def render_back(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    previous = lesson_state.previous_step(lessons, position)
    st.button(
        say("workshop.back"),
        key="kv_back",
        on_click=open_step,
        args=previous,
        icon=":material/arrow_back:",
        shortcut="b",
        disabled=previous is None,
    )


def render_next(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    """Draws the button to the next step; on the last step, the button to the end page.

    Until the question is answered, the button to the next step is disabled, except for a teacher
    and in a lab.
    """
    next_step = lesson_state.next_step(lessons, position)
    arguments: dict[str, Any] = {"type": "primary", "key": "kv_next", "shortcut": "n"}
    if next_step is None:
        open_end = partial(lesson_state.toggle_parameter, workshop.END)
        st.button(say("workshop.finish"), on_click=open_end, **arguments)
        return
    label = say("workshop.next" if next_step[0] == position.lesson.name else "workshop.next_lesson")
    is_waiting = (
        not lesson_state.is_answered(position)
        and not lesson_state.is_teacher()
        and not lesson_state.is_lab_open(position.lesson)
    )
    st.button(
        label,
        on_click=open_step,
        args=next_step,
        icon=":material/arrow_forward:",
        icon_position="right",
        disabled=is_waiting,
        **arguments,
    )


def _reset(count: int) -> None:
    """Draws the button that deletes all answers. Asks for confirmation if `count` is above 0."""
    label = say("common.start_again")
    tip = say("workshop.reset_help")
    arguments: dict[str, Any] = {"icon": ":material/restart_alt:", "type": "tertiary", "help": tip}
    if not count:
        st.button(label, key="kv_reset", on_click=lesson_state.reset, **arguments)
        return
    # the key changes with each reset, because a popover with a new key is closed
    reset_count = st.session_state.get(lesson_state.RESETS, 0)
    with st.popover(label, key=f"kv_reset_asks_{reset_count}", **arguments):
        st.markdown(say_count("workshop.reset_asks", count, count=count))
        st.button(say("workshop.forget"), key="kv_reset", on_click=lesson_state.reset)


def _render_figures(figures: Sequence[LessonBlock], position: LessonPosition) -> None:
    """Draws the figures; of the figures that wait for an answer, only the first one."""
    waits = False
    for number, block in enumerate(figures):
        is_open = _is_open(block, position)
        if not is_open and waits:
            continue
        waits |= not is_open
        if number:
            st.space(16)
        with st.container(key=f"kv_drawn_{number}", gap=None):
            _figure(block, _figure_key(position, number), is_open=is_open)


def _is_open(block: LessonBlock, position: LessonPosition) -> bool:
    """Returns False while a figure waits for the answer that `block["after"]` names."""
    if block["after"] == "task":
        return lesson_state.is_solved(position)
    return lesson_state.is_answered(position) or not block["after"]


def _figure_key(position: LessonPosition, number: int) -> str:
    """Returns the widget key of a figure. The address names a stepper by this key."""
    return f"{position.lesson.name}_{position.part}_{number}"


def _figure(block: LessonBlock, key: str, *, is_open: bool) -> None:
    kind = LIVE[block.kind]
    try:
        with st.spinner(say("stage.figure_comes")):
            figure = kind.make(block)
    except KafkavizError as fault:
        return render_fault(fault, key)
    if is_open or kind.question is None:
        return render(kind.draw(figure, block, key))
    render(kind.question(figure, block, key))
    revealed = say(f"reveal.{block['after']}", text=say(f"reveal.{block.kind}"))
    icon = elements.icon("visibility", small=True)
    st.html(tag("p", icon, " ", revealed, class_="kv-reveals"))


def _render_page_link(figures: Sequence[LessonBlock], position: LessonPosition) -> None:
    for number, block in enumerate(figures):
        try:
            name, query = LIVE[block.kind].destination(block)
        except KafkavizError:
            continue
        page = PAGES[name]
        if page.exists:
            label = say("workshop.open_in", page=elements.page_name(name))
            icon = f":material/{page.icon}:"
            parameters = query | current_step(_figure_key(position, number))
            with st.container(key="kv_elsewhere"):
                st.page_link(page.script, label=label, icon=icon, query_params=parameters)
            return


HTML = "text/html"
NOTEBOOK = "application/x-ipynb+json"


def render_downloads(lessons: Sequence[Lesson], number: int) -> None:
    """Draws a button that opens the list of downloads. `number` is the current lesson's index."""
    label = say("takeaway.button")
    with (
        st.popover(label, key="kv_takeaway", icon=":material/download:", type="tertiary"),
        st.container(key="kv_takeaway_list", gap=4),
    ):
        st.html(tag("p", say("takeaway.about"), class_="kv-sm kv-fnt"))
        _heading("lesson")
        lesson = lessons[number]
        make = partial(lesson_page.lesson_page, lesson, number + 1, len(lessons))
        _button("lesson_file", make, lesson_page.file_name(lesson))
        _heading("handouts")
        with st.container(horizontal=True, gap=4):
            for edition in handouts.HandoutEdition:
                make = partial(handouts.handouts_page, lessons, edition)
                _button(f"html_{edition.name.lower()}", make, handouts.file_name(edition))
        _heading("notebook")
        _button("notebook_file", notebook.notebook, notebook.FILE_NAME, NOTEBOOK)


def _heading(name: str) -> None:
    title = tag("b", say(f"takeaway.{name}"))
    st.html(tag("div", title, tag("span", say(f"takeaway.{name}_about")), class_="kv-take"))


def _button(name: str, make: Callable[[], str], file_name: str, kind: str = HTML) -> None:
    st.download_button(
        say(f"takeaway.{name}"),
        session_language.keep_language(make),
        file_name,
        kind,
        key=f"kv_take_{name}",
        on_click="ignore",
        icon=":material/download:",
    )


ANSWER_PX = 340  # width of a text field for a number
PIECE_PX = 92  # width of a field for one of a rule's answers


def render_questions(position: LessonPosition) -> None:
    """Draws the question; after its answer, the exercise; after both, misconceptions."""
    step = position.step
    blocks = (*step.blocks("predict"), *step.blocks("exercise"), *step.blocks("misleads"))
    for number, block in enumerate(blocks):
        if block.kind == "predict":
            _predict(block, position, number)
        elif block.kind == "exercise" and lesson_state.is_answered(position):
            _exercise(block, position, number)
        elif lesson_state.is_settled(position):
            _misconception(block, number)


def _predict(block: LessonBlock, position: LessonPosition, number: int) -> None:
    step_key = position.step_key
    choice = lesson_state.letter(block, *step_key)
    is_answered = lesson_state.is_answered(position)
    with st.container(key=f"kv_ask_{number}", gap=6):
        with st.container(key="kv_prose_ask"):
            st.markdown(f"**{block['ask']}**")
        right = block.right_letter if is_answered else None
        for letter, (text, _) in zip(LETTERS, block.choices, strict=False):
            _choice_button(position, letter, text, break_it.choice_kind(letter, choice, right))
        class_bar.render_bars(step_key, LETTERS[: len(block.choices)])
        with st.container(key="kv_reveal"):
            if is_answered:
                if choice is not None:
                    kind, word = ("ok", "right") if choice == right else ("error", "wrong_choice")
                    verdict = say(f"workshop.{word}")
                    st.html(tag("span", verdict, role="status", class_=f"kv-told {kind}"))
                st.markdown(block["reveal"])
            else:
                hint = class_bar.question_hint(step_key, is_chosen=choice is not None)
                st.markdown(hint or say("workshop.choose_first"))


def _choice_button(position: LessonPosition, letter: str, text: str, kind: str) -> None:
    index = LETTERS.index(letter)
    with st.container(key=f"kv_opt_{kind}_{index}"):
        st.button(
            f"`{letter.upper()}`  {text}",
            key=f"kv_choice_{index}",
            args=(*position.step_key, letter),
            width="stretch",
            shortcut=str(index + 1),
            on_click=lesson_state.record_answer,
        )


def _exercise(block: LessonBlock, position: LessonPosition, number: int) -> None:
    with st.container(key=f"kv_task_{number}", gap=8):
        st.html(tag("div", say("workshop.exercise"), class_="kv-lab"))
        with st.container(key="kv_prose_task"):
            st.markdown(block["ask"])
        try:
            task = tasks.task(block)
        except KafkavizError as fault:
            return render_fault(fault, "task")
        if task.bytes_text:
            st.html(tag("div", elements.escape(task.bytes_text), class_="kv-given"))
        answer = _field(task, position)
        if answer:
            _exercise_verdict(task, answer, position)
        with st.container(horizontal=True, gap=8, key="kv_helps"):
            if block["hint"]:
                with st.popover(say("workshop.hint"), type="tertiary", icon=":material/lightbulb:"):
                    st.markdown(block["hint"])
            with st.popover(say("workshop.solution"), type="tertiary", icon=":material/key:"):
                st.markdown(block["solution"])
                if task.kind == tasks.RULE:
                    st.code(str(block["rule"]), language=None, wrap_lines=True)


def _field(task: tasks.LessonTask, position: LessonPosition) -> str:
    key = f"kv_given_{position.lesson.name}_{position.part}"
    address_answer = st.query_params.get(workshop.TYPED_ANSWER, "")
    fields = {tasks.CHOICE: _choice_field, tasks.RULE: _rule_fields, tasks.NUMBERS: _text_field}
    answer = fields[task.kind](task, key, address_answer)
    workshop.set_parameter(workshop.TYPED_ANSWER, answer)
    return answer


def _choice_field(task: tasks.LessonTask, key: str, address_answer: str) -> str:
    st.session_state.setdefault(key, address_answer if address_answer in task.choices else None)
    label = say("workshop.your_answer")
    choice = st.segmented_control(
        label, task.choices, key=key, format_func=tasks.choice_label, label_visibility="collapsed"
    )
    return choice or ""


def _rule_fields(_task: tasks.LessonTask, key: str, address_answer: str) -> str:
    """Draws the fields for the reader's rule. Returns the rule as text; "" if it is incomplete."""
    rule = exercise.read(address_answer)
    branches = []
    for place in range(exercise.MAX_BRANCHES):
        known = rule.branches[place] if rule and place < len(rule.branches) else (None, None)
        with st.container(key=f"kv_rule_{place}", horizontal=True, gap=8):
            label = "else if" if place else "if"
            condition = _piece(label, exercise.CONDITIONS, known[0], f"{key}_if_{place}")
            answer = _piece("then", exercise.ANSWERS, known[1], f"{key}_then_{place}", PIECE_PX)
        if condition or answer:
            branches.append((condition, answer))
    known_answer = rule.otherwise if rule else None
    otherwise = _piece("else", exercise.ANSWERS, known_answer, f"{key}_else", PIECE_PX)
    if not otherwise or not all(map(all, branches)):
        return ""
    return str(CeilingRule(tuple(branches), otherwise))


def _piece(
    label: str,
    pieces: Iterable[str],
    piece: str | None,
    key: str,
    width: int | Literal["stretch"] = "stretch",
) -> str:
    st.session_state.setdefault(key, piece)
    return st.selectbox(label, list(pieces), key=key, placeholder="…", width=width) or ""


def _text_field(_task: tasks.LessonTask, key: str, address_answer: str) -> str:
    st.session_state.setdefault(key, address_answer)
    return st.text_input(say("workshop.your_answer"), key=key, width=ANSWER_PX) or ""


def _exercise_verdict(task: tasks.LessonTask, answer: str, position: LessonPosition) -> None:
    is_right = tasks.is_right(task, answer)
    explanation = "" if is_right else _explanation(task, answer)
    mark, word = ("ok", "right") if is_right else ("info", "not_yet")
    verdict = (elements.severity(mark), tag("b", say(f"workshop.{word}")), tag("span", explanation))
    st.html(tag("div", *verdict, class_="kv-judged", role="status"))
    if is_right:
        class_seat.record_answer(position.step_key, class_room.SOLVED)
    else:
        class_seat.record_failure(position.step_key, answer)
    if is_right and (*position.step_key, True) not in lesson_state.answers():
        lesson_state.record_answer(*position.step_key, class_room.SOLVED)
        st.rerun()


def _explanation(task: tasks.LessonTask, answer: str) -> str:
    if task.kind == tasks.RULE:
        result = exercise.check(cast(CeilingRule, exercise.read(answer)), task.answer)
        first = result.wrong_cases[0]
        return say(
            "workshop.wrong_rule",
            wrong=len(result.wrong_cases),
            count=len(result.cases),
            target=first.target,
            ceiling=slot_text(first.ceiling),
        )
    if task.kind == tasks.CHOICE:
        return ""
    numbers = tasks.numbers(answer)
    if len(numbers) != len(task.answer):
        if len(task.answer) == 1:
            return say("workshop.no_number")
        return say("workshop.two_numbers", count=len(task.answer))
    return say("workshop.wrong_numbers", answer=" ".join(map(str, numbers)))


def _misconception(block: LessonBlock, number: int) -> None:
    with st.container(key=f"kv_misleads_{number}", gap=4):
        st.html(tag("div", say("workshop.often_said"), class_="kv-lab"))
        st.markdown(say("workshop.quoted", text=block["said"]))
        st.html(tag("div", say("workshop.what_is_so"), " · ", block["versions"], class_="kv-lab"))
        st.markdown(block["so"])


def render_fault(fault: Exception, key: str) -> None:
    elements.state(
        f"figure_{key}", "error", say("workshop.figure_fault"), describe_error_sentence(fault)
    )
