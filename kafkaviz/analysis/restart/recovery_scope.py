"""Finds which segments of a log broker start-up recovers, but does not recover them.

These are the segments that were not flushed, and those with an index that Kafka does not trust. The
rules match simulate.startup.log_loader.
"""

from collections.abc import Sequence

from kafkaviz import versions
from kafkaviz.errors import KafkavizError
from kafkaviz.log.segment import LogSegment
from kafkaviz.search import log_view
from kafkaviz.simulate.config import ReleaseBehaviour, release_behaviour
from kafkaviz.simulate.segment_check import RecoveryReason, find_recovery_reason, find_unflushed
from kafkaviz.versions import Release


def recovered_bases(
    segments: Sequence[LogSegment],
    *,
    clean: bool | None,
    recovery_point: int | None,
    release: Release = (),
) -> frozenset[int]:
    """Returns the base offsets of the segments that start-up should recover.

    Start-up may recover fewer: it may fail, and it deletes the segments after one that lost bytes.
    `clean` is None, and `release` is empty, if unknown.
    """
    behaviour = release_behaviour(release or versions.NEWEST_RELEASE)
    bases = {
        segment.base_offset for segment in segments if _has_distrusted_index(segment, behaviour)
    }
    if clean is False:
        all_bases = [segment.base_offset for segment in segments]
        bases.update(find_unflushed(all_bases, recovery_point or 0))
    return frozenset(bases)


def distrust_reason(segment: LogSegment, behaviour: ReleaseBehaviour) -> RecoveryReason | None:
    """Returns why start-up rebuilds the indexes of a flushed segment, or None.

    Raises CorruptBytes if an index is so damaged that start-up fails.
    """
    segment_view = log_view.view_segment(segment)
    return find_recovery_reason(
        lambda kind: getattr(segment_view, kind), segment.base_offset, behaviour
    )


def _has_distrusted_index(segment: LogSegment, behaviour: ReleaseBehaviour) -> bool:
    """Returns whether start-up recovers a segment because of an index.

    Returns False if kafkaviz cannot read an index, because the broker may be able to read it.
    Returns False if an index makes start-up fail, because nothing is recovered then.
    """
    try:
        return distrust_reason(segment, behaviour) is not None
    except KafkavizError:
        return False
