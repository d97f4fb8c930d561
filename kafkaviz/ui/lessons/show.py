"""The Workshop page: the strip of lessons, and one step of the chosen one; or that lesson on
paper.
"""

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st

from kafkaviz.ui import lessons as found_lessons
from kafkaviz.ui import parts, spoken, state, workshop
from kafkaviz.ui.frame import frame
from kafkaviz.ui.lessons import handout
from kafkaviz.ui.lessons.grammar import Fault, Lesson
from kafkaviz.ui.lessons.step import step
from kafkaviz.ui.printed import printed
from kafkaviz.ui.workshop import At
from kafkaviz.words import say

CSS = Path(__file__).with_name("lessons.css")


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
        with parts.empty(
            "lessons", say("workshop.no_lessons"), say("workshop.no_lessons_below"), level=1
        ):
            pass
    elif st.query_params.get(state.PAPER):
        handout.show(here, len(found), bool(st.query_params.get(state.NOTES)))
    else:
        strip(found, here)
        step(found, here)
    workshop.remember()


@cache
def _stylesheet() -> str:
    return CSS.read_text(encoding="utf-8")


def crumbs(found: Sequence[Lesson], here: At | None) -> None:
    """Workshop › the lesson, which is a picker."""
    st.html(f'<span style="padding:0 8px">{escape(say("workshop.title"))}</span>', width="content")
    if here is None:
        return
    st.html('<span class="kv-sep" aria-hidden="true">›</span>', width="content")
    names = {_named(number, one): one.name for number, one in enumerate(found)}
    chosen = st.menu_button(
        parts.plain(_named(here.number, here.lesson)),
        [*names],
        format_func=parts.plain,
        type="tertiary",
        key="kv_pick_lesson",
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
        st.button(
            say("workshop.notes"),
            icon=icon,
            type="tertiary",
            key="kv_notes",
            on_click=workshop.switch,
            args=(state.NOTES,),
        )
        on_paper = bool(st.query_params.get(state.PAPER))
        label = say("workshop.lesson" if on_paper else "workshop.paper")
        st.button(
            label,
            icon=":material/print:",
            type="tertiary",
            key="kv_paper",
            on_click=workshop.switch,
            args=(state.PAPER,),
        )


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
