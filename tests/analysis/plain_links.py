from kafkaviz.analysis.segment.links import NONE, Aim
from kafkaviz.format.batch import UNKNOWN


def own(batches, entries, aims) -> list[int]:
    """Returns the own entry of each batch: one that points at its start and leads no search astray,
    an exact one first, and the last of equals.
    """
    linked = []
    for batch in batches:
        pointing = [
            slot
            for slot, entry in enumerate(entries)
            if entry["position"] == batch["position"] and aims[slot] <= Aim.COARSE
        ]
        exact = [slot for slot in pointing if aims[slot] == Aim.EXACT]
        linked.append((exact or pointing or [NONE])[-1])
    return linked


def via(batches, entries, base_offset) -> list[int]:
    """Returns the slot before the first one whose key is above the batch's first offset."""
    batch_entries, before = [], base_offset - 1
    for batch in batches:
        first = (
            before + 1
            if batch["base_offset"] == UNKNOWN and batch["magic"] < 2
            else batch["base_offset"]
        )
        above = next(
            (slot for slot, entry in enumerate(entries) if entry["offset"] > first), len(entries)
        )
        batch_entries.append(above - 1)
        before = batch["last_offset"]
    return batch_entries


def starting_at(batches, position) -> int:
    return next((row for row, batch in enumerate(batches) if batch["position"] == position), NONE)


def batch_with(batches, offset) -> int:
    return next((row for row, batch in enumerate(batches) if batch["last_offset"] >= offset), NONE)


def aims(batches, entries) -> list[int]:
    """Returns where each entry leads."""
    return [_aim(batches, entries, slot) for slot in range(len(entries))]


def _aim(batches, entries, slot) -> int:
    entry, end = (
        entries[slot],
        batches[-1]["position"] + batches[-1]["size_bytes"] if len(batches) else 0,
    )
    row, home = starting_at(batches, entry["position"]), batch_with(batches, entry["offset"])
    if not 0 <= entry["position"] < end or home == NONE:
        return Aim.BEYOND
    if slot and entry["offset"] <= entries[slot - 1]["offset"]:
        return Aim.UNORDERED
    if row == NONE:
        return Aim.INSIDE
    return Aim.COARSE if row < home else Aim.PAST if row > home else Aim.EXACT


def true(batches, times) -> list[bool]:
    """Returns whether the batch of each time entry has its timestamp as the newest."""
    rows = [batch_with(batches, entry["offset"]) for entry in times]
    return [
        row != NONE and batches[row]["max_timestamp_ms"] == entry["timestamp_ms"]
        for row, entry in zip(rows, times, strict=True)
    ]


def twins(batches, entries, times) -> list[int]:
    owners = [
        _newest(batches[: batch_with(batches, entry["offset"]) + 1])
        if _has_home(batches, entry)
        else None
        for entry in entries
    ]
    agrees, twin_rows = true(batches, times), []
    for slot, owner in enumerate(owners):
        naming = [
            k
            for k, entry in enumerate(times)
            if owner not in (None, NONE) and batch_with(batches, entry["offset"]) == owner
        ]
        naming = [k for k in naming if agrees[k]] or naming
        twin_rows.append(naming[-1] if naming and owner not in owners[:slot] else NONE)
    return twin_rows


def _has_home(batches, entry) -> bool:
    return batch_with(batches, entry["offset"]) != NONE


def _newest(batches) -> int:
    """Returns the first row with the largest timestamp, or NONE."""
    largest = max(batch["max_timestamp_ms"] for batch in batches)
    return (
        NONE
        if largest <= -1
        else next(row for row, batch in enumerate(batches) if batch["max_timestamp_ms"] == largest)
    )
