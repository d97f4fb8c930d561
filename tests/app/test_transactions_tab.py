"""The tab Transactions of the Segment page: the lanes, their table, and one read_committed fetch."""

from threading import Event

import pytest

from kafkaviz.analysis.checks import plan
from kafkaviz.app.state import transaction_jobs
from kafkaviz.app.widgets import progress_strip
from kafkaviz.jobs import Job, ReadProgress
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import say, speaking
from kafkaviz.render.sentences import to_sentence
from kafkaviz.units import format_count
from tests.app import segment_page
from tests.app.segment_page import copy_of
from tests.support.pages import assert_no_exception, page_html, press_button

pytestmark = pytest.mark.usefixtures("starts", "patient")
FIELD = "fetch"


def opened(directory, partition="payments-0", segment=15904, **query):
    return segment_page.page(directory, partition, segment, tab="Transactions", **query)


def test_the_lanes_what_holds_them_and_the_table(clean):
    at = opened(clean)
    html = page_html(at)
    who = say("finding.transactional_producer", producer=4, id="tx-payments-2")
    assert say("transaction_lanes.title", offset=18900, producer=who) in html
    assert html.count("kv-sw txn-") == 5 + 5
    assert say("transaction_lanes.n_skipped", n=342) in html
    newest_ms = plan.newest_ms(open_broker(clean))
    age_ms = newest_ms - 1795253385807
    assert say("transaction_lanes.age", age=age_ms, moment=newest_ms) in html
    until = {"timeout": "50 min", "until": "2026-11-21 10:19:45"}
    assert to_sentence(say("transactions.verdict_ongoing", **until)) in html
    rows = html.split(say("transaction_lanes.head_took"))[1].split("</table>")[0]
    assert rows.count("<tr") == 40 and f"{format_count(18900)}–{format_count(18906)}" in rows
    assert len(at.get("plotly_chart")) == 1
    assert at.code[0].value.endswith("payments-0 --fetch 18767")


def test_an_earlier_segment_leads_to_the_one_in_which_read_committed_stops(clean):
    at = opened(clean, segment=7975)
    assert say("transaction_lanes.title_past", offset=18900, segment=15904) in page_html(at)
    label = say("transaction_lanes.show_stop", segment=15904)
    (link,) = [each.proto for each in at.get("page_link") if each.proto.label == label]
    assert "segment=15904" in link.query_string and "tab=Transactions" in link.query_string


def test_the_default_fetch_skips_something_and_another_is_in_the_address(clean):
    at = opened(clean)
    assert say("fetch_steps.title", offset=18767, skipped=59, n=2) in page_html(at)
    linked = opened(clean, fetch="18900")
    assert say("fetch_steps.title_nothing", offset=18900) in page_html(linked)
    assert linked.text_input(key=FIELD).value == "18900"
    typed = assert_no_exception(linked.text_input(key=FIELD).set_value("15 905").run())
    assert "15\u202f905" in page_html(typed).split(say("fetch_steps.heading"))[1]


@pytest.mark.parametrize(
    ("fetch", "key", "values"),
    [
        ("nine", "lookup.no_offset", {"text": "nine"}),
        ("99999", "fetch_steps.unread", {"offset": 99999}),
    ],
)
def test_an_offset_that_cannot_be_fetched(clean, fetch, key, values):
    html = page_html(opened(clean, fetch=fetch))
    assert say(key, **values) in html and say("fetch_steps.head_fate") not in html


def test_a_log_without_transactions(clean):
    at = opened(clean, "heartbeat-0", 32487)
    assert say("transaction_lanes.none") in page_html(at) and not at.get("plotly_chart")


def test_a_log_that_cannot_be_read_to_its_end(clean, tmp_path):
    folder = copy_of(clean, tmp_path, "payments-0")
    log = folder / "payments-0" / "00000000000000015904.log"
    log.write_bytes(log.read_bytes()[:200_000] + bytes(300))
    html = page_html(opened(folder))
    assert say("transaction_lanes.unread") in html and say("transaction_lanes.head_took") in html


def test_a_read_that_takes_longer_shows_its_progress_and_can_be_cancelled(clean, monkeypatch):
    job = Job(lambda _report: Event().wait(), ReadProgress(1 << 20, 4 << 20))
    monkeypatch.setattr(transaction_jobs, "get_or_start", lambda *_: job)
    monkeypatch.setattr(progress_strip, "QUICK_S", 0)
    at = opened(clean)
    assert say("health.read_of", done="1 MiB", total="4 MiB") in page_html(at)
    press_button(at, "kv_job_cancel")
    assert to_sentence(say("health.was_cancelled")) in page_html(at)


def test_in_chinese(clean):
    html = page_html(opened(clean, lang="zh"))
    with speaking("zh"):
        assert say("fetch_steps.title", offset=18767, skipped=59, n=2) in html
        assert say("transaction_lanes.head_outcome") in html
