"""Counts, per room of the house, habits of writing that may only become rarer.

python -m tests.support.ratchets lowers the limits in tests/data/ratchets.toml to the current
counts. `tests/test_ratchets.py` fails where a count is above its limit.
"""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.support.sources import FILES, ROOT, comments, nodes, source, trees

LIMITS = ROOT / "tests" / "data" / "ratchets.toml"
HTML_TAG = re.compile(r"</\w|<\w+ [\w-]+=")
PER_WORDS = 1000  # habits of prose are counted per so many words

# habits of stilted English; they point at sentences to read again, and cannot tell a good one
HABITS = {
    name: re.compile(pattern, re.MULTILINE)
    for name, pattern in {
        "behind for after": r"\bbehind (?!a proxy|the scenes|a reverse)",
        "anew": r"\b(anew|once more)\b",
        "beside": r"\bbesides?\b",
        "is no": r"\b(is|are|was|were) no (?!longer|more\b|less\b|different)\w",
        "told": r"\b(told|foretold|foretells?|untold)\b",
        "of what": r"\b(of|by|for|from|at|in|to|with|as|than|where|unless) "
        r"(who|whom|what|whoever|whatever)\b",
        "subject without a noun": r"(^|[.;:] )(Who|Whoever|What|Whatever|That|Those|Both|None of|Of|"
        r"Whether what|By which|In which|As many|As it)\b(?! (is|are) (this|new)\b)",
        "lies for is": r"\b(lies|lie|lay|stands|stand|stood) "
        r"(there|in|on|at|behind|beside|above|below|before|alone)\b",
        "goes on": r"\b(goes|go|went|gone) on\b",
        "nobody": r"\b(nobody|somebody)\b",
        "it is all that": r"\b(is|are) (all|one|none|what|those|that) (that|of|there|which|what)\b",
        "a X a Y for per": r"\b[Aa]n? (row|file|line|entry|batch|byte|header|page|folder|segment|"
        r"second|task|test|key|figure|request|fault|slot|column|method|curve|call) an? \w+",
        "as it is": r"\bas (it|they) (is|are|was|were|lies?|lay|stands?)\b",
        "hand on": r"\b(hand|hands|handed) on\b|\blet go\b|"
        r"\b(take|takes|taken|took) (along|aside|apart from)\b",
        "what there is": r"\bwhat (there|it|they|lies|is|are|was|were|goes|came|comes|remains|has|had)\b",
        "argument without a noun": r"^\s+`?\w+`?(?: \([^)]*\))?: (of|by|as|at|in|to|from|for|with|where|what|"
        r"who|which|that|those|whose|so|than|on|into|behind|before|after|beside)\b",
    }.items()
}
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")


def room(path: Path) -> str:
    """Returns the part of the house that a file of the repository belongs to."""
    parts = path.relative_to(ROOT).parts
    if parts[0] != "kafkaviz":
        return "docs" if path.suffix == ".md" else "entry points"
    if len(parts) == 2:
        return "ground"
    return parts[1]


def is_packed(node: ast.AST) -> bool:
    """Returns whether a statement assigns a tuple to a tuple: `a, b = x, y`, a swap excepted."""
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)):
        return False
    target = node.targets[0]
    if not isinstance(target, ast.Tuple):
        return False
    return {ast.unparse(part) for part in target.elts} != {
        ast.unparse(part) for part in node.value.elts
    }


def is_nested_conditional(node: ast.AST) -> bool:
    """Returns whether a conditional expression has another one as one of its two results."""
    if not isinstance(node, ast.IfExp):
        return False
    return isinstance(node.body, ast.IfExp) or isinstance(node.orelse, ast.IfExp)


def is_long_conditional_return(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Return) and isinstance(node.value, ast.IfExp)):
        return False
    return node.end_lineno != node.lineno


def is_html_literal(node: ast.AST) -> bool:
    """Returns whether a text has an HTML tag in it. tag() in kafkaviz/html.py writes those of
    pages and reports; only Plotly's labels are written by hand.
    """
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    return bool(HTML_TAG.search(node.value))


def splatted_dictionaries(tree: ast.AST) -> int:
    """Counts the dictionaries that are built for one name, and then used once, as `**name`."""
    count = 0
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        built = set()
        uses = Counter()
        splats = Counter()
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                if isinstance(target, ast.Name) and is_dictionary(node.value):
                    built.add(target.id)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                uses[node.id] += 1
            elif isinstance(node, ast.Call):
                for keyword in node.keywords:
                    if keyword.arg is None and isinstance(keyword.value, ast.Name):
                        splats[keyword.value.id] += 1
        count += sum(uses[name] == splats[name] == 1 for name in built)
    return count


def is_dictionary(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "dict"
    return isinstance(node, ast.Dict)


STATEMENTS: Mapping[str, Callable[[ast.AST], bool]] = {
    "packed_assignments": is_packed,
    "nested_conditionals": is_nested_conditional,
    "long_conditional_returns": is_long_conditional_return,
    "html_literals": is_html_literal,
}


@cache
def count_statements() -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {name: Counter() for name in STATEMENTS}
    counts["splatted_dictionaries"] = Counter()
    for path in FILES:
        place = room(path)
        counts["splatted_dictionaries"][place] += splatted_dictionaries(trees()[path])
        for node in nodes(path):
            for name, is_one in STATEMENTS.items():
                counts[name][place] += is_one(node)
    return counts


def docstrings(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=False)
            if text:
                yield text


def message_texts(value: object) -> Iterator[str]:
    """Yields every text of a table of messages, of its tables too."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from message_texts(inner)
    elif isinstance(value, str):
        yield value


def markdown_prose(text: str) -> str:
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return re.sub(r"`[^`\n]+`", "x", text)


def prose() -> Iterator[tuple[str, str]]:
    """Yields (room, text) of every English text that a reader of code or product meets."""
    for path in FILES:
        for text in docstrings(path):
            yield f"{room(path)}_docstrings", text
        for _, text in comments(source(path)):
            yield f"{room(path)}_comments", text.lstrip("# ")
    for path in sorted((ROOT / "kafkaviz" / "messages" / "en").rglob("*.toml")):
        for text in message_texts(tomllib.loads(path.read_text())):
            yield "messages", text
    for folder in ("kafkaviz", "docs"):
        for path in sorted((ROOT / folder).rglob("*.md")):
            if ".zh." not in path.name:
                yield room(path), markdown_prose(path.read_text())
    yield "docs", markdown_prose((ROOT / "README.md").read_text())


@cache
def count_prose() -> dict[str, float]:
    """Returns the hits of all habits per 1000 words, per room."""
    words: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for place, text in prose():
        words[place] += len(WORD.findall(text))
        hits[place] += sum(len(habit.findall(text)) for habit in HABITS.values())
    return {
        place: round(PER_WORDS * hits[place] / count, 1) for place, count in words.items() if count
    }


def counts() -> dict[str, dict[str, float]]:
    """Returns every count: one table per kind, one number per room."""
    return {
        **{name: dict(rooms) for name, rooms in count_statements().items()},
        "prose": count_prose(),
    }


def write(limits: Mapping[str, Mapping[str, float]]) -> None:
    lines = ["# written by python -m tests.support.ratchets: these numbers may only fall"]
    for kind, rooms in limits.items():
        lines += ["", f"[{kind}]"]
        lines += [f'"{place}" = {count}' for place, count in sorted(rooms.items()) if count]
    LIMITS.write_text("\n".join(lines) + "\n")


def main() -> None:
    """Lowers the limits to the counts; a count above its limit leaves the limit unchanged."""
    now = counts()
    if LIMITS.exists():
        before = tomllib.loads(LIMITS.read_text())
        for kind, rooms in now.items():
            for place, count in rooms.items():
                rooms[place] = min(count, before.get(kind, {}).get(place, 0))
    write(now)


if __name__ == "__main__":
    main()
