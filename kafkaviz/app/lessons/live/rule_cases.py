"""A reader's rule for the ceiling, case by case.

Every target with what the rule gives, on the few keys of the task or on many; and where the answers
fail that are given most often.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.app.lessons import exercise, exercise_text
from kafkaviz.app.lessons.exercise import BASE, NO_ANSWER, RuleCheck
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.text.join_text import join_comma
from kafkaviz.messages import say, say_count
from kafkaviz.simulate.lessons import index_keys

FEW, MANY = "few keys", "many keys"  # as the address has them
MANY_KEYS = 1310
MOST_WRONG = 8
TARGET_COLUMNS = ("target", "which_is", "lookup_gives", "rule", "the_ceiling")


def render_cases(rule: str, keys: tuple[int, ...]) -> None:
    """The targets of a rule, which can be read, and below them the popular answers.

    Args:
        keys: those of the task.
    """
    with st.expander(say("rule_cases.cases")):
        widget_options: dict[str, Any] = {"required": True}
        key_set = choice.ask(
            st.segmented_control,
            say("rule_cases.tried_on"),
            (FEW, MANY),
            FEW,
            page_state.TRIED_ON,
            format_func=lambda name: say(
                "rule_cases.n_keys", n=units.group(len(keys) if name == FEW else MANY_KEYS)
            ),
            **widget_options,
        )
        chosen_keys = _many_keys() if key_set == MANY else keys
        _render_targets(_check_rule(rule, chosen_keys))
        _render_popular_rules(chosen_keys)


def _render_targets(rule_check: RuleCheck) -> None:
    """Every target of a small index, of a large one some of each kind."""
    case_count = len(rule_check.cases)
    cases = rule_check.cases if case_count <= 2 * MOST_WRONG else _sample_cases(rule_check)
    texts = [_summary(rule_check)]
    if len(cases) < case_count:
        texts.append(say("rule_cases.some", n=units.group(len(cases))))
    st.html(f'<p class="kv-sm" role="status">{join_comma(texts)}</p>')
    heads = [say(f"rule_cases.{name}") for name in TARGET_COLUMNS]
    cells = [
        (
            units.group(case.target),
            exercise_text.kind(case.kind),
            *map(_slot_text, (case.floor_slot, case.answer_slot, case.ceiling)),
            "✓" if case.is_right else "✗",
        )
        for case in cases
    ]
    table([*heads, ""], cells, "rlrrrl")
    download(
        say("rule_cases.targets_csv"),
        lambda: to_csv(TARGET_COLUMNS, csv_rows(rule_check)),
        "ceiling.csv",
        "kv_ceiling_csv",
    )


def _summary(rule_check: RuleCheck) -> str:
    """Right of all, or where it fails."""
    count = len(rule_check.cases)
    if rule_check.is_right:
        return say("rule_cases.right", n=units.group(count))
    return say(
        "rule_cases.wrong",
        wrong=units.group(len(rule_check.wrong_cases)),
        n=units.group(count),
        kinds=exercise_text.describe_failures(rule_check),
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


def _slot_text(slot: int) -> str:
    """An answer in words."""
    text_key = {-1: "no_slot", BASE: "base", NO_ANSWER: "no_answer"}.get(slot, "slot_n")
    return say(f"rule_cases.{text_key}", n=units.group(slot))


def _render_popular_rules(keys: tuple[int, ...]) -> None:
    """The two answers that are given most often, and where each fails."""
    rows = []
    for name, rule in exercise_text.popular_answers().items():
        rule_check = _check_rule(rule, keys)
        wrong_text = say_count(
            "rule_cases.wrong_of",
            len(rule_check.cases),
            wrong=units.group(len(rule_check.wrong_cases)),
        )
        rows.append((name, rule, wrong_text, exercise_text.describe_failures(rule_check)))
    table(
        [say(f"rule_cases.{name}") for name in ("often", "as_rule", "wrong_n", "where")],
        rows,
        "wcrw",
    )


@st.cache_resource(max_entries=128, show_spinner=False)
def _check_rule(rule: str, keys: tuple[int, ...]) -> RuleCheck:
    """A rule tried on keys.

    Raises:
        RuleSyntaxError: the text is not a rule.
    """
    return exercise.check(exercise.parse(rule), np.array(keys))


@st.cache_resource(show_spinner=False)
def _many_keys() -> tuple[int, ...]:
    """The keys of a larger index."""
    return tuple(index_keys.generate_keys(index_keys.STEADY, MANY_KEYS).tolist())
