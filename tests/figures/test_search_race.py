"""The race of the two searches: its texts, its strips, and its plain values."""

import json

import pytest

from kafkaviz.analysis.lookup import search_race as races
from kafkaviz.figures.lookup import search_race
from kafkaviz.figures.lookup.search_race import SearchRaceView
from kafkaviz.messages import say, say_count
from kafkaviz.render.sentences import join_sentences
from kafkaviz.simulate import lesson_logs

T = "\u202f"


def view(entries: int, target: int, **sizes: int) -> SearchRaceView:
    """Returns the race in an index with the keys 0, 1, 2 and so on."""
    segment = lesson_logs.log_of_keys(range(entries)).segments[0]
    return search_race.view(races.race(segment, "offset", target, **sizes))


def jump_views(lagging_target: int | None = None) -> tuple[SearchRaceView, ...]:
    """Returns the race at the entry where the middle moves to page 7, and at the one before."""
    segment = lesson_logs.log_of_keys(range(7168)).segments[0]
    race = races.race(segment, "offset", 7168, lagging_target=lagging_target)
    return search_race.views(race, races.race_without_last_entry(segment, 7168, race))


TAIL = view(7168, 7168)


def test_the_question_says_which_entry_it_is():
    """The entry at which a middle moves to a cold page is named, next to the one before."""
    jump, before = jump_views()
    assert jump.question == say("search_race.question_jump_1")
    assert before.question == say("search_race.question_before")
    assert (jump.other, before.other) == ("One entry earlier", "One entry later")
    assert jump.at == "{result} One middle had just moved to this cold page."
    assert (before.at, TAIL.at) == ("{result} The middles move when one more entry is added.", "")
    assert TAIL.other == ""


@pytest.mark.parametrize(
    ("entries", "target", "place"),
    [(7168, 7168, "in_warm"), (7168, 100, "in_front"), (1025, 100, "all_warm")],
)
def test_the_caption_says_where_the_target_is(entries, target, place):
    race_view = view(entries, target)
    assert race_view.caption == say(f"search_race.{place}", n=f"1{T}024", size="8 KiB")
    assert race_view.is_in_front == (place == "in_front")


def test_the_caption_says_what_a_lagging_reader_pays():
    """In the index of the race, and in the one with an entry less."""
    place = say("search_race.in_warm", n=f"1{T}024", size="8 KiB")
    price = say_count("search_race.lagging", 5, plain=3, read="{read}")
    assert [race_view.caption for race_view in jump_views(lagging_target=3000)] == [
        join_sentences([place, price]),
        join_sentences([place, say_count("search_race.lagging", 4, plain=2, read="{read}")]),
    ]
    # a target above all entries in front of the warm section belongs to another segment
    assert [race_view.caption for race_view in jump_views(lagging_target=9000)] == [place, place]


def test_the_strips():
    plain, warm = TAIL.lanes
    assert [cell.page for cell in TAIL.cells] == list(range(14))
    assert [page for page in range(14) if plain.hot[page]] == [0, 6, 10, 11, 12, 13]
    assert [page for page in range(14) if warm.hot[page]] == [11, 12, 13]
    assert [cell for step in plain.steps for cell in step.cells if not plain.hot[cell]] == [7]
    assert (plain.warm_from, warm.warm_from) == (None, 6143 / 512)


def test_each_lane_says_why_its_first_probe():
    plain, warm = TAIL.lanes
    assert plain.first == "slot 0 first: is there an answer at all?"
    assert warm.first == f"slot 6{T}143 on page 11 first: is the target in the warm section?"


def test_what_a_search_came_to():
    plain, warm = TAIL.lanes
    assert (plain.end, warm.end) == ("14 probes on 5 pages", "12 probes on 3 pages")
    assert plain.alt == "Plain binary search reads pages 0, 7, 10, 12, 13"


def test_of_many_pages_those_are_drawn_that_matter():
    """The pages that are read or hot, and the warm section, with the number left out."""
    race = view(1_310_720, 1_310_720)
    assert len(race.cells) < 32
    assert race.cells[-1].page == 2559
    assert sum(cell.skipped + 1 for cell in race.cells) == 2560
    assert {cell.page for cell in race.cells} >= {0, 1279, 1280, 2557, 2558, 2559}


def test_the_model_is_called_one():
    note = TAIL.note
    assert "within the last 1 MB of log" in note
    assert "Times are a model: 0.1 µs per search, 14 ns per probe, {read} per cold page" in note
    small = view(20, 20, warm_bytes=32, page_bytes=32)
    assert small.note.startswith("A page has 4 slots here; Kafka’s pages are 4 KiB.")


def test_the_message_is_plain_values():
    message = json.loads(json.dumps(search_race.browser_payload([TAIL], "key")))
    (race,) = message["races"]
    read_us = {disk["name"]: disk["read_us"] for disk in message["disks"]}
    assert read_us == {"nvme": 100, "ssd": 140, "hdd": 12000, "cloud-volume": 1000}
    assert message["disks"][2]["label"] == "hard disk, 12.0 ms per page"
    assert race["lanes"][0]["steps"][1] == {"slot": 3584, "cells": [7]}


def test_the_pages_of_one_search_for_the_stepper():
    segment = lesson_logs.log_of_keys(range(7168)).segments[0]
    race = races.race(segment, "offset", 7168)
    memory = search_race.memory_payload(race, is_warm=True, name="0.1")
    assert memory["lane"]["title"] == TAIL.lanes[1].title
    assert [place for place, hot in enumerate(memory["lane"]["hot"]) if hot] == [11, 12, 13]
    assert len(memory["cells"]) == 14
