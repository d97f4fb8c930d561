"""The Python of the product, read and parsed once per process.

All test files that ask for it run in one process: see READERS in tests/conftest.py.
"""

import ast
import gc
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "kafkaviz"
FILES = [*sorted(PACKAGE.rglob("*.py")), *sorted((ROOT / "pages").glob("*.py")), ROOT / "app.py"]
# tokenize finds the same comments, and takes twenty times as long
STRING_OR_COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*''', re.DOTALL
)


@cache
def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def trees() -> dict[Path, ast.Module]:
    """Returns every file, parsed. No search for garbage visits the millions of nodes."""
    parsed = {path: ast.parse(source(path)) for path in FILES}
    gc.freeze()
    return parsed


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Returns all nodes of a file, as ast.walk yields them."""
    return list(ast.walk(trees()[path]))


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Yields the line and the text of each comment."""
    for found in STRING_OR_COMMENT.finditer(text):
        if found[0].startswith("#"):
            yield text.count("\n", 0, found.start()) + 1, found[0]


def place(path: Path) -> str:
    """Returns the path of a file in the repository."""
    return path.relative_to(ROOT).as_posix()
