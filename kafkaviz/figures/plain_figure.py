"""A Plotly figure kept as plain values, which Plotly checks only if its attributes are read.

Plotly checks and copies every value when a figure is made, and copies it again each time the figure
is sent. Pages avoid that by keeping figures as plain values. A figure that is redrawn for every
setting is built from plain values at once, which takes a hundredth of the time.
"""

import base64
from typing import Any

import numpy as np
import plotly.graph_objects as go


class PlainFigure(go.Figure):
    """A figure of plain values that is sent to the browser unchecked.

    Reading or changing an attribute, as in a notebook or a test, turns the object into a normal
    Plotly figure.
    """

    def __init__(self, plain: dict[str, Any]) -> None:
        """Keeps data and layout in the form that Plotly's `to_dict` returns."""
        self.__dict__["_plain"] = plain

    @classmethod
    def from_plotly(cls, figure: go.Figure) -> "PlainFigure":
        """Returns a plain copy of a Plotly figure, which is cheap to send repeatedly."""
        return cls(figure.to_dict())

    def __getattr__(self, name: str) -> Any:
        """Builds the Plotly figure when one of its attributes is read for the first time."""
        plain = self.__dict__.pop("_plain", None)
        if plain is None:
            raise AttributeError(name)
        super().__init__(plain)
        return getattr(self, name)

    def to_dict(self) -> dict[str, Any]:
        """Returns the values to send. Callers must not change them."""
        return self.__dict__.get("_plain") or super().to_dict()


def typed_array(values: np.ndarray) -> dict[str, str]:
    """Returns floating-point numbers in the form that plotly.js reads fastest."""
    return {
        "dtype": "f8",
        "bdata": base64.b64encode(values.astype("<f8").tobytes()).decode("ascii"),
    }
