"""Which segments of a log the broker recovers when it next starts.

These are the segments that were not flushed, and those whose indexes the broker does not trust. The
rules match simulate.startup.log_loader, but nothing is recovered here. The checks of retention use
the result. A lookup reads the files of all other segments unchanged.
"""

from collections.abc import Sequence

from kafkaviz import versions
from kafkaviz.errors import KafkavizError
from kafkaviz.log.segment import LogSegment
from kafkaviz.search import log_view
from kafkaviz.simulate.config import ReleaseBehaviour, release_behaviour
from kafkaviz.simulate.recovery.index_check import Distrust, distrust, find_unflushed
from kafkaviz.versions import Release


def recovered_bases(
    segments: Sequence[LogSegment],
    *,
    clean: bool | None,
    recovery_point: int | None,
    release: Release = (),
) -> frozenset[int]:
    """Returns the base offsets of the segments that a starting broker should recover.

    This is the plan, before anything goes wrong. A segment is included even if the broker then
    deletes it, because an earlier segment lost bytes, or never reaches it, because the start fails
    earlier.

    Args:
        clean: whether the broker was stopped cleanly; None if unknown.
        release: the release of the broker; () if unknown.
    """
    behaviour = release_behaviour(release or versions.NEWEST_RELEASE)
    bases = [segment.base_offset for segment in segments]
    unflushed_bases = find_unflushed(bases, recovery_point or 0) if clean is False else []
    return frozenset(
        [
            *unflushed_bases,
            *(
                segment.base_offset
                for segment in segments
                if _has_distrusted_index(segment, behaviour)
            ),
        ]
    )


def distrust_reason(segment: LogSegment, behaviour: ReleaseBehaviour) -> Distrust | None:
    """Returns why a starting broker rebuilds a segment's indexes although it was flushed, or None.

    Raises:
        CorruptBytes: an index is so damaged that the start fails.
    """
    segment_view = log_view.view_segment(segment)
    return distrust(lambda kind: getattr(segment_view, kind), segment.base_offset, behaviour)


def _has_distrusted_index(segment: LogSegment, behaviour: ReleaseBehaviour) -> bool:
    """Returns whether a starting broker does not trust an index, and so recovers the segment.

    An index that cannot be read here counts as trusted, because the broker may be able to read it.
    An index that makes the start fail also counts as trusted, because nothing is recovered then.
    """
    try:
        return distrust_reason(segment, behaviour) is not None
    except KafkavizError:
        return False
