"""The sentences that code can make, read out of it without running it: f"{n} bytes of {name}" is
"{} bytes of {}".

A sentence that is put together from a name is taken with each value that the name is given beside
it, one with `x if y else z` with both.
"""

import ast
import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from string import Formatter

ROOT = Path(__file__).parents[2]
HOLE = "{}"
MOST = 64  # ways to put one sentence together
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Phrase:
    """A sentence and where it is made. text: with HOLE for each value."""

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class Code:
    """A module: its tree, what encloses each node, and its name for import."""

    file: str
    tree: ast.Module
    above: dict[ast.AST, ast.AST]
    name: str


@cache
def code(file: Path) -> Code:
    """A file of the package, taken apart."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    place = file.relative_to(ROOT)
    return Code(
        str(place), tree, above, ".".join(place.with_suffix("").parts).removesuffix(".__init__")
    )


def said(file: Path) -> Iterator[Phrase]:
    """Every string of a file that is no docstring, each as long as it is put together there."""
    of = code(file)
    for node in ast.walk(of.tree):
        if (
            is_text(node)
            and is_whole(node, of)
            and not is_docstring(node, of)
            and not is_part_of_others(node, of)
        ):
            yield from (Phrase(of.file, node.lineno, text) for text in _grown(node, of))


def _grown(node: ast.AST, of: Code) -> list[str]:
    """What it says, with what is added to it further down where it has a name."""
    above = of.above[node]
    is_named = isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name)
    return _named(above.targets[0].id, node, of, frozenset()) if is_named else texts(node, of)


def given(
    file: Path, is_asked: Callable[[ast.Call], bool]
) -> Iterator[tuple[ast.Call, ast.expr, str]]:
    """What calls of a file are given as texts: the call, the argument, and what it may be."""
    of = code(file)
    for call in ast.walk(of.tree):
        if isinstance(call, ast.Call) and is_asked(call):
            for one in (*call.args, *(keyword.value for keyword in call.keywords)):
                yield from ((call, one, text) for text in texts(one, of))


def is_text(node: ast.AST) -> bool:
    """A string, or strings put together."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_text(node.left) or is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def is_whole(node: ast.AST, of: Code) -> bool:
    """Whether it is no part of a longer string, nor a unit or the like inside of one."""
    above = of.above.get(node)
    if isinstance(above, ast.JoinedStr | ast.FormattedValue) or (
        isinstance(above, ast.BinOp) and is_text(above)
    ):
        return False
    return not isinstance(above, ast.IfExp) or is_whole(above, of)


def is_docstring(node: ast.AST, of: Code) -> bool:
    """A string that is a statement of its own."""
    return isinstance(of.above.get(node), ast.Expr)


def is_part_of_others(node: ast.AST, of: Code) -> bool:
    """Whether it has a name that is used in longer strings alone: these are taken with it."""
    while isinstance(of.above.get(node), ast.IfExp):
        node = of.above[node]
    above = of.above.get(node)
    if isinstance(above, ast.AugAssign):
        return True
    if not isinstance(above, ast.Assign) or not isinstance(above.targets[0], ast.Name):
        return False
    name, room = above.targets[0].id, scope(above, of)
    used = [
        one
        for one in ast.walk(room)
        if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)
    ]
    return bool(used) and all(is_inside_text(one, of) for one in used)


def is_inside_text(node: ast.AST, of: Code) -> bool:
    """Whether it stands in a longer string."""
    above = of.above.get(node)
    return isinstance(above, ast.FormattedValue) or (
        isinstance(above, ast.BinOp) and is_text(above)
    )


def scope(node: ast.AST, of: Code) -> ast.AST:
    """The function that it stands in, or the module."""
    while node in of.above and not isinstance(node, FUNCTIONS):
        node = of.above[node]
    return node


def texts(node: ast.AST, of: Code, known: frozenset[str] = frozenset()) -> list[str]:
    """What an expression may be; HOLE for what only a run can tell."""
    match node:
        case ast.Constant(value=str(text)):
            return [_emptied(text)]
        case ast.JoinedStr(values=parts):
            return _together([texts(part, of, known) for part in parts])
        case ast.FormattedValue(value=value, format_spec=None, conversion=-1):
            return texts(value, of, known)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _together([texts(left, of, known), texts(right, of, known)])
        case ast.IfExp(body=body, orelse=other):
            return [*texts(body, of, known), *texts(other, of, known)]
        case ast.BoolOp(values=values):
            return [text for value in values for text in texts(value, of, known)]
        case ast.Name(id=name) if name not in known:
            return _named(name, node, of, known | {name})
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return _constant(of, module, name)
        case ast.Call(func=ast.Attribute(value=value, attr="format")):
            return texts(value, of, known)
    return [HOLE]


def _together(parts: list[list[str]]) -> list[str]:
    found = product(*parts)
    return list(dict.fromkeys("".join(one) for one, _ in zip(found, range(MOST), strict=False)))


def _named(name: str, node: ast.AST, of: Code, known: frozenset[str]) -> list[str]:
    """What a name is given in the same function; of a constant its value."""
    room = scope(node, of)
    values = [
        one.value
        for one in ast.walk(room)
        if isinstance(one, ast.Assign) and any(_is(target, name) for target in one.targets)
    ]
    more = [
        one.value
        for one in ast.walk(room)
        if isinstance(one, ast.AugAssign) and _is(one.target, name)
    ]
    is_changed = any(
        _is(one.target, name)
        for one in ast.walk(room)
        if isinstance(one, ast.For | ast.comprehension)
    )
    if values and room is not of.tree:
        found = [text for value in values for text in texts(value, of, known)]
        longer = [
            text + tail for text in found for value in more for tail in texts(value, of, known)
        ]
        return list(dict.fromkeys([*found, *longer, *([HOLE] if is_changed else [])]))
    return [HOLE] if name in _arguments(room) or is_changed else _constant(of, None, name)


def _is(target: ast.AST, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _arguments(room: ast.AST) -> set[str]:
    return {one.arg for one in ast.walk(room) if isinstance(one, ast.arg)}


def _constant(of: Code, module: str | None, name: str) -> list[str]:
    """A constant of the module, or of one that it imports."""
    room = importlib.import_module(of.name)
    found = getattr(room if module is None else getattr(room, module, None), name, None)
    return [_emptied(found)] if type(found) is str else [HOLE]


def _emptied(text: str) -> str:
    """A text, its places for .format as holes."""
    try:
        return "".join(
            literal + (HOLE if place is not None else "")
            for literal, place, *_ in Formatter().parse(text)
        )
    except ValueError:  # braces of its own
        return text


def called(node: ast.AST) -> str:
    """The last name of what is called: wrong, or CannotOpen of errors.CannotOpen."""
    return (
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else ""
    )


def alone(node: ast.AST) -> list[str]:
    """What a string says by itself, the values in it as holes."""
    if isinstance(node, ast.JoinedStr):
        return [
            "".join(part.value if isinstance(part, ast.Constant) else HOLE for part in node.values)
        ]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def makes(known: Iterable[str], key: str) -> bool:
    """Whether one of the sentences can be what a catalogue's text fits: the same words in the same
    order, whatever the values.

    A value may be words too, of which either side knows more: up to half of them may be in one
    alone.
    """
    wanted = words_of(_emptied(key))
    return any(_within(*sorted((wanted, found), key=len)) for found in _known(tuple(known)))


def words_of(text: str) -> tuple[str, ...]:
    """Its words, without the values and the signs between."""
    return tuple(re.findall(r"[A-Za-z]+", text.replace(HOLE, " ")))


def _within(few: tuple[str, ...], many: tuple[str, ...]) -> bool:
    """Whether many has the words of few in their order, and at most as many besides."""
    rest = iter(many)
    return 2 * len(few) >= len(many) and all(word in rest for word in few)


@cache
def _known(sentences: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """The words of sentences, and of each of their parts between colons, stops and brackets."""
    parts = [
        part
        for text in sentences
        for part in (text, *text.split(": "), *re.split(r": | \(|; |\. ", text))
    ]
    return frozenset(found for part in parts if (found := words_of(part)))
