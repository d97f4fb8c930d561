"""Random numbers that are the same on every machine.

Each batch has its own stream of random numbers, and so has each record. A workload that is
generated in different chunks, or without payload, draws the same numbers.

Numbers are drawn with integers only: numpy's streams change across releases, and logarithms differ
between machines. A distribution is a table of 1025 quantiles, computed once with `decimal`. For
example, these are the first, middle and last quantile of an exponential distribution with mean 100:

    table(Spread("exponential", mean=100))    0, .., 69.3, .., 893    (stored multiplied by 256)
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from kafkaviz.binary.lazy_njit import njit

CONSTANT = "constant"
UNIFORM = "uniform"
EXPONENTIAL = "exponential"
LOGNORMAL = "lognormal"
SHAPES = (UNIFORM, EXPONENTIAL, LOGNORMAL)  # all except CONSTANT
CELLS = 1024  # cells of a table, all equally likely
FRACTION_BITS = 8  # a table stores 256ths: 3.5 is 896
MAX_NUMBER = 2**31 - 1
ONE_BITS = 20
_DIGITS = 24  # precision of decimal
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S30 = np.uint64(30)
_S27 = np.uint64(27)
_S31 = np.uint64(31)
_S54 = np.uint64(54)
_UINT64_ONE = np.uint64(1)
_CELL_MASK = np.uint64((1 << ONE_BITS) - 1)


@dataclass(frozen=True)
class Spread:
    """The distribution of a random integer."""

    # CONSTANT (the mean), UNIFORM (from least to most), EXPONENTIAL, LOGNORMAL
    shape: str = CONSTANT
    mean: float = 1
    least: int = 0
    most: int = MAX_NUMBER
    sigma: float = 1.0  # standard deviation of the logarithm, for LOGNORMAL


@lru_cache(maxsize=256)
def table(spread: Spread) -> np.ndarray:
    """Returns the read-only table of a distribution, for `draw_number`.

    int64 of shape (CELLS + 3,): the smallest number; the largest number; CELLS + 1 quantiles, each
    multiplied by 256.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        return _freeze(spread.least, spread.most, _quantiles(spread))


@lru_cache(maxsize=64)
def rank_table(count: int, exponent: float) -> np.ndarray:
    """Returns a table of ranks from 1 to `count` by Zipf's law, in the form that `table` describes.

    Rank r has about the weight 1 / r^exponent. Exponent 0 makes all ranks equally likely.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        power = 1 - Decimal(str(exponent))
        half = Decimal("0.5")
        first = 1 + half
        last = count + half
        steps = [Decimal(cell) / CELLS for cell in range(CELLS + 1)]
        if power == 0:
            low = first.ln() - 1
            high = last.ln()
            ranks = [(low + (high - low) * step).exp() for step in steps]
        else:
            low = first**power - power
            high = last**power
            ranks = [(low + (high - low) * step) ** (1 / power) for step in steps]
        return _freeze(1, count, ranks)


@lru_cache(maxsize=1)
def waits() -> np.ndarray:
    """Returns the table of an exponential distribution with mean 2^20, for random waits."""
    return table(Spread(EXPONENTIAL, 1 << ONE_BITS))


def _freeze(least: int, most: int, quantiles: list[Decimal]) -> np.ndarray:
    scaled = [int((number * 2**FRACTION_BITS).to_integral_value()) for number in quantiles]
    numbers = np.array([least, most, *scaled], np.int64)
    numbers.flags.writeable = False
    return numbers


def _quantiles(spread: Spread) -> list[Decimal]:
    mean = Decimal(str(spread.mean))
    if spread.shape == CONSTANT:
        return [mean] * (CELLS + 1)
    # half a number more on both sides, so that all integers are equally likely
    if spread.shape == UNIFORM:
        low = spread.least - Decimal("0.5")
        high = spread.most + Decimal("0.5")
        return [low + (high - low) * cell / CELLS for cell in range(CELLS + 1)]
    unit = _exponential() if spread.shape == EXPONENTIAL else _lognormal(spread.sigma)
    unit_mean = (sum(unit) - (unit[0] + unit[-1]) / 2) / CELLS
    return [min(number * mean / unit_mean, Decimal(MAX_NUMBER)) for number in unit]


def _exponential() -> list[Decimal]:
    body = [-(1 - Decimal(cell) / CELLS).ln() for cell in range(CELLS)]
    return [*body, body[-1] + 2]


def _lognormal(sigma: float) -> list[Decimal]:
    inner = [NormalDist().inv_cdf(cell / CELLS) for cell in range(1, CELLS)]
    ends = NormalDist().inv_cdf(1 / (4 * CELLS))
    return [(Decimal(str(sigma)) * Decimal(f"{z:.6f}")).exp() for z in (ends, *inner, -ends)]


# ---- for compiled functions


@njit(cache=True)
def mix(number: np.uint64) -> np.uint64:
    """Returns a number with scrambled bits (SplitMix64, Stafford's variant 13)."""
    number = (number ^ (number >> _S30)) * _FIRST
    number = (number ^ (number >> _S27)) * _SECOND
    return number ^ (number >> _S31)


@njit(cache=True)
def stream(parent: np.uint64, number: int) -> np.uint64:
    """Derives a random stream from a parent: a batch's from the seed, a record's from its batch."""
    return mix(parent + _GOLDEN * (np.uint64(number) + _UINT64_ONE))


@njit(cache=True)
def draw_number(numbers: np.ndarray, draw: np.uint64) -> int:
    """Returns the number that a random 64-bit `draw` selects from a table.

    The highest ten bits select two neighbouring quantiles. The next twenty bits select a number
    between them.
    """
    cell = np.int64(draw >> _S54)
    place = np.int64((draw >> np.uint64(34)) & _CELL_MASK)
    low = numbers[cell + 2]
    high = numbers[cell + 3]
    number = low + (((high - low) * place) >> ONE_BITS)
    return min(max((number + 128) >> FRACTION_BITS, numbers[0]), numbers[1])


@njit(cache=True)
def happens(draw: np.uint64, threshold: int) -> bool | np.bool_:
    """Returns whether an event of probability threshold / 2^32 happens.

    The low 32 bits of `draw` decide.
    """
    return np.int64(draw & np.uint64(0xFFFFFFFF)) < threshold


def threshold(share: float) -> int:
    """Returns the threshold for `happens`, from a probability between 0 and 1."""
    return int(Decimal(str(share)) * 2**32)


def seed_stream(seed: int) -> np.uint64:
    with np.errstate(over="ignore"):
        return mix.py_func(np.uint64(seed % 2**64) + _GOLDEN)
