"""The drawings made for one step of a lesson: what each shows, against a second way to it."""

import struct
import tarfile
from collections.abc import Iterator

import crc32c
import numpy as np
import pytest

from kafkaviz.figures.segment import file_areas
from kafkaviz.workshop import lessons
from kafkaviz.workshop.figures import (
    LIVE,
    batch_areas,
    block_location,
    ceiling_rule,
    index_pages,
    limit_race,
    page_faults,
    rolls,
    timestamp_zigzag,
)
from kafkaviz.workshop.figures.segments import TABLE
from kafkaviz.workshop.figures.timestamp_zigzag import TimedRecord
from kafkaviz.workshop.lessons import parse
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue
from tests.conftest import SAMPLES
from tests.workshop.lesson_text import RIGHT, figure

T = "\u202f"


def made(lesson: str, step: int, kind: str):
    """Returns the view of a figure of an included lesson."""
    return LIVE[kind].make(figure(lesson, step, kind))


def block(text: str) -> LessonBlock:
    """A figure as a lesson would write it."""
    step = f"## Step\n\n```kafkaviz {text}\n```\n\n"
    lesson, faults = parse(f"---\ntitle: t\nabout: a\nminutes: 1\n---\n\n{step * 3}", "drawn.en.md")
    assert lesson is not None, faults
    return lesson.steps[0].blocks()[0]


def sample_bytes(name: str) -> bytes:
    """A file of the clean sample."""
    with tarfile.open(SAMPLES / "kafka-4.3.1-clean.tar.gz") as archive:
        member = next(info for info in archive if info.name.endswith(f"/{name}"))
        return archive.extractfile(member).read()


def batch_headers(log: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Returns position, size, base offset, base timestamp and largest timestamp of each batch."""
    position = 0
    while position < len(log):
        base_offset, length = struct.unpack_from(">qi", log, position)
        base_ms, largest_ms = struct.unpack_from(">qq", log, position + 27)
        yield position, length + 12, base_offset, base_ms, largest_ms
        position += length + 12


# ---- lesson 7: the race to the limits, the roll by time


def test_the_race_of_the_lesson():
    view = made("rolls", 1, "limit-race")
    assert view.title.endswith("the segment rolls after 19.8 s, at 11.3 MiB")
    assert limit_race.rows(view) == [
        ("size", f"16{T}777{T}216 B", f"11{T}900{T}364 B", "71 %", "28 s"),
        ("time", f"60{T}000 ms", f"19{T}833 ms", "33 %", "1 min"),
        ("offset index", f"4{T}096 entries", f"2{T}729 entries", "67 %", "29.8 s"),
        ("time index", f"2{T}729 entries", f"2{T}729 entries", "100 %", "19.8 s"),
        ("offset range", f"2{T}147{T}483{T}647", f"95{T}426", "< 0.01 %", "much later"),
    ]


def test_the_race_is_drawn_to_the_roll_and_beyond():
    view = made("rolls", 1, "limit-race")
    drawn = limit_race.figure(view, "light")
    ends = {
        (trace.name, trace.line.dash): (trace.x[-1], round(trace.y[-1], 3))
        for trace in drawn.data
        if trace.mode == "lines"
    }
    assert ends[("time index", "solid")] == (19_833, 1)
    assert ("time index", "dot") not in ends
    assert ends[("size", "dot")] == (27_961, 1)


def test_before_the_answer_no_line_is_drawn():
    view = made("rolls", 1, "limit-race")
    drawn = limit_race.question_figure(view, "light")
    assert [trace.mode for trace in drawn.data] == ["markers"]
    assert "time index" not in view.question


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("limit-race\nworkload: follower\nsegment: 0", "a race is drawn only for a leader"),
        ("limit-race\nworkload: day\nsegment: 7\nsegment.jitter.ms: 5", "jitter.ms must be 0"),
        ("limit-race\nworkload: day\nsegment: 16", "0 to 15"),
        ("roll-clock\ndata: kafka-4.3.1-clean\ntp: heartbeat-0\nsegment: 0", "not ended by time"),
    ],
)
def test_what_cannot_be_drawn_says_why(text, fault):
    unfit = block(text)
    with pytest.raises(NoValue, match=fault):
        LIVE[unfit.kind].make(unfit)


def test_the_roll_by_time_is_that_of_the_bytes():
    first, second = (
        list(batch_headers(sample_bytes(f"rolls-by-time-0/{base:020}.log"))) for base in (0, 399)
    )
    view = made("rolls", 2, "roll-clock")
    assert view.batches == tuple(header[4] - first[0][4] for header in first)
    assert view.incoming == (second[0][3] - first[0][4], second[0][4] - first[0][4])
    assert view.between == f"270{T}860 ms > 60{T}000 ms"
    assert view.segment_ms == 60_000


def test_the_time_line_marks_both_moments():
    """The two dots are the first batch and the incoming one."""
    view = made("rolls", 2, "roll-clock")
    moments = next(trace for trace in rolls.figure(view, "light").data if trace.name == "moments")
    assert moments.x == (0, 270_860)


def test_each_release_says_what_it_compares():
    """The broker's clock only before 0.10.1, and without timestamps."""
    clocks = [releases for releases, counts in rolls.rows() if "broker’s clock" in counts]
    assert clocks == ["0.8.1–0.10.0", "0.10.1 and later, without timestamps"]


# ---- lesson 6: timestamps in the order of the log


def all_records(block: LessonBlock) -> list[tuple[int, int]]:
    """Every record of a block's segment, as offset and timestamp."""
    location, anatomy = block_location.anatomy(block)
    return [
        (record.offset, record.timestamp_ms)
        for position in anatomy.batches.all_rows()["position"].tolist()
        for record in location.segment.records(position)
    ]


def test_the_zigzag_of_the_lesson_is_kafkas_answer():
    """The first record that is late enough, by a plain loop; and the closest is another one."""
    zigzag = figure("time", 4, "zigzag")
    view = LIVE["zigzag"].make(zigzag)
    records = all_records(zigzag)
    assert view.answer == next(record for record in records if record[1] >= view.target_ms)
    assert view.closest == min(records, key=lambda record: abs(record[1] - view.target_ms))
    assert (view.answer.offset, view.closest.offset) == (3452, 3479)


def test_the_running_maximum_is_that_of_the_segment():
    """Of all records up to each, those before the picture too; every entry lies on it."""
    zigzag = figure("time", 4, "zigzag")
    view = LIVE["zigzag"].make(zigzag)
    offsets, times = zip(*all_records(zigzag), strict=True)
    largest = dict(zip(offsets, np.maximum.accumulate(times).tolist(), strict=True))
    assert view.running_ms == tuple(largest[record.offset] for record in view.records)
    assert len(view.entries) > 0
    assert all(largest[entry.offset] == entry.timestamp_ms for entry in view.entries)


def test_what_is_before_the_picture_counts():
    """A record that is older than one before the picture is late in it, too."""
    records = tuple(TimedRecord(10 + number, time) for number, time in enumerate((40, 50, 70)))
    view = timestamp_zigzag.view(
        target_ms=65,
        records=records,
        newest_before_ms=60,
        entries=(),
        start_offset=10,
        answer=records[2],
        segment="sensors-0/0",
        source="a sample",
    )
    assert view.running_ms == (60, 60, 70)
    assert view.caption.startswith("2 of these 3 records are older")


def test_the_question_marks_no_record():
    view = made("time", 4, "zigzag")
    asked = [trace.name for trace in timestamp_zigzag.question_figure(view, "light").data]
    drawn = [trace.name for trace in timestamp_zigzag.figure(view, "light").data]
    assert drawn == [*asked, "circle", "circle-open"]
    assert "answer" not in view.question


def test_the_answer_is_named_above_it_and_the_closest_record_below():
    """A line leads to each name: on one level they would lie over each other."""
    view = made("time", 4, "zigzag")
    notes = timestamp_zigzag.figure(view, "light").layout.annotations
    led = {note.x: note.ay for note in notes if note.showarrow}
    assert led == {3452: -44, 3479: 44}


def test_a_batch_is_named_below_its_middle():
    view = made("batches", 1, "batch-areas")
    notes = batch_areas.question_figure(view, "light").layout.annotations
    assert {note.xanchor for note in notes} == {"center"}


# ---- lesson 5: the pages of an index


def plain_pages(entries: int) -> tuple[int, ...]:
    """The pages that a plain binary search for the last entry reads, in order."""
    pages, low, high = [0], 0, entries - 1
    while low < high:
        middle = (low + high + 1) // 2
        pages.append(middle // 512)
        low = middle
    return tuple(dict.fromkeys(pages))


def test_the_middles_are_those_of_a_plain_binary_search():
    """13 and 14 pages, as KAFKA-6432 has them."""
    view = made("warm-section", 1, "middles")
    assert [lane.probed_pages for lane in view.lanes] == [plain_pages(6656), plain_pages(7168)]
    assert view.lanes[1].probed_pages == (0, 7, 10, 12, 13)
    assert view.lanes[1].fresh_pages == (7, 10, 13)


def test_the_second_lane_is_empty_before_the_answer():
    """No page of it is outlined, and its question is written above it."""
    view = made("warm-section", 1, "middles")
    for draw, count in ((index_pages.question_figure, 5), (index_pages.figure, 10)):
        shapes = draw(view, "light").layout.shapes
        assert sum(shape.line.width > 0 for shape in shapes) == count


def test_the_growth_is_shown_up_to_the_question():
    """Nothing behind 5 of 40 pages: no lookup, no fault; all of it afterwards."""
    pages = figure("warm-section", 3, "pages")
    view = LIVE["pages"].make(pages)
    cut = page_faults.cut(view, pages["until"] * 512)
    eighth = view.lookup_counts.shape[1] // 8 + 1
    assert cut.lookup_counts[:, eighth:].sum() == 0
    before = eighth - 1
    assert (cut.lookup_counts[:, :before] == view.lookup_counts[:, :before]).all()
    assert (len(cut.dots), len(view.dots)) == (0, 56)


# ---- lessons 1 and 2: sizes as areas


def area(shape) -> float:
    """Returns the area of a rectangle, in units of the picture."""
    return abs((shape.x1 - shape.x0) * (shape.y1 - shape.y0))


def test_the_files_have_areas_of_their_bytes():
    """Of each file drawn to scale, beside the .log; under the glass both are larger alike."""
    sizes = {
        suffix: len(sample_bytes(f"heartbeat-0/{10905:020}{suffix}"))
        for suffix in (".log", ".index", ".timeindex")
    }
    view = made("three-files", 2, "file-areas")
    assert {file.suffix: file.size_bytes for file in view.files} == sizes
    shapes = file_areas.figure(view, "light").layout.shapes
    log, index, time_index, glass_index, glass_time_index = map(area, shapes[:5])
    assert index / log == pytest.approx(sizes[".index"] / sizes[".log"])
    assert time_index / log == pytest.approx(sizes[".timeindex"] / sizes[".log"])
    assert glass_time_index / glass_index == pytest.approx(time_index / index)


def test_the_question_shows_every_candidate_to_scale():
    view = made("three-files", 2, "file-areas")
    log, *candidates = file_areas.question_figure(view, "light").layout.shapes
    bytes_drawn = [round(1_048_527 * area(shape) / area(log)) for shape in candidates]
    assert bytes_drawn == [2000, 20_000, 86_328]
    assert len({shape.line.color for shape in candidates}) == 1


def test_the_batches_are_those_of_the_bytes():
    """Where each lies and how long it is; header and records make it up."""
    headers = list(batch_headers(sample_bytes(f"clicks-none-0/{0:020}.log")))
    view = made("batches", 1, "batch-areas")
    drawn = [(batch.position, batch.size_bytes, batch.base_offset) for batch in view.batches]
    assert drawn == [header[:3] for header in headers[:5]]
    record_bytes = [sum(record.size_bytes for record in batch.records) for batch in view.batches]
    assert record_bytes == [batch.size_bytes - 61 for batch in view.batches]


def test_a_byte_has_the_same_area_in_every_batch():
    view = made("batches", 1, "batch-areas")
    shapes = iter(batch_areas.question_figure(view, "light").layout.shapes)
    for batch in view.batches:
        areas = [area(next(shapes)) for _ in range(1 + len(batch.records))]
        assert areas == pytest.approx([61, *(record.size_bytes for record in batch.records)])


def test_the_batch_that_is_sent_is_marked_afterwards():
    view = made("batches", 1, "batch-areas")
    drawn = batch_areas.figure(view, "light")
    assert area(drawn.layout.shapes[-2]) == pytest.approx(427)
    assert view.batches[view.answer].base_offset == 64


def test_the_checksum_covers_what_the_header_says():
    """CRC-32C of the bytes from 21 on is the stored one; the fields before it are not covered."""
    view = made("batches", 2, "header-areas")
    data = sample_bytes(f"clicks-none-0/{0:020}.log")[7624 : 7624 + 427]
    assert crc32c.crc32c(data[21:]) == struct.unpack_from(">I", data, 17)[0]
    uncovered = [field for field, _, covered in batch_areas.header_rows(view) if covered == "no"]
    assert " ".join(uncovered) == "baseOffset batchLength partitionLeaderEpoch magic crc"
    assert [field.start for field in view.fields[1:]] == [field.end for field in view.fields[:-1]]
    assert view.fields[-1].end == 61


def test_the_cover_is_drawn_only_afterwards():
    view = made("batches", 2, "header-areas")
    asked = batch_areas.header_question_figure(view, "light").layout.shapes
    drawn = batch_areas.header_figure(view, "light").layout.shapes
    assert len(drawn) == len(asked) + 2
    assert [shape.x0 for shape in drawn[-2:]] == [21, 21 * 427 / 61]


# ---- lesson 4: a rule of the reader's own


KEYS = (6, 14, 22, 26, 31)


def answers(rule: str) -> dict[int | None, tuple[int | None, str]]:
    """What a rule gives, by target: the slot where it is drawn, and its words."""
    return {case.target: case[3:5] for case in ceiling_rule.view(KEYS, rule).cases}


def test_before_a_rule_there_are_the_floors_and_the_ceilings():
    """Both of each target, none right of the last key, and nothing that the rule would give."""
    view = ceiling_rule.view(KEYS, "slot +")
    assert view.title == "16 targets: find the ceiling, starting at the slot that lookup returns"
    assert [case[:3] for case in view.cases[:4]] == [(5, -1, 0), (6, 0, 0), (7, 0, 1), (13, 0, 1)]
    assert [case[:3] for case in view.cases[-2:]] == [(32, 4, -1), (None, -1, -1)]
    assert {case[3:] for case in view.cases} == {(None, "?", None)}


def test_a_rule_is_run_on_every_target():
    """`slot + 1`: one too far at a key, behind the last slot, and in an index without an entry."""
    view = ceiling_rule.view(KEYS, "slot + 1")
    assert view.title.endswith("equal to a key, above the last key, in an empty index")
    found = answers("slot + 1")
    assert found[22] == (3, "slot 3")
    assert found[32] == (5, "slot 5, which does not exist")
    assert found[None] == (0, "slot 0, which does not exist")
    wrong = [case.target for case in view.cases if not case.is_right]
    assert wrong == [*KEYS, 32, None]


def test_an_answer_that_is_no_slot_has_words_and_no_place():
    """The base offset and the key of slot -1."""
    assert answers("if slot = -1 then base else slot")[5] == (None, "base offset")
    no_key = "the rule reads the key of a slot that does not exist"
    assert answers("if key(slot) = target then slot else none")[5] == (None, no_key)
    assert answers("none")[32] == (-1, "none")


def test_a_right_rule_has_no_cross():
    view = ceiling_rule.view(KEYS, RIGHT)
    assert view.title == "Your rule is right for all 16 targets"
    assert all(case.answer_slot == case.ceiling for case in view.cases)
    assert ceiling_rule.rows(view)[1] == ("6", "slot 0", "slot 0 ✓", "slot 0")


def test_rings_and_discs_stand_on_their_slots():
    """A ring a target where `lookup` stands, a disc where the rule goes, in its row."""
    view = ceiling_rule.view(KEYS, "slot + 1")
    moves, floors, discs = ceiling_rule.figure(view, "light").data
    assert list(floors.x) == [case.floor_slot for case in view.cases]
    assert list(discs.x) == [case.floor_slot + 1 for case in view.cases]
    assert list(discs.y) == list(floors.y)
    assert list(moves.x[:6]) == [-1, 0, None, 0, 1, None]
    assert [text for text in discs.text if text == "✗"] == ["✗"] * 7


@pytest.mark.parametrize("keys", ["6 6 7", "6", "1 2 3 4 5 6 7 8 9"])
def test_keys_that_do_not_rise_are_refused(keys):
    with pytest.raises(NoValue, match="keys must be 2 to 8 whole numbers in increasing order"):
        LIVE["own-rule"].make(block(f"own-rule\nkeys: {keys}"))


SEGMENT = "data: kafka-4.3.1-clean\ntp: orders-0\nsegment: 0"


@pytest.mark.parametrize(
    "kind", ["attributes", "indexes", "dump", "roll-clock", "settings", "skip-list", "table"]
)
def test_a_figure_asks_before_it_answers(kind):
    """Each way of drawing it shows something, and before the answer something else than after."""
    drawing = LIVE[kind]
    if kind == "table":  # no lesson of ours has one
        drawn = block(f"table\n{SEGMENT}\nof: time-index\noffset: 300")
    else:
        steps = [step for lesson in lessons.lessons("en")[0] for step in lesson.steps]
        drawn = next(each for step in steps for each in step.blocks(kind))
    ways = {"draw": drawing.draw, "question": drawing.question, "paper": drawing.paper}
    contents = {
        name: repr(way(drawing.make(drawn), drawn, "key")) for name, way in ways.items() if way
    }
    assert "[]" not in contents.values()
    assert contents.get("question") != contents["draw"]


@pytest.mark.parametrize("of", ["batches", "index", "time-index"])
def test_a_table_of_a_segment_has_the_rows_around_an_offset(of):
    texts = []
    for offset in (300, 900):
        own_block = block(f"table\n{SEGMENT}\nof: {of}\noffset: {offset}")
        texts.append("".join(map(str, TABLE.draw(TABLE.make(own_block), own_block, "key"))))
    assert texts[0].count("<tr") == texts[1].count("<tr") > 5
    assert texts[0] != texts[1]


def test_the_race_is_that_of_kafka_6432():
    """With 14 full pages plain binary search waits for page 7; one entry earlier it waits for none."""
    jump, before = made("warm-section", 2, "search-race")
    cold = [
        {cell for step in lane.steps for cell in step.cells if not lane.hot[cell]}
        for lane in (*jump.lanes, *before.lanes)
    ]
    assert [len(cells) for cells in cold] == [1, 0, 0, 0]
    assert jump.cells[cold[0].pop()].page == 7


def test_the_caption_of_a_race_waits_for_the_answer():
    """It says which search does not wait."""
    own_block, race = figure("warm-section", 2, "search-race"), LIVE["search-race"]
    captions = [
        part.draw.args[0]["races"][0]["caption"]
        for draw in (race.question, race.draw)
        for part in draw(race.make(own_block), own_block, "key")
    ]
    assert captions[0] == "" and "do not wait" in captions[1]


@pytest.mark.parametrize("entries", [0, 20481])
def test_a_race_needs_an_index_that_is_drawn(entries):
    with pytest.raises(NoValue):
        LIVE["search-race"].make({"entries": entries})
