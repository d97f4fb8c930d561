"""A segment that was made anew, as one object of plain values: what `kafkaviz rebuild --json` and
`kafkaviz simulate --json` print.
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
    """offset_index, time_index: their entries; roll_reason: None where none is known; files: name
    -> sha256.
    """
    return {
        "base_offset": base_offset,
        "log_bytes": log_bytes,
        "offset_entries": len(offset_index),
        "time_entries": len(time_index),
        "roll_reason": roll_reason,
        "files": dict(files),
    }
