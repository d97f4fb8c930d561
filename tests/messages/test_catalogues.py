"""The tables of messages: every key that the code uses is in every language with the same places,
and no text is left over.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import pytest

from kafkaviz import messages
from tests.support import sources
from tests.support.vague_names import SAYS_NOTHING

ENGLISH = messages.catalogue(messages.ENGLISH)
OTHERS = [code for code in messages.LANGUAGES if code != messages.ENGLISH]
ROOMS = {key.partition(".")[0] for key in ENGLISH}
# where the key is
CALLS = {"message": 0, "say": 0, "say_count": 0, "count_phrase": 0, "text_in": 1, "_add_fault": 1}
WHOLE_TABLES = ("table", "find_message")  # they take all texts of a file
# what may have the text of another key too: in files whose keys the catalog of a broker stores,
STORED_FILES = {"cause", "evidence", "finding", "tail"}
# keys whose end is the name of a column, a code or a choice,
COMPOSED = {
    "replay_table.": "index_bytes offset_entries time_entries",
    "broker.column_": "entries index log name offsets segments",
    "common.page_": "segment workshop",
    "common.state_": "delete",
    "health.column_": "file",
    "lookup.why_": "offsets segment",
    "page_cache.": "entries pages",
    "partition_badges.": "log-torn-tail",
    "report.record_": "offset",
    "rolls.cause_": "size time",
    "rolls.found_": "time-index-full",
    "rolls.head_": "segment",
    "rolls.option_": "none",
    "segment.head_": "codec offset offsets",
    "segment.shade_": "Plain Size",
    "tuning.head_": "entries log",
    "tuning.option_": "workload",
    "transaction_lanes.": "aborted",
    "workshop.": (
        "because cause file files interval offset_entries segment step time_entries what_happens"
    ),
}
SEVERAL_KEYS = {f"{begin}{end}" for begin, ends in COMPOSED.items() for end in ends.split()}
PYTHON_FORMAT = re.compile(r"[,0-9.]*[dfgxX%]?")


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Returns every call and every string of the package with its file:line."""
    return [
        (f"{sources.place(file)}:{node.lineno}", node)
        for file in sources.FILES
        for node in sources.nodes(file)
        if isinstance(node, ast.Call | ast.Constant | ast.JoinedStr)
    ]


def calls() -> Iterator[tuple[str, str, ast.Call, ast.expr]]:
    """Yields (file:line, the function, the call, the key argument)."""
    for place, node in nodes():
        if isinstance(node, ast.Call):
            name = _function_name(node)
            if name in CALLS and len(node.args) > CALLS[name]:
                yield place, name, node, node.args[CALLS[name]]


def _function_name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def texts(node: ast.expr) -> list[str]:
    """Returns the strings that an expression may be: both of "a" if x else "b"; none for a name."""
    if isinstance(node, ast.IfExp):
        return [*texts(node.body), *texts(node.orelse)]
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return [node.value] if is_text else []


def pattern(node: ast.JoinedStr) -> re.Pattern[str] | None:
    """Returns a pattern for f"health.{name}_title", or None if it does not begin with a room."""
    parts = [texts(part) for part in node.values]
    if not parts[0] or parts[0][0].partition(".")[0] not in ROOMS:
        return None
    return re.compile("".join(re.escape(part[0]) if part else ".+" for part in parts))


def plural(key: str) -> str:
    """Returns the key without the _1 of one thing."""
    shorter = key.removesuffix(messages.SINGULAR)
    return shorter if shorter in ENGLISH else key


def test_every_key_that_is_used_is_there():
    assert [
        (place, key) for place, _, _, node in calls() for key in texts(node) if key not in ENGLISH
    ] == []
    begun = [
        (place, pattern(node)) for place, _, _, node in calls() if isinstance(node, ast.JoinedStr)
    ]
    assert [place for place, keys in begun if keys and not any(map(keys.fullmatch, ENGLISH))] == []


def test_no_key_is_left_over():
    """Each appears in the code, or is in a file that is requested whole."""
    strings = {text for _, node in nodes() for text in texts(node)}
    begun = {
        keys.pattern
        for _, node in nodes()
        if isinstance(node, ast.JoinedStr) and (keys := pattern(node))
    }
    fits = re.compile("|".join(begun))
    assert [
        key
        for key in ENGLISH
        if plural(key) not in strings
        and key.partition(".")[0] not in whole_files()
        and not fits.fullmatch(plural(key))
    ] == []


def test_a_text_has_one_key():
    """Except in files that are requested whole, and in the list, which has no unnecessary key."""
    catalogues = [messages.catalogue(code) for code in messages.LANGUAGES]
    keys_by_text = defaultdict(set)
    for key in ENGLISH:
        keys_by_text[tuple(catalogue.get(key) for catalogue in catalogues)].add(key)
    several = [
        {key for key in keys if key.partition(".")[0] not in STORED_FILES | whole_files()}
        for keys in keys_by_text.values()
    ]
    assert [sorted(keys) for keys in several if len(keys - SEVERAL_KEYS) > 1] == []
    assert SEVERAL_KEYS - set().union(*(keys for keys in several if len(keys) > 1)) == set()


def test_a_sentence_of_a_room_has_one_key():
    """Sentences of more than three English words: a second key would need a second translation."""
    keys_by_text = defaultdict(list)
    for key, text in ENGLISH.items():
        if len(text.split()) > 3:
            keys_by_text[key.partition(".")[0], text].append(key)
    assert [keys for keys in keys_by_text.values() if len(set(keys) - SEVERAL_KEYS) > 1] == []


def test_a_place_says_what_stands_there():
    """A translator reads {size} or {name}; {n} is the count of the text."""
    assert {
        key: names
        for key in ENGLISH
        if (names := places(key) & (SAYS_NOTHING | {"got", "it", "what", "which"}))
    } == {}


@cache
def whole_files() -> set[str]:
    """Returns the files that are requested whole."""
    return {
        text
        for _, node in nodes()
        if isinstance(node, ast.Call) and node.args and _function_name(node) in WHOLE_TABLES
        for text in texts(node.args[0])
    }


def places(key: str) -> set[str]:
    return set(messages.places(ENGLISH.get(key, "")))


def test_every_place_is_given_its_value():
    """message() gets exactly the values that one of its texts has places for; say() at least those."""
    wrong = []
    for place, name, call, node in calls():
        arguments = {keyword.arg for keyword in call.keywords}
        if name in ("say_count", "count_phrase"):
            arguments.add("n")
        needed = {} if None in arguments else {key: places(key) for key in texts(node)}
        wrong += [(place, key) for key, names in needed.items() if not names <= arguments]
        if name in ("message", "_add_fault") and needed:
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
    """A translation may change the order and the formats, not the values, and may have no singular."""
    other = messages.catalogue(code)
    assert {*map(plural, other)} ^ {*map(plural, ENGLISH)} == set()
    assert [
        key
        for key in other
        if messages.places(other[key]).keys() != messages.places(ENGLISH.get(key, "")).keys()
    ] == []


@pytest.mark.parametrize("code", messages.LANGUAGES)
def test_every_text_is_well_formed(code):
    """It is not empty, its formats are known, and a singular key has a plural."""
    catalogue = messages.catalogue(code)
    known = {*messages.FORMATS, *messages.JOINS}
    assert [key for key, text in catalogue.items() if not text or text != text.strip()] == []
    assert [
        key
        for key, text in catalogue.items()
        for spec in messages.places(text).values()
        if spec not in known and not PYTHON_FORMAT.fullmatch(spec)
    ] == []
