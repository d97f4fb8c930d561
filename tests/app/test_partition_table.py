"""The table: how values read, that it is sorted by value, and the exact CSV."""

import csv
import dataclasses
import io

import pandas as pd
import pytest
from pandas.io.formats.style import Styler
from streamlit.elements.lib.pandas_styler_utils import marshall_styler
from streamlit.proto.ArrowData_pb2 import ArrowData

from kafkaviz.analysis import overview
from kafkaviz.app.pages import broker_table
from kafkaviz.log.broker import open_broker
from tests.support.pages import open_page, page_html
from tests.support.segment_files import columns, make_segment


@pytest.fixture
def rows(tmp_path) -> tuple[overview.PartitionRow, ...]:
    """A read topic-partition and an empty one."""
    make_segment(tmp_path / "orders-0", 30, 2048, [500, 1000], times=1)
    make_segment(tmp_path / "void-0", 0, 0, [])
    (tmp_path / "meta.properties").write_text("version=1\n")
    broker = open_broker(tmp_path)
    read = columns(
        broker,
        batches=[4, 0],
        records=[40, 0],
        last_offset=[1069, None],
        max_timestamp_ms=[1_700_000_000_000, None],
        offset_entries=[2, 0],
        time_entries=[1, 0],
        codecs=[("lz4",), ()],
    )
    return overview.with_batches(overview.with_entries(overview.inventory(broker)), read).partitions


def cell_texts(rows) -> list[list[str]]:
    styler = broker_table.style_table(broker_table.frame(rows))
    styler._compute()
    return [
        [cell["display_value"] for cell in row if cell["type"] == "td"]
        for row in styler._translate(False, False)["body"]
    ]


def test_values_read_as_everywhere(rows):
    assert [" | ".join(texts) for texts in cell_texts(rows)] == [
        "orders-0 | 1 | 30–1\u202f069 | 2 KiB | 28 B | 1.4 % | 2 | 1\u202f024 | lz4 | 2023-11-14 22:13:20",
        "void-0 | 1 | – | 0 B | 0 B | – | 0 | – | – | –",
    ]


def test_the_value_below_is_a_number(rows):
    """So 900 B sorts below 1 KiB."""
    frame = broker_table.frame(rows)
    assert frame["Log"].tolist() == [2048, 0]
    assert frame["Newest record (UTC)"][0] == 1_700_000_000_000


def test_the_csv_is_exact(rows):
    """By name, plain numbers, and empty where unknown; no name is a formula."""
    renamed = [dataclasses.replace(row, directory="-=1-0") for row in rows]
    assert [line["directory"] for line in csv_lines(renamed)] == ["'-=1-0"] * 2
    columns = ("directory", "log_bytes", "records", "last_offset", "newest_record_ms", "codecs")
    assert [[line[column] for column in columns] for line in csv_lines(rows)] == [
        ["orders-0", "2048", "40", "1069", "1700000000000", "lz4"],
        ["void-0", "0", "0", "", "", ""],
    ]


def csv_lines(rows) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(broker_table.csv(rows).decode())))


def test_no_rows_make_an_empty_table():
    assert cell_texts([]) == [] and len(broker_table.frame([]).columns) == 10


def test_the_cells_are_worded_once(rows, monkeypatch):
    expected, sent = ArrowData(), ArrowData()
    styler = broker_table.style_table(broker_table.frame(rows))
    marshall_styler(expected, styler.set_uuid("partitions"), "")
    broker_table._displayed_table(rows, "en")
    monkeypatch.setattr(Styler, "_compute", None)
    monkeypatch.setattr(Styler, "_translate", None)
    marshall_styler(sent, broker_table._displayed_table(rows, "en"), "")
    assert sent == expected and b"2 KiB" in sent.styler.display_values


def test_names_are_bold(rows):
    styles = broker_table.style_table(broker_table.frame(rows))._compute().ctx
    assert {at: style for at, style in styles.items() if style} == {
        (row, 0): [("font-weight", "600")] for row in range(len(rows))
    }


def test_a_hundred_thousand_rows_are_not_all_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(broker_table, "LISTED_ROWS", 20)
    (tmp_path / "meta.properties").write_text("version=1\n")
    for number in range(50):
        (tmp_path / f"empty-{number}").mkdir()
    page = open_page("broker", dir=str(tmp_path))
    assert len(page.dataframe[0].value) == 20
    assert "30 more topic-partitions, none of them larger" in page_html(page)


def test_the_listed_rows_can_be_formatted():
    """A Styler refuses more cells than pandas allows."""
    cells = broker_table.LISTED_ROWS * len(broker_table.FORMATTERS)
    assert cells <= pd.get_option("styler.render.max_elements")
