"""What is said of a segment: the finding that its figure bears as a title, the sentences around it, and why something is not there."""

import numpy as np

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.links import NONE, Aim
from kafkaviz.format.batch import MAGIC_2

NO_BATCH = {
    "zeros": "all zeros: the file was made this long before anything was written",
    "torn": "the beginning of a batch and no more",
    "garbage": "none of which start a batch",
}
WITHOUT_INDEX = "A broker builds it from the log when it next loads this segment. Until then a search would start at byte 0."
WITHOUT_TIMEINDEX = "A broker makes an empty one when it next loads this segment, and takes the file’s time for that of the newest record."
RENAMED = {
    "deleted": "Its files are renamed .deleted and wait to be removed.",
    "cleaned": "Its files are .cleaned: a compaction was writing them.",
    "swap": "Its files are .swap: a compaction was putting them in place.",
    "delete": "The topic is deleted and its directory waits to be removed.",
    "future": "Its directory is being moved between log directories.",
    "stray": "The broker found it where it should not be.",
}


def lead(anatomy: Anatomy, partition_state: str = "current") -> str:
    """The sentence below the page's title: how many batches, and how a search reaches them."""
    count, indexed = len(anatomy.batches), int(np.count_nonzero(anatomy.links.batch_slot != NONE))
    renamed = RENAMED.get(anatomy.segment.state) or RENAMED.get(partition_state, "")
    if not count:
        return renamed
    batches = f"{units.group(count)} batch{'' if count == 1 else 'es'} in {units.size(anatomy.end.position)}"
    if not indexed:
        said = f"{batches}, none with an index entry: a search steps from the first one on."
    else:
        have = f"{units.group(indexed)} {'has' if indexed == 1 else 'have'} an index entry"
        others = units.group(count - indexed)
        said = f"{batches}. {have}; the other {others} {'is' if others == '1' else 'are'} reached by stepping from one that has."
    return " ".join(filter(None, (said, untold(anatomy), renamed)))


def untold(anatomy: Anatomy) -> str:
    """What the dashes of a segment with messages of magic 0 or 1 stand for, as one sentence; "" where there are none."""
    batches = anatomy.batches
    old = np.unique(batches["magic"][batches["magic"] < MAGIC_2]).tolist()
    told = []
    if 0 in old:
        told.append("messages of magic 0 have no timestamp")
    if len(old) and anatomy.has_epochs:
        told.append(f"batches of magic {' and '.join(map(str, old))} have no leader epoch")
    if (batches["record_count"] < 0).any():
        wrapped = np.unique(batches["magic"][batches["record_count"] < 0]).tolist()
        numbers = " and ".join(map(str, wrapped))
        told.append(f"the header of a compressed message of magic {numbers} tells neither its first offset nor how many records it holds")
    said = "; ".join(told)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def nothing(anatomy: Anatomy) -> tuple[str, str]:
    """What is said of a log without a whole batch, and why it is so."""
    tail = anatomy.tail
    if tail:
        size = f"{units.group(tail.size_bytes)} byte{'' if tail.size_bytes == 1 else 's'}"
        return "No whole batch in this log", f"It holds {size}, {NO_BATCH[tail.kind]}."
    made = f" Its .index was made {units.size(anatomy.segment.index.size_bytes)} long, for entries to come." if anatomy.index.slots else ""
    return "Nothing was written here yet", f"The log has 0 bytes. A broker makes the files of a segment before its first record.{made}"


def no_entry(anatomy: Anatomy) -> str:
    """Why an .index that is there holds no entry."""
    why = "The first batch of a segment never gets an entry, and the next one only after more than index.interval.bytes."
    return f"{why} {units.group(anatomy.index.slots)} slots are waiting." if anatomy.index.slots else why


def no_time(anatomy: Anatomy) -> str:
    """Why a .timeindex that is there holds no entry."""
    if (anatomy.batches["magic"] == 0).all():
        return "Messages of magic 0 have no timestamp."
    return "A time entry comes with an index entry, and once more when the segment is rolled or closed."


def closing(anatomy: Anatomy) -> str:
    """When a time entry without an offset entry was written, as far as the index is whole: only the last segment is open at a stop."""
    if anatomy.segment.state == "active":
        return "at a stop"
    return "" if anatomy.index.unwritten or anatomy.index.trailing_bytes or not anatomy.segment.index else "at the roll"


def finding(anatomy: Anatomy) -> str:
    """What this segment shows, the gravest first, as a sentence without a full stop."""
    for telling in (_astray, _index_absent, _index_cut, _times_wrong, _index_unwritten, _times_unwritten, _tail_words, _times_absent):
        if words := telling(anatomy):
            return words
    return _sampling(anatomy)


def _astray(anatomy: Anatomy) -> str:
    wrong = anatomy.links.wrong_entries
    if not len(wrong):
        return ""
    slot = int(wrong[0])
    if len(wrong) > 1:
        return f"{units.group(len(wrong))} entries of the index lead searches astray, the first in slot {units.group(slot)}"
    missed = anatomy.missed_offsets(slot)
    if missed:
        return (
            f"Slot {units.group(slot)} points past its batch: offsets {units.group(missed[0])} – {units.group(missed[1])} cannot be found"
        )
    where = {Aim.INSIDE: "into the middle of a batch", Aim.BEYOND: "beyond the last batch"}.get(Aim(int(anatomy.links.entry_aim[slot])))
    return f"Slot {units.group(slot)} points {where}" if where else f"The keys of the index do not grow at slot {units.group(slot)}"


def _index_absent(anatomy: Anatomy) -> str:
    return "" if anatomy.segment.index else "There is no .index: every search in this segment starts at byte 0"


def _index_cut(anatomy: Anatomy) -> str:
    for index, name, size_bytes in ((anatomy.index, "index", 8), (anatomy.times, "time index", 12)):
        if index.trailing_bytes:
            return (
                f"The {name} ends inside an entry: {index.trailing_bytes} of {size_bytes} bytes follow slot {units.group(index.slots - 1)}"
            )
    return ""


def _times_wrong(anatomy: Anatomy) -> str:
    wrong = anatomy.links.wrong_times
    if not len(wrong):
        return ""
    slot = units.group(int(wrong[0]))
    if len(wrong) == 1:
        return f"Slot {slot} of the time index names a time that its batch does not hold"
    return f"{units.group(len(wrong))} entries of the time index disagree with the log, the first in slot {slot}"


def _index_unwritten(anatomy: Anatomy) -> str:
    index, file = anatomy.index, anatomy.segment.index
    if not index.unwritten:
        return ""
    if anatomy.segment.state == "active":
        created = units.size(file.size_bytes)
        if not len(index.entries):
            return f"The index was created at {created} and none of its {units.group(index.slots)} slots was written yet"
        unwritten = f"{units.group(index.unwritten)} of its {units.group(index.slots)} slots"
        return f"The index was created at {created} and {unwritten} were never written"
    return f"The last {units.group(index.unwritten)} of the index’s {units.group(index.slots)} slots are zeros"


def _times_unwritten(anatomy: Anatomy) -> str:
    if not anatomy.times.unwritten or anatomy.segment.state == "active":
        return ""
    return f"The time index ends in {units.group(anatomy.times.unwritten)} zero slots, so a search by time passes this segment over"


def _tail_words(anatomy: Anatomy) -> str:
    tail = anatomy.tail
    if not tail:
        return ""
    size = units.size(tail.size_bytes) if tail.size_bytes >= 1 << 20 else f"{units.group(tail.size_bytes)} bytes"
    return f"The log ends in {size} {'of zeros' if tail.kind == 'zeros' else 'that are no batch'}"


def _times_absent(anatomy: Anatomy) -> str:
    return "" if anatomy.segment.timeindex else "There is no .timeindex: a search by time has nothing to go by"


def _sampling(anatomy: Anatomy) -> str:
    """How the index samples a segment in which nothing is wrong."""
    entries, count = anatomy.index.entries, len(anatomy.batches)
    unit = "append" if (anatomy.links.entry_aim == Aim.COARSE).any() else "batch"
    if not len(entries):
        return (
            "One batch, and the first batch of a segment never gets an entry"
            if count == 1
            else "No batch has an entry: a search starts at byte 0"
        )
    if len(entries) == 1:
        return f"One entry, for the {unit} at byte {units.group(int(entries['position'][0]))}"
    if count > 2 and len(entries) == count - 1:
        return "Every batch but the first has an entry"
    median = anatomy.density.gap_median_bytes
    return f"Every {units.group(median)} bytes or so, one {unit} gets an entry"
