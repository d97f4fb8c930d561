"""The findings in a real browser: choosing by click and by key, the address, the bytes."""

import shutil
from pathlib import Path

import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.messages import say
from tests.support.browser import SPARK_PATIENCE_MS, sync_api

pytestmark = pytest.mark.browser


@pytest.fixture
def findings(page: "sync_api.Page", server: str, damaged: Path) -> "sync_api.Page":
    page.goto(f"{server}/health?dir={damaged}")
    page.locator(".item").first.wait_for(timeout=SPARK_PATIENCE_MS)
    return page


def chosen(page: "sync_api.Page") -> str:
    return page.locator('.item[aria-selected="true"] .t').inner_text()


def test_chosen_by_click_by_key_and_by_the_address(findings):
    rows = findings.locator(".item")
    count = rows.count()
    assert count > 10 and chosen(findings) == rows.nth(0).locator(".t").inner_text()
    rows.nth(2).click()
    third = chosen(findings)
    assert findings.locator(".det h3").inner_text() == third
    findings.locator(".items").press("ArrowDown")
    fourth = chosen(findings)
    assert fourth != third and findings.locator(".det h3").inner_text() == fourth
    findings.reload()
    findings.locator(".item").first.wait_for(timeout=SPARK_PATIENCE_MS)
    assert chosen(findings) == fourth


@pytest.mark.nightly
def test_the_bytes_of_a_wrong_entry_are_marked(findings):
    """Eight bytes of the .index, in the colour of an error."""
    findings.locator(".item", has_text="bookings-0 858.index").click()
    assert findings.locator(".hex-dump .bad").count() == 8
    assert findings.locator(".hex-dump .b").count() == 128


@pytest.mark.nightly
def test_a_start_that_reads_400_logs_is_drawn_within_the_page(page, server, clean, tmp_path):
    """Gaps as wide as a small log would not fit."""
    shutil.copy(clean / "meta.properties", tmp_path)
    for number in range(400):
        shutil.copytree(clean / "empty-room-0", tmp_path / f"busy-{number}")
    page.goto(f"{server}/health?dir={tmp_path}")
    bars = page.locator(".steps svg g rect")
    bars.first.wait_for(timeout=SPARK_PATIENCE_MS)
    assert bars.count() == 400
    ends = bars.evaluate_all("bars => bars.map(bar => bar.getBoundingClientRect().right)")
    box = page.locator(".verdict").bounding_box()
    assert box["x"] + box["width"] - 3 < max(ends) < box["x"] + box["width"] + 1


@pytest.mark.nightly
def test_only_errors(findings):
    """The address says so too."""
    before = findings.locator(".item").count()
    findings.locator(".chip", has_text="Errors").click()
    assert 0 < findings.locator(".item").count() < before
    assert "severity=error" in findings.url
    assert findings.locator(".verdict h2").inner_text().startswith("This broker will start")


def test_the_page_of_a_damaged_broker(findings, damaged):
    """The chips count findings; the next start is below them, and nothing is below it."""
    health = check(damaged)
    chip_counts = {
        chip.inner_text().split("\n")[0]: int(chip.locator("small").inner_text())
        for chip in findings.locator(".chip").all()
    }
    assert chip_counts["All"] == len(health.findings) > findings.locator(".item").count()
    names = {"error": "Errors", "warning": "Warnings", "info": "Worth knowing"}
    assert {name: chip_counts.get(names[name], 0) for name in names} == health.counts
    findings.locator(".doing").wait_for()
    bottom = "e => e.getBoundingClientRect().bottom"
    parts = (".verdict", ".columns", ".st-key-kv_rebuilt_indexes", ".doing")
    ends = [findings.locator(part).last.evaluate(bottom) for part in parts]
    assert ends == sorted(ends)
    elements = "[data-testid=stMainBlockContainer] [data-testid=stElementContainer]"
    assert findings.locator(elements).last.evaluate(bottom) <= ends[-1] + 1


def test_a_finding_leads_to_its_bytes_and_back_leads_to_the_finding(findings, damaged):
    """By keyboard: the slot is the chosen field, and Back returns to the same finding.

    The command in its next step is written as one, without backticks.
    """
    findings.locator(".item", has_text="bookings-0 858.index").click()
    assert findings.locator(".det code").inner_text() == "kafkaviz rebuild --out"
    assert "`" not in findings.locator(".det").inner_text()
    first = findings.locator(".hex-dump .bad").first.inner_text()
    before = findings.locator(".det .where").inner_text()
    findings.locator(".det a.onward").focus()
    findings.keyboard.press("Enter")
    findings.locator(".hex .h.on").first.wait_for()
    query = findings.evaluate("Object.fromEntries(new URLSearchParams(location.search))")
    there = {
        "dir": str(damaged),
        "tp": "bookings-0",
        "segment": "858",
        "file": ".index",
        "tab": "Bytes",
    }
    assert {name: query[name] for name in there} == there
    assert findings.locator(".hex .h.on").first.inner_text() == first
    assert findings.locator(".mean").inner_text().startswith("slot ")
    findings.go_back()
    findings.locator(".item").first.wait_for(timeout=SPARK_PATIENCE_MS)
    assert findings.locator(".det .where").inner_text() == before


def test_a_finding_leads_to_the_transactions_of_its_segment(page, server):
    """Another offset to fetch from is computed and is in the address."""
    page.goto(f"{server}/health")
    page.get_by_text(say("finding_title.open_transaction")).first.click()
    page.get_by_role("link", name=say("finding_list.show_transactions")).click()
    page.locator(".st-key-kv_fig_transactions .js-plotly-plot .bars .point").first.wait_for()
    field = page.get_by_label(say("fetch_steps.field"))
    field.fill("18900")
    field.press("Enter")
    page.get_by_text(say("fetch_steps.title_nothing", offset=18900)).wait_for()
    page.wait_for_url("**fetch=18900*")
    assert "segment=15904" in page.url and "tab=Transactions" in page.url


@pytest.mark.nightly
def test_one_of_many_findings_of_a_code_is_in_the_address(page, server, killed):
    page.goto(f"{server}/health?dir={killed}")
    page.locator(".item").first.wait_for(timeout=SPARK_PATIENCE_MS)
    page.locator(".item", has_text="topic-partitions").first.click()
    page.locator(".mem button").nth(2).click()
    place = page.locator(".det .where").inner_text()
    page.reload()
    page.locator(".item").first.wait_for(timeout=SPARK_PATIENCE_MS)
    assert page.locator(".det .where").inner_text() == place
    assert page.locator(".mem button").nth(2).get_attribute("aria-current") == "true"


def test_the_bytes_of_a_tail_are_pinned_with_the_last_batch(page, server, killed):
    """The byte of the .log that a finding names is chosen, and the ruler shows its batch."""
    page.goto(f"{server}/health?dir={killed}&finding=log-torn-tail")
    page.locator(".item", has_text="The last batch is cut short").click()
    page.locator(".det a.onward").click()
    page.locator(".hex .h.on").first.wait_for()
    page.locator(".detail svg").wait_for()
    assert page.locator(".kv-sw.byte-torn").count() == 1
    assert page.locator(".detail svg").count() == 1


def test_the_release_is_chosen_and_is_in_the_address(findings):
    findings.get_by_role("button", name="As Kafka 4.3.1, inferred from the files").click()
    findings.get_by_text("As Kafka 2.2", exact=True).click()
    findings.wait_for_url("**kafka=2.2*")
    findings.get_by_role("button", name="As Kafka 2.2").click()
    findings.get_by_text("As the release inferred from the files", exact=True).click()
    findings.get_by_role("button", name="As Kafka 4.3.1, inferred from the files").wait_for()
    assert "kafka=" not in findings.url.split("dir=")[1].replace("/kafka", "")


@pytest.mark.nightly
def test_the_steps_show_more_at_a_click(findings):
    steps = findings.locator(".doing tbody tr")
    before = steps.count()
    findings.locator(".doing .btn").click()
    assert steps.count() > before


def test_a_partition_without_findings_says_so(page, server, clean):
    page.goto(f"{server}/health?dir={clean}/orders-0")
    page.locator(".flt", has_text="nothing was found").wait_for(timeout=SPARK_PATIENCE_MS)
    assert not page.locator(".items").is_visible()
