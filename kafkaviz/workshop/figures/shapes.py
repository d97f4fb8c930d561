"""Shapes and notes of the drawings, as Plotly describes them."""

from typing import Any


def rectangle(x0: Any, x1: Any, y0: Any, y1: Any, **style: Any) -> dict[str, Any]:
    return {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, **style}


def straight_line(x0: Any, x1: Any, y0: Any, y1: Any, **style: Any) -> dict[str, Any]:
    return {"type": "line", "x0": x0, "x1": x1, "y0": y0, "y1": y1, **style}


def note(x: Any, y: Any, text: str, font: tuple[float, str], **style: Any) -> dict[str, Any]:
    """Returns an annotation without an arrow.

    Args:
        font: the size and the colour.
    """
    size, colour = font
    font_style = {"size": size, "color": colour}
    return {"x": x, "y": y, "text": text, "font": font_style, "showarrow": False, **style}
