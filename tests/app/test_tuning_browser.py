"""The Tuning page in a real browser: its curves on the first screen, by mouse and by key."""

import pytest

from tests.journeys.walk import SETTLED

pytestmark = pytest.mark.browser
T = "\u202f"


def drawn(page, count: int) -> None:
    page.locator(".js-plotly-plot .main-svg").nth(3 * count - 3).wait_for(state="attached")


def fits(page) -> bool:
    return (
        page.evaluate("document.documentElement.scrollWidth") <= 1280
        and page.locator("[data-testid=stException]").count() == 0
    )


@pytest.mark.nightly
def test_the_batches_of_every_topic(server, page):
    page.goto(f"{server}/tuning?tune=Whole+broker&tab=Batches")
    page.get_by_text("Topics, the largest saving first").wait_for()
    assert fits(page)


FIGURES = (".st-key-kv_fig_headers", ".st-key-kv_fig_index_size")
VISIBLE_SHARE = """selector => {
  const box = document.querySelector(selector).getBoundingClientRect();
  const seen = (low, high, end) => Math.max(0, Math.min(high, end) - Math.max(low, 0));
  return seen(box.left, box.right, innerWidth) * seen(box.top, box.bottom, innerHeight)
    / (box.width * box.height);
}"""


@pytest.mark.parametrize(
    ("partition", "answer", "language"),
    [
        ("tiny-index-0", "MiB|2048", "en"),  # the longest answer and titles
        pytest.param("tiny-index-0", "MiB|2048", "zh", marks=pytest.mark.nightly),
        pytest.param("payments-0", "MiB|2048", "en", marks=pytest.mark.nightly),
        pytest.param("payments-0", "MiB|2048", "zh", marks=pytest.mark.nightly),
        pytest.param("heartbeat-0", "p99", "en", marks=pytest.mark.nightly),
        pytest.param("heartbeat-0", "p99", "zh", marks=pytest.mark.nightly),
    ],
)
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
