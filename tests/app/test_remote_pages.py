"""Pages of a broker directory in an object store, opened by its address."""

import pytest

from kafkaviz.app import access
from kafkaviz.log.archives import archive
from kafkaviz.log.remote import file_system, mirror
from kafkaviz.messages import say
from kafkaviz.render.sentences import to_sentence
from tests.support.pages import open_page, page_html

URL = "s3://kafka/pages/broker-9"
# an ingest would send requests while the next test counts
pytestmark = pytest.mark.usefixtures("starts")


@pytest.fixture
def stored(object_store, clean):
    """Puts one partition of the sample broker into the store."""
    object_store.put("pages/broker-9/meta.properties", (clean / "meta.properties").read_bytes())
    object_store.put_directory(clean / "accounts-0", "pages/broker-9/accounts-0")
    return object_store


def test_the_broker_page_opens_an_address(stored):
    """The address stays in the box, and no path of the cache is shown."""
    at = open_page(dir=URL)
    assert any(box.value == URL for box in at.text_input)
    text = page_html(at)
    assert "accounts" in text and str(archive.cache_folder()) not in text


def test_what_changes_in_the_store_is_seen(stored, clean):
    """Its listing expires after some seconds; here at once."""
    assert "payments" not in page_html(open_page(dir=URL))
    stored.put_directory(clean / "payments-0", "pages/broker-9/payments-0")
    mirror.forget()
    assert "payments" in page_html(open_page(dir=URL))


def test_a_fault_of_the_store_is_said_on_the_page(stored):
    """The message names the address and what to do."""
    stored.fault = lambda request: "deny"
    text = page_html(open_page(dir="s3://kafka/denied"))
    assert say("faults.unreadable", path="s3://kafka/denied") in text
    assert to_sentence(say("remote.denied")) in text
    assert to_sentence(say("remote.check_credentials")) in text


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("s3://no-such-bucket/x", "faults.missing_why"),
        ("s3:///x", "remote.no_authority"),
        ("s3://key:do-not-print-me@kafka/x", "remote.credentials_in_address"),
    ],
)
def test_an_address_that_cannot_be_opened_is_said_on_the_page(stored, url, key):
    text = page_html(open_page(dir=url))
    assert to_sentence(say(key)) in text and "do-not-print-me" not in text


def test_a_server_with_a_root_opens_no_other_address(stored, monkeypatch):
    """The page says what may be opened, and the store gets no request."""
    monkeypatch.setenv(access.ALLOW_ROOT, "s3://kafka/others")
    stored.requests.clear()
    text = page_html(open_page(dir=URL))
    assert "s3://kafka/others" in text and stored.requests == []


@pytest.mark.parametrize("is_measured", [True, False])
def test_a_lookup_shows_its_remote_reads_and_their_price(stored, is_measured):
    """This session's requests are measured; those for a file that is already here are modelled."""
    query = {"dir": URL, "tp": "accounts-0", "by": "offset", "target": "100"}
    text = page_html(open_page("lookup", **query))
    if not is_measured:
        file_system.forget_times()
        text = page_html(open_page("lookup", **query))
    for phase in ("offset", "log"):
        phase_text = say(f"lookup.phase_{phase}")
        assert f">{say('cli_lookup.remote_segment', why=phase_text)}<" in text
    assert say("lookup.remote_objects") in text and say("lookup.remote_reads") not in text
    assert ("ms, measured" in text) == ("measured in this session" in text) == is_measured
    assert ("ms, modelled" in text) == ("modelled at 50 ms per request" in text) != is_measured
