"""The Compare page in a real browser: the map, the switch of the leader, sides exchanged."""

from urllib.parse import urlencode

import pytest

from tests.conftest import REPLICAS
from tests.support.browser import heading

pytestmark = pytest.mark.browser
A, B = map(str, REPLICAS)


def test_a_partition_is_followed_from_the_map_to_the_byte(server, page):
    """The address restores each state, and nothing is clipped."""
    page.goto(f"{server}/compare?{urlencode({'dir': A})}")
    heading(page, "Compare")
    field = page.get_by_label("A second directory, partition or archive")
    field.fill(B)
    field.press("Enter")
    page.get_by_text("5 of 24 topic-partitions have diverged or are damaged").wait_for()
    page.locator(".st-key-kv_fig_compared .main-svg").first.wait_for(state="attached")
    page.goto(f"{server}/compare?{urlencode({'dir': A, 'with': B, 'tp': 'bids-0'})}")
    page.get_by_text("The logs diverge at offset 180").wait_for()
    page.get_by_role("radio", name="b leads").click()
    page.get_by_text("If b leads, a drops 70 records").wait_for()
    page.wait_for_url("**leader=b**")
    page.reload()
    page.get_by_text("If b leads, a drops 70 records").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.get_by_role("button", name="Swap a and b").click()
    page.get_by_text("5 of 24 topic-partitions have diverged or are damaged").wait_for()
    page.wait_for_function(
        "new URLSearchParams(location.search).get('dir')?.endsWith('replica-2.tar.gz')"
    )
    assert page.locator("[data-testid=stException]").count() == 0
