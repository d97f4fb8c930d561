"""Texts about a segment: the title of its figure, explanations next to it, and notes.

A note says whether a number counts segments that Kafka does not use, such as deleted ones.
"""

from collections.abc import Iterable, Sequence

from kafkaviz import units
from kafkaviz.analysis.overview import InactiveSegment, distinct_marks
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import Aim
from kafkaviz.analysis.segment.selection import NoRowReason, Selection, offsets
from kafkaviz.format import offset_index, time_index
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.sentences import join_comma, join_each_and, join_semicolon, join_sentences

# states that have a sentence of their own
RENAMED_STATES = ("deleted", "cleaned", "swap", "delete", "future", "stray")


def lead(anatomy: Anatomy, partition_state: str = "current") -> str:
    """Returns the text below the title: the number of batches, of indexed batches, and notes."""
    texts = []
    count = len(anatomy.batches)
    if count:
        size = units.format_bytes(anatomy.end.position)
        texts = [*_indexed_text(count, len(anatomy.links.indexed_rows), size)]
        texts.append(missing_fields_text(anatomy))
    for state in (anatomy.segment.state, partition_state):
        if state in RENAMED_STATES:
            return join_sentences([*texts, say(f"segment.renamed_{state}")])
    return join_sentences(texts)


def _indexed_text(count: int, indexed_count: int, size: str) -> tuple[str, ...]:
    if not indexed_count:
        return (say_count("segment.lead_none", count, size=size),)
    unindexed_count = count - indexed_count
    have_key = "segment.have_but_one" if unindexed_count == 1 else "segment.have"
    indexed_text = say_count(have_key, indexed_count, others=units.format_count(unindexed_count))
    return say_count("segment.lead", count, size=size), indexed_text


def missing_fields_text(anatomy: Anatomy) -> str:
    """Explains the dashes in a table of magic 0 or 1 messages; "" without such messages."""
    counts = anatomy.counts
    old_magics = counts.old_magics
    wrapped_magics = counts.wrapped_magics
    texts = []
    if 0 in old_magics:
        texts.append(say("segment.untold_time"))
    if len(old_magics) and counts.has_epochs:
        texts.append(say("segment.untold_epoch", magic=_join_magics(old_magics)))
    if wrapped_magics:
        texts.append(say("segment.untold_wrapped", magic=_join_magics(wrapped_magics)))
    joined = join_semicolon(texts)
    return say("segment.clauses_end", clauses=f"{joined[:1].upper()}{joined[1:]}") if joined else ""


def _join_magics(magics: Iterable[int]) -> str:
    return join_each_and(map(str, magics))


def no_batch_text(anatomy: Anatomy) -> tuple[str, str]:
    """Returns a headline and an explanation for a log without a complete batch."""
    tail = anatomy.tail
    if tail:
        tail_text = say_count(f"segment.holds_{tail.kind}", tail.size_bytes)
        return say("segment.no_whole_batch"), tail_text
    texts = [say("segment.log_of_0")]
    if anatomy.segment.index and anatomy.index.slots:
        size = units.format_bytes(anatomy.segment.index.size_bytes)
        texts.append(say("segment.index_ahead", size=size))
    return say("segment.unwritten"), join_sentences(texts)


def no_entry_reason(anatomy: Anatomy) -> str:
    texts = [say("segment.first_entry")]
    if anatomy.index.slots:
        texts.append(say_count("segment.slots_waiting", anatomy.index.slots))
    return join_sentences(texts)


def no_time_reason(anatomy: Anatomy) -> str:
    key = "no_time_magic_0" if anatomy.counts.is_without_time else "first_time"
    return say(f"segment.{key}")


def closing_event(anatomy: Anatomy) -> str:
    """Returns the event that may have added a .timeindex entry but no .index entry.

    "stop": broker shutdown. "roll": the roll of the segment. "": the files do not show it.
    """
    if anatomy.segment.state == "active":
        return "stop"
    if anatomy.index.unwritten_slots or anatomy.index.trailing_bytes or not anatomy.segment.index:
        return ""
    return "roll"


def missing_reason(anatomy: Anatomy, selection: Selection) -> str:
    """Says why no batch holds the requested offset; "" if a batch does."""
    if selection.row is not None:
        return ""
    if selection.why is NoRowReason.NO_NUMBER:
        return say("ruler.no_number")
    first, last = map(units.format_count, offsets(anatomy))
    return say("ruler.not_in_segment", first=first, last=last)


def headline(anatomy: Anatomy) -> str:
    """Returns the most serious finding of the segment, without a full stop."""
    for describe in (
        _wrong_entries_text,
        _index_absent_text,
        _index_cut_text,
        _times_wrong_text,
        _index_unwritten_text,
        _times_unwritten_text,
        _tail_text,
        _times_absent_text,
    ):
        if text := describe(anatomy):
            return text
    return _sampling_text(anatomy)


def _wrong_entries_text(anatomy: Anatomy) -> str:
    wrong_slots = anatomy.links.wrong_entries
    if not len(wrong_slots):
        return ""
    slot = int(wrong_slots[0])
    if len(wrong_slots) > 1:
        return say_count("segment.astray", len(wrong_slots), slot=slot)
    missed_offsets = anatomy.missed_offsets(slot)
    if missed_offsets:
        first, last = map(units.format_count, missed_offsets)
        return say("segment.points_past", slot=slot, first=first, last=last)
    key_by_aim = {
        Aim.INSIDE: "segment.points_inside",
        Aim.BEYOND: "segment.points_beyond",
        Aim.NO_BATCH: "segment.key_beyond",
    }
    key = key_by_aim.get(Aim(int(anatomy.links.entry_aim[slot])), "segment.keys_fall")
    return say(key, slot=units.format_count(slot))


def _index_absent_text(anatomy: Anatomy) -> str:
    return "" if anatomy.segment.index else say("segment.index_absent")


def _index_cut_text(anatomy: Anatomy) -> str:
    for index, key, layout in (
        (anatomy.index, "segment.index_cut", offset_index),
        (anatomy.times, "segment.times_cut", time_index),
    ):
        if index.trailing_bytes:
            slot = units.format_count(index.slots - 1)
            size_bytes = layout.ENTRY.itemsize
            return say(key, left=index.trailing_bytes, size=size_bytes, slot=slot)
    return ""


def _times_wrong_text(anatomy: Anatomy) -> str:
    wrong_slots = anatomy.links.wrong_times
    if not len(wrong_slots):
        return ""
    slot = units.format_count(int(wrong_slots[0]))
    return say_count("segment.times_wrong", len(wrong_slots), slot=slot)


def _index_unwritten_text(anatomy: Anatomy) -> str:
    index = anatomy.index
    file = anatomy.segment.index
    if file is None or not index.unwritten_slots:
        return ""
    values = {
        "n": units.format_count(index.unwritten_slots),
        "slots": units.format_count(index.slots),
        "size": units.format_bytes(file.size_bytes),
    }
    if anatomy.segment.state != "active":
        return say("segment.index_zeros", **values)
    return say("segment.index_created" if len(index.entries) else "segment.index_fresh", **values)


def _times_unwritten_text(anatomy: Anatomy) -> str:
    if not anatomy.times.unwritten_slots or anatomy.segment.state == "active":
        return ""
    return say_count("segment.times_zeros", anatomy.times.unwritten_slots)


def _tail_text(anatomy: Anatomy) -> str:
    tail = anatomy.tail
    if not tail:
        return ""
    size = say_count("segment.bytes", tail.size_bytes)
    if tail.size_bytes >= 1 << 20:
        size = units.format_bytes(tail.size_bytes)
    return say("segment.tail_zeros" if tail.kind == "zeros" else "segment.tail_torn", size=size)


def _times_absent_text(anatomy: Anatomy) -> str:
    return "" if anatomy.segment.timeindex else say("segment.times_absent")


def _sampling_text(anatomy: Anatomy) -> str:
    entries = anatomy.index.entries
    count = len(anatomy.batches)
    unit = "append" if (anatomy.links.entry_aim == Aim.COARSE).any() else "batch"
    if not len(entries):
        return say("segment.one_batch" if count == 1 else "segment.none_indexed")
    if len(entries) == 1:
        position = units.format_count(int(entries["position"][0]))
        return say(f"segment.one_entry_{unit}", position=position)
    if count > 2 and len(entries) == count - 1:
        return say("segment.all_indexed")
    return say(f"segment.sampled_{unit}", gap=units.format_count(anatomy.density.gap_median_bytes))


def included_text(inactive: Sequence[InactiveSegment]) -> str:
    """Says that segments that Kafka does not use are counted too; "" if there are none."""
    return _marks_text("counted_too", inactive) if inactive else ""


def left_out_text(
    inactive: Sequence[InactiveSegment], *, is_metadata_left_out: bool = False
) -> str:
    """Says that unused segments or the metadata log are not counted; "" if neither is left out."""
    if not inactive:
        return say("inactive_segments.left_out_metadata") if is_metadata_left_out else ""
    return _marks_text("left_out_both" if is_metadata_left_out else "left_out", inactive)


def no_rows_text(suffixes: Sequence[str]) -> str:
    """Says that segments with these file suffixes appear only in the catalog table `segments`."""
    if suffixes:
        return _marks_text("no_rows", [InactiveSegment("", f".{suffix}") for suffix in suffixes])
    return ""


def _marks_text(key: str, inactive: Sequence[InactiveSegment]) -> str:
    marks = join_comma(map(render, distinct_marks(inactive)))
    return say_count(f"inactive_segments.{key}", len(inactive), marks=marks)
