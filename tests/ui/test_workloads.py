"""The workloads that both pages offer: those that the commands take by name, and one of one's
own.
"""

import pytest
import streamlit as st

from kafkaviz.errors import KafkavizError
from kafkaviz.simulate.sending.workload import PRESETS, preset
from kafkaviz.ui import workloads
from kafkaviz.words import say
from tests.ui.driven import opened


@pytest.fixture(autouse=True)
def nothing_cached(starts) -> None:
    """No Spark, and nothing kept from the test before."""
    st.cache_resource.clear()


@pytest.mark.parametrize(
    ("page", "link", "first"), [("rolls", {}, "day"), ("tuning", {"tune": "Workload"}, "heartbeat")]
)
def test_a_page_offers_what_the_commands_take(page, link, first):
    """In their order, and below them one's own; each page opens with the one that tells it best."""
    at = opened(page, **link)
    shown = at.selectbox(key="workload")
    assert shown.options == [*(preset(name).title for name in PRESETS), workloads.OWN]
    assert shown.value == preset(first).title


def test_a_title_leads_to_its_name():
    """As the commands take it; what comes along under no name has neither name nor story."""
    assert [workloads.name_of(title) for title in workloads.by_title()] == list(PRESETS)
    assert (
        workloads.name_of(workloads.OWN)
        == workloads.name_of("nothing")
        == workloads.story_of(workloads.OWN)
        == ""
    )
    assert workloads.told("nothing") == "nothing" and workloads.told(workloads.OWN) == say(
        "workloads.own"
    )


def test_ones_own_begins_with_one_that_works():
    """And says what is wrong with what became of it."""
    assert workloads.own(workloads.own_text()) == workloads.start() == preset("day")
    with pytest.raises(KafkavizError, match="your workload: "):
        workloads.own("topic = 3")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("segment.ms", 60_000, "1 min"),
        ("segment.jitter.ms", 0, workloads.NONE),
        ("segment.bytes", 1 << 20, "1 MiB"),
    ],
)
def test_a_setting_is_written_as_sliders_have_it(name, value, words):
    """With its unit; no jitter is none."""
    assert workloads.written(name, value) == words
