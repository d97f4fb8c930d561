"""Other ways to search or lay out Kafka's index, compared on the same keys by probes and pages.

Every way finds the floor, which is the greatest slot whose key is not above the target. A probe
compares one key. A page is a 4 KiB part of the index file that a probe needs in memory. Keys kept
in the heap cost probes but no pages. The two costs are independent: with the first key of each page
in the heap, a search makes as many probes but touches one page; interpolation saves probes unless
keys come in bursts. On a broker whose index is in memory the choice matters little.

Interpolation guesses a slot from the two keys around the target. Eytzinger's layout stores the keys
as the levels of a search tree (Khuong and Morin, arXiv 1509.05053). Piecewise linear search keeps
lines that miss no slot by more than epsilon (Ferragina and Vinciguerra, the PGM-index, PVLDB
13(8)).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format import offset_index
from kafkaviz.search import slots
from kafkaviz.search.slots import PAGE_BYTES

ENTRY_BYTES = offset_index.ENTRY.itemsize
ENTRIES_PER_PAGE = PAGE_BYTES // ENTRY_BYTES
MAX_PROBES = 1 << 16  # guesses of one search, after which it halves the rest
PIECE_BYTES = 16  # size of a line: its first key, first slot and slope


@dataclass(frozen=True)
class Layout:
    """One way to search an index.

    Attributes:
        run: a function of keys and targets that returns slot, probes and pages, shape (m, 3).
        extra_bytes: a function of the keys that returns the heap bytes it needs, index excluded.
    """

    name: str
    run: Callable[[np.ndarray, np.ndarray], np.ndarray]
    extra_bytes: Callable[[np.ndarray], int] = lambda _keys: 0


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of one layout over many targets, and for a reader at the tail."""

    layout: Layout
    probes_mean: float
    probes_max: int
    pages_mean: float
    pages_max: int
    tail_probes: int
    tail_pages: int
    extra_bytes: int


def compare(keys: np.ndarray, targets: np.ndarray) -> tuple[Cost, ...]:
    """Returns the cost of every layout on the same keys, in the order of LAYOUTS.

    Args:
        keys: ascending, shape (n,).
        targets: shape (m,).

    Returns:
        An empty tuple without keys or targets.
    """
    keys = np.ascontiguousarray(keys, np.int64)
    targets = np.ascontiguousarray(targets, np.int64)
    if len(keys) and len(targets):
        return tuple(_cost(layout, keys, targets) for layout in LAYOUTS)
    return ()


def _cost(layout: Layout, keys: np.ndarray, targets: np.ndarray) -> Cost:
    results = layout.run(keys, np.append(targets, keys[-1] + 1))
    probes = results[:-1, 1]
    pages = results[:-1, 2]
    return Cost(
        layout=layout,
        probes_mean=float(probes.mean()),
        probes_max=int(probes.max()),
        pages_mean=float(pages.mean()),
        pages_max=int(pages.max()),
        tail_probes=int(results[-1, 1]),
        tail_pages=int(results[-1, 2]),
        extra_bytes=layout.extra_bytes(keys),
    )


# ---- the ways


def plain(keys: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Searches as Kafka does up to 2.0."""
    return slots.floors(keys, targets, ENTRY_BYTES, warm=False)


def warm(keys: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Searches as Kafka does since 2.1."""
    return slots.floors(keys, targets, ENTRY_BYTES)


def interpolation(keys: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Searches by guesses on the straight line between the two keys around the target."""
    return _interpolate(keys, targets, False)


def alternating(keys: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Alternates guesses and halvings, so bad guesses at most double the cost of binary search."""
    return _interpolate(keys, targets, True)


def eytzinger(keys: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Searches a tree whose levels are stored one after another.

    The first levels share a page; each of the last levels needs another one.
    """
    return _eytzinger(keys, targets, _slots_in_order(len(keys)))


def page_first_keys(keys: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Searches the first keys of all pages, which are kept on the heap, and then one page."""
    return _search_pages(keys, targets, np.ascontiguousarray(keys[::ENTRIES_PER_PAGE]), True)


def b_tree(keys: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Searches a tree in which the first keys are in pages too, and so on up to one root."""
    return _search_pages(keys, targets, np.ascontiguousarray(keys[::ENTRIES_PER_PAGE]), False)


def piecewise(epsilon: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Returns a search that takes a line from the heap, then probes the slots near its guess."""

    def run(keys: np.ndarray, targets: np.ndarray) -> np.ndarray:
        first, slope, count = _pieces(np.ascontiguousarray(keys, np.int64), epsilon)
        return _search_lines(
            np.ascontiguousarray(keys, np.int64),
            targets,
            first[:count].copy(),
            slope[:count].copy(),
            epsilon,
        )

    return run


def pieces(keys: np.ndarray, epsilon: int) -> int:
    return int(_pieces(np.ascontiguousarray(keys, np.int64), epsilon)[2])


@njit(cache=True)
def _interpolate(keys: np.ndarray, targets: np.ndarray, alternate: bool) -> np.ndarray:
    results = np.empty((len(targets), 3), np.int64)
    probed_slots = np.empty(MAX_PROBES + 130, np.int64)
    page_marks = np.full(len(keys) // ENTRIES_PER_PAGE + 1, -1, np.int64)
    for row in range(len(targets)):
        slot, count = _guess(keys, targets[row], alternate, probed_slots)
        results[row, 0] = slot
        results[row, 1] = count
        results[row, 2] = _pages(probed_slots[:count], page_marks, row)
    return results


@njit(cache=True)
def _guess(
    keys: np.ndarray, target: int, alternate: bool, probed_slots: np.ndarray
) -> tuple[int, int]:
    """Searches one target by guesses, and notes the slots probed.

    It probes both ends first, because the first guess needs their keys.
    """
    lo = 0
    hi = len(keys) - 1
    if hi < 0:
        return -1, 0
    probed_slots[0] = 0
    if keys[0] > target:
        return -1, 1
    probed_slots[1] = hi
    if keys[hi] <= target:
        return hi, 2
    count = 2
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if count < MAX_PROBES and (not alternate or count % 2 == 0):
            part = (
                float(target - keys[lo]) / float(keys[hi] - keys[lo])
                if keys[hi] > keys[lo]
                else 0.5
            )
            middle = min(max(lo + int(part * (hi - lo)), lo + 1), hi - 1)
        probed_slots[count] = middle
        count += 1
        if keys[middle] == target:
            return middle, count
        if keys[middle] < target:
            lo = middle
        else:
            hi = middle
    return lo, count


@njit(cache=True)
def _slots_in_order(entries: int) -> np.ndarray:
    """Returns the slot that each tree node holds; node 1 is the root, 2k and 2k + 1 are below k."""
    slot_of = np.empty(entries + 1, np.int64)
    slot_of[0] = -1
    stack = np.empty(64, np.int64)
    depth = 0
    node = 1
    slot = 0
    while depth or node <= entries:
        while node <= entries:
            stack[depth] = node
            depth += 1
            node = 2 * node
        depth -= 1
        slot_of[stack[depth]] = slot
        slot += 1
        node = 2 * stack[depth] + 1
    return slot_of


@njit(cache=True)
def _eytzinger(keys: np.ndarray, targets: np.ndarray, slot_of: np.ndarray) -> np.ndarray:
    results = np.empty((len(targets), 3), np.int64)
    probed_slots = np.empty(64, np.int64)
    page_marks = np.full(len(keys) // ENTRIES_PER_PAGE + 1, -1, np.int64)
    for row in range(len(targets)):
        node = 1
        count = 0
        slot = -1
        while node <= len(keys):
            probed_slots[count] = node - 1
            count += 1
            if keys[slot_of[node]] <= targets[row]:
                slot = slot_of[node]
                node = 2 * node + 1
            else:
                node = 2 * node
        results[row, 0] = slot
        results[row, 1] = count
        results[row, 2] = _pages(probed_slots[:count], page_marks, row)
    return results


@njit(cache=True)
def _search_pages(
    keys: np.ndarray, targets: np.ndarray, firsts: np.ndarray, in_heap: bool
) -> np.ndarray:
    """Returns the slot, probes and pages of each target, searched through a tree.

    Args:
        in_heap: whether the first keys are in the heap; otherwise each level above the entries
            costs a page.
    """
    results = np.empty((len(targets), 3), np.int64)
    levels = 0
    nodes = len(firsts)
    while not in_heap and nodes > 1:
        levels = levels + 1
        nodes = -(-nodes // ENTRIES_PER_PAGE)
    for row in range(len(targets)):
        page, probes = _last_not_above(firsts, 0, len(firsts) - 1, targets[row])
        if page < 0:
            results[row, 0] = -1
            results[row, 1] = probes
            results[row, 2] = levels
            continue
        slot, more = _last_not_above(
            keys,
            page * ENTRIES_PER_PAGE,
            min((page + 1) * ENTRIES_PER_PAGE, len(keys)) - 1,
            targets[row],
        )
        results[row, 0] = slot
        results[row, 1] = probes + more
        results[row, 2] = levels + 1
    return results


@njit(cache=True)
def _last_not_above(keys: np.ndarray, first: int, last: int, target: int) -> tuple[int, int]:
    """Returns the last slot from `first` to `last` whose key is not above the target.

    Returns:
        The slot, or first - 1 if there is none, and the number of keys compared.
    """
    lo = first - 1
    hi = last
    count = 0
    while lo < hi:
        middle = (lo + hi + 1) // 2
        count += 1
        if keys[middle] <= target:
            lo = middle
        else:
            hi = middle - 1
    return lo, count


@njit(cache=True)
def _pieces(keys: np.ndarray, epsilon: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Returns the first slot of each line, its slope, and the number of lines.

    Each line is extended for as long as some slope stays within epsilon of all slots.
    """
    first = np.zeros(len(keys), np.int64)
    slope = np.zeros(len(keys), np.float64)
    count = start = 0
    while start < len(keys):
        low = 0.0
        high = np.inf
        end = start + 1
        while end < len(keys):
            run = float(keys[end] - keys[start])
            rise = float(end - start)
            lower, upper = (
                ((rise - epsilon) / run, (rise + epsilon) / run) if run > 0 else (np.inf, 0.0)
            )
            if max(low, lower) > min(high, upper):
                break
            low = max(low, lower)
            high = min(high, upper)
            end += 1
        first[count] = start
        slope[count] = low if high == np.inf else (low + high) / 2
        count += 1
        start = end
    return first, slope, count


@njit(cache=True)
def _search_lines(
    keys: np.ndarray, targets: np.ndarray, first: np.ndarray, slope: np.ndarray, epsilon: int
) -> np.ndarray:
    results = np.empty((len(targets), 3), np.int64)
    probed_slots = np.empty(64, np.int64)
    page_marks = np.full(len(keys) // ENTRIES_PER_PAGE + 1, -1, np.int64)
    starts = keys[first]
    for row in range(len(targets)):
        piece, probes = _last_not_above(starts, 0, len(starts) - 1, targets[row])
        if piece < 0:
            results[row, 0] = -1
            results[row, 1] = probes
            results[row, 2] = 0
            continue
        last = (first[piece + 1] if piece + 1 < len(first) else len(keys)) - 1
        guess = min(float(targets[row] - starts[piece]) * slope[piece], float(last - first[piece]))
        lo = max(first[piece], first[piece] + int(guess) - epsilon - 2)
        hi = min(last, first[piece] + int(guess) + epsilon + 1)
        count = 0
        while lo < hi:
            middle = (lo + hi + 1) // 2
            probed_slots[count] = middle
            count += 1
            if keys[middle] <= targets[row]:
                lo = middle
            else:
                hi = middle - 1
        results[row, 0] = lo
        results[row, 1] = probes + count
        results[row, 2] = _pages(probed_slots[:count], page_marks, row)
    return results


@njit(cache=True)
def _pages(probed_slots: np.ndarray, page_marks: np.ndarray, mark: int) -> int:
    """Returns the number of different pages that contain these slots.

    Args:
        page_marks: the last mark of each page; updated here.
    """
    count = 0
    for slot in probed_slots:
        page = slot // ENTRIES_PER_PAGE
        count += page_marks[page] != mark
        page_marks[page] = mark
    return count


def _first_key_bytes(keys: np.ndarray) -> int:
    return -(-len(keys) // ENTRIES_PER_PAGE) * ENTRY_BYTES


def _line_bytes(epsilon: int) -> Callable[[np.ndarray], int]:
    return lambda keys: pieces(keys, epsilon) * PIECE_BYTES


LAYOUTS = (
    Layout("Plain binary search", plain),
    Layout("Warm-section-first search", warm),
    Layout("Interpolation", interpolation),
    Layout("Interpolation, halving", alternating),
    Layout("Eytzinger layout", eytzinger),
    Layout("B+-tree, 512 per node", b_tree, _first_key_bytes),
    Layout("First key of each page", page_first_keys, _first_key_bytes),
    *(
        Layout(f"Piecewise linear, ε {epsilon}", piecewise(epsilon), _line_bytes(epsilon))
        for epsilon in (8, 32, 128)
    ),
)
