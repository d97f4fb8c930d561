"""Where a reader of the Workshop is, and what was answered.

All of it in the address, so that a link goes on where it was copied.

    ?lesson=last-offset&at=2&answers=three-files.1b last-offset.2c three-files.4x

An answer is the lesson, the number of its step, and the letter of the choice; x is an exercise that
was solved.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from kafkaviz.app.lessons.grammar import Lesson, LessonBlock, LessonStep
from kafkaviz.app.state import page_state

ANSWER = re.compile(r"([a-z0-9-]{1,60})\.(\d{1,2})([a-hx])")
SOLVED = "x"
RESETS = "kv_resets"  # how often this session has forgotten all answers
LETTERS = "abcdefgh"
MAX_ANSWERS = 400
SESSION_PARAMETERS = (
    page_state.LESSON,
    page_state.PART,
    page_state.ANSWERS,
    page_state.NOTES,
    page_state.PAPER,
)


@dataclass(frozen=True)
class LessonPosition:
    """A lesson, its place among all from 0, and one of its steps, from 1."""

    lesson: Lesson
    number: int
    part: int

    @property
    def step(self) -> LessonStep:
        """The step."""
        return self.lesson.steps[self.part - 1]


def current_position(lessons: Sequence[Lesson]) -> LessonPosition:
    """Where the address says; the first lesson, or step, where it says no other.

    Args:
        lessons: at least one.
    """
    name = st.query_params.get(page_state.LESSON, "")
    number = next((number for number, candidate in enumerate(lessons) if candidate.name == name), 0)
    lesson = lessons[number]
    part = page_state.number(st.query_params.get(page_state.PART)) or 1
    return LessonPosition(lesson, number, min(max(part, 1), len(lesson.steps)))


def restore_address() -> None:
    """Goes to where this session was, for an address that says nothing.

    The link in the sidebar has such an address.
    """
    if not any(key in st.query_params for key in SESSION_PARAMETERS):
        for key, value in st.session_state.get(page_state.WORKSHOP, {}).items():
            st.query_params[key] = value


def remember_address() -> None:
    """Keeps this address for `restore_address`."""
    st.session_state[page_state.WORKSHOP] = {
        key: st.query_params[key] for key in SESSION_PARAMETERS if key in st.query_params
    }


def open_step(name: str, part: int) -> None:
    """To a step of a lesson.

    What was typed there before, and where its stepper stood, is left behind.
    """
    for key in (page_state.STEP, page_state.TYPED_ANSWER, page_state.TRIED_ON, page_state.PAPER):
        st.query_params.pop(key, None)
    st.query_params[page_state.LESSON] = name
    st.query_params[page_state.PART] = str(part)


def toggle_parameter(name: str) -> None:
    """Sets a parameter of the address that is yes or not there."""
    if st.query_params.get(name):
        st.query_params.pop(name)
    else:
        st.query_params[name] = "1"


def answers() -> dict[tuple[str, int, bool], str]:
    """What was answered, by lesson, step and whether it was the exercise.

    The letter of the choice, x of an exercise.
    """
    matches = ANSWER.findall(st.query_params.get(page_state.ANSWERS, ""))[:MAX_ANSWERS]
    return {(name, int(part), letter == SOLVED): letter for name, part, letter in matches}


def record_answer(name: str, part: int, letter: str) -> None:
    """Remembers an answer; another one to the same question takes its place."""
    all_answers = answers() | {(name, part, letter == SOLVED): letter}
    st.query_params[page_state.ANSWERS] = " ".join(
        f"{name}.{part}{letter}" for (name, part, _), letter in all_answers.items()
    )


def set_typed_answer(text: str) -> None:
    """What is typed into the exercise of this step, for the address."""
    if text and text != st.query_params.get(page_state.TYPED_ANSWER):
        st.query_params[page_state.TYPED_ANSWER] = text
    elif not text:
        st.query_params.pop(page_state.TYPED_ANSWER, None)


def reset() -> None:
    """Forgets all answers, and begins with the first lesson."""
    for key in [key for key in st.session_state if str(key).startswith("kv_given_")]:
        del st.session_state[key]
    for key in (
        page_state.ANSWERS,
        page_state.LESSON,
        page_state.PART,
        page_state.TYPED_ANSWER,
        page_state.STEP,
    ):
        st.query_params.pop(key, None)
    st.session_state.pop(page_state.WORKSHOP, None)
    st.session_state[RESETS] = st.session_state.get(RESETS, 0) + 1


def letter(block: LessonBlock, name: str, part: int) -> str | None:
    """The letter that was chosen in a question.

    Returns:
        None where none was, or one that it does not have.
    """
    choice = answers().get((name, part, False))
    return choice if choice and choice in LETTERS[: len(choices(block))] else None


def is_answered(position: LessonPosition) -> bool:
    """Whether the question of the step, if it has one, is answered."""
    return all(
        letter(block, position.lesson.name, position.part) is not None
        for block in position.step.blocks("predict")
    )


def is_solved(position: LessonPosition) -> bool:
    """Whether the task of the step is solved."""
    return (position.lesson.name, position.part, True) in answers()


def choices(block: LessonBlock) -> list[tuple[str, bool]]:
    """The choices of a question in the order they are written, each beside whether it is right."""
    return [(text, key == "right") for key, text in block.lines if key in ("choice", "right")]


def questions(lesson: Lesson) -> list[tuple[str, int, bool]]:
    """All questions and exercises of a lesson, as `answers` has them."""
    numbered_blocks = (
        (number, block.kind == "exercise")
        for number, step in enumerate(lesson.steps, 1)
        for block in step.blocks("predict", "exercise")
    )
    return [(lesson.name, number, is_exercise) for number, is_exercise in numbered_blocks]


def is_done(lesson: Lesson) -> bool:
    """Whether every question of a lesson was answered and every exercise solved.

    Of one without any it is not known.
    """
    question_keys, answer_letters = questions(lesson), answers()
    return bool(question_keys) and all(
        question_key in answer_letters for question_key in question_keys
    )
