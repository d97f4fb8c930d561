"""The Page cache page in a real browser: sliders by key, the address, a rule typed in; no error in
the console, nothing clipped.
"""

import pytest

from tests.support.browser import heading

pytestmark = pytest.mark.browser


def test_sliders_and_the_rule_are_in_the_address(server, page):
    """By keyboard alone; a reload brings all of it back."""
    page.goto(f"{server}/page_cache")
    heading(page, "Page cache")
    page.get_by_text("8 faults while the index grows to 40 pages").wait_for()
    page.get_by_role("slider", name="A page goes cold after this much own log").press("ArrowLeft")
    page.get_by_text("20 faults while the index grows to 40 pages").wait_for()
    page.wait_for_url("**cold=8+MB**")
    page.get_by_role("slider", name="Entries").press("ArrowRight")
    page.get_by_text("At 6\u202f902 entries a plain tail lookup touches").wait_for()
    rule = page.get_by_label("Your rule")
    rule.fill("if slot = -1 then 0 else slot")
    rule.press("Enter")
    page.get_by_text("Wrong for 10 of 16 targets").wait_for()
    page.wait_for_url("**rule=**")
    page.reload()
    for words in (
        "20 faults while the index grows",
        "At 6\u202f902 entries a plain",
        "Wrong for 10 of 16 targets",
    ):
        page.get_by_text(words).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.locator("[data-testid=stException]").count() == 0


@pytest.mark.nightly
def test_all_settings_at_once_in_a_link(server, page):
    """1310720 entries, laggards, a real index's neighbour: drawn."""
    page.goto(f"{server}/page_cache?grow=2560+pages&laggards=1+%25&cold=4+MB&pattern=Bursty&n=7100")
    page.get_by_text("faults while the index grows to 2\u202f560 pages").first.wait_for()
    page.get_by_text(
        "At 7\u202f100 entries a plain tail lookup touches pages 0, 6, 10, 12, 13"
    ).wait_for()
    page.locator(".js-plotly-plot .main-svg").nth(8).wait_for(state="attached")
    assert page.get_by_role("radio", name="Bursty").is_checked()
