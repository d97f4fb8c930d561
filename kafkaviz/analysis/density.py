"""How densely an index samples its log: the bytes between entries, and the batches that have none.

Entries at positions 5000, 10000 and 16000 leave gaps of 5000, 5000 and 6000 bytes: the first is
counted from byte 0.
"""

from dataclasses import dataclass

import numpy as np

NO_SLOT = np.zeros(0, int)


@dataclass(frozen=True)
class Density:
    """The gaps of one .index, each a gap that is there (no mean of two), and the batches a search
    must step to; None without an entry.
    """

    gap_min_bytes: int | None
    gap_median_bytes: int | None
    gap_p99_bytes: int | None
    batches: int
    never_indexed: int


def gaps(entries: np.ndarray) -> np.ndarray:
    """The bytes of .log between each entry and the one before it; negative where positions do not
    grow.
    """
    return np.diff(entries["position"], prepend=0)


def density(
    entries: np.ndarray, batch_slot: np.ndarray, wrong_slots: np.ndarray = NO_SLOT
) -> Density:
    """How dense the entries of an .index lie in its log.

    batch_slot: each batch's own entry or -1, and wrong_slots: the entries that lead astray, as
    links.Links has them. Gaps before and behind those are left out, and gaps that are not above 0:
    they are damage, and say nothing of how the index was written.
    """
    gap_bytes = gaps(entries)
    gap_bytes[wrong_slots] = 0
    gap_bytes[(wrong_slots + 1)[wrong_slots + 1 < len(gap_bytes)]] = 0
    sorted_gaps = np.sort(gap_bytes[gap_bytes > 0])
    quantiles = [_quantile(sorted_gaps, share) for share in (0, 0.5, 0.99)]
    return Density(
        *quantiles, batches=len(batch_slot), never_indexed=int(np.count_nonzero(batch_slot < 0))
    )


def _quantile(sorted_gaps: np.ndarray, share: float) -> int | None:
    return (
        int(sorted_gaps[min(len(sorted_gaps) - 1, int(share * len(sorted_gaps)))])
        if len(sorted_gaps)
        else None
    )
