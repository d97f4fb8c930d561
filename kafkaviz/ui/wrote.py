"""Which Kafka wrote a directory, in the reader's words."""

from kafkaviz import versions
from kafkaviz.analyse.infer import Looks
from kafkaviz.figures.listed import clauses
from kafkaviz.words import say
from kafkaviz.words.retold import retold


def kafka(looks: Looks) -> str:
    """Kafka 4.3 or later; Kafka 2.8 to 3.6."""
    first, last = (
        looks.first and versions.text(looks.first),
        looks.last and versions.text(looks.last),
    )
    if looks.first and looks.last and looks.last > looks.first:
        return say("common.wrote_between", first=first, last=last)
    if first and last:
        return say("common.wrote_one", first=first)
    if first:
        return say("common.wrote_first", first=first)
    return say("common.wrote_last", last=last) if last else say("common.wrote_unknown")


def because(traces: str) -> str:
    """The traces that say so, one behind another: the because of a Looks, an Assumed or a tuning's
    Source.
    """
    return clauses(retold("findings", one) for one in traces.split("; "))
