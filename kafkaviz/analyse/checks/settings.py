"""The checks of what settings cost: indexes that roll segments too soon, segments that are too
small, room that is wasted.
"""

from collections.abc import Iterator, Sequence

from kafkaviz import versions
from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.summary import Summary
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.finding import Evidence, Finding, Version, finding
from kafkaviz.analyse.infer import roll_reasons
from kafkaviz.format import offset_index, time_index
from kafkaviz.log.broker import Broker
from kafkaviz.units import group, size

MAX_MAP_COUNT = 65_530  # vm.max_map_count, the default of Linux
MAPS_A_SEGMENT, MAPS_OF_JVM = 2, 1500
NEAR = 0.8  # of the limit
LEAST_SEGMENT_BYTES = 1 << 20  # what segment.bytes may not fall below from 4.0 on (KIP-1030)
FEW_SEGMENTS = 20
MOST_ROLLS = 0.5  # of a log, that one cause must explain: a few may be alike by chance
WASTE_BYTES = 1 << 20
FEW_ENTRIES = 20
FULL = {"offset-index-full": "index-limit-rolls", "time-index-full": "time-index-limit-binds"}


def of_partition(summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    """What the settings of a topic-partition cost it."""
    full: list[Finding] = []
    if not any(told.unreadable or told.hidden for told in summaries):
        yield from _without_effect(summaries, facts)
        yield from _waste(summaries, facts)
        if not any(told.unsound for told in summaries):
            full = list(_full(summaries, facts))
    # where an index was full, larger segment.bytes would change nothing
    yield from full or _tiny(summaries, facts)


def _without_effect(summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    batches = sum(told.batches for told in summaries)
    entries = sum(told.entries for told in summaries)
    logs = sum(1 for told in summaries if told.batches)
    if entries >= FEW_ENTRIES and entries == batches - logs:
        message = (
            f"all batches but the first of each segment have an entry: {group(entries)} entries "
            f"for {group(batches)} batches"
        )
        yield facts.found(
            "interval-without-effect",
            None,
            message,
            Evidence(f"{group(entries)} entries", f"{group(entries)} at most"),
        )


def _full(summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    reasons = roll_reasons([told.facts() for told in summaries])
    for reason, code in FULL.items():
        rolled = [told for told, found in zip(summaries, reasons, strict=True) if found == reason]
        if len(rolled) >= MOST_ROLLS * (len(summaries) - 1) and rolled:
            told, kind = rolled[0], "entries" if reason == "offset-index-full" else "time_entries"
            count = getattr(told, kind)
            length = (
                count
                * (offset_index if reason == "offset-index-full" else time_index).ENTRY.itemsize
            )
            segment = told.segment
            found = segment.index if reason == "offset-index-full" else segment.timeindex
            message = (
                f"{len(rolled)} of {len(summaries) - 1} rolls came when it was full: "
                f"{group(count)} entries, {size(length)}"
            )
            yield facts.found(
                code,
                existing(found).name,
                message,
                Evidence(f"{group(count)} entries in each of them", "room for more"),
                0,
                length,
            )


def _tiny(summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    closed = [existing(told.segment.log).size_bytes for told in summaries[:-1]]
    if len(closed) >= FEW_SEGMENTS and sum(closed) / len(closed) < LEAST_SEGMENT_BYTES:
        mean = sum(closed) // len(closed)
        message = f"{group(len(closed))} closed segments of {size(mean)} on average"
        yield facts.found(
            "segments-tiny",
            None,
            message,
            Evidence(size(mean), f"{size(LEAST_SEGMENT_BYTES)} or more"),
        )


def _waste(summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    """Room on disk behind the last entry: a file with a hole there takes none."""
    wasted = []
    for told in summaries:
        written = (
            told.entries * offset_index.ENTRY.itemsize,
            told.time_entries * time_index.ENTRY.itemsize,
        )
        for found, length in zip(
            (told.segment.index, told.segment.timeindex), written, strict=True
        ):
            if found and found.allocated_bytes - length > WASTE_BYTES:
                wasted.append((found, length))
    if wasted:
        found, written = wasted[0]
        total = sum(one.allocated_bytes - used for one, used in wasted)
        message = (
            f"{len(wasted)} index file{'' if len(wasted) == 1 else 's'} hold {size(total)} of "
            "zeros that lie on disk"
        )
        evidence = Evidence(
            f"{size(found.allocated_bytes)} on disk", f"{size(written)} of entries, then a hole"
        )
        is_kept = facts.metadata_log and versions.TRIMMED_BEFORE_CLOSE.of(facts.version)
        until_rolled = (
            "The space is taken until the segment rolls: from 4.4.0 on a clean stop does not trim "
            "the metadata log"
        )
        consequence = until_rolled if is_kept else ""
        yield facts.found(
            "preallocation-waste",
            found.name,
            message,
            evidence,
            written,
            found.size_bytes - written,
            consequence,
        )


def of_broker(broker: Broker, version: Version) -> Iterator[Finding]:
    """What all partitions together cost the broker."""
    segments = sum(len(partition.live) for partition in broker.partitions)
    maps = MAPS_A_SEGMENT * segments + MAPS_OF_JVM
    if maps > NEAR * MAX_MAP_COUNT:
        message = (
            f"{group(segments)} segments may take {group(maps)} maps once all are loaded; Linux "
            f"allows {group(MAX_MAP_COUNT)}"
        )
        evidence = Evidence(
            f"{group(maps)} maps", f"fewer than vm.max_map_count, {group(MAX_MAP_COUNT)} by default"
        )
        yield finding("maps-near-limit", message, evidence, version=version)
