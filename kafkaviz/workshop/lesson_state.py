"""The reader's position and answers, all kept in the address.

A copied link therefore opens the same step with the same answers.

    ?lesson=last-offset&at=2&answers=three-files.1b last-offset.2c three-files.4x

`three-files.1b`: in step 1 of the lesson three-files, the reader chose b. The letter x stands for a
solved exercise. `batches~1~130cb` is an answer in the lab of the lesson batches: fault 1 (from 0),
place 130, predictions c and b.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from kafkaviz import workshop
from kafkaviz.app import page_state
from kafkaviz.messages import say
from kafkaviz.workshop import class_seat, open_step
from kafkaviz.workshop.class_room import MAX_ANSWERS, SOLVED, StepKey
from kafkaviz.workshop.lab.break_it import LabAnswer
from kafkaviz.workshop.lessons.grammar import LETTERS, SHORT, Lesson, LessonBlock, LessonStep

ANSWER = re.compile(r"([a-z0-9-]{1,60})\.(\d{1,2})([a-hx])")
LAB_ANSWER = re.compile(r"([a-z0-9-]{1,60})~(\d)~(\d{1,9})([a-e])([a-e])")
RESETS = "kv_resets"  # session key: how often all answers were deleted; part of widget keys
SESSION_PARAMETERS = (
    workshop.LESSON,
    workshop.PART,
    workshop.ANSWERS,
    workshop.NOTES,
    page_state.PAPER,
    workshop.LAB,
    workshop.END,
    page_state.PROJECTOR,
    workshop.CLASS,
    workshop.TRACK,
)


@dataclass(frozen=True)
class LessonPosition:
    """A position in the Workshop: lesson `number` from 0, step `part` from 1."""

    lesson: Lesson
    number: int
    part: int

    @property
    def step(self) -> LessonStep:
        return self.lesson.steps[self.part - 1]

    @property
    def step_key(self) -> StepKey:
        return self.lesson.name, self.part


def current_position(lessons: Sequence[Lesson]) -> LessonPosition:
    """Returns the position in the address; by default the first step of the first lesson."""
    name = st.query_params.get(workshop.LESSON, "")
    number = next((number for number, candidate in enumerate(lessons) if candidate.name == name), 0)
    lesson = lessons[number]
    last = len(lesson.steps)
    part = page_state.number(st.query_params.get(workshop.PART)) or 1
    if is_lab_open(lesson):
        part = (parts(lesson) or [last])[-1]
    return LessonPosition(lesson, number, min(max(part, 1), last))


def restore_address() -> None:
    """Writes this session's last position into the address if the address has no position."""
    if not any(key in st.query_params for key in SESSION_PARAMETERS):
        for key, value in st.session_state.get(workshop.WORKSHOP, {}).items():
            st.query_params[key] = value


def remember_address() -> None:
    st.session_state[workshop.WORKSHOP] = {
        key: st.query_params[key] for key in SESSION_PARAMETERS if key in st.query_params
    }


def open_lab(name: str, part: int) -> None:
    """Opens the lab of the lesson `name`. `part` is the number of the lesson's last step."""
    open_step(name, part)
    st.query_params[workshop.LAB] = "1"


def lab_block(lesson: Lesson) -> LessonBlock | None:
    blocks = [block for step in lesson.steps for block in step.blocks("break-it")]
    return blocks[-1] if blocks else None


def is_lab_open(lesson: Lesson) -> bool:
    return bool(st.query_params.get(workshop.LAB) and lab_block(lesson))


def toggle_parameter(name: str) -> None:
    workshop.set_parameter(name, "" if st.query_params.get(name) else "1")


def answers() -> dict[tuple[str, int, bool], str]:
    """Returns the reader's answers, by (lesson, step number, whether it answers an exercise).

    An answer is the letter of a choice, or SOLVED for an exercise.
    """
    matches = ANSWER.findall(st.query_params.get(workshop.ANSWERS, ""))[:MAX_ANSWERS]
    return {(name, int(part), letter == SOLVED): letter for name, part, letter in matches}


def record_answer(name: str, part: int, letter: str) -> None:
    """Stores an answer in the address and, in a class, in the room. Replaces an earlier answer."""
    class_seat.record_answer((name, part), letter)
    _write_answers(answers() | {(name, part, letter == SOLVED): letter}, _lab_answers())


def lab_answers(name: str) -> dict[int, LabAnswer]:
    """Returns the predictions in a lesson's lab, by fault number from 0."""
    return {number: answer for (lesson, number), answer in _lab_answers().items() if lesson == name}


def record_lab_answer(name: str, number: int, answer: LabAnswer) -> None:
    _write_answers(answers(), _lab_answers() | {(name, number): answer})


def _lab_answers() -> dict[tuple[str, int], LabAnswer]:
    matches = LAB_ANSWER.findall(st.query_params.get(workshop.ANSWERS, ""))[:MAX_ANSWERS]
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
    st.query_params[workshop.ANSWERS] = " ".join([*step_words, *lab_words])


def answer_count() -> int:
    """Returns the number of answers, including those in labs."""
    return len(answers()) + len(_lab_answers())


def reset() -> None:
    """Deletes all answers and opens the first lesson."""
    for key in [key for key in st.session_state if str(key).startswith("kv_given_")]:
        del st.session_state[key]
    position_keys = (workshop.LESSON, workshop.PART, page_state.STEP, workshop.LAB, workshop.END)
    for key in (workshop.ANSWERS, workshop.TYPED_ANSWER, *position_keys):
        st.query_params.pop(key, None)
    st.session_state.pop(workshop.WORKSHOP, None)
    st.session_state[RESETS] = st.session_state.get(RESETS, 0) + 1


def is_teacher() -> bool:
    """Returns whether to show all answers.

    True for the teacher of a class, on a page with teacher's notes, and on a projector's page.
    """
    return class_seat.is_teacher() or any(
        st.query_params.get(key) for key in (workshop.NOTES, page_state.PROJECTOR)
    )


def track() -> str:
    return SHORT if st.query_params.get(workshop.TRACK) == SHORT else ""


def parts(lesson: Lesson, name: str | None = None) -> list[int]:
    """Returns the numbers, from 1, of the lesson's steps that belong to a track.

    `name` is SHORT, "" for the track of all steps, or None for the track in the address.
    """
    has_all = not (track() if name is None else name)
    return [number for number, step in enumerate(lesson.steps, 1) if has_all or step.is_short]


def previous_step(lessons: Sequence[Lesson], position: LessonPosition) -> StepKey | None:
    """Returns lesson and step number before this position; None at the first step.

    If a lab is open, returns the last step of its lesson.
    """
    if is_lab_open(position.lesson):
        return position.step_key
    earlier_keys = [key for key in _step_keys(lessons) if key < (position.number, position.part)]
    return (lessons[earlier_keys[-1][0]].name, earlier_keys[-1][1]) if earlier_keys else None


def next_step(lessons: Sequence[Lesson], position: LessonPosition) -> StepKey | None:
    """Returns lesson and step number after this position; None at the last step."""
    later_keys = [key for key in _step_keys(lessons) if key > (position.number, position.part)]
    return (lessons[later_keys[0][0]].name, later_keys[0][1]) if later_keys else None


def begin_minute(lessons: Sequence[Lesson], position: LessonPosition) -> float:
    """Returns the planned minute of the session at which a step begins."""
    return sum(
        lessons[number].steps[part - 1].minutes
        for number, part in _step_keys(lessons)
        if (number, part) < (position.number, position.part)
    )


def minutes(lessons: Sequence[Lesson], name: str | None = None) -> float:
    """Returns the planned minutes of the lessons' steps that belong to a track, see `parts`."""
    return sum(lesson.steps[part - 1].minutes for lesson in lessons for part in parts(lesson, name))


def lesson_count(lessons: Sequence[Lesson]) -> int:
    return sum(bool(parts(lesson)) for lesson in lessons)


def position_text(lessons: Sequence[Lesson], position: LessonPosition) -> str:
    """Returns text such as "lesson 2 of 7, step 1 of 4", counted within the current track."""
    until_here = lessons[: position.number + 1]
    track_parts = parts(position.lesson)
    number = lesson_count(until_here)
    count = lesson_count(lessons)
    if position.part not in track_parts:  # a link may lead to a step that is not in the track
        track_parts = parts(position.lesson, "")
        number = len(until_here)
        count = len(lessons)
    return say(
        "workshop.lesson_of",
        number=number,
        count=count,
        step=track_parts.index(position.part) + 1,
        steps=len(track_parts),
    )


def _step_keys(lessons: Sequence[Lesson]) -> list[tuple[int, int]]:
    name = track()
    return [(number, part) for number, lesson in enumerate(lessons) for part in parts(lesson, name)]


def letter(block: LessonBlock, name: str, part: int) -> str | None:
    """Returns the chosen letter of a question; None without a valid choice."""
    choice = answers().get((name, part, False))
    return choice if choice and choice in LETTERS[: len(block.choices)] else None


def is_answered(position: LessonPosition) -> bool:
    """Returns whether the question of a step is answered; True for a step without a question.

    At the current step of a class, returns whether the teacher has revealed the answers.
    """
    questions = position.step.blocks("predict")
    is_revealed = class_seat.is_revealed(position.step_key)
    if is_revealed is not None and questions:
        return is_revealed
    return all(letter(block, *position.step_key) for block in questions)


def is_solved(position: LessonPosition) -> bool:
    """Returns whether the exercise of a step is solved, or its answer is revealed to the class."""
    is_revealed = class_seat.is_revealed(position.step_key)
    return bool(is_revealed) or (*position.step_key, True) in answers()


def is_settled(position: LessonPosition) -> bool:
    """Returns whether a step has no unanswered question and no unsolved exercise."""
    return is_answered(position) and (is_solved(position) or not position.step.blocks("exercise"))


def questions(lesson: Lesson) -> list[tuple[str, int, bool]]:
    """Returns (lesson, step, whether it is an exercise) per question or exercise.

    Leaves out steps that are not in the track in the address.
    """
    return [
        (lesson.name, number, block.kind == "exercise")
        for number in parts(lesson)
        for block in lesson.steps[number - 1].blocks("predict", "exercise")
    ]


def is_done(lesson: Lesson) -> bool:
    """Returns whether a lesson has questions or exercises, and all of them are answered."""
    question_keys = questions(lesson)
    return bool(question_keys) and set(question_keys) <= answers().keys()
