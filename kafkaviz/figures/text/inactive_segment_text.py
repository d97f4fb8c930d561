"""Notes next to a number about segments that are not in use: counted too, or left out."""

from collections.abc import Sequence

from kafkaviz.analysis.broker.inactive_segments import InactiveSegment, distinct_marks
from kafkaviz.figures.text.join_text import join_comma
from kafkaviz.messages import render, say, say_count


def included_text(inactive: Sequence[InactiveSegment]) -> str:
    """Returns the note on a number that counts everything; "" if all segments are in use."""
    return _marks_text("counted_too", inactive) if inactive else ""


def left_out_text(
    inactive: Sequence[InactiveSegment], *, is_metadata_left_out: bool = False
) -> str:
    """Returns the note on a number that counts only logs in use; "" if that leaves nothing out.

    Args:
        is_metadata_left_out: whether KRaft's own log is not counted either.
    """
    if not inactive:
        return say("inactive_segments.left_out_metadata") if is_metadata_left_out else ""
    return _marks_text("left_out_both" if is_metadata_left_out else "left_out", inactive)


def no_rows_text(suffixes: Sequence[str]) -> str:
    """Returns the note that some segments have rows in the table `segments` only; "" for none.

    Args:
        suffixes: the suffix of each such segment, without its dot.
    """
    if suffixes:
        return _marks_text("no_rows", [InactiveSegment("", f".{suffix}") for suffix in suffixes])
    return ""


def _marks_text(key: str, inactive: Sequence[InactiveSegment]) -> str:
    marks = join_comma(map(render, distinct_marks(inactive)))
    return say_count(f"inactive_segments.{key}", len(inactive), marks=marks)
