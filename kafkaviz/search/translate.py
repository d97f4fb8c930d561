"""From an offset to a batch within one segment: its index, then the batches from there on
(LogSegment.translateOffset).
"""

from kafkaviz.search import index, scan
from kafkaviz.search.index import IndexSearch
from kafkaviz.search.log_view import SegmentView
from kafkaviz.search.profile import SearchProfile
from kafkaviz.search.scan import ForwardScan


def translate(
    segment: SegmentView, offset: int, profile: SearchProfile
) -> tuple[IndexSearch, ForwardScan]:
    """The batch that holds an offset, or the next one behind a gap; CorruptFile where a length
    cannot be.
    """
    search = index.find_offset(segment, offset, profile)
    start = index.position_of(search, segment)
    return search, segment.run_search(
        lambda log: scan.find_offset(log, segment.base_offset, offset, start, profile.scan)
    )
