"""Which batch of a segment is shown, and how much around it."""

import pytest

from kafkaviz.analysis.segment import selection
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.analysis.segment.selection import NoRowReason, Selection
from tests.analysis import arrays
from tests.analysis.arrays import even


def test_an_offset_is_found():
    """An offset outside the segment, or a malformed one, has no row and a reason."""
    table = arrays.batches([100] * 4, counts=[5, 5, 5, 5], base_offset=1000)
    anatomy = arrays.anatomy(table, None, None, 1000)
    for text, row in (("1000", 0), ("1004", 0), ("1005", 1), (" 1019 ", 3)):
        assert selection.select_offset(anatomy, text).row == row
    for text in ("999", "1020", "9" * 30, "9" * 5000):  # an address may hold any text
        found = selection.select_offset(anatomy, text)
        assert found == Selection(text, None, NoRowReason.ELSEWHERE)
    for text in ("-1", "1e3", "offset", "１００１"):
        found = selection.select_offset(anatomy, text)
        assert found == Selection(text, None, NoRowReason.NO_NUMBER)


def test_offsets_of_wrappers():
    """The first batch does not have its first offset, so the segment's is used."""
    table = arrays.wrapped(arrays.batches([100] * 3, [5, 5, 5], base_offset=40), [0])
    anatomy = arrays.anatomy(table, None, None, 40)
    assert selection.offsets(anatomy) == (40, 54)
    assert selection.select_offset(anatomy, "41").row == 0


def test_what_is_shown_first():
    """A wrong slot, else the end of a file in use, else an entry near the middle, else the middle."""
    table = arrays.batches([100] * 40, counts=[3 if row in (4, 28) else 1 for row in range(40)])
    entries, times = arrays.indexed(table, 300)
    sound = arrays.anatomy(table, entries, times)
    row = selection.default_selection(sound).row
    assert (row, sound.links.own_slots(row, row + 1)[0], len(entries)) == (28, 6, 9)
    assert selection.default_selection(arrays.anatomy(table, None, None)) == Selection("", 20)
    active = arrays.anatomy(table, entries, times, state="active", unwritten=(9, 9))
    row = selection.default_selection(active).row
    assert active.links.own_slots(row, row + 1)[0] == len(entries) - 3
    wrong = entries.copy()
    wrong["position"][2] = wrong["position"][5]
    led = selection.default_selection(arrays.anatomy(table, wrong, times))
    assert (led.row, led.slot, led.time) == (sound.links.entry_batch[5], 2, NONE)
    moved = times.copy()
    moved["timestamp_ms"][4] += 1
    late = selection.default_selection(arrays.anatomy(table, entries, moved))
    assert (late.row, late.slot, late.time) == (sound.links.time_batch[4], NONE, 4)


def test_the_end_is_in_view():
    table = arrays.batches([10_000] * 8 + [100] * 3)
    entries = arrays.offset_entries([(2, 20_000), (4, 40_000), (10, 80_200)])
    active = arrays.anatomy(table, entries, None, state="active", unwritten=(9, 0))
    # a window shows 4.81 gaps of 40 000 bytes, half of it before the last entry
    assert selection.default_selection(active).row == 4


def test_the_first_window_has_room_for_five_entries():
    """4.81 median gaps; without entries forty batches; a huge batch fits with something around it."""
    assert selection.window_bytes(even(100)) == int(500 * 4.81)
    assert selection.window_bytes(even(4, interval=10_000)) == 4000
    huge = arrays.anatomy(arrays.batches([50, 100_000, 100_000]), None, None)
    assert selection.window_bytes(huge) == 40 * 100_000


@pytest.mark.parametrize(
    ("position", "row"), [(0, 0), (99, 0), (100, 1), (899, 8), (900, 8), (10**12, 8), (-5, 0)]
)
def test_the_row_at_a_byte(position, row):
    assert selection.row_at_byte(even(9), position) == row


def test_what_goes_with_a_byte():
    """A byte of the .log has its batch, one of an index its slot and the batch it points to; for
    other files a default is shown.
    """
    table = arrays.batches([100] * 40)
    entries, times = arrays.indexed(table, 300)
    sound = arrays.anatomy(table, entries, times)
    assert selection.select_byte(sound, "log", 1234) == Selection("", 12)
    of_slot = Selection("", int(sound.links.entry_batch[2]), slot=2)
    assert selection.select_byte(sound, "index", 17) == of_slot
    of_time = Selection("", int(sound.links.time_batch[2]), time=2)
    assert selection.select_byte(sound, "timeindex", 25) == of_time
    for kind, byte in (("index", 10**9), ("txnindex", 0)):
        assert selection.select_byte(sound, kind, byte) == selection.default_selection(sound)
