"""A figure is sent with every value that Plotly or Streamlit would otherwise change and redraw."""

import pytest

from kafkaviz.app.widgets import charts
from kafkaviz.figures.theme import PlainFigure


@pytest.mark.parametrize(
    ("layout", "top_px"),
    [
        ({"margin": {"t": 2}}, 14),
        ({"margin": {"t": 12}}, 12),
        ({"margin": {"t": 2}, "title": {"text": "Its own"}}, 2),
    ],
)
def test_the_room_of_no_title_is_in_the_figure(layout, top_px, monkeypatch):
    """Plotly would otherwise compute it while drawing, and draw again."""
    sent: list[dict] = []
    monkeypatch.setattr(
        charts.st, "plotly_chart", lambda figure, **_: sent.append(figure.to_dict())
    )
    charts.plot(PlainFigure({"data": [], "layout": layout}), "key", "in words")
    assert sent[0]["layout"]["margin"]["t"] == top_px


def test_a_figure_is_sent_as_streamlit_wants_it_for_choosing(monkeypatch):
    """Streamlit would change it after the first drawing; a figure without selection stays."""
    sent: list[dict] = []
    monkeypatch.setattr(
        charts.st, "plotly_chart", lambda figure, **_: sent.append(figure.to_dict())
    )
    figure = PlainFigure({"data": [], "layout": {}})
    charts.plot(figure, "key", "in words", on_select="rerun", selection_mode="points")
    charts.plot(figure, "key", "in words")
    assert [layout["layout"].get("clickmode") for layout in sent] == ["event+select", None]
    assert figure.to_dict()["layout"] == {}
