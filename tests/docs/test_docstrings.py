"""Docstrings and comments name modules, functions and files that exist."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kafkaviz import messages
from tests.support import sources
from tests.support.sources import PACKAGE, ROOT

# not the end of a path, nor a part of a longer name, nor a call in an example
DOTTED_NAME = re.compile(
    r"(?<![\w./\\'\"-])([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)+)(?![\w/(\"-]|'(?!s\b)|\.\w)"
)
# whose first part is a module of ours as well
FOREIGN = ("java.nio", "java.util", "log.dirs", "remote.log", "spark.read")


class Package:
    """The names that exist: each module by its place below kafkaviz, with its top-level names."""

    def __init__(self, trees: dict[Path, ast.Module], nodes: list[ast.AST]) -> None:
        self.modules = {module_place(path): top_names(tree) for path, tree in trees.items()}
        self.parts = {part for place in self.modules for part in place}
        self.functions = {
            statement.name
            for tree in trees.values()
            for statement in tree.body
            if isinstance(statement, ast.FunctionDef)
        }
        self.strings = {  # Kafka's settings and files among them
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        self.libraries = {name.split(".")[0] for name in imported_modules(nodes)} - {"kafkaviz"}
        self.message_keys = messages.catalogue("en").keys()
        self.files = {
            path.name for root in (PACKAGE, ROOT / ".streamlit") for path in root.rglob("*")
        }

    def has(self, parts: tuple[str, ...]) -> bool:
        """Returns whether a name leads to a module or to one of its top-level names.

        Without a module in front it is a setting or an attribute, unless it ends like ours.
        """
        if parts[0] not in self.parts:
            return "_" not in parts[-1] or parts[-1] not in self.functions | self.parts
        return any(
            place[-count:] == parts[:count] and (not parts[count:] or parts[count] in top)
            for place, top in self.modules.items()
            for count in range(1, len(parts) + 1)
        )

    def knows(self, name: str, variables: set[str], text: str) -> bool:
        """Returns whether a dotted name exists, or is a setting, file, key or library."""
        parts = tuple(name.split("."))
        if (
            name in self.strings
            or name in self.message_keys
            or name.startswith(FOREIGN)
            or parts[0] in variables
            or parts[0] in self.libraries
            or re.search(rf"\b{parts[0]} = ", text)
        ):
            return True
        if parts[-1] in ("py", "js", "css", "toml"):
            return name in self.files
        return self.has(parts[parts[0] == "kafkaviz" :])


def module_place(path: Path) -> tuple[str, ...]:
    """Returns the place of a module: ("figures", "rolls", "growth") for figures/rolls/growth.py."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported_modules(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Returns the modules of import statements."""
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str(module)):
                yield module
            case ast.Import(names=names):
                yield from (alias.name for alias in names)


def top_names(tree: ast.Module) -> set[str]:
    """Returns the names that a module defines or imports at its top level."""
    names = set()
    for statement in tree.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Assign() | ast.AnnAssign():
                names |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names |= {alias.asname or alias.name for alias in aliases}
    return names


def local_variables(nodes: Iterable[ast.AST]) -> set[str]:
    """Returns the parameters, fields and variables of a module."""
    return {node.arg for node in nodes if isinstance(node, ast.arg)} | {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def texts(source: str, nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Returns the docstrings and comments of a file, and the line of each."""
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text
    yield from sources.comments(source)


def test_what_docstrings_name_exists():
    """Text that names a renamed module must be changed too."""
    trees = {path: tree for path, tree in sources.trees().items() if PACKAGE in path.parents}
    package = Package(trees, [node for path in trees for node in sources.nodes(path)])
    assert [
        f"{sources.place(path)}:{line} {name}"
        for path in trees
        for variables in [local_variables(sources.nodes(path))]
        for line, text in texts(sources.source(path), sources.nodes(path))
        for name in DOTTED_NAME.findall(text)
        if not package.knows(name, variables, text)
    ] == []
