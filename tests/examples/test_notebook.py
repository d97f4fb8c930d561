"""The example notebook, cell by cell."""

import json
from pathlib import Path

import plotly.graph_objects as go
import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "broker_in_a_notebook.ipynb"


@pytest.fixture(scope="module")
def document() -> dict:
    """The notebook as JSON."""
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def test_every_cell_runs_and_shows_something(document, tmp_path, monkeypatch):
    """From top to bottom in another folder: each value at a cell's end is a figure or a table."""
    monkeypatch.chdir(tmp_path)
    namespace: dict = {}
    shown = []
    for cell in document["cells"]:
        if cell["cell_type"] != "code":
            continue
        *lines, last = "".join(cell["source"]).splitlines()
        exec("\n".join(lines), namespace)
        value = eval(last, namespace)
        is_figure = isinstance(value, go.Figure) and len(value.data) > 0
        assert is_figure or "<table>" in value._repr_html_(), last
        shown.append("figure" if is_figure else "table")
    assert (shown.count("figure"), shown.count("table")) == (5, 3)


def test_it_is_kept_without_outputs(document):
    """Outputs belong to one machine; and every cell has an id, which nbformat 4.5 requires."""
    cells = document["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
    assert len({cell["id"] for cell in cells}) == len(cells)
