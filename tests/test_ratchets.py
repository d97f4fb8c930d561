import ast
import tomllib

import pytest

from tests.support import ratchets


@pytest.mark.parametrize("kind", [*ratchets.STATEMENTS, "splatted_dictionaries", "prose"])
def test_no_count_rises(kind):
    limits = tomllib.loads(ratchets.LIMITS.read_text()).get(kind, {})
    found = ratchets.count_prose() if kind == "prose" else ratchets.count_statements()[kind]
    risen = {
        place: f"{count}, and the limit is {limits.get(place, 0)}"
        for place, count in found.items()
        if count > limits.get(place, 0)
    }
    assert not risen


@pytest.mark.parametrize(
    ("statement", "is_packed"),
    [
        ("a, b = f(x), g(y)", True),
        ("a, b = 1, 2", True),
        ("a, b = b, a", False),
        ("low, high = bounds", False),
        ("key, value = line.split('=')", False),
    ],
)
def test_packed_assignments_are_recognised(statement, is_packed):
    assert ratchets.is_packed(ast.parse(statement).body[0]) is is_packed


def test_nested_conditionals_are_recognised():
    chain = ast.parse("a if b else c if d else e", mode="eval").body
    single = ast.parse("f(a if b else c) if d else e", mode="eval").body
    assert ratchets.is_nested_conditional(chain)
    assert not ratchets.is_nested_conditional(single)


@pytest.mark.parametrize(
    ("text", "is_html"), [("<b>", False), ("a < b", False), ("</b>", True), ('<i class="a">', True)]
)
def test_html_is_recognised(text, is_html):
    assert ratchets.is_html_literal(ast.Constant(text)) is is_html


def test_a_dictionary_built_for_one_call_is_recognised():
    splatted = "def f():\n    options = {'a': 1}\n    g(**options)\n"
    read_too = splatted + "    return options\n"
    assert ratchets.splatted_dictionaries(ast.parse(splatted)) == 1
    assert ratchets.splatted_dictionaries(ast.parse(read_too)) == 0


def test_habits_are_recognised():
    habit = ratchets.HABITS["behind for after"]
    assert habit.search("The entry behind the last batch.")
    assert not habit.search("The app runs behind a proxy.")
