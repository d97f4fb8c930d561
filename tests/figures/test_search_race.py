"""The race of the two searches: its text for each disk, its strips, and its plain values."""

import json

import pytest

from kafkaviz.analysis.lookup import search_race as races
from kafkaviz.figures.lookup import search_race
from kafkaviz.figures.lookup.search_race import SearchRaceView
from kafkaviz.simulate.lessons import practice

T = "\u202f"


def view(entries: int, target: int, **sizes: int) -> SearchRaceView:
    """Returns the race in an index with the keys 0, 1, 2 and so on."""
    segment = practice.log_of_keys(range(entries)).segments[0]
    return search_race.view(races.race(segment, "offset", target, **sizes))


def jump_views() -> tuple[SearchRaceView, ...]:
    """Returns the race at the entry where the middle moves to page 7, and at the one before."""
    segment = practice.log_of_keys(range(7168)).segments[0]
    race = races.race(segment, "offset", 7168)
    return search_race.views(race, races.race_before_jump(segment, 7168, race))


TAIL = view(7168, 7168)


@pytest.mark.parametrize(
    ("disk", "title"),
    [
        (
            0,
            "Plain binary search waits for 1 cold page: 100 µs. "
            "Warm-section-first search meets hot pages only: 0.27 µs",
        ),
        (
            2,
            "Plain binary search waits for 1 cold page: 12.0 ms. "
            "Warm-section-first search meets hot pages only: 0.27 µs",
        ),
    ],
)
def test_the_title_is_the_result(disk, title):
    assert TAIL.storages[disk].title == title


@pytest.mark.parametrize(
    ("entries", "target", "title"),
    [
        (
            7168,
            100,
            "Both searches read from disk: plain binary search 3 cold pages, in 300 µs; "
            "warm-section-first search 4 cold pages, in 400 µs",
        ),
        (
            400,
            151,
            "All pages are hot: plain binary search takes 0.23 µs, warm-section-first search 0.23 µs",
        ),
    ],
)
def test_who_waits(entries, target, title):
    assert view(entries, target).storages[0].title == title


def test_the_title_says_which_entry_it_is():
    """The entry at which a middle moves to a cold page is named, next to the one before."""
    jump, before = jump_views()
    assert jump.question.startswith(
        "The entry at which the middles move to pages that no reader used"
    )
    assert jump.storages[0].title == (
        "The entry at which the middles move to pages that no reader used lately. Plain binary search "
        "waits for 1 cold page: 100 µs. Warm-section-first search meets hot pages only: 0.27 µs"
    )
    assert before.storages[0].title == (
        "One entry earlier, before the middles move. All pages are hot: plain binary search takes "
        "0.30 µs, warm-section-first search 0.27 µs"
    )
    assert (jump.other, before.other) == ("One entry earlier", "One entry later")
    assert TAIL.other == ""


@pytest.mark.parametrize(
    ("entries", "target", "words"),
    [
        (
            7168,
            7168,
            f"Since 2.1 Kafka searches the warm section first, the last 1{T}024 entries and the one before",
        ),
        (
            7168,
            100,
            f"ends before the warm section, the last 1{T}024 entries and the one before",
        ),
        (1025, 100, "so short that all of it is the warm section"),
    ],
)
def test_the_caption_says_where_the_target_is(entries, target, words):
    """After the meaning of hot and cold."""
    caption = view(entries, target).caption
    assert caption.startswith("Pages of 4 KiB.")
    assert words in caption


def test_the_strips():
    plain, warm = TAIL.lanes
    assert [cell.page for cell in TAIL.cells] == list(range(14))
    assert [page for page in range(14) if plain.hot[page]] == [0, 6, 10, 11, 12, 13]
    assert [page for page in range(14) if warm.hot[page]] == [11, 12, 13]
    assert [step.cold for step in plain.steps if step.cold] == [(7,)]
    assert (plain.warm_from, warm.warm_from) == (None, 6143 / 512)


def test_each_lane_says_why_its_first_probe():
    plain, warm = TAIL.lanes
    assert plain.first == "slot 0 first: is there an answer at all?"
    assert warm.first == f"slot 6{T}143 first: where the section begins"


def test_what_a_search_came_to():
    plain, warm = TAIL.lanes
    assert plain.end == "14 probes on 5 pages; waited for page 7"
    assert warm.end == "12 probes on 3 pages"
    assert plain.alt == "Plain binary search reads pages 0, 7, 10, 12, 13; waited for page 7"


def test_of_many_pages_those_are_drawn_that_matter():
    """The pages that are read or hot, and the warm section, with the number left out."""
    race = view(1_310_720, 1_310_720)
    assert len(race.cells) < 32
    assert race.cells[-1].page == 2559
    assert sum(cell.skipped + 1 for cell in race.cells) == 2560
    assert {cell.page for cell in race.cells} >= {0, 1279, 1280, 2557, 2558, 2559}


def test_a_reader_far_from_the_tail_is_slower():
    assert "A lagging reader is slower for it" in view(7168, 100).caption


def test_the_model_is_called_one():
    note = TAIL.storages[0].note
    assert "within the last 1 MB of log" in note
    assert "Times are a model: 0.10 µs per search, 14 ns per probe, 100 µs per cold page" in note
    small = view(20, 20, warm_bytes=32, page_bytes=32)
    assert small.storages[0].note.startswith("A page is 4 slots here; Kafka’s are 4 KiB.")


@pytest.mark.parametrize(
    ("time_us", "text"),
    [
        (0.268, "0.27 µs"),
        (99.96, "100 µs"),
        (999.4, "999 µs"),
        (999.6, "1.00 ms"),
        (24_000.2, "24.0 ms"),
        (1_200_000, "1.20 s"),
    ],
)
def test_times_have_three_digits(time_us, text):
    assert search_race.time_text(time_us) == text


def test_the_message_is_plain_values():
    message = json.loads(json.dumps(search_race.browser_payload([TAIL], "key")))
    (race,) = message["races"]
    assert [storage["name"] for storage in race["storages"]] == [
        "nvme",
        "ssd",
        "hdd",
        "cloud-volume",
    ]
    begin, ready, end = race["storages"][0]["results"][0]["times"][1]
    assert (begin, ready, end) == pytest.approx((0.114, 100.114, 100.128))
    assert race["lanes"][0]["steps"][1] == {"slot": 3584, "cells": [7], "cold": [7]}
