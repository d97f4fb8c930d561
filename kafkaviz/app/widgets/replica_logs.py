"""The parts below the figure of two replicas: legend, steps of the follower, leader epochs."""

from kafkaviz import units
from kafkaviz.analysis.comparison.comparison import SIDES, PartitionComparison
from kafkaviz.analysis.comparison.leader_epochs import FollowerTruncation
from kafkaviz.app.widgets import elements, tables
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import render, say
from kafkaviz.render.comparison_text import describe_step
from kafkaviz.render.sentences import to_sentence

SWATCHES = {"alone": "scan", "other": "torn", "watermark": "watermark"}


def key_html() -> Html:
    return elements.key((swatch, say(f"compare.key_{kind}")) for kind, swatch in SWATCHES.items())


def steps_html(walk: FollowerTruncation, step: int) -> Html:
    """Lists the steps in which a follower truncates its log. Marks step number `step` (from 1)."""
    texts = [to_sentence(render(describe_step(walk_step))) for walk_step in walk.steps]
    rows = (
        tag("li", text, class_="on" if number == step else None)
        for number, text in enumerate(texts, start=1)
    )
    head = tag("div", say("compare.step_list"), class_="kv-lab")
    return join((head, tag("ol", *rows, class_="kv-list")))


def epochs_html(comparison: PartitionComparison) -> Html:
    """Returns the table of leader epochs, or "" if neither log has an epoch."""
    entries = [dict(replica.epochs.entries) if replica else {} for replica in comparison.replicas]
    epochs = sorted(entries[0].keys() | entries[1].keys())
    if not epochs:
        return Html()
    head = tag("div", say("compare.epochs"), class_="kv-lab", style="margin-bottom:4px")
    start = say("compare.column_start")
    side_heads = (say(f"compare.column_{side}", name=start) for side in SIDES)
    rows = (
        [units.format_count(epoch), *(units.format_count(side.get(epoch)) for side in entries)]
        for epoch in epochs
    )
    return join((head, tables.table_html([say("segment.head_epoch"), *side_heads], rows, "lrr")))
