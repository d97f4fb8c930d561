"""The app in a real Chromium with a real server: clicks, and any error in the console fails."""

import itertools
import shutil

import pytest

from kafkaviz.log.broker import open_broker
from kafkaviz.messages import text_in
from tests.support.brokers import copy_partitions
from tests.support.browser import (
    SETTLED,
    SPARK_PATIENCE_MS,
    click_a_bar,
    heading,
    sync_api,
    watched,
)
from tests.support.ingest import ingest_for_app

pytestmark = pytest.mark.browser
FIRST_ROW = """document.querySelector('.js-plotly-plot .annotation')?.textContent
  === '__cluster_metadata-0'"""


def test_sparks_numbers_arrive(server, page, clean, tmp_path):
    """The dashes of a new broker become the counts of Kafka's dump, and a click works meanwhile."""
    shutil.copytree(clean, tmp_path / "kafka")
    page.goto(f"{server}/?dir={tmp_path / 'kafka'}")
    heading(page, "37 topic-partitions")
    page.locator(".js-plotly-plot .main-svg").first.wait_for(state="attached")
    page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
    assert page.get_by_text("stopped cleanly").is_visible()
    assert page.get_by_text("4.3 or later").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.locator("[data-testid=stException]").count() == 0
    page.get_by_text("By name", exact=True).click()
    counts = page.get_by_text("54\u202f917 batches, 261\u202f296 records")
    counts.wait_for(timeout=SPARK_PATIENCE_MS)
    assert page.locator(".kv-metrics.owed").count() == 0
    assert page.get_by_text("read in full, nothing was changed").is_visible()
    # it is announced after the numbers, which may come with the same run
    page.wait_for_url("**order=By+name**")
    assert page.get_by_role("radio", name="By name").is_checked()


@pytest.mark.nightly
def test_the_broker_on_paper(server, page):
    """Every row of the table, none beyond the edge, and no button."""
    page.goto(server)
    heading(page, "37 topic-partitions")
    rows = page.locator(".st-key-kv_paper_rows tbody tr")
    rows.last.wait_for(state="attached")
    assert rows.count() == 37 and not rows.first.is_visible()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1040})
    rows.last.wait_for()
    assert not page.locator(".st-key-kv_top").is_visible()
    assert not page.locator("[data-testid=stSidebar]").is_visible()
    assert [
        button.inner_text()
        for button in page.locator("[data-testid=stMain]").get_by_role("button").all()
        if button.is_visible()
    ] == []
    box = page.locator(".st-key-kv_paper_rows table").bounding_box()
    edge = page.locator(".st-key-kv_fig_map").bounding_box()
    assert box["x"] + box["width"] <= edge["x"] + edge["width"] + 1


INK = """() => [...document.querySelectorAll('h1, .kv-figt, .kv-d, [data-testid=stExpander] summary, [data-testid=stButtonGroup] button')]
  .filter(one => one.checkVisibility()).map(one => getComputedStyle(one).color.match(/[0-9.]+/g).slice(0, 3).map(Number))"""


@pytest.mark.parametrize("path", ["", pytest.param("/tuning", marks=pytest.mark.nightly)])
def test_a_dark_page_on_paper_is_light(server, browser, path):
    """Printers leave backgrounds out, so words and charts are dark."""
    with watched(browser, theme="dark") as page:
        page.goto(f"{server}{path}")
        page.locator(".js-plotly-plot .main-svg").first.wait_for(state="attached")
        page.locator(".kv-figt").first.wait_for()
        page.emulate_media(media="print", color_scheme="dark")
        chart = page.locator(".stPlotlyChart").first.evaluate("one => getComputedStyle(one).filter")
        inks = page.evaluate(INK)
        ground = page.locator(".stApp").evaluate("one => getComputedStyle(one).backgroundColor")
        page.emulate_media(media="screen", color_scheme="dark")
        color = page.locator("h1").first.evaluate("one => getComputedStyle(one).color")
    assert ground == "rgb(255, 255, 255)" and chart == "invert(1) hue-rotate(180deg)"
    assert len(inks) > 3 and max(sum(ink) for ink in inks) < 420, inks
    assert color == "rgb(232, 236, 242)"


@pytest.mark.nightly
def test_a_pinned_batch_comes_back_with_its_link(server, page):
    """A key moves on, and the new address restores that."""
    page.goto(f"{server}/segment?tp=payments-0&segment=7975&pin=11612")
    heading(page, "payments-0")
    page.get_by_text("Batch 11\u202f612–11\u202f625", exact=True).wait_for()
    page.get_by_role("img", name="entr").first.wait_for()
    assert page.locator("tr.on").first.inner_text().startswith("479\u202f997\t1\u202f861")
    page.locator(".detail").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Batch 11\u202f626–11\u202f627", exact=True).wait_for()
    page.wait_for_url("**pin=11626**")
    page.reload()
    page.get_by_text("Batch 11\u202f626–11\u202f627", exact=True).wait_for()


def test_dark_and_back(server, page):
    """The button turns every page dark, also after a reload."""
    page.goto(f"{server}/segment?tp=payments-0&segment=7975")
    heading(page, "payments-0")
    app = page.locator(".stApp")
    sync_api.expect(app).to_have_css("color-scheme", "light")
    page.get_by_role("button", name="Light or dark").click()
    sync_api.expect(app).to_have_css("color-scheme", "dark")
    page.goto(server)
    heading(page, "37 topic-partitions")
    sync_api.expect(app).to_have_css("background-color", "rgb(15, 19, 24)")


@pytest.mark.nightly
def test_a_segment_is_found_again_from_health(server, page):
    """By the sidebar, there and back: the same topic-partition, segment and pin."""
    page.goto(f"{server}/segment?tp=payments-0&segment=7975&pin=11612")
    page.get_by_text("Batch 11\u202f612–11\u202f625", exact=True).wait_for()
    page.locator(".st-key-kv_nav a", has_text="Health").click()
    heading(page, "Health")
    page.locator(".st-key-kv_nav a", has_text="Segment").click()
    page.get_by_text("Batch 11\u202f612–11\u202f625", exact=True).wait_for()
    assert "tp=payments-0" in page.url and "segment=7975" in page.url and "pin=11612" in page.url


@pytest.mark.parametrize(
    ("language", "last"), [("en", "Go to"), pytest.param("zh", "前往", marks=pytest.mark.nightly)]
)
def test_the_bar_has_room_for_a_long_name(server, page, clean, tmp_path, language, last):
    """Copy link and Go to stay inside at 1280 px, also with the name of a deleted topic."""
    broker = tmp_path / "a-long-path-to-the-directory-of-a-broker"
    broker.mkdir()
    (broker / "meta.properties").write_text("version=1\n")
    name = "a-topic-that-was-obsolete-2019-0.d9e2420e43c24fe7bcf8a819bf93d888-delete"
    shutil.copytree(open_broker(clean).partition("payments-0").path, broker / name)
    page.goto(f"{server}/segment?dir={broker}&tp={name}&segment=7975&lang={language}")
    page.locator(".detail svg").wait_for()
    selector = ".st-key-kv_top button:visible"
    page.locator(selector, has_text=last).wait_for()
    boxes = sorted(
        (button.bounding_box() for button in page.locator(selector).all()), key=lambda box: box["x"]
    )
    assert len(boxes) >= 5 and boxes[-1]["x"] + boxes[-1]["width"] <= 1280 - 16, boxes
    assert all(box["x"] + box["width"] <= after["x"] for box, after in itertools.pairwise(boxes)), (
        boxes
    )
    assert page.get_by_text("…-delete").first.is_visible()
    assert page.get_by_text(text_in(language, "common.kind_deleted"), exact=True).first.is_visible()


@pytest.mark.parametrize("how", ["Enter", pytest.param("Open", marks=pytest.mark.nightly)])
def test_back_leaves_a_wrong_path(server, page, tmp_path, how):
    """It returns to the directory that was open before and stays there."""
    page.goto(server)
    heading(page, "37 topic-partitions")
    field = page.locator(".st-key-kv_path input")
    field.fill(str(tmp_path / "missing"))
    if how == "Enter":
        field.press("Enter")
    else:
        page.locator(".st-key-kv_open button").click()
    page.get_by_text("is not there").first.wait_for()
    assert page.locator("[data-testid=stException]").count() == 0
    page.go_back()
    heading(page, "37 topic-partitions")
    page.wait_for_timeout(500)  # a browser sends again what was typed in the field
    page.locator(SETTLED).wait_for()
    heading(page, "37 topic-partitions")
    assert "missing" not in page.url
    assert not field.input_value().endswith("missing")


def test_a_click_counts_although_the_map_has_changed(server, server_cache, page, clean, tmp_path):
    """The catalog is gone when the click arrives, and the map that this run draws is another."""
    broker = copy_partitions(clean, tmp_path / "kafka", ["orders-0"])
    catalog = ingest_for_app(broker, server_cache)
    page.goto(f"{server}/?dir={broker}")
    page.get_by_text("read in full, nothing was changed").wait_for()
    shutil.rmtree(catalog)
    click_a_bar(page)
    page.wait_for_url("**/segment?**")
    assert "segment=" in page.url


def test_back_leads_to_the_map_as_it_was(server, page):
    """From the map and from the table: one step back, with the chosen order, and forward again."""
    page.goto(server)
    page.get_by_text("By name", exact=True).click()
    page.wait_for_url("**order=By+name")
    page.wait_for_function(FIRST_ROW)
    before = page.url
    steps = page.evaluate("history.length")
    click_a_bar(page)
    page.wait_for_url("**/segment?**")
    heading(page, "accounts-0")
    assert "tp=accounts-0" in page.url and "segment=" in page.url
    assert page.evaluate("history.length") == steps + 1
    page.go_back()
    heading(page, "37 topic-partitions")
    assert page.url == before
    page.wait_for_function(FIRST_ROW)
    assert page.get_by_role("radio", name="By name").is_checked()
    page.go_forward()
    heading(page, "accounts-0")


@pytest.mark.nightly
def test_back_stops_at_each_segment_that_was_seen(server, page):
    """From the second segment to the broker, and back to the second segment."""
    page.goto(f"{server}/segment?tp=payments-0&segment=7975")
    page.locator(".detail svg").wait_for()
    page.keyboard.press("]")
    heading(page, "from offset 15\u202f904")
    page.locator(".detail svg").wait_for()
    page.locator(".st-key-kv_nav a", has_text="Broker").click()
    heading(page, "37 topic-partitions")
    page.go_back()
    heading(page, "from offset 15\u202f904")
    page.go_back()
    heading(page, "from offset 7\u202f975")
    assert "/segment?" in page.url and "segment=7975" in page.url
