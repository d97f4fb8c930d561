"""The kinds of segments that a directory holds."""

from kafkaviz import units
from kafkaviz.analysis.overview import BrokerOverview
from kafkaviz.figures.join_text import join_details
from kafkaviz.words import say

USUAL_KINDS, RARE_KINDS = ("closed", "active", "deleted"), ("cleaned", "swap")  # in the map's key


def describe_kinds(overview: BrokerOverview) -> str:
    """How many segments of each kind but closed, the kinds that are there."""
    counts = {kind: overview.count_kind(kind) for kind in ("active", "deleted", *RARE_KINDS)}
    texts = [
        say(f"broker.kinds_{kind}", n=units.group(count))
        for kind, count in counts.items()
        if count or kind == "active"
    ]
    return join_details(texts)
