"""Limits that an operator can change with environment variables."""

import os
import re

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message


def positive_number(name: str, default: int) -> int:
    """Returns the positive whole number in an environment variable, or the default if it is unset.

    Raises:
        KafkavizError: the value is not a positive whole number.
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    digits = text.lstrip("0")
    if not re.fullmatch("[0-9]{1,18}", digits):  # Python refuses to parse thousands of digits
        raise KafkavizError(message("errors.is_no_positive_number", name=name, value=text[:40]))
    return int(digits)
