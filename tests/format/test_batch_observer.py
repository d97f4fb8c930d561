from collections.abc import Iterator

import numpy as np
import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.format.walk import BatchObserver, observe_scan


class Calls(BatchObserver[list[tuple[str, int]]]):
    def __init__(self, name: str, calls: list[tuple[str, int]]) -> None:
        self._name, self._calls = name, calls

    def observe(self, batches: np.ndarray) -> None:
        self._calls.append((self._name, len(batches)))

    def result(self) -> list[tuple[str, int]]:
        return self._calls


def test_each_array_goes_to_all_before_the_next_is_read():
    """One array bounds the memory, and one pass is enough."""
    calls = []

    def scan() -> Iterator[np.ndarray]:
        for count in (3, 1):
            calls.append(("read", count))
            yield np.zeros(count)

    first = Calls("first", calls)
    observe_scan(scan(), first, Calls("second", calls))
    assert first.result() == [
        (name, count) for count in (3, 1) for name in ("read", "first", "second")
    ]


def test_what_a_scan_raises_leaves_what_was_observed():
    observer = Calls("only", [])

    def scan() -> Iterator[np.ndarray]:
        yield np.zeros(5)
        raise CannotOpen("00000000000000000000.log", "gone")

    with pytest.raises(CannotOpen):
        observe_scan(scan(), observer)
    assert observer.result() == [("only", 5)]
