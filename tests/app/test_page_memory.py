"""The memory that a page needs for a full segment of millions of small batches."""

import pytest

from benchmarks import bench_page_memory
from kafkaviz.app import frontend

MAX_BYTES = 300_000_000  # above a server that shows a small segment


@pytest.fixture(scope="module")
def directories(tmp_path_factory):
    """Returns a small directory, and one with 1 GiB of batches of 100 bytes."""
    folder = tmp_path_factory.mktemp("full")
    return (
        bench_page_memory.write(folder / "small", bench_page_memory.SMALL_COUNT),
        bench_page_memory.write(folder / "large", bench_page_memory.COUNT),
    )


@pytest.mark.parametrize("page", bench_page_memory.FIGURES)
def test_the_timed_figures_exist(page):
    """The large segments are nightly, and a renamed function would not be noticed before."""
    for name in bench_page_memory.FIGURES[page]:
        assert callable(getattr(frontend, name))


@pytest.mark.nightly
@pytest.mark.parametrize("name", bench_page_memory.QUERIES)
def test_a_page_holds_windows_and_not_the_table(directories, name):
    """The peak from the first call to the last element."""
    page, query = bench_page_memory.QUERIES[name]
    assert bench_page_memory.measure(page, query, *directories)["peak_bytes"] <= MAX_BYTES


@pytest.mark.nightly
def test_the_table_alone_is_more(directories):
    taken = bench_page_memory.measure(bench_page_memory.TABLE, {}, *directories)
    assert taken["peak_bytes"] > MAX_BYTES
