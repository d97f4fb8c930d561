"""Broker: what a broker directory holds, and how densely it is indexed."""

from kafkaviz.ui import parts, pick
from kafkaviz.ui.frame import frame

place = frame("Broker")
broker = pick.broker(place)
parts.title(f"{len(broker.partitions)} topic-partitions")
