"""The findings of a directory and the actions of its next start, with selection in the browser."""

from typing import Any

from kafkaviz.app.frontend import register_component

_findings = register_component("findings")


def findings(data: dict[str, Any], key: str = "kv_findings") -> None:
    """Draws the data packed by figures.health.checkup.browser_payload.

    The selection is kept in the address and is not sent to the server.
    """
    _findings(key=key, data=data, width="stretch", height="content")
