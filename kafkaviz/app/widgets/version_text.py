"""The text about which Kafka release wrote a directory."""

from kafkaviz import versions
from kafkaviz.analysis.inference import InferredRelease
from kafkaviz.messages import say


def describe_writer(release: InferredRelease) -> str:
    """Returns a text such as "Kafka 4.3 or later" or "Kafka 2.8 to 3.6"."""
    first = release.first and versions.text(release.first)
    last = release.last and versions.text(release.last)
    if release.first and release.last and release.last > release.first:
        return say("common.wrote_between", first=first, last=last)
    if first and last:
        return say("common.wrote_one", first=first)
    if first:
        return say("common.wrote_first", first=first)
    return say("common.wrote_last", last=last) if last else say("common.wrote_unknown")
