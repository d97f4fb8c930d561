"""Only render/sentences.py joins sentences, with the signs of each language."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkaviz import messages
from kafkaviz.render.sentences import capitalize, end_sentence
from tests.support import sources

ROOMS = ("app.py", "pages/", "kafkaviz/render/", "kafkaviz/figures/", "kafkaviz/app/")
BETWEEN = {", ", "; ", ". ", " or ", " and ", "、", "，", "；", "和", "或"}  # signs of one language


def joined(file: Path) -> Iterator[tuple[int, str, ast.Call]]:
    for node in sources.nodes(file):
        match node:
            case ast.Call(func=ast.Attribute(attr="join", value=ast.Constant(value=str(between)))):
                yield node.lineno, between, node


def speaks(call: ast.Call) -> bool:
    """Returns whether a sentence, or a list of some, is joined there."""
    names = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
    return not names.isdisjoint({"say", "sentences"})


def test_sentences_are_joined_by_join_text_alone():
    """A comma, "and" or a blank between two sentences differs by language."""
    calls = {
        f"{sources.place(file)}:{line}"
        for file in sources.FILES
        if sources.place(file).startswith(ROOMS)
        for line, between, call in joined(file)
        if between in BETWEEN or (between == " " and speaks(call))
    }
    assert calls == set()


@pytest.mark.parametrize(
    ("spoken", "text"),
    [("en", "/数据/kafka: is not there."), ("zh", "/数据/kafka: is not there。")],
)
def test_a_full_stop_is_the_readers(spoken, text):
    with messages.speaking(spoken):
        assert end_sentence("/数据/kafka: is not there") == text


def test_a_name_in_chinese_takes_no_capital_away():
    assert capitalize("broker /数据 is there") == "Broker /数据 is there"
    with messages.speaking("zh"):
        assert capitalize("broker 没有正常停止") == "broker 没有正常停止"
