"""The tab Compaction of the Disk page: the logs that the cleaner takes, and one cleaning."""

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.widgets import elements
from kafkaviz.messages import say

CONTROLS: tuple[str, ...] = ()  # the address parameters of this tab


def render(_snapshot: BrokerSnapshot) -> None:
    elements.heading(say("disk.tab_compaction"))
