"""The Lookup page without a browser: sources, targets, its text without a target, and its address."""

import json
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz import versions
from kafkaviz.__main__ import main
from kafkaviz.app.cache import lookup_cache
from kafkaviz.app.pages import lookup_controls
from kafkaviz.app.pages.lookup_controls import parse_keys
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import say, verbatim
from tests.analysis.lab import Lab
from tests.support.pages import assert_no_exception, open_page, page_html, press_button

pytestmark = pytest.mark.usefixtures("starts")
T = "\u202f"


def page(directory: Path | None, **query: str) -> AppTest:
    return open_page("lookup", **({"dir": directory} if directory else {}), **query)


def steps(at: AppTest) -> str:
    """Returns the table of the steps, which is one element of the page."""
    bodies = [element.proto.body for element in at.get("html")]
    return next(body for body in bodies if "What happens" in body)


def pick(at: AppTest, key: str, value: str) -> None:
    assert_no_exception(at.button_group(key=key).set_value(value).run())


def test_a_real_segment(clean):
    """Offset 2 247 of dense-index-0: eleven probes, four header reads."""
    at = page(clean, tp="dense-index-0", by="offset", target="2247")
    text = page_html(at)
    assert "dense-index-0, 1\u202f126 entries in the offset index." in text
    assert f"Slot 413 is the last entry not above 2{T}247: 2{T}244 → byte 212{T}990" in steps(at)
    assert f"The consumer skips 2 records to reach offset 2{T}247." in steps(at)


def test_another_segment_than_the_open_one_is_searched(damaged):
    text = page_html(page(damaged, tp="bookings-0", segment="1721", by="offset", target="954"))
    opened = "00000000000000001721, 41 entries in the offset index"
    assert f"bookings-0, 7 segments; showing {opened}" in text


@pytest.mark.parametrize("target", ["1790000445001", "2026-09-21 14:20:45.001"])
def test_by_time(clean, target):
    """A moment is given in UTC, as people write it."""
    at = page(clean, tp="dense-index-0", by="timestamp", target=target)
    assert f"first record not before the target is offset 2{T}250: that is the answer" in steps(at)
    assert "Why this offset?" in page_html(at)
    assert (
        f"Offset 2{T}250 is the first record at or after the target: 5 s after the target"
        in page_html(at)
    )
    assert f"closest in time is offset 2{T}2" in page_html(at)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "unit"), [("1790000445", "seconds"), ("1790000445001000", "microseconds")]
)
def test_another_unit_is_warned_of(clean, target, unit):
    at = page(clean, tp="dense-index-0", by="timestamp", target=target)
    assert f"looks like a time in {unit}, but Kafka counts in milliseconds" in page_html(at)
    press_button(at, "kv_unit")
    assert f"looks like a time in {unit}" not in page_html(at)
    assert at.text_input(key="target").value.startswith("1790000445")


def test_the_practice_logs_need_no_directory():
    """The five entries of the article; another release searches differently."""
    at = page(None, set="five", target="23")
    assert "Five entries, as drawn on many blackboards" in page_html(at)
    assert "Slot 2 is the last entry not above 23" in steps(at)
    at.selectbox(key="search").set_value("Kafka 0.11 to 2.0").run()
    assert "The whole index is searched: slots 0 to 4" in steps(at)
    pick(at, "set", "20 entries")
    assert "Twenty entries" in page_html(at)
    assert "Slot 15, where the warm section begins, holds 111" not in steps(at)
    at.selectbox(key="search").set_value("Kafka 2.1 to 4.0").run()
    assert "Slot 15, where the warm section begins, holds 111, which is below 1" in steps(at)
    press_button(at, "kv_behind")
    assert "Slot 15, where the warm section begins, holds 111, which is not below" in steps(at)


def components(at: AppTest) -> list[str]:
    return [element.key for element in at.get("bidi_component")]


def test_race_and_steps_are_two_tabs():
    """A link with a step opens the steps. Buttons lead to the tail and to a lagging reader."""
    at = page(None, set="twenty", target="140")
    assert {"search_race", "stepper"} & set(components(at)) == {"search_race"}
    stepped = page(None, set="twenty", target="140", step="3")
    assert {"search_race", "stepper"} & set(components(stepped)) == {"stepper"}
    press_button(at, "kv_behind")
    assert int(at.query_params["target"]) < 112
    press_button(at, "kv_tail")
    assert int(at.query_params["target"]) > 111


def test_the_page_opens_on_an_example(clean):
    """The newest of fourteen full pages, where plain binary search meets a cold page; the address
    names it.
    """
    at = page(clean)
    assert at.query_params["set"] == "pages"
    assert say("lookup.pages_title") in page_html(at)
    assert at.session_state["target"] == "258051"
    name = say("lookup.practice", name=say("lookup.set_pages"))
    assert name in page_html(at) and not at.get("menu_button")
    pick(at, "set", "real")
    assert "set" not in at.query_params and say("lookup.pages_title") not in page_html(at)
    assert name not in page_html(at)
    labels = [menu.proto.label.replace("\\", "") for menu in at.get("menu_button")]
    assert labels[1:] == ["heartbeat-0", "00000000000000010905"]


@pytest.mark.parametrize(
    "query",
    [{"tp": "dense-index-0"}, {"segment": "0"}, {"pin": "7"}, {"target": "7"}, {"by": "timestamp"}],
)
def test_a_link_to_a_place_opens_the_own_log(clean, query):
    at = page(clean, **query)
    assert "set" not in at.query_params and say("lookup.pages_title") not in page_html(at)


def test_the_warm_targets_are_hatched():
    """From key 111 on, where the warm section of four and one entries begins; none up to 2.0."""
    at = page(None, set="twenty", target="140")
    assert "hatched: found in the warm section" in page_html(at)
    assert "112 to 140" in page_html(at)
    at.selectbox(key="search").set_value("Kafka 0.11 to 2.0").run()
    assert "hatched" not in page_html(at)


def test_a_choice_is_a_short_word_in_the_address():
    """Defaults are left out. Labels are accepted, and a release stands for those that search alike."""
    at = page(None, set="5 entries", target="23", search="3.6", by="Timestamp")
    assert at.query_params["set"] == "five"
    assert at.query_params["search"] == "3.9"
    assert at.query_params["by"] == "timestamp"
    assert at.selectbox(key="search").value == "3.9"
    at.selectbox(key="search").set_value("Kafka 4.1 and later").run()
    pick(at, "by", "Offset")
    pick(at, "set", "20 entries")
    assert at.query_params["set"] == "twenty" and not {"search", "by"} & set(at.query_params)
    releases = ("4.0", "4.1.0", "0.10.2", "plain", "warm", "soon")
    alike = [lookup_cache.equivalent_version(release) for release in releases]
    assert alike == ["3.9", versions.NEWEST, "2.0", "2.0", versions.NEWEST, None]


def test_a_practice_log_stays_next_to_a_place_that_is_not_there(clean):
    """If it was asked for by name it is shown, also after the next choice."""
    at = page(clean, tp="nowhere-0", set="five", target="23")
    assert "Five entries" in page_html(at)
    at.selectbox(key="search").set_value("Kafka 0.11 to 2.0").run()
    assert "Five entries" in page_html(at) and at.query_params["set"] == "five"


def test_the_release_that_the_directory_looks_like(clean, tmp_path):
    """It searches unless another is chosen; a practice log uses the newest."""
    shutil.copytree(clean / "dense-index-0", tmp_path / "kafka" / "dense-index-0")
    (tmp_path / "kafka" / "meta.properties").write_text("version=0\nbroker.id=1\n")
    (tmp_path / "kafka" / ".kafka_cleanshutdown").touch()
    at = page(tmp_path / "kafka", target="2247")
    assert at.selectbox(key="search").value == "3.9" and "search" not in at.query_params
    assert at.selectbox(key="search").options == [
        "Kafka 4.1 and later",
        "Kafka 2.1 to 4.0",
        "Kafka 0.11 to 2.0",
    ]
    assert at.selectbox(key="search").help == "The directory looks like Kafka 3.6"
    assert "17 bytes, then 61" in steps(at)
    pick(at, "set", "5 entries")
    assert at.selectbox(key="search").value == versions.NEWEST and "search" not in at.query_params


@pytest.mark.parametrize(
    ("target", "search", "words"),
    [
        (
            "earliest",
            "4.3.1",
            (
                "The log starts at offset 0. That is the answer, without a timestamp; no index is "
                "searched."
            ),
        ),
        ("Latest", "4.3.1", f"The log ends at offset 6{T}000. That is the answer"),
        ("max", "4.3.1", f"Its first record with that time is offset 5{T}975: that is the answer."),
        ("max", "3.7", f"Its first record with that time is offset 5{T}975"),
    ],
)
def test_times_with_a_name(clean, target, search, words):
    """The log's start, its end and its largest timestamp; typed, or by a button."""
    at = page(clean, tp="dense-index-0", by="timestamp", target=target, search=search)
    assert words in steps(at) and "Why this offset?" not in page_html(at)
    press_button(at, "kv_earliest")
    assert at.query_params["target"] == "earliest" and "The log starts at offset 0" in steps(at)


def test_a_simulated_directory(tmp_path):
    assert main(["simulate", "heartbeat", "--out", str(tmp_path / "made")]) == 0
    at = page(tmp_path / "made", by="timestamp", target="2026-03-01 12:10:00.000")
    assert "first record not before the target is offset 500: that is the answer" in steps(at)


def test_what_a_read_committed_consumer_gets(clean):
    """Past an aborted transaction, and up to an open one."""
    aborted = {"tp": "payments-0", "target": "138"}
    first, other = page(clean, **aborted), page(clean, isolation="read_committed", **aborted)
    assert "offset 138" in steps(first).lower() and "gets no record" not in steps(first)
    assert "The consumer gets no record from this batch. The next record is offset" in steps(other)
    open_since = page(clean, tp="payments-0", target="18900", isolation="read_committed")
    assert (
        f"Offset 18{T}900 is not below the last stable offset, 18{T}900, where a transaction is "
        "open"
    ) in steps(open_since)
    latest = page(
        clean, tp="payments-0", by="timestamp", target="latest", isolation="read_committed"
    )
    assert "the last stable offset, and the answer for this consumer" in steps(latest)
    assert f"18{T}900" in steps(latest)
    hidden = page(clean, tp="payments-0", by="timestamp", target="max", isolation="read_committed")
    assert "this consumer does not get it. The answer is: none." in steps(hidden)


@pytest.mark.slow
def test_a_full_index():
    """1 310 720 entries: 27 steps."""
    at = page(None, set="full", target="1234567")
    assert f"61 bytes at 123{T}456{T}400" in steps(at)


def test_typed_keys():
    """With a warm section of any size; text that is not a key is reported."""
    at = page(None, set="keys", keys="6 14 22 26 31", target="23")
    assert "An index of 5 keys" in page_html(at)
    assert "Slot 2 is the last entry not above 23." in steps(at)
    at.selectbox(key="warm").set_value("2").run()
    assert "Slot 2, where the warm section begins, holds 22, which is below 23" in steps(at)
    assert_no_exception(at.text_input(key="keys").set_value("6 14 x").run())
    assert "x is not a relative offset" in page_html(at)


def test_no_target(clean):
    at = page(clean, tp="dense-index-0", target="soon")
    assert "“soon” is not a whole number" in page_html(at)
    press_button(at, "kv_offer")
    assert "What happens" in page_html(at)


def test_an_offset_outside_leads_to_the_nearest(clean):
    """The broker's own words, and no search."""
    at = page(clean, tp="dense-index-0", target="9999999")
    assert "but we only have log segments upto 6000" in page_html(at)
    assert "past the end: the last one is 5\u202f999" in page_html(at)
    assert "auto.offset.reset" in page_html(at)
    assert not at.get("plotly_chart") and not at.slider and "search_race" not in components(at)
    buttons = {button.key: button for button in at.button}
    assert "kv_random" in buttons
    assert buttons["kv_first_offset"].label == "Look up the first offset, 0"
    assert buttons["kv_last_offset"].label == "Look up the last offset, 5\u202f999"
    buttons["kv_last_offset"].click().run()
    assert at.session_state["target"] == "5999"
    assert at.slider and "search_race" in components(at)
    assert "kv_last_offset" not in [button.key for button in at.button]


def test_before_the_start(clean):
    at = page(clean, tp="weblogs-0", target="3")
    assert "before the start: the first one is 12\u202f177" in page_html(at)


def test_at_random_and_by_the_slider(clean):
    at = page(clean, tp="dense-index-0", target="2247")
    at.slider(key="kv_slider").set_value(10).run()
    assert at.text_input(key="target").value == "10"
    assert "not above 10" in steps(at)
    press_button(at, "kv_random")
    drawn = lookup_controls.parse_target(at.text_input(key="target").value, "offset")
    assert 0 <= drawn < 6000


def test_a_target_of_another_kind_gives_way(clean):
    at = page(clean, tp="dense-index-0", target="2247")
    pick(at, "by", "Timestamp")
    assert at.text_input(key="target").value.startswith("17900")


@pytest.mark.nightly
def test_every_partition_and_every_segment(clean):
    for partition in open_broker(clean).partitions:
        for by in ("offset", "timestamp"):
            at = page(
                clean, tp=partition.directory, segment=str(partition.live[0].base_offset), by=by
            )
            assert "<h1>" in page_html(at), partition.directory


@pytest.mark.slow
def test_damage_is_reported(damaged):
    """A directory whose files were damaged by hand gives a page each, never a traceback."""
    for partition in open_broker(damaged).partitions[:6]:
        for by in ("offset", "timestamp"):
            assert "<h1>" in page_html(page(damaged, tp=partition.directory, by=by)), (
                partition.directory
            )


@pytest.mark.parametrize(
    ("language", "title", "step"),
    [
        ("en", "The lookup ends in damaged bytes", "The broker answers with an exception, "),
        ("zh", "查找碰到了损坏的字节", "broker 返回异常 "),
    ],
)
def test_a_damaged_read_has_its_steps_and_the_error_of_the_command(
    clean, tmp_path, capsys, language, title, step
):
    """Up to the length that Kafka refuses."""
    lab = Lab(clean, tmp_path / "kafka", ["dense-index-0"])
    log = lab.files("dense-index-0", ".log")[0]
    position = 212990  # of the batch that follows offset 2244
    lab.change(log, lambda data: data.__setitem__(slice(position + 8, position + 12), bytes(4)))
    arguments = ["lookup", str(lab.path / "dense-index-0"), "--offset", "2247", "--json"]
    assert main(arguments) == 0
    error = json.loads(capsys.readouterr().out)["error"]
    name, _, words = error.partition(": ")
    at = page(lab.path, tp="dense-index-0", by="offset", target="2247", lang=language)
    text = page_html(at)
    assert title in text and name.rpartition(".")[2] in text
    assert words.rpartition(": ")[2] in text
    table = next(
        element.proto.body
        for element in at.get("html")
        if "CorruptRecordException" in element.proto.body and step in element.proto.body
    )
    assert f"{position:,}".replace(",", T) in table


def test_no_directory_shows_practice(monkeypatch, tmp_path):
    monkeypatch.setattr("kafkaviz.app.access.SAMPLES", tmp_path)
    assert say("lookup.pages_title") in page_html(page(None))


def test_a_wrong_place_is_reported(clean):
    """The page does not silently show another topic-partition."""
    assert "What happens" not in page_html(page(clean, tp="nowhere-0"))


@pytest.mark.parametrize("text", ["2247", "2 247", "2_247", f"2{T}247"])
def test_targets_as_people_write_them(text):
    """The address holds plain digits."""
    assert lookup_controls.parse_target(text, "offset") == 2247
    assert lookup_controls.format_target(2247, "offset") == "2247"


def test_what_is_no_target():
    assert lookup_controls.parse_target("-1", "offset") == -1
    for text in ("", "soon", "1.5", "2026-09-21"):
        with pytest.raises(ValueError):
            lookup_controls.parse_target(text, "offset")
    assert lookup_controls.parse_target("2026-09-21T14:20:45Z", "timestamp") == 1_790_000_445_000


def test_what_is_no_key():
    assert parse_keys(" 1, 2;3 ") == [1, 2, 3] and parse_keys("") == []
    for text in ("a", "2147483648", " ".join("1" for _ in range(5000))):
        with pytest.raises(ValueError):
            parse_keys(text)


def test_an_unclean_directory_is_read_as_a_recovery_leaves_it(killed):
    for partition in open_broker(killed).partitions:
        for by in ("offset", "timestamp"):
            at = page(killed, tp=partition.directory, by=by)
            text = page_html(at)
            assert "default index.interval.bytes would rebuild" in text, partition.directory


@pytest.fixture
def garbled(data, tmp_path) -> Path:
    """Returns a copy of a real partition in which the last record of the batch at byte 109 and the
    first of that at 952 have a broken length.
    """
    folder = tmp_path / "kafka" / "nulls-0"
    shutil.copytree(data / "kafka-4.3.1" / "nulls-0", folder)
    content = bytearray((folder / f"{0:020}.log").read_bytes())
    content[109 + HEADER_BYTES + 183] = content[952 + HEADER_BYTES] = 0x01  # the varint of -1
    (folder / f"{0:020}.log").write_bytes(content)
    return folder


def test_bytes_that_the_lookup_does_not_need(garbled):
    """The batch with unreadable records is named, and so is a neighbour of the target."""
    at = page(garbled, by="timestamp", target="1790000000002")
    text = page_html(at)
    assert "Its first record not before the target is offset 2: that is the answer" in steps(at)
    assert "2 batches near the target were left out, because their records cannot be read" in text
    assert "byte 353" in text


@pytest.mark.parametrize("target", ["-1", "-2", "-4", "1969-12-31 23:59:59", "9223372036854775808"])
def test_what_is_no_time_is_not_shown_as_one(clean, target):
    """Kafka's special timestamps are below 0; beyond int64 there is none."""
    at = page(clean, tp="dense-index-0", by="timestamp", target=target)
    assert f"“{target}” is not a time" in page_html(at)
    assert "damaged" not in page_html(at)
    assert "What happens" not in page_html(at)


def test_a_wrong_question_is_no_damage(clean, monkeypatch):
    def refused(*arguments: object, **options: object) -> None:
        raise KafkavizError(verbatim("Kafka has a time index from 0.10.1 on"))

    monkeypatch.setattr(lookup_cache, "lookup_context", refused)
    text = page_html(page(clean, tp="dense-index-0", by="offset", target="5"))
    assert "This cannot be looked up" in text and "damaged" not in text


@pytest.mark.parametrize(
    ("by", "target", "more"),
    [("offset", "500", set()), ("timestamp", "1790003000000", {"kv_why_csv"})],
)
def test_a_download_next_to_each_table(clean, by, target, more):
    """The steps, the lookup as JSON, and of a timestamp the segments."""
    at = page(clean, tp="sensors-late-0", by=by, target=target)
    keys = {element.key for element in at.get("download_button")}
    assert keys == {"kv_steps_csv", "kv_lookup_json"} | more
