"""The figure of an answer: the drawn column, names of rows, units, lines, and hostile topic names."""

import pyarrow as pa
import pytest

from kafkaviz.figures import answer_chart as chart
from kafkaviz.figures.questions import QUESTION_BY_NAME, QUESTIONS, find_question

CODECS = pa.table(
    {
        "codec": ["zstd", "none"],
        "batches": [540, 100],
        "records": [12_415, 900],
        "log_bytes": [390_553, 90_000],
        "bytes_a_record": [31.5, 100.0],
    }
)
INTERVALS = [0, *(64 << step for step in range(17))]
SWEEP = pa.table(
    {"interval_bytes": INTERVALS, "index_bytes": list(range(18, 0, -1)), "headers_max": [2] * 18}
)


def each_minute(start: int) -> pa.Table:
    times = [start + step * 60_000 for step in range(5)]
    return pa.table({"timestamp_ms": times, "n": [1, 5, 2, 8, 3]})


def test_every_question_has_a_name_and_a_query_of_its_own():
    for what in ("name", "text", "sql"):
        values = {getattr(question, what) for question in QUESTIONS}
        assert len(values) == len(QUESTIONS) == len(QUESTION_BY_NAME)
    for question in QUESTIONS:
        assert find_question(f"\n {question.sql}\n\n") is question
        assert question.sql == question.sql.strip()
        assert len(question.sql) < 1500
        assert max(map(len, question.sql.split("\n"))) <= 84, (
            "else the field breaks its lines at 1280 px"
        )
    assert find_question("SELECT 1") is None


def test_a_question_says_what_is_drawn():
    view = chart.view(CODECS, QUESTION_BY_NAME["codecs"])
    assert view.title == "A record takes 32 B with zstd, 100 B with none"
    assert view.column == "bytes_a_record"
    assert view.names == ("zstd", "none") and view.values == (31.5, 100.0)
    assert view.tails == ("31.5 B, 540 batches, 381 KiB", "100 B, 100 batches, 87.9 KiB")
    columns = chart.drawable_columns(CODECS, QUESTION_BY_NAME["codecs"])
    assert columns == ["bytes_a_record", "batches", "records", "log_bytes"]


def test_another_column_of_it_is_drawn_without_its_words():
    view = chart.view(CODECS, QUESTION_BY_NAME["codecs"], "log_bytes")
    assert view.title == "log_bytes: 87.9 KiB to 381 KiB"
    assert view.tails == ("381 KiB", "87.9 KiB")
    assert chart.view(CODECS, None, "nope").column == "batches"


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("index_bytes", 2048, "2 KiB"),
        ("bytes", 0, "0 B"),
        ("saved_bytes", -2048, "−2 KiB"),
        ("late_ms", 90_000, "1.5 min"),
        ("newest_ms", 1_790_000_000_000, "2026-09-21 14:13:20"),
        ("fill", 0.0002, "0.02 %"),
        ("share", 0, "0 %"),
        ("share", 3, "3"),
        ("n", 54_432, "54\u202f432"),
        ("mean", 2.34567, "2.346"),
        ("n", None, "–"),
        ("n", float("nan"), "–"),
        ("n", True, "–"),
    ],
)
def test_a_number_reads_in_the_unit_of_its_column(column, value, words):
    assert chart.format_value(value, column) == words


def test_rows_are_distinguished():
    same = {"broker": ["b", "b"], "topic": ["t", "t"], "partition": [0, 0]}
    rows = pa.table({**same, "base_offset": [7, 8500], "size_bytes": [5, 6]})
    view = chart.view(rows)
    assert view.names == ("t-0 7", "t-0 8\u202f500")
    assert chart.drawable_columns(rows) == ["size_bytes"]
    same = chart.view(pa.table({"n": [1, 1]}))
    assert same.names == ("1", "2") and same.title == "n: 1"
    assert chart.view(pa.table({"state": ["a", "b"], "why": ["x", "y"], "n": [1, 2]})).names == (
        "a x",
        "b y",
    )


def test_a_long_answer_shows_its_first_bars():
    view = chart.view(pa.table({"topic": [f"t{row}" for row in range(100)], "n": list(range(100))}))
    assert len(view.names) == chart.MAX_BARS
    assert view.caption == "n of each row; the first 24 of 100 rows"
    assert view.title == "n: 0 to 99"


def test_a_column_that_rises_is_an_axis():
    view = chart.view(SWEEP)
    assert (view.x_column, view.column) == ("interval_bytes", "index_bytes")
    assert view.x[0] == 64
    assert len(view.x) == 17
    assert view.caption == "index_bytes, over interval_bytes; 0 cannot be drawn on this axis"
    drawn = chart.figure(view, "light")
    assert drawn.layout.xaxis.type == "log"
    assert drawn.layout.xaxis.ticktext[0] == "64 B"
    assert list(drawn.data[0].x) == list(view.x)
    at = each_minute(1_790_000_000_000)
    moments = chart.figure(chart.view(at), "dark")
    assert str(moments.data[0].x[0]).startswith("2026-09-21T14:13:20")
    assert list(moments.data[0].y) == [1, 5, 2, 8, 3]


def test_times_beyond_the_calendar_are_numbers():
    """Some producers' clocks count microseconds."""
    at = each_minute(1_790_000_000_000_000)
    assert chart.figure(chart.view(at), "dark").data[0].x[0] == 1_790_000_000_000_000


@pytest.mark.parametrize(
    "rows",
    [
        pa.table({"topic": ["a"]}),
        pa.table({"n": pa.array([], pa.int64())}),
        pa.table({"base_offset": [1, 2]}),
    ],
)
def test_nothing_to_draw(rows):
    assert chart.view(rows) is None


def test_nulls_and_numbers_below_zero():
    view = chart.view(pa.table({"topic": ["a", "b", "c"], "n": [None, -4, 8]}))
    assert view.values == (None, -4, 8)
    assert view.tails == ("–", "-4", "8")
    assert view.title == "n: -4 to 8"
    drawn = chart.figure(view, "light")
    assert list(drawn.data[0].x) == [0, -4, 8]
    assert tuple(drawn.layout.xaxis.range) == (-4, 8)
    assert 0 in drawn.layout.xaxis.tickvals
    empty = chart.view(pa.table({"topic": ["a"], "n": pa.array([None], pa.int64())}))
    assert empty.title == "No row has a number in n"
    assert chart.figure(empty, "light").data[0].x[0] == 0


def test_the_axis_has_round_places():
    assert chart._round_ticks(0, 1_051_176, "index_bytes") == [0, 524_288, 1_048_576]
    assert chart._round_ticks(0, 57, "headers") == [0, 20, 40]
    assert chart._round_ticks(0, 0.0625, "fill") == pytest.approx([0, 0.02, 0.04, 0.06])
    assert chart._round_ticks(0, 400 * 86_400_000, "late_ms") == [
        0,
        *(days * 86_400_000 for days in (100, 200, 300, 400)),
    ]


def test_markup_in_a_name_is_text():
    """Plotly would make a link of it."""
    drawn = chart.figure(chart.view(pa.table({"topic": ["<a href='x'>b</a>"], "n": [1]})), "light")
    assert drawn.layout.yaxis.ticktext[0] == "&lt;a href='x'&gt;b&lt;/a&gt;"


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_bars_are_the_view(mode):
    view = chart.view(CODECS, QUESTION_BY_NAME["codecs"])
    drawn = chart.figure(view, mode)
    assert list(drawn.data[0].x) == [31.5, 100.0]
    assert [text.strip() for text in drawn.data[1].text] == list(view.tails)
    assert drawn.layout.height == 2 * chart.ROW_PX + chart.BOTTOM


@pytest.mark.parametrize("rows", [CODECS, SWEEP])
def test_it_is_sent_as_it_was_drawn(rows):
    """The page draws it in every run, and Plotly's checks would take half of that."""
    drawn = chart.figure(chart.view(rows), "light")
    assert drawn.to_dict() is drawn.to_dict()
