"""What variables of the environment set: limits that an operator may change."""

import os

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message


def positive_number(name: str, default: int) -> int:
    """A whole number above 0 that a variable names; the default where there is none.

    Raises:
        KafkavizError: for anything else.
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise KafkavizError(message("errors.is_no_positive_number", name=name, value=text[:40]))
    return int(text)
