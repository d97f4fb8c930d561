"""The tab Map of the Disk page: the use of every byte of the log directories."""

from typing import TYPE_CHECKING

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.widgets import tables
from kafkaviz.figures.text.disk_text import sorted_uses, use_text
from kafkaviz.messages import say_count
from kafkaviz.units import format_bytes

if TYPE_CHECKING:
    from kafkaviz.analysis.broker_health import Health


def lead(snapshot: BrokerSnapshot) -> str:
    """Returns the text below the page title."""
    return say_count("common.n_logs", len(snapshot.broker.partitions))


def render(snapshot: BrokerSnapshot, health: "Health | None") -> None:
    """Draws the tab, without a check from the directory listing alone."""
    from kafkaviz.analysis import disk

    shares = list(disk.disk_shares(snapshot.broker)) if health is None else health.all_shares()
    rows = [
        (use_text(use), format_bytes(size)) for use, size in sorted_uses(disk.total_uses(shares))
    ]
    tables.table(("", ""), rows, "lr")
