"""The legend of hot pages, cold pages and the warm section."""

import pytest

from kafkaviz.app.middleware import stylesheet
from kafkaviz.figures import tokens
from kafkaviz.messages import say


def test_the_legend_has_a_class_and_words_for_each_kind():
    assert tokens.page_legend("hot", "cold") == (
        '<div class="kv-pages">'
        f'<span><i class="kv-hot"></i>{say("page_legend.hot")}</span>'
        f'<span><i class="kv-cold"></i>{say("page_legend.cold")}</span></div>'
    )


@pytest.mark.parametrize("kind", tokens.KINDS)
def test_every_kind_has_its_own_colour_and_a_second_cue(kind):
    assert f".kv-{kind} " in tokens.PAGE_LEGEND
    assert f".kv-{kind} " in stylesheet()
    others = [tokens.bar_marker(other, "dark") for other in tokens.KINDS if other != kind]
    marker = tokens.bar_marker(kind, "dark")
    assert all(marker["color"] != other["color"] for other in others)
    assert all(marker["pattern"]["shape"] != other["pattern"]["shape"] for other in others)
