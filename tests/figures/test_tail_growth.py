import json

import pytest

from kafkaviz.analysis.cost import page_replay as growth
from kafkaviz.figures.lookup import tail_growth

STEPS = growth.grow(16)
VIEW = tail_growth.view(STEPS, growth.MEMORY)
NONE = "warm-section-first search waits for none"


@pytest.mark.parametrize(
    ("pages", "title"),
    [
        (1, "With one page, neither search has to wait"),
        (13, "From 12 to 13 pages, neither search has to wait"),
        (14, f"From 13 to 14 pages, plain binary search has to wait for pages 7 and 10; {NONE}"),
        (15, f"From 14 to 15 pages, plain binary search has to wait for page 11; {NONE}"),
    ],
)
def test_the_title_is_the_finding(pages, title):
    assert VIEW.sizes[pages - 1].title == title


def test_the_middles_jump():
    """From 0, 6, 9, 11, 12 to 0, 7, 10, 12, 13; the warm search moves by one page."""
    plain, warm = VIEW.sizes[13].lanes
    assert plain.moves == ((0, 0), (6, 7), (9, 10), (11, 12), (12, 13))
    assert (plain.pages_before, plain.pages) == ((0, 6, 9, 11, 12), (0, 7, 10, 12, 13))
    assert warm.moves == ((10, 11), (11, 12), (12, 13))
    assert (warm.warm_from_before, warm.warm_from) == (5631 / 512, 6143 / 512)


def test_a_page_is_hot_or_cold():
    """A page that was waited for on the way is cold, also where it has been read since."""
    plain, warm = VIEW.sizes[13].lanes
    assert (plain.hot_before, plain.hot) == ((0, 6, 9, 11, 12), (0, 6, 11, 12, 13))
    assert (warm.hot_before, warm.hot) == ((10, 11, 12), (11, 12, 13))


def test_a_wait_says_how_long_its_page_lay_idle():
    """In bytes of log, and the number of entries at which it was needed."""
    plain, warm = VIEW.sizes[13].lanes
    assert plain.waits == ((7, "7.9 MB", "7\u202f168"), (10, "1.8 MB", "6\u202f827"))
    assert (plain.waits_text, warm.waits_text) == ("2 waits while it grew", "no wait")
    assert (plain.costs, warm.costs) == ("14 probes, 5 pages", "12 probes, 3 pages")


def test_waits_of_different_lookups_are_said_to_be_so():
    """Pages 7 and 10 at 7168 and 6827 entries; page 11 alone; pages 6 and 9 at the same entry."""
    assert VIEW.sizes[13].lookups == (
        "While the index grows from 13 to 14 pages, 2 lookups wait, 2 times in all. The last "
        "lookup, at 7\u202f168 entries, waits for page 7."
    )
    assert (VIEW.sizes[14].lookups, VIEW.sizes[11].lookups) == ("", "")


def test_the_model_is_called_one():
    assert "The waits are modelled" in VIEW.note
    assert "while 1 MB of this log" in VIEW.note and "every 4\u202f608 B" in VIEW.note


def test_the_picture_in_words():
    """For readers who cannot see it."""
    assert VIEW.sizes[13].alt.endswith(
        "Plain binary search reads pages 0, 7, 10, 12, 13; Warm section first reads pages 11, 12, 13"
    )
    assert VIEW.sizes[13].size == "14 pages, 7\u202f168 entries"


def test_the_sizes_as_a_table():
    rows = tail_growth.rows(STEPS)
    assert len(rows) == 16
    assert rows[13] == ("14", "7168", "0, 7, 10, 12, 13", "7, 10", "11, 12, 13", "")


def test_the_message_is_plain_values():
    message = json.loads(json.dumps(tail_growth.browser_payload(VIEW)))
    assert (message["first"], len(message["sizes"])) == (14, 16)
    wait = message["sizes"][13]["lanes"][0]["waits"][0]
    assert wait == {"page": 7, "idle": "7.9 MB", "entries": "7\u202f168"}
    titles = [name["title"] for name in message["names"]]
    assert titles == ["Plain binary search", "Warm section first"]
