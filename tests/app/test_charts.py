"""Figures of pages are drawn once per set of inputs, and again for another drawing or language.

A figure is sent with every value that Plotly or Streamlit would otherwise change and redraw.
"""

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


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    """Collects the figures that are sent to the browser."""
    figures: list[dict] = []
    monkeypatch.setattr(
        charts.st, "plotly_chart", lambda figure, **_: figures.append(figure.to_dict())
    )
    return figures


@pytest.mark.parametrize(
    ("layout", "top_px"),
    [
        ({"margin": {"t": 2}}, 14),
        ({"margin": {"t": 12}}, 12),
        ({"margin": {"t": 2}, "title": {"text": "Its own"}}, 2),
    ],
)
def test_the_room_of_no_title_is_in_the_figure(layout, top_px, sent):
    """Plotly would otherwise compute it while drawing, and draw again."""
    charts.plot(PlainFigure({"data": [], "layout": layout}), "key", "in words")
    assert sent[0]["layout"]["margin"]["t"] == top_px


def test_a_figure_is_sent_as_streamlit_wants_it_for_choosing(sent):
    """Streamlit would change it after the first drawing; a figure without selection stays."""
    figure = PlainFigure({"data": [], "layout": {}})
    charts.plot(figure, "key", "in words", on_select="rerun", selection_mode="points")
    charts.plot(figure, "key", "in words")
    assert [layout["layout"].get("clickmode") for layout in sent] == ["event+select", None]
    assert figure.to_dict()["layout"] == {}
