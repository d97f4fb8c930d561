"""Pages of a small broker: targets of pickers and keys, and messages for missing things."""

import io
import json
from pathlib import Path

import pytest
import streamlit as st

from kafkaviz import workshop
from kafkaviz.__main__ import main
from kafkaviz.analysis.broker_health import check
from kafkaviz.app import access, frame, page_state
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.frontend import last_query
from kafkaviz.app.pages import broker as broker_page
from kafkaviz.app.pages import health
from kafkaviz.app.pages import rolls as rolls_page
from kafkaviz.app.pages.health import TRACES, _health_json
from kafkaviz.app.widgets import faults
from kafkaviz.errors import KafkavizError
from kafkaviz.log.broker import Problem, open_broker
from kafkaviz.messages import message, say
from kafkaviz.units import format_bytes
from kafkaviz.workshop import lesson_state, lessons
from tests.app.health_page import page as health_page
from tests.pipeline import whole_logs
from tests.support.pages import assert_no_exception, open_page, page_html, press_button, query_value

pytestmark = pytest.mark.usefixtures("starts")
FAULT = KafkavizError(message("errors.not_there"))


def fail(*_values: object, **_named: object) -> None:
    raise FAULT


@pytest.fixture(scope="module")
def broker(tmp_path_factory) -> Path:
    """Returns two partitions: t-0 with three segments, of which the last has no .log, and u-0."""
    directory = whole_logs.broker(tmp_path_factory.mktemp("pages") / "kafka")
    start_ms = whole_logs.START_MS
    for name, bases in (("t-0", (0, 3)), ("u-0", (0,))):
        for base in bases:
            whole_logs.write(directory / name, [whole_logs.batch(base, [start_ms] * 3)], base)
    whole_logs.write(directory / "t-0", [], 9).with_suffix(".log").unlink()
    return directory


@pytest.fixture
def choose(monkeypatch):
    def set_choice(key: str, entry: object) -> None:
        choices = {key: entry}

        def menu_button(label: str, options: list, *, key: str, **_options: object) -> object:
            return choices.pop(key) if choices.get(key) in options and key in choices else None

        monkeypatch.setattr(st, "menu_button", menu_button)

    return set_choice


@pytest.mark.parametrize(
    ("page", "key", "entry", "name", "value"),
    [
        ("segment", "kv_pick_tp", "u-0", "tp", "u-0"),
        ("segment", "kv_pick_segment", f"{3:020}", "segment", "3"),
        ("health", "kv_release", "3.9", page_state.RELEASE, "3.9"),
    ],
)
def test_a_picker_leads_to_what_was_chosen(broker, choose, page, key, entry, name, value):
    choose(key, entry)
    at = open_page(page, dir=broker, tp="t-0", segment="0")
    assert query_value(at, name) == value


def test_the_traces_are_chosen_over_a_release(broker, choose):
    choose("kv_release", TRACES)
    at = open_page("health", dir=broker, **{page_state.RELEASE: "3.9"})
    assert query_value(at, page_state.RELEASE) is None


@pytest.mark.parametrize(
    ("key", "segment", "expected"),
    [("]", "0", "3"), ("[", "3", "0"), ("[", "0", "0"), ("]", "3", "3")],
)
def test_brackets_lead_to_the_next_segment(broker, monkeypatch, key, segment, expected):
    presses = [key]
    monkeypatch.setattr(frame, "keys", lambda wanted: presses.pop() if presses else None)
    at = open_page("segment", dir=broker, tp="t-0")
    presses.append(key)
    at.query_params["segment"] = segment
    assert query_value(assert_no_exception(at.run()), "segment") == expected


def test_a_question_mark_opens_the_list_of_keys(broker, monkeypatch):
    presses = []
    monkeypatch.setattr(frame, "keys", lambda wanted: presses.pop() if presses else None)
    at = open_page("segment", dir=broker, tp="t-0")
    presses.append("?")
    assert_no_exception(at.run())
    assert at.session_state[page_state.DIALOG][0] == "keys"


def test_a_broker_without_a_partition_is_empty(tmp_path):
    at = open_page("lookup", dir=whole_logs.broker(tmp_path / "kafka"))
    assert say("faults.no_partition", name="kafka") in page_html(at)


def test_partitions_none_of_which_can_be_read_are_listed(tmp_path, monkeypatch):
    """The first of many with path and reason, and how many more there are."""
    problems = [
        Problem(tmp_path / f"t-{number}", message("errors.not_there"), "file")
        for number in range(faults.MAX_PROBLEMS + 2)
    ]
    tables = []
    monkeypatch.setattr(faults.elements, "table", lambda head, rows: tables.append([*rows]))
    faults.problem_table(tmp_path, problems)
    (rows,) = tables
    assert len(rows) == faults.MAX_PROBLEMS + 1
    assert "t-0" in rows[0] and "is not there" in rows[0]
    assert "2 more" in rows[-1]


def test_a_path_that_cannot_be_read_is_shown_with_its_reason(tmp_path):
    (tmp_path / "kafka").symlink_to("kafka")
    at = open_page(dir=tmp_path / "kafka")
    assert "kv_again" in {button.key for button in at.button}


def test_an_upload_is_opened_as_soon_as_it_is_here(monkeypatch, tmp_path):
    monkeypatch.setattr(access, "takes_uploads", lambda: True)
    opened = []
    archive = io.BytesIO(b"an archive")
    archive.name = "broker.tar.gz"
    uploads = [archive]
    monkeypatch.setattr(
        broker_page.st, "file_uploader", lambda *_, **__: [uploads.pop()] if uploads else []
    )
    monkeypatch.setattr(broker_page.faults, "open_directory", opened.append)
    at = press_button(open_page(), "kv_upload")
    (path,) = map(Path, opened)
    assert (path.name, path.read_bytes()) == ("broker.tar.gz", b"an archive")
    assert at.session_state  # the rest of the page is drawn


def test_a_recovery_that_does_not_get_through_says_why(broker, monkeypatch):
    """Nothing is changed; a log that is too large is not begun."""
    monkeypatch.setattr(health, "_rebuild", fail)
    at = press_button(health_page(broker), "kv_build")
    assert say("health.not_through") in page_html(at)
    monkeypatch.setattr(health, "MAX_LOG_BYTES", 0)
    at = health_page(broker)
    assert "kv_build" not in {button.key for button in at.button}
    sizes = {format_bytes(partition.live_log_bytes) for partition in open_broker(broker).partitions}
    assert any(say("health.too_much", size=text) in page_html(at) for text in sizes)


def test_an_index_that_is_not_on_disk_has_no_difference(broker):
    """It is built anyway."""
    partition = open_broker(broker).partition("u-0")
    (comparison,) = health.compare_files({"gone.index": b"12345678"}, partition)
    assert (comparison.on_disk_bytes, comparison.rebuilt_bytes) == (None, 8)
    assert comparison.difference == say("health.not_on_disk")


def test_the_files_of_a_check_are_those_of_the_commands(broker, capsys):
    health = check(broker)
    main(["check", str(broker), "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert {"schema", *json.loads(_health_json(health))} == printed.keys()
    assert json.loads(_health_json(health))["findings"] == printed["findings"]


@pytest.mark.parametrize(
    ("query", "module", "function", "key"),
    [
        ({}, simulation_cache, "simulate", "rolls.unmade"),
        ({"of": "t-0"}, rolls_page, "rolls_on_disk", "rolls.untold"),
    ],
)
def test_rolls_that_cannot_be_worked_out_say_why(broker, monkeypatch, query, module, function, key):
    monkeypatch.setattr(module, function, fail)
    at = open_page("rolls", dir=broker, tp="t-0", **query)
    assert "<h1>Rolls</h1>" in page_html(at) and say(key) in page_html(at)


def test_a_folder_without_lessons_says_so(monkeypatch):
    monkeypatch.setattr(lessons, "LESSONS_FOLDER", Path("no-lessons"))
    monkeypatch.delenv(lessons.LESSONS, raising=False)
    at = open_page("workshop")
    assert say("workshop.no_lessons") in page_html(at)


def test_a_lesson_and_a_track_are_picked(monkeypatch, choose):
    monkeypatch.delenv(lessons.LESSONS, raising=False)
    choose("kv_pick_track", lesson_state.SHORT)
    at = open_page("workshop", lesson="last-offset", at="1")
    assert query_value(at, workshop.TRACK) == lesson_state.SHORT
    choose("kv_pick_track", "")
    assert query_value(assert_no_exception(at.run()), workshop.TRACK) is None


def test_the_last_query_is_that_of_this_run(monkeypatch):
    monkeypatch.setattr(st, "session_state", {"kv_sql": {"asked": "SELECT 1"}})
    assert last_query() == "SELECT 1"
    monkeypatch.setattr(st, "session_state", {})
    assert last_query() is None
