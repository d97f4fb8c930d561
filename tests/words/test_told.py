"""Sentences of the floors below, in another language: every one that their code can make is told,
whatever a directory holds.
"""

import re
from pathlib import Path

import pytest

from kafkaviz import words
from kafkaviz.words.sentence_translation import translate_sentence
from tests.words import phrases
from tests.words.phrases import HOLE, ROOT, Phrase

PACKAGE = ROOT / "kafkaviz"
OTHERS = [one for one in words.LANGUAGES if one != words.ENGLISH]
ENGLISH = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")  # a sentence, or part of one
# more than a name of Kafka's: producer id, kafkaviz rebuild
LONGER = re.compile(r"[A-Za-z]{2,},? [a-z]{2,},? [a-z]{2,}")
# what may stand in a place, one of them in all
FILLED = ("7", "7 batches", "x, offset 7", "recovery point", "orders-0 and orders-00")
ROOMS = {  # where the sentences of a catalogue are made
    "findings": (
        "analysis/checks",
        "analysis/finding.py",
        "analysis/health.py",
        "analysis/restart.py",
        "analysis/tail.py",
        "analysis/inference/version.py",
        "log/settings.py",
        "simulate/recovery",
        "simulate/startup",
        "simulate/steps.py",
    ),
    "notes": (
        "binary/varint.py",
        "format/spans_batch.py",
        "format/spans_record.py",
        "format/spans_table.py",
        "format/spans_text.py",
        "log/byte_ranges.py",
    ),
    "mistakes": ("pipeline/sql.py",),
}
KAFKAS = (  # what Kafka throws, word for word
    "Attempt to append",
    "Detected offset overflow",
    "The last offset of appended",
    "Found record size",
    "Found directory",
    "Duplicate log",
    "No readable meta",
    "No value present",
    "No FeatureLevelRecord",
    "Error while reading",
    "unable to deserialize",
    "Cannot invoke",
    "Input string",
    "Split operation",
    "Invalid negative header key",
    "the last batch of the segment to be split is not whole",
    "{} in transaction index {}/{},",
    "{} is too long, the most",
    "The size of segment",
)
PARTS = {  # put together at run time alone: a sentence that each stands in
    "; {} more places like it follow in this file": "slot 3: offset 5 follows offset 7; 2 more places like it follow in this file",
    (
        "entries stand for appends of several batches, as releases before 3.9.1 wrote them, and "
        "4.0.0"
    ): (
        "3 of 9 entries stand for appends of several batches, as releases before 3.9.1 wrote "
        "them, and 4.0.0"
    ),
    "entries have the first offset of their batch as key, as releases before 2.0 wrote them": (
        "3 of 9 entries have the first offset of their batch as key, as releases before 2.0 "
        "wrote them"
    ),
    "log start offset": "the log start offset is 9, and the log ends at 5",
    "recovery point": "the recovery point is 9, and the log ends at 5",
    "delete horizon set": "Codec lz4, CreateTime, delete horizon set.",
    "It matches.": "CRC-32C of everything behind it. It matches.",
    "It does not match: the bytes give 0x{}. Kafka deletes such a file.": (
        "CRC-32C of everything behind it. It does not match: the bytes give 0x7. Kafka deletes "
        "such a file."
    ),
    "The record says that it takes {} bytes, {} are there": "The record says that it takes 9 bytes, 5 are there.",
    "{} headers do not fit into {} bytes": "7 headers do not fit into 5 bytes.",
    "{} bytes of {} are said to follow, {} are there": "7 bytes of key are said to follow, 5 are there.",
}
UNSEEN = (  # no page shows them, or no bytes can bring them about
    "version=1, cluster.id, node.id",
    "time index",
    "unable to locate",
    "the field",
    "{} or later",
    "{} or earlier",
    "of an unknown version",
    "Message format {}, until Kafka 0.10.",
    " in transaction index {}/{},",
    "{} is no signed {}-bit number",
    "{} is no unsigned 32-bit number",
    "the bytes end within a variable-length number",
)


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of Chinese."""
    monkeypatch.setattr(words, "_language_sources", [lambda: "zh"])


def files(name: str) -> list[Path]:
    """The files that make the sentences of a catalogue."""
    found = [PACKAGE / room for room in ROOMS[name]]
    return [
        file for one in found for file in (sorted(one.rglob("*.py")) if one.is_dir() else [one])
    ]


def sentences(name: str) -> list[Phrase]:
    """Every sentence there that a person may read, and that is not Kafka's."""
    said = [phrase for file in files(name) for phrase in phrases.said(file)]
    ours = [
        one for one in said if one.text not in (*PARTS, *UNSEEN) and not one.text.startswith(KAFKAS)
    ]
    return [one for one in ours if ENGLISH.search(one.text.replace(HOLE, "7"))]


def is_told(name: str, text: str) -> bool:
    """Whether nothing of it stays English."""
    whole = re.sub(r"(?<=\w){}$", "", text)  # what may follow a sentence, or not
    for value in FILLED:
        filled = whole.replace(HOLE, value)
        shown = translate_sentence(name, filled)
        if shown == filled and name == "notes":
            shown = translate_sentence("spans", filled)
        if shown != filled and not LONGER.search(shown):
            return True
    return False


@pytest.mark.parametrize("name", ROOMS)
def test_every_sentence_is_told(name, chinese):
    """With each branch of it; the places of one that is not are named."""
    found = sentences(name)
    assert len(found) > 15
    assert [one for one in found if not is_told(name, one.text)] == []


def test_every_part_is_told_in_its_sentence(chinese):
    """And is still said."""
    said = {phrase.text for name in ROOMS for file in files(name) for phrase in phrases.said(file)}
    assert [part for part in (*PARTS, *UNSEEN) if part not in said] == []
    assert [
        whole for whole in PARTS.values() if not any(is_told(name, whole) for name in ROOMS)
    ] == []


@pytest.mark.parametrize("spoken", OTHERS)
@pytest.mark.parametrize("name", ROOMS)
def test_no_sentence_is_told_that_is_gone(name, spoken):
    """Each text of a catalogue has the words of one that is still made, or of a part of one."""
    keys = [
        key.removeprefix(f"{name}.")
        for key in words.catalogue(spoken)
        if key.startswith(f"{name}.")
    ]
    known = [phrase.text for file in files(name) for phrase in phrases.said(file)] + list(
        PARTS.values()
    )
    assert [key for key in keys if not phrases.makes(known, key)] == []
