"""The parts below two logs on one axis: legend, steps of the follower, leader epochs."""

from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.comparison.comparison import SIDES
from kafkaviz.app.widgets import elements, tables
from kafkaviz.figures.text.comparison_text import describe_step
from kafkaviz.figures.text.sentences import to_sentence
from kafkaviz.messages import render, say

if TYPE_CHECKING:
    from kafkaviz.analysis.comparison.comparison import PartitionComparison
    from kafkaviz.analysis.comparison.leader_epochs import TruncationWalk

SWATCHES = {"alone": "scan", "other": "torn", "watermark": "watermark"}


def key_html() -> str:
    return elements.key((swatch, say(f"compare.key_{kind}")) for kind, swatch in SWATCHES.items())


def render_steps(walk: "TruncationWalk", step: int) -> None:
    """Draws the steps of the follower as a list, and marks step number `step`, from 1."""
    rows = "".join(
        f"<li{' class=on' if number == step else ''}>"
        f"{elements.escape(to_sentence(render(describe_step(walk_step))))}</li>"
        for number, walk_step in enumerate(walk.steps, start=1)
    )
    st.html(
        f'<div class="kv-lab">{elements.escape(say("compare.step_list"))}</div>'
        f'<ol class="kv-list">{rows}</ol>'
    )


def render_epochs(comparison: "PartitionComparison") -> None:
    entries = [dict(replica.epochs.entries) if replica else {} for replica in comparison.replicas]
    epochs = sorted(entries[0].keys() | entries[1].keys())
    if not epochs:
        return
    st.html(f'<div class="kv-lab">{elements.escape(say("compare.epochs"))}</div>')
    st.space(4)
    tables.table(
        [
            say("segment.head_epoch"),
            *(say(f"compare.column_{side}", name=say("compare.column_start")) for side in SIDES),
        ],
        (
            [
                units.format_count(epoch),
                *(units.format_count(side.get(epoch)) for side in entries),
            ]
            for epoch in epochs
        ),
        "lrr",
    )
