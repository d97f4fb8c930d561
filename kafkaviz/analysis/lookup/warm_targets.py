"""Targets that show what the warm section does: one whose search ends in it, one that misses it.

Keys 6 14 22 26 31 40 with two warm entries: the warm section starts at slot 3, key 26. A search for
27 or later ends in it; one for 26 or earlier goes on in front of it. Which of these targets take
other probes or pages than plain bisection is counted search by search, never assumed.
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis.cost import lookup_cost
from kafkaviz.search import slots
from kafkaviz.search.slots import PAGE_BYTES

ALL_SEARCHED = 1 << 16  # entries: of more, only the targets around that many of them are searched
PROBES, PAGES = 1, 2  # columns of slots.floors


@dataclass(frozen=True)
class WarmTargets:
    """Targets of one index.

    Attributes:
        tail: the newest target whose search ends in the warm section, of those that take fewer
            probes or pages than plain where there are any; None where no search ends there.
        behind: a target that misses it, and takes one probe more than plain where there are any.
        default: whichever of the two shows a difference, None where no target does.
        is_all_warm: the warm section begins at slot 0; then there are none of these targets. A
            search up to the first key reads slot 0 twice, which shows nothing of the section.
    """

    tail: int | None = None
    behind: int | None = None
    default: int | None = None
    is_all_warm: bool = False


def warm_range(
    keys: slots.Column, first: int, last: int, entry_bytes: int, *, warm_bytes: int
) -> tuple[int, int] | None:
    """Of the targets from first to last the first and last whose search ends in the warm section.

    Those above the key that the section begins with: an equal one does not.

    Args:
        keys: of the index, as a search compares them.

    Returns:
        None where no search does.
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
    """Of the targets from first to last, both included.

    Args:
        keys: of the index, as a search compares them.
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
    """The target at that share of the candidates, of the most preferred ones that there are."""
    for is_preferred in (*preferred, np.ones(len(targets), bool)):
        rows = np.flatnonzero(is_candidate & is_preferred)
        if len(rows):
            return int(targets[rows[int((len(rows) - 1) * share)]])
    return None
