"""What a block of a lesson points at: a sample directory, its topic-partition and segment, an
offset in it.
"""

from pathlib import Path

from kafkaviz.analyse import pin
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.figures import segment_tables, segment_words
from kafkaviz.figures.segment_tables import Chosen
from kafkaviz.ui import access, anatomies, cache, pick, state
from kafkaviz.ui.lessons.grammar import Block, NoValue
from kafkaviz.ui.lessons.live.figure import Onward
from kafkaviz.ui.pick import InSegment

SUFFIXES = (".tar.gz", ".tgz", ".tar", ".zip")


def place(block: Block) -> InSegment:
    """The sample, topic-partition and segment of a block. Raises NoValue or CannotOpen."""
    for needed in ("data", "tp"):
        if block[needed] is None:
            raise NoValue(f"the key {needed} is missing")
    listed = cache.listed(sample(block["data"]))
    partition = listed.broker.partition(block["tp"])
    segment = (
        pick.largest(partition) if block["segment"] is None else partition.segment(block["segment"])
    )
    return InSegment(str(sample(block["data"])), listed, partition, segment)


def sample(wanted: str) -> Path:
    """The sample directory of this name, without its .tar.gz. Raises NoValue."""
    known = {_stem(path.name): path for path in access.samples()}
    if wanted not in known:
        raise NoValue(f"there is no sample {wanted}; there are {', '.join(known)}")
    return known[wanted]


def _stem(name: str) -> str:
    return next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name)


def anatomy(block: Block) -> tuple[InSegment, Anatomy]:
    """The segment of a block, read. Raises NoValue where it has no .log."""
    here = place(block)
    if here.segment.log is None:
        raise NoValue(f"the segment {here.segment.name} has no .log")
    return here, anatomies.read(here.segment)


def chosen(of: Anatomy, block: Block) -> Chosen:
    """The rows around the block's offset. Raises NoValue for one that is not there."""
    asked = pin.find(of, "" if block["offset"] is None else str(block["offset"]))
    if asked.row is None:
        raise NoValue(f"offset {block['offset']}: {segment_words.not_here(of, asked)}")
    return segment_tables.chosen(of, asked.row, asked.slot, asked.time)


def to_segment(block: Block) -> Onward:
    """The Segment page at the block's offset."""
    pinned = {} if block["offset"] is None else {state.PIN: str(block["offset"])}
    return "Segment", place(block).address | pinned
