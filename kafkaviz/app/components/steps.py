"""What the steppers share on the Python side: the words of their bar, in the reader's language."""

from typing import Any

from kafkaviz import messages


def bar() -> dict[str, Any]:
    """What steps.js takes besides the steps: which language this is, and the words of the bar."""
    return {"language": messages.language(), "bar": messages.table("steps")}
