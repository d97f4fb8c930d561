"""The pages on a broker directory joined with its tiered storage."""

import json

import pytest

from kafkaviz.app import access
from kafkaviz.app.state import page_location
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import join_tiered
from kafkaviz.messages import say
from kafkaviz.render.sentences import to_sentence
from tests.support.pages import assert_no_exception, open_page, page_html, query_value
from tests.support.tiered_storage import ARCHIVE, write_aiven_store

pytestmark = pytest.mark.usefixtures("starts")


def test_the_broker_page_counts_remote_segments(tiered):
    text = page_html(open_page(dir=join_tiered(*tiered)))
    assert "orders-0 (15 remote)" in text and "payments-0 (8 remote)" in text
    assert "audit-0 (" not in text


@pytest.mark.parametrize("is_archive", [False, True])
def test_the_page_shows_what_was_given_and_no_path_of_the_cache(tiered, is_archive):
    """In the box, in the head and at the foot: both places, which Open opens again."""
    logs, store = (ARCHIVE / "logs", ARCHIVE / "store") if is_archive else tiered
    view = join_tiered(logs, store)
    page = open_page(dir=view)
    text = f"{logs} --tiered {store}"
    (box,) = (box for box in page.text_input if "--tiered" in box.value)
    assert box.value == text
    html = page_html(page) + "".join(str(element.label) for element in page.button)
    assert str(archive.cache_folder()) not in html
    page.button(key="kv_open").click()
    assert query_value(assert_no_exception(page.run()), "dir") == str(view)
    assert "orders-0 (15 remote)" in page_html(page)
    assert page_location.recent()[0] == str(view)  # what links go by


@pytest.mark.parametrize("is_typed", [True, False])
def test_what_the_command_line_takes_is_opened(tiered, is_typed):
    """Typed with quotes and blanks, or in an address; links have the path of both."""
    logs, store = tiered
    text = f"{logs} --tiered {store}"
    page = open_page(dir="" if is_typed else text)
    if is_typed:
        (box,) = (box for box in page.text_input if box.key.startswith("kv_directory"))
        assert_no_exception(box.set_value(f" '{logs}' --tiered  {store} ").run())
    assert "orders-0 (15 remote)" in page_html(page)
    assert text in [box.value for box in page.text_input]
    view = str(join_tiered(logs, store))
    assert query_value(page.run(), "dir") == view and page_location.recent()[0] == view


def test_a_folder_that_is_not_a_store_is_reported(tiered, tmp_path):
    """In the words of the command line, with its path."""
    text = page_html(open_page(dir=f"{tiered[0]} --tiered {tmp_path}"))
    assert "orders-0" not in text and str(tmp_path) in text


@pytest.mark.parametrize("is_joined", [True, False])
@pytest.mark.parametrize("manifest", ["encrypted", "corrupt"])
def test_an_unreadable_manifest_is_reported(tiered, tmp_path, is_joined, manifest):
    """The message says what to do if nothing else can be shown."""
    logs, store = tiered
    bucket = write_aiven_store(store, logs, tmp_path / "bucket", compressed=True)
    for path in bucket.rglob("*.rsm-manifest"):
        encryption = {"encryption": {"dataKey": "k:x", "aad": "eA=="}}
        content = json.loads(path.read_text()) | encryption if manifest == "encrypted" else {}
        path.write_text(json.dumps(content))
    text = page_html(open_page(dir=f"{logs} --tiered {bucket}" if is_joined else bucket))
    if manifest == "encrypted":
        assert say("tiered.encrypted")[1:] in text
        assert is_joined or to_sentence(say("tiered.decrypt_it")) in text
    elif is_joined:
        assert "not a manifest of a remote segment" in text
    assert is_joined or ("orders-0" not in text and "kv-state" in text)


def test_the_address_of_a_store_is_shown(tiered, object_store):
    object_store.put_directory(tiered[1], "shown")
    view = join_tiered(tiered[0], "s3://kafka/shown")
    text = f"{tiered[0]} --tiered s3://kafka/shown"
    assert page_location.directory_text(str(view)) == text
    page = open_page(dir=view)
    assert text in [box.value for box in page.text_input]
    mirror = file.absolute_path("s3://kafka/shown")
    assert page_location.directory_text(str(mirror)) == "s3://kafka/shown"
    alone = open_page(dir="s3://kafka/shown")
    assert "s3://kafka/shown" in [box.value for box in alone.text_input]
    for opened in (page, alone):
        assert str(archive.cache_folder()) not in page_html(opened)


def test_the_map_draws_remote_segments_apart(tiered):
    page = open_page(dir=join_tiered(*tiered))
    assert '<i class="kv-sw remote"></i>remote' in page_html(page)
    specs = [json.loads(chart.proto.spec) for chart in page.get("plotly_chart")]
    bars = {
        trace["name"]: len(trace["x"])
        for spec in specs
        for trace in spec["data"]
        if trace.get("name") in ("remote", "closed", "active")
    }
    assert bars == {"remote": 23, "closed": 8, "active": 7}
    assert "kv-sw remote" not in page_html(open_page(dir=tiered[0]))


def test_the_segment_page_says_what_is_remote(tiered):
    view = join_tiered(*tiered)
    for segment, is_remote in (("41", True), ("335", False)):
        html = page_html(open_page("segment", dir=view, tp="orders-0", segment=segment))
        assert ("remote: only in tiered storage</span>" in html) is is_remote


def test_a_remote_lookup_shows_its_requests(tiered):
    query = {"tp": "orders-0", "by": "offset", "target": "53"}
    text = page_html(open_page("lookup", dir=join_tiered(*tiered), **query))
    assert "Remote: read from tiered storage" in text and "modelled at 50 ms per request" in text
    local = page_html(open_page("lookup", dir=join_tiered(*tiered), **(query | {"target": "360"})))
    assert "Remote: read from tiered storage" not in local
    assert "offset (remote)" in text and "(remote)" not in local


def test_a_confined_server_opens_what_it_was_started_with(tiered, monkeypatch, tmp_path):
    """The view and its two sources, and nothing else."""
    view = join_tiered(*tiered)
    monkeypatch.setenv("KAFKAVIZ_DIR", str(view))
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(tmp_path))
    roots = access.roots()
    assert roots is not None and {view, tiered[0]} <= set(roots)
    text = page_html(open_page(dir=view))
    assert "orders-0 (15 remote)" in text


def test_a_confined_server_follows_no_link_of_another_view(tiered, monkeypatch, tmp_path):
    view = join_tiered(*tiered)
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(tmp_path))
    text = page_html(open_page(dir=view))
    assert "orders-0" not in text


@pytest.mark.parametrize("compressed", [None, True])
@pytest.mark.parametrize("allowed", ["both", "logs", "store"])
def test_a_confined_server_joins_what_it_may_open(
    tiered, monkeypatch, tmp_path, allowed, compressed
):
    """Each place must be below a root, and the path of their view does not help."""
    logs, store = tiered
    if compressed:
        store = write_aiven_store(store, logs, tmp_path / "aiven", compressed=True)
    text = f"{logs} --tiered {store}"
    roots = {"both": [logs, store], "logs": [logs], "store": [store]}[allowed]
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", json.dumps(list(map(str, roots))))
    if allowed == "both":
        page = open_page(dir=text)
        assert "orders-0 (15 remote)" in page_html(page)
        query = {"tp": "orders-0", "by": "offset", "target": "53"}
        lookup = page_html(open_page("lookup", dir=text, **query))
        assert "Remote: read from tiered storage" in lookup
        return
    refused = store if allowed == "logs" else logs
    for directory, place in ((text, refused), (str(join_tiered(logs, store)), logs)):
        html = page_html(open_page(dir=directory))
        assert "orders-0" not in html and say("faults.outside", path=place) in html
