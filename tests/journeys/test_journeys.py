"""The main journeys, by clicks alone on a newly started server; only the first address is typed.

One width and one theme run in the plain tests; the other three are nightly. Any error in the
console fails, and so does a page that scrolls sideways.
"""

from collections.abc import Iterator

import pytest

from tests.journeys.walk import Walk
from tests.support.browser import click_a_bar, watched

LOOKS = [
    pytest.param(1280, "light", id="1280-light"),
    pytest.param(1280, "dark", id="1280-dark", marks=pytest.mark.nightly),
    pytest.param(1024, "light", id="1024-light", marks=pytest.mark.nightly),
    pytest.param(1024, "dark", id="1024-dark", marks=pytest.mark.nightly),
]
pytestmark = [pytest.mark.browser, pytest.mark.parametrize(("width", "theme"), LOOKS)]
PICTURED = (1280, "light")
PATIENCE_MS = 60_000


@pytest.fixture
def walk(browser, server, album, width, theme, request) -> Iterator[Walk]:
    """A new visitor of a newly started app."""
    title = request.node.originalname.removeprefix("test_").replace("_", " ").capitalize()
    with watched(browser, width, theme) as page:
        page.set_default_timeout(PATIENCE_MS)
        page.goto(server)  # the only address that is typed
        yield Walk(page, title, album if (width, theme) == PICTURED else None)


def test_from_the_map_to_the_bytes(walk):
    walk.titled("37 topic-partitions")
    walk.shows(".js-plotly-plot .barlayer .point path")
    walk.step("The sample broker is open: one row per topic-partition, its segments to scale")
    click_a_bar(walk.page)
    walk.titled("from offset")
    drawing = walk.shows(".detail svg")
    walk.step("A bar of the map opens its segment: three files on one axis")
    box = drawing.bounding_box()
    before = walk.page.locator(".say").inner_text()
    # another entry, in the lane of the .index
    walk.page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + 108 + 17)
    walk.page.wait_for_url("**pin=**")
    assert "points here" in walk.shows(".say").inner_text() != before
    walk.step("An index entry is clicked: its batch, and the sentence that says how")
    walk.presses("Batches", "tab")
    walk.shows("tr.on")
    walk.step("Its batch, in the table of all")
    walk.presses("Bytes", "tab")
    walk.shows(".mean", "in the file")
    walk.step("Its bytes, each field named", at=walk.shows(".hex"))


def test_from_a_timestamp_to_a_record(walk):
    walk.titled("37 topic-partitions")
    walk.to("Lookup")
    walk.titled("Lookup")
    walk.presses("heartbeat-0", "radio")
    walk.page.wait_for_url(lambda url: "set=pages" not in url)
    walk.presses("Timestamp", "radio")
    walk.page.wait_for_url("**by=timestamp**")
    walk.presses("Step by step", "tab")
    walk.page.locator("button.first").click()  # the steps open on the first probe
    walk.shows(".say", "largest timestamp")
    walk.step("A timestamp: which segment is searched, and why")
    walk.page.locator(".next").click()
    walk.page.locator(".next").click()
    walk.step("The time index, probe by probe")
    walk.page.locator(".last").click()
    walk.shows(".say", "that is the answer")
    walk.shows(".rec .hit")
    walk.step("The record: the first one that is not older")
    walk.shows(".kv-tbl", "Searched or skipped")
    walk.step("Why no other segment, entry or record")
    walk.presses("in segment", "link")
    walk.titled("from offset")
    walk.shows(".detail svg")
    walk.shows("tr.on")
    walk.step("The batch of that record, in its files")
    assert "/segment" in walk.page.url and "pin=" in walk.page.url


def test_from_the_broker_to_a_report(walk):
    walk.titled("37 topic-partitions")
    walk.page.get_by_role("link", name="Tune", exact=True).click()
    walk.titled("Tuning")
    walk.presses("Index", "tab")
    walk.sees("Topic by topic, the densest index first")
    walk.shows(".js-plotly-plot .main-svg")
    walk.step("The whole broker, by its third door")
    walk.shows(".st-key-kv_topics tbody tr")
    walk.step("Topic by topic, the densest index first")
    box = walk.page.get_by_role("combobox", name="Open a topic")
    box.scroll_into_view_if_needed()
    box.click()
    topic = walk.page.get_by_role("option").first
    densest = topic.inner_text()
    topic.click()
    walk.page.wait_for_url(f"**tp={densest}-**")
    walk.shows(".kv-verdict h2")
    walk.step("One topic: the verdict, and what it rests on")
    with walk.page.expect_download(timeout=PATIENCE_MS) as waited:
        walk.presses("Report")
    page = waited.value.path().read_text(encoding="utf-8")
    assert waited.value.suggested_filename.endswith(".html") and densest in page
    walk.step("The report is one file, to hand on")


def test_from_damage_to_rebuilt_indexes(walk):
    walk.titled("37 topic-partitions")
    walk.opens("kafka-4.3.1-damaged")
    walk.to("Health")
    walk.shows(".item")
    walk.step("A damaged directory: the verdict on its next start, and every finding")
    walk.page.locator(".item", has_text="bookings-0 858.index").click()
    walk.shows(".hex-dump .bad")
    walk.step("One finding: the bytes that show it, what Kafka does with them, a safe next step")
    walk.page.locator(".det a.onward").click()
    walk.shows(".hex .h.on")
    walk.step("The same bytes in their file")
    walk.page.go_back()
    walk.shows(".item")
    walk.shows(".doing tbody tr")
    walk.step("What the next start will do, file by file")
    walk.page.get_by_text("Rebuilt indexes").click()
    walk.presses("Build them")
    walk.shows(".kv-tbl tr", "00000000000000000858.index")
    walk.step("The indexes that recovery would build, beside those on disk")
    with walk.page.expect_download(timeout=PATIENCE_MS) as waited:
        walk.presses("Download the indexes")
    assert waited.value.suggested_filename == "bookings-0-rebuilt.tar.gz"
    assert waited.value.path().stat().st_size > 100


def test_from_a_full_disk_to_retention(walk):
    walk.titled("37 topic-partitions")
    walk.to("Disk")
    walk.titled("Disk")
    walk.shows(".kv-disk .disk-records")
    walk.step("A full disk: the space of each topic by use, to scale")
    walk.shows(".st-key-kv_freeing_csv")
    with walk.page.expect_download(timeout=PATIENCE_MS) as waited:
        walk.presses("CSV of all paths")
    rows = waited.value.path().read_text(encoding="utf-8").splitlines()
    assert all(row.startswith("waiting-for-deletion,") for row in rows[1:])
    walk.step("What may be deleted while the broker is stopped, in this order")
    walk.presses("Retention", "tab")
    walk.sees("would delete 72 of 90 segments")
    walk.step("What the next pass of retention deletes by itself")
    walk.presses("Compaction", "tab")
    walk.page.wait_for_url("**tab=Compaction**")
    walk.step("What the cleaner would remove")


def test_from_a_simulation_to_its_directory(walk):
    walk.titled("37 topic-partitions")
    walk.to("Rolls")
    walk.titled("Rolls")
    walk.sees("16 rolls: 5 by size, 3 by time, 8 by time index")
    walk.shows(".js-plotly-plot .main-svg")
    walk.step("A simulated log, and what closed each segment")
    walk.presses("Append by append", "tab")
    walk.shows(".st-key-growth")
    walk.page.locator(".next").click()
    walk.page.locator(".next").click()
    walk.shows(".say")
    walk.step("Append by append: when an entry is written")
    walk.presses("Chart", "tab")
    slider = walk.page.get_by_role("slider", name="segment.ms")
    slider.scroll_into_view_if_needed()
    slider.press("ArrowLeft")
    walk.sees("segment.ms 1 min → 30 s").scroll_into_view_if_needed()
    walk.step("Another setting: before and after")
    walk.presses("Open the result")
    walk.titled("Simulated: 1 topic-partition")
    assert ".tar.gz" in walk.page.url
    walk.step("The result, open like any directory")
    click_a_bar(walk.page)
    walk.titled("from offset")
    walk.shows(".detail svg")
    walk.step("One of its segments, down to the bytes")
    assert "/segment" in walk.page.url and "tp=day-0" in walk.page.url
    walk.page.reload()
    walk.titled("from offset")
