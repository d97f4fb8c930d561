"""The house of ten floors: a file may use its own floor and those below it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sources import ROOT, place, trees

# from the ground up
HOUSE = (
    "environment errors extras html jobs messages units versions config_def",
    "binary",
    "format",
    "log",
    "search",
    "simulate",
    "analysis",
    "pipeline",
    "figures render",  # lower rooms use html.py and analysis/json_objects.py too
    "app cli report __main__ __init__",
    "serve workshop",  # app.py and pages/ too
)
FLOORS = {name: floor for floor, names in enumerate(HOUSE) for name in names.split()}
TOP = len(HOUSE) - 1
# the five floors of app/, folders and modules
APP_HOUSE = (
    "__init__ access cache frontend page_state registry scheduling uploads workloads",
    "state",
    "widgets",
    "frame middleware server",
    "pages",
)
APP_FLOORS = {name: floor for floor, names in enumerate(APP_HOUSE) for name in names.split()}
HOMES = {
    "pyspark": {"pipeline"},
    "plotly": {"figures", "report", "workshop"},  # some figures only lessons draw
    "streamlit": {"app", "workshop", "pages"},
}
STRANGERS = {
    *(("simulate", "log"), ("app", "cli"), ("cli", "app"), ("cli", "figures")),
    *(("figures", "pipeline"), ("render", "pipeline"), ("render", "figures")),
}
BUFFERS_ALONE = ("kafkaviz.binary", "kafkaviz.format", "kafkaviz.search.binary_search")
# of simulate/: each uses those after it in this list
WINGS = [
    *("lesson_growth", "lesson_logs", "directory", "cleaner", "writer", "startup", "recovery"),
    *("segment_check", "producers"),
]
# folders of one room: the first does not know the second
FOLDER_STRANGERS = (
    ("kafkaviz.analysis.checks", "kafkaviz.analysis.broker_health"),
    ("kafkaviz.analysis.retention", "kafkaviz.analysis.broker_health"),
    ("kafkaviz.pipeline.catalog", "kafkaviz.pipeline.read"),
    ("kafkaviz.pipeline.catalog", "kafkaviz.pipeline.ingest"),
    ("kafkaviz.pipeline.catalog", "kafkaviz.pipeline.datasource"),
    ("kafkaviz.pipeline.read", "kafkaviz.pipeline.ingest"),
    ("kafkaviz.pipeline.read", "kafkaviz.pipeline.datasource"),
    ("kafkaviz.pipeline.ingest", "kafkaviz.pipeline.datasource"),
    ("kafkaviz.pipeline.datasource", "kafkaviz.pipeline.ingest"),
    ("kafkaviz.workshop", "kafkaviz.app.pages"),
    ("kafkaviz.workshop.lessons", "kafkaviz.workshop.page"),
    ("kafkaviz.workshop.lessons", "kafkaviz.workshop.step"),
    ("kafkaviz.workshop.takeaway", "kafkaviz.workshop.page"),
    ("kafkaviz.workshop.takeaway", "kafkaviz.workshop.step"),
    ("kafkaviz.log.remote", "kafkaviz.log.file"),  # a file may be remote, so file.py uses remote/
)
WORLD = {
    *("datetime", "glob", "io", "logging", "os", "pathlib", "random", "shutil", "socket"),
    *("subprocess", "sys", "tempfile", "time"),
}
WORLDLY_CALLS = {"open", "print", "input"}


def module_name(path: Path) -> str:
    """Returns the dotted name, "kafkaviz.log.segment" or "app"; a package keeps its __init__."""
    return ".".join(path.with_suffix("").parts)


def room(module: str) -> str:
    """Returns the part of a name that has a floor: "log" of kafkaviz.log.segment."""
    first, *others = module.split(".")
    return [*others, "__init__"][0] if first == "kafkaviz" else first


def floor(module: str) -> int | None:
    """Returns the floor of one of our modules; None for a kafkaviz module without one."""
    return FLOORS.get(room(module)) if module.partition(".")[0] == "kafkaviz" else TOP


def imports(tree: ast.Module, module: str) -> Iterator[tuple[int, str]]:
    """Yields (line, full name); of `from kafkaviz import units, Broker` the last is the library."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = module.split(".")[: -node.level] if node.level else []
            source = ".".join([*start, *filter(None, [node.module])])
            for alias in node.names:
                is_library = source == "kafkaviz" and alias.name not in FLOORS
                yield node.lineno, source if is_library else f"{source}.{alias.name}"


def faults(tree: ast.Module, module: str) -> list[tuple[int, str]]:
    """Yields every line of a module that breaks a rule of the house, and how."""
    if floor(module) is None:
        return [(1, f"{room(module)} has no floor: give it one in HOUSE")]
    part = part_of(module, "app")
    if part not in {None, *APP_FLOORS}:
        return [(1, f"{part} has no floor: give it one in APP_HOUSE")]
    differences = [
        (line, fault)
        for line, name in imports(tree, module)
        for fault in import_faults(module, name)
    ]
    if module.startswith(BUFFERS_ALONE):
        differences += [
            (line, f"calls {name}(): this room takes buffers and gives values")
            for line, name in worldly_calls(tree)
        ]
    return sorted(set(differences))


def import_faults(module: str, imported: str) -> Iterator[str]:
    """Returns the faults of this module importing that one."""
    outsider = imported.partition(".")[0]
    if outsider in HOMES and room(module) not in HOMES[outsider]:
        yield f"imports {outsider}, which lives in {' and '.join(sorted(HOMES[outsider]))} alone"
    if outsider in WORLD and module.startswith(BUFFERS_ALONE):
        yield f"imports {outsider}: this room takes buffers and gives values"
    if outsider in {"app", "pages", "tests", "benchmarks"}:
        yield f"imports {outsider}, which nobody imports"
    if outsider == "kafkaviz":
        yield from neighbour_faults(module, imported)


def neighbour_faults(module: str, imported: str) -> Iterator[str]:
    """Returns the same for two modules of ours."""
    own_floor, there = floor(module), floor(imported)
    if there is not None and there > own_floor:
        yield f"floor {own_floor} climbs to {imported}, floor {there}"
    mine, its = part_of(module, "app"), part_of(imported, "app")
    if mine and its and APP_FLOORS.get(its, 0) > APP_FLOORS[mine]:
        yield f"app/{mine} climbs to app/{its}"
    if (room(module), room(imported)) in STRANGERS:
        yield f"{room(module)} does not know {room(imported)}"
    mine, its = part_of(module, "simulate"), part_of(imported, "simulate")
    if mine in WINGS and its in WINGS and WINGS.index(its) < WINGS.index(mine):
        yield f"simulate/{mine} does not know simulate/{its}"
    for folder, stranger in FOLDER_STRANGERS:
        if is_in(module, folder) and is_in(imported, stranger):
            yield f"{folder} does not know {stranger}"


def is_in(module: str, folder: str) -> bool:
    """Returns whether a module, or a name in one, is that folder's or inside it."""
    return module == folder or module.startswith(f"{folder}.")


def part_of(module: str, room: str) -> str | None:
    """Returns the folder or module of a room that a module or name is in."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["kafkaviz", room] and len(parts) > 2 else None


def worldly_calls(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yields calls that reach files or the terminal."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in WORLDLY_CALLS
        ):
            yield node.lineno, node.func.id


def test_no_line_climbs():
    """A fault reads file:line and the broken rule."""
    assert len(trees()) > 10
    assert [
        f"{place(file)}:{line} {fault}"
        for file, tree in trees().items()
        for line, fault in faults(tree, module_name(file.relative_to(ROOT)))
    ] == []


@pytest.mark.parametrize(
    ("module", "source", "line"),
    [
        ("kafkaviz.units", "import kafkaviz.format.batch", 1),
        ("kafkaviz.binary.varint", "from kafkaviz.format import batch", 1),
        ("kafkaviz.format.walk", "import numpy\nfrom kafkaviz.log.segment import Segment", 2),
        ("kafkaviz.log.segment", "def lazy():\n    from kafkaviz.search import lookup", 2),
        ("kafkaviz.log.segment", "from ..search.lookup import lookup_in_view", 1),
        ("kafkaviz.log.__init__", "from ..analysis import cost", 1),
        ("kafkaviz.log.file", "from kafkaviz import open_broker", 1),
        ("kafkaviz.simulate.writer.writer", "from kafkaviz.log import file", 1),
        ("kafkaviz.simulate.recovery", "from kafkaviz.simulate.startup import restart", 1),
        ("kafkaviz.analysis.retention", "from kafkaviz.analysis.broker_health import Health", 1),
        ("kafkaviz.analysis.checks.segment", "from kafkaviz.analysis import broker_health", 1),
        ("kafkaviz.app.widgets.go_to", "from kafkaviz.workshop import takeaway", 1),
        ("kafkaviz.app.cache.broker_cache", "from kafkaviz.app.state import ingests", 1),
        (
            "kafkaviz.app.state.ingests",
            "def lazy():\n    from kafkaviz.app.widgets import tables",
            2,
        ),
        ("kafkaviz.app.frame", "from kafkaviz.app.pages import lookup", 1),
        ("kafkaviz.app.attic", "", 1),
        ("kafkaviz.figures.theme", "from kafkaviz.pipeline.catalog.catalog import read", 1),
        ("kafkaviz.render.sentences", "from kafkaviz.figures import theme", 1),
        ("kafkaviz.app.state.page_location", "from kafkaviz.cli import app", 1),
        ("kafkaviz.cli.app", "import kafkaviz.app.frame", 1),
        ("kafkaviz.cli.key", "from kafkaviz.figures.disk import compaction_view", 1),
        ("kafkaviz.analysis.cost.cost_model", "from pyspark.sql import functions", 1),
        ("kafkaviz.format.names", "from pathlib import Path", 1),
        ("kafkaviz.binary.codec", "import os.path", 1),
        ("kafkaviz.format.batch", "x = 1\nprint(x)", 2),
        ("kafkaviz.log.broker", "import pages.segment", 1),
        ("kafkaviz.attic.box", "", 1),
    ],
)
def test_a_line_that_climbs_is_reported(module, source, line):
    """Each rule, broken once, is reported on its line."""
    assert [line_number for line_number, _ in faults(ast.parse(source), module)] == [line]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("kafkaviz.format.walk", "from kafkaviz import units\nfrom kafkaviz.binary import crc32c"),
        ("kafkaviz.log.broker", "from .segment import Segment\nfrom kafkaviz.format import names"),
        ("kafkaviz.log.broker", "import os, time"),
        ("kafkaviz.search.lookup", "from kafkaviz.log.partition import Partition\nimport time"),
        ("kafkaviz.pipeline.ingest.job", "import pyspark\nfrom kafkaviz.analysis import sweep"),
        ("kafkaviz.simulate.writer.writer", "from kafkaviz.simulate.recovery import recover"),
        ("kafkaviz.figures.disk.disk_map", "from kafkaviz.render import disk_text"),
        ("kafkaviz.report", "import plotly.graph_objects\nfrom kafkaviz.figures import theme"),
        ("kafkaviz.__init__", "from kafkaviz.simulate.writer import writer\nimport kafkaviz.log"),
        (
            "pages.segment",
            "import streamlit\nimport kafkaviz\nfrom kafkaviz.pipeline import catalog",
        ),
        ("kafkaviz.app.pages.lookup", "from kafkaviz.app.pages import rolls"),
        ("kafkaviz.analysis.broker_health", "from kafkaviz.analysis.checks import plan"),
        ("app", "import streamlit as st\nfrom kafkaviz.app.frame import frame"),
    ],
)
def test_a_line_that_goes_down_is_not(module, source):
    assert faults(ast.parse(source), module) == []
