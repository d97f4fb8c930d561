"""The findings in a real browser: choosing by click and by key, the address, the bytes; no error in the console."""

import pytest

from tests import test_browser

sync_api = test_browser.sync_api
pytestmark = test_browser.pytestmark
server, browser, page = test_browser.server, test_browser.browser, test_browser.page  # fixtures; a server and a Chromium of this module


@pytest.fixture
def findings(page: "sync_api.Page", server: str, damaged) -> "sync_api.Page":
    """The page of the damaged broker, its findings drawn."""
    page.goto(f"{server}/health?dir={damaged}")
    page.locator(".fi").first.wait_for(timeout=90_000)
    return page


def chosen(page: "sync_api.Page") -> str:
    """The title of the chosen finding."""
    return page.locator('.fi[aria-selected="true"] .t').inner_text()


def test_chosen_by_click_by_key_and_by_the_address(findings):
    """The detail follows, and a reload brings it back."""
    rows = findings.locator(".fi")
    count = rows.count()
    assert count > 10 and chosen(findings) == rows.nth(0).locator(".t").inner_text()
    rows.nth(2).click()
    third = chosen(findings)
    assert findings.locator(".det h3").inner_text() == third
    findings.locator(".fl").press("ArrowDown")
    fourth = chosen(findings)
    assert fourth != third and findings.locator(".det h3").inner_text() == fourth
    findings.reload()
    findings.locator(".fi").first.wait_for(timeout=90_000)
    assert chosen(findings) == fourth


def test_the_bytes_of_a_wrong_entry_are_marked(findings):
    """Eight bytes of the .index, in the colour of what is wrong."""
    findings.locator(".fi", has_text="bookings-0 858.index").click()
    assert findings.locator(".hx .bad").count() == 8
    assert findings.locator(".hx .b").count() == 128


def test_only_errors(findings):
    """The list is shorter, and the address says so."""
    before = findings.locator(".fi").count()
    findings.locator(".chip", has_text="Errors").click()
    assert 0 < findings.locator(".fi").count() < before
    assert "severity=error" in findings.url
    assert findings.locator(".verdict h2").inner_text().startswith("This broker will start")
