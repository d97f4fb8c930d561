"""The exercise: a reader's rule for the ceiling of a target, tried on every slot."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.app.lessons import exercise, exercise_text
from kafkaviz.app.lessons.exercise import BASE, NO_ANSWER, RIGHT, RuleCheck, RuleSyntaxError
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.text.join_text import join_comma
from kafkaviz.messages import say, say_count
from kafkaviz.simulate.lessons import index_keys

KEY_SETS = {"5 keys": 5, "1310 keys": 1310}
MOST_WRONG = 8
TARGET_COLUMNS = ("target", "which_is", "lookup_gives", "rule", "the_ceiling")


def render_ceiling() -> None:
    """A reader's rule for the ceiling, tried on every slot."""
    elements.heading(say("page_cache.ceiling"), say("page_cache.ceiling_below"))
    text = say("page_cache.ceiling_words", grammar=exercise_text.grammar())
    st.html(
        '<p style="color:var(--kv-ink-2);margin:4px 0 12px;max-width:118ch">'
        f"{elements.escape(text)}"
        "</p>"
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap=16, key="kv_rule"):
        rule = st.text_input(
            say("page_cache.rule"),
            "slot + 1",
            key=page_state.RULE,
            bind="query-params",
            max_chars=exercise.LONGEST,
        )
        names = list(KEY_SETS)
        widget_options: dict[str, Any] = {"format_func": _key_set_text, "required": True}
        key_set = choice.ask(
            st.segmented_control,
            say("page_cache.tried_on"),
            names,
            names[0],
            page_state.TRIED_ON,
            **widget_options,
        )
    try:
        _render_verdict(_check_rule(rule or "", key_set), key_set)
    except RuleSyntaxError as fault:
        with elements.state(
            "no_rule",
            "info",
            say("page_cache.no_rule"),
            say("page_cache.no_rule_at", where=exercise_text.describe_fault(fault)),
        ):
            pass
    _render_popular_rules(key_set)


def _render_verdict(rule_check: RuleCheck, key_set: str) -> None:
    """Right, or wrong where."""
    case_count, wrong_count = (
        units.group(len(rule_check.cases)),
        units.group(len(rule_check.wrong_cases)),
    )
    if rule_check.is_right:
        mark, finding, reason = (
            "ok",
            say("page_cache.right"),
            say("page_cache.right_why", n=case_count),
        )
    else:
        mark, finding = "error", say("page_cache.wrong", wrong=wrong_count, n=case_count)
        reason = say("page_cache.wrong_why", n=case_count, failing=_describe_failures(rule_check))
    with elements.state("verdict", mark, finding, reason):
        pass
    _render_targets(rule_check, key_set)


def _render_targets(rule_check: RuleCheck, key_set: str) -> None:
    """Every target of a small index, of a large one some of each kind."""
    cases = (
        rule_check.cases if len(rule_check.cases) <= 2 * MOST_WRONG else _sample_cases(rule_check)
    )
    heads = [say(f"page_cache.{name}") for name in TARGET_COLUMNS]
    cells = [
        (
            units.group(case.target),
            exercise_text.kind(case.kind),
            *map(_slot_text, (case.floor_slot, case.answer_slot, case.ceiling)),
            case.is_right,
        )
        for case in cases
    ]
    key, keys = "page_cache.targets_many", units.group(rule_check.entries)
    if rule_check.entries < 10:
        key, keys = "page_cache.targets", join_comma(map(units.group, _set_keys(key_set).tolist()))
    head = say_count(key, len(rule_check.cases), shown=units.group(len(cells)), keys=keys)
    with st.expander(head, expanded=not rule_check.is_right):
        table(
            [*heads, ""], [(*row, "✓" if is_right else "✗") for *row, is_right in cells], "rlrrrl"
        )
        download(
            say("page_cache.targets_csv"),
            lambda: to_csv(TARGET_COLUMNS, csv_rows(rule_check)),
            "ceiling.csv",
            "kv_ceiling_csv",
        )


def csv_rows(rule_check: RuleCheck) -> Iterable[tuple]:
    """TARGET_COLUMNS of every case, slots as exercise.RuleCase has them.

    -1 is none, -2 the base offset, -3 no answer.
    """
    return (
        (
            case.target,
            exercise_text.KINDS[case.kind],
            case.floor_slot,
            case.answer_slot,
            case.ceiling,
        )
        for case in rule_check.cases
    )


def _sample_cases(rule_check: RuleCheck) -> list[exercise.RuleCase]:
    """A few wrong ones of each kind, else a right one."""
    sample = []
    for kind in exercise.KINDS:
        cases_of_kind = [case for case in rule_check.cases if case.kind == kind]
        sample += [case for case in cases_of_kind if not case.is_right][
            : MOST_WRONG // 2
        ] or cases_of_kind[:1]
    return sample


def _describe_failures(rule_check: RuleCheck) -> str:
    """Where a rule fails, in words."""
    return say("page_cache.fails", kinds=exercise_text.describe_failures(rule_check))


def _slot_text(slot: int) -> str:
    """An answer in words."""
    text_key = {-1: "no_slot", BASE: "base", NO_ANSWER: "no_answer"}.get(slot, "slot_n")
    return say(f"page_cache.{text_key}", n=units.group(slot))


def _render_popular_rules(key_set: str) -> None:
    """The two answers that are given most often, a right one, and Kafka's own."""
    rows = []
    for name, rule in exercise_text.popular_answers().items():
        rule_check = _check_rule(rule, key_set)
        wrong_text = say_count(
            "page_cache.wrong_of",
            len(rule_check.cases),
            wrong=units.group(len(rule_check.wrong_cases)),
        )
        rows.append((name, rule, wrong_text, _describe_failures(rule_check)))
    table(
        [say(f"page_cache.{name}") for name in ("often", "as_rule", "wrong_n", "where")],
        rows,
        "lcrw",
    )
    with st.expander(say("page_cache.right_rule")):
        st.code(RIGHT, language=None)
        st.markdown(
            say("page_cache.kafkas_own", target=exercise.keys_kafka_misses(exercise.ARTICLE)[0])
        )


@st.cache_resource(max_entries=128, show_spinner=False)
def _check_rule(rule: str, key_set: str) -> exercise.RuleCheck:
    """A rule tried on one of KEY_SETS.

    Raises:
        RuleSyntaxError: the text is not a rule.
    """
    return exercise.check(exercise.parse(rule), _set_keys(key_set))


@st.cache_resource(show_spinner=False)
def _set_keys(key_set: str) -> np.ndarray:
    """The keys of one of KEY_SETS: those of the article, or of a larger index."""
    count = KEY_SETS[key_set]
    return (
        np.array(exercise.ARTICLE)
        if count == len(exercise.ARTICLE)
        else index_keys.generate_keys(index_keys.STEADY, count)
    )


def _key_set_text(name: str) -> str:
    """On how many keys a rule is tried, of KEY_SETS."""
    return say("page_cache.n_keys", n=KEY_SETS[name])
