"""Toolbars fit on one line at 1024 px, and numbers stay with their unit, in a real browser."""

import re

import pytest

from tests.support.browser import sync_api, watched

pytestmark = pytest.mark.browser
expect = sync_api.expect


@pytest.mark.parametrize(
    ("address", "tools"),
    [
        (
            "health?lang=zh",
            (
                ".st-key-kv_release",
                ".st-key-kv_check_again",
                ".st-key-kv_json",
                ".st-key-kv_report",
            ),
        ),
        (
            "workshop?lesson=last-offset&at=2&lang=en",
            tuple(f".st-key-kv_progress > :nth-child({number})" for number in (1, 2, 3, 4)),
        ),
    ],
)
def test_tools_stand_on_one_line(browser, server, address, tools):
    with watched(browser) as page:
        page.set_viewport_size({"width": 1024, "height": 768})
        page.goto(f"{server}/{address}")
        for tool in tools:
            expect(page.locator(tool).first).to_contain_text(re.compile(r"\w"))
        boxes = [page.locator(tool).first.bounding_box() for tool in tools]
        middles = [box["y"] + box["height"] / 2 for box in boxes]
        assert max(middles) - min(middles) < 8
        assert max(box["x"] + box["width"] for box in boxes) <= 1024
