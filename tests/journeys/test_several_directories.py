"""Several log directories of one broker, by clicks: three with the metadata log, and two without
it, in both languages.
"""

from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from tests.journeys.walk import Walk
from tests.support.browser import click_a_bar, watched

pytestmark = pytest.mark.browser
PATIENCE_MS = 60_000
BARS = ".js-plotly-plot .barlayer .point path"
WORDS = {
    "en": {
        "title": "in {} log directories",
        "Health": "Health",
        "Tuning": "Tuning",
        "starts": "This broker will start. It will ",
        "partial": "Nothing in the files read here stops this broker from starting. It will ",
        "unread": "other log directories were not read",
        "unknown": "the metadata log is not in an opened log directory",
        "finding": "A transaction is open",
        "link": "Show the transactions",
    },
    "zh": {
        "title": "分布在 {} 个日志目录",
        "Health": "健康检查",
        "Tuning": "调优",
        "starts": "这个 broker 能够启动",
        "partial": "已读的文件不会阻止这个 broker 启动",
        "unread": "该 broker 的其他日志目录没有读取",
        "unknown": "元数据日志不在已打开的日志目录中",
        "finding": "有一个事务尚未结束",
        "link": "查看事务",
    },
}
THREE, TWO = ("disk-a", "disk-b", "disk-c"), ("disk-b", "disk-c")


def address(walk: Walk) -> dict[str, list[str]]:
    """Returns the parameters of the address, with the names of its log directories."""
    parameters = parse_qs(urlsplit(walk.page.url).query)
    return parameters | {"dir": [Path(path).name for path in parameters["dir"]]}


@pytest.mark.parametrize(
    ("language", "names", "width", "theme"),
    [
        ("en", THREE, 1280, "light"),
        ("zh", TWO, 1024, "dark"),
        pytest.param("zh", THREE, 1024, "light", marks=pytest.mark.nightly),
        pytest.param("en", TWO, 1280, "dark", marks=pytest.mark.nightly),
    ],
)
def test_from_the_map_to_the_next_start(browser, server, disks, language, names, width, theme):
    """Each page has all of them in its address, and names the unknown values."""
    words, is_whole = WORDS[language], "disk-a" in names
    with watched(browser, width, theme) as page:
        page.set_default_timeout(PATIENCE_MS)
        walk = Walk(page, "")
        query = "&".join(f"dir={quote(str(disks / name))}" for name in names)
        page.goto(f"{server}/?{query}&lang={language}")
        walk.titled(words["title"].format(len(names)))
        walk.shows(BARS)
        for name in names:
            walk.shows(".js-plotly-plot .annotation-text", name)
        walk.step("The map has a group for each log directory")
        page.locator(BARS).first.evaluate("bar => bar.scrollIntoView({ block: 'center' })")
        click_a_bar(page)
        walk.shows(".detail svg")
        assert address(walk)["dir"] == list(names)
        assert (page.get_by_text(words["unknown"]).count() == 0) == is_whole
        walk.shows(".st-key-kv_pick_tp button:visible", "disk-")
        walk.step("A segment: what keeps it is known with the metadata log alone")
        walk.to(words["Health"])
        verdict = walk.shows(".verdict h2").inner_text()
        assert verdict.startswith(words["starts" if is_whole else "partial"])
        assert (page.get_by_text(words["unread"]).count() == 0) == is_whole
        walk.shows(".item", "disk-b")
        assert address(walk)["dir"] == list(names)
        walk.step("The next start of all that was opened")
        if is_whole:
            walk.sees(words["finding"]).click()
            walk.presses(words["link"], "link")
            walk.shows(".st-key-kv_fig_transactions .js-plotly-plot")
            assert address(walk)["tp"] == ["disk-a/payments-0"]
            walk.step("The transactions of a finding")
        walk.to(words["Tuning"])
        walk.shows(".kv-verdict h2")
        assert address(walk)["dir"] == list(names)
        walk.step("The answer")
