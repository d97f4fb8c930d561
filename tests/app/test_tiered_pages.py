"""The pages on a broker directory joined with its tiered storage."""

import json

import pytest

from kafkaviz.app.state import access
from kafkaviz.log.broker import join_tiered
from tests.app.fakes import FakeStarts, forget_runs
from tests.support.pages import open_page, page_html
from tests.support.tiered_storage import unpack


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Spark, and nothing from the environment."""
    from kafkaviz.pipeline.ingest.job import Progress

    starts = FakeStarts(Progress(state="done"))
    monkeypatch.setattr("kafkaviz.pipeline.ingest.job.start_ingest", starts)
    for name in ("KAFKAVIZ_DIR", "KAFKAVIZ_ALLOW_ROOT", "KAFKAVIZ_MASTER"):
        monkeypatch.delenv(name, raising=False)
    forget_runs()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("tiered"))


def test_the_broker_page_counts_remote_segments(recorded):
    """Beside the name of each topic-partition that has some."""
    text = page_html(open_page(dir=join_tiered(*recorded)))
    assert "orders-0 (15 remote)" in text and "payments-0 (8 remote)" in text
    assert "audit-0 (" not in text


def test_the_map_draws_remote_segments_apart(recorded):
    """As a kind of their own, which the legend names where there are any."""
    page = open_page(dir=join_tiered(*recorded))
    assert '<i class="kv-sw remote"></i>remote' in page_html(page)
    specs = [json.loads(chart.proto.spec) for chart in page.get("plotly_chart")]
    bars = {
        trace["name"]: len(trace["x"])
        for spec in specs
        for trace in spec["data"]
        if trace.get("name") in ("remote", "closed", "active")
    }
    assert bars == {"remote": 23, "closed": 8, "active": 7}
    assert "kv-sw remote" not in page_html(open_page(dir=recorded[0]))


def test_the_segment_page_says_what_is_remote(recorded):
    """Beside its name; of a segment in both places the local files are read."""
    view = join_tiered(*recorded)
    for segment, is_remote in (("41", True), ("335", False)):
        html = page_html(open_page("segment", dir=view, tp="orders-0", segment=segment))
        assert ("remote: in tiered storage alone</span>" in html) is is_remote


def test_a_remote_lookup_shows_its_requests(recorded):
    """Each file of the store that it reads, and the price, called modelled."""
    query = {"tp": "orders-0", "by": "offset", "target": "53"}
    text = page_html(open_page("lookup", dir=join_tiered(*recorded), **query))
    assert "Remote: read from tiered storage" in text and "modelled at 50 ms a request" in text
    local = page_html(
        open_page("lookup", dir=join_tiered(*recorded), **(query | {"target": "360"}))
    )
    assert "Remote: read from tiered storage" not in local


def test_a_confined_server_opens_what_it_was_started_with(recorded, monkeypatch, tmp_path):
    """The view and its two sources, whose files its links lead to; and nothing else."""
    view = join_tiered(*recorded)
    monkeypatch.setenv("KAFKAVIZ_DIR", str(view))
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(tmp_path))
    roots = access.roots()
    assert roots is not None and {view, recorded[0]} <= set(roots)
    text = page_html(open_page(dir=view))
    assert "orders-0 (15 remote)" in text


def test_a_confined_server_follows_no_link_of_another_view(recorded, monkeypatch, tmp_path):
    """What was put together before, by whomever, is none of its directories."""
    view = join_tiered(*recorded)
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(tmp_path))
    text = page_html(open_page(dir=view))
    assert "orders-0" not in text
