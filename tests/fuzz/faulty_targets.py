"""Readers with one fault each, so that the soak can be seen to notice it."""

import ctypes
import time
from random import Random

import numpy as np

from kafkaviz.errors import CorruptBytes
from kafkaviz.format.walk import walk
from kafkaviz.messages import verbatim
from tests.fuzz import seeds, soak
from tests.fuzz.mutators import mutated_log
from tests.fuzz.targets import Target, expect_batches, of_bytes

HOARD: list[np.ndarray] = []
_logs = of_bytes(seeds.logs, mutated_log)


def _breaks(seed: bytes, data: bytes, draw: Random) -> None:
    if len(data) % 5 == 0 and data != seed:
        raise IndexError(f"no byte {len(data)}")


def _refuses(seed: bytes, data: bytes, draw: Random) -> None:
    if data != seed:
        raise CorruptBytes(3, verbatim("refused where nothing may be refused"))


def _hides(seed: bytes, data: bytes, draw: Random) -> None:
    """A walk that gives up if anything in a log is wrong."""
    batches, end = walk(data)
    expect_batches(seed, data, batches if end.reason == "end" else batches[:0])


def _hoards(seed: bytes, data: bytes, draw: Random) -> None:
    if data != seed and not HOARD:
        HOARD.append(np.ones(300 << 20, np.uint8))


def _asks(seed: bytes, data: bytes, draw: Random) -> None:
    """Allocates as much as a size in the data says."""
    if data != seed:
        np.empty(1 << 40, np.uint8)


def _dawdles(seed: bytes, data: bytes, draw: Random) -> None:
    until = time.thread_time() + 1.1 * soak.SLOW_S
    while data != seed and time.thread_time() < until:
        pass


def _loops(seed: bytes, data: bytes, draw: Random) -> None:
    while data != seed:
        time.sleep(0.01)


def _dies(seed: bytes, data: bytes, draw: Random) -> None:
    if data != seed:
        ctypes.string_at(8)


BREAKS, REFUSES, HIDES, HOARDS, ASKS, DAWDLES, LOOPS, DIES = (
    (Target(read.__name__[1:], 1, _logs, read),)
    for read in (_breaks, _refuses, _hides, _hoards, _asks, _dawdles, _loops, _dies)
)
