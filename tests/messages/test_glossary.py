"""The Chinese of kafkaviz by its glossary: one word per thing, and none that is misread."""

import re
from pathlib import Path

import pytest

from kafkaviz import messages
from kafkaviz.workshop import lessons

FOLDER = Path(messages.__file__).parent / "zh"
TEXTS = [*sorted(FOLDER.glob("*.toml")), *sorted(Path(lessons.__file__).parent.glob("*.zh.md"))]
ROWS = [
    line.strip("|").split("|")
    for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
]
BANNED = sorted({word for row in ROWS[1:] for word in re.split("[，, ]+", row[2].strip()) if word})


def test_the_glossary_bans_something():
    assert {"位移", "更新", "下取", "上取"} <= set(BANNED) and len(TEXTS) > 50


@pytest.mark.parametrize("word", BANNED)
def test_no_text_has_a_rendering_that_misleads(word):
    lines = (
        (file.name, number, line)
        for file in TEXTS
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    )
    assert [
        f"{name}:{number}: {line}"
        for name, number, line in lines
        if re.search(f"(?<!向){word}", line)
    ] == []
