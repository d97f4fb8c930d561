"""The language follows its reader in a real browser, and no move takes two steps of the history."""

import pytest

from tests.support.browser import click_a_bar, heading, watched

pytestmark = pytest.mark.browser
TITLE, PAYMENTS = "37 个主题分区", "payments-0"


@pytest.fixture
def page(browser):
    """A page whose clipboard may be read; the test fails if the console shows an error."""
    with watched(browser) as opened:
        opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield opened


def at_rest(page) -> None:
    """Waits until the page is drawn in Chinese: its words, its address and its lang."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.wait_for_function(
        "document.documentElement.lang === 'zh' && new URL(location).searchParams.get('lang') === "
        "'zh'"
    )
    page.locator(".st-key-kv_nav a", has_text="课堂").wait_for()


def steps(page) -> int:
    return page.evaluate("history.length")


@pytest.mark.nightly
def test_every_way_on_speaks_chinese(server, page):
    """The sidebar, the map, a breadcrumb, Go to and a key are one step each."""
    page.goto(server)
    heading(page, "37 topic-partitions")
    before = steps(page)
    page.get_by_role("button", name="中文").click()
    heading(page, TITLE)
    at_rest(page)
    assert steps(page) == before  # another language does not change the place
    ways = [
        (lambda: click_a_bar(page), "/segment"),
        (lambda: page.keyboard.press("]"), "/segment"),
        (lambda: page.locator(".st-key-kv_nav a", has_text="健康检查").click(), "/health"),
        (lambda: page.locator(".st-key-kv_nav a", has_text="Broker").click(), "/"),
        (lambda: go_to(page, PAYMENTS), "/segment"),
        (lambda: page.locator(".st-key-kv_nav a", has_text="Broker").click(), "/"),
    ]
    addresses = [page.url]
    for number, (go, path) in enumerate(ways, 1):
        go()
        page.wait_for_function(
            "([before, path]) => location.href !== before && location.pathname === path",
            arg=[addresses[-1], path],
        )
        page.wait_for_timeout(600)  # a second step of the same move would come now
        at_rest(page)
        assert steps(page) == before + number, (number, page.url)
        addresses.append(page.url)
    for url in reversed(addresses[:-1]):
        page.go_back()
        page.wait_for_url(url)
        page.wait_for_timeout(600)
        at_rest(page)
    page.go_forward()
    page.wait_for_url(addresses[1])


def go_to(page, typed: str) -> None:
    """By K and the first match of that name."""
    page.keyboard.press("k")
    field = page.get_by_role("dialog").locator("input")
    field.fill(typed)
    page.locator(".st-key-kv_found a", has_text=typed).first.wait_for()
    field.press("Enter")


def test_a_crumb_speaks_chinese(server, page):
    page.goto(f"{server}/segment?tp=payments-0&segment=7975&lang=zh")
    page.locator(".detail svg").wait_for()
    before = steps(page)
    page.locator(".st-key-kv_pick_tp button:visible").first.click()
    page.get_by_role("menuitem", name="orders-0", exact=True).or_(
        page.get_by_role("option", name="orders-0", exact=True)
    ).first.click()
    page.wait_for_url("**tp=orders-0**")
    at_rest(page)
    assert steps(page) == before + 1


def test_a_reload_and_a_copied_link_speak_chinese(server, page, browser):
    page.goto(f"{server}/segment?tp=payments-0&segment=7975&pin=11612&lang=zh")
    at_rest(page)
    page.reload()
    at_rest(page)
    page.get_by_role("button", name="复制链接").click()
    page.get_by_role("button", name="已复制").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    with watched(browser) as other:
        other.goto(link)
        at_rest(other)
        assert "pin=11612" in other.url


@pytest.mark.nightly
def test_back_to_english_stays_english(server, page):
    """Neither earlier pages nor their addresses lead back to Chinese."""
    page.goto(f"{server}/?lang=zh")
    heading(page, TITLE)
    page.locator(".st-key-kv_nav a", has_text="健康检查").click()
    page.wait_for_url("**/health?**")
    at_rest(page)
    page.get_by_role("button", name="English").click()
    heading(page, "Health")
    page.go_back()
    heading(page, "37 topic-partitions")
    page.wait_for_function(
        "document.documentElement.lang === 'en' && !location.search.includes('lang')"
    )
    page.go_forward()
    heading(page, "Health")
    assert "lang" not in page.url and page.get_by_role("button", name="中文").is_visible()
