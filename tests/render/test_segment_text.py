"""The words about a segment: its finding, its sentence, and the reason for a missing file."""

import re

import numpy as np
import pytest

from kafkaviz.analysis.overview import NO_LOG, InactiveSegment
from kafkaviz.analysis.segment import anatomy
from kafkaviz.log.broker import open_broker
from kafkaviz.render import segment_text as words
from kafkaviz.render.segment_text import included_text, left_out_text, no_rows_text
from tests.analysis import arrays
from tests.analysis.arrays import even

THIN = "\u202f"
INACTIVE = (
    InactiveSegment("a-0/0.log.deleted", ".deleted"),
    InactiveSegment("b-0.1-delete/0.log", "-delete"),
    InactiveSegment("a-0/5.log.deleted", ".deleted"),
)


@pytest.mark.parametrize(
    ("directory", "base_offset", "finding"),
    [
        ("payments-0", 7975, "Every 4 906 bytes or so, one batch gets an entry"),
        ("dense-index-0", 0, "Every batch but the first has an entry"),
        ("bulk-import-0", 0, "One entry, for the batch at byte 810 447"),
        ("refunds-0", 0, "One batch, and the first batch of a segment never gets an entry"),
        ("refunds-1", 0, "No batch has an entry: a search starts at byte 0"),
        (
            "obsolete-2019-0.d9e2420e43c24fe7bcf8a819bf93d888-delete",
            0,
            "The index was created at 10 MiB and 1 310 694 of its 1 310 720 slots were never "
            "written",
        ),
    ],
)
def test_findings_of_a_clean_broker(clean, directory, base_offset, finding):
    assert headline(clean, directory, base_offset) == spaced(finding)


@pytest.mark.parametrize(
    ("directory", "base_offset", "finding"),
    [
        ("bookings-0", 858, "Slot 3 points past its batch: offsets 949 – 968 cannot be found"),
        ("bookings-0", 1721, "Slot 2 of the time index names a time that its batch does not hold"),
        ("bookings-0", 0, "The last 474 of the index’s 512 slots are zeros"),
        ("metrics-0", 0, "The index ends inside an entry: 5 of 8 bytes follow slot 25"),
        (
            "metrics-0",
            1201,
            "The time index ends in 14 zero slots, so a search by time skips this segment",
        ),
        ("metrics-0", 2401, "The last 14 of the index’s 27 slots are zeros"),
        ("rides-0", 1811, "No .index: every search in this segment starts at byte 0"),
        ("rides-0", 607, "No .timeindex: a search by time has no index to use"),
    ],
)
def test_findings_of_damage(damaged, directory, base_offset, finding):
    """The gravest comes first."""
    assert headline(damaged, directory, base_offset) == spaced(finding)


def test_findings_of_a_killed_broker(killed):
    """Unwritten slots come before the torn tail while the file is in use."""
    created = "The index was created at 64 KiB and 8 088 of its 8 192 slots were never written"
    assert headline(killed, "append-time-0", 0) == spaced(created)


def headline(directory, name, base_offset) -> str:
    return words.headline(anatomy.read(open_broker(directory).partition(name).segment(base_offset)))


def spaced(words: str) -> str:
    return re.sub(r"(?<=\d) (?=\d{3})", THIN, words)


def test_findings_that_no_sample_shows():
    """Tails of closed segments, keys that do not grow, several wrong entries, no entry."""
    table = arrays.batches([100] * 9)
    entries, times = arrays.indexed(table, 300)
    assert entries["position"].tolist() == [400, 800]
    say = lambda **more: words.headline(arrays.anatomy(table, entries, times, **more))  # noqa: E731
    assert say(tail=("torn", 45)) == "The log ends in 45 bytes that are not a batch"
    assert say(tail=("zeros", 3 << 20)) == "The log ends in 3 MiB of zeros"
    assert say(state="active", tail=("torn", 45), unwritten=(7, 0)).startswith(
        "The index was created at 72 B and 7 of its 9 slots"
    )
    inside = arrays.anatomy(table, arrays.offset_entries([(4, 401)]), times)
    assert words.headline(inside) == "Slot 0 points into the middle of a batch"
    assert words.headline(arrays.anatomy(table, arrays.offset_entries([(4, 9000)]), times)) == (
        "Slot 0 points beyond the last batch"
    )
    lower = arrays.offset_entries([(4, 400), (3, 300)])
    assert words.headline(arrays.anatomy(table, lower, times)) == (
        "The keys of the index do not increase at slot 1"
    )
    both = arrays.offset_entries([(4, 401), (5, 501)])
    assert words.headline(arrays.anatomy(table, both, times)) == (
        "2 entries of the index lead searches astray, the first in slot 0"
    )
    fresh = arrays.anatomy(
        table, arrays.offset_entries([]), times, state="active", unwritten=(8, 0)
    )
    assert words.headline(fresh) == (
        "The index was created at 64 B and none of its 8 slots has been written yet"
    )
    wrong = arrays.anatomy(table, entries, arrays.time_entries([(1, 4), (2, 8)]))
    assert words.headline(wrong) == (
        "2 entries of the time index disagree with the log, the first in slot 0"
    )


def test_an_entry_for_an_append():
    table = arrays.batches([100] * 9)
    entries = arrays.offset_entries([(5, 400), (8, 700)])
    appended = arrays.anatomy(table, entries, arrays.time_entries([]))
    assert words.headline(appended) == "Every 400 bytes or so, one append gets an entry"


@pytest.mark.parametrize(
    ("made_anatomy", "sentence"),
    [
        (
            lambda: even(9),
            "9 batches in 900 B. 1 has an index entry. A search finds the other 8 by reading on "
            "from an earlier batch that has one, or from byte 0.",
        ),
        (
            lambda: even(2, interval=0),
            "2 batches in 200 B. 1 has an index entry, and 1 does not. A search finds that batch by "
            "reading on from an earlier one that has an entry, or from byte 0.",
        ),
        (
            lambda: even(1),
            "1 batch in 100 B, without an index entry: a search reads from the first batch on.",
        ),
        (lambda: even(0), ""),
        (
            lambda: even(1, state="deleted"),
            "1 batch in 100 B, without an index entry: a search reads from the first batch on. "
            "Its files are renamed .deleted and wait to be removed.",
        ),
    ],
)
def test_the_sentence_below_the_title(made_anatomy, sentence):
    assert words.lead(made_anatomy()) == sentence


def test_a_directory_that_waits_for_its_deletion():
    assert words.lead(even(0), "delete") == (
        "The topic is deleted and its directory waits to be removed."
    )


def test_the_text_of_a_lone_time_entry():
    """At a stop in the active segment, else at the roll; none where the index is incomplete."""
    assert words.closing_event(even(9)) == "roll"
    assert words.closing_event(even(9, state="active")) == "stop"
    assert words.closing_event(even(9, state="deleted")) == "roll"
    assert words.closing_event(even(9, unwritten=(3, 0))) == ""
    assert words.closing_event(even(9, trailing_bytes=(3, 0))) == ""
    assert words.closing_event(arrays.anatomy(arrays.batches([100]), None, None)) == ""


def test_nothing_to_draw():
    assert words.no_batch_text(even(0))[0] == "Nothing was written here yet"
    assert (
        "Its .index was preallocated at 64 B"
        in words.no_batch_text(even(0, state="active", unwritten=(8, 8)))[1]
    )
    assert words.no_batch_text(even(0, tail=("zeros", 12)))[1].startswith(
        "It holds 12 bytes, all zeros"
    )
    assert words.no_batch_text(even(0, tail=("torn", 1)))[1] == (
        "It holds 1 byte, which is only the beginning of a batch."
    )


def test_why_an_index_has_no_entry():
    assert words.no_entry_reason(even(1)).endswith("more than index.interval.bytes of .log.")
    assert words.no_entry_reason(even(1, unwritten=(8192, 0))).endswith(
        f"8{THIN}192 slots are still empty."
    )
    assert words.no_time_reason(
        arrays.anatomy(arrays.wrapped(arrays.batches([100]), [0]), None, None)
    ).startswith("Messages of magic 0")
    assert words.no_time_reason(even(1)).startswith("A time entry comes with an index entry")


@pytest.mark.parametrize(
    ("magic", "wrapped", "sentence"),
    [
        ([2, 2, 2], [], ""),
        ([1, 1, 1], [], ""),
        ([0, 0, 0], [], "Messages of magic 0 have no timestamp."),
        (
            [1, 1, 1],
            [1],
            "The header of a compressed message of magic 1 has neither its first offset nor "
            "its number of records.",
        ),
        (
            [0, 1, 2],
            [],
            "Messages of magic 0 have no timestamp; batches of magic 0 and 1 have no leader epoch.",
        ),
    ],
)
def test_what_dashes_stand_for(magic, wrapped, sentence):
    """Each missing value is explained once; epochs only where they have a column."""
    table = arrays.batches([100] * 3)
    table["magic"] = magic
    table["leader_epoch"] = np.where(np.array(magic) == 2, 0, -1)
    table["record_count"][wrapped] = -1
    segment_anatomy = arrays.anatomy(table, None, None)
    assert words.missing_fields_text(segment_anatomy) == sentence
    assert words.lead(segment_anatomy).endswith(sentence)
    assert segment_anatomy.counts.has_epochs == (2 in magic)


@pytest.mark.parametrize(
    ("segments", "metadata", "says"),
    [
        ((), False, ""),
        ((), True, "Not counted: __cluster_metadata."),
        (INACTIVE[:1], False, "Not counted: 1 segment that is not in use (.deleted)."),
        (
            INACTIVE,
            True,
            "Not counted: 3 segments that are not in use (-delete, .deleted), and "
            "__cluster_metadata.",
        ),
        (
            (InactiveSegment("a-0/5.index", NO_LOG),),
            False,
            "Not counted: 1 segment that is not in use (no .log).",
        ),
    ],
)
def test_what_is_left_out_is_reported(segments, metadata, says):
    assert left_out_text(segments, is_metadata_left_out=metadata) == says


def test_what_is_counted_and_what_has_no_rows():
    assert included_text(()) == "" == no_rows_text(())
    counted = "3 segments that are not in use (-delete, .deleted) are counted too."
    assert included_text(INACTIVE) == counted
    says = (
        "1 segment (.deleted) appears only in the table “segments”: no other table has a row "
        "for its files."
    )
    assert no_rows_text(["deleted"]) == says


def test_the_reason_is_in_the_readers_language(chinese):
    text = left_out_text((InactiveSegment("a-0/5.index", NO_LOG),))
    assert text == "未计入：1 个不在使用中的日志段（没有 .log）。"
