"""The links between the three files, compared with a plain look-up and real brokers."""

import shutil
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.comparison.index_differences import compare_indexes
from kafkaviz.analysis.segment import anatomy
from kafkaviz.analysis.segment.batch_table import table_of_rows
from kafkaviz.analysis.segment.links import (
    NONE,
    Aim,
    LinkBuilder,
    Links,
    first_offsets,
    link,
    row_at_position,
)
from kafkaviz.format import offset_index
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import Segment
from kafkaviz.search.log_view import view_partition
from kafkaviz.search.lookup import by_offset
from kafkaviz.versions import search_profile
from tests.analysis import arrays, plain_links

BATCHES = arrays.batches(
    [100, 200, 300, 100, 200], counts=[2, 3, 1, 4, 2], times_ms=[10, 12, 11, 15, 15], base_offset=50
)
# rows: offsets 50–51 at 0, 52–54 at 100, 55 at 300, 56–59 at 600, 60–61 at 700; the end is 900


def links_of(pairs, times=()):
    """Returns the links of BATCHES to these entries."""
    return link(BATCHES, arrays.offset_entries(pairs, 50), arrays.time_entries(list(times), 50), 50)


def own_slots(links, table=BATCHES):
    return links.own_slots(0, len(table)).tolist()


def search_slots(links, table=BATCHES):
    return links.search_slots(table_of_rows(table), 0, len(table)).tolist()


def test_an_entry_is_its_batch_s_own():
    links = links_of([(54, 100), (59, 600)])
    assert own_slots(links) == [NONE, 0, NONE, 1, NONE]
    assert search_slots(links) == [NONE, NONE, 0, 0, 1]
    assert links.entry_batch.tolist() == links.entry_home.tolist() == [1, 3]
    assert links.entry_aim.tolist() == [Aim.EXACT, Aim.EXACT]


def test_a_batch_of_one_record_is_found_by_its_own_entry():
    assert search_slots(links_of([(55, 300)])) == [NONE, NONE, 0, 0, 0]


@pytest.mark.parametrize(
    ("pair", "aim"),
    [
        ((61, 100), Aim.COARSE),  # one entry for the append of the batches 1 to 4
        ((52, 100), Aim.FIRST_KEY),
        ((53, 100), Aim.FOREIGN),
        ((57, 100), Aim.FOREIGN),
        ((51, 300), Aim.PAST),
        ((54, 101), Aim.INSIDE),
        ((54, 900), Aim.BEYOND),
        ((54, -1), Aim.BEYOND),
        ((62, 100), Aim.NO_BATCH),
        ((51, 0), Aim.FOREIGN),  # the first append gets no entry
    ],
)
def test_where_an_entry_leads(pair, aim):
    links = links_of([pair])
    assert links.entry_aim.tolist() == [aim]
    assert links.wrong_entries.tolist() == ([0] if aim >= Aim.PAST else [])
    assert bool(len(links.indexed_rows)) == (aim < Aim.PAST)


def test_keys_that_do_not_grow():
    links = links_of([(54, 100), (50, 0), (59, 600)])
    assert links.entry_aim.tolist() == [Aim.EXACT, Aim.UNORDERED, Aim.EXACT]


def test_an_entry_that_starts_before_the_one_above_it():
    pairs = [(55, 300), (59, 100), (61, 600)]
    assert links_of(pairs).entry_aim.tolist() == [Aim.EXACT, Aim.FOREIGN, Aim.COARSE]


def test_the_right_entry_wins():
    """At one position the batch's own entry is the one with its key."""
    assert own_slots(links_of([(54, 100), (55, 100)]))[1] == 0
    assert own_slots(links_of([(51, 100), (54, 100)]))[1] == 1


def test_a_time_entry_goes_with_the_entry_of_its_moment():
    """Row 2 still has the newest record of row 1; the last entry was written when the segment
    closed.
    """
    links = links_of([(55, 300), (61, 700)], [(12, 54), (15, 59)])
    assert links.entry_time.tolist() == [0, 1] and links.time_slot.tolist() == [0, 1]
    assert links.time_batch.tolist() == [1, 3] and links.time_true.all()
    alone = links_of([(54, 100)], [(12, 54), (15, 59)])
    assert alone.entry_time.tolist() == [0] and alone.time_slot.tolist() == [0, NONE]


def test_only_the_first_of_two_entries_gets_the_time():
    assert links_of([(54, 100), (55, 300)], [(12, 54)]).entry_time.tolist() == [0, NONE]


def test_an_offset_inside_the_batch_is_as_good():
    """Leaders up to Kafka 3.6 named the record itself, not the last one of its batch."""
    assert links_of([(54, 100)], [(12, 53)]).entry_time.tolist() == [0]


def test_a_time_that_its_batch_does_not_hold():
    links = links_of([(54, 100)], [(99, 54)])
    assert links.entry_time.tolist() == [0] and links.wrong_times.tolist() == [0]
    assert links_of([], [(99, 1000)]).wrong_times.tolist() == [0]


def test_wrappers_that_do_not_show_their_first_offset():
    """The least it can be is one past the batch before."""
    assert first_offsets(arrays.wrapped(BATCHES, [0, 2]), 50).tolist() == [50, 52, 55, 56, 60]


def test_an_offset_of_minus_1_in_magic_2_is_what_it_says():
    """Only older wrappers leave their offset out; here it is damage, and shown unchanged."""
    table = BATCHES.copy()
    table["base_offset"][2] = -1
    assert first_offsets(table, 50).tolist() == [50, 52, -1, 56, 60]


def test_of_two_times_for_one_batch_the_true_one_goes_with_the_entry():
    """The other one is damage, wherever it is."""
    for pairs, twin in (([(12, 54), (99, 54)], 0), ([(7, 54), (12, 54)], 1)):
        links = links_of([(54, 100)], pairs)
        assert links.entry_time.tolist() == [twin] and links.wrong_times.tolist() == [1 - twin]


def test_nothing_at_all():
    empty = link(BATCHES[:0], arrays.offset_entries([]), arrays.time_entries([]), 0)
    columns = [column for column in vars(empty).values() if isinstance(column, np.ndarray)]
    assert len(columns) == 15 and all(len(column) == 0 for column in columns)
    pairs = [(5, 7)]
    lost = link(BATCHES[:0], arrays.offset_entries(pairs), arrays.time_entries(pairs), 0)
    assert lost.entry_aim.tolist() == [Aim.BEYOND]


def test_positions_between_batches():
    positions = np.array([-1, 0, 99, 100, 899, 900])
    containing = map(table_of_rows(BATCHES).row_containing_byte, positions)
    assert list(containing) == [NONE, 0, 0, 1, 4, NONE]
    assert row_at_position(BATCHES, positions).tolist() == [NONE, 0, NONE, 1, NONE, NONE]


LOGS = st.lists(
    st.tuples(st.integers(61, 400), st.integers(1, 4), st.integers(-1, 30)), max_size=12
)


def batches_of(log: list[tuple[int, int, int]]) -> np.ndarray:
    sizes, counts, times_ms = ([row[column] for row in log] for column in range(3))
    return arrays.batches(sizes, counts, times_ms, 100)


@given(
    LOGS, st.lists(st.tuples(st.integers(95, 140), st.integers(-3, 2500)), max_size=8), st.data()
)
def test_any_links_are_as_looked_up(log, pairs, data):
    table = batches_of(log)
    if log:
        table = arrays.wrapped(
            table, data.draw(st.lists(st.integers(0, len(log) - 1), unique=True))
        )
        starts = st.sampled_from(table["position"].tolist())
        pairs = [
            (offset, data.draw(starts)) if data.draw(st.booleans()) else (offset, position)
            for offset, position in pairs
        ]
    times = data.draw(st.lists(st.tuples(st.integers(-1, 31), st.integers(95, 140)), max_size=8))
    entries, times = arrays.offset_entries(pairs, 100), arrays.time_entries(times, 100)
    links = link(table, entries, times, 100)
    assert links.entry_batch.tolist() == [
        plain_links.starting_at(table, entry["position"]) for entry in entries
    ]
    assert links.entry_home.tolist() == [
        plain_links.batch_with(table, entry["offset"]) for entry in entries
    ]
    assert links.entry_aim.tolist() == plain_links.aims(table, entries, 100)
    assert own_slots(links, table) == plain_links.own(table, entries, links.entry_aim)
    assert search_slots(links, table) == plain_links.via(table, entries, 100)
    assert links.time_true.tolist() == plain_links.true(table, times)
    assert links.entry_time.tolist() == plain_links.twins(table, entries, times)
    cut = data.draw(st.integers(0, len(log)))
    builder = LinkBuilder(entries, times, 100)
    for batches in (table[:cut], table[cut:]):
        builder.observe(batches)
    for name, column in vars(builder.result()).items():
        assert np.array_equal(column, getattr(links, name)), name
    homes = links.entry_home[links.entry_home != NONE]
    newest_ms = [int(table["max_timestamp_ms"][: home + 1].max()) for home in homes]
    has_home = links.entry_home != NONE
    assert links.home_newest_ms[has_home].tolist() == newest_ms
    assert links.home_position[has_home].tolist() == table["position"][homes].tolist()
    assert links.home_last_offset[has_home].tolist() == table["last_offset"][homes].tolist()
    for first in range(len(log)):
        window = links.search_slots(table_of_rows(table), first, first + 1)
        assert window.tolist() == search_slots(links, table)[first : first + 1]


@given(LOGS, st.integers(0, 900), st.booleans())
def test_what_kafka_writes_is_never_wrong(log, interval_bytes, closed):
    """Every entry is exact, and every time entry has its offset entry, except that of the roll."""
    table = batches_of(log)
    entries, times = arrays.indexed(table, interval_bytes, 100, closed)
    links = link(table, entries, times, 100)
    assert (links.entry_aim == Aim.EXACT).all() and links.time_true.all()
    alone = np.flatnonzero(links.time_slot == NONE).tolist()
    assert alone in ([], [len(times) - 1])


def segment_links(segment: Segment) -> Links:
    return link(segment.batches(), segment.offset_index, segment.time_index, segment.base_offset)


@pytest.mark.parametrize("name", ["clean", "killed"])
def test_entries_of_real_brokers_are_right(name, request):
    """In every segment of a 4.3.1 broker each entry is exact and each time entry true; at most one
    was written at a roll or stop.
    """
    broker = open_broker(request.getfixturevalue(name))
    for partition in broker.partitions:
        for segment in partition.segments:
            links = segment_links(segment)
            assert (links.entry_aim == Aim.EXACT).all() and links.time_true.all(), segment.name
            assert np.count_nonzero(links.time_slot == NONE) <= 1, segment.name


def test_the_payments_segment(clean):
    segment = open_broker(clean).partition("payments-0").segment(7975)
    links = segment_links(segment)
    assert np.count_nonzero(links.entry_time == NONE) == 3
    assert np.count_nonzero(links.time_slot == NONE) == 0
    row = int(links.entry_batch[95])
    assert segment.batches()["base_offset"][row] == 11612
    assert search_slots(links, segment.batches())[row] == 94


@pytest.mark.parametrize(
    ("base_offset", "wrong_entries", "wrong_times"),
    [(858, [3], []), (1721, [], [2]), (2579, [], [])],
)
def test_damage_made_by_hand(damaged, base_offset, wrong_entries, wrong_times):
    links = segment_links(open_broker(damaged).partition("bookings-0").segment(base_offset))
    assert links.wrong_entries.tolist() == wrong_entries
    assert links.wrong_times.tolist() == wrong_times


@pytest.mark.parametrize(
    "name", ["kafka-2.8.2-legacy", "kafka-3.9.0-follower", "kafka-3.9.0-leader"]
)
def test_older_brokers_index_appends(shared, name):
    """Appends of several batches make coarse entries, never wrong ones, in every message format."""
    broker = open_broker(shared / "data" / f"{name}.tar.gz")
    for partition in broker.partitions:
        for segment in (segment for segment in partition.segments if segment.log):
            links = segment_links(segment)
            place = (partition.directory, segment.name)
            assert not len(links.wrong_entries) and links.time_true.all(), place


def slots_by_severity(health, file):
    """Returns the slots of an .index that findings name, by severity."""
    slots = {"error": set(), "warning": set(), "info": set()}
    for finding in health.findings:
        if finding.file and finding.file.endswith(file) and finding.position is not None:
            first = finding.position // 8
            slots[finding.severity].update(range(first, first + finding.length // 8))
    return slots


def damage_entries(entries, batches, rng):
    """Flips a bit of an entry, or gives it the key or the position of another batch."""
    slot = rng.randrange(len(entries))
    batch = batches[rng.randrange(len(batches))]
    kind = rng.randrange(4)
    if kind == 0:
        entries["position"][slot] = batch["position"]
    elif kind == 1:
        entries["relative_offset"][slot] = batch["last_offset"]
    elif kind == 2:
        entries[[slot, slot - 1]] = entries[[slot - 1, slot]]
    else:
        entries.view(np.uint8)[slot * 8 + rng.randrange(8)] ^= 1 << rng.randrange(8)


@pytest.mark.parametrize("seed", range(12))
def test_all_judge_an_entry_alike(clean, tmp_path, seed):
    """The page Segment, check, compare and lookup, on a segment whose .index was damaged."""
    rng = Random(seed)
    folder = tmp_path / "orders-2"
    folder.mkdir()
    intact = open_broker(clean).partition("orders-2").segment(0)
    for path in (clean / "orders-2").iterdir():
        shutil.copy2(path, folder / path.name)
    entries = offset_index.parse(intact.index.path.read_bytes()).copy()
    batches = intact.batches()
    for _ in range(rng.randint(1, 3)):
        damage_entries(entries, batches, rng)
    (folder / f"{0:020}.index").write_bytes(offset_index.build(entries))
    partition = open_broker(folder).partitions[0]
    segment = partition.segments[0]
    aims = anatomy.read(segment).links.entry_aim
    wrong = set(np.flatnonzero(aims >= Aim.PAST).tolist())
    slots = slots_by_severity(check(open_broker(folder)), ".index")
    assert slots["error"] == wrong
    assert slots["warning"] == set(np.flatnonzero(aims == Aim.FOREIGN).tolist())
    profile = search_profile("4.3.1")
    comparisons = compare_indexes(intact, segment, profile, is_same_log=True, is_per_append=False)
    for comparison in comparisons[:1]:
        assert set(comparison.contradicted[1]) == wrong | slots["warning"]
    for row, batch in enumerate(batches):
        offset = int(batch["base_offset"])
        lookup = by_offset(view_partition(partition), offset, profile)
        search = lookup.searches[0].slot_search
        led_past = search.slot is not None and aims[search.slot] == Aim.PAST
        assert bool(lookup.wrong_entries) == led_past
        if not lookup.record or lookup.record.offset != offset:
            assert search.slot in wrong, row


def test_all_judge_the_damaged_sample_alike(damaged):
    broker = open_broker(damaged)
    health = check(broker)
    for partition in broker.partitions:
        for segment in (segment for segment in partition.segments if segment.log):
            file = f"{partition.directory}/{segment.file_name('index')}"
            wrong_entries = anatomy.read(segment).links.wrong_entries
            assert slots_by_severity(health, file)["error"] == set(wrong_entries.tolist()), file
