"""The numbers in docs/how-to/object-stores.md match the code."""

from pathlib import Path

from kafkaviz.log.remote import address, block_cache, file_system, mirror

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "object-stores.md").read_text()


def test_the_sizes_of_requests_are_documented_right():
    """A single read, a sequence, and the size of the cache."""
    assert block_cache.POINT_BYTES == 512 << 10 and "of a larger file brings 512 KiB" in PAGE
    assert block_cache.WHOLE_BYTES == 1 << 20 and "at most 1 MiB is downloaded whole" in PAGE
    assert block_cache.is_fetched_whole(Path(f"{0:020d}.index"), 8 << 20)
    assert "so is an index of at most 8 MiB" in PAGE
    assert block_cache.REQUEST_BYTES == 8 << 20 and "8 MiB per request" in PAGE
    assert block_cache.LIMIT_BYTES == 20 << 30 and "At most 20 GiB of blocks" in PAGE
    assert block_cache.RESERVE_BYTES == 1 << 30 and "The last GiB of the disk" in PAGE
    assert f"`{block_cache.LIMIT_VARIABLE}`" in PAGE


def test_how_long_is_waited_is_documented_right():
    """For a store, and until a listing is repeated."""
    assert (file_system.ATTEMPTS, file_system.REQUEST_S) == (3, 20)
    assert "after three attempts, of 20 seconds each at most" in PAGE
    assert (mirror.LISTING_S, mirror.LISTING_SHARE) == (10, 20)
    assert "good for 10 seconds, or for 20 times as long as it took" in PAGE


def test_every_scheme_is_documented():
    schemes = (*address.SCHEMES, "s3a")
    assert [scheme for scheme in schemes if f"`{scheme}://" not in PAGE] == []
    assert all(f"`{name}" in PAGE or f"?{name}=" in PAGE for name in address.PARAMETERS["s3"])
