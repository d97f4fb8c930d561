"""A search for the ceiling that the reader puts together, run over the keys of the task."""

from itertools import pairwise
from typing import Any

import numpy as np
import streamlit as st

from kafkaviz.app.cache import lookup_cache
from kafkaviz.app.lessons import exercise
from kafkaviz.app.lessons.grammar import LessonBlock, NoValue
from kafkaviz.app.lessons.live.figure import Destination, LessonFigure, block_key
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import table
from kafkaviz.figures.lookup import ceiling_run
from kafkaviz.figures.lookup.ceiling_run import WrittenRule
from kafkaviz.messages import message, say
from kafkaviz.simulate.lessons import ceiling_search
from kafkaviz.simulate.lessons.ceiling_search import CeilingRule, Comparison, Move, Rounding
from kafkaviz.units import group

MOST_KEYS = 8
FIRST_RULE = CeilingRule(Rounding.DOWN, Comparison.LESS, Move.MIDDLE, Move.MIDDLE)
CONTROLS = (  # of the address, of the messages, and what there is to choose
    (page_state.RULE_MIDDLE, "mid", Rounding, FIRST_RULE.rounding),
    (page_state.RULE_COMPARISON, "compare", Comparison, FIRST_RULE.comparison),
    (page_state.RULE_LOW, "low", Move, FIRST_RULE.low),
    (page_state.RULE_HIGH, "high", Move, FIRST_RULE.high),
)
FORMULAS = {
    ("compare", Comparison.LESS): "key(mid) < target",
    ("compare", Comparison.AT_MOST): "key(mid) ≤ target",
    ("low", Move.MIDDLE): "mid",
    ("low", Move.BEYOND): "mid + 1",
    ("high", Move.MIDDLE): "mid",
    ("high", Move.BEYOND): "mid − 1",
}
HEADS = ("ceiling_run.head_turn", "lo", "hi", "mid", "workshop.what_happens")


def _make(block: LessonBlock) -> tuple[int, ...]:
    """The keys of a block.

    Raises:
        NoValue: they do not rise, are too many, or the target is far from all of them.
    """
    keys = block["keys"]
    does_rise = all(lower < higher for lower, higher in pairwise(keys))
    if not (2 <= len(keys) <= MOST_KEYS and does_rise) or block["target"] not in (
        ceiling_search.targets(keys)
    ):
        raise NoValue(message("ceiling_run.keys", most=MOST_KEYS))
    return keys


def _draw(keys: tuple[int, ...], block: LessonBlock, key: str) -> None:
    with st.container(key=f"kv_fig_{key}", gap=10):
        above = st.container(gap=0)
        rule = _ask_rule(len(keys))
        target = _ask_target(rule, keys, block["target"])
        view = ceiling_run.view(rule, keys, target, _written_rule(keys, target))
        with above:
            elements.figure_head(view.title, view.caption)
        charts.plot(
            charts.figure(
                (key, block_key(block), rule, target, view.written), ceiling_run.figure, view
            ),
            key,
            say("common.titled", title=view.title, below=ceiling_run.describe(view)),
        )


def _ask_rule(count: int) -> CeilingRule:
    """The loop with four places to fill."""
    st.html(elements.mono(say("ceiling_run.loop", n=count)))
    words = []
    with st.container(horizontal=True, gap=20, key="kv_own_rule"):
        for name, label, options, default in CONTROLS:
            arguments: dict[str, Any] = {"required": True, "width": "content"}
            words.append(
                choice.ask(
                    st.segmented_control,
                    say(f"ceiling_run.{label}"),
                    [option.value for option in options],
                    default.value,
                    name,
                    format_func=lambda word, label=label: _option_text(label, word),
                    **arguments,
                )
            )
    return CeilingRule(Rounding(words[0]), Comparison(words[1]), Move(words[2]), Move(words[3]))


def _option_text(label: str, word: str) -> str:
    """An option: a formula, which is the same in every language, or a word."""
    return FORMULAS.get((label, word)) or say(f"ceiling_run.{label}_{word}")


def _ask_target(rule: CeilingRule, keys: tuple[int, ...], default: int) -> int:
    """One of the targets, each with how the rule ends there."""
    marks = ceiling_run.view(rule, keys, default).marks
    arguments: dict[str, Any] = {"required": True, "width": "stretch"}
    with st.container(key="kv_own_target"):
        word = choice.ask(
            st.segmented_control,
            say("why_offset.target"),
            [str(target) for target in marks],
            str(default),
            page_state.RULE_TARGET,
            format_func=lambda word: f"{group(int(word))} {marks[int(word)]}",
            **arguments,
        )
    return int(word)


def _written_rule(keys: tuple[int, ...], target: int) -> WrittenRule | None:
    """The rule that is typed into the exercise, run on the target; None where there is none."""
    try:
        rule = exercise.parse(st.query_params.get(page_state.TYPED_ANSWER, ""))
    except exercise.RuleSyntaxError:
        return None
    case = next(
        case for case in exercise.check(rule, np.array(keys)).cases if case.target == target
    )
    answer = case.answer_slot
    if answer == exercise.NONE:
        answer = len(keys)
    return WrittenRule(case.floor_slot, answer if 0 <= answer <= len(keys) else None)


def _on_paper(keys: tuple[int, ...], block: LessonBlock, key: str) -> None:
    """The run of the rule that stands there first, and is wrong."""
    view = ceiling_run.view(FIRST_RULE, keys, block["target"])
    elements.figure_head(view.title, ceiling_run.describe(view))
    heads = [say(name) if "." in name else name for name in HEADS]
    table(heads, ceiling_run.table_rows(view), "rrrrw")


def _to_lookup(block: LessonBlock) -> Destination:
    """The same keys, typed."""
    return "Lookup", {
        page_state.SET: lookup_cache.KEYS_SET,
        page_state.KEYS: " ".join(map(str, block["keys"])),
        page_state.BY: "offset",
        page_state.TARGET: str(block["target"]),
    }


OWN_SEARCH = LessonFigure(_make, _draw, _to_lookup, _on_paper, _draw)
