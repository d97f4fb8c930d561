"""The kinds of segments that a directory holds."""

from kafkaviz import units
from kafkaviz.analyse.overview import Overview
from kafkaviz.figures.listed import beside
from kafkaviz.words import say

ALWAYS, SOMETIMES = ("closed", "active", "deleted"), ("cleaned", "swap")  # in the map's key


def counted(known: Overview) -> str:
    """How many segments of each kind but closed, the kinds that are there."""
    counts = {kind: known.count(kind) for kind in ("active", "deleted", *SOMETIMES)}
    told = [
        say(f"broker.kinds_{kind}", n=units.group(count))
        for kind, count in counts.items()
        if count or kind == "active"
    ]
    return beside(told)
