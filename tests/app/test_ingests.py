"""The ingests: one a directory, however many tabs ask, and not all the time."""

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.state import ingests
from kafkaviz.messages import verbatim
from kafkaviz.pipeline.ingest.job import Progress


def test_one_ingest_a_directory(directory, starts):
    """However many tabs ask; it reads what was given, into a catalog of its own."""
    here = broker_cache.open_snapshot(directory)
    first = ingests.get_or_start(here)
    assert (
        ingests.get_or_start(here) is first
        and ingests.get_or_start(broker_cache.open_snapshot(directory)) is first
    )
    assert [(asked[0], asked[1]) for asked in starts.asked] == [
        ([directory], broker_cache.catalog_path(here.broker))
    ]
    assert not broker_cache.catalog_path(here.broker).is_relative_to(directory)


def test_the_master_comes_from_the_environment(directory, starts, monkeypatch):
    """As `kafkaviz app --master` sets it."""
    monkeypatch.setenv("KAFKAVIZ_MASTER", "local[2]")
    ingests.get_or_start(broker_cache.open_snapshot(directory))
    assert starts.asked[0][2] == "local[2]"


def test_a_cancelled_ingest_waits_for_its_button(directory, starts):
    """It is not started again by a rerun, only by somebody who asks."""
    here = broker_cache.open_snapshot(directory)
    ingests.get_or_start(here)
    ingests.get_or_start(here).cancel()
    assert ingests.get_or_start(here).state == "cancelled" and len(starts.asked) == 1
    ingests.restart(here)
    assert ingests.state(here) == "reading" and len(starts.asked) == 2


def test_a_directory_that_changes_all_the_time_is_not_ingested_all_the_time(
    directory, starts, monkeypatch
):
    """Not again before some time went by, and only after the run before ended well."""
    starts.progress = Progress(state="done")
    here = broker_cache.open_snapshot(directory)
    ingests.get_or_start(here)
    ingests.get_or_start(here)
    assert len(starts.asked) == 1
    monkeypatch.setattr(ingests, "AGAIN_AFTER_S", -1)
    starts.progress = Progress(state="failed", error=verbatim("no Java"))
    ingests.get_or_start(here)
    assert len(starts.asked) == 2
    ingests.get_or_start(here)
    assert len(starts.asked) == 2


def test_numbers_are_awaited_until_the_ingest_ends(directory, starts):
    """Also before it was started, but not after it failed."""
    here = broker_cache.open_snapshot(directory)
    assert ingests.is_awaited(here)
    ingests.get_or_start(here)
    assert ingests.is_awaited(here)
    ingests.restart(here)
    assert len(starts.asked) == 1  # one runs
    ingests.get_or_start(here).cancel()
    assert not ingests.is_awaited(here)
    starts.progress = Progress(state="failed", error=verbatim("no Java"))
    ingests.restart(here)
    assert ingests.state(here) == "failed" and not ingests.is_awaited(here)
