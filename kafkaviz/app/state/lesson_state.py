"""Where a reader of the Workshop is, and what was answered.

All of it in the address, so that a link goes on where it was copied.

    ?lesson=last-offset&at=2&answers=three-files.1b last-offset.2c three-files.4x

An answer is the lesson, the number of its step, and the letter of the choice; x is an exercise that
was solved. batches~1~130cb is of the lab at the end of a lesson: the number of the fault from 0,
its place, and the letters of both predictions.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from kafkaviz.app.lessons.grammar import LETTERS, SHORT, Lesson, LessonBlock, LessonStep
from kafkaviz.app.lessons.live.break_it import LabAnswer
from kafkaviz.app.state import class_seat, page_state
from kafkaviz.app.state.class_room import MAX_ANSWERS, SOLVED
from kafkaviz.app.state.lesson_step import open_step
from kafkaviz.messages import say

ANSWER = re.compile(r"([a-z0-9-]{1,60})\.(\d{1,2})([a-hx])")
LAB_ANSWER = re.compile(r"([a-z0-9-]{1,60})~(\d)~(\d{1,9})([a-e])([a-e])")
RESETS = "kv_resets"  # how often this session has forgotten all answers
SESSION_PARAMETERS = (
    page_state.LESSON,
    page_state.PART,
    page_state.ANSWERS,
    page_state.NOTES,
    page_state.PAPER,
    page_state.LAB,
    page_state.PROJECTOR,
    page_state.CLASS,
    page_state.TRACK,
)


@dataclass(frozen=True)
class LessonPosition:
    """A lesson, its place among all from 0, and one of its steps, from 1."""

    lesson: Lesson
    number: int
    part: int

    @property
    def step(self) -> LessonStep:
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
    if is_lab_open(lesson):
        part = parts(lesson)[-1] if parts(lesson) else len(lesson.steps)
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


def open_lab(name: str, part: int) -> None:
    """To the lab at the end of a lesson, whose last step this is."""
    open_step(name, part)
    st.query_params[page_state.LAB] = "1"


def lab_block(lesson: Lesson) -> LessonBlock | None:
    """The lab of a lesson; None where it has none."""
    blocks = [block for step in lesson.steps for block in step.blocks("break-it")]
    return blocks[-1] if blocks else None


def is_lab_open(lesson: Lesson) -> bool:
    """Whether the address leads to the lab of the lesson, and there is one."""
    return bool(st.query_params.get(page_state.LAB)) and lab_block(lesson) is not None


def step_name(position: LessonPosition) -> str:
    """A lesson and its step in one word, as the teacher's windows tell each other."""
    return f"{position.lesson.name}.{position.part}"


def open_named_step(step_name: str) -> None:
    """To the step that another window named."""
    name, _, part = step_name.rpartition(".")
    if part.isdecimal():
        open_step(name, int(part))


def open_glossary() -> None:
    """To the words, none of them chosen."""
    st.query_params[page_state.WORD] = page_state.ALL_WORDS


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
    class_seat.record_answer((name, part), letter)
    _write_answers(answers() | {(name, part, letter == SOLVED): letter}, _lab_answers())


def lab_answers(name: str) -> dict[int, LabAnswer]:
    """What was predicted in the lab of a lesson, by the number of the fault."""
    return {number: answer for (lesson, number), answer in _lab_answers().items() if lesson == name}


def record_lab_answer(name: str, number: int, answer: LabAnswer) -> None:
    """Remembers the predictions for a fault; others for the same fault take their place."""
    _write_answers(answers(), _lab_answers() | {(name, number): answer})


def _lab_answers() -> dict[tuple[str, int], LabAnswer]:
    matches = LAB_ANSWER.findall(st.query_params.get(page_state.ANSWERS, ""))[:MAX_ANSWERS]
    return {
        (name, int(number)): LabAnswer(int(place), start, read)
        for name, number, place, start, read in matches
    }


def _write_answers(
    step_answers: Mapping[tuple[str, int, bool], str],
    predictions: Mapping[tuple[str, int], LabAnswer],
) -> None:
    step_words = (f"{name}.{part}{letter}" for (name, part, _), letter in step_answers.items())
    lab_words = (
        f"{name}~{number}~{answer.place}{answer.start}{answer.read}"
        for (name, number), answer in predictions.items()
    )
    st.query_params[page_state.ANSWERS] = " ".join([*step_words, *lab_words])


def answer_count() -> int:
    """How many answers there are to forget, those of the labs among them."""
    return len(answers()) + len(_lab_answers())


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
        page_state.LAB,
    ):
        st.query_params.pop(key, None)
    st.session_state.pop(page_state.WORKSHOP, None)
    st.session_state[RESETS] = st.session_state.get(RESETS, 0) + 1


def is_teacher() -> bool:
    """Whether a question holds nobody up: in the notes, on a projector, before a class."""
    return class_seat.is_teacher() or any(
        st.query_params.get(key) for key in (page_state.NOTES, page_state.PROJECTOR)
    )


def track() -> str:
    """The track that the address names: SHORT, or "" for all steps."""
    return SHORT if st.query_params.get(page_state.TRACK) == SHORT else ""


def set_track(name: str) -> None:
    """Chooses a track; what was answered stays."""
    if name:
        st.query_params[page_state.TRACK] = name
    else:
        st.query_params.pop(page_state.TRACK, None)


def parts(lesson: Lesson, name: str | None = None) -> list[int]:
    """The numbers of the steps that a track has of a lesson, from 1.

    Args:
        name: of the track, by default that of the address.
    """
    has_all = not (track() if name is None else name)
    return [number for number, step in enumerate(lesson.steps, 1) if has_all or step.is_short]


def previous_step(lessons: Sequence[Lesson], position: LessonPosition) -> tuple[str, int] | None:
    """The lesson and the number of the step before; None before the first.

    Of a lab that of the last step.
    """
    if is_lab_open(position.lesson):
        return position.lesson.name, position.part
    before = [key for key in _step_keys(lessons) if key < (position.number, position.part)]
    return (lessons[before[-1][0]].name, before[-1][1]) if before else None


def next_step(lessons: Sequence[Lesson], position: LessonPosition) -> tuple[str, int] | None:
    """The lesson and the number of the step behind; None behind the last."""
    behind = [key for key in _step_keys(lessons) if key > (position.number, position.part)]
    return (lessons[behind[0][0]].name, behind[0][1]) if behind else None


def begin_minute(lessons: Sequence[Lesson], position: LessonPosition) -> float:
    """At which minute of the session a step begins."""
    return sum(
        lessons[number].steps[part - 1].minutes
        for number, part in _step_keys(lessons)
        if (number, part) < (position.number, position.part)
    )


def minutes(lessons: Sequence[Lesson], name: str | None = None) -> float:
    """How long these lessons take in a track, by default that of the address."""
    return sum(lesson.steps[part - 1].minutes for lesson in lessons for part in parts(lesson, name))


def position_text(lessons: Sequence[Lesson], position: LessonPosition) -> str:
    """Which lesson and which step this is, of how many; the track says how many."""
    track_parts = parts(position.lesson)
    if position.part not in track_parts:  # a link led here, past the track
        track_parts = parts(position.lesson, "")
    return say(
        "workshop.lesson_of",
        number=position.number + 1,
        count=len(lessons),
        step=track_parts.index(position.part) + 1,
        steps=len(track_parts),
    )


def _step_keys(lessons: Sequence[Lesson]) -> list[tuple[int, int]]:
    """All steps of the track in order: the lesson's number from 0, and the step's from 1."""
    name = track()
    return [(number, part) for number, lesson in enumerate(lessons) for part in parts(lesson, name)]


def letter(block: LessonBlock, name: str, part: int) -> str | None:
    """The letter that was chosen in a question.

    Returns:
        None where none was, or one that it does not have.
    """
    choice = answers().get((name, part, False))
    return choice if choice and choice in LETTERS[: len(block.choices)] else None


def is_answered(position: LessonPosition) -> bool:
    """Whether the question of the step, if it has one, is answered.

    At the step of a class: whether the teacher has revealed it.
    """
    is_revealed = class_seat.is_revealed((position.lesson.name, position.part))
    if is_revealed is not None and position.step.blocks("predict"):
        return is_revealed
    return all(
        letter(block, position.lesson.name, position.part) is not None
        for block in position.step.blocks("predict")
    )


def is_solved(position: LessonPosition) -> bool:
    """Whether the task of the step is solved, or was revealed to the class."""
    is_revealed = class_seat.is_revealed((position.lesson.name, position.part))
    return bool(is_revealed) or (position.lesson.name, position.part, True) in answers()


def is_settled(position: LessonPosition) -> bool:
    """Whether all that the step asks is answered, so that nothing may tell too early."""
    return is_answered(position) and (is_solved(position) or not position.step.blocks("exercise"))


def questions(lesson: Lesson) -> list[tuple[str, int, bool]]:
    """All questions and exercises that the track has of a lesson, as `answers` has them."""
    numbered_blocks = (
        (number, block.kind == "exercise")
        for number in parts(lesson)
        for block in lesson.steps[number - 1].blocks("predict", "exercise")
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
