"""The questions of a step: one to choose an answer to, an exercise that is checked, and what is
often said and not so.
"""

from html import escape
from typing import Any

import streamlit as st

from kafkaviz.errors import KafkavizError
from kafkaviz.figures import roll_words
from kafkaviz.figures.finding_words import capital
from kafkaviz.search import exercise as ceiling
from kafkaviz.ui import parts, rules, state, workshop
from kafkaviz.ui.lessons import tasks
from kafkaviz.ui.lessons.figures import unmade
from kafkaviz.ui.lessons.grammar import Block, NoValue
from kafkaviz.ui.workshop import LETTERS, At
from kafkaviz.words import say

ANSWER_PX = 340  # a text field for a number


def asked(here: At) -> None:
    """Question, exercise, and what misleads, in the order of the file; what is so waits until the
    question is answered.
    """
    for number, block in enumerate(here.step.blocks("predict", "exercise", "misleads")):
        if block.kind == "misleads" and not workshop.is_answered(here):
            continue
        {"predict": _predict, "exercise": _exercise, "misleads": _misleads}[block.kind](
            block, here, number
        )


def _predict(block: Block, here: At, number: int) -> None:
    """Choose first: what is right is told only then."""
    chosen = workshop.letter(block, here.lesson.name, here.part)
    with st.container(key=f"kv_ask_{number}", gap=6):
        with st.container(key="kv_prose_ask"):
            st.markdown(f"**{block['ask']}**")
        for place, (text, is_right) in enumerate(workshop.choices(block)):
            _choice_button(here, place, text, is_right, chosen)
        with st.container(key="kv_reveal"):
            if chosen is None:
                st.markdown(say("workshop.choose_first"))
            else:
                _verdict(workshop.choices(block)[LETTERS.index(chosen)][1])
                st.markdown(block["reveal"])


def _choice_button(here: At, place: int, text: str, is_right: bool, chosen: str | None) -> None:
    """One of the answers; its colour tells whether it is right once one was chosen."""
    mine = LETTERS[place]
    kind = (
        "open"
        if chosen is None
        else "right"
        if is_right
        else "wrong"
        if mine == chosen
        else "other"
    )
    with st.container(key=f"kv_opt_{kind}_{place}"):
        look: dict[str, Any] = {
            "type": "secondary",
            "width": "stretch",
            "shortcut": str(place + 1),
            "on_click": workshop.keep,
        }
        st.button(
            f"`{mine.upper()}`  {text}",
            key=f"kv_choice_{place}",
            args=(here.lesson.name, here.part, mine),
            **look,
        )


def _verdict(is_right: bool) -> None:
    kind, word = ("ok", "right") if is_right else ("error", "wrong_choice")
    st.html(f'<span role="status" class="kv-told {kind}">{escape(say(f"workshop.{word}"))}</span>')


def _exercise(block: Block, here: At, number: int) -> None:
    """A task, the field for its answer, and what the program says to it."""
    with st.container(key=f"kv_task_{number}", gap=8):
        st.html(f'<div class="kv-lab">{escape(say("workshop.exercise"))}</div>')
        with st.container(key="kv_prose_task"):
            st.markdown(block["ask"])
        try:
            of = tasks.task(block)
        except (KafkavizError, NoValue) as fault:
            return unmade(fault, "task")
        if of.given:
            st.html(f'<div class="kv-given">{escape(of.given)}</div>')
        given = _field(of, here)
        if given:
            _judged(of, given, here)
        _helps(block, of)


def _helps(block: Block, of: tasks.Task) -> None:
    """A hint, and the solution."""
    with st.container(horizontal=True, gap=8, key="kv_helps"):
        if block["hint"]:
            with st.popover(say("workshop.hint"), type="tertiary", icon=":material/lightbulb:"):
                st.markdown(block["hint"])
        with st.popover(say("workshop.solution"), type="tertiary", icon=":material/key:"):
            st.markdown(block["solution"])
            if of.by == tasks.RULE:
                st.code(block["rule"], language=None, wrap_lines=True)


def _field(of: tasks.Task, here: At) -> str:
    """Where the answer goes; what is in it, as the address has it too: of a choice its word,
    whatever the language.
    """
    key, told = f"kv_given_{here.lesson.name}_{here.part}", st.query_params.get(state.GIVEN, "")
    given = _chosen(of, key, told) if of.by == tasks.CHOICE else _typed(of, key, told)
    workshop.tell(given)
    return given


def _chosen(of: tasks.Task, key: str, told: str) -> str:
    st.session_state.setdefault(key, told if told in of.choices else None)
    look: dict[str, Any] = {"format_func": _choice, "label_visibility": "collapsed"}
    return st.segmented_control(say("workshop.your_answer"), of.choices, key=key, **look) or ""


def _typed(of: tasks.Task, key: str, told: str) -> str:
    st.session_state.setdefault(key, told[: ceiling.LONGEST])
    if of.by == tasks.RULE:
        st.html(
            '<p class="kv-sm kv-fnt">'
            f"{escape(say('workshop.rule_words', grammar=rules.grammar()))}</p>"
        )
    label, width = ("your_rule", "stretch") if of.by == tasks.RULE else ("your_answer", ANSWER_PX)
    return (
        st.text_input(
            say(f"workshop.{label}"),
            key=key,
            max_chars=ceiling.LONGEST if of.by == tasks.RULE else None,
            width=width,
        )
        or ""
    )


def _choice(word: str) -> str:
    """A word of a task, yes or a cause, as its reader says it."""
    if word in (tasks.YES, tasks.NO):
        return say(f"workshop.{word}")
    return capital(
        roll_words.name(next(cause for cause, short in tasks.CAUSE_NAMES.items() if short == word))
    )


def _judged(of: tasks.Task, given: str, here: At) -> None:
    """Right or not; what is right is kept."""
    try:
        is_right = tasks.is_right(of, given)
        why = "" if is_right else _why(of, given)
    except ceiling.NoRule as fault:
        is_right, why = False, say("workshop.no_rule", where=rules.fault(fault))
    mark, word = ("ok", "right") if is_right else ("info", "not_yet")
    verdict = (
        f"{parts.severity(mark)}<b>{escape(say(f'workshop.{word}'))}</b><span>{escape(why)}</span>"
    )
    st.html(f'<div class="kv-judged" role="status">{verdict}</div>')
    if is_right and (here.lesson.name, here.part, True) not in workshop.answers():
        workshop.keep(here.lesson.name, here.part, workshop.SOLVED)
        st.rerun()


def _why(of: tasks.Task, given: str) -> str:
    if of.by == tasks.RULE:
        checked = ceiling.check(ceiling.parse(given), tasks.np.array(of.answer))
        first = checked.wrong[0]
        found = (
            say("workshop.none")
            if first.ceiling < 0
            else say("workshop.slot_n", slot=first.ceiling)
        )
        return say(
            "workshop.wrong_rule",
            wrong=len(checked.wrong),
            count=len(checked.cases),
            target=first.target,
            ceiling=found,
        )
    if of.by == tasks.CHOICE:
        return ""
    typed = tasks.numbers(given)
    if len(typed) != len(of.answer):
        return (
            say("workshop.no_number")
            if len(of.answer) == 1
            else say("workshop.two_numbers", count=len(of.answer))
        )
    return say("workshop.wrong_numbers", given=" ".join(map(str, typed)))


def _misleads(block: Block, here: At, number: int) -> None:
    """What is often said, what is so, and since when."""
    with st.container(key=f"kv_misleads_{number}", gap=4):
        st.html(f'<div class="kv-lab">{escape(say("workshop.often_said"))}</div>')
        st.markdown(say("workshop.quoted", text=block["said"]))
        st.html(
            f'<div class="kv-lab">{escape(say("workshop.what_is_so"))} · '
            f"{escape(block['versions'])}</div>"
        )
        st.markdown(block["so"])
