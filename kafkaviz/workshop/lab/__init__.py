"""The lab of the Workshop: a copy of a log in memory, and the faults that can damage the copy.

The place of a fault is a number: a byte, a slot, or an amount such as the bytes to remove.

- `FAULTS["bit"].damage(copy, 130)` flips a bit in byte 130 of the segment's middle batch.
- `FAULTS["index-cut"].damage(copy, 3)` removes the last three bytes of the .index.

    start_trial.py   starts a simulated broker on the damaged copy, and reads the log
    views.py         the damage and the result, as values to draw
    break_it.py      the page of the lab
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from typing import Any

import numpy as np

from kafkaviz.analysis.restart.next_start import config_lookup, restart_log, stored_log
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.file_view import FileView, in_memory
from kafkaviz.binary.layouts import field_start
from kafkaviz.format import names, offset_index, time_index
from kafkaviz.format.batch import CRC_START, HEADER
from kafkaviz.format.walk import walk
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import open_settings
from kafkaviz.simulate.recovery import recover
from kafkaviz.simulate.steps import StoredLog
from kafkaviz.units import DAY_MS, file_stem
from kafkaviz.versions import Release

INDEXES = {"index": offset_index, "timeindex": time_index}


@dataclass(frozen=True)
class LogCopy:
    """A copy of a partition directory in memory."""

    log: StoredLog
    segment: int  # the base offset of the segment to damage
    is_clean: bool = True  # whether the broker was shut down cleanly

    @property
    def files(self) -> Mapping[str, FileView]:
        return {file.name: file for file in self.log.files}

    @property
    def bases(self) -> list[int]:
        names = (name for name in self.files if name.endswith(".log"))
        return sorted(int(name.removesuffix(".log")) for name in names)

    def name(self, kind: str) -> str:
        """Returns the name of the segment's "log", "index" or "timeindex" file."""
        return f"{file_stem(self.segment)}.{kind}"

    def content(self, kind: str) -> bytes:
        return self.files[self.name(kind)].content()

    def batches(self) -> np.ndarray:
        """Returns the batches of `segment` as an array of format.batch.BATCH."""
        return walk(self.content("log"))[0]

    def entries(self, kind: str) -> np.ndarray:
        """Returns a new array with the entries of an index."""
        return INDEXES[kind].parse(self.content(kind)).copy()

    def with_files(self, changed_files: Mapping[str, bytes | None], **changes: Any) -> "LogCopy":
        """Returns the copy with new content by file name; None removes a file.

        Modification times stay unchanged. `changes` are fields of the StoredLog to replace.
        """
        files = dict(self.files)
        for name, data in changed_files.items():
            old_file = files.pop(name, None)
            if data is not None:
                files[name] = in_memory(name, data, old_file.modified_ms if old_file else 0)
        return replace(self, log=replace(self.log, files=tuple(files.values()), **changes))

    def after_kill(self) -> "LogCopy":
        """Returns the copy in its state after a kill of the broker.

        The recovery point is the segment's base offset, so the segment counts as not flushed.
        """
        return replace(self, is_clean=False, log=replace(self.log, recovery_point=self.segment))


def copy_log(broker: Broker, partition: Partition, segment: int, release: Release) -> LogCopy:
    """Copies a partition directory into memory, in its state after a clean shutdown.

    `segment` is the base offset of the segment to damage, `release` the release of the broker that
    starts on the copy.
    """
    config = config_lookup(open_settings(broker, release))(partition)
    log = stored_log(restart_log(broker, partition, config))
    files = tuple(in_memory(file.name, file.content(), file.modified_ms) for file in log.files)
    return LogCopy(replace(log, files=files), segment)


BIT = 0x10  # mask of the flipped bit
DAYS = range(1, 401)
MAX_RECORDS = 40  # the most by which a key is lowered
POSITION_SLOTS = 3  # a moved entry gets the position of the entry this many slots later
PADDING_BYTES = 4096  # greatest length of an index that was not trimmed
NOTHING_TO_CHOOSE = range(1)


class Client(Enum):
    ALL_OFFSETS = auto()  # a consumer that reads from the first offset to the end
    TIMESTAMP = auto()  # a client that asks for the offset of a timestamp


@dataclass(frozen=True, kw_only=True)
class Damage:
    """A copy that one fault has damaged, and what the fault changed."""

    copy: LogCopy
    file: str  # the file's original name; if only a setting changed, the partition directory's name
    start: int = 0  # the first byte that changed or was removed
    stop: int = 0  # the byte after the last changed or removed byte; `start` if no byte was
    before: bytes | None = None  # the file's content before the damage; None without a file
    after: bytes | None = None  # the content after the damage; None if the file is gone
    new_name: str | None = None  # the new name of a renamed file
    target_offset: int | None = None  # the client looks up the timestamp of this record, if any

    @property
    def is_of_file(self) -> bool:
        return self.before is not None


@dataclass(frozen=True)
class Fault:
    """A way to damage a copy."""

    damage: Callable[[LogCopy, int], Damage]  # damages the copy at a place: a byte, slot or amount
    places: Callable[[LogCopy], range] = lambda _copy: NOTHING_TO_CHOOSE  # the possible places
    has_kill: bool = False  # whether the broker is killed before the damage, not shut down cleanly
    client: Client = Client.ALL_OFFSETS  # reads the log after start-up

    def default_place(self, copy: LogCopy) -> int:
        """Returns the middle one of the possible places."""
        places = self.places(copy)
        return places[(len(places) - 1) // 2]


def _change(copy: LogCopy, name: str, after: bytes | None, start: int, stop: int) -> Damage:
    """Replaces a file's content by `after`, or removes the file if `after` is None."""
    changed_copy = copy.with_files({name: after})
    before = copy.files[name].content()
    return Damage(copy=changed_copy, file=name, start=start, stop=stop, before=before, after=after)


def _cut(kind: str, copy: LogCopy, cut_bytes: int) -> Damage:
    data = copy.content(kind)
    stop = len(data) - cut_bytes
    return _change(copy, copy.name(kind), data[:stop], stop, len(data))


def _rename_index(copy: LogCopy, _place: int) -> Damage:
    """Renames the .index, so that the offset in its name is higher by 1."""
    name = copy.name("index")
    data = copy.content("index")
    new_name = f"{file_stem(copy.segment + 1)}.index"
    renamed_copy = copy.with_files({name: None, new_name: data})
    return Damage(copy=renamed_copy, file=name, before=data, after=data, new_name=new_name)


def _remove(kind: str, copy: LogCopy, _place: int) -> Damage:
    return _change(copy, copy.name(kind), None, 0, len(copy.content(kind)))


def _write_epochs(copy: LogCopy, _place: int) -> Damage:
    name = names.LEADER_EPOCHS
    return _change(copy, name, b"junk\n", 0, len(copy.files[name].content()))


def _middle_batch(copy: LogCopy) -> np.void:
    batches = copy.batches()
    return batches[len(batches) // 2]


def _batch_bytes(copy: LogCopy) -> range:
    return range(int(_middle_batch(copy)["size_bytes"]))


def _flip_bit(copy: LogCopy, byte: int) -> Damage:
    position = int(_middle_batch(copy)["position"]) + byte
    data = bytearray(copy.content("log"))
    data[position] ^= BIT
    return _change(copy, copy.name("log"), bytes(data), position, position + 1)


def _last_batch_bytes(copy: LogCopy) -> range:
    """Returns how many bytes can be cut off, so that a part of the last batch is left."""
    return range(1, int(copy.batches()["size_bytes"][-1]))


def _set_clock(copy: LogCopy, days: int) -> Damage:
    """Adds days to the timestamps of a batch, and corrects its checksum and the indexes."""
    batch = _middle_batch(copy)
    data = bytearray(copy.content("log"))
    start = int(batch["position"])
    stop = int(batch["position"] + batch["size_bytes"])
    for name in ("base_timestamp_ms", "max_timestamp_ms"):
        _set_field(data, start, name, int(batch[name]) + days * DAY_MS)
    _set_field(data, start, "crc", crc32c(bytes(data[start + CRC_START : stop])))
    at = start + field_start(HEADER, "base_timestamp_ms")
    damage = _change(copy, copy.name("log"), bytes(data), at, at + 2 * np.dtype("i8").itemsize)
    return replace(
        damage, copy=_with_rebuilt_indexes(damage.copy), target_offset=_next_segment_offset(copy)
    )


def _set_field(data: bytearray, batch_position: int, name: str, value: int) -> None:
    kind = HEADER[name]
    start = batch_position + field_start(HEADER, name)
    data[start : start + kind.itemsize] = np.array(value).astype(kind).tobytes()


def _with_rebuilt_indexes(copy: LogCopy) -> LogCopy:
    log = copy.files[copy.name("log")]
    with log.open_reader() as read:
        segment = recover(read, log.size_bytes, copy.segment, copy.log.config)
    return copy.with_files(
        {copy.name("index"): segment.index(), copy.name("timeindex"): segment.timeindex()}
    )


def _next_segment_offset(copy: LogCopy) -> int:
    """Returns the base offset of the next segment, or else of the last batch."""
    later = (base for base in copy.bases if base > copy.segment)
    return next(later, _last_batch_offset(copy))


def _slots(kind: str, copy: LogCopy, excluded: int = 0) -> range:
    """Returns the slots of an index, except the last `excluded`."""
    return range(len(copy.entries(kind)) - excluded)


def _write_entries(copy: LogCopy, kind: str, entries: np.ndarray, changed: range) -> Damage:
    """Replaces the entries of an index. Only the slots `changed` differ from before."""
    layout = INDEXES[kind]
    start = changed.start * layout.ENTRY.itemsize
    stop = changed.stop * layout.ENTRY.itemsize
    return _change(copy, copy.name(kind), layout.build(entries), start, stop)


def _swap_entries(copy: LogCopy, slot: int) -> Damage:
    entries = copy.entries("index")
    entries[[slot, slot + 1]] = entries[[slot + 1, slot]]
    return _write_entries(copy, "index", entries, range(slot, slot + 2))


def _move_position(copy: LogCopy, slot: int) -> Damage:
    entries = copy.entries("index")
    entries["position"][slot] = entries["position"][slot + POSITION_SLOTS]
    return _write_entries(copy, "index", entries, range(slot, slot + 1))


def _lower_key(copy: LogCopy, records: int) -> Damage:
    """Lowers the offset in the middle entry of the .index by `records`."""
    entries = copy.entries("index")
    middle = len(entries) // 2
    entries["relative_offset"][middle] -= records
    return _write_entries(copy, "index", entries, range(middle, middle + 1))


def _pad_index(copy: LogCopy, padding_bytes: int) -> Damage:
    data = copy.content("index")
    return _change(copy, copy.name("index"), data + bytes(padding_bytes), len(data), len(data))


def _zero_entries(kind: str, copy: LogCopy, slot: int) -> Damage:
    data = copy.content(kind)
    start = slot * INDEXES[kind].ENTRY.itemsize
    zeroed = data[:start] + bytes(len(data) - start)
    changed = _change(copy, copy.name(kind), zeroed, start, len(data))
    return replace(changed, target_offset=_last_batch_offset(copy))


def _last_batch_offset(copy: LogCopy) -> int:
    return int(copy.batches()["base_offset"][-1])


def _set_file_time(copy: LogCopy, days: int) -> Damage:
    """Removes the .timeindex and sets a later modification time on the .log.

    Copying files can do this. Without time entries, Kafka uses the modification time of the .log.
    """
    damage = _remove("timeindex", copy, 0)
    log = damage.copy.files[copy.name("log")]
    late_log = replace(log, modified_ms=log.modified_ms + days * DAY_MS)
    files = (late_log, *(file for file in damage.copy.log.files if file.name != log.name))
    late_copy = replace(damage.copy, log=replace(damage.copy.log, files=files))
    return replace(damage, copy=late_copy, target_offset=_next_segment_offset(copy))


def _delay_timestamp(copy: LogCopy, slot: int) -> Damage:
    entries = copy.entries("timeindex")
    entries["timestamp_ms"][slot] += DAY_MS
    damage = _write_entries(copy, "timeindex", entries, range(slot, slot + 1))
    return replace(damage, target_offset=_last_batch_offset(copy))


def _padding_bytes(copy: LogCopy) -> range:
    """Returns how many zero bytes can be appended to the .index: multiples of the slot size."""
    entry_bytes = INDEXES["index"].ENTRY.itemsize
    return range(entry_bytes, PADDING_BYTES - len(copy.content("index")) + 1, entry_bytes)


def _index_capacities(copy: LogCopy) -> range:
    """Returns the index capacities to choose from: 1 to twice the current number of entries."""
    return range(1, 2 * len(copy.entries("index")) + 1)


def _lower_limit(copy: LogCopy, entries: int) -> Damage:
    """Lowers segment.index.bytes to the size of `entries` offset entries. No file changes."""
    room_bytes = entries * INDEXES["index"].ENTRY.itemsize
    config = replace(copy.log.config, segment_index_bytes=room_bytes)
    return Damage(copy=copy.with_files({}, config=config), file=copy.log.directory)


_index_slots = partial(_slots, "index")
_time_slots = partial(_slots, "timeindex")
_zero_index = partial(_zero_entries, "index")
FAULTS: Mapping[str, Fault] = {
    "index-renamed": Fault(_rename_index),
    "index-removed": Fault(partial(_remove, "index")),
    "timeindex-removed": Fault(partial(_remove, "timeindex")),
    "epochs": Fault(_write_epochs),
    "bit": Fault(_flip_bit, _batch_bytes),
    "bit-killed": Fault(_flip_bit, _batch_bytes, has_kill=True),
    "cut": Fault(partial(_cut, "log"), _last_batch_bytes),
    "cut-killed": Fault(partial(_cut, "log"), _last_batch_bytes, has_kill=True),
    "entries-swapped": Fault(_swap_entries, partial(_slots, "index", excluded=1)),
    "position-moved": Fault(_move_position, partial(_slots, "index", excluded=POSITION_SLOTS)),
    "key-lowered": Fault(_lower_key, lambda _copy: range(1, MAX_RECORDS + 1)),
    "index-cut": Fault(
        partial(_cut, "index"), lambda copy: range(1, len(copy.content("index")) + 1)
    ),
    "index-padded": Fault(_pad_index, _padding_bytes),
    "index-zeroed": Fault(_zero_index, _index_slots),
    "index-zeroed-killed": Fault(_zero_index, _index_slots, has_kill=True),
    "clock": Fault(_set_clock, lambda _copy: DAYS, client=Client.TIMESTAMP),
    "time-late": Fault(_delay_timestamp, _time_slots, client=Client.TIMESTAMP),
    "times-zeroed": Fault(
        partial(_zero_entries, "timeindex"), _time_slots, client=Client.TIMESTAMP
    ),
    "file-time": Fault(_set_file_time, lambda _copy: DAYS, client=Client.TIMESTAMP),
    "limit": Fault(_lower_limit, _index_capacities),
}
