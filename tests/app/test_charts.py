"""Figures of pages are drawn once per set of inputs, and again for another drawing or language."""

import plotly.graph_objects as go
import pytest
import streamlit as st

from kafkaviz import messages
from kafkaviz.app.widgets import charts
from kafkaviz.figures.theme import PlainFigure


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    st.cache_resource.clear()
    monkeypatch.setattr(charts, "mode", lambda: "dark")
    return []


def test_a_figure_is_drawn_once(drawn):
    """A figure is drawn once per view, drawing and language."""

    def lines(view, mode):
        drawn.append((view, mode))
        return PlainFigure({"data": [], "layout": {"title": {"text": "lines"}}})

    def bars(view, mode):
        return go.Figure(go.Bar(y=[1]))

    first, again = (charts.figure(("log", 1), lines, "view") for _ in range(2))
    assert first is again and drawn == [("view", "dark")]
    assert charts.figure(("log", 1), bars, "view").data[0].type == "bar"
    charts.figure(("log", 2), lines, "other")
    assert drawn[1:] == [("other", "dark")]


def test_a_figure_is_kept_as_it_is_sent(drawn):
    """Plotly's objects would be copied for each reader and each rerun."""
    figure = charts.figure("bars", lambda view, mode: go.Figure(go.Bar(y=[1])), "view")
    assert figure.to_dict() is figure.to_dict()


def test_a_view_is_worked_out_again_in_another_language(drawn, monkeypatch):
    assert (
        charts.view("limits", lambda: drawn.append("en") or "An hour")
        == charts.view("limits", lambda: "never")
        == "An hour"
    )
    monkeypatch.setattr(messages, "_language_sources", [lambda: "zh"])
    assert charts.view("limits", lambda: "一小时") == "一小时" and drawn == ["en"]
