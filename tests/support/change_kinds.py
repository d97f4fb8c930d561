"""python -m tests.support.change_kinds RANGE: holds each commit to what its kind may change.

A commit names its kind in the last line of its message: `Kind: words`, `Kind: files` or
`Kind: statements`.

- words: the code without docstrings, comments and help texts is the same; messages keep their keys
  and the values they take.
- files: the functions are the same, wherever they are now; only the module that a name comes from
  may change.
- statements: tests.support.outputs shows it, before and after; here the names of the functions and
  their arguments are the same.

Commits without a kind are listed, and not held to anything.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("kafkaviz/", "pages/", "app.py")
HELP = {"help", "description", "epilog"}
PLACE = re.compile(r"\{(\w+)(?::\w+)?\}")


def git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
    ).stdout


def changed_files(commit: str) -> Iterator[tuple[str, str, str]]:
    """Yields (path, text before, text after) of the product's files; "" where there is none."""
    for path in git("diff", "--name-only", "--no-renames", f"{commit}~", commit).splitlines():
        if path.startswith(CODE):
            yield path, text_at(f"{commit}~", path), text_at(commit, path)


def text_at(commit: str, path: str) -> str:
    shown = subprocess.run(
        ["git", "-C", str(ROOT), "show", f"{commit}:{path}"], capture_output=True, text=True
    )
    return shown.stdout if shown.returncode == 0 else ""


class WithoutWords(ast.NodeTransformer):
    """Removes docstrings and empties help texts."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:]
            if not node.body:
                node.body = [ast.Pass()]
            elif len(node.body) > 1:
                node.body = [part for part in node.body if not isinstance(part, ast.Pass)]
        if isinstance(node, ast.keyword) and node.arg in HELP:
            node.value = ast.Constant("")
        return node


def without_words(source: str) -> str:
    return ast.dump(WithoutWords().visit(ast.parse(source)))


class WithoutModules(ast.NodeTransformer):
    def __init__(self, tree: ast.Module) -> None:
        self.modules = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kafkaviz")
            for alias in node.names
            if alias.name.islower()
        }

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:
        return None if (node.module or "").startswith("kafkaviz") else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in self.modules:
            return ast.Name(node.attr, node.ctx)
        self.generic_visit(node)
        return node


def functions(source: str) -> Counter[str]:
    tree = ast.parse(source)
    tree = WithoutModules(tree).visit(tree)
    return Counter(
        ast.dump(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def signatures(source: str) -> Counter[str]:
    return Counter(
        f"{node.name}({ast.unparse(node.args)})"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def message_values(source: str) -> dict[str, set[str]]:
    """Returns for each key of a file of messages the values that its text takes."""

    def leaves(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, set[str]]]:
        for key, value in table.items():
            if isinstance(value, Mapping):
                yield from leaves(value, f"{prefix}{key}.")
            else:
                yield prefix + key, set(PLACE.findall(str(value)))

    return dict(leaves(tomllib.loads(source), ""))


def changes_of_words(commit: str) -> Iterator[str]:
    for path, before, after in changed_files(commit):
        if path.endswith(".py") and without_words(before) != without_words(after):
            yield f"{path}: more than words changed"
        elif path.endswith(".toml") and message_values(before) != message_values(after):
            yield f"{path}: keys or values changed"


def changes_of_files(commit: str) -> Iterator[str]:
    yield from changes_of(commit, functions)


def changes_of_statements(commit: str) -> Iterator[str]:
    yield from changes_of(commit, signatures)


def changes_of(commit: str, parts: Callable[[str], Counter[str]]) -> Iterator[str]:
    """Yields the parts of the code that are gone or new, over all files together."""
    balance: Counter[str] = Counter()
    for path, before, after in changed_files(commit):
        if path.endswith(".py"):
            balance.update(parts(after))
            balance.subtract(parts(before))
    for part, count in balance.items():
        if count:
            yield f"{'new' if count > 0 else 'gone'}: {part[:100]}"


KINDS = {"words": changes_of_words, "files": changes_of_files, "statements": changes_of_statements}


def main(arguments: list[str]) -> int:
    """Returns 1 if a commit changed more than its kind allows."""
    is_wrong = False
    for commit in git("rev-list", "--reverse", "--no-merges", arguments[0]).split():
        subject, _, body = git("log", "-1", "--format=%s%n%b", commit).partition("\n")
        kind = re.search(r"^Kind: (\w+)$", body, re.MULTILINE)
        faults = list(KINDS[kind[1]](commit)) if kind else []
        print(f"{commit[:8]} {kind[1] if kind else 'no kind':10} {subject}")
        for fault in faults:
            print(f"    {fault}")
        is_wrong |= bool(faults)
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
