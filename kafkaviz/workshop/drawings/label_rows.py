"""Places labels along an axis in as many rows as they need, so that no two overlap.

The width of a text is unknown until a browser draws it, so its maximum is estimated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

GAP_PX = 10  # between two labels in a row
# width of a Chinese and of another character at 13 px
WIDE_PX = 13.5
NARROW_PX = 7.0


@dataclass(frozen=True)
class LabelPlace:
    """The place of a label.

    Attributes:
        row: 0 is next to the axis.
        anchor: the part of the label that is at its point: left, center or right.
    """

    row: int
    anchor: str


def text_px(text: str) -> float:
    """Estimates the width of a label."""
    return sum(WIDE_PX if ord(character) > 0x2E7F else NARROW_PX for character in text)


def stack_labels(labels: Sequence[tuple[float, str]], width_px: float) -> list[LabelPlace]:
    """Returns a place for each label, in the free row that is nearest to the axis.

    Args:
        labels: the point on the axis, from 0 to 1, and the text.
        width_px: the least width of the axis.
    """
    ends: list[float] = []  # end of the last label in each row
    places: dict[int, LabelPlace] = {}
    for number in sorted(range(len(labels)), key=lambda index: labels[index][0]):
        share, text = labels[number]
        point_px = share * width_px
        label_px = text_px(text)
        if point_px < label_px / 2:
            anchor = "left"
        elif point_px > width_px - label_px / 2:
            anchor = "right"
        else:
            anchor = "center"
        left_px = point_px - {"left": 0, "center": label_px / 2, "right": label_px}[anchor]
        row = next(
            (row for row, end_px in enumerate(ends) if end_px + GAP_PX <= left_px), len(ends)
        )
        ends[row : row + 1] = [left_px + label_px]
        places[number] = LabelPlace(row, anchor)
    return [places[number] for number in range(len(labels))]
