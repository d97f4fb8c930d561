"""At most one ingest per directory, however many tabs ask, and with pauses."""

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.state import ingests
from kafkaviz.messages import verbatim
from kafkaviz.pipeline.ingest.job import Progress


def test_one_ingest_a_directory(directory, starts):
    snapshot = broker_cache.open_snapshot(directory)
    first = ingests.get_or_start(snapshot)
    assert ingests.get_or_start(snapshot) is first
    assert ingests.get_or_start(broker_cache.open_snapshot(directory)) is first
    assert [(request[0], request[1]) for request in starts.requests] == [
        ([(directory,)], broker_cache.catalog_path(snapshot.broker))
    ]
    assert not broker_cache.catalog_path(snapshot.broker).is_relative_to(directory)


def test_the_master_comes_from_the_environment(directory, starts, monkeypatch):
    monkeypatch.setenv("KAFKAVIZ_MASTER", "local[2]")
    ingests.get_or_start(broker_cache.open_snapshot(directory))
    assert starts.requests[0][2] == "local[2]"


def test_a_cancelled_ingest_waits_for_its_button(directory, starts):
    snapshot = broker_cache.open_snapshot(directory)
    ingests.get_or_start(snapshot)
    ingests.get_or_start(snapshot).cancel()
    assert ingests.get_or_start(snapshot).state == "cancelled" and len(starts.requests) == 1
    ingests.restart(snapshot)
    assert ingests.state(snapshot) == "reading" and len(starts.requests) == 2


def test_a_directory_that_changes_all_the_time_is_not_ingested_all_the_time(
    directory, starts, monkeypatch
):
    """Only some time after the last run, and only if that ended well."""
    starts.progress = Progress(state="done")
    snapshot = broker_cache.open_snapshot(directory)
    ingests.get_or_start(snapshot)
    ingests.get_or_start(snapshot)
    assert len(starts.requests) == 1
    monkeypatch.setattr(ingests, "AGAIN_AFTER_S", -1)
    starts.progress = Progress(state="failed", error=verbatim("no Java"))
    ingests.get_or_start(snapshot)
    assert len(starts.requests) == 2
    ingests.get_or_start(snapshot)
    assert len(starts.requests) == 2


def test_numbers_are_awaited_until_the_ingest_ends(directory, starts):
    """Also before it was started, but not after it failed."""
    snapshot = broker_cache.open_snapshot(directory)
    assert ingests.is_awaited(snapshot)
    ingests.get_or_start(snapshot)
    assert ingests.is_awaited(snapshot)
    ingests.restart(snapshot)
    assert len(starts.requests) == 1  # one runs
    ingests.get_or_start(snapshot).cancel()
    assert not ingests.is_awaited(snapshot)
    starts.progress = Progress(state="failed", error=verbatim("no Java"))
    ingests.restart(snapshot)
    assert ingests.state(snapshot) == "failed" and not ingests.is_awaited(snapshot)
