"""Several log directories of one broker, by clicks: every step keeps all of them."""

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.support.browser import click_a_bar

PATIENCE_MS = 30_000
NAMES = ("disk-a", "disk-b", "disk-c")
pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize(
    ("language", "names", "title", "health", "finding", "link"),
    [
        (
            "en",
            NAMES,
            "in 3 log directories",
            "Health",
            "A transaction is open",
            "Show the transactions",
        ),
        ("zh", NAMES[:2], "分布在 2 个日志目录", "健康检查", "有一个事务尚未结束", "查看事务"),
    ],
)
def test_from_the_map_to_a_finding(
    page, server, disks, language, names, title, health, finding, link
):
    """The map has one group per directory; a bar, Health and the transactions of a finding follow."""
    page.set_default_timeout(PATIENCE_MS)
    directories = [str(disks / name) for name in names]
    query = urlencode([*(("dir", directory) for directory in directories), ("lang", language)])

    def opened() -> dict[str, list[str]]:
        parameters = parse_qs(urlsplit(page.url).query)
        assert parameters["dir"] == directories
        return parameters

    page.goto(f"{server}/?{query}")
    page.get_by_role("heading", level=1).filter(has_text=title).wait_for()
    for name in names:
        page.locator(".js-plotly-plot .annotation-text", has_text=name).first.wait_for()
    click_a_bar(page)
    page.wait_for_url("**/segment?**")
    page.locator(".st-key-kv_pick_tp button", has_text="disk-").first.wait_for()
    opened()
    page.get_by_role("link", name=health).click()
    page.get_by_role("heading", level=1, name=health).wait_for()
    opened()
    page.get_by_text(finding).first.click()
    page.get_by_role("link", name=link).first.click()
    page.wait_for_url("**/segment?**tp=disk-a**")
    page.locator(".st-key-kv_fig_transactions .js-plotly-plot").first.wait_for()
    assert opened()["tp"] == ["disk-a/payments-0"]
