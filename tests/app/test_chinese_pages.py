"""Every page in Chinese, on sound and on broken directories: no message is in English."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.app.state.check_jobs import check_jobs
from tests.support.pages import BROKER, PATIENCE_S, assert_no_exception, open_page, page_html

pytestmark = pytest.mark.usefixtures("starts", "chinese")
CLEAN, DAMAGED, KILLED, UNSTARTABLE = "clean", "damaged", "killed", "unstartable"
SAMPLES = Path(__file__).parents[2] / "sample_data"
PAYMENTS = {"tp": "payments-0", "segment": "7975", "pin": "11612"}
COMMITTED = {"isolation": "read_committed"}
TORN = {"tp": "append-time-0", "segment": "0"}
PAGES = [
    ("broker", CLEAN, {}),
    ("broker", KILLED, {}),
    ("broker", UNSTARTABLE, {}),
    ("segment", CLEAN, PAYMENTS),
    ("segment", CLEAN, PAYMENTS | {"tab": "Bytes"}),
    ("segment", CLEAN, PAYMENTS | {"tab": "Bytes", "file": ".timeindex"}),
    ("segment", CLEAN, PAYMENTS | {"tab": "Bytes", "file": "meta.properties"}),
    ("segment", KILLED, TORN | {"tab": "Bytes", "pin": "7180"}),
    ("segment", DAMAGED, {"tp": "bookings-0", "segment": "858", "tab": "Offset index"}),
    ("lookup", CLEAN, {"tp": "orders-0", "by": "timestamp", "target": "1790000445"}),
    ("lookup", CLEAN, {"tp": "orders-0", "by": "offset", "target": "500"}),
    ("lookup", CLEAN, {"tp": "orders-0", "by": "timestamp", "target": "max"} | COMMITTED),
    ("lookup", CLEAN, {"tp": "sensors-late-0", "by": "timestamp", "target": "1790003000000"}),
    ("lookup", CLEAN, {"set": "full"}),
    ("lookup", CLEAN, {"set": "twenty", "search": "2.0"}),
    ("lookup", CLEAN, {"set": "keys", "keys": "6 14 x", "target": "soon"}),
    ("lookup", DAMAGED, {"tp": "bookings-0", "by": "offset", "target": "954"}),
    ("lookup", KILLED, {"tp": "append-time-0", "by": "offset", "target": "99999999"}),
    ("lookup", UNSTARTABLE, {}),
    ("page_cache", CLEAN, {}),
    ("rolls", CLEAN, {"tp": "tiny-index-0"}),
    ("rolls", DAMAGED, {}),
    ("tuning", CLEAN, {"tp": "payments-0", "p99": "100 µs warm"}),
    ("tuning", KILLED, {"tune": "Whole broker"}),
    ("health", CLEAN, {}),
    ("health", DAMAGED, {"kafka": "2.2"}),
    ("health", KILLED, {}),
    ("health", UNSTARTABLE, {}),
    ("disk", CLEAN, {"tab": "Retention", "keep_size": "1 MiB"}),
    ("disk", CLEAN, {"tab": "Retention", "topic": "accounts"}),
    ("disk", CLEAN, {"tab": "Compaction", "log": "accounts-1", "key": "other"}),
    ("compare", CLEAN, {}),
    ("compare", DAMAGED, {"with": str(SAMPLES / "kafka-4.3.1-clean.tar.gz")}),
    ("explore", CLEAN, {}),
    ("workshop", CLEAN, {"lesson": "three-files", "notes": "1"}),
]
ENGLISH = re.compile(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,}\b")  # three words in a row are a sentence
LABELLED = [
    "button",
    "button_group",
    "download_button",
    "expander",
    "selectbox",
    "select_slider",
    "text_input",
]
CODE = re.compile(r"<code.*?</code>|<td class=\"kv-mono\".*?</td>", re.DOTALL)
AS_THEY_ARE = re.compile(  # what Kafka writes itself; what the address calls a story
    "Last offset of aborted transaction .* is less than start offset"
    "|Attempt to append to a full time index"
    "|Snapshot failed schema validation"
    "|Received request for offset .* for partition .*, but we only have log segments upto"
    "|^From the first batch$"
)


def chinese(name: str, directory: Path, query: dict[str, str]) -> AppTest:
    """Returns the page at this address once nothing is being checked."""
    at = open_page(name, dir=directory, lang="zh", **query)
    if name == BROKER:
        return at
    for job in check_jobs().jobs():
        assert job.wait_until_over(PATIENCE_S)
    return assert_no_exception(at.run())


def texts(at: AppTest) -> list[str]:
    components = [json.loads(element.proto.json or "{}") for element in at.get("bidi_component")]
    return [
        *re.sub(r"<[^>]+>", "\n", CODE.sub("", page_html(at))).splitlines(),
        *(element.proto.alt for element in at.get("plotly_chart")),
        *(getattr(element.proto, "label", "") for kind in LABELLED for element in at.get(kind)),
        *(text for component in components for text in strings(component)),
    ]


def strings(value: object) -> list[str]:
    """All texts in JSON."""
    if isinstance(value, dict):
        return [text for part in value.values() for text in strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sample", "query"), PAGES, ids=lambda part: part if isinstance(part, str) else ""
)
def test_no_sentence_is_english(name, sample, query, request):
    """Neither the page's own sentences nor messages from lower layers."""
    at = chinese(name, request.getfixturevalue(sample), query)
    page_texts = texts(at)
    assert any(re.search("[一-鿿]", text) for text in page_texts)
    assert [text for text in page_texts if ENGLISH.search(AS_THEY_ARE.sub("", text))] == []
