import json
import pickle
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest

from kafkaviz import messages
from kafkaviz.messages import Message, message, verbatim

CUT = message("errors.at_byte_of_file", path=Path("a.log"), position=4, problem=verbatim("cut"))


class Colour(StrEnum):
    """A text with several possible values."""

    RED = "red"


def test_the_english_text():
    assert str(CUT) == f"{CUT}" == "a.log, byte 4: cut"


def test_the_text_of_a_language():
    """A message within a message is worded in the same language."""
    nested = CUT.with_values(problem=message("errors.not_there"))
    assert nested.render("zh") == "a.log，字节 4：不存在"


def test_a_value():
    """By its name; KeyError for a missing one."""
    assert CUT["position"] == 4
    with pytest.raises(KeyError):
        CUT["offset"]


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (Colour.RED, "red"),
        ([1, 2], (1, 2)),
        (None, None),
        (True, True),
    ],
)
def test_values_are_plain(values, plain):
    """Numbers of numpy, enums and lists become JSON's types."""
    value = message("errors.not_there", value=values)["value"]
    assert value == plain
    assert type(value) is type(plain)


def test_a_value_of_another_type_is_refused():
    """The call that gives it fails, not the one that words it."""
    with pytest.raises(TypeError):
        message("errors.not_there", value=object())


def test_equal_by_key_and_values():
    """In any order of the values, so messages can be grouped."""
    first, second = message("span.offset", a=1, b=2), message("span.offset", b=2, a=1)
    assert first == second
    assert len({first, second, message("span.offset", a=1, b=3)}) == 2


def test_true_even_without_values():
    assert message("common.verbatim", text="")


@pytest.mark.parametrize("there_and_back", [
    lambda value: pickle.loads(pickle.dumps(value)),
    lambda value: Message.from_json(json.loads(json.dumps(value.to_json()))),
], ids=["pickle", "json"])  # fmt: skip
def test_the_same_in_another_process(there_and_back):
    """Paths, tuples and nested messages included."""
    built = message("evidence.names", names=("a", "b", message("errors.not_there")))
    assert there_and_back(built) == built
    assert there_and_back(CUT) == CUT


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "errors.not_there",
        [],
        {},
        {"key": "errors.not_there"},
        {"key": 5, "values": {}},
        {"key": "errors.no_such_key", "values": {}},
        {"key": "../errors.not_there", "values": {}},
        {"key": "span.offset", "values": {}},
        {"key": "errors.not_there", "values": {"position": 4}},
        {"key": "common.verbatim", "values": {"text": {"a": 1}}},
        {"key": "common.verbatim", "values": {"text": {"key": "no.key", "values": {}}}},
        {"key": "common.verbatim", "values": []},
    ],
)
def test_what_is_no_message_is_refused(wrong):
    """A catalog may come from anywhere."""
    with pytest.raises(ValueError, match=r"message|values"):
        Message.from_json(wrong)


def test_a_deep_nest_is_refused():
    """With ValueError, not a stack overflow."""
    nest: dict = {"key": "errors.not_there", "values": {}}
    for _ in range(10_000):
        nest = {"key": "common.verbatim", "values": {"text": nest}}
    with pytest.raises(ValueError, match="message"):
        Message.from_json(nest)


def test_rendering_never_raises():
    assert (
        str(message("errors.of_another_release", path="a")) == "errors.of_another_release(path=a)"
    )
    assert str(message("units.x", n=message("no.key"))) == "units.x(n=no.key())"


def test_one_and_many():
    """The text of key_1 if n is 1 and the language has it."""
    assert str(message("common.n_segments", n=1)) == "1 segment"
    assert str(message("common.n_segments", n=2)) == "2 segments"
    assert message("common.n_segments", n=1).render("zh") == "1 个日志段"


@pytest.mark.parametrize(
    ("number", "values", "text"),
    [
        (1, {}, "1 segment"),
        (1234, {}, "1\u202f234 segments"),
        (None, {}, "– segments"),
        (3, {"n": "three"}, "three segments"),
    ],
)
def test_a_count(number, values, text):
    """Its digits are grouped unless it is already text; one thing has key_1."""
    assert messages.say_count("common.n_segments", number, **values) == text


@pytest.mark.parametrize(
    ("way", "count", "english", "chinese"),
    [
        ("comma", 3, "a, b, c", "a、b、c"),
        ("and", 2, "a and b", "a 和 b"),
        ("and", 3, "a, b and c", "a、b 和 c"),
        ("each_and", 3, "a and b and c", "a 和 b 和 c"),
        ("or", 3, "a, b or c", "a、b 或 c"),
        ("semicolon", 2, "a; b", "a；b"),
        ("comma", 1, "a", "a"),
        ("comma", 0, "", ""),
    ],
)
def test_several_values_in_one_place(way, count, english, chinese):
    parts = ("a", "b", "c")[:count]
    assert messages.join(way, parts, "en") == english
    assert messages.join(way, parts, "zh") == chinese


def test_speaking_a_language():
    with messages.speaking("zh"):
        assert messages.say("workshop.next") == "下一步"
        assert messages.render(message("errors.not_there")) == "不存在"
    assert messages.say("workshop.next") == "Next step"


def test_english_stands_in_for_what_a_language_lacks():
    """A text that English lacks is an error of the program."""
    assert messages.text_in("xx", "workshop.next") == "Next step"
    with pytest.raises(KeyError):
        messages.text_in("en", "workshop.no_such_text")


def test_a_text_that_a_library_says():
    """It is found by its English text, with its values."""
    message_found = messages.find_message("toml_parser", "Cannot declare ('a',) twice")
    assert message_found == message("toml_parser.declared_twice", key="('a',)")
    assert messages.find_message("toml_parser", "something else") is None


def test_the_texts_of_a_file_for_the_browser():
    assert messages.table("workshop")["next"] == "Next step"
