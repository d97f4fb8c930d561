"""Checks that spans tile a range, which the product's spans always do."""

from itertools import pairwise

from kafkaviz.binary.layouts import KINDS, Span


def check(spans: list[Span], start: int, stop: int) -> None:
    """Checks that the spans tile a range.

    Raises:
        AssertionError: the spans do not tile [start, stop) exactly.
    """
    assert all(span.start < span.end and span.name and span.kind in KINDS for span in spans), (
        "an empty or nameless span"
    )
    assert all(previous.end == following.start for previous, following in pairwise(spans)), (
        "a gap, or two spans on one byte"
    )
    assert ((spans[0].start, spans[-1].end) if spans else (start, start)) == (start, stop), (
        "the ends are not covered"
    )
