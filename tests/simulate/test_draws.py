"""Random draws: the same on every machine, with the requested distribution."""

from functools import cache

import numpy as np
import pytest

from kafkaviz.simulate.producers.distributions import (
    CELLS,
    EXPONENTIAL,
    LOGNORMAL,
    UNIFORM,
    Spread,
    draw_number,
    happens,
    rank_table,
    seed_stream,
    stream,
    table,
    threshold,
)


@cache
def draws() -> list[np.uint64]:
    return [np.uint64(stream(np.uint64(seed_stream(1)), place)) for place in range(20_000)]


def plain_mixed(number: int) -> int:
    """Computes SplitMix64's finalizer in Python's own integers."""
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
    return number ^ number >> 31


def test_splitmix64_gives_its_published_numbers():
    """The first numbers of Vigna's splitmix64.c from state 1234567."""
    numbers = [int(stream(np.uint64(1234567), place)) for place in range(3)]
    assert numbers == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("seed", [0, 1, -1, 2**64 + 5, 2**63])
def test_a_seed_is_any_whole_number(seed):
    assert int(seed_stream(seed)) == plain_mixed((seed + 0x9E3779B97F4A7C15) % 2**64)


@pytest.mark.parametrize(
    ("spread", "mean", "deviation"),
    [
        (Spread(mean=7), 7, 0),
        (Spread(UNIFORM, least=1, most=6), 3.5, 1.708),
        (Spread(EXPONENTIAL, 1000), 1000, 1000),
        (Spread(LOGNORMAL, 1000, sigma=0.5), 1000, 533),
    ],
)
def test_numbers_have_the_mean_and_the_deviation_of_their_spread(spread, mean, deviation):
    numbers = np.array([draw_number(table(spread), draw) for draw in draws()])
    assert numbers.mean() == pytest.approx(mean, rel=0.02)
    assert numbers.std() == pytest.approx(deviation, rel=0.05)


def test_numbers_keep_to_their_limits():
    cells = table(Spread(EXPONENTIAL, 100, least=50, most=300))
    numbers = {draw_number(cells, draw) for draw in draws()}
    assert (min(numbers), max(numbers)) == (50, 300)


def test_each_number_of_a_uniform_spread_comes_as_often():
    numbers = [draw_number(table(Spread(UNIFORM, least=0, most=4)), draw) for draw in draws()]
    assert np.bincount(numbers).tolist() == pytest.approx([4000] * 5, rel=0.05)


@pytest.mark.parametrize(
    ("count", "exponent"), [(1000, 1.0), (50, 0.5), (200, 1.5), (10, 0.0), (1, 2.0)]
)
def test_ranks_come_as_zipf_has_them(count, exponent):
    ranks = np.array([draw_number(rank_table(count, exponent), draw) for draw in draws()])
    law = np.arange(1, count + 1.0) ** -exponent
    assert ranks.min() >= 1
    assert ranks.max() <= count
    for rank in range(1, min(3, count) + 1):
        assert (ranks == rank).mean() == pytest.approx(law[rank - 1] / law.sum(), rel=0.15)


def test_a_table_is_made_of_whole_numbers_that_do_not_fall():
    lognormal = Spread(LOGNORMAL, 200, sigma=2)
    for spread in (Spread(EXPONENTIAL, 3), lognormal, Spread(UNIFORM, least=3, most=9)):
        numbers = table(spread)
        assert numbers.dtype == np.int64
        assert len(numbers) == CELLS + 3
        assert (np.diff(numbers[2:]) >= 0).all()


def test_what_has_a_share_happens_as_often():
    for share in (0, 0.25, 1):
        happened = [happens(draw, threshold(share)) for draw in draws()]
        assert np.mean(happened) == pytest.approx(share, abs=0.01)


def test_the_tables_are_the_same_everywhere():
    lognormal = table(Spread(LOGNORMAL, 1000, sigma=0.5))
    exponential = table(Spread(EXPONENTIAL, 1 << 20))
    assert lognormal[[2, 514, 1026]].tolist() == [39519, 225954, 1291919]
    assert exponential[[3, 514, 1026]].tolist() == [262251, 186050566, 2397334121]
