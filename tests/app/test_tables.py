"""Tables and their downloads."""

import ast
import csv
import io
import re
from pathlib import Path

import pytest

from kafkaviz.app.widgets.tables import escape_formula, report_name, to_csv
from kafkaviz.log.broker import open_broker

ROOT = Path(__file__).parents[2]
LANGUAGE_CALL = re.compile(
    r"\b(say|counted|columns|heads|table)\("
)  # words of the reader's language


def files() -> list[Path]:
    return [
        *(ROOT / "kafkaviz" / "app").rglob("*.py"),
        *(ROOT / "kafkaviz" / "workshop").rglob("*.py"),
        *(ROOT / "pages").glob("*.py"),
        ROOT / "app.py",
    ]


def heads() -> dict[str, list[str]]:
    """Returns the expressions that name the columns of each CSV, by their place in the code."""
    calls = {}
    for file in files():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node.func) == "to_csv" and node.args:
                parts = (node.args[0], *assigned_values(node.args[0], above))
                place = f"{file.relative_to(ROOT)}, line {node.lineno}"
                calls[place] = [ast.unparse(part) for part in parts]
    return calls


def called(function: ast.expr) -> str:
    """Returns the name of a function or method."""
    return getattr(function, "id", getattr(function, "attr", ""))


def assigned_values(name: ast.expr, above: dict[ast.AST, ast.AST]) -> list[ast.expr]:
    """Returns the values that a name gets in its function.

    `above`: the enclosing node of each node.
    """
    room: ast.AST = name
    while not isinstance(above[room], ast.Module):
        room = above[room]
    values = []
    for node in ast.walk(room):
        if isinstance(node, ast.Assign):
            parts = [part for target in node.targets for part in ast.walk(target)]
            if ast.unparse(name) in {part.id for part in parts if isinstance(part, ast.Name)}:
                values.append(node.value)
    return values


def test_a_file_has_the_same_heads_in_every_language():
    """They are names for programs; the words on the screen are the reader's."""
    known = heads()
    assert len(known) > 10
    assert {
        place: parts
        for place, parts in known.items()
        if any(LANGUAGE_CALL.search(part) for part in parts)
    } == {}


def test_digits_of_a_file_stand_together():
    assert to_csv(("what", "bytes"), [("a, b", "1\u202f500")]) == 'what,bytes\r\n"a, b",1500\r\n'


def test_an_unknown_value_of_a_file_is_an_empty_cell():
    assert to_csv(("end_ms", "outcome"), [(None, "open")]) == "end_ms,outcome\r\n,open\r\n"


SIGNS = (
    "=1+1",
    "=cmd|' /C calc'!A0",
    "+1 B",
    "-1+1",
    "-topic-0",
    "@SUM(1)",
    "-",
    "+",
    "＝1",
    "－x",
)


@pytest.mark.parametrize("text", [*SIGNS, "\tx", "\r=1", "\n=1"])
def test_no_text_of_a_file_is_a_formula(text):
    """A spreadsheet would evaluate such text; after ' it is text. OWASP, CSV injection."""
    assert escape_formula(text) == f"'{text}"
    (head,), (cell,) = csv.reader(io.StringIO(to_csv((text,), [(text,)]), newline=""))
    assert (head, cell) == (f"'{text}", f"'{text}")


@pytest.mark.parametrize(
    "text", ["", "orders-0", "-1", "+1", "-1.5", "-2e-05", "1=1", "'=1", " =1", "–"]
)
def test_a_number_of_a_file_stays_one(text):
    """Text without such a first character stays unchanged too."""
    assert escape_formula(text) == text


def test_a_report_has_one_name():
    """Made on Health or on Tuning, from an archive or from its directory."""
    packed = ROOT / "sample_data" / "kafka-4.3.1-clean.tar.gz"
    names = {report_name(open_broker(path)) for path in (packed, open_broker(packed).path)}
    assert names == {"kafka-4.3.1-clean-report.html"}
    naming = [file.name for file in files() if "-report.html" in file.read_text(encoding="utf-8")]
    assert naming == ["tables.py"]
