"""From an offset to a batch within one segment: its index, then the batches from there on
(LogSegment.translateOffset).
"""

from kafkaviz.search import index, scan
from kafkaviz.search.index import IndexSearch
from kafkaviz.search.profile import SearchProfile
from kafkaviz.search.scan import Scan
from kafkaviz.search.served import ServedSegment


def translate(segment: ServedSegment, offset: int, of: SearchProfile) -> tuple[IndexSearch, Scan]:
    """The batch that holds an offset, or the next one behind a gap; CorruptFile where a length
    cannot be.
    """
    searched = index.find_offset(segment, offset, of)
    start = index.position_of(searched, segment)
    return searched, segment.reading(
        lambda log: scan.to_offset(log, segment.base_offset, offset, start, of.scan)
    )
