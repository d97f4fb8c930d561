"""What is looked up: an offset or a timestamp, as people write it and as a field shows it."""

import re

from kafkaviz import units
from kafkaviz.format import names
from kafkaviz.search import by_time

OFFSET, TIMESTAMP = "offset", "timestamp"
# as all choices of this page: short words, as they stand in the address
TARGETS = (OFFSET, TIMESTAMP)


def parse(text: str, target_kind: str) -> int:
    """A target as people write it: 2 247, 2_247, and of a timestamp also 2026-11-21 09:29:44.123 in
    UTC. ValueError for anything else.

    Of a timestamp also earliest, latest and max, which Kafka knows by numbers below 0; those
    numbers are no times.
    """
    if target_kind == TIMESTAMP and text.strip().lower() in by_time.NAMES:
        return by_time.NAMES[text.strip().lower()]
    digits = re.sub(r"[\s_,\u202f]", "", text)
    if re.fullmatch(r"-?\d{1,19}", digits):
        target = int(digits)
    elif target_kind == TIMESTAMP:
        target = units.timestamp_ms(text)
    else:
        raise ValueError(text)
    if not (0 if target_kind == TIMESTAMP else -names.MAX_OFFSET) <= target <= names.MAX_OFFSET:
        raise ValueError(text)
    return target


def format_target(target: int, target_kind: str) -> str:
    """A target as its field and the address have it: plain digits, or the name of a time."""
    return (time_name(target) if target_kind == TIMESTAMP else "") or str(target)


def time_name(timestamp_ms: int | None) -> str:
    """earliest, latest or max; "" for a time."""
    return next((name for name, value in by_time.NAMES.items() if value == timestamp_ms), "")
