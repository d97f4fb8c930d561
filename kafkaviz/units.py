"""Units of time and size, and readable text for bytes, counts, times and offsets.

None is shown as a dash.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

SECOND_MS = 1000
MINUTE_MS = 60_000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000
MS_NS = 1_000_000  # nanoseconds in a millisecond
KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
MISSING = "–"
THIN_SPACE = "\u202f"
EXCERPT_CHARACTERS = 200  # the most characters of a file that a message quotes
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# (unit, first number, end of the range, factor, divisor): numbers in the range make more sense in
# this unit than in milliseconds; factor / divisor converts them to milliseconds
OTHER_UNITS = (
    ("seconds", 10**8, 10**10, 1000, 1), ("microseconds", 10**14, 10**17, 1, 1000),
    ("nanoseconds", 10**17, 10**20, 1, 1_000_000),
)  # fmt: skip
# characters that control a terminal or the direction of text
_CONTROL_CHARACTERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
_CONTROL_EXCEPT_WHITESPACE = re.compile(
    _CONTROL_CHARACTERS.pattern.replace("\x00-\x1f", "\x00-\x08\x0b\x0c\x0e-\x1f")
)
# surrogates that no file name from the system contains
_LONE_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_GROUP_SEPARATOR = re.compile(f"(?<=[0-9]){THIN_SPACE}(?=[0-9])")


def format_count(number: float | None) -> str:
    """Returns a number with its digits grouped by threes with a thin space."""
    return MISSING if number is None else f"{number:,}".replace(",", THIN_SPACE)


def format_bytes(count: float | None) -> str:
    """Returns a number of bytes in a binary unit, with three figures: 319 B, 1.02 MiB."""
    if count is None:
        return MISSING
    if count < 1023.5:
        return f"{count:.0f} B"
    return _scale(count / 1024, 1024, 1023.5, ("KiB", "MiB", "GiB", "TiB", "PiB"))


def format_megabytes(count: int) -> str:
    """Returns a number of bytes in decimal megabytes, as throughput is given: 1.8 MB, 16 MB."""
    return f"{count / 1_000_000:.1f}".removesuffix(".0") + " MB"


def format_percent(part: float | None, total: float | None) -> str:
    """Returns a part of a total in percent: 0.45 %."""
    if part is None or not total:
        return MISSING
    percent = 100 * part / total
    if 0 < percent < 0.01:
        return "< 0.01 %"
    if percent >= 10:
        return f"{percent:.0f} %"
    return f"{percent:.1f} %" if percent >= 1 else f"{percent:.2f} %"


def format_us(value: float) -> str:
    """Formats a time: "0.8 µs", "42 µs", "1.4 ms"."""
    if 0 < abs(value) < 0.05:
        return "< 0.1 µs"
    if abs(value) < 9.95:
        return f"{value:.1f} µs"
    if abs(value) < 999.5:
        return f"{value:.0f} µs"
    if abs(value) < 999_500:
        return f"{value / 1000:.1f} ms"
    return f"{value / 1e6:.1f} s"


def rate(bytes_per_s: float | None) -> str:
    """Returns a speed in decimal units: 1.3 GB/s."""
    if bytes_per_s is None:
        return MISSING
    if bytes_per_s < 999.5:
        return f"{bytes_per_s:.0f} B/s"
    return _scale(bytes_per_s / 1000, 1000, 999.5, ("kB/s", "MB/s", "GB/s"))


def moment(ms: int | None, *, fraction: bool = True) -> str:
    """Returns a timestamp in UTC: 2026-11-21 09:29:44.123; as ms if beyond Python's calendar."""
    time = _utc(ms)
    if time is None:
        return _raw_time(ms)
    if fraction:
        return time.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    return time.strftime("%Y-%m-%d %H:%M:%S")


def timestamp_ms(text: str) -> int:
    """Returns the timestamp of an ISO 8601 time. Without a time zone, the time is in UTC.

    Raises ValueError if `text` is not an ISO 8601 time.
    """
    time = datetime.fromisoformat(text.strip())
    if not time.tzinfo:
        time = time.replace(tzinfo=UTC)
    return (time - EPOCH) // timedelta(milliseconds=1)


def clock(ms: int | None) -> str:
    """Returns the time of day of a Kafka timestamp in UTC: 09:29:44.123."""
    time = _utc(ms)
    return _raw_time(ms) if time is None else time.strftime("%H:%M:%S.%f")[:-3]


def duration(ms: float | None) -> str:
    """Returns a span of time: 42 s, 4.6 min, 7 d."""
    if ms is None:
        return MISSING
    for unit, length, rounding in (
        ("d", DAY_MS, 0.05 * HOUR_MS),  # 23.95 h or more would be rounded to 24 h
        ("h", HOUR_MS, 0.05 * MINUTE_MS),
        ("min", MINUTE_MS, 0.05 * SECOND_MS),
        ("s", SECOND_MS, 0.5),
    ):
        if abs(ms) >= length - rounding:
            number = ms / length
            text = f"{number:.0f}" if number >= 100 else f"{number:.1f}".removesuffix(".0")
            return f"{text} {unit}"
    return f"{ms:.0f} ms"


class OtherUnit(NamedTuple):
    """A timestamp that is plausible in a unit other than milliseconds."""

    unit: str
    timestamp_ms: int  # the time in milliseconds, if that unit was meant


def other_unit(timestamp_ms: int) -> OtherUnit | None:
    """Returns the unit of a timestamp that looks like seconds, microseconds or nanoseconds.

    Returns None for other numbers; milliseconds of today have 13 digits.
    """
    for unit, low, high, factor, divisor in OTHER_UNITS:
        if low <= timestamp_ms < high:
            return OtherUnit(unit, timestamp_ms * factor // divisor)
    return None


def file_stem(base_offset: int) -> str:
    """Returns the name of a segment's files, without ending: the base offset in 20 digits."""
    return f"{base_offset:020d}" if base_offset >= 0 else f"{base_offset:021d}"


def replace_surrogates(text: str) -> str:
    """Returns a text that can be encoded as UTF-8, with U+FFFD for all surrogates."""
    return (
        _LONE_SURROGATE.sub("\ufffd", text)
        .encode("utf-8", "surrogateescape")
        .decode("utf-8", "replace")
    )


def escape_controls(name: str) -> str:
    r"""Returns a text that is safe to show.

    Characters that control a terminal or change the direction of text are escaped: ESC is \x1b.
    Line ends and tabs stay. Surrogates are replaced.
    """
    return _CONTROL_EXCEPT_WHITESPACE.sub(_escape, replace_surrogates(name))


def escape_line(text: str) -> str:
    r"""Returns the text on one line, without control characters: a line end is \n, a tab \t."""
    return _CONTROL_CHARACTERS.sub(_escape, replace_surrogates(text))


def _escape(match: re.Match) -> str:
    return repr(match[0])[1:-1]


def excerpt(text: str) -> str:
    """Returns the first EXCERPT_CHARACTERS of a text, then an ellipsis if more follows."""
    return text if len(text) <= EXCERPT_CHARACTERS else f"{text[:EXCERPT_CHARACTERS]}…"


def ungroup(text: str) -> str:
    """Removes the digit separators of format_count() from a text, for programs that read it."""
    return _GROUP_SEPARATOR.sub("", text)


def _utc(ms: int | None) -> datetime | None:
    """Returns a timestamp as datetime; None if missing (None, -1) or beyond Python's calendar."""
    if ms is None or ms == -1:
        return None
    try:
        return EPOCH + timedelta(milliseconds=int(ms))
    except OverflowError:
        return None


def _raw_time(ms: int | None) -> str:
    return MISSING if ms is None or ms == -1 else f"{format_count(int(ms))} ms"


def _scale(number: float, step: int, limit: float, units: tuple[str, ...]) -> str:
    """Divides a number by `step` until it is below `limit`, and returns it with its unit."""
    for unit in units[:-1]:
        if number < limit:
            return f"{_three_figures(number)} {unit}"
        number /= step
    return f"{_three_figures(number)} {units[-1]}"


def _three_figures(number: float) -> str:
    """Returns three figures (3.70, 20.5), so that columns line up. 3.00 is shortened to 3."""
    if number >= 100:
        decimals = 0
    elif number >= 10:
        decimals = 1
    else:
        decimals = 2
    text = f"{number:.{decimals}f}"
    integer_part, _, fraction = text.partition(".")
    return text if fraction.strip("0") else integer_part
