"""The workloads that both pages offer: those that the commands take by name, and the reader's own."""

import pytest

from kafkaviz.app import workloads
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import say
from kafkaviz.simulate.producers.workload import PRESETS, preset
from tests.support.pages import open_page

pytestmark = pytest.mark.usefixtures("starts")


@pytest.mark.parametrize(
    ("page", "link", "first"), [("rolls", {}, "day"), ("tuning", {"tune": "Workload"}, "heartbeat")]
)
def test_a_page_offers_what_the_commands_take(page, link, first):
    """In their order, then the reader's own; each page opens with its best example."""
    at = open_page(page, **link)
    selectbox = at.selectbox(key="workload")
    assert selectbox.options == [*(preset(name).title for name in PRESETS), workloads.OWN_TITLE]
    assert selectbox.value == preset(first).title


def test_a_title_leads_to_its_name():
    """An unnamed workload has neither name nor story."""
    assert [workloads.preset_name(title) for title in workloads.by_title()] == list(PRESETS)
    assert (
        workloads.preset_name(workloads.OWN_TITLE)
        == workloads.preset_name("nothing")
        == workloads.story_text(workloads.OWN_TITLE)
        == ""
    )
    assert workloads.display_title("nothing") == "nothing"
    assert workloads.display_title(workloads.OWN_TITLE) == say("workloads.own")


def test_ones_own_begins_with_one_that_works():
    assert workloads.parse_own(workloads.own_text()) == workloads.start_workload() == preset("day")
    with pytest.raises(KafkavizError, match="your workload: "):
        workloads.parse_own("topic = 3")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("segment.ms", 60_000, "1 min"),
        ("segment.jitter.ms", 0, workloads.NONE),
        ("segment.bytes", 1 << 20, "1 MiB"),
    ],
)
def test_a_setting_is_written_as_sliders_have_it(name, value, words):
    """With its unit; without jitter nothing is written."""
    assert workloads.format_setting(name, value) == words
