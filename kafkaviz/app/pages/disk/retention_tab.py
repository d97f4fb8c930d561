"""The tab Retention of the Disk page: what the next passes delete, and what other limits would."""

from typing import TYPE_CHECKING

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.widgets import elements
from kafkaviz.figures.text import retention_text

if TYPE_CHECKING:
    from kafkaviz.analysis.broker_health import Health

CONTROLS: tuple[str, ...] = ()  # the address parameters of this tab


def render(_snapshot: BrokerSnapshot, health: "Health") -> None:
    elements.heading(retention_text.headline_text(health.retention))
