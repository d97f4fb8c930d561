"""The damage in a copy: a description, the bytes around the damage, and the findings it causes.

00000000000000002400.log: bit 4 of byte 17 129 flipped, in CRC
before  017120  00 00 00 00 00 1e 93 00 00 00 00 02 4b 8c 0a 11
after   017120  00 00 00 00 00 1e 93 00 00 10 00 02 4b 8c 0a 11
"""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kafkaviz import units
from kafkaviz.analysis import broker_health
from kafkaviz.analysis.findings.finding import Finding
from kafkaviz.format import spans_batch
from kafkaviz.format.names import OWN_FILES
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.file import is_there, read
from kafkaviz.messages import render, say, say_count
from kafkaviz.workshop.lab.faults import INDEXES, POSITION_SLOTS, Damage, LogCopy

ROW_BYTES = 16
MAX_ROWS = 2
# faults that use the texts of another fault
SAME_WORDS = {
    "bit-killed": "bit",
    "cut-killed": "cut",
    "index-cut": "cut",
    "index-zeroed-killed": "index-zeroed",
    "times-zeroed": "index-zeroed",
    "timeindex-removed": "index-removed",
}
SLOT_PLACES = ("position-moved", "time-late")
# faults whose place is a number of days, records or bytes
COUNTED_PLACES = ("clock", "file-time", "key-lowered", "index-padded")
NO_BYTES = ""  # the text of a cell after the end of the file


@dataclass(frozen=True)
class HexRow:
    """Sixteen bytes of a file, each as (two hexadecimal digits, whether the damage changed it)."""

    position: int
    cells: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, kw_only=True)
class DamageView:
    """A description of the damage, and the bytes around it.

    Attributes:
        stop: how the broker was shut down.
        before, after: the rows of bytes; empty if no byte changed.
        note_before, note_after: texts next to the bytes, or instead of them.
    """

    title: str
    stop: str
    before: tuple[HexRow, ...]
    after: tuple[HexRow, ...]
    note_before: str
    note_after: str


def view(copy: LogCopy, damage: Damage, fault: str, place: int) -> DamageView:
    """Returns the damage of a fault at a place. `copy` is the undamaged copy."""
    has_change = damage.before != damage.after
    note_before, note_after = _notes(copy, damage)
    return DamageView(
        title=say(
            "break_it.broken_title",
            name=damage.file,
            title=_describe(copy, damage, fault, place),
        ),
        stop=describe_stop(damage.copy),
        before=_rows(damage.before, damage) if has_change else (),
        after=_rows(damage.after, damage) if has_change and damage.after is not None else (),
        note_before=note_before,
        note_after=note_after,
    )


def place_label(fault: str) -> str:
    if fault in SLOT_PLACES:
        return say("segment.head_slot")
    return say(f"break_it.place_{SAME_WORDS.get(fault, fault)}")


def describe_stop(copy: LogCopy) -> str:
    if copy.is_clean:
        return say("broker.stopped_cleanly")
    return say("break_it.killed", offset=units.format_count(copy.log.recovery_point))


def _describe(copy: LogCopy, damage: Damage, fault: str, place: int) -> str:
    count = place if fault in COUNTED_PLACES else damage.stop - damage.start
    return say_count(
        f"break_it.does_{SAME_WORDS.get(fault, fault)}",
        count,
        count=units.format_count(count),
        byte=units.format_count(damage.start),
        field=_field_text(copy, damage),
        new_name=damage.new_name,
        place=units.format_count(place),
        next=units.format_count(place + 1),
        behind=units.format_count(place + POSITION_SLOTS),
        slot=units.format_count(_slot(damage)),
    )


def _slot(damage: Damage) -> int:
    kind = damage.file.rpartition(".")[2]
    return damage.start // INDEXES[kind].ENTRY.itemsize if kind in INDEXES else 0


def _field_text(copy: LogCopy, damage: Damage) -> str:
    if not damage.file.endswith(".log"):
        return ""
    batch = next(
        (
            row
            for row in copy.batches()
            if row["position"] <= damage.start < row["position"] + row["size_bytes"]
        ),
        None,
    )
    if batch is None or damage.before is None:
        return ""
    start = int(batch["position"])
    size_bytes = int(batch["size_bytes"])
    data = damage.before[start : start + size_bytes]
    spans = spans_batch.batch(data, start, size_bytes, damage.start, damage.start + 1)
    return say("break_it.in_field", field=render(spans[0].name)) if spans else ""


# ---- bytes


def _rows(data: bytes | None, damage: Damage) -> tuple[HexRow, ...]:
    """Returns the rows that hold the damage; only the first row if there are more than MAX_ROWS.

    If the damage starts at the end of the file, the file's last row is included.
    """
    if data is None:
        return ()
    first = damage.start // ROW_BYTES * ROW_BYTES
    is_at_end = damage.before is not None and damage.start >= len(damage.before)
    if is_at_end and first == damage.start:
        first = max(0, first - ROW_BYTES)
    stop = min(damage.stop, first + MAX_ROWS * ROW_BYTES)
    is_long = damage.stop > stop and not is_at_end
    if is_at_end:
        last = first + MAX_ROWS * ROW_BYTES
    elif is_long:
        last = first + 1
    else:
        last = stop
    positions = range(first, max(last, first + 1), ROW_BYTES)
    return tuple(HexRow(position, _cells(data, position, damage)) for position in positions)


def _cells(data: bytes, position: int, damage: Damage) -> tuple[tuple[str, bool], ...]:
    return tuple(
        (f"{data[at]:02x}" if at < len(data) else NO_BYTES, _has_changed(at, damage))
        for at in range(position, position + ROW_BYTES)
    )


def _has_changed(position: int, damage: Damage) -> bool:
    before = damage.before or b""
    after = damage.after or b""
    return before[position : position + 1] != after[position : position + 1]


# ---- notes


def _notes(copy: LogCopy, damage: Damage) -> tuple[str, str]:
    if damage.new_name:
        return damage.file, damage.new_name
    if not damage.is_of_file:
        before_bytes, after_bytes = (
            units.format_count(config.segment_index_bytes)
            for config in (copy.log.config, damage.copy.log.config)
        )
        return say("break_it.setting", bytes=before_bytes), say(
            "break_it.setting", bytes=after_bytes
        )
    if damage.after is None:
        return "", say("evidence.no_file")
    kind = damage.file.rpartition(".")[2]
    if kind not in INDEXES or damage.start >= len(damage.before or b""):
        return "", ""
    before = damage.before or b""
    after = damage.after
    slot = _slot(damage)
    return _entry_text(copy, kind, before, slot), _entry_text(copy, kind, after, slot)


def _entry_text(copy: LogCopy, kind: str, data: bytes, slot: int) -> str:
    entries = INDEXES[kind].parse(data)
    if slot >= len(entries):
        return ""
    entry = entries[slot]
    offset = units.format_count(copy.segment + int(entry["relative_offset"]))
    if kind == "index":
        position = units.format_count(int(entry["position"]))
        return say("break_it.entry_offset", slot=slot, offset=offset, position=position)
    time = units.moment(int(entry["timestamp_ms"]))
    return say("break_it.entry_time", slot=slot, time=time, offset=offset)


FORECAST = "recovery-will-"  # prefix of the codes of findings that predict the next broker start


def new_findings(
    findings: Iterable[Finding], undamaged: Iterable[Finding], damage: Damage
) -> tuple[Finding, ...]:
    """Returns the damaged file's findings that the undamaged copy does not have.

    Leaves out findings of severity "info" and predictions of broker start-up.

    Args:
        undamaged: the findings of the undamaged copy.
    """
    stems = {Path(name).stem for name in (damage.file, damage.new_name) if name}
    undamaged_identities = {_identity(finding) for finding in undamaged}
    return tuple(
        finding
        for finding in findings
        if _identity(finding) not in undamaged_identities
        and finding.severity != "info"
        and not finding.code.startswith(FORECAST)
        and Path(finding.file or "").stem in stems
    )


def check_copy(broker: Broker, copy: LogCopy) -> tuple[Finding, ...]:
    """Returns the findings about a copy, checked as if after a clean shutdown.

    Args:
        broker: the original's broker directory; its checkpoints are copied.

    Raises:
        CannotOpen: the temporary directory cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="kafkaviz-copy-") as folder:
        root = Path(folder)
        for name in filter(lambda name: is_there(broker.path / name), OWN_FILES):
            (root / name).write_bytes(read(broker.path / name))
        directory = root / copy.log.directory
        directory.mkdir()
        for file in copy.log.files:
            path = directory / file.name
            path.write_bytes(file.content())
            modified_ns = file.modified_ms * 1_000_000
            os.utime(path, ns=(modified_ns, modified_ns))
        return broker_health.check(open_broker(root), partition=copy.log.directory).findings


def _identity(finding: Finding) -> tuple:
    return finding.code, finding.file, finding.message
