"""Targets that show the warm section: one whose search ends in it, and one that misses it.

For example, an index with the keys 6, 14, 22, 26, 31 and 40 has two warm entries. Its warm section
starts at slot 3, with key 26. A search for 27 or later ends there; one for 26 or earlier continues
before it. The searches of all targets are run, to find those that need other probes or pages than
plain bisection.
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis.cost import lookup_cost
from kafkaviz.search import slots
from kafkaviz.search.slots import PAGE_BYTES

ALL_SEARCHED = 1 << 16  # in a larger index, only targets around this many entries are searched
# columns of slots.floors
PROBES = 1
PAGES = 2


@dataclass(frozen=True)
class WarmTargets:
    """Targets of one index that show the warm section.

    Attributes:
        tail: the newest target whose search ends in the warm section, if possible with fewer probes
            or pages than plain bisection; None if no search ends there.
        behind: a target that misses the section, if possible with one probe more than plain
            bisection.
        default: the first of these two that shows a difference; None if neither does.
        is_all_warm: whether the warm section begins at slot 0, in which case no target shows it.
    """

    tail: int | None = None
    behind: int | None = None
    default: int | None = None
    is_all_warm: bool = False


def warm_range(
    keys: slots.Column, first: int, last: int, entry_bytes: int, *, warm_bytes: int
) -> tuple[int, int] | None:
    """Returns the range of targets whose search ends in the warm section, or None.

    The section covers the targets above its first key; a target equal to that key misses it.

    Args:
        keys: the keys of the index, as a search compares them.
        first, last: the targets to choose from, both included.
    """
    if not len(keys):
        return None
    warm_from = slots.first_warm_slot(len(keys), entry_bytes, warm_bytes)
    first_warm = max(first, int(keys[warm_from]) + 1)
    return (first_warm, last) if first_warm <= last else None


def choose_targets(
    keys: np.ndarray,
    first: int,
    last: int,
    entry_bytes: int,
    *,
    warm_bytes: int,
    page_bytes: int = PAGE_BYTES,
) -> WarmTargets:
    """Returns the targets from `first` to `last`, both included, that show the warm section.

    Args:
        keys: the keys of the index, as a search compares them.
    """
    if not len(keys) or first > last:
        return WarmTargets()
    warm_from = slots.first_warm_slot(len(keys), entry_bytes, warm_bytes)
    if warm_from == 0:
        return WarmTargets(is_all_warm=True)
    sample = keys[:: max(1, len(keys) // ALL_SEARCHED)]
    targets, _ = lookup_cost.representatives(
        np.concatenate((sample, sample + 1, [last])), first, last
    )
    warm, plain = (
        slots.floors(
            keys, targets, entry_bytes, warm=is_warm, warm_bytes=warm_bytes, page_bytes=page_bytes
        )
        for is_warm in (True, False)
    )
    change = warm - plain
    ends_in_warm = targets > keys[warm_from]
    differs = (change[:, PROBES] != 0) | (change[:, PAGES] != 0)
    saves = differs & (change[:, PROBES] <= 0) & (change[:, PAGES] <= 0)
    tail = _pick(targets, ends_in_warm, saves, differs)
    behind = _pick(targets, ~ends_in_warm, change[:, PROBES] == 1, differs, share=0.5)
    showing = set(targets[differs].tolist())
    return WarmTargets(tail, behind, next((t for t in (tail, behind) if t in showing), None))


def _pick(
    targets: np.ndarray, is_candidate: np.ndarray, *preferred: np.ndarray, share: float = 1.0
) -> int | None:
    """Returns one candidate of the most preferred group that has any.

    Args:
        share: its place among the candidates of the group: 0 for the first, 1 for the last.
    """
    for is_preferred in (*preferred, np.ones(len(targets), bool)):
        rows = np.flatnonzero(is_candidate & is_preferred)
        if len(rows):
            return int(targets[rows[int((len(rows) - 1) * share)]])
    return None
