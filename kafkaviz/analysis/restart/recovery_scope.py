"""Which segments of a log the next start reads anew.

Those that were not flushed, and those whose indexes it does not believe.

By the rules of simulate.startup.log_loader itself, without the reading: a check asks for what
retention will see, a lookup for what it may read.
"""

from collections.abc import Sequence

from kafkaviz import versions
from kafkaviz.errors import CorruptBytes, KafkavizError
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
    """Base offsets.

    A segment that the start deletes, as one before it lost bytes, is among them; so are those that
    a start would come to if it did not end before.

    Args:
        clean: how the broker was stopped, None where that is not known.
        release: () where nothing says so.
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
    """Why a start builds the indexes of a segment anew though it was flushed.

    Raises:
        CorruptBytes: the start ends there.
    """
    segment_view = log_view.view_segment(segment)
    return distrust(lambda kind: getattr(segment_view, kind), segment.base_offset, behaviour)


def _has_distrusted_index(segment: LogSegment, behaviour: ReleaseBehaviour) -> bool:
    """An index that may not be read here may be readable to the broker: nothing is said of it."""
    try:
        return distrust_reason(segment, behaviour) is not None
    except (CorruptBytes, KafkavizError):
        return False
