import json

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from kafkaviz.figures.theme import PlainFigure, typed_array


def line(**properties) -> PlainFigure:
    """Returns a line from 0 to 1 in a figure 300 px high."""
    trace = {"type": "scatter", "x": [0, 1], "y": [0, 1]} | properties
    return PlainFigure({"data": [trace], "layout": {"height": 300}})


def test_what_is_sent_is_what_was_given():
    """The same values, not copies, however often they are sent."""
    figure = line()
    assert figure.to_dict() is figure.to_dict()
    assert json.loads(plotly.io.to_json(figure.to_dict(), validate=False)) == figure.to_dict()


def test_who_looks_into_it_finds_plotlys_figure():
    figure = line()
    assert (figure.data[0].x, figure.layout.height) == ((0, 1), 300)


def test_what_is_changed_is_sent():
    figure = line()
    figure.update_layout(height=200)
    assert figure.to_dict()["layout"]["height"] == 200


def test_who_looks_into_it_finds_mistakes():
    """Plotly names an invalid property."""
    figure = line(colour="red")
    with pytest.raises(ValueError, match="colour"):
        figure.update_layout(height=200)


def test_a_figure_of_plotlys_is_sent_as_plotly_sends_it():
    drawn = go.Figure(go.Scatter(x=np.arange(3.0), y=[1, 2, 3])).update_layout(title_text="a")
    figure = PlainFigure.from_plotly(PlainFigure.from_plotly(drawn))
    assert figure.to_json() == drawn.to_json()


def test_an_array_is_sent_as_plotly_sends_it():
    """The format is private to Plotly."""
    values = np.geomspace(1, 100, 7)
    assert typed_array(values) == go.Figure(go.Scatter(x=values)).to_dict()["data"][0]["x"]
