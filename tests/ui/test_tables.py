"""Tables, and what a reader takes along of them."""

import ast
import re
from pathlib import Path

from kafkaviz.ui.tables import csv_of
from tests.words import phrases

WRITTEN_OUT = re.compile(r"'[a-z][a-z0-9_]*'|(\w+\.)?[A-Z][A-Z_]+")  # 'interval_bytes', or tornado.COLUMNS


def files() -> list[Path]:
    """Every script and module of the app that may offer a file."""
    return [*(phrases.ROOT / "kafkaviz" / "ui").rglob("*.py"), *(phrases.ROOT / "pages").glob("*.py"), phrases.ROOT / "app.py"]


def heads() -> dict[str, list[str]]:
    """What names the columns of each CSV, and where."""
    found = {}
    for file in files():
        of = phrases.code(file)
        for call in (node for node in ast.walk(of.tree) if isinstance(node, ast.Call) and phrases.called(node.func) == "csv_of"):
            parts = call.args[0].elts if isinstance(call.args[0], ast.Tuple) else [call.args[0]]
            found[f"{of.file}, line {call.lineno}"] = [ast.unparse(one) for one in parts]
    return found


def test_a_file_has_the_same_heads_in_every_language():
    """Names for programs: written out, or those of a constant; the words on the screen are the reader's."""
    known = heads()
    assert len(known) > 10
    wrong = {place: said for place, said in known.items() if not all(WRITTEN_OUT.fullmatch(one) for one in said)}
    assert wrong == {}


def test_digits_of_a_file_stand_together():
    """What groups them on the screen is left out."""
    assert csv_of(("what", "bytes"), [("a, b", "1\u202f500")]) == 'what,bytes\r\n"a, b",1500\r\n'
