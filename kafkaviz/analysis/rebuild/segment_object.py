"""A rebuilt segment as the object that `kafkaviz rebuild` and `kafkaviz simulate` print as JSON."""

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
    """Returns the segment as plain values.

    Args:
        offset_index: the entries of the offset index.
        time_index: the entries of the time index.
        roll_reason: the cause of its roll, or None if unknown.
        files: the SHA-256 of each file, by name.
    """
    return {
        "base_offset": base_offset,
        "log_bytes": log_bytes,
        "offset_entries": len(offset_index),
        "time_entries": len(time_index),
        "roll_reason": roll_reason,
        "files": dict(files),
    }
