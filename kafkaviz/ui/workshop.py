"""Where a reader of the Workshop is, and what was answered: all of it in the address, so that a
link goes on where it was copied.

    ?lesson=last-offset&at=2&answers=three-files.1b last-offset.2c three-files.4x

An answer is the lesson, the number of its step, and the letter of the choice; x is an exercise that
was solved.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from kafkaviz.ui import state
from kafkaviz.ui.lessons.grammar import Block, Lesson, Step

ANSWER = re.compile(r"([a-z0-9-]{1,60})\.(\d{1,2})([a-hx])")
SOLVED = "x"
RESETS = "kv_resets"  # how often this session has forgotten all answers
LETTERS = "abcdefgh"
MOST_ANSWERS = 400
KEPT = (state.LESSON, state.PART, state.ANSWERS, state.NOTES, state.PAPER)


@dataclass(frozen=True)
class At:
    """A lesson, its place among all from 0, and one of its steps, from 1."""

    lesson: Lesson
    number: int
    part: int

    @property
    def step(self) -> Step:
        """The step."""
        return self.lesson.steps[self.part - 1]


def at(lessons: Sequence[Lesson]) -> At:
    """Where the address says; the first lesson, or step, where it says no other. lessons: at least
    one.
    """
    asked = st.query_params.get(state.LESSON, "")
    number = next((number for number, one in enumerate(lessons) if one.name == asked), 0)
    lesson = lessons[number]
    part = state.number(st.query_params.get(state.PART)) or 1
    return At(lesson, number, min(max(part, 1), len(lesson.steps)))


def come_back() -> None:
    """To where this session was, for an address that says nothing, as that of the link in the
    sidebar does.
    """
    if not any(key in st.query_params for key in KEPT):
        for key, value in st.session_state.get(state.WORKSHOP, {}).items():
            st.query_params[key] = value


def remember() -> None:
    """Keeps this address for `come_back`."""
    st.session_state[state.WORKSHOP] = {
        key: st.query_params[key] for key in KEPT if key in st.query_params
    }


def go(name: str, part: int) -> None:
    """To a step of a lesson; what was typed there before, and where its stepper stood, is left
    behind.
    """
    for key in (state.STEP, state.GIVEN, state.PAPER):
        st.query_params.pop(key, None)
    st.query_params[state.LESSON] = name
    st.query_params[state.PART] = str(part)


def switch(name: str) -> None:
    """Sets a parameter of the address that is yes or not there."""
    if st.query_params.get(name):
        st.query_params.pop(name)
    else:
        st.query_params[name] = "1"


def answers() -> dict[tuple[str, int, bool], str]:
    """What was answered, by lesson, step and whether it was the exercise: the letter of the choice,
    x of an exercise.
    """
    found = ANSWER.findall(st.query_params.get(state.ANSWERS, ""))[:MOST_ANSWERS]
    return {(name, int(part), letter == SOLVED): letter for name, part, letter in found}


def keep(name: str, part: int, letter: str) -> None:
    """Remembers an answer; another one to the same question takes its place."""
    known = answers() | {(name, part, letter == SOLVED): letter}
    st.query_params[state.ANSWERS] = " ".join(
        f"{name}.{part}{letter}" for (name, part, _), letter in known.items()
    )


def tell(given: str) -> None:
    """What is typed into the exercise of this step, for the address."""
    if given and given != st.query_params.get(state.GIVEN):
        st.query_params[state.GIVEN] = given
    elif not given:
        st.query_params.pop(state.GIVEN, None)


def reset() -> None:
    """Forgets all answers, and begins with the first lesson."""
    for key in [key for key in st.session_state if str(key).startswith("kv_given_")]:
        del st.session_state[key]
    for key in (state.ANSWERS, state.LESSON, state.PART, state.GIVEN, state.STEP):
        st.query_params.pop(key, None)
    st.session_state.pop(state.WORKSHOP, None)
    st.session_state[RESETS] = st.session_state.get(RESETS, 0) + 1


def letter(block: Block, name: str, part: int) -> str | None:
    """The letter that was chosen in a question; None where none was, or one that it does not
    have.
    """
    chosen = answers().get((name, part, False))
    return chosen if chosen and chosen in LETTERS[: len(choices(block))] else None


def is_answered(here: At) -> bool:
    """Whether the question of the step, if it has one, is answered."""
    return all(
        letter(one, here.lesson.name, here.part) is not None for one in here.step.blocks("predict")
    )


def is_solved(here: At) -> bool:
    """Whether the task of the step is solved."""
    return (here.lesson.name, here.part, True) in answers()


def choices(block: Block) -> list[tuple[str, bool]]:
    """The choices of a question in the order they are written, each beside whether it is right."""
    return [(text, key == "right") for key, text in block.said if key in ("choice", "right")]


def questions(lesson: Lesson) -> list[tuple[str, int, bool]]:
    """All questions and exercises of a lesson, as `answers` has them."""
    asked = (
        (number, block.kind == "exercise")
        for number, step in enumerate(lesson.steps, 1)
        for block in step.blocks("predict", "exercise")
    )
    return [(lesson.name, number, is_exercise) for number, is_exercise in asked]


def is_done(lesson: Lesson) -> bool:
    """Whether every question of a lesson was answered and every exercise solved; of one without any
    it is not known.
    """
    asked, known = questions(lesson), answers()
    return bool(asked) and all(one in known for one in asked)
