"""Checks that spans tile a range, which the product's spans always do."""

from itertools import pairwise

from kafkaviz.binary.layouts import KINDS, Span


def check(spans: list[Span], start: int, stop: int) -> None:
    """Asserts that the spans tile [start, stop) exactly."""
    are_sound = all(span.start < span.end and span.name and span.kind in KINDS for span in spans)
    assert are_sound, "an empty or nameless span"
    are_joined = all(left.end == right.start for left, right in pairwise(spans))
    assert are_joined, "a gap, or two spans on one byte"
    ends = (spans[0].start, spans[-1].end) if spans else (start, start)
    assert ends == (start, stop), "the ends are not covered"
