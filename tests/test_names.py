"""Names are the field's: no two public classes share one, and no name is a meaningless word.

CONTRIBUTING.md tells which names to choose.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from tests.support.cases import all_cases
from tests.support.sources import FILES, PACKAGE, ROOT, nodes, place, trees
from tests.support.vague_names import SAYS_NOTHING

SERIALISED = {  # fields that --json, the catalog and the browser know by these names
    "kafkaviz/analysis/findings.py": {"found"},
    "kafkaviz/figures/health_view.py": {"found"},
    "kafkaviz/figures/startup_steps.py": {"shown"},
    "kafkaviz/figures/segment/segment_bytes.py": {"of"},
    "kafkaviz/pipeline/catalog/catalog_info.py": {"given"},
}
MAX_POSITIONAL = 5  # fields of a dataclass that is built without their names
SCRIPTS = sorted((PACKAGE / "app" / "frontend" / "src").rglob("*.js"))
STRING = r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\""
NO_CODE = re.compile(rf"//[^\n]*|/\*.*?\*/|{STRING}", re.DOTALL)
LOOP = re.compile(r"(\bfor \((?:const|let) [^;=]*?) of\b")  # the one place where `of` is a keyword
IN_TEMPLATE = r"\$\{((?:[^{}`]|\{[^{}`]*\})*)\}"
TEMPLATE = re.compile(rf"`(?:[^`\\$]|\\.|\$(?!\{{)|{IN_TEMPLATE})*`", re.DOTALL)
PLAIN = r"(?:(?<=\.\.\.)|(?<![.\w$]))([A-Za-z_$][\w$]*)(?![\w$]|\s*:)"
ASSIGNED = r"\.([A-Za-z_$][\w$]*)\s*(?:\?\?|\|\||&&|[-+*/])?=(?![=>])"


def names(path: Path) -> Iterator[tuple[str, int]]:
    """Returns every name that a module defines, from classes to attributes."""
    for node in nodes(path):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name, node.lineno
            case ast.arg():
                yield node.arg, node.lineno
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr, node.lineno
            case ast.alias(asname=str(name)):
                yield name, node.lineno
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name, node.lineno


def script_names(script: str) -> set[str]:
    """Returns the names that JavaScript defines, not keys and properties that it reads."""
    code, more = LOOP.sub(r"\1,", NO_CODE.sub("''", script)), 1
    while more:  # the innermost template first
        code, more = TEMPLATE.subn(
            lambda template: ", ".join(re.findall(IN_TEMPLATE, template[0])), code, count=1
        )
    return {plain or assigned for plain, assigned in re.findall(f"{PLAIN}|{ASSIGNED}", code)}


def test_no_two_public_classes_share_a_name():
    """A reader who searches for a class finds it."""
    homes = defaultdict(list)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(place(path))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_every_name_says_what_it_names():
    """A thing is named after its type or its role; serialised names stay."""
    assert [
        f"{place(path)}:{line} {name}"
        for path in FILES
        for name, line in names(path)
        if name.strip("_").lower() in SAYS_NOTHING and name not in SERIALISED.get(place(path), ())
    ] == []


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("const told = 1, seen = p => p; // found", {"told", "seen", "p"}),
        ("function list(state, ...held) {}", {"list", "state", "held"}),
        ("for (const { found: batch, made } of rows) ;", {"batch", "made", "rows"}),
        ("(['one', \"here\"], { whole: 1 })", set()),
        ("a.asked(`kept ${b.map(one => `${one} gone`)}`)", {"a", "b", "one"}),
        ("state.said ??= state.named", {"state", "said"}),
    ],
)
def test_the_names_of_a_script_are_found(script, expected):
    """Not those in its strings and comments."""
    keywords = {"const", "function", "for"}
    assert script_names(script) - keywords == expected


@all_cases("path", SCRIPTS, ids=place)
def test_every_name_of_a_script_says_what_it_names(path):
    """As in Python; names that Python sends stay."""
    names = script_names(path.read_text(encoding="utf-8"))
    assert sorted(name for name in names if name.strip("_").lower() in SAYS_NOTHING) == []


def positional_fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    """Returns the fields before KW_ONLY."""
    fields = [statement for statement in node.body if isinstance(statement, ast.AnnAssign)]
    return list(takewhile(lambda field: ast.unparse(field.annotation) != "KW_ONLY", fields))


def test_what_has_many_fields_is_built_by_keyword():
    """Nobody counts to the fourteenth argument."""
    assert [
        f"{place(path)}:{node.lineno} {node.name}"
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and is_positional_dataclass(node)
        if len(positional_fields(node)) > MAX_POSITIONAL
    ] == []


def is_positional_dataclass(node: ast.ClassDef) -> bool:
    """Returns whether a class is a dataclass whose fields are given by position."""
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(text.startswith("dataclass") and "kw_only=True" not in text for text in decorators)


def test_a_bound_is_a_max_or_a_min():
    """One word for the upper and one for the lower bound."""
    assert {
        name
        for path in FILES
        for name, _ in names(path)
        if name.isupper() and name.strip("_").split("_")[0] in ("MOST", "LEAST")
    } == set()


def test_a_message_is_a_text():
    """Data for a browser is a payload; a message of Kafka's is a module or a batch."""
    assert [
        place(path)
        for path, tree in trees().items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "message"
    ] == ["kafkaviz/messages/__init__.py"]


def test_modules_are_nouns_of_what_they_hold():
    assert [
        place(path)
        for path in FILES
        if SAYS_NOTHING
        & {part.removesuffix(".py").strip("_") for part in path.relative_to(ROOT).parts[-2:]}
    ] == []
