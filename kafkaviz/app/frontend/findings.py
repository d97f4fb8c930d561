"""The findings of a directory, and what its next start will do.

Drawn and chosen from in the browser.
"""

from typing import Any

from kafkaviz.app.frontend import register_component

_findings = register_component("findings")


def findings(data: dict[str, Any], key: str = "kv_findings") -> None:
    """Draws what figures.health.checkup.browser_payload has packed.

    Nothing comes back, what is chosen stands in the address.
    """
    _findings(key=key, data=data, width="stretch", height="content")
