"""The facts next to the ruler, as text: sound and damaged segments, and missing files."""

from dataclasses import replace

import pytest

from kafkaviz import units
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.retention import segment_retention
from kafkaviz.analysis.segment import anatomy
from kafkaviz.figures.segment import segment_facts
from kafkaviz.figures.segment.segment_facts import Fact
from kafkaviz.log.broker import open_broker
from tests.analysis import arrays


def rows(segment_anatomy, reason: str | None = None) -> dict[str, dict[str, Fact]]:
    return {
        file: {fact.label: fact for fact in facts}
        for _, file, facts in segment_facts.file_facts(segment_anatomy, reason)
    }


def fact_texts(facts: dict[str, Fact]) -> dict[str, str]:
    return {
        label: f"{fact.value} {fact.detail}".strip().replace("\u202f", " ")
        for label, fact in facts.items()
    }


def test_a_closed_segment(clean):
    facts = rows(anatomy.read(open_broker(clean).partition("payments-0").segment(7975)), "size")
    assert fact_texts(facts[".log"]) == {
        "Offsets": "7 975 – 15 903",
        "Records": "7 929",
        "Batches": "906 of 78–2 900 B",
        "Bytes": "1023 KiB",
        "First record": "09:29:43.113",
        "Newest record": "09:29:45.182",
        "Rolled by": "size (inferred)",
    }
    assert fact_texts(facts[".index"]) == {
        "Entries": "209 = 1 672 B, the whole file",
        "Gap, median": "4 906 B",
        "Gap, min – p99": "4 104 – 6 438 B",
        "Interval when written": "4 095 – 4 103 B",
        "Never indexed": "697 batches, 77 %",
    }
    assert fact_texts(facts[".timeindex"]) == {
        "Entries": "206 = 2 472 B, the whole file",
        "Index entries without a time": "3 no newer record",
        "Written at the roll": "0",
    }
    assert facts[".log"]["Bytes"].hover == "1\u202f048\u202f043 B"
    assert facts[".log"]["First record"].hover == "2026-11-21 09:29:43.113 UTC"


def test_a_killed_segment(killed):
    facts = rows(anatomy.read(open_broker(killed).partition("append-time-0").segment(0)))
    log, index, times = (fact_texts(facts[file]) for file in (".log", ".index", ".timeindex"))
    assert (log["State"], log["After the last batch"]) == ("active", "45 B, torn")
    assert facts[".log"]["After the last batch"].is_wrong
    # by the broker's clock, which a header keeps as the largest timestamp alone
    assert log["First record"] == "09:32:29.424"
    assert (index["Entries"], index["Never written"]) == ("104 = 832 B of 64 KiB", "8 088 slots")
    assert (times["Never written"], times["Written at a stop"]) == ("5 357 slots", "0")


@pytest.mark.parametrize(
    ("directory", "base_offset", "file", "label", "words"),
    [
        ("rides-0", 1811, ".index", "File", "missing"),
        ("rides-0", 607, ".timeindex", "File", "missing"),
        ("bookings-0", 858, ".index", "Leads astray", "slot 3"),
        ("bookings-0", 1721, ".timeindex", "Not in the log", "slot 2"),
        ("metrics-0", 0, ".index", "After the last slot", "5 B"),
    ],
)
def test_damage_is_reported_and_drawn_as_such(damaged, directory, base_offset, file, label, words):
    fact = rows(anatomy.read(open_broker(damaged).partition(directory).segment(base_offset)))[file][
        label
    ]
    assert fact.value == words and fact.is_wrong


def test_why_index_points_are_without_a_time():
    """They say "no newer record came" only if true."""

    def why(table, times=None) -> str:
        entries, written = arrays.indexed(table, 300)
        return rows(arrays.anatomy(table, entries, written if times is None else times))[
            ".timeindex"
        ]["Index entries without a time"].detail

    late = arrays.batches(
        [100] * 40, times_ms=[1_700_000_000_000 + min(number, 20) for number in range(40)]
    )
    assert why(late) == "no newer record"
    _, written = arrays.indexed(late, 300)
    assert why(late, written[:1]) == ""
    assert why(arrays.batches([100] * 40), arrays.time_entries([])) == ""
    assert why(arrays.batches([100] * 40, times_ms=[-1] * 40), arrays.time_entries([])) == (
        "no timestamps"
    )


def test_a_segment_of_a_deleted_topic_is_deleted(clean):
    segment_anatomy = anatomy.read(open_broker(clean).partition("payments-0").segment(7975))
    for state, labels in (
        ("delete", {"State": "deleted"}),
        ("current", {"Rolled by": "size (inferred)"}),
    ):
        facts = segment_facts.file_facts(segment_anatomy, "size", state)[0][2]
        log = fact_texts({fact.label: fact for fact in facts})
        assert {label: log[label] for label in log if label in ("State", "Rolled by")} == labels


def test_time_entries_without_an_index():
    table = arrays.batches([100] * 9)
    entries, times = arrays.indexed(table, 400)
    assert fact_texts(rows(arrays.anatomy(table, None, times))[".timeindex"]) == {
        "Entries": "2 = 24 B, the whole file",
        "Without an index entry": "2",
    }
    assert (
        "Without an index entry"
        in rows(arrays.anatomy(table, entries, times, unwritten=(4, 0)))[".timeindex"]
    )


def test_an_unknown_reason():
    """A dash with the reason."""
    table = arrays.batches([100] * 2)
    fact = rows(arrays.anatomy(table, None, None))[".log"]["Rolled by"]
    assert fact.value == "–" and "no setting explains the roll" in fact.hover
    assert (
        rows(arrays.anatomy(table, None, None, state="deleted"))[".log"]["State"].value == "deleted"
    )


def test_an_empty_log():
    table = arrays.batches([])
    facts = rows(
        arrays.anatomy(table, arrays.offset_entries([]), arrays.time_entries([]), state="active")
    )
    assert fact_texts(facts[".log"]) == {"Bytes": "0 B", "State": "active"}
    assert fact_texts(facts[".index"]) == {"Entries": "0 in an empty file"}


def test_wrappers_do_not_tell():
    table = arrays.wrapped(arrays.batches([100] * 3, base_offset=9), [0, 1])
    log = fact_texts(rows(arrays.anatomy(table, None, None, 9))[".log"])
    assert (log["Offsets"], log["Records"], log["Batches"]) == ("up to 11", "–", "3 of 100 B")
    assert log["First record"] == "–"
    assert log["Newest record"] == "22:13:20.002"


def test_segments_of_days_show_the_day():
    table = arrays.batches([100, 100], times_ms=[1_700_000_000_000, 1_700_086_400_000])
    log = fact_texts(rows(arrays.anatomy(table, None, None))[".log"])
    assert log["First record"] == "2023-11-14 22:13:20"
    assert log["Newest record"] == "2023-11-15 22:13:20"


def test_large_files_have_larger_units():
    entries = arrays.offset_entries([(row, row * 5000) for row in range(1, 200_001)])
    facts = fact_texts(rows(arrays.anatomy(arrays.batches([100]), entries, None))[".index"])
    assert facts["Entries"] == "200 000 = 1.53 MiB, the whole file"
    assert facts["Leads astray"] == "200 000 slots"


def test_until_when_a_segment_is_kept(clean):
    """By the settings of its topic, with the rule on hover; or without a limit."""
    planned = plan_check(open_broker(clean))
    partition = planned.broker.partition("payments-0")
    segment_anatomy = anatomy.read(partition.segment(7975))
    retention = segment_retention(
        partition, segment_anatomy, planned.limits(partition), clean=True, now_ms=planned.now_ms
    )
    fact = segment_facts.file_facts(segment_anatomy, None, "current", retention)[0][2][-1]
    assert fact.label == "Kept until"
    assert fact.value == units.moment(retention[1].gone_ms, fraction=False)
    assert fact.detail == "(default)"
    assert fact.hover.startswith("Until 2026-11-28 ")
    assert "retention.ms 7 d" in fact.hover
    assert fact.hover.endswith(".")
    for state, words in (
        ("unlimited", "no limit"),
        ("compacted", "–"),
        ("bytes", "1 KiB more written"),
    ):
        retained = replace(retention[1], state=state, until_ms=None, gone_ms=None, more_bytes=1024)
        both = (retention[0], retained)
        facts = segment_facts.file_facts(segment_anatomy, None, "current", both)[0][2]
        assert facts[-1].value == words
