from kafkaviz.analysis.segment.links import NONE, Aim
from kafkaviz.format.batch import UNKNOWN


def own(batches, entries, aims) -> list[int]:
    """Returns the own entry of each batch: one that points at its start and leads no search astray,
    one with its first or last offset first, and the last of equals.
    """
    linked = []
    for batch in batches:
        pointing = [
            slot
            for slot, entry in enumerate(entries)
            if entry["position"] == batch["position"] and aims[slot] < Aim.PAST
        ]
        exact = [slot for slot in pointing if aims[slot] <= Aim.FIRST_KEY]
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


def aims(batches, entries, base_offset) -> list[int]:
    """Returns where each entry leads."""
    end = batches[-1]["position"] + batches[-1]["size_bytes"] if len(batches) else 0
    entry_aims, before = [], None
    for entry in entries:
        aim = _aim(batches, entry, end, base_offset)
        if aim <= Aim.COARSE:
            position = entry["position"]
            if position <= (before["position"] if before else 0):
                aim = Aim.FOREIGN
            if before and entry["offset"] <= before["offset"]:
                aim = Aim.UNORDERED
            before = entry
        entry_aims.append(aim)
    return entry_aims


def _aim(batches, entry, end, base_offset) -> int:
    key, position = entry["offset"], entry["position"]
    row, home = starting_at(batches, position), batch_with(batches, key)
    if not 0 <= position < end:
        return Aim.BEYOND
    if row == NONE:
        return Aim.INSIDE
    if home == NONE:
        return Aim.NO_BATCH
    if row > home:
        return Aim.PAST
    last = batches["last_offset"][home]
    first = batches["base_offset"][home]
    if first == UNKNOWN and batches["magic"][home] < 2:
        first = batches["last_offset"][home - 1] + 1 if home else base_offset
    if row == home and key in (first, last):
        return Aim.EXACT if key == last else Aim.FIRST_KEY
    has_gaps = batches["record_count"][home] != last - first + 1
    return Aim.COARSE if key == last or (has_gaps and key >= first) else Aim.FOREIGN


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
