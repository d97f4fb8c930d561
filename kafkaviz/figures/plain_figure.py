"""A Plotly figure as the browser is sent it, which Plotly checks only where somebody looks into it.

Plotly checks and copies each value when a figure is made, and copies all of them again each time
it is sent. So a page keeps figures as plain values; and those that it draws anew for every setting
are made of plain values from the start, which takes a hundredth of the time.
"""

import base64
from typing import Any

import numpy as np
import plotly.graph_objects as go


class PlainFigure(go.Figure):
    """A figure of plain values.

    It is sent as it is. Who looks into it or changes it, as a notebook or a test, finds the figure
    that Plotly makes of the same values, checked.
    """

    def __init__(self, plain: dict[str, Any]) -> None:
        """The figure.

        Args:
            plain: its data and layout, as `to_dict` of a figure gives them.
        """
        self.__dict__["_plain"] = plain

    @classmethod
    def from_plotly(cls, figure: go.Figure) -> "PlainFigure":
        """A figure that Plotly has made, to be sent again and again."""
        return cls(figure.to_dict())

    def __getattr__(self, name: str) -> Any:
        """Python asks for what is not there: at first, all that Plotly's figures have."""
        plain = self.__dict__.pop("_plain", None)
        if plain is None:
            raise AttributeError(name)
        super().__init__(plain)
        return getattr(self, name)

    def to_dict(self) -> dict[str, Any]:
        """What is sent, not to be changed."""
        return self.__dict__.get("_plain") or super().to_dict()


def typed_array(values: np.ndarray) -> dict[str, str]:
    """Floating-point numbers as plotly.js reads them quickest."""
    return {
        "dtype": "f8",
        "bdata": base64.b64encode(values.astype("<f8").tobytes()).decode("ascii"),
    }
