"""The stepper of a growing log, which moves append by append in the browser."""

from typing import Any

from kafkaviz import messages
from kafkaviz.app.frontend import register_component
from kafkaviz.app.frontend.stepper import bar

_growth = register_component("growth", "steps")


def growth(data: dict[str, Any], key: str = "growth") -> None:
    """Draws the data packed by figures.rolls.growth.browser_payload.

    The step is kept in the address as ?step=, which only the component writes.
    """
    _growth(
        key=key,
        data=data | bar() | {"words": messages.table("growth")},
        width="stretch",
        height="content",
    )
