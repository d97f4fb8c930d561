"""The ingests: one a directory, however many tabs ask, and not all the time."""

from kafkaviz.pipeline.job import Progress
from kafkaviz.ui import cache, ingests


def test_one_ingest_a_directory(directory, starts):
    """However many tabs ask; it reads what was given, into a catalog of its own."""
    here = cache.listed(directory)
    first = ingests.shared().of(here)
    assert (
        ingests.shared().of(here) is first and ingests.shared().of(cache.listed(directory)) is first
    )
    assert [(asked[0], asked[1]) for asked in starts.asked] == [
        ([directory], cache.catalog_path(here.broker))
    ]
    assert not cache.catalog_path(here.broker).is_relative_to(directory)


def test_the_master_comes_from_the_environment(directory, starts, monkeypatch):
    """As `kafkaviz app --master` sets it."""
    monkeypatch.setenv("KAFKAVIZ_MASTER", "local[2]")
    ingests.shared().of(cache.listed(directory))
    assert starts.asked[0][2] == "local[2]"


def test_a_cancelled_ingest_waits_for_its_button(directory, starts):
    """It is not started again by a rerun, only by somebody who asks."""
    here = cache.listed(directory)
    ingests.shared().of(here)
    ingests.shared().cancel(here)
    assert ingests.shared().of(here).progress().state == "cancelled" and len(starts.asked) == 1
    assert ingests.shared().again(here).progress().state == "reading" and len(starts.asked) == 2


def test_a_directory_that_changes_all_the_time_is_not_ingested_all_the_time(
    directory, starts, monkeypatch
):
    """Not again before some time went by, and only after the run before ended well."""
    starts.progress = Progress(state="done")
    here = cache.listed(directory)
    ingests.shared().of(here)
    ingests.shared().of(here)
    assert len(starts.asked) == 1
    monkeypatch.setattr(ingests, "AGAIN_AFTER_S", -1)
    starts.progress = Progress(state="failed", error="no Java")
    ingests.shared().of(here)
    assert len(starts.asked) == 2
    ingests.shared().of(here)
    assert len(starts.asked) == 2


def test_numbers_are_awaited_until_the_ingest_ends(directory, starts):
    """Also before it was started, but not after it failed."""
    here = cache.listed(directory)
    assert ingests.is_awaited(here)
    ingests.shared().of(here)
    assert ingests.is_awaited(here)
    starts.progress = Progress(state="failed", error="no Java")
    ingests.shared().again(here)
    assert not ingests.is_awaited(here)
