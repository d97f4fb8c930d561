import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.browser import SPARK_PATIENCE_MS, sync_api, watched

pytestmark = pytest.mark.browser


@pytest.fixture
def explore(page: "sync_api.Page", server: str) -> "sync_api.Page":
    page.goto(f"{server}/explore")
    answered(
        page,
        "5 topic-partitions roll segments less than half full; refunds-0 reaches < 0.01 % of "
        "Kafka’s default, since no file gives segment.bytes",
    )
    return page


def answered(page: "sync_api.Page", title: str) -> None:
    page.locator(".kv-figt", has_text=title).wait_for(timeout=SPARK_PATIENCE_MS)


def write(page: "sync_api.Page", text: str) -> None:
    page.get_by_role("textbox", name="SQL").fill(text)


def shows(page: "sync_api.Page", beginning: str) -> None:
    sync_api.expect(page.get_by_role("textbox", name="SQL")).to_have_value(
        re.compile(f"^{re.escape(beginning)}")
    )


def test_a_click_runs_a_question(explore):
    assert explore.locator("pre .k").first.inner_text() == "WITH"
    assert explore.evaluate("document.documentElement.scrollWidth") <= 1280
    explore.get_by_role("button", name="Where is the index densest?").click()
    answered(explore, "The indexes of tiny-index-0 hold 8.2 % of its log")
    sync_api.expect(explore.locator(".kv-tbl tbody tr")).to_have_count(8)
    assert "ask=densest" in explore.url
    shows(explore, "SELECT topic, partition,\n       sum(offset_entries)")
    explore.reload()
    answered(explore, "The indexes of tiny-index-0 hold 8.2 % of its log")
    explore.locator(".js-plotly-plot .main-svg").first.wait_for(state="attached")


def test_a_query_is_written_and_run_by_keys(explore):
    """Ctrl and Enter run it; the link restores it; Back leads to the query before."""
    write(
        explore,
        "SELECT codec, count(*) AS batches -- how many\nFROM batches\n"
        "GROUP BY codec ORDER BY batches DESC",
    )
    parts = [explore.locator(f"pre .{kind}").first.inner_text() for kind in "kfc"]
    assert parts == ["SELECT", "count", "-- how many"]
    explore.keyboard.press("Control+Enter")
    explore.locator(".kv-tbl th", has_text="codec").wait_for(timeout=SPARK_PATIENCE_MS)
    assert "sql=SELECT" in explore.url and explore.locator(".kv-tbl tbody tr").count() == 5
    explore.reload()
    explore.locator(".kv-tbl tbody tr").nth(4).wait_for()
    shows(explore, "SELECT codec, count(*) AS batches -- how many\n")
    explore.go_back()
    answered(explore, "5 topic-partitions roll segments less than half full")
    shows(explore, "WITH closed AS")


def test_the_rows_are_taken_along(explore):
    """The CSV is named after the broker and the question; Streamlit's own is not offered."""
    with explore.expect_download() as download:
        explore.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "kafka-4.3.1-clean-half-full.csv"
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    head = "topic partition roll_reason closed fill log_bytes segment_bytes by_default"
    assert lines[0] == ",".join(f'"{name}"' for name in head.split())
    assert len(lines) == 6
    assert lines[1].startswith('"refunds",0,"time",1,')
    assert lines[1].lower().endswith(",186,1073741824,true")
    write(explore, "SELECT '=1+1' AS a FROM range(200)")
    explore.keyboard.press("Control+Enter")
    explore.locator("[data-testid=stDataFrame] canvas").first.wait_for()
    explore.locator("[data-testid=stDataFrame]").first.hover()
    toolbar = explore.locator("[data-testid=stElementToolbar]")
    toolbar.get_by_label("Search").wait_for()
    assert not toolbar.get_by_label(re.compile("Download")).first.is_visible()


def test_a_mistake_is_shown_where_it_is_and_mended(explore):
    """By a click on a column of the table; one that is a word of SQL comes in quotes."""
    write(explore, "SELECT topic, nope\nFROM segments")
    explore.get_by_role("button", name="Run").click()
    explore.get_by_text("Unknown column nope").wait_for(timeout=SPARK_PATIENCE_MS)
    assert explore.locator("pre .w").all_inner_texts() == ["nope"]
    assert explore.locator(".kv-sqlat b").inner_text() == "nope"
    assert explore.locator("[data-testid=stException]").count() == 0
    explore.locator(".kv-tables summary", has_text="segments").first.click()
    field = explore.get_by_role("textbox", name="SQL")
    field.evaluate("e => e.setSelectionRange(14, 18)")
    explore.locator(".kv-col", has_text="roll_reason").click()
    assert field.input_value() == "SELECT topic, roll_reason\nFROM segments"
    assert explore.locator("pre .w").count() == 0
    field.press("Control+Enter")
    explore.locator(".kv-tbl th", has_text="roll_reason").wait_for(timeout=SPARK_PATIENCE_MS)
    write(explore, "SELECT  FROM offset_entries LIMIT 1")
    explore.locator(".kv-tables summary", has_text="offset_entries").first.click()
    field.evaluate("e => e.setSelectionRange(7, 7)")
    table = explore.locator("details", has_text="offset_entries")
    table.locator(".kv-col", has_text=re.compile("^offset$")).click()
    shows(explore, 'SELECT "offset" FROM')
    field.press("Control+Enter")
    sync_api.expect(explore.locator(".kv-tbl th")).to_have_text(["offset"])


def workers(page: "sync_api.Page") -> set[int]:
    """Returns the processes that answer queries of the page's server."""
    port = f"\0{urlsplit(page.url).port}\0"
    servers = {pid for pid, (_, command) in processes().items() if port in command}
    return {
        pid
        for pid, (parent, command) in processes().items()
        if parent in servers and "kafkaviz.pipeline.sql.sql_worker" in command
    }


def processes() -> dict[int, tuple[int, str]]:
    processes = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended
            parent = re.search(r"^PPid:\s*(\d+)", (folder / "status").read_text(), re.M)
            processes[int(folder.name)] = int(parent[1]), (folder / "cmdline").read_text()
    return processes


def busy(page: "sync_api.Page") -> int:
    """Runs a query that would not end, and returns the process that works on it."""
    write(page, "SELECT count(*) FROM range(1000000000000000)")
    page.keyboard.press("Control+Enter")
    page.locator(".kv-work", has_text="The query runs").wait_for()
    (worker,) = workers(page)
    return worker


@pytest.mark.nightly
def test_a_query_that_would_not_end_is_cancelled(explore):
    worker = busy(explore)
    explore.get_by_role("button", name="Cancel").click()
    explore.get_by_text("The query was cancelled").wait_for()
    assert worker not in workers(explore)
    explore.get_by_role("button", name="What does each codec save?").click()
    answered(explore, "A record takes 32 B with zstd, 100 B with none")
    assert explore.get_by_text("The query was cancelled").count() == 0


@pytest.mark.nightly
def test_a_closed_tab_ends_its_query(explore, server, browser):
    worker = busy(explore)
    with watched(browser) as other:
        other.goto(explore.url)
        other.locator(".kv-work", has_text="The query runs").wait_for()
        explore.close()
        other.wait_for_timeout(8000)
        assert worker in workers(explore)
    until = time.monotonic() + 60
    while worker in workers(explore) and time.monotonic() < until:
        time.sleep(0.2)
    assert worker not in workers(explore)


@pytest.mark.nightly
def test_a_process_that_is_killed_is_reported_and_started_again(explore):
    os.kill(busy(explore), signal.SIGKILL)
    explore.get_by_text("The process that worked on this query ended").wait_for()
    assert explore.get_by_role("button", name="Run again").is_visible()
    explore.get_by_role("button", name="Which topics hold late records?").click()
    answered(explore, "537 batches of sensors-late-0 came late, by up to 400 d")
