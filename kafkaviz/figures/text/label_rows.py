"""Labels along an axis in as many rows as they need, so that no two meet.

Words have no measured width before a browser draws them; what they take at most is estimated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

GAP_PX = 10  # between two labels of a row
WIDE_PX, NARROW_PX = 13.5, 7.0  # of a Chinese character, and of another, at 13 px


@dataclass(frozen=True)
class LabelPlace:
    """Where a label stands.

    Attributes:
        row: from 0, next to the axis.
        anchor: which part of it is at its point: left, center or right.
    """

    row: int
    anchor: str


def text_px(text: str) -> float:
    """About how wide a label is."""
    return sum(WIDE_PX if ord(character) > 0x2E7F else NARROW_PX for character in text)


def stack_labels(labels: Sequence[tuple[float, str]], width_px: float) -> list[LabelPlace]:
    """A place for each label, the first that is free from the axis on.

    Args:
        labels: where on the axis, from 0 to 1, and its text.
        width_px: of the axis, at the narrowest that it is drawn.
    """
    ends: list[float] = []  # of the last label of each row
    places: dict[int, LabelPlace] = {}
    for number in sorted(range(len(labels)), key=lambda index: labels[index][0]):
        share, text = labels[number]
        point_px, label_px = share * width_px, text_px(text)
        anchor = (
            "left"
            if point_px < label_px / 2
            else "right"
            if point_px > width_px - label_px / 2
            else "center"
        )
        left_px = point_px - {"left": 0, "center": label_px / 2, "right": label_px}[anchor]
        row = next(
            (row for row, end_px in enumerate(ends) if end_px + GAP_PX <= left_px), len(ends)
        )
        ends[row : row + 1] = [left_px + label_px]
        places[number] = LabelPlace(row, anchor)
    return [places[number] for number in range(len(labels))]
