"""Faults that a copy of a log is damaged with, at a byte or a slot, or by a number.

    FAULTS["bit"].damage(copy, 130)     bit 4 of byte 130 of a batch in the middle of the segment
    FAULTS["index-cut"].damage(copy, 3) the .index without its last three bytes

A fault changes one thing. What follows from it is worked out elsewhere (start_trial).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from types import MappingProxyType

import numpy as np

from kafkaviz.analysis.fault_injection.log_copy import INDEXES, LogCopy
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.layouts import field_start
from kafkaviz.format import names
from kafkaviz.format.batch import CRC_START, HEADER
from kafkaviz.simulate.recovery.recovery import recover
from kafkaviz.units import file_stem

BIT = 0x10  # the one that is flipped
DAY_MS = 86_400_000
MAX_DAYS = 400
MAX_RECORDS = 40  # by which a key is lowered
POSITION_SLOTS = 3  # from the entry to the one whose position it gets
PADDING_BYTES = 4096  # the most that a lost trim leaves in the lab
NOTHING_TO_CHOOSE = range(1)


class Client(Enum):
    """Who asks the broker for records after the start."""

    ALL_OFFSETS = auto()  # a consumer, from the first offset to the end
    TIMESTAMP = auto()  # a client that asks for the offset of a time


@dataclass(frozen=True, kw_only=True)
class Damage:
    """A copy with one fault in it.

    Attributes:
        file: the name of the damaged file as it was; of a setting the directory.
        start, stop: the bytes of it that are changed or gone; of a file that grew, none.
        before, after: its bytes; None for no file.
        new_name: where the file has another one.
        target_offset: the offset whose time a client asks for, where one does.
    """

    copy: LogCopy
    file: str
    start: int
    stop: int
    before: bytes | None
    after: bytes | None
    new_name: str | None = None
    target_offset: int | None = None

    @property
    def is_of_file(self) -> bool:
        """Whether a file was damaged, not a setting."""
        return self.before is not None


@dataclass(frozen=True)
class Fault:
    """A way to damage a copy.

    Attributes:
        damage: (copy, one of its places) -> the damage.
        places: the bytes, slots or numbers that can be chosen for a copy; one where nothing can.
        initial: which of the places comes first, as a part of all.
        has_kill: whether the broker is killed before, not stopped cleanly.
        client: who reads the log then.
    """

    damage: Callable[[LogCopy, int], Damage]
    places: Callable[[LogCopy], range] = lambda _copy: NOTHING_TO_CHOOSE
    initial: float = 0.5
    has_kill: bool = False
    client: Client = Client.ALL_OFFSETS

    def default_place(self, copy: LogCopy) -> int:
        """The place to begin with."""
        places = self.places(copy)
        return places[int(self.initial * (len(places) - 1))]


def _change(copy: LogCopy, kind: str, after: bytes, start: int, stop: int) -> Damage:
    """Other bytes in a file of the segment."""
    name, before = copy.name(kind), copy.content(kind)
    return Damage(
        copy=copy.with_files({name: after}),
        file=name,
        start=start,
        stop=stop,
        before=before,
        after=after,
    )


# ---- names


def _rename_index(copy: LogCopy, _place: int) -> Damage:
    """The .index under the name of an offset one higher."""
    name, before = copy.name("index"), copy.content("index")
    new_name = f"{file_stem(copy.segment + 1)}.index"
    broken_copy = copy.with_files({name: None, new_name: before})
    return Damage(
        copy=broken_copy, file=name, start=0, stop=0, before=before, after=before, new_name=new_name
    )


def _remove(kind: str) -> Callable[[LogCopy, int], Damage]:
    def damage(copy: LogCopy, _place: int) -> Damage:
        name, before = copy.name(kind), copy.content(kind)
        return Damage(
            copy=copy.with_files({name: None}),
            file=name,
            start=0,
            stop=len(before),
            before=before,
            after=None,
        )

    return damage


def _write_epochs(copy: LogCopy, _place: int) -> Damage:
    """Text that is none of leader epochs."""
    name, after = names.LEADER_EPOCHS, b"junk\n"
    before = copy.files[name].content()
    return Damage(
        copy=copy.with_files({name: after}),
        file=name,
        start=0,
        stop=len(before),
        before=before,
        after=after,
    )


# ---- the .log


def _middle_batch(copy: LogCopy) -> np.void:
    batches = copy.batches()
    return batches[len(batches) // 2]


def _batch_bytes(copy: LogCopy) -> range:
    return range(int(_middle_batch(copy)["size_bytes"]))


def _flip_bit(copy: LogCopy, byte: int) -> Damage:
    position = int(_middle_batch(copy)["position"]) + byte
    data = bytearray(copy.content("log"))
    data[position] ^= BIT
    return _change(copy, "log", bytes(data), position, position + 1)


def _last_batch_bytes(copy: LogCopy) -> range:
    """How many bytes can be cut off the last batch, at least one left."""
    return range(1, int(copy.batches()["size_bytes"][-1]))


def _cut_log(copy: LogCopy, cut_bytes: int) -> Damage:
    data = copy.content("log")
    return _change(copy, "log", data[:-cut_bytes], len(data) - cut_bytes, len(data))


def _set_clock(copy: LogCopy, days: int) -> Damage:
    """A batch that says it is of a later day, its checksum right, and the indexes with it."""
    batch, data = _middle_batch(copy), bytearray(copy.content("log"))
    start, stop = int(batch["position"]), int(batch["position"] + batch["size_bytes"])
    for name in ("base_timestamp_ms", "max_timestamp_ms"):
        _set_field(data, start, name, int(batch[name]) + days * DAY_MS)
    _set_field(data, start, "crc", crc32c(bytes(data[start + CRC_START : stop])))
    at = start + field_start(HEADER, "base_timestamp_ms")
    damage = _change(copy, "log", bytes(data), at, at + 2 * np.dtype("i8").itemsize)
    return replace(
        damage, copy=_with_own_indexes(damage.copy), target_offset=_next_segment_offset(copy)
    )


def _set_field(data: bytearray, batch_position: int, name: str, value: int) -> None:
    kind, start = HEADER[name], batch_position + field_start(HEADER, name)
    data[start : start + kind.itemsize] = np.array(value).astype(kind).tobytes()


def _with_own_indexes(copy: LogCopy) -> LogCopy:
    """The copy with the indexes that its segment's batches give."""
    log = copy.files[copy.name("log")]
    with log.open_reader() as read:
        segment = recover(read, log.size_bytes, copy.segment, copy.log.config)
    return copy.with_files(
        {copy.name("index"): segment.index(), copy.name("timeindex"): segment.timeindex()}
    )


def _next_segment_offset(copy: LogCopy) -> int:
    """An offset of the segment behind, its first; of the last segment its own last batch's."""
    later = [base for base in copy.bases if base > copy.segment]
    return later[0] if later else int(copy.batches()["base_offset"][-1])


# ---- indexes


def _slots(kind: str, behind: int = 0) -> Callable[[LogCopy], range]:
    """The slots of an index, so many at its end left out."""

    def places(copy: LogCopy) -> range:
        return range(len(copy.entries(kind)) - behind)

    return places


def _change_entries(
    copy: LogCopy, kind: str, change: Callable[[np.ndarray], None], first: int, count: int
) -> Damage:
    entries = copy.entries(kind).copy()
    change(entries)
    layout = INDEXES[kind]
    start = first * layout.ENTRY.itemsize
    stop = start + count * layout.ENTRY.itemsize
    return _change(copy, kind, layout.build(entries), start, stop)


def _swap_entries(copy: LogCopy, slot: int) -> Damage:
    def change(entries: np.ndarray) -> None:
        entries[[slot, slot + 1]] = entries[[slot + 1, slot]]

    return _change_entries(copy, "index", change, slot, 2)


def _move_position(copy: LogCopy, slot: int) -> Damage:
    """An entry with the position of one that lies behind it."""

    def change(entries: np.ndarray) -> None:
        entries["position"][slot] = entries["position"][slot + POSITION_SLOTS]

    return _change_entries(copy, "index", change, slot, 1)


def _lower_key(copy: LogCopy, records: int) -> Damage:
    """The key of the middle entry so many records lower."""
    middle = len(copy.entries("index")) // 2

    def change(entries: np.ndarray) -> None:
        entries["relative_offset"][middle] -= records

    return _change_entries(copy, "index", change, middle, 1)


def _cut_index(copy: LogCopy, cut_bytes: int) -> Damage:
    data = copy.content("index")
    return _change(copy, "index", data[:-cut_bytes], len(data) - cut_bytes, len(data))


def _pad_index(copy: LogCopy, padding_bytes: int) -> Damage:
    data = copy.content("index")
    return _change(copy, "index", data + bytes(padding_bytes), len(data), len(data))


def _zero_entries(kind: str) -> Callable[[LogCopy, int], Damage]:
    def damage(copy: LogCopy, slot: int) -> Damage:
        data = copy.content(kind)
        start = slot * INDEXES[kind].ENTRY.itemsize
        zeroed = _change(copy, kind, data[:start] + bytes(len(data) - start), start, len(data))
        return replace(zeroed, target_offset=_last_batch_offset(copy))

    return damage


def _last_batch_offset(copy: LogCopy) -> int:
    return int(copy.batches()["base_offset"][-1])


def _set_file_time(copy: LogCopy, days: int) -> Damage:
    """No .timeindex, and a .log that was written so many days later, as a careless copy leaves it.

    Where a segment has no time entry, the time of its .log counts.
    """
    damage = _remove("timeindex")(copy, 0)
    log = damage.copy.files[copy.name("log")]
    late_log = replace(log, modified_ms=log.modified_ms + days * DAY_MS)
    files = (late_log, *(file for file in damage.copy.log.files if file.name != log.name))
    late_copy = replace(damage.copy, log=replace(damage.copy.log, files=files))
    return replace(damage, copy=late_copy, target_offset=_next_segment_offset(copy))


def _late_entry(copy: LogCopy, slot: int) -> Damage:
    """A time entry a day later than it was."""

    def change(entries: np.ndarray) -> None:
        entries["timestamp_ms"][slot] += DAY_MS

    damage = _change_entries(copy, "timeindex", change, slot, 1)
    return replace(damage, target_offset=_last_batch_offset(copy))


def _padding_bytes(copy: LogCopy) -> range:
    """Whole slots of zeros."""
    entry_bytes = INDEXES["index"].ENTRY.itemsize
    return range(entry_bytes, PADDING_BYTES - len(copy.content("index")) + 1, entry_bytes)


def _rooms(copy: LogCopy) -> range:
    """Room for one entry up to twice those that are there."""
    return range(1, 2 * len(copy.entries("index")) + 1)


def _lower_limit(copy: LogCopy, entries: int) -> Damage:
    """segment.index.bytes lowered to so many entries of an offset index; no file is changed."""
    room_bytes = entries * INDEXES["index"].ENTRY.itemsize
    config = replace(copy.log.config, segment_index_bytes=room_bytes)
    return Damage(
        copy=copy.with_files({}, config=config),
        file=copy.log.directory,
        start=0,
        stop=0,
        before=None,
        after=None,
    )


FAULTS = MappingProxyType(
    {
        "index-renamed": Fault(_rename_index),
        "index-removed": Fault(_remove("index")),
        "timeindex-removed": Fault(_remove("timeindex")),
        "epochs": Fault(_write_epochs),
        "bit": Fault(_flip_bit, _batch_bytes),
        "bit-killed": Fault(_flip_bit, _batch_bytes, has_kill=True),
        "cut": Fault(_cut_log, _last_batch_bytes),
        "cut-killed": Fault(_cut_log, _last_batch_bytes, has_kill=True),
        "entries-swapped": Fault(_swap_entries, _slots("index", behind=1)),
        "position-moved": Fault(_move_position, _slots("index", behind=POSITION_SLOTS)),
        "key-lowered": Fault(_lower_key, lambda _copy: range(1, MAX_RECORDS + 1)),
        "index-cut": Fault(_cut_index, lambda copy: range(1, len(copy.content("index")) + 1)),
        "index-padded": Fault(_pad_index, _padding_bytes),
        "index-zeroed": Fault(_zero_entries("index"), _slots("index")),
        "index-zeroed-killed": Fault(_zero_entries("index"), _slots("index"), has_kill=True),
        "clock": Fault(_set_clock, lambda _copy: range(1, MAX_DAYS + 1), client=Client.TIMESTAMP),
        "time-late": Fault(_late_entry, _slots("timeindex"), client=Client.TIMESTAMP),
        "times-zeroed": Fault(
            _zero_entries("timeindex"), _slots("timeindex"), client=Client.TIMESTAMP
        ),
        "file-time": Fault(
            _set_file_time, lambda _copy: range(1, MAX_DAYS + 1), client=Client.TIMESTAMP
        ),
        "limit": Fault(_lower_limit, _rooms),
    }
)
