"""The tables of messages: every key that the code uses is in every language with the same places, and
no text is left over.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kafkaviz import messages

ROOT = Path(__file__).parents[2]
FILES = [
    *sorted((ROOT / "kafkaviz").rglob("*.py")),
    *sorted((ROOT / "pages").glob("*.py")),
    ROOT / "app.py",
]
ENGLISH = messages.catalogue(messages.ENGLISH)
OTHERS = [code for code in messages.LANGUAGES if code != messages.ENGLISH]
ROOMS = {key.partition(".")[0] for key in ENGLISH}
CALLS = {
    "message": 0,
    "say": 0,
    "say_count": 0,
    "count_phrase": 0,
    "text_in": 1,
}  # where the key is
WHOLE_TABLES = ("table", "find_message")  # they take all texts of a file
PYTHON_FORMAT = re.compile(r"[,0-9.]*[dfgxX%]?")


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Every call and every string of the package with its file:line."""
    return [
        (f"{file.relative_to(ROOT)}:{node.lineno}", node)
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call | ast.Constant | ast.JoinedStr)
    ]


def calls() -> Iterator[tuple[str, str, ast.Call, ast.expr]]:
    """(file:line, the function, the call, what is given as key)."""
    for place, node in nodes():
        if isinstance(node, ast.Call):
            name = _function_name(node)
            if name in CALLS and len(node.args) > CALLS[name]:
                yield place, name, node, node.args[CALLS[name]]


def _function_name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def texts(node: ast.expr) -> list[str]:
    """The strings that an expression may be: both of "a" if x else "b"; none of a name."""
    if isinstance(node, ast.IfExp):
        return [*texts(node.body), *texts(node.orelse)]
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return [node.value] if is_text else []


def pattern(node: ast.JoinedStr) -> re.Pattern[str] | None:
    """What f"health.{name}_title" may be; None where it does not begin with a room."""
    parts = [texts(part) for part in node.values]
    if not parts[0] or parts[0][0].partition(".")[0] not in ROOMS:
        return None
    return re.compile("".join(re.escape(part[0]) if part else ".+" for part in parts))


def plural(key: str) -> str:
    """The key without the _1 of one thing."""
    return (
        key.removesuffix(messages.SINGULAR)
        if key.removesuffix(messages.SINGULAR) in ENGLISH
        else key
    )


def test_every_key_that_is_used_is_there():
    """A key that is put together at run time is one of several."""
    assert [
        (place, key) for place, _, _, node in calls() for key in texts(node) if key not in ENGLISH
    ] == []
    begun = [
        (place, pattern(node)) for place, _, _, node in calls() if isinstance(node, ast.JoinedStr)
    ]
    assert [place for place, keys in begun if keys and not any(map(keys.fullmatch, ENGLISH))] == []


def test_no_key_is_left_over():
    """Each stands in the code, by itself or as an f-string that it fits, or is of a file that is asked
    for whole.
    """
    placeholders = {
        node.value
        for _, node in nodes()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    begun = {
        keys.pattern
        for _, node in nodes()
        if isinstance(node, ast.JoinedStr) and (keys := pattern(node))
    }
    tables = {
        text
        for _, node in nodes()
        if isinstance(node, ast.Call) and node.args and _function_name(node) in WHOLE_TABLES
        for text in texts(node.args[0])
    }
    fits = re.compile("|".join(begun))
    assert [
        key
        for key in ENGLISH
        if plural(key) not in placeholders
        and key.partition(".")[0] not in tables
        and not fits.fullmatch(plural(key))
    ] == []


def places(key: str) -> set[str]:
    """The names in braces of an English text; none of a key that is not there."""
    return set(messages.places(ENGLISH.get(key, "")))


def test_every_place_is_given_its_value():
    """message() gets what one of its texts has places for, and nothing else; say() no less."""
    wrong = []
    for place, name, call, node in calls():
        arguments = {keyword.arg for keyword in call.keywords}
        if name in ("say_count", "count_phrase"):
            arguments.add("n")
        needed = {} if None in arguments else {key: places(key) for key in texts(node)}
        wrong += [(place, key) for key, names in needed.items() if not names <= arguments]
        if name == "message" and needed:
            singular = [key + messages.SINGULAR for key in needed]
            allowed = set().union(*needed.values(), *map(places, singular))
            if not ENGLISH.keys().isdisjoint(singular):
                allowed.add("n")  # it chooses the text
            wrong += [(place, names) for names in [arguments - allowed] if names]
    assert wrong == []


def test_a_count_is_grouped_once():
    """say_count() groups the number, so its place has no format."""
    assert [
        (place, key)
        for place, name, _, node in calls()
        for key in texts(node)
        if name == "say_count" and messages.places(ENGLISH[key]).get("n")
    ] == []


@pytest.mark.parametrize("code", OTHERS)
def test_languages_have_the_same_keys_and_places(code):
    """A translation may turn the order and the formats, not the values; it need not tell one from many."""
    other = messages.catalogue(code)
    assert {*map(plural, other)} ^ {*map(plural, ENGLISH)} == set()
    assert [
        key
        for key in other
        if messages.places(other[key]).keys() != messages.places(ENGLISH.get(key, "")).keys()
    ] == []


@pytest.mark.parametrize("code", messages.LANGUAGES)
def test_every_text_is_well_formed(code):
    """It says something, its formats are known, and a key of one thing has one of many."""
    catalogue = messages.catalogue(code)
    known = {*messages.FORMATS, *messages.JOINS}
    assert [key for key, text in catalogue.items() if not text or text != text.strip()] == []
    assert [
        key
        for key, text in catalogue.items()
        for spec in messages.places(text).values()
        if spec not in known and not PYTHON_FORMAT.fullmatch(spec)
    ] == []
