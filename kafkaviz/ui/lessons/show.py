"""The Workshop page: the strip of lessons, one step with its figure and its question, and the way to the next."""

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st

from kafkaviz import words
from kafkaviz.errors import KafkavizError
from kafkaviz.search import exercise as ceiling
from kafkaviz.ui import lessons as found_lessons
from kafkaviz.ui import parts, rules, spoken, state, workshop
from kafkaviz.ui.frame import PAGES, frame
from kafkaviz.ui.lessons import handout, live, tasks
from kafkaviz.ui.lessons.grammar import Block, Fault, Lesson, NoValue, Step
from kafkaviz.ui.printed import printed
from kafkaviz.ui.workshop import LETTERS, At
from kafkaviz.words import say

WIDTHS = (0.425, 0.575)  # of text and figure
BESIDE = (0.5, 0.5)  # of text and question, above a figure that is wide
CSS = Path(__file__).with_name("lessons.css")
ANSWER_PX = 340  # a text field for a number


def main() -> None:
    """The page, or the sentence that says why there is none."""
    workshop.come_back()
    found, faults = found_lessons.lessons(spoken.language())
    here = workshop.at(found) if found else None
    frame("Workshop", lambda: crumbs(found, here), lambda: tools(here))
    printed()
    st.html(f"<style>{_stylesheet()}</style>")
    broken(faults)
    if here is None:
        with parts.empty("lessons", say("workshop.no_lessons"), say("workshop.no_lessons_below"), level=1):
            pass
    elif st.query_params.get(state.PAPER):
        handout.show(here, len(found), bool(st.query_params.get(state.NOTES)))
    else:
        strip(found, here)
        one_step(found, here)
    workshop.remember()


@cache
def _stylesheet() -> str:
    return CSS.read_text(encoding="utf-8")


# ---- around the step


def crumbs(found: Sequence[Lesson], here: At | None) -> None:
    """Workshop › the lesson, which is a picker."""
    st.html(f'<span style="padding:0 8px">{escape(say("workshop.title"))}</span>', width="content")
    if here is None:
        return
    st.html('<span class="kv-sep" aria-hidden="true">›</span>', width="content")
    names = {_named(number, one): one.name for number, one in enumerate(found)}
    chosen = st.menu_button(
        parts.plain(_named(here.number, here.lesson)), [*names], format_func=parts.plain, type="tertiary", key="kv_pick_lesson"
    )
    if chosen and names[chosen] != here.lesson.name:
        workshop.go(names[chosen], 1)
        st.rerun()


def _named(number: int, lesson: Lesson) -> str:
    return say("workshop.lesson_named", number=number + 1, title=lesson.title)


def tools(here: At | None) -> None:
    """The teacher's notes, the hand-out."""
    if here is not None:
        has_notes = bool(st.query_params.get(state.NOTES))
        icon = ":material/co_present:" if not has_notes else ":material/close:"
        st.button(say("workshop.notes"), icon=icon, type="tertiary", key="kv_notes", on_click=switch, args=(state.NOTES,))
        on_paper = bool(st.query_params.get(state.PAPER))
        label = say("workshop.lesson" if on_paper else "workshop.paper")
        st.button(label, icon=":material/print:", type="tertiary", key="kv_paper", on_click=switch, args=(state.PAPER,))


def switch(name: str) -> None:
    """Sets a parameter of the address that is yes or not there."""
    if st.query_params.get(name):
        st.query_params.pop(name)
    else:
        st.query_params[name] = "1"


def broken(faults: Sequence[Fault]) -> None:
    """Files that are no lessons, with the line."""
    if not faults:
        return
    files = len({fault.file for fault in faults})
    finding = say("workshop.broken_one") if files == 1 else say("workshop.broken", count=files)
    with parts.state("broken", "warning", finding, say("workshop.broken_below")):
        st.code("\n".join(map(str, faults[:20])), language=None)
    st.space(16)


def strip(found: Sequence[Lesson], here: At) -> None:
    """All lessons, those that are done marked; each a button."""
    with st.container(horizontal=True, gap=6, key="kv_lessons"):
        for number, one in enumerate(found):
            kind = "on" if number == here.number else "done" if workshop.is_done(one) else "todo"
            with st.container(key=f"kv_lesson_{kind}_{number}"):
                label = f"✓ {one.short}" if kind != "todo" and workshop.is_done(one) else one.short
                st.button(
                    parts.plain(label),
                    type="tertiary",
                    key=f"kv_go_{number}",
                    on_click=workshop.go,
                    args=(one.name, 1),
                    help=None,
                    width="stretch",
                )


# ---- a step


def one_step(found: Sequence[Lesson], here: At) -> None:
    """Text, question and figure; a wide figure has the page's width below them."""
    figures = [block for block in here.step.blocks() if block.kind in live.LIVE]
    is_wide = any(found_lessons.KINDS[block.kind].is_wide for block in figures)
    if is_wide:
        left, right = st.columns(BESIDE, gap=40)
        with left:
            head(found, here)
            prose(here.step)
            onward(found, here, figures)
        with right:
            asked(here)
            notes(found, here)
        st.space(20)
        drawn(figures, here)
        return
    left, right = st.columns(WIDTHS, gap=40)
    with left:
        head(found, here)
        prose(here.step)
        asked(here)
        onward(found, here, figures)
    with right:
        drawn(figures, here)
        notes(found, here)


def head(found: Sequence[Lesson], here: At) -> None:
    """Which step this is, and its heading."""
    where = say("workshop.lesson_of", number=here.number + 1, count=len(found), step=here.part, steps=len(here.lesson.steps))
    other = ""
    if here.lesson.language != words.language():
        spoken = words.LANGUAGES.get(here.lesson.language, here.lesson.language)
        other = f" · {say('workshop.only_in', language=spoken)}"
    above = f'<div class="kv-lab">{escape(where + other)}</div>'
    st.html(f'<div class="kv-lesson" lang="{here.lesson.language}">{above}<h1>{escape(here.step.title)}</h1></div>')


def prose(step: Step) -> None:
    """The text of a step."""
    with st.container(key="kv_prose", gap=None):
        for one in step.parts:
            if isinstance(one, str):
                st.markdown(one)


def asked(here: At) -> None:
    """Question, exercise, and what misleads, in the order of the file."""
    for number, block in enumerate(here.step.blocks("predict", "exercise", "misleads")):
        {"predict": predict, "exercise": exercise, "misleads": misleads}[block.kind](block, here, number)


def predict(block: Block, here: At, number: int) -> None:
    """Choose first: what is right is told only then."""
    chosen = workshop.letter(block, here.lesson.name, here.part)
    with st.container(key=f"kv_ask_{number}", gap=6):
        with st.container(key="kv_prose_ask"):
            st.markdown(f"**{block['ask']}**")
        for place, (text, is_right) in enumerate(workshop.choices(block)):
            mine = LETTERS[place]
            kind = "open" if chosen is None else "right" if is_right else "wrong" if mine == chosen else "other"
            with st.container(key=f"kv_opt_{kind}_{place}"):
                look = {"type": "secondary", "width": "stretch", "shortcut": str(place + 1)}
                st.button(f"`{mine.upper()}`  {text}", key=f"kv_choice_{place}", on_click=answer, args=(here, mine), **look)
        with st.container(key="kv_reveal"):
            if chosen is None:
                st.markdown(say("workshop.choose_first"))
            else:
                _verdict(workshop.choices(block)[LETTERS.index(chosen)][1])
                st.markdown(block["reveal"])


def _verdict(is_right: bool) -> None:
    kind, word = ("ok", "right") if is_right else ("error", "wrong_choice")
    st.html(f'<span role="status" class="kv-told {kind}">{escape(say(f"workshop.{word}"))}</span>')


def answer(here: At, letter: str) -> None:
    """A choice was made; the stepper below begins anew."""
    st.query_params.pop(workshop.STEPPER, None)
    workshop.keep(here.lesson.name, here.part, letter)


def exercise(block: Block, here: At, number: int) -> None:
    """A task, the field for its answer, and what the program says to it."""
    with st.container(key=f"kv_task_{number}", gap=8):
        st.html(f'<div class="kv-lab">{escape(say("workshop.exercise"))}</div>')
        with st.container(key="kv_prose_task"):
            st.markdown(block["ask"])
        try:
            of = tasks.task(block)
        except (KafkavizError, NoValue) as fault:
            return _unmade(fault, "task")
        if of.given:
            st.html(f'<div class="kv-given">{escape(of.given)}</div>')
        given = field(of, here)
        if given:
            judged(of, given, here)
        with st.container(horizontal=True, gap=8, key="kv_helps"):
            if block["hint"]:
                with st.popover(say("workshop.hint"), type="tertiary", icon=":material/lightbulb:"):
                    st.markdown(block["hint"])
            with st.popover(say("workshop.solution"), type="tertiary", icon=":material/key:"):
                st.markdown(block["solution"])
                if of.by == tasks.RULE:
                    st.code(block["rule"], language=None, wrap_lines=True)


def field(of: tasks.Task, here: At) -> str:
    """Where the answer goes; what is in it, as the address has it too: of a choice its word, whatever the language."""
    key, told = f"kv_given_{here.lesson.name}_{here.part}", st.query_params.get(state.GIVEN, "")
    if of.by == tasks.CHOICE:
        st.session_state.setdefault(key, told if told in of.choices else None)
        look = {"format_func": _choice, "label_visibility": "collapsed"}
        given = st.segmented_control(say("workshop.your_answer"), of.choices, key=key, **look) or ""
    else:
        st.session_state.setdefault(key, told[: ceiling.LONGEST])
        if of.by == tasks.RULE:
            st.html(f'<p class="kv-sm kv-fnt">{escape(say("workshop.rule_words", grammar=rules.grammar()))}</p>')
        label, width = ("your_rule", "stretch") if of.by == tasks.RULE else ("your_answer", ANSWER_PX)
        given = st.text_input(say(f"workshop.{label}"), key=key, max_chars=ceiling.LONGEST, width=width) or ""
    workshop.tell(given)
    return given


def _choice(word: str) -> str:
    """A word of a task, yes or a cause, as its reader says it."""
    return say(f"workshop.{word}" if word in (tasks.YES, tasks.NO) else f"workshop.cause_{word}")


def judged(of: tasks.Task, given: str, here: At) -> None:
    """Right or not; what is right is kept."""
    try:
        is_right = tasks.is_right(of, given)
        why = "" if is_right else _why(of, given)
    except ceiling.NoRule as fault:
        is_right, why = False, say("workshop.no_rule", where=rules.fault(fault))
    mark, word = ("ok", "right") if is_right else ("info", "not_yet")
    verdict = f"{parts.severity(mark)}<b>{escape(say(f'workshop.{word}'))}</b><span>{escape(why)}</span>"
    st.html(f'<div class="kv-judged" role="status">{verdict}</div>')
    if is_right and (here.lesson.name, here.part, True) not in workshop.answers():
        workshop.keep(here.lesson.name, here.part, workshop.SOLVED)
        st.rerun()


def _why(of: tasks.Task, given: str) -> str:
    if of.by == tasks.RULE:
        checked = ceiling.check(ceiling.parse(given), tasks.np.array(of.answer))
        first = checked.wrong[0]
        found = say("workshop.none") if first.ceiling < 0 else say("workshop.slot_n", slot=first.ceiling)
        return say("workshop.wrong_rule", wrong=len(checked.wrong), count=len(checked.cases), target=first.target, ceiling=found)
    if of.by == tasks.CHOICE:
        return ""
    typed = tasks.numbers(given)
    if len(typed) != len(of.answer):
        return say("workshop.no_number") if len(of.answer) == 1 else say("workshop.two_numbers", count=len(of.answer))
    return say("workshop.wrong_numbers", given=" ".join(map(str, typed)))


def misleads(block: Block, here: At, number: int) -> None:
    """What is often said, what is so, and since when."""
    with st.container(key=f"kv_misleads_{number}", gap=4):
        st.html(f'<div class="kv-lab">{escape(say("workshop.often_said"))}</div>')
        st.markdown(say("workshop.quoted", text=block["said"]))
        st.html(f'<div class="kv-lab">{escape(say("workshop.what_is_so"))} · {escape(block["versions"])}</div>')
        st.markdown(block["so"])


def notes(found: Sequence[Lesson], here: At) -> None:
    """For the teacher, where they are asked for."""
    if not st.query_params.get(state.NOTES):
        return
    st.space(16)
    handout.notes(here.step, begins(found, here), sum(one.minutes for one in found))
    with st.expander(say("workshop.session", minutes=f"{sum(one.minutes for one in found):g}")):
        handout.session(found)


def begins(found: Sequence[Lesson], here: At) -> float:
    """At which minute of the session this step begins."""
    return sum(one.minutes for one in found[: here.number]) + sum(step.minutes for step in here.lesson.steps[: here.part - 1])


def onward(found: Sequence[Lesson], here: At, figures: Sequence[Block]) -> None:
    """Back, next, and the page where the figure can be changed."""
    with st.container(horizontal=True, gap=8, vertical_alignment="center", key="kv_steps"):
        before, after = _before(found, here), _after(found, here)
        st.button(
            say("workshop.back"),
            icon=":material/arrow_back:",
            key="kv_back",
            shortcut="b",
            disabled=before is None,
            on_click=workshop.go,
            args=before,
        )
        if after is None:
            st.button(say("workshop.finish"), type="primary", key="kv_next", shortcut="n", on_click=switch, args=(state.PAPER,))
        else:
            label = say("workshop.next" if after[0] == here.lesson.name else "workshop.next_lesson")
            waits = any(workshop.letter(one, here.lesson.name, here.part) is None for one in here.step.blocks("predict"))
            is_teacher = bool(st.query_params.get(state.NOTES))
            look = {"type": "primary", "key": "kv_next", "shortcut": "n", "disabled": waits and not is_teacher}
            st.button(label, icon=":material/arrow_forward:", icon_position="right", on_click=workshop.go, args=after, **look)
        _elsewhere(figures)
    with st.container(horizontal=True, gap=8, vertical_alignment="center", key="kv_progress"):
        asked = [one for lesson in found for one in workshop.questions(lesson)]
        done = sum(one in workshop.answers() for one in asked)
        st.html(f'<span class="kv-sm kv-fnt">{escape(say("workshop.progress", done=done, count=len(asked)))}</span>', width="content")
        st.button(
            say("workshop.reset"),
            icon=":material/restart_alt:",
            type="tertiary",
            key="kv_reset",
            on_click=workshop.reset,
            help=say("workshop.reset_help"),
        )


def _before(found: Sequence[Lesson], here: At) -> tuple[str, int] | None:
    if here.part > 1:
        return here.lesson.name, here.part - 1
    return (found[here.number - 1].name, len(found[here.number - 1].steps)) if here.number else None


def _after(found: Sequence[Lesson], here: At) -> tuple[str, int] | None:
    if here.part < len(here.lesson.steps):
        return here.lesson.name, here.part + 1
    return (found[here.number + 1].name, 1) if here.number + 1 < len(found) else None


def _elsewhere(figures: Sequence[Block]) -> None:
    """The page where the first figure can be looked at further."""
    for block in figures:
        try:
            to = live.LIVE[block.kind].onward
            name, query = to(block) if to else ("", {})
        except (KafkavizError, NoValue):
            continue
        if name and PAGES[name].exists:
            with st.container(key="kv_elsewhere"):
                st.page_link(PAGES[name].script, label=say("workshop.open_in", page=parts.page_name(name)), query_params=query)
            return


def drawn(figures: Sequence[Block], here: At) -> None:
    """The figures of a step; one that would tell the answer waits for it."""
    questions = here.step.blocks("predict")
    is_answered = all(workshop.letter(one, here.lesson.name, here.part) is not None for one in questions)
    for number, block in enumerate(figures):
        if number:
            st.space(16)
        figure(block, f"{here.lesson.name}_{here.part}_{number}", is_answered)


def figure(block: Block, key: str, is_answered: bool) -> None:
    """One figure, or the place where it will be."""
    if block["after"] and not is_answered:
        with st.container(key=f"kv_fig_wait_{key}"):
            st.html(f'<div class="kv-wait">{parts.icon("visibility_off")}<span>{escape(say("workshop.hidden_figure"))}</span></div>')
        return
    try:
        made = live.LIVE[block.kind].make(block)
    except (KafkavizError, NoValue) as fault:
        return _unmade(fault, key)
    if block.kind == "entries":
        live.draw_entries(made, block, key, is_answered)
    else:
        live.LIVE[block.kind].draw(made, block, key)


def _unmade(fault: Exception, key: str) -> None:
    with parts.state(f"figure_{key}", "error", say("workshop.figure_fault"), f"{fault}."):
        pass
