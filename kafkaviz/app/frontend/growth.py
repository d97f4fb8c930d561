"""The stepper of a log that grows: drawn and stepped in the browser, append by append."""

from typing import Any

from kafkaviz import messages
from kafkaviz.app.frontend import register_component
from kafkaviz.app.frontend.stepper import bar

_growth = register_component("growth", "steps")


def growth(data: dict[str, Any], key: str = "growth") -> None:
    """Draws what figures.rolls.growth.browser_payload has packed.

    The step stands in the address as ?step=, which the component alone writes.
    """
    _growth(
        key=key,
        data=data | bar() | {"words": messages.table("growth")},
        width="stretch",
        height="content",
    )
