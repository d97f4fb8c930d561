"""Only figures/text/sentences.py joins sentences, with the signs of each language."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkaviz import messages
from kafkaviz.figures.text.sentences import capitalize, end_sentence

ROOT = Path(messages.__file__).parents[2]
ROOMS = ("app.py", "pages", "kafkaviz/figures", "kafkaviz/app")
BETWEEN = {", ", "; ", ". ", " or ", " and ", "、", "，", "；", "和", "或"}  # signs of one language
SAYS = {"say", "counted", "told"}


def files() -> Iterator[Path]:
    for room in ROOMS:
        yield from sorted((ROOT / room).rglob("*.py")) if (ROOT / room).is_dir() else (ROOT / room,)


def joined(file: Path) -> Iterator[tuple[int, str, ast.Call]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        is_join = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "join"
        )
        if is_join and isinstance(node.func.value, ast.Constant):
            yield node.lineno, node.func.value.value, node


def speaks(call: ast.Call) -> bool:
    """Returns whether a sentence, or a list of some, is joined there."""
    inner = list(ast.walk(call))[1:]
    is_said = any(
        isinstance(node, ast.Call) and getattr(node.func, "id", "") in SAYS for node in inner
    )
    return is_said or any(
        isinstance(node, ast.Name) and node.id in {"told", "sentences"} for node in inner
    )


def test_sentences_are_joined_by_join_text_alone():
    """A comma, "and" or a blank between two sentences differs by language."""
    calls = {
        f"{file.relative_to(ROOT)}:{line}"
        for file in files()
        for line, between, call in joined(file)
        if between in BETWEEN or (between == " " and speaks(call))
    }
    assert calls == set()


@pytest.mark.parametrize(
    ("spoken", "text"),
    [("en", "/数据/kafka: is not there."), ("zh", "/数据/kafka: is not there。")],
)
def test_a_full_stop_is_the_readers(spoken, text, monkeypatch):
    monkeypatch.setattr(messages, "_language_sources", [lambda: spoken])
    assert end_sentence("/数据/kafka: is not there") == text


def test_a_name_in_chinese_takes_no_capital_away(monkeypatch):
    assert capitalize("broker /数据 is there") == "Broker /数据 is there"
    monkeypatch.setattr(messages, "_language_sources", [lambda: "zh"])
    assert capitalize("broker 没有正常停止") == "broker 没有正常停止"
