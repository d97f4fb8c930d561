"""What the floors below say of bytes, in another language: every sentence that they make of real
and of damaged files is told.
"""

import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kafkaviz import words
from kafkaviz.binary.spans import UNWRITTEN, Span
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import spans_batch
from kafkaviz.log import byte_ranges, file
from kafkaviz.words.sentence_translation import translate_sentence
from tests.conftest import DATA

LARGEST_BYTES = 3000  # of a batch: a larger one says the same
CHINESE = re.compile(r"[\u4e00-\u9fff]")
OF_KAFKA = re.compile(r"[A-Za-z0-9_]+")  # a field of Kafka's, or a name out of a small text file
KAFKAS = (  # words of its own: what its dump prints, and what its exceptions say
    "endTxnMarker: ",
    "controlType: ",
    "LeaderChange: ",
    "Snapshot",
    "KRaft",
    "Cannot invoke",
    "Invalid ",
    "Varint is",
    "Varlong is",
    "Error reading",
    "non-nullable field",
)


@pytest.fixture(autouse=True)
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of Chinese."""
    monkeypatch.setattr(words, "_language_sources", [lambda: "zh"])


@cache
def of_batches() -> list[Span]:
    """One of each note and name of recorded batches: whole, cut in the header and at the end, with
    a flipped byte, and inside.
    """
    return list({(span.note, span.name, span.kind): span for span in _of_batches()}.values())


def _of_batches() -> Iterator[Span]:
    with gzip.open(DATA / "batches.jsonl.gz", "rt") as lines:
        recorded = [bytes.fromhex(json.loads(line)["hex"]) for line in lines]
    for data in (one for one in recorded if len(one) < LARGEST_BYTES):
        for at in (None, *range(8, min(len(data), 160), 9)):
            one = data if at is None else data[:at] + bytes([data[at] ^ 0x80]) + data[at + 1 :]
            yield from spans_batch.batch(one)
            try:
                within = spans_batch.decompress(one, limit_bytes=1 << 20)
            except CorruptBytes:
                continue
            yield from within.spans if within else ()
        for cut in (*range(1, min(len(data), 70), 4), len(data) - 1):
            yield from spans_batch.batch(data[:cut], 0, len(data))
            yield from spans_batch.batch(data[:cut])


@cache
def of_files(*directories: Path) -> list[Span]:
    """The same of all files of broker directories, of their beginnings and ends."""
    found = [path for directory in directories for path in directory.rglob("*") if path.is_file()]
    read = (
        byte_ranges.read(file.info(one), *part)
        for one in found
        for part in ((0, 3000), (max(0, one.stat().st_size - 200),))
    )
    return list(
        {(span.note, span.name, span.kind): span for one in read for span in one.spans}.values()
    )


def untold(spans: list[Span]) -> set[str]:
    """Notes that stay English and are no words of Kafka's."""
    notes = {span.note for span in spans if span.note}
    return {
        note
        for note in notes
        if translate_sentence("notes", note) == note and not note.startswith(KAFKAS)
    }


def test_every_note_of_a_batch_is_told():
    """Whatever is wrong with it."""
    assert untold(of_batches()) == set()


def test_every_note_of_a_file_is_told(clean, killed, damaged):
    """Of indexes, snapshots and checkpoints too."""
    assert untold(of_files(clean, killed, damaged)) == set()


def test_names_are_told_or_kafkas(clean, killed):
    """Fields keep the names that Kafka's own classes have."""
    names = {span.name for span in [*of_batches(), *of_files(clean, killed)]}
    told = {name: translate_sentence("spans", name) for name in names}
    english = {name for name, said in told.items() if not CHINESE.search(said)}
    assert {
        name for name in english if not all(map(OF_KAFKA.fullmatch, re.split("[ .]", name)))
    } == set()
    assert (
        told["slot 5 relativeOffset"] == "槽 5 relativeOffset"
        and told["baseOffset"] == "baseOffset"
    )


def test_unwritten_slots_are_counted(killed):
    """In Chinese too."""
    values = {
        translate_sentence("spans", span.value)
        for span in of_files(killed)
        if span.kind == UNWRITTEN
    }
    assert values and all(CHINESE.search(value) or value.endswith("B") for value in values)


def test_values_are_put_in():
    """Also such as fit a text themselves; what fits none stays, and English stays English."""
    assert translate_sentence("notes", "The header 3 value is null.") == "header 3 value 是 null。"
    assert (
        translate_sentence("notes", "Codec lz4, CreateTime, transactional, control.")
        == "压缩方式 lz4，CreateTime，事务批次，控制批次。"
    )
    assert translate_sentence("notes", "Something else.") == "Something else."
    words.set_language_source(lambda: "en")
    assert translate_sentence("notes", "The key is null.") == "The key is null."
