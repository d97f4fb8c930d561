"""Explore in a real browser, on a real Spark: asked by click and by key, mistaken, taken along, brought back by its link."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests import test_browser

sync_api = test_browser.sync_api
pytestmark = test_browser.pytestmark
server, browser, page = test_browser.server_that_has_read, test_browser.browser, test_browser.page  # fixtures of this module


@pytest.fixture
def explore(page: "sync_api.Page", server: str) -> "sync_api.Page":
    """The page with the first question answered; the first time the tables are made for it."""
    page.goto(f"{server}/explore")
    answered(page, "5 topic-partitions close segments less than half full; refunds-0 at < 0.01 % of segment.bytes")
    return page


def answered(page: "sync_api.Page", title: str) -> None:
    page.locator(".kv-figt", has_text=title).wait_for(timeout=test_browser.SPARK_PATIENCE_MS)


def write(page: "sync_api.Page", text: str) -> None:
    page.get_by_role("textbox", name="SQL").fill(text)


def shows(page: "sync_api.Page", beginning: str) -> None:
    """Waits until the field holds a query that begins so."""
    sync_api.expect(page.get_by_role("textbox", name="SQL")).to_have_value(re.compile(f"^{re.escape(beginning)}"))


def test_a_question_is_asked_by_a_click(explore):
    """Its query is coloured, its answer drawn; nothing is clipped at 1280 px."""
    assert explore.locator("pre .k").first.inner_text() == "WITH" and explore.evaluate("document.documentElement.scrollWidth") <= 1280
    explore.get_by_role("button", name="Where is the index densest?").click()
    answered(explore, "The indexes of tiny-index-0 hold 8.2 % of its log")
    sync_api.expect(explore.locator(".kv-tbl tbody tr")).to_have_count(8)
    assert "ask=densest" in explore.url
    shows(explore, "SELECT topic, partition,\n       sum(offset_entries)")
    explore.reload()
    answered(explore, "The indexes of tiny-index-0 hold 8.2 % of its log")
    explore.locator(".js-plotly-plot .main-svg").first.wait_for(state="attached")


def test_a_query_is_written_and_run_by_keys(explore):
    """Ctrl and Enter; the link brings it back; Back leads to the query before."""
    write(explore, "SELECT codec, count(*) AS batches -- how many\nFROM batches\nGROUP BY codec ORDER BY batches DESC")
    assert [explore.locator(f"pre .{kind}").first.inner_text() for kind in "kfc"] == ["SELECT", "count", "-- how many"]
    explore.keyboard.press("Control+Enter")
    explore.locator(".kv-tbl th", has_text="codec").wait_for(timeout=test_browser.SPARK_PATIENCE_MS)
    assert "sql=SELECT" in explore.url and explore.locator(".kv-tbl tbody tr").count() == 5
    explore.reload()
    explore.locator(".kv-tbl tbody tr").nth(4).wait_for()
    shows(explore, "SELECT codec, count(*) AS batches -- how many\n")
    explore.go_back()
    answered(explore, "5 topic-partitions close segments less than half full")
    shows(explore, "WITH closed AS")


def test_a_mistake_is_shown_where_it_is_and_mended(explore):
    """Underlined in the field and marked in the message; what is typed meanwhile stays."""
    write(explore, "SELECT topic, nope\nFROM segments")
    explore.get_by_role("button", name="Run").click()
    explore.get_by_text("There is no column nope").wait_for(timeout=test_browser.SPARK_PATIENCE_MS)
    assert explore.locator("pre .w").all_inner_texts() == ["nope"] and explore.locator(".kv-sqlat b").inner_text() == "nope"
    assert explore.locator("[data-testid=stException]").count() == 0
    explore.locator(".kv-tables summary", has_text="segments").first.click()
    field = explore.get_by_role("textbox", name="SQL")
    field.evaluate("e => e.setSelectionRange(14, 18)")
    explore.locator(".kv-col", has_text="roll_reason").click()
    assert field.input_value() == "SELECT topic, roll_reason\nFROM segments" and explore.locator("pre .w").count() == 0
    field.press("Control+Enter")
    explore.locator(".kv-tbl th", has_text="roll_reason").wait_for(timeout=test_browser.SPARK_PATIENCE_MS)


def test_the_rows_are_taken_along(explore):
    """As CSV, named by the broker and the question."""
    with explore.expect_download() as taken:
        explore.get_by_role("button", name="CSV").click()
    assert taken.value.suggested_filename == "kafka-4.3.1-clean-half-full.csv"
    lines = taken.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0] == '"topic","partition","roll_reason","closed","fill","log_bytes","segment_bytes"' and len(lines) == 6
    assert lines[1].startswith('"refunds",0,"time",1,') and lines[1].endswith(",186,1073741824")


def test_a_query_that_would_not_end_is_cancelled(explore):
    """By its button, while its tasks are shown; the next question is answered."""
    write(explore, "SELECT count(*) FROM batches a, batches b, batches c")
    explore.keyboard.press("Control+Enter")
    explore.locator(".kv-work", has_text="Spark: ").wait_for(timeout=test_browser.SPARK_PATIENCE_MS)
    explore.get_by_role("button", name="Cancel").click()
    explore.get_by_text("The query was cancelled").wait_for()
    explore.get_by_role("button", name="What does each codec save?").click()
    answered(explore, "A record takes 32 B with zstd, 100 B with none")
    assert explore.get_by_text("The query was cancelled").count() == 0


def javas() -> list[int]:
    """The Java processes that servers of this test process have started."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for told in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, name, _, parent, *_ = re.fullmatch(r"(\d+) \((.*)\) (\S) (\d+) .*", told.read_text(), re.DOTALL).groups()
        except OSError:  # it has just ended
            continue
        parents[int(pid)], names[int(pid)] = int(parent), name
    servers = {pid for pid, parent in parents.items() if parent == os.getpid()}
    return [pid for pid, parent in parents.items() if parent in servers and names[pid] == "java"]


@pytest.mark.matrix
def test_a_java_that_is_killed_is_said_and_started_again(explore):
    """While its tasks run; the page offers to run the query again, and the next question is answered by a new one."""
    write(explore, "SELECT count(*) FROM batches a, batches b, batches c")
    explore.keyboard.press("Control+Enter")
    explore.locator(".kv-work", has_text="Spark: ").wait_for(timeout=test_browser.SPARK_PATIENCE_MS)
    (java,) = javas()
    os.kill(java, signal.SIGKILL)
    explore.get_by_text("Spark's Java process ended while it worked on this").wait_for(timeout=test_browser.SPARK_PATIENCE_MS)
    assert explore.get_by_role("button", name="Run again").is_visible()
    explore.get_by_role("button", name="Which topics hold late records?").click()
    answered(explore, "537 batches of sensors-late-0 came late, by up to 400 d")
    assert javas() and java not in javas()
