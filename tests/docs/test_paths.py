"""The architecture, CONTRIBUTING.md and the README name existing files and names in them."""

import ast
import re
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from kafkaviz.__main__ import PUBLIC_COMMANDS

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("docs/architecture.md", "CONTRIBUTING.md", "README.md")
LINK = re.compile(r"\[([^\]\n]+)\]\(([^)#\s]+)(?:#[\w-]+)?\)")
FILE_NAME = re.compile(r"[\w./-]+\.\w+")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?|[\w.-]+(?:/|\.(?:css|js|md|py|toml))")
# `name` in [file](link), `name` of `file`, `name` ([file](link)); `one` and `two` in ...
DEFINITION = re.compile(
    r"((?:`[\w.]+`(?:,|\s+and)\s+)*`[\w.]+`)\s+(?:in\s+|of\s+|\()"
    r"(?:\[[^\]\n]+\]\(([^)\s]+\.(?:js|py))\)|`([\w./-]+\.(?:js|py))`)"
)
JAVASCRIPT_DEFINITION = re.compile(r"^(?:export )?(?:function|const|class) (\w+)", re.MULTILINE)
PLACEHOLDER = "NAME"
NOT_OURS = (".venv/", "copy.tar.gz/", "orders-0/")  # of a broker, or of a machine


@pytest.fixture(scope="module")
def paths() -> frozenset[str]:
    """Returns every file and folder of the repository, except ignored ones."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    git = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if git.returncode != 0:
        pytest.skip("not a git checkout: there is no list of tracked files")
    files = [name for name in git.stdout.split("\0") if name and (ROOT / name).is_file()]
    return frozenset(
        str(path) for name in files for path in (PurePosixPath(name), *PurePosixPath(name).parents)
    )


def wrong_links(document: str, text: str) -> list[str]:
    """Returns links to missing targets, or with the name of another file as text."""
    folder = (ROOT / document).parent
    return [
        f"[{label}]({target})"
        for label, target in LINK.findall(text)
        if "://" not in target
        and (
            not (folder / target).exists()
            or (FILE_NAME.fullmatch(label) and not f"/{target}".endswith(f"/{label}"))
        )
    ]


def missing_paths(text: str, paths: frozenset[str]) -> list[str]:
    """Returns paths in backticks that are not in the repository; NAME stands for any name."""
    return [
        code
        for code in CODE.findall(text)
        if PATH.fullmatch(code)
        and not code.startswith(NOT_OURS)
        and not any(map(_pattern(code).search, paths))
    ]


def _pattern(path: str) -> re.Pattern[str]:
    first, *others = re.escape(path.rstrip("/")).split(PLACEHOLDER)
    name = "(?P<name>[a-z_]+)" if others else ""
    return re.compile(f"(?:^|/){first}{name}{'(?P=name)'.join(others)}$")


def undefined_names(document: str, text: str, paths: frozenset[str]) -> list[str]:
    """Returns the names that the file next to them does not define."""
    folder = (ROOT / document).parent
    faults = []
    for names, target, path in DEFINITION.findall(text):
        files = [folder / target] if target else _files(path, paths)
        faults += [
            f"{name} in {target or path}"
            for name in CODE.findall(names)
            if not any(name in definitions(file) for file in files)
        ]
    return faults


def _files(path: str, paths: frozenset[str]) -> list[Path]:
    return [ROOT / name for name in paths if f"/{name}".endswith(f"/{path}")]


def definitions(file: Path) -> set[str]:
    """Returns the top-level names of a file, and Class.member."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".js":
        return set(JAVASCRIPT_DEFINITION.findall(text))
    body = ast.parse(text).body
    return {name for node in body for name in _names(node)} | {
        f"{node.name}.{name}"
        for node in body
        if isinstance(node, ast.ClassDef)
        for member in node.body
        for name in _names(member)
    }


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_link_leads_to_the_file_that_its_text_names(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    assert LINK.search(text)
    assert wrong_links(document, text) == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_path_is_there(document, paths):
    text = (ROOT / document).read_text(encoding="utf-8")
    assert any(map(PATH.fullmatch, CODE.findall(text)))
    assert missing_paths(text, paths) == []


@pytest.mark.parametrize("document", DOCUMENTS[:2])
def test_a_name_is_defined_in_the_file_next_to_it(document, paths):
    """The text must follow a function that moved."""
    text = (ROOT / document).read_text(encoding="utf-8")
    assert DEFINITION.search(text)
    assert undefined_names(document, text, paths) == []


def test_each_fault_is_found(paths):
    text = (
        "`ROOT` and `moved` in [test_paths.py](tests/docs/test_paths.py), `_TABLE` in\n"
        "`analysis/findings.py`, `Finding.lost` ([finding](kafkaviz/analysis/findings.py)), "
        "[search.py](kafkaviz/search/lookup.py), [gone](gone.md), `gone.py`, `kafkaviz/gone/`,\n"
        "`kafkaviz/messages/en/NAME.toml`, `NAME/gone_NAME.py`, `orders-0/0.log`, `index.file`"
    )
    assert wrong_links("README.md", text) == [
        "[search.py](kafkaviz/search/lookup.py)",
        "[gone](gone.md)",
    ]
    assert missing_paths(text, paths) == ["gone.py", "kafkaviz/gone/", "NAME/gone_NAME.py"]
    assert undefined_names("README.md", text, paths) == [
        "moved in tests/docs/test_paths.py",
        "Finding.lost in kafkaviz/analysis/findings.py",
    ]


def test_the_readme_names_every_command():
    text = (ROOT / "README.md").read_text()
    assert [
        name for name in PUBLIC_COMMANDS if not re.search(rf"`(?:kafkaviz )?{name}\b", text)
    ] == []


@pytest.mark.parametrize("room", ["app", "log", "pipeline", "simulate", "workshop"])
def test_the_house_names_every_folder(room):
    """Except rooms whose folders are only one subject."""
    house = (ROOT / "docs" / "architecture.md").read_text().split("```")[1]
    folders = {path.parent.name for path in (ROOT / "kafkaviz" / room).glob("*/__init__.py")}
    assert folders and {name for name in folders if f"{name}/" not in house} == set()
