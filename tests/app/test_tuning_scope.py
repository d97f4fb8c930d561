"""The names of tuning scopes: a topic-partition, a topic, a whole broker or a workload."""

from pathlib import Path

import pytest
import streamlit as st

from kafkaviz.app.pages.tuning import scope
from kafkaviz.app.state.page_location import Location

LABELS = {
    "partition": "Topic-partition, measured from this directory",
    "topic": "Topic, measured from this directory",
    "broker": "Whole broker, measured from this directory",
    "workload": "A workload, written and measured",
}


@pytest.mark.parametrize("kind", LABELS)
def test_the_label_says_what_is_chosen(kind, monkeypatch):
    htmls = []
    monkeypatch.setattr(st, "html", lambda html, **look: htmls.append(html))
    monkeypatch.setattr(st, "segmented_control", lambda label, options, **look: options[0])
    scope.render_choice(scope.Scope(Location(str(Path("/d"))), {"a": (kind, "a")}, "a", kind, "a"))
    assert htmls == [f'<div class="kv-lab">{LABELS[kind]}</div>']
