"""The exercise: a reader's rule for the ceiling of a target, tried on every slot."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.figures.listed import listed
from kafkaviz.search import exercise
from kafkaviz.search.exercise import BASE, NO_ANSWER, RIGHT, Checked, NoRule
from kafkaviz.simulate.lessons import index_keys
from kafkaviz.ui import choice, parts, rules, state
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.words import say

TRIED = {"5 keys": 5, "1310 keys": 1310}
WRONG_SHOWN = 8
TARGET_COLUMNS = ("target", "which_is", "lookup_gives", "rule", "the_ceiling")


def ceiling() -> None:
    """A reader's rule for the ceiling, tried on every slot."""
    parts.heading(say("page_cache.ceiling"), say("page_cache.ceiling_below"))
    words = say("page_cache.ceiling_words", grammar=rules.grammar())
    st.html(
        f'<p style="color:var(--kv-ink-2);margin:4px 0 12px;max-width:118ch">{parts.escape(words)}'
        "</p>"
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap=16, key="kv_rule"):
        written = st.text_input(
            say("page_cache.rule"),
            "slot + 1",
            key=state.RULE,
            bind="query-params",
            max_chars=exercise.LONGEST,
        )
        tries = list(TRIED)
        look: dict[str, Any] = {"says": tried_words, "required": True}
        on = choice.ask(
            st.segmented_control,
            say("page_cache.tried_on"),
            tries,
            tries[0],
            state.TRIED_ON,
            **look,
        )
    try:
        verdict(tried(written or "", on), on)
    except NoRule as fault:
        with parts.state(
            "no_rule",
            "info",
            say("page_cache.no_rule"),
            say("page_cache.no_rule_at", where=rules.fault(fault)),
        ):
            pass
    popular(on)


def verdict(checked: Checked, on: str) -> None:
    """Right, or wrong where."""
    tried, wrong = units.group(len(checked.cases)), units.group(len(checked.wrong))
    if checked.is_right:
        mark, found, why = "ok", say("page_cache.right"), say("page_cache.right_why", n=tried)
    else:
        mark, found = "error", say("page_cache.wrong", wrong=wrong, n=tried)
        why = say("page_cache.wrong_why", n=tried, failing=failing(checked))
    with parts.state("verdict", mark, found, why):
        pass
    targets(checked, on)


def targets(checked: Checked, on: str) -> None:
    """Every target of a small index, of a large one some of each kind."""
    shown = checked.cases if len(checked.cases) <= 2 * WRONG_SHOWN else first_of_each(checked)
    heads = [say(f"page_cache.{name}") for name in TARGET_COLUMNS]
    cells = [
        (units.group(one.target), rules.kind(one.kind), *map(slot, answers(one)), one.is_right)
        for one in shown
    ]
    key, keys = "page_cache.targets_many", units.group(checked.entries)
    if checked.entries < 10:
        key, keys = "page_cache.targets", listed(map(units.group, tried_keys(on).tolist()))
    head = say(key, shown=units.group(len(cells)), n=units.group(len(checked.cases)), keys=keys)
    with st.expander(head, expanded=not checked.is_right):
        table([*heads, ""], [(*row, "✓" if right else "✗") for *row, right in cells], "rlrrrl")
        download(
            say("page_cache.targets_csv"),
            lambda: csv_of(TARGET_COLUMNS, rows_of(checked)),
            "ceiling.csv",
            "kv_ceiling_csv",
        )


def answers(of: exercise.Case) -> tuple[int, int, int]:
    """What lookup gave, the rule, and what is right."""
    return of.floor_slot, of.answered, of.ceiling


def rows_of(checked: Checked) -> Iterable[tuple]:
    """TARGET_COLUMNS of every case, slots as exercise.Case has them: -1 is none, -2 the base
    offset, -3 no answer.
    """
    return (
        (one.target, rules.KINDS[one.kind], one.floor_slot, one.answered, one.ceiling)
        for one in checked.cases
    )


def first_of_each(checked: Checked) -> list[exercise.Case]:
    """A few wrong ones of each kind, else a right one."""
    found = []
    for kind in exercise.KINDS:
        of_kind = [one for one in checked.cases if one.kind == kind]
        found += [one for one in of_kind if not one.is_right][: WRONG_SHOWN // 2] or of_kind[:1]
    return found


def failing(checked: Checked) -> str:
    """Where a rule fails, in words."""
    return say("page_cache.fails", kinds=rules.failing(checked))


def slot(answered: int) -> str:
    """An answer in words."""
    named = {-1: "no_slot", BASE: "base", NO_ANSWER: "no_answer"}.get(answered, "slot_n")
    return say(f"page_cache.{named}", n=units.group(answered))


def popular(on: str) -> None:
    """The two answers that are given most often, a right one, and Kafka's own."""
    rows = []
    for name, rule in rules.popular().items():
        checked = tried(rule, on)
        wrong = say(
            "page_cache.wrong_of",
            wrong=units.group(len(checked.wrong)),
            n=units.group(len(checked.cases)),
        )
        rows.append((name, rule, wrong, failing(checked)))
    table(
        [say(f"page_cache.{name}") for name in ("often", "as_rule", "wrong_n", "where")],
        rows,
        "lcrw",
    )
    with st.expander(say("page_cache.right_rule")):
        st.code(RIGHT, language=None)
        st.markdown(say("page_cache.kafkas_own", target=exercise.kafkas_own(exercise.ARTICLE)[0]))


@st.cache_resource(max_entries=128, show_spinner=False)
def tried(rule: str, on: str) -> exercise.Checked:
    """A rule tried on one of TRIED. Raises NoRule."""
    return exercise.check(exercise.parse(rule), tried_keys(on))


@st.cache_resource(show_spinner=False)
def tried_keys(on: str) -> np.ndarray:
    """The keys of one of TRIED: those of the article, or of a larger index."""
    count = TRIED[on]
    return (
        np.array(exercise.ARTICLE)
        if count == len(exercise.ARTICLE)
        else index_keys.made_keys(index_keys.STEADY, count)
    )


def tried_words(name: str) -> str:
    """On how many keys a rule is tried, of TRIED."""
    return say("page_cache.n_keys", n=TRIED[name])
