import numpy as np
import pytest

from kafkaviz.analysis import sweep


@pytest.mark.parametrize(
    ("counts", "share", "expected"),
    [([0, 2, 2], 0.5, 1), ([0, 2, 2], 0.51, 2), ([0, 0, 1], 0.01, 2), ([], 0.5, 0)],
)
def test_quantile(counts, share, expected):
    """The least counted number that this share does not exceed, never a mean of two."""
    assert sweep.quantile(np.array(counts, np.int64), share) == expected
