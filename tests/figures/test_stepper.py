import json
import re
from dataclasses import replace

import numpy as np
import pytest

from kafkaviz import messages as messages
from kafkaviz import versions
from kafkaviz.analysis.lookup import served_log
from kafkaviz.analysis.lookup.lookup_targets import LookupRecord
from kafkaviz.analysis.segment.batch_table import table_of_rows
from kafkaviz.binary.file_view import in_memory
from kafkaviz.errors import CorruptFile
from kafkaviz.figures.lookup import LookupContext, log_scan, stepper
from kafkaviz.figures.lookup.stepper import value_names
from kafkaviz.format import batch_records
from kafkaviz.format.walk import walk
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import say
from kafkaviz.search.by_time import EARLIEST
from kafkaviz.search.consumer import CorruptRecord
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.search.lookup import LookupOutcome, by_offset, by_timestamp
from kafkaviz.search.scan import ForwardScan, HeaderDecision, HeaderOutcome, LogRead, ReadPart
from kafkaviz.simulate import lesson_logs
from kafkaviz.simulate.lesson_logs import PracticeLog
from kafkaviz.units import file_stem
from tests.pipeline import whole_logs

T = "\u202f"


def looked_up(
    log: PracticeLog,
    offset: int | None = None,
    timestamp_ms: int | None = None,
    version: str = "4.3.1",
    warm: int = 8192,
) -> LookupContext:
    behaviour = replace(versions.search_profile(version), warm_bytes=warm)
    result = (
        by_timestamp(log.log, timestamp_ms, behaviour)
        if offset is None
        else by_offset(log.log, offset, behaviour)
    )

    def records(base_offset: int, position: int) -> list[LookupRecord]:
        row = log.batches[np.searchsorted(log.batches["position"], position)]
        return [
            LookupRecord(record.offset, record.timestamp_ms)
            for record in batch_records.read_batch(lesson_logs.batch_bytes(row, log.apart_ms))
        ]

    page_bytes = 32 if warm < 512 else 4096
    return context_of(result, log.log, log.batches, records=records, page_bytes=page_bytes)


def context_of(result, log: LogView, rows: np.ndarray, **more) -> LookupContext:
    """Returns a lookup in a log of these batches, whose records are not read."""
    options = {"records": lambda base_offset, position: (), **more}
    return LookupContext(
        result=result, log=log, batches=lambda base_offset: table_of_rows(rows), **options
    )


def words(context: LookupContext) -> list[tuple[str, str]]:
    return [(step.phase, step.text) for step in stepper.view(context).steps]


def test_the_article_step_by_step():
    """Keys 6 14 22 26 31, target 23."""
    assert words(looked_up(lesson_logs.five(), 23)) == [
        ("segment", "There is one segment. It starts at offset 0, which is not above 23."),
        (
            "offset",
            "Slot 0, where the warm section begins, holds 6, which is below 23, so the answer "
            "is in the warm section: slots 0 to 4.",
        ),
        (
            "offset",
            "The middle, slot 2, holds 22, below 23. Keep slot 2 and everything right of it.",
        ),
        ("offset", "The middle, slot 3, holds 26, above 23. Keep only the slots left of it."),
        (
            "offset",
            "Slot 2 is the last entry not above 23: 22 → byte 656. Read the log from there.",
        ),
        (
            "log",
            "17 bytes at 656: this batch starts at 17, below 23. It may hold the target; look "
            "at the next header, 182 bytes on.",
        ),
        ("log", "17 bytes at 838: this batch starts at offset 23, exactly the target. Found."),
        (
            "record",
            "The broker sends the .log from byte 838 on. Offset 23 is the first record there.",
        ),
    ]


def test_the_article_by_time():
    """Through both indexes; the batch is read whole."""
    steps = words(looked_up(lesson_logs.five(), timestamp_ms=lesson_logs.START_MS + 3000))
    phases = ["segment", *["time"] * 4, *["offset"] * 3, *["log"] * 2, "record"]
    assert [phase for phase, _ in steps] == phases
    assert steps[0][1] == (
        "The only segment reaches 2023-11-14 22:13:24.100, which is late enough."
    )
    assert steps[4][1].startswith(
        "Slot 2 is the last time entry not after the target: 22:13:22.600 → offset 22."
    )
    assert steps[8][1] == (
        "At byte 656 the header says: newest record 22:13:22.600, too early. Jump 182 bytes to the "
        "next header."
    )
    assert steps[10][1] == (
        "The whole batch is read. Its first record not before the target is offset 23: that is the "
        "answer."
    )


def test_releases_read_other_headers():
    """Up to 4.0 a batch takes two reads, and up to 2.0 the search is plain binary search."""
    older = words(looked_up(lesson_logs.five(), 23, version="3.9"))
    assert older[5][1] == (
        "At byte 656: read 17 bytes, then 61, to get the last offset. The batch ends at 22, which is "
        "below 23. Jump 182 bytes."
    )
    oldest = words(looked_up(lesson_logs.five(), 23, version="2.0"))
    assert oldest[1][1] == (
        "Slot 0 holds 6, which is not above 23. The whole index is searched: slots 0 to 4."
    )


def test_a_lookup_without_a_search_has_a_value_per_name():
    """Kafka knows the earliest offset without reading an index or a log."""
    view = stepper.view(looked_up(lesson_logs.five(), timestamp_ms=EARLIEST))
    known = {"target": "earliest", "short": "0", "long": "0", "pages": "0"}
    for step in view.steps:
        values = [value for value, _ in step.values]
        assert values == [known.get(name, stepper.NO_VALUE) for name in stepper.VALUE_NAMES]


def test_what_each_step_shows():
    view = stepper.view(looked_up(lesson_logs.twenty(), 66, warm=32))
    steps = [step for step in view.steps if step.phase == "offset"]
    assert [step.line[1] + 1 for step in steps] == [3, 5, 9, 10, 10, 10, 11]
    values = dict(zip(value_names(), steps[4].values, strict=True))
    assert {name: text for name, (text, _) in values.items()} == {
        "target": "66",
        "N": "20",
        "F": "15",
        "probes": "5",
        "lo": "8",
        "hi": "9",
        "mid": "10",
        "key": "79",
        "p": "–",
        "17 B reads": "0",
        "61 B reads": "0",
        "pages": "3",
    }
    changes = [name for name, (_, changed) in values.items() if changed]
    assert changes == ["probes", "hi", "mid", "key"]
    assert steps[4].titles[:2] == (
        "5 probes; 2 of 20 slots left",
        "The log, waiting for a start position",
    )
    assert steps[4].titles[2] == "The records of the batch, not read yet"
    assert view.steps[-1].titles[1] == "2 reads of 17 bytes found the batch"
    assert view.steps[-1].titles[2] == f"Offset 66 is record 1 of 4 in the batch at byte 2{T}827"


def test_what_is_drawn_of_a_search():
    search = stepper.view(looked_up(lesson_logs.twenty(), 66, warm=32)).searches[0]
    assert [(row.slot, row.before, row.after) for row in search.rows] == [
        (15, (0, 19), (0, 19)), (0, (0, 19), (0, 15)), (8, (0, 15), (8, 15)),
        (12, (8, 15), (8, 11)), (10, (8, 11), (8, 9)), (9, (8, 9), (8, 8)),
    ]  # fmt: skip
    assert [row.pages for row in search.rows] == [(3,), (0,), (2,), (3,), (2,), (2,)]
    assert search.pages == 5
    assert search.cells[8][:2] == ("65", "2" + T + "722") and len(search.cells) == 20


def test_a_full_index_takes_few_bytes():
    """Slots that no probe reads are not sent."""
    context = looked_up(lesson_logs.full(), 1_234_567)
    view = stepper.view(context)
    sent = stepper.browser_payload(view, context, "key")
    assert len(view.steps) == 27 and view.searches[0].cells is None
    assert len(json.dumps(sent, ensure_ascii=False).encode()) < 30_000
    assert view.steps[-2].text == (
        f"61 bytes at 123{T}456{T}400: the batch before ends at 1{T}234{T}567, not below 1{T}234{T}567. "
        "Found."
    )
    assert view.steps[-2].titles[0] == f"21 probes on 13 pages found slot 308{T}640"


@pytest.mark.slow
@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_target_of_a_small_log_has_its_steps(every):
    """For each release: the last step names the answer, and the probes add up."""
    log = lesson_logs.twenty()
    for version in ("4.3.1", "3.9", "2.0"):
        for target in range(0, 141, every):
            context = looked_up(log, target, version=version)
            view = stepper.view(context)
            assert (
                sum(step.phase == "offset" for step in view.steps)
                == len(context.result.searches[0].slot_search.probes) + 1
            )
            assert view.steps[-1].phase == "record"
            assert view.records.hit_offset == target
            assert target in [record.offset for record in view.records.records]
        for target in range(lesson_logs.START_MS, lesson_logs.START_MS + 8264, 37 * every):
            view = stepper.view(looked_up(log, timestamp_ms=target, version=version))
            assert f"offset {view.records.hit_offset}" in view.steps[-1].text


@pytest.mark.parametrize(
    ("offset", "text"),
    [
        (32, "Offset 32 is the log end: no record has it yet."),
        (33, "we only have log segments upto 32"),
        (-1, "starting from offset: 0"),
    ],
)
def test_beyond_the_log(offset, text):
    view = stepper.view(looked_up(lesson_logs.five(), offset))
    assert len(view.steps) == 1 and text in view.steps[0].text and not view.searches


def test_later_than_all():
    steps = words(looked_up(lesson_logs.five(), timestamp_ms=lesson_logs.START_MS + 9000))
    assert len(steps) == 1
    assert "the largest timestamp of all is 2023-11-14 22:13:24.100" in steps[0][1]


def test_before_the_first_entry():
    steps = words(looked_up(lesson_logs.five(), 2))
    assert steps[2][1] == (
        "Slot 0, read a second time, holds 6, which is above 2: no entry is at or below the target."
    )
    assert steps[3][1] == "No entry is at or below 2. The scan starts at byte 0."


def test_typed_keys_have_no_log():
    """Only the search is drawn."""
    from kafkaviz.search import index_search

    log = lesson_logs.log_of_keys([6, 14, 22, 26, 31])
    search = index_search.find_offset(log.segments[0], 23, versions.search_profile())
    result = by_offset(lesson_logs.five().log, 23, versions.search_profile())
    result = replace(result, searches=(search,), scans=(), record=None, choices=())
    context = context_of(result, log, np.empty(0, lesson_logs.ROW), is_index_only=True)
    steps = words(context)
    assert [phase for phase, _ in steps] == ["offset"] * 4
    assert steps[-1][1] == "Slot 2 is the last entry not above 23."
    assert stepper.browser_payload(stepper.view(context), context, "key")["scans"] == []


def test_a_long_scan_is_shortened():
    """A thousand headers are 120 steps, and the reads still add up."""
    positions = range(0, 100_000, 100)
    reads = tuple(LogRead(position, 17, ReadPart.START) for position in positions)
    headers = tuple(
        HeaderDecision(position, HeaderOutcome.BASE_BELOW, number, 100, number + 1)
        for number, position in enumerate(positions)
    )
    batch = by_offset(lesson_logs.five().log, 23, versions.search_profile()).scan.batch
    found = {"reads": reads, "headers": headers, "batch": batch}
    scan = ForwardScan(base_offset=0, from_position=0, target=999, **found)
    steps = log_scan.describe_headers(scan)
    assert len(steps) == 120 and steps[-1].reads_done == 1000
    assert steps[60].text.startswith("881 more headers in the same way")
    assert steps[60].reads_done == 941


def test_records_that_cannot_be_read():
    def records(base_offset: int, position: int) -> list[LookupRecord]:
        raise CorruptFile("0.log", position, "no record")

    view = stepper.view(replace(looked_up(lesson_logs.five(), 23), records=records))
    assert view.records.records == ()
    assert view.steps[-1].titles[2] == (
        "Not all records of this batch can be read: 0.log, byte 838: no record"
    )
    assert view.steps[-1].text.endswith("Offset 23 is the first record there.")


def test_a_checksum_that_is_wrong():
    context = looked_up(lesson_logs.five(), 23)
    error = CorruptRecord("Record batch is invalid")
    outcome = LookupOutcome.CORRUPT
    wrong = replace(context.result, record=None, answer=None, error=error, outcome=outcome)
    steps = words(replace(context, result=wrong))
    assert steps[0] == words(context)[0]
    assert steps[-1][1].endswith(
        "from byte 838 on. The consumer looks at the checksum and throws an exception: Record batch "
        "is invalid."
    )


def test_figures_name_the_segment_that_is_searched(damaged):
    """Also if the page shows another segment; a single segment needs no name."""
    partition = open_broker(damaged).partition("bookings-0")
    log = served_log.open_log_view(partition)
    result = by_offset(log, 954, versions.search_profile("4.3.1"))
    context = context_of(result, log, partition.segment(858).batches())
    sent = stepper.browser_payload(stepper.view(context), context, "key")
    hint = (
        "Segment 00000000000000000858. The whole index fits in the warm section: the last "
        "1\u202f024 entries and the entry before them."
    )
    assert [search["hint"] for search in sent["searches"]] == [hint]
    names = [scan["hint"].split(". ")[0] for scan in sent["scans"]]
    assert names == ["Segment 00000000000000000858"]
    alone = looked_up(lesson_logs.five(), 23)
    sent = stepper.browser_payload(stepper.view(alone), alone, "key")
    hints = [part["hint"] for part in (*sent["searches"], *sent["scans"])]
    assert not any(hint.startswith("Segment") for hint in hints)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["4.3.1", "3.9", "2.0"])
@pytest.mark.parametrize("make_log", [lesson_logs.five, lesson_logs.twenty], ids=["five", "twenty"])
def test_every_sentence_in_chinese(make_log, version):
    """No English in a step, a title or a cell; the same steps at the same lines of the pseudocode."""
    times = [lesson_logs.START_MS - 1, lesson_logs.START_MS + 3000, lesson_logs.START_MS + 99_999]
    queries = [
        *({"offset": offset} for offset in range(int(make_log().batches["last_offset"][-1]) + 2)),
        *({"timestamp_ms": time_ms} for time_ms in times),
    ]
    for query in queries:
        context = looked_up(make_log(), version=version, warm=32, **query)
        english = stepper.view(context)
        with messages.speaking("zh"):
            chinese = stepper.view(context)
            sent = stepper.browser_payload(chinese, context, "key")
        assert [(step.phase, step.line) for step in chinese.steps] == [
            (step.phase, step.line) for step in english.steps
        ]
        texts = [text for step in chinese.steps for text in (step.text, *step.titles) if text]
        texts += [scan["hint"] for scan in sent["scans"]] + [
            cell[2] for search in sent["searches"] for cell in search["cells"] or ()
        ]
        assert [
            text
            for text in texts
            if not re.search(r"[\u4e00-\u9fff]", text) or re.search(r"[a-z]{2,} [a-z]{2,}", text)
        ] == []


@pytest.mark.parametrize(
    "name", [name for name in messages.catalogue("en") if re.match(r"index_search\..*_code$", name)]
)
def test_pseudocode_has_the_same_lines_in_every_language(name):
    texts = [messages.text_in(language, name) for language in messages.LANGUAGES]
    assert len({text.count("\n") for text in texts}) == 1


def test_a_search_continues_in_the_next_segment():
    """Each segment is searched for an offset that none holds any more."""
    data = whole_logs.batch(0, [whole_logs.START_MS] * 3)
    segments = tuple(
        SegmentView(base_offset=base, log=in_memory(f"{file_stem(base)}.log", content))
        for base, content in ((0, data), (10, b""))
    )
    log = LogView("t-0", segments)
    result = by_offset(log, 5, versions.search_profile())

    steps = words(context_of(result, log, walk(data)[0]))
    names = {"before": file_stem(0), "after": file_stem(10)}
    next_segment = say("lookup_steps.next_segment", **names, offset="5")
    assert [step for step in steps if step[0] == "segment"][1:] == [("segment", next_segment)]
    assert steps[-1] == ("record", say("lookup_steps.no_batch"))


@pytest.mark.parametrize("count", [0, 1, 8, 9, 10, 13, 40])
def test_the_records_around_a_hit_are_a_slice_of_all(count):
    """Also without a hit, which shows the first ones."""
    records = [LookupRecord(100 + number, number) for number in range(count)]
    for hit in (None, *range(count)):
        first = max(0, min(count - stepper.DRAWN_RECORDS, (hit or 0) - 3))
        found = stepper._records_around(iter(records), None if hit is None else 100 + hit)
        shown = records[first : first + stepper.DRAWN_RECORDS]
        assert (found[0], found[1], list(found[2])) == (first, count, shown)
