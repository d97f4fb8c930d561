"""What is said of a segment: the finding that its figure bears as a title, the sentences around it,
and why something is not there.
"""

import numpy as np

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.links import NONE, Aim
from kafkaviz.analyse.pin import Asked, Why, offsets
from kafkaviz.figures.listed import both, clauses, sentences
from kafkaviz.format.batch import MAGIC_2
from kafkaviz.words import counted, say

# states that a sentence tells
RENAMED = ("deleted", "cleaned", "swap", "delete", "future", "stray")


def lead(anatomy: Anatomy, partition_state: str = "current") -> str:
    """The sentence below the page's title: how many batches, and how a search reaches them."""
    count, indexed = len(anatomy.batches), int(np.count_nonzero(anatomy.links.batch_slot != NONE))
    state = next((one for one in (anatomy.segment.state, partition_state) if one in RENAMED), "")
    renamed = say(f"segment.renamed_{state}") if state else ""
    return (
        sentences(
            [*_reached(count, indexed, units.size(anatomy.end.position)), untold(anatomy), renamed]
        )
        if count
        else renamed
    )


def _reached(count: int, indexed: int, size: str) -> tuple[str, ...]:
    if not indexed:
        return (counted("segment.lead_none", count, n=units.group(count), size=size),)
    others = count - indexed
    have = "segment.have_but_one" if others == 1 else "segment.have"
    said = counted(have, indexed, n=units.group(indexed), others=units.group(others))
    return counted("segment.lead", count, n=units.group(count), size=size), said


def untold(anatomy: Anatomy) -> str:
    """What the dashes of a segment with messages of magic 0 or 1 stand for, as one sentence; ""
    where there are none.
    """
    batches = anatomy.batches
    old = np.unique(batches["magic"][batches["magic"] < MAGIC_2]).tolist()
    wrapped = np.unique(batches["magic"][batches["record_count"] < 0]).tolist()
    told = []
    if 0 in old:
        told.append(say("segment.untold_time"))
    if len(old) and anatomy.has_epochs:
        told.append(say("segment.untold_epoch", magic=_both(old)))
    if wrapped:
        told.append(say("segment.untold_wrapped", magic=_both(wrapped)))
    said = clauses(told)
    return say("segment.clauses_end", said=f"{said[:1].upper()}{said[1:]}") if said else ""


def _both(magics: list[int]) -> str:
    return both(map(str, magics))


def nothing(anatomy: Anatomy) -> tuple[str, str]:
    """What is said of a log without a whole batch, and why it is so."""
    tail = anatomy.tail
    if tail:
        holds = counted(
            f"segment.holds_{tail.kind}", tail.size_bytes, n=units.group(tail.size_bytes)
        )
        return say("segment.no_whole_batch"), holds
    made = (
        say("segment.index_ahead", size=units.size(anatomy.segment.index.size_bytes))
        if anatomy.index.slots
        else ""
    )
    return say("segment.unwritten"), sentences([say("segment.log_of_0"), made])


def no_entry(anatomy: Anatomy) -> str:
    """Why an .index that is there holds no entry."""
    waiting = (
        say("segment.slots_waiting", n=units.group(anatomy.index.slots))
        if anatomy.index.slots
        else ""
    )
    return sentences([say("segment.first_entry"), waiting])


def no_time(anatomy: Anatomy) -> str:
    """Why a .timeindex that is there holds no entry."""
    return say(
        "segment.no_time_magic_0" if (anatomy.batches["magic"] == 0).all() else "segment.first_time"
    )


def closing(anatomy: Anatomy) -> str:
    """When a time entry without an offset entry was written, "stop" or "roll"; "" where the index
    is not whole.

    Only the last segment is open at a stop.
    """
    if anatomy.segment.state == "active":
        return "stop"
    return (
        ""
        if anatomy.index.unwritten or anatomy.index.trailing_bytes or not anatomy.segment.index
        else "roll"
    )


def not_here(anatomy: Anatomy, asked: Asked) -> str:
    """Why an offset that was asked for has no batch; "" where it has one."""
    if asked.row is not None:
        return ""
    if asked.why is Why.NO_NUMBER:
        return say("ruler.no_number")
    first, last = offsets(anatomy)
    return say("ruler.not_in_segment", first=units.group(first), last=units.group(last))


def finding(anatomy: Anatomy) -> str:
    """What this segment shows, the gravest first, as a sentence without a full stop."""
    for telling in (
        _astray,
        _index_absent,
        _index_cut,
        _times_wrong,
        _index_unwritten,
        _times_unwritten,
        _tail_words,
        _times_absent,
    ):
        if words := telling(anatomy):
            return words
    return _sampling(anatomy)


def _astray(anatomy: Anatomy) -> str:
    wrong = anatomy.links.wrong_entries
    if not len(wrong):
        return ""
    slot = int(wrong[0])
    if len(wrong) > 1:
        return say("segment.astray", n=units.group(len(wrong)), slot=units.group(slot))
    missed = anatomy.missed_offsets(slot)
    if missed:
        return say(
            "segment.points_past",
            slot=units.group(slot),
            first=units.group(missed[0]),
            last=units.group(missed[1]),
        )
    aims = {Aim.INSIDE: "segment.points_inside", Aim.BEYOND: "segment.points_beyond"}
    return say(
        aims.get(Aim(int(anatomy.links.entry_aim[slot])), "segment.keys_fall"),
        slot=units.group(slot),
    )


def _index_absent(anatomy: Anatomy) -> str:
    return "" if anatomy.segment.index else say("segment.index_absent")


def _index_cut(anatomy: Anatomy) -> str:
    for index, key, size_bytes in (
        (anatomy.index, "segment.index_cut", 8),
        (anatomy.times, "segment.times_cut", 12),
    ):
        if index.trailing_bytes:
            return say(
                key, left=index.trailing_bytes, size=size_bytes, slot=units.group(index.slots - 1)
            )
    return ""


def _times_wrong(anatomy: Anatomy) -> str:
    wrong = anatomy.links.wrong_times
    if not len(wrong):
        return ""
    return counted(
        "segment.times_wrong",
        len(wrong),
        n=units.group(len(wrong)),
        slot=units.group(int(wrong[0])),
    )


def _index_unwritten(anatomy: Anatomy) -> str:
    index, file = anatomy.index, anatomy.segment.index
    if not index.unwritten:
        return ""
    told = {
        "n": units.group(index.unwritten),
        "slots": units.group(index.slots),
        "size": units.size(file.size_bytes),
    }
    if anatomy.segment.state != "active":
        return say("segment.index_zeros", **told)
    return say("segment.index_created" if len(index.entries) else "segment.index_fresh", **told)


def _times_unwritten(anatomy: Anatomy) -> str:
    if not anatomy.times.unwritten or anatomy.segment.state == "active":
        return ""
    return say("segment.times_zeros", n=units.group(anatomy.times.unwritten))


def _tail_words(anatomy: Anatomy) -> str:
    tail = anatomy.tail
    if not tail:
        return ""
    size = (
        units.size(tail.size_bytes)
        if tail.size_bytes >= 1 << 20
        else say("segment.bytes", n=units.group(tail.size_bytes))
    )
    return say("segment.tail_zeros" if tail.kind == "zeros" else "segment.tail_torn", size=size)


def _times_absent(anatomy: Anatomy) -> str:
    return "" if anatomy.segment.timeindex else say("segment.times_absent")


def _sampling(anatomy: Anatomy) -> str:
    """How the index samples a segment in which nothing is wrong."""
    entries, count = anatomy.index.entries, len(anatomy.batches)
    unit = "append" if (anatomy.links.entry_aim == Aim.COARSE).any() else "batch"
    if not len(entries):
        return say("segment.one_batch" if count == 1 else "segment.none_indexed")
    if len(entries) == 1:
        return say(f"segment.one_entry_{unit}", position=units.group(int(entries["position"][0])))
    if count > 2 and len(entries) == count - 1:
        return say("segment.all_indexed")
    return say(f"segment.sampled_{unit}", gap=units.group(anatomy.density.gap_median_bytes))
