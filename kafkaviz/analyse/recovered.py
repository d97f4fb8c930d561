"""Which segments of a log the next start reads anew: those that were not flushed, and those whose
indexes it does not believe.

By the rules of simulate.starting.loading itself, without the reading: a check asks for what
retention will see, a lookup for what it may read.
"""

from collections.abc import Sequence

from kafkaviz import versions
from kafkaviz.config_def import Release
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.log.segment import Segment
from kafkaviz.search import served
from kafkaviz.simulate.config import Profile, profile
from kafkaviz.simulate.recovering.index_check import Distrust, distrust, unflushed


def recovered(
    segments: Sequence[Segment],
    clean: bool | None,
    recovery_point: int | None,
    release: Release = (),
) -> frozenset[int]:
    """Base offsets. clean: how the broker was stopped, None where that is not known; release: ()
    where nothing tells.

    A segment that the start deletes, as one before it lost bytes, is among them; so are those that
    a start would come to if it did not end before.
    """
    of = profile(release or versions.NEWEST_RELEASE)
    bases = [one.base_offset for one in segments]
    above = unflushed(bases, recovery_point or 0) if clean is False else []
    return frozenset([*above, *(one.base_offset for one in segments if _is_rebuilt(one, of))])


def distrusted(segment: Segment, of: Profile) -> Distrust | None:
    """Why a start builds the indexes of a segment anew though it was flushed; CorruptBytes where it
    ends there.
    """
    of_kind = served.of_segment(segment)
    return distrust(lambda kind: getattr(of_kind, kind), segment.base_offset, of)


def _is_rebuilt(segment: Segment, of: Profile) -> bool:
    """An index that may not be read here may be readable to the broker: nothing is said of it."""
    try:
        return distrusted(segment, of) is not None
    except (CorruptBytes, KafkavizError):
        return False
