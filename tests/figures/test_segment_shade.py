import numpy as np

from kafkaviz.analysis.segment.selection import Selection
from kafkaviz.figures.segment import segment_ruler as ruler
from tests.analysis import arrays
from tests.analysis.arrays import even


def test_the_overview_of_many_batches():
    """A thousand columns: how many entries point into each, and how many batches begin there."""
    view = ruler.view(even(4000, interval=1000), Selection("", 0))
    assert view.overview.entries.shape == view.overview.shades.shape == (1000,)
    assert view.overview.entries.sum() == view.index.written and set(
        view.overview.shades.tolist()
    ) == {255}
    assert ruler.view(even(1000), Selection("", 0)).overview is None


def test_the_overview_follows_the_shade():
    """Sizes and darkness grow from left to right; one huge batch covers all its columns."""
    table = arrays.batches(list(range(100, 2100)))
    view = ruler.view(arrays.anatomy(table, *arrays.indexed(table, 4096)), Selection("", 0), "Size")
    shades = view.overview.shades.astype(int)
    assert (np.diff(shades) >= 0).all() and shades[0] < 2 and shades[-1] == 255
    wide = arrays.batches([100] * 1500 + [150_000])
    shades = ruler.view(
        arrays.anatomy(wide, *arrays.indexed(wide, 4096)), Selection("", 0), "Size"
    ).overview.shades
    assert set(shades[510:].tolist()) == {255}


def test_the_overview_ends_where_the_batches_end():
    """No column after them has a batch."""
    shades = ruler.view(even(2000, tail=("zeros", 200_000)), Selection("", 0)).overview.shades
    assert shades[499] > 0 and set(shades[500:].tolist()) == {0}


def test_shades_are_described():
    table = arrays.batches(
        [100] * 99 + [900], times_ms=[1_700_000_000_000 + step * 60_000 for step in range(100)]
    )
    segment_anatomy = arrays.anatomy(table, *arrays.indexed(table, 400))
    assert ruler.view(segment_anatomy, Selection("", 0), "Size").hint.startswith(
        "Each batch takes 100 B. Drag the window"
    )
    assert ruler.view(segment_anatomy, Selection("", 0), "Age").hint.startswith(
        "Darker is newer, 22:13:20.000 – 23:52:20.000. Drag"
    )
    assert ruler.view(segment_anatomy, Selection("", 0)).hint.startswith(
        "An entry is written when more than index.interval.bytes have passed. Drag"
    )
    days = arrays.anatomy(
        arrays.batches([100, 100], times_ms=[1_700_000_000_000, 1_700_086_400_000]), None, None
    )
    assert ruler.view(days, Selection("", 0), "Age").hint.startswith(
        "Darker is newer, 2023-11-14 22:13:20.000 – 2023-11-15 22:13:20.000."
    )
    none = arrays.anatomy(arrays.wrapped(arrays.batches([100, 100]), [0, 1]), None, None)
    assert ruler.view(none, Selection("", 0), "Age").shade_range == (0, 0)
