"""The answer: one line, its reason, what is sure and what is modelled."""

from collections.abc import Iterable
from typing import cast

import streamlit as st

from kafkaviz.app.pages.tuning.tuning_context import TuningContext
from kafkaviz.app.widgets import elements
from kafkaviz.figures import tuning_reasons, tuning_verdict
from kafkaviz.words import say


def render_verdict(context: TuningContext) -> None:
    """One line, its reason, and below it what is sure and what is modelled."""
    view = verdict_view(context)
    boxes_html = "".join(
        (
            '<div class="f">'
            f"<b>{say('tuning.box_head', word=elements.escape(word))}</b> "
            f"{elements.escape(text)}</div>"
        )
        for word, text in view.boxes
    )
    st.html(
        '<div class="kv-verdict" role="status"><div class="v">'
        f'<div class="kv-lab">{say("tuning.recommendation")}</div>'
        f'<h2 class="w">{elements.severity(view.mark)}{elements.escape(view.headline)}</h2>'
        f"<p>{elements.escape(view.reason)}</p></div>{boxes_html}</div>"
    )
    with st.expander(say("tuning.every_reason")):
        st.html(
            "".join(
                f'<p class="kv-sm kv-reason">{elements.escape(reason)}</p>'
                for reason in tuning_reasons.describe_all(context.recommendation)
            )
        )


def verdict_view(context: TuningContext) -> tuning_verdict.VerdictView:
    """The answer in words."""
    case, cases = context.case, context.source.cases
    existing_entries = (
        None
        if any(topic_case.disk_entries is None for topic_case in cases)
        else sum_pairs(cast(tuple[int, int], topic_case.disk_entries) for topic_case in cases)
    )
    entries = tuning_verdict.EntryCounts(
        sum_pairs(topic_case.replayed_entries for topic_case in cases),
        existing_entries,
        context.kind == "workload",
        len(cases),
    )
    return tuning_verdict.view(
        context.recommendation,
        case.measurement,
        case.today,
        budgets=context.budgets,
        costs=context.costs,
        entries=entries,
    )


def sum_pairs(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The sums of both."""
    offsets, times = zip(*pairs, strict=True)
    return sum(offsets), sum(times)
