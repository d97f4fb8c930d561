"""The lab of a lesson: readers damage a copy of a log and predict what a broker does with it.

Text and questions are on the left, damage and result on the right. A lesson names only the faults;
the right answers are computed from the bytes of the copy (start_trial.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import streamlit as st

from kafkaviz import versions
from kafkaviz.analysis.findings import Finding
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.app.widgets import elements, tables
from kafkaviz.errors import CannotOpen
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import message, say
from kafkaviz.units import format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.lab import FAULTS, Client, LogCopy, copy_log, start_trial, views
from kafkaviz.workshop.lab.start_trial import RELEASE, ReadOutcome, StartOutcome, StartTrial
from kafkaviz.workshop.lab.views import HexRow, OffsetBar, OffsetStrip
from kafkaviz.workshop.lessons.grammar import LETTERS, LessonBlock, NoValue

OPEN_KINDS = ("chosen", "open")  # kinds of choices before the start
MAX_RIGHT = 0.75  # beyond this share of the width, a mark's text is on its left
MAX_TRIALS = 128  # cached results
MAX_COPIES = 8  # cached copies of logs
OUTCOMES: Mapping[str, tuple[StrEnum, ...]] = {
    "start": tuple(StartOutcome),
    "read": tuple(ReadOutcome),
}


@dataclass(frozen=True)
class FaultLab:
    snapshot: BrokerSnapshot
    directory: str
    copy: LogCopy
    faults: tuple[str, ...]

    def places(self, number: int) -> range:
        """Returns the numbers of the places (such as bytes) that `faults[number]` can damage."""
        return FAULTS[self.faults[number]].places(self.copy)

    def trial(self, number: int, place: int) -> StartTrial:
        return _trial(self.snapshot, self.directory, self.copy.segment, self.faults[number], place)


@dataclass(frozen=True)
class LabAnswer:
    """A reader's two predictions for a fault at a place, as letters of choices in OUTCOMES."""

    place: int
    start: str
    read: str

    def score(self, trial: StartTrial) -> int:
        return sum(
            letter == right_letter(question, trial)
            for question, letter in (("start", self.start), ("read", self.read))
        )


def right_letter(question: str, trial: StartTrial) -> str:
    outcome = trial.start if question == "start" else trial.read
    return LETTERS[OUTCOMES[question].index(outcome)]


def make(block: LessonBlock) -> FaultLab:
    """Returns the lab that a block describes.

    Raises:
        NoValue: a fault does not exist, or it cannot damage this log.
        KafkavizError: the log cannot be read.
    """
    location = block_location.locate(block)
    directory = location.partition.directory
    segment = location.segment.base_offset
    copy = _copy(location.snapshot, directory, segment)
    for name in block["fault"]:
        if name not in FAULTS:
            raise NoValue(message("break_it.no_such_fault", names=tuple(FAULTS)))
        if not FAULTS[name].places(copy):
            raise NoValue(message("break_it.no_place", fault=name))
    return FaultLab(location.snapshot, directory, copy, block["fault"])


@st.cache_resource(max_entries=MAX_COPIES, show_spinner=False, hash_funcs=HASH_FUNCS)
def _copy(snapshot: BrokerSnapshot, directory: str, segment: int) -> LogCopy:
    partition = snapshot.broker.partition(directory)
    return copy_log(snapshot.broker, partition, segment, versions.parse(RELEASE))


@st.cache_resource(max_entries=MAX_TRIALS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _trial(
    snapshot: BrokerSnapshot, directory: str, segment: int, fault: str, place: int
) -> StartTrial:
    return start_trial.run_trial(_copy(snapshot, directory, segment), FAULTS[fault], place)


@st.cache_resource(max_entries=MAX_TRIALS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _findings(
    snapshot: BrokerSnapshot, directory: str, segment: int, fault: str = "", place: int = 0
) -> tuple[Finding, ...]:
    """Returns the findings about a copy of the log, after damage by `fault` ("": no damage)."""
    copy = _copy(snapshot, directory, segment)
    broken_copy = FAULTS[fault].damage(copy, place).copy if fault else copy
    return start_trial.check_copy(snapshot.broker, broken_copy)


def _new_findings(lab: FaultLab, number: int, place: int) -> tuple[Finding, ...]:
    """Returns the findings that fault `number` at `place` causes in a copy of the log.

    Returns () if the damaged copy cannot be opened.
    """
    at = (lab.snapshot, lab.directory, lab.copy.segment)
    damage = lab.trial(number, place).damage
    try:
        findings = _findings(*at, lab.faults[number], place)
        return start_trial.new_findings(findings, _findings(*at), damage)
    except CannotOpen:
        return ()


def total_score(lab: FaultLab, answers: Mapping[int, LabAnswer]) -> tuple[int, int]:
    """Returns (number of right predictions, number of questions in the lab)."""
    right = sum(
        answer.score(lab.trial(number, answer.place))
        for number, answer in answers.items()
        if number < len(lab.faults) and answer.place in lab.places(number)
    )
    return right, 2 * len(lab.faults)


def render(
    lab: FaultLab,
    block: LessonBlock,
    lesson: str,
    answers: Mapping[int, LabAnswer],
    on_start: Callable[[int, LabAnswer], None],
    *,
    head: Html,
    widths: tuple[float, float],
) -> None:
    """Draws the lab: head and questions on the left, damage and result on the right.

    `answers` has the reader's predictions by fault number. `on_start` is called with a fault number
    and the predictions for this fault. `widths` are the relative widths of the two columns.
    """
    with st.container(key="kv_stage"):
        words, stage = st.columns(widths, gap=32)
        with stage, st.container(key="kv_figures", gap=None):
            number, place = _render_controls(lab, lesson, answers)
            trial = lab.trial(number, place)
            answer = answers.get(number)
            if answer and answer.place != place:  # the answer is about a different place
                answer = None
            _damage(lab, trial, number, place)
            if answer:
                _result(lab, trial, number, place)
            else:
                st.html(_strip(views.strip(trial), is_started=False))
        with words:
            st.html(head)
            st.markdown(say("break_it.lead", tp=block["tp"], data=block["data"], release=RELEASE))
            key = f"kv_given_break_{lesson}_{number}_{place}"
            _render_questions(trial, answer, key)
            if answer:
                _verdict(lab, trial, answer, answers)
            else:
                _start_button(key, number, place, on_start)


def _render_controls(
    lab: FaultLab, lesson: str, answers: Mapping[int, LabAnswer]
) -> tuple[int, int]:
    number = st.segmented_control(
        say("break_it.faults"),
        range(len(lab.faults)),
        format_func=lambda number: say(f"break_it.name_{lab.faults[number]}"),
        key=f"kv_break_fault_{lesson}",
        default=0,
        required=True,
    )
    number = number or 0
    fault = FAULTS[lab.faults[number]]
    places = lab.places(number)
    if len(places) == 1:
        return number, places[0]
    answer = answers.get(number)
    initial = answer.place if answer and answer.place in places else fault.default_place(lab.copy)
    place = st.slider(
        views.place_label(lab.faults[number]),
        places[0],
        places[-1],
        initial,
        places.step,
        key=f"kv_break_place_{lesson}_{number}",
    )
    return number, place


def _question_text(question: str, trial: StartTrial) -> str:
    if question == "start":
        return say("break_it.ask_start")
    if trial.client is Client.ALL_OFFSETS:
        return say("break_it.ask_all")
    offset = format_count(trial.expected_reading.answer)
    return say("break_it.ask_time", time=trial.timestamp_ms, offset=offset)


def _choice_text(question: str, outcome: StrEnum, trial: StartTrial) -> str:
    if question == "start":
        return say(f"break_it.start_{outcome.value}")
    has_one_text = trial.client is Client.ALL_OFFSETS or outcome is ReadOutcome.NOT_SERVED
    kind = "all" if has_one_text else "time"
    offset = format_count(trial.expected_reading.answer)
    return say(f"break_it.{kind}_{outcome.value}", offset=offset)


def _render_questions(trial: StartTrial, answer: LabAnswer | None, key: str) -> None:
    letters = vars(answer) if answer else st.session_state.get(key, {})
    for question, outcomes in OUTCOMES.items():
        letter = letters.get(question)
        right = right_letter(question, trial) if answer else None
        with st.container(key=f"kv_ask_{question}", gap=4):
            with st.container(key=f"kv_prose_break_{question}"):
                st.markdown(f"**{elements.escape_markdown(_question_text(question, trial))}**")
            for index, outcome in enumerate(outcomes):
                kind = choice_kind(LETTERS[index], letter, right)
                _choice_button(question, index, _choice_text(question, outcome, trial), kind, key)


def choice_kind(letter: str, chosen_letter: str | None, right: str | None) -> str:
    """Returns "open", "chosen", "right", "wrong" or "other". `right` is None before the answer."""
    if right is None:
        return "chosen" if letter == chosen_letter else "open"
    if letter == right:
        return "right"
    if letter == chosen_letter:
        return "wrong"
    return "other"


def _choice_button(question: str, index: int, text: str, kind: str, key: str) -> None:
    letter = LETTERS[index]
    with st.container(key=f"kv_opt_{kind}_{question}_{index}"):
        st.button(
            f"`{letter.upper()}`  {elements.escape_markdown(text)}",
            key=f"kv_predict_{question}_{index}",
            width="stretch",
            on_click=partial(_predict, key, question, letter) if kind in OPEN_KINDS else None,
        )


def _predict(key: str, question: str, letter: str) -> None:
    st.session_state[key] = st.session_state.get(key, {}) | {question: letter}


def _start_button(
    key: str, number: int, place: int, on_start: Callable[[int, LabAnswer], None]
) -> None:
    letters = st.session_state.get(key, {})
    is_ready = letters.keys() == OUTCOMES.keys()
    with st.container(key="kv_break_go", horizontal=True, gap=12, vertical_alignment="center"):
        answer = LabAnswer(place, letters.get("start", ""), letters.get("read", ""))
        st.button(
            say("break_it.start"),
            icon=":material/play_arrow:",
            key="kv_break_start",
            type="primary",
            disabled=not is_ready,
            on_click=on_start,
            args=(number, answer),
        )
        if not is_ready:
            note = tag("span", say("break_it.predict_first"), class_="kv-sm kv-fnt")
            st.html(note, width="content")


def _verdict(
    lab: FaultLab, trial: StartTrial, answer: LabAnswer, answers: Mapping[int, LabAnswer]
) -> None:
    right = answer.score(trial)
    right_total, count = total_score(lab, answers)
    mark = "ok" if right == len(OUTCOMES) else "info"
    score = tag("b", say("break_it.score", right=right))
    total = tag("span", say("break_it.total", right=right_total, count=count))
    st.html(tag("div", elements.severity(mark), score, total, class_="kv-judged", role="status"))


def _damage(lab: FaultLab, trial: StartTrial, number: int, place: int) -> None:
    view = views.damage_view(lab.copy, trial.damage, lab.faults[number], place)
    elements.figure_head(view.title, view.stop)
    rows = (
        _hex_row(say("rolls.before"), view.before, view.note_before),
        _hex_row(say("break_it.file_after"), view.after, view.note_after),
    )
    st.html(tag("div", *rows, class_="kv-hex"))


def _hex_row(name: str, rows: tuple[HexRow, ...], note: str) -> Html:
    if not rows and not note:
        return Html()
    lines = []
    for row in rows:
        cells = (tag("mark" if changed else "span", text or "··") for text, changed in row.cells)
        lines.append(tag("div", tag("span", f"{row.position:06d}", class_="at"), *cells))
    if note:
        lines.append(tag("div", note, class_="note"))
    return join((tag("div", name, class_="kv-lab"), tag("div", *lines)))


def _result(lab: FaultLab, trial: StartTrial, number: int, place: int) -> None:
    view = views.trial_view(trial, _new_findings(lab, number, place), RELEASE)
    with st.container(key="kv_break_result", gap=10):
        elements.figure_head(view.title, "")
        st.html(_strip(view.strip, is_started=True))
        heads = [say(f"break_it.head_{name}") for name in ("who", "what")]
        rows = ((who, join(lines, tag("br"))) for who, lines in view.rows)
        tables.table(heads, rows, "lw")
        st.html(tag("p", view.note, class_="kv-sm kv-fnt"))


def _strip(strip: OffsetStrip, *, is_started: bool) -> Html:
    lines = [tag("s", style=f"left:{share:.2%}") for share in strip.segments]
    before = _bar(strip.before, lines)
    if strip.broken:
        start, stop = strip.broken
        before.append(tag("u", style=f"left:{start:.2%};width:{stop - start:.2%}"))
    after = _bar(strip.after, lines) if is_started else [tag("em", "?")]
    return tag(
        "div",
        tag("span", say("break_it.axis_before")),
        tag("div", *before, class_="bar"),
        tag("span", say("break_it.axis_after")),
        tag("div", *after, class_="bar"),
        class_="kv-offsets",
        role="img",
        aria_label=strip.text if is_started else say("break_it.axis_before"),
    )


def _bar(bar: OffsetBar, lines: Sequence[Html]) -> list[Html]:
    parts = []
    for part in bar.parts:
        style = f"left:{part.start:.3%};width:{part.stop - part.start:.3%}"
        parts.append(tag("i", class_=part.kind.value, style=style))
    parts += lines
    if bar.mark is not None:
        share, text = bar.mark
        side = "left" if share > MAX_RIGHT else None
        parts.append(tag("b", text, class_=side, style=f"left:{share:.2%}"))
    return parts
