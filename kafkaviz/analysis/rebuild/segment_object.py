"""A segment that was rebuilt, as one object of plain values.

What `kafkaviz rebuild --json` and `kafkaviz simulate --json` print.
"""

from collections.abc import Mapping, Sized


def segment_object(
    base_offset: int,
    log_bytes: int,
    offset_index: Sized,
    *,
    time_index: Sized,
    roll_reason: str | None,
    files: Mapping[str, str],
) -> dict:
    """The segment as plain values.

    Args:
        offset_index: its entries.
        time_index: its entries.
        roll_reason: None where none is known.
        files: the SHA-256 by name.
    """
    return {
        "base_offset": base_offset,
        "log_bytes": log_bytes,
        "offset_entries": len(offset_index),
        "time_entries": len(time_index),
        "roll_reason": roll_reason,
        "files": dict(files),
    }
