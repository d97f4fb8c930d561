"""Go to: what a few typed words find, and the places that a session has visited."""

import re
import time
from pathlib import Path

import pytest
import streamlit as st

from kafkaviz import config_def
from kafkaviz import messages as catalogues
from kafkaviz.app import registry
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import go_to, go_to_targets
from kafkaviz.app.widgets.go_to import Visit
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import say
from kafkaviz.workshop.lessons import glossary
from tests.support.segment_files import make_segment

PAGES = {"Broker": {"dir": "/k"}, "Segment": {"dir": "/k"}}
ALL = PAGES | {name: {"dir": "/k"} for name in ("Lookup", "Rolls", "Tuning")}
VISITS = [
    Visit("Segment", {"dir": "/k", "tp": "orders-1", "segment": "20", "pin": "25"}),
    Visit("Rolls", {"dir": "/other", "tp": "logs-0"}),
    Visit("Gone", {"dir": "/k", "tp": "logs-0"}),
]


@pytest.fixture
def place(tmp_path: Path) -> Location:
    """Returns orders-0 with two segments, orders-1 and logs-0."""
    make_segment(tmp_path / "orders-0", 0, 1000, [])
    make_segment(tmp_path / "orders-0", 30, 500, [])
    make_segment(tmp_path / "orders-1", 20, 2000, [])
    make_segment(tmp_path / "logs-0", 0, 10, [])
    (tmp_path / "meta.properties").write_text("version=1\n")
    return Location("/k", BrokerSnapshot(open_broker(tmp_path), (), ""))


def words(place: Location, text: str) -> list[tuple[str, str]]:
    return [(entry.heading, entry.words) for entry in go_to.find_entries(place, text, PAGES)]


def found(*query: object, field: str) -> list[str]:
    """Returns the topic-partition or segment of each entry that is found."""
    return [entry.address[field] for entry in go_to.find_entries(*query)]


def found_words(*query: object) -> list[str]:
    return [entry.words for entry in go_to.find_entries(*query)]


def test_nothing_typed_offers_pages_and_the_largest(place):
    assert words(place, "") == [
        ("Pages", "Broker"),
        ("Pages", "Segment"),
        ("Topic-partitions", "orders-1"),
        ("Topic-partitions", "orders-0"),
        ("Topic-partitions", "logs-0"),
    ]


def test_a_topic_partition_and_its_segments(place):
    assert words(place, "Orders-0") == [
        ("Topic-partitions", "orders-0"),
        ("Segments", "orders-0 › 00000000000000000030"),
        ("Segments", "orders-0 › 00000000000000000000"),
    ]
    assert words(place, "se") == [("Pages", "Segment")]


def test_an_offset_finds_its_segment(place):
    entries = go_to.find_entries(place, "orders 25", PAGES)
    assert [(entry.words, entry.address) for entry in entries] == [
        ("Offset 25 in orders-1", {"dir": "/k", "tp": "orders-1", "segment": "20", "pin": "25"}),
        ("Offset 25 in orders-0", {"dir": "/k", "tp": "orders-0", "segment": "0", "pin": "25"}),
    ]
    assert found(place, "orders-0 30", PAGES, field="segment") == ["30"]
    assert found(place, "orders 5", PAGES, field="tp") == ["orders-0"]


def test_nothing_fits(place):
    assert words(place, "payments") == [] and words(place, "payments 5") == []


def test_pages_are_found_without_a_broker():
    assert found_words(Location(""), "bro", PAGES) == ["Broker"]


def test_nothing_typed_offers_what_was_looked_at_before(place):
    """They come first, so that K and Enter lead back to the same page."""
    entries = go_to.find_entries(place, "", PAGES | {"Rolls": {}}, VISITS, ["/other", "/third"])
    assert [(entry.words, entry.aside, entry.page, entry.address) for entry in entries[:2]] == [
        ("orders-1 › 00000000000000000020", "", "Segment", VISITS[0].address),
        ("logs-0", "/other", "Rolls", VISITS[1].address),
    ]
    directories = [entry for entry in entries if entry.heading == "Broker directories"]
    assert [(entry.words, entry.page, entry.address) for entry in directories] == [
        ("/other", "Broker", {"dir": "/other"}),
        ("/third", "Broker", {"dir": "/third"}),
    ]


def test_a_directory_is_found_by_a_part_of_its_path(place):
    directories = ["/other", "/third"]
    assert found_words(place, "thi", PAGES, (), directories) == ["/third"]
    assert found_words(Location(""), "/o", PAGES, (), directories) == ["/other"]


def test_a_bare_number_is_an_offset_of_where_the_reader_is(place):
    location = Location(place.directory, place.snapshot, place.broker.partition("logs-0"))
    assert found(location, "25", PAGES, field="tp") == ["logs-0", "orders-1", "orders-0"]
    assert found(place, "25", PAGES, VISITS, field="tp") == ["orders-1", "logs-0", "orders-0"]
    assert words(place, "0")[-2:] == [
        ("Topic-partitions", "orders-0"),
        ("Topic-partitions", "logs-0"),
    ]


def test_the_search_for_an_offset_is_offered_too(place):
    entries = go_to.find_entries(place, "orders 2247", ALL)
    lookups = [(entry.words, entry.address) for entry in entries if entry.page == "Lookup"]
    assert lookups[1] == (
        "Look up offset 2\u202f247 in orders-0",
        {"dir": "/k", "tp": "orders-0", "target": "2247"},
    )


def test_the_best_fit_has_its_other_pages(place):
    entries = go_to.find_entries(place, "orders-0", ALL)
    pages = [entry for entry in entries if entry.heading == "Pages"]
    words = ["Look up in orders-0", "Rolls of orders-0", "Tune orders-0"]
    assert [entry.words for entry in pages] == words
    assert {entry.address["tp"] for entry in pages} == {"orders-0"}


def test_a_page_is_found_by_its_name_in_both_languages(place, chinese):
    for text in ("tuning", "调"):
        assert found_words(place, text, ALL) == ["调优"]
    assert go_to.find_entries(place, "", ALL)[1].address == {"dir": "/k"}


WORKSHOP = PAGES | {"Workshop": {"dir": "/k"}}
EVERY_PAGE = {name: {"dir": "/k"} for name in registry.PAGES}


def workshop_entries(place: Location, text: str) -> list[go_to.GoToEntry]:
    entries = go_to.find_entries(place, text, WORKSHOP)
    return [entry for entry in entries if entry.page == "Workshop" and "dir" in entry.address]


def first(text: str, language: str = "en") -> go_to.GoToEntry:
    with catalogues.speaking(language):
        return go_to.find_entries(Location(""), text, EVERY_PAGE)[0]


@pytest.mark.parametrize(
    ("text", "words", "page", "tab"),
    [
        ("segment.bytes", "segment.bytes (log.segment.bytes)", "Rolls", None),
        ("log.roll.hours", "segment.ms (log.roll.ms)", "Rolls", None),
        ("log.index.size", "segment.index.bytes (log.index.size.max.bytes)", "Rolls", None),
        ("index.interval", "index.interval.bytes (log.index.interval.bytes)", "Tuning", "Index"),
        ("log.retention.ms", "retention.ms (log.retention.ms)", "Disk", "Retention"),
        ("log.cleaner.threads", "log.cleaner.threads", "Disk", "Compaction"),
        ("compression.type", "compression.type", "Tuning", "Codec"),
    ],
)
def test_a_setting_is_found_by_the_name_of_a_topic_or_a_broker(text, words, page, tab):
    entry = first(text)
    assert (entry.heading, entry.words, entry.page) == ("Settings", words, page)
    assert entry.address == {"dir": "/k"} | ({"tab": tab} if tab else {})


def test_a_setting_without_a_page_opens_the_word_that_explains_it():
    entry = first("log.preallocate")
    assert (entry.words, entry.aside) == ("preallocate (log.preallocate)", "unwritten slot")
    assert entry.address == {"dir": "/k", "word": "unwritten_slot"}


@pytest.mark.parametrize("names", [page for *_, page in go_to_targets.SETTING_PLACES])
def test_each_name_of_a_place_is_that_of_a_setting(names):
    settings = [*config_def.TOPIC_SETTINGS, *config_def.BROKER_SETTINGS]
    for name in (*names, *glossary.SETTING_TERMS):
        assert any(go_to_targets.is_named(setting, name) for setting in settings), name


@pytest.mark.parametrize("text", ["compaction", "disk compaction", "压实", "磁盘 压实"])
@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_a_tab_is_found_in_either_language(text, language):
    with catalogues.speaking(language):
        entries = go_to.find_entries(Location(""), text, {"Disk": {"dir": "/k"}})
    assert (entries[0].page, entries[0].address) == ("Disk", {"dir": "/k", "tab": "Compaction"})


def test_every_page_takes_its_tabs_from_the_registry():
    """So that Go to finds them all."""
    for path in (Path(go_to.__file__).parents[1] / "pages").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "render_tabs(" in source or "st.tabs(" in source:
            assert re.search(r'PAGES\["\w+"\]\.tab_labels', source), path.name


def test_a_lesson_is_found_by_its_title(place):
    entries = workshop_entries(place, "The warm section")
    assert [(entry.words, entry.aside) for entry in entries][:1] == [("The warm section", "")]
    assert entries[0].address == {"dir": "/k", "lesson": "warm-section"}


def test_a_step_is_found_by_its_title_or_its_text(place):
    """The snippet shows the words."""
    titles = {
        entry.words: entry
        for entry in workshop_entries(place, "warm section")
        if entry.heading == "Lessons"
    }
    assert titles["The same growth, warm section first"].aside == "The warm section"
    assert "warm section" in titles["What a lagging reader pays"].aside
    assert titles["What a lagging reader pays"].address["lesson"] == "warm-section"
    steps = [entry for entry in workshop_entries(place, "page") if entry.heading == "Lessons"]
    assert len(steps) == go_to.MAX_ENTRIES


def test_a_lesson_is_found_in_the_other_language_too(place):
    """热区 is the warm section."""
    assert workshop_entries(place, "热区")[0].words == "The warm section"
    with catalogues.speaking("zh"):
        found = workshop_entries(place, "warm section")
        assert "热区" in [entry.words for entry in found]


def test_a_word_of_the_glossary_is_found(place):
    """An exact name first, then the names that begin with the text, then texts."""
    entries = [entry for entry in workshop_entries(place, "page") if entry.heading == "Words"]
    words = ["page", "page cache", "page fault", "hot page", "cold page", "memory map"]
    assert [entry.words for entry in entries] == words
    assert entries[0].address == {"dir": "/k", "word": "page"}
    assert [bool(entry.aside) for entry in entries] == [*5 * [False], True]
    with catalogues.speaking("zh"):
        assert "探测（probe）" in [entry.words for entry in workshop_entries(place, "probe")]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("hot region", "warm_section"),
        ("cold region", "warm_section"),
        ("热区", "warm_section"),
        ("冷区", "warm_section"),
        ("切分", "roll"),
        ("bisection", "plain_binary_search"),
    ],
)
@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_a_word_is_found_by_the_other_names_it_has(place, text, key, language):
    """The snippet shows the words whole."""
    with catalogues.speaking(language):
        found = {str(entry.address.get("word")): entry for entry in workshop_entries(place, text)}
    assert text in found[key].words or text in found[key].aside.lower() or text == "热区"


@pytest.mark.parametrize("text", ["KAFKA-6432", "kafka 6432"])
@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_the_number_of_an_issue_finds_words_and_steps(place, text, language):
    with catalogues.speaking(language):
        found = workshop_entries(place, text)
    assert all("KAFKA-6432" in entry.aside for entry in found)
    addresses = [entry.address for entry in found]
    assert {"dir": "/k", "word": "warm_section"} in addresses
    assert "warm-section" in [address.get("lesson") for address in addresses]


def test_a_finding_is_found_by_its_code_or_its_issue():
    entry = first("index-missing")
    assert (entry.words, entry.page) == ("The .index is missing", "Health")
    entries = go_to.find_entries(Location(""), "KAFKA-7283", EVERY_PAGE)
    assert "Health" in [entry.page for entry in entries]


@pytest.mark.parametrize(
    ("issue", "title"),
    [
        ("KAFKA-19407", "finding_title.offsets_not_increasing"),
        ("KAFKA-19571", "finding_title.future_replica"),
        ("KAFKA-20979", "finding_title.index_zero_tail"),
        ("KAFKA-21000", "finding_title.log_zero_tail"),
    ],
)
@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_a_finding_is_found_by_the_issue_of_its_cause(issue, title, language):
    with catalogues.speaking(language):
        found = {
            entry.words: entry.aside
            for entry in go_to.find_entries(Location(""), issue, EVERY_PAGE)
            if entry.page == "Health"
        }
        assert issue in found[say(title)]


def test_later_searches_are_fast():
    first("page")
    start = time.process_time()
    for text in ("page", "kafka-6432", "segment.ms", "nowhere", "热区"):
        go_to.find_entries(Location(""), text, EVERY_PAGE)
    assert time.process_time() - start < 5 * 0.010


def test_where_nothing_is_typed_no_lesson_is_offered(place):
    """There are too many."""
    assert [entry.words for entry in workshop_entries(place, "")] == ["Workshop"]


def test_without_the_workshop_there_are_no_words(place):
    assert go_to.find_entries(place, "probe", PAGES) == []


@pytest.mark.parametrize(
    "text", ["transactions", "last stable offset", "read_committed", ".txnindex", "事务"]
)
def test_the_transactions_of_a_segment(place, text):
    targets = go_to_targets.find_targets(text, PAGES)["frame.pages"]
    assert targets[0].entry.address == {"dir": "/k", "tab": "Transactions"}


@pytest.fixture
def places(monkeypatch, place) -> dict[str, Location]:
    """Returns places of one topic-partition, for a session that has visited none."""
    monkeypatch.setattr(st, "session_state", {})
    partition = place.broker.partition("orders-0")
    at = {str(segment.base_offset): segment for segment in partition.segments}
    return {
        "broker": place,
        "partition": Location("/k", place.snapshot, partition),
        **{
            name: Location("/k", place.snapshot, partition, segment) for name, segment in at.items()
        },
    }


def test_a_place_is_stored_once_as_of_its_last_visit(places):
    go_to.remember("Segment", places["0"], 7)
    go_to.remember("Segment", places["30"])
    go_to.remember("Rolls", places["partition"])
    go_to.remember("Health", places["broker"])
    go_to.remember("Segment", places["0"], 9)
    assert [
        (visit.page, visit.address.get("segment"), visit.address.get("pin"))
        for visit in go_to.visits()
    ] == [("Segment", "0", "9"), ("Rolls", None, None), ("Segment", "30", None)]


def test_where_the_reader_is_is_no_way_back(places):
    go_to.remember("Segment", places["30"])
    go_to.remember("Segment", places["0"], 9)
    for page, segments in (("Segment", ["30"]), ("Lookup", ["0", "30"])):
        others = go_to.other_visits(page, places["0"])
        assert [visit.address["segment"] for visit in others] == segments


def test_the_oldest_are_forgotten(places, monkeypatch):
    monkeypatch.setattr(go_to, "MAX_VISITS", 1)
    go_to.remember("Segment", places["30"])
    go_to.remember("Segment", places["0"])
    assert [visit.address["segment"] for visit in go_to.visits()] == ["0"]
