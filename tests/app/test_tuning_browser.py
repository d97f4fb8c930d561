"""The Tuning page in a real browser: from the Broker page to a recommendation, by mouse and by key."""

import pytest

from tests.journeys.walk import SETTLED
from tests.support.browser import heading

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
    page.get_by_text("Topic by topic, the densest index first").wait_for()
    page.get_by_role("tab", name="Batches").click()
    page.get_by_text("Topics, the largest saving first").wait_for()
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


FIGURES = (".st-key-kv_fig_headers", ".st-key-kv_fig_index_size")
VISIBLE_SHARE = """selector => {
  const box = document.querySelector(selector).getBoundingClientRect();
  const seen = (low, high, end) => Math.max(0, Math.min(high, end) - Math.max(low, 0));
  return seen(box.left, box.right, innerWidth) * seen(box.top, box.bottom, innerHeight)
    / (box.width * box.height);
}"""


@pytest.mark.parametrize(
    ("partition", "answer"),
    [
        ("payments-0", "MiB|2048"),
        ("tiny-index-0", "MiB|2048"),  # the longest answer and titles
        pytest.param("heartbeat-0", "p99", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_curves_are_on_the_first_screen(server, page, partition, answer, language):
    """At least four fifths of each, next to each other, below the answer and both settings."""
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server}/tuning?tp={partition}&lang={language}")
    drawn(page, 2)
    # the answer is complete, and may have two lines
    page.wait_for_function(f"/{answer}/.test(document.querySelector('.kv-hd p')?.innerText)")
    page.locator(SETTLED).wait_for()
    assert page.evaluate("scrollY") == 0
    for part in FIGURES:
        for selector in (part, f"{part} .js-plotly-plot"):
            assert page.evaluate(VISIBLE_SHARE, selector) >= 0.8
    tops = [page.locator(selector).bounding_box()["y"] for selector in FIGURES]
    assert tops[0] == tops[1]


def test_both_curves_have_one_interval(server, page):
    """The slider moves the mark of one figure, and the other is drawn for the same interval."""
    page.goto(f"{server}/tuning?tp=payments-0&consider=1024&if_room=64+B")
    page.get_by_text("and 2.3 headers at 1 KiB").wait_for()
    page.get_by_text("The curve is for an interval of 1 KiB (today 4 KiB). At 64 B: ").wait_for()
    page.get_by_role("slider", name="index.interval.bytes").press("ArrowRight")
    page.get_by_text("The curve is for an interval of 1.26 KiB (today 4 KiB). At 64 B: ").wait_for()
    page.get_by_role("slider", name="segment.index.bytes").press("End")
    page.get_by_text("and the same number of rolls").wait_for()
    page.wait_for_url("**if_room=64+MiB**")
    assert fits(page)


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
    page.get_by_text("Workload “Heartbeats”: ").wait_for()
    assert fits(page)


def test_budgets_and_other_settings(server, page):
    """A budget is a choice in the address; a smaller index is simulated."""
    page.goto(f"{server}/tuning?tp=payments-0&p99=10+µs+warm")
    page.get_by_text("at worst 22 µs (modelled), above the budget of 10 µs").first.wait_for()
    page.get_by_role("slider", name="segment.index.bytes").press("Home")
    page.get_by_text("Rolls by time index").wait_for()
    page.get_by_text("Limit for the index, storage, release").click()
    choose(page, "Cold reads go to", "hdd")
    page.wait_for_url("**storage=hdd**")
    page.get_by_text("from hdd on average").wait_for(state="attached")
    assert fits(page)
