"""The answer: one line, its reason, what is sure and what is modelled."""

from collections.abc import Iterable
from typing import cast

import streamlit as st

from kafkaviz.figures import tuning_reasons, tuning_verdict
from kafkaviz.ui import parts
from kafkaviz.ui.tuning.shown import Shown
from kafkaviz.words import say


def verdict(shown: Shown) -> None:
    """One line, its reason, and below it what is sure and what is modelled."""
    found = verdict_view(shown)
    boxes = "".join(
        (
            '<div class="f">'
            f"<b>{say('tuning.box_head', word=parts.escape(word))}</b> {parts.escape(text)}</div>"
        )
        for word, text in found.boxes
    )
    st.html(
        '<div class="kv-verdict" role="status"><div class="v">'
        f'<div class="kv-lab">{say("tuning.recommendation")}</div>'
        f'<h2 class="w">{parts.severity(found.mark)}{parts.escape(found.headline)}</h2>'
        f"<p>{parts.escape(found.why)}</p></div>{boxes}</div>"
    )
    with st.expander(say("tuning.every_reason")):
        st.html(
            "".join(
                f'<p class="kv-sm kv-reason">{parts.escape(one)}</p>'
                for one in tuning_reasons.every(shown.whole)
            )
        )


def verdict_view(shown: Shown) -> tuning_verdict.VerdictView:
    """The answer in words."""
    case, cases = shown.case, shown.source.cases
    held = (
        None
        if any(one.held is None for one in cases)
        else summed(cast(tuple[int, int], one.held) for one in cases)
    )
    entries = tuning_verdict.Entries(
        summed(one.replayed for one in cases), held, shown.kind == "workload", len(cases)
    )
    return tuning_verdict.view(
        shown.whole, case.measured, case.today, shown.budgets, shown.costs, entries
    )


def summed(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The sums of both."""
    offsets, times = zip(*pairs, strict=True)
    return sum(offsets), sum(times)
