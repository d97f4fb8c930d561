"""What is wrong in a real directory, and what Kafka does about it."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import streamlit as st

from kafkaviz.analyse.finding import Finding
from kafkaviz.figures import finding_words
from kafkaviz.ui import parts, state
from kafkaviz.ui.lessons.grammar import Block, NoValue
from kafkaviz.ui.lessons.live import places
from kafkaviz.ui.lessons.live.figure import Live, Onward
from kafkaviz.ui.pick import InSegment
from kafkaviz.words import say

WRAP = ' style="white-space:normal"'


def _made(block: Block) -> list[Finding]:
    here = places.place(block)
    of_partition = _findings(here.listed.key, here.partition.directory, here)
    found = [one for one in of_partition if not block["code"] or one.code in block["code"]]
    missing = set(block["code"]) - {one.code for one in found}
    if missing:
        raise NoValue(f"{block['tp']} has no finding {', '.join(sorted(missing))}")
    return found


@st.cache_resource(max_entries=8, show_spinner=False)
def _findings(key: str, directory: str, _here: InSegment) -> tuple[Finding, ...]:
    from kafkaviz.analyse import health

    return health.check(_here.broker, partition=directory).findings


def _draw(found: Sequence[Finding], block: Block, key: str) -> None:
    head = "".join(
        f"<th>{say(f'workshop.{name}')}</th>"
        for name in ("file", "what_is_there", "what_kafka_does")
    )
    parts.figure_head(f"{block['tp']}, {block['data']}", say("workshop.findings_below"))
    st.space(8)
    parts.table(head, map(_row, found))


def _row(one: Finding) -> str:
    return (
        f'<tr><td class="kv-mono">{escape(Path(one.file or "").name)}</td>'
        f"<td{WRAP}>{escape(finding_words.told(one.message))}</td><td{WRAP}>{escape(finding_words.consequence(one))}</td></tr>"
    )


def _onward(block: Block) -> Onward:
    return "Health", state.address(places.sample(block["data"]))


FINDINGS = Live(_made, _draw, _onward)
