"""The questions of a step: multiple choice, exercises that are checked, and misconceptions."""

from collections.abc import Iterable
from html import escape
from typing import Literal, cast

import streamlit as st

from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.text.sentences import describe_error_sentence
from kafkaviz.messages import say
from kafkaviz.workshop import lesson_address, lesson_state
from kafkaviz.workshop.classroom import class_bar, class_room, class_seat
from kafkaviz.workshop.lesson_state import LessonPosition
from kafkaviz.workshop.lessons import exercise, tasks
from kafkaviz.workshop.lessons.exercise import CeilingRule
from kafkaviz.workshop.lessons.grammar import LETTERS, LessonBlock, NoValue

ANSWER_PX = 340  # width of a text field for a number
PIECE_PX = 100  # width of a field for an answer of a rule


def render_questions(position: LessonPosition) -> None:
    """Draws the multiple choice and, once that is answered, exercises and misconceptions."""
    blocks = [
        block
        for kinds in (("predict",), ("exercise",), ("misleads",))
        for block in position.step.blocks(*kinds)
    ]
    for number, block in enumerate(blocks):
        if block.kind != "predict" and not lesson_state.is_answered(position):
            continue
        {"predict": _predict, "exercise": _exercise, "misleads": _misconception}[block.kind](
            block, position, number
        )


def _predict(block: LessonBlock, position: LessonPosition, number: int) -> None:
    """Draws a multiple choice question. The right answer is only shown after a choice."""
    choice = lesson_state.letter(block, position.lesson.name, position.part)
    is_answered = lesson_state.is_answered(position)
    step_key = (position.lesson.name, position.part)
    choices = block.choices
    with st.container(key=f"kv_ask_{number}", gap=6):
        with st.container(key="kv_prose_ask"):
            st.markdown(f"**{block['ask']}**")
        for index, (text, is_right) in enumerate(choices):
            kind = _choice_kind(index, choice, is_right=is_right, is_answered=is_answered)
            _choice_button(position, index, text, kind)
        class_bar.render_bars(step_key, LETTERS[: len(choices)])
        with st.container(key="kv_reveal"):
            if is_answered:
                if choice is not None:
                    _choice_verdict(is_right=choices[LETTERS.index(choice)][1])
                st.markdown(block["reveal"])
            else:
                hint = class_bar.question_hint(step_key, is_chosen=choice is not None)
                st.markdown(hint or say("workshop.choose_first"))


def _choice_kind(index: int, choice: str | None, *, is_right: bool, is_answered: bool) -> str:
    """Returns the style of an answer. Its colour shows whether it is right, once answered."""
    is_chosen = LETTERS[index] == choice
    if not is_answered:
        return "chosen" if is_chosen else "open"
    if is_right:
        return "right"
    if is_chosen:
        return "wrong"
    return "other"


def _choice_button(position: LessonPosition, index: int, text: str, kind: str) -> None:
    letter = LETTERS[index]
    with st.container(key=f"kv_opt_{kind}_{index}"):
        st.button(
            f"`{letter.upper()}`  {text}",
            key=f"kv_choice_{index}",
            args=(position.lesson.name, position.part, letter),
            type="secondary",
            width="stretch",
            shortcut=str(index + 1),
            on_click=lesson_state.record_answer,
        )


def _choice_verdict(*, is_right: bool) -> None:
    kind, word = ("ok", "right") if is_right else ("error", "wrong_choice")
    st.html(f'<span role="status" class="kv-told {kind}">{escape(say(f"workshop.{word}"))}</span>')


def _exercise(block: LessonBlock, position: LessonPosition, number: int) -> None:
    with st.container(key=f"kv_task_{number}", gap=8):
        st.html(f'<div class="kv-lab">{escape(say("workshop.exercise"))}</div>')
        with st.container(key="kv_prose_task"):
            st.markdown(block["ask"])
        try:
            task = tasks.task(block)
        except (KafkavizError, NoValue) as fault:
            return render_fault(fault, "task")
        if task.bytes_text:
            st.html(f'<div class="kv-given">{escape(task.bytes_text)}</div>')
        answer = _field(task, position)
        if answer:
            _exercise_verdict(task, answer, position)
        _help_row(block, task)


def _help_row(block: LessonBlock, task: tasks.LessonTask) -> None:
    with st.container(horizontal=True, gap=8, key="kv_helps"):
        if block["hint"]:
            with st.popover(say("workshop.hint"), type="tertiary", icon=":material/lightbulb:"):
                st.markdown(block["hint"])
        with st.popover(say("workshop.solution"), type="tertiary", icon=":material/key:"):
            st.markdown(block["solution"])
            if task.kind == tasks.RULE:
                st.code(str(block["rule"]), language=None, wrap_lines=True)


def _field(task: tasks.LessonTask, position: LessonPosition) -> str:
    """Draws the field for the answer and returns it. A choice is its word in the address."""
    key = f"kv_given_{position.lesson.name}_{position.part}"
    address_answer = st.query_params.get(lesson_address.TYPED_ANSWER, "")
    fields = {tasks.CHOICE: _choice_field, tasks.RULE: _rule_fields, tasks.NUMBERS: _text_field}
    answer = fields[task.kind](task, key, address_answer)
    lesson_state.set_typed_answer(answer)
    return answer


def _choice_field(task: tasks.LessonTask, key: str, address_answer: str) -> str:
    st.session_state.setdefault(key, address_answer if address_answer in task.choices else None)
    return (
        st.segmented_control(
            say("workshop.your_answer"),
            task.choices,
            key=key,
            format_func=tasks.choice_label,
            label_visibility="collapsed",
        )
        or ""
    )


def _rule_fields(_task: tasks.LessonTask, key: str, address_answer: str) -> str:
    """Draws one field per place of a rule. A rule with a branch that lacks a piece is empty."""
    rule = exercise.read(address_answer)
    branches = []
    for place in range(exercise.MAX_BRANCHES):
        known = rule.branches[place] if rule and place < len(rule.branches) else (None, None)
        with st.container(horizontal=True, gap=8):
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
    verdict = (
        f"{elements.severity(mark)}<b>{escape(say(f'workshop.{word}'))}</b>"
        f"<span>{escape(explanation)}</span>"
    )
    st.html(f'<div class="kv-judged" role="status">{verdict}</div>')
    step_key = (position.lesson.name, position.part)
    if is_right:
        class_seat.record_answer(step_key, class_room.SOLVED)
    else:
        class_seat.record_failure(step_key, answer)
    if is_right and (*step_key, True) not in lesson_state.answers():
        lesson_state.record_answer(position.lesson.name, position.part, class_room.SOLVED)
        st.rerun()


def _explanation(task: tasks.LessonTask, answer: str) -> str:
    if task.kind == tasks.RULE:
        result = exercise.check(cast(CeilingRule, exercise.read(answer)), task.answer)
        first = result.wrong_cases[0]
        ceiling_text = (
            say("common.none") if first.ceiling < 0 else say("common.slot", slot=first.ceiling)
        )
        return say(
            "workshop.wrong_rule",
            wrong=len(result.wrong_cases),
            count=len(result.cases),
            target=first.target,
            ceiling=ceiling_text,
        )
    if task.kind == tasks.CHOICE:
        return ""
    numbers = tasks.numbers(answer)
    if len(numbers) != len(task.answer):
        if len(task.answer) == 1:
            return say("workshop.no_number")
        return say("workshop.two_numbers", count=len(task.answer))
    return say("workshop.wrong_numbers", answer=" ".join(map(str, numbers)))


def _misconception(block: LessonBlock, position: LessonPosition, number: int) -> None:
    """Draws a common misconception, the fact, and the Kafka releases it holds for."""
    with st.container(key=f"kv_misleads_{number}", gap=4):
        st.html(f'<div class="kv-lab">{escape(say("workshop.often_said"))}</div>')
        st.markdown(say("workshop.quoted", text=block["said"]))
        st.html(
            f'<div class="kv-lab">{escape(say("workshop.what_is_so"))} · '
            f"{escape(block['versions'])}</div>"
        )
        st.markdown(block["so"])


def render_fault(fault: Exception, key: str) -> None:
    with elements.state(
        f"figure_{key}", "error", say("workshop.figure_fault"), describe_error_sentence(fault)
    ):
        pass
