"""The rule that the reader put together in the exercise on the ceiling, applied to every slot."""

from itertools import pairwise

import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.cache import lookup_source
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.messages import message, say
from kafkaviz.units import format_count
from kafkaviz.workshop import lesson_address
from kafkaviz.workshop.drawings import ceiling_cases
from kafkaviz.workshop.drawings.ceiling_cases import CeilingCase, CeilingCasesView
from kafkaviz.workshop.figures.figure import (
    UNKNOWN,
    Chart,
    Destination,
    LessonFigure,
    Part,
    block_key,
    frame,
)
from kafkaviz.workshop.lessons import exercise
from kafkaviz.workshop.lessons.exercise import (
    BASE,
    EMPTY,
    NO_ANSWER,
    NONE,
    CeilingRule,
    RuleCase,
    RuleCheck,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

MAX_KEYS = 8
COLUMNS = ("target", "floor", "rule", "ceiling")


def _make(block: LessonBlock) -> tuple[int, ...]:
    """Returns the keys of a block.

    Raises:
        NoValue: the keys do not increase, or there are too few or too many.
    """
    keys = block["keys"]
    does_rise = all(lower < higher for lower, higher in pairwise(keys))
    if not (2 <= len(keys) <= MAX_KEYS and does_rise):
        raise NoValue(message("ceiling_cases.keys", most=MAX_KEYS))
    return keys


def view(keys: tuple[int, ...], rule: str) -> CeilingCasesView:
    """Returns the result of a rule for all its targets.

    Args:
        rule: the reader's rule as text; the results are open while it is incomplete.
    """
    known_rule = exercise.read(rule)
    is_rule = known_rule is not None
    rule_check = exercise.check(known_rule or CeilingRule((), "none"), keys)
    cases = tuple(_case(case, keys, is_rule=is_rule) for case in rule_check.cases)
    title = _title(rule_check) if is_rule else say("ceiling_cases.title_open", n=len(cases))
    caption = say("ceiling_cases.below" if is_rule else "ceiling_cases.below_open")
    return CeilingCasesView(title, caption, keys, cases)


def _title(rule_check: RuleCheck) -> str:
    count = len(rule_check.cases)
    if rule_check.is_right:
        return say("ceiling_cases.title_right", n=count)
    return say(
        "ceiling_cases.title_wrong",
        wrong=len(rule_check.wrong_cases),
        n=count,
        kinds=exercise.describe_failures(rule_check),
    )


def _case(case: RuleCase, keys: tuple[int, ...], *, is_rule: bool) -> CeilingCase:
    has_place = is_rule and NONE <= case.answer_slot <= len(keys)
    return CeilingCase(
        None if case.kind == EMPTY else case.target,
        case.floor_slot,
        case.ceiling,
        case.answer_slot if has_place else None,
        _answer_text(case, keys) if is_rule else UNKNOWN,
        case.is_right if is_rule else None,
    )


def _answer_text(case: RuleCase, keys: tuple[int, ...]) -> str:
    """Returns the rule's answer: a slot, a slot that does not exist, or none."""
    if case.answer_slot in (BASE, NO_ANSWER):
        return say(f"ceiling_cases.{'base' if case.answer_slot == BASE else 'no_answer'}")
    is_there = case.answer_slot < (0 if case.kind == EMPTY else len(keys))
    if is_there and case.answer_slot >= NONE:
        return ceiling_cases.slot_text(case.answer_slot)
    return say("ceiling_cases.no_such_slot", slot=format_count(case.answer_slot))


def _draw(keys: tuple[int, ...], block: LessonBlock, key: str) -> list[Part]:
    rule = st.query_params.get(lesson_address.TYPED_ANSWER, "")
    cases_view = view(keys, rule)
    alt = say("common.titled", title=cases_view.title, below=ceiling_cases.describe(cases_view))
    view_key = (key, block_key(block), rule)
    return [
        frame(
            key,
            elements.figure_head_html(cases_view.title, cases_view.caption),
            Chart(ceiling_cases.figure, cases_view, key, view_key, alt),
        )
    ]


def _on_paper(keys: tuple[int, ...], block: LessonBlock, key: str) -> list[Part]:
    """Returns the targets, with space for the results of the reader's rule."""
    cases_view = view(keys, "")
    heads = [say(f"ceiling_cases.head_{name}") for name in COLUMNS]
    return [
        elements.figure_head_html(cases_view.title, ""),
        table_html(heads, ceiling_cases.rows(cases_view), "rlll"),
    ]


def _to_lookup(block: LessonBlock) -> Destination:
    keys = block["keys"]
    return "Lookup", {
        page_state.SET: lookup_source.KEYS_SET,
        page_state.KEYS: " ".join(map(str, keys)),
        page_state.BY: "offset",
        page_state.TARGET: str(keys[len(keys) // 2] + 1),
    }


# the figure and its question are the same: without a typed rule the answers are open
OWN_RULE = LessonFigure(_make, _draw, _to_lookup, _on_paper, _draw)
