"""The Tuning page in a real browser: from the Broker page to a recommendation, by mouse and by key."""

import pytest

from tests.journeys.walk import SETTLED
from tests.support.browser import heading, rests_on_first_screen

pytestmark = pytest.mark.browser
T = "\u202f"


def drawn(page, count: int) -> None:
    page.locator(".js-plotly-plot .main-svg").nth(3 * count - 3).wait_for(state="attached")


def choose(page, label: str, option: str) -> None:
    """Chooses an option of a list, which a scrolling page would close again."""
    box = page.get_by_role("combobox", name=label)
    box.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option, exact=True).click()


def fits(page) -> bool:
    return (
        page.evaluate("document.documentElement.scrollWidth") <= 1280
        and page.locator("[data-testid=stException]").count() == 0
    )


@pytest.mark.nightly
def test_from_the_broker_to_a_recommendation(server, page):
    """All topics, the densest first; one of them, its answer, and its numbers as a download."""
    page.goto(server)
    heading(page, "37 topic-partitions")
    page.get_by_role("link", name="Tune", exact=True).click()
    heading(page, "Tuning")
    page.get_by_text("Topic by topic, the most to save first").wait_for()
    page.get_by_role("tab", name="Index").click()
    page.get_by_text("Topic by topic, the densest index first").wait_for()
    assert "tune=Whole+broker" in page.url and page.locator(
        ".st-key-kv_topics tbody tr"
    ).first.inner_text().startswith("tiny-index")
    drawn(page, 1)
    choose(page, "Open a topic", "payments")
    page.get_by_role("heading", name=f"Keep 4{T}096").wait_for()
    page.wait_for_url("**tp=payments-0**")
    with page.expect_download() as waited:
        page.get_by_role("button", name="Report").click()
    assert waited.value.suggested_filename.endswith(".html") and fits(page)


@pytest.mark.parametrize(
    "partition", ["payments-0", pytest.param("heartbeat-0", marks=pytest.mark.nightly)]
)
def test_the_answer_is_on_the_first_screen(server, page, partition):
    """The recommendation, its price and the curve, at either size."""
    page.goto(f"{server}/tuning?tp={partition}&tab=Index")
    drawn(page, 1)
    for size in ({"width": 1280, "height": 720}, {"width": 1024, "height": 768}):
        page.set_viewport_size(size)
        page.wait_for_function(
            "width => document.querySelector('.js-plotly-plot .main-svg')"
            "?.getBoundingClientRect().right <= width",
            arg=size["width"],
        )
        page.locator(SETTLED).wait_for()
        assert rests_on_first_screen(
            page, ".kv-verdict", ".st-key-kv_price table", ".st-key-kv_fig_headers"
        )


def test_the_interval_by_key_and_by_a_click_on_the_curve(server, page):
    """The slider and a point of the curve consider another interval; Today goes back."""
    page.goto(f"{server}/tuning?tp=payments-0&tab=Index")
    page.get_by_text("A lookup reads 3.7 headers at 4 KiB, and 9.0 headers at 16 KiB").wait_for()
    drawn(page, 3)
    page.get_by_role("slider", name="index.interval.bytes").press("ArrowRight")
    page.get_by_text("headers at 20.2 KiB").wait_for()
    page.wait_for_url("**consider=20643**")
    page.reload()
    page.get_by_text("headers at 20.2 KiB").wait_for()
    drawn(page, 3)
    page.locator(SETTLED).wait_for()
    plot = page.locator(".st-key-kv_fig_headers .nsewdrag").first.bounding_box()
    page.mouse.move(
        plot["x"] + plot["width"] * 10 / 16, plot["y"] + plot["height"] / 2
    )  # 64 B is 2^6, 4 MiB 2^22: 64 KiB is ten of sixteen
    page.locator(".hoverlayer .hovertext").first.wait_for()
    page.mouse.down()
    page.mouse.up()
    page.get_by_text("A lookup reads 3.7 headers at 4 KiB, and 29.9 headers at 64 KiB").wait_for()
    page.get_by_role("button", name="Today").click()
    page.wait_for_url("**consider=4096**")
    assert fits(page)


@pytest.mark.nightly
def test_another_topic_partition_and_a_workload(server, page):
    """Each has its own answer, also in the dark theme."""
    page.emulate_media(color_scheme="dark")
    page.goto(f"{server}/tuning?tp=payments-0&tab=Index")
    page.get_by_role("radio", name="heartbeat-0").click()
    page.get_by_role("heading", name="Keep 4\u202f096").wait_for()
    page.wait_for_url("**tp=heartbeat-0**")
    # the one before is gone
    page.wait_for_function(
        "document.querySelectorAll('.st-key-kv_tune_set [role=radiogroup]').length === 1"
    )
    page.get_by_role("radio", name="Workload").click()
    page.get_by_text("the workload “Heartbeats”").wait_for()
    page.get_by_text("A workload, written and measured").wait_for()
    assert fits(page)


def test_budgets_and_other_settings(server, page):
    """A budget is a choice in the address; a smaller index is simulated."""
    page.goto(f"{server}/tuning?tp=payments-0&p99=10+µs+warm")
    page.get_by_text("Over its budget: the p99 lookup").wait_for()
    page.get_by_role("slider", name="segment.index.bytes").press("Home")
    page.get_by_text("Rolls by time index").wait_for()
    page.get_by_text("Limit for the index, storage, release").click()
    choose(page, "Cold reads go to", "hdd")
    page.wait_for_url("**storage=hdd**")
    page.get_by_text("A read from hdd costs").wait_for()
    assert fits(page)
