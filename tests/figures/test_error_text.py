"""What could not be done, in another language: every error that a page can show is told, and none
that is gone.
"""

import ast
import errno
import os
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.words import phrases
from tests.words.phrases import HOLE

from kafkaviz import messages
from kafkaviz.config_def import parse
from kafkaviz.errors import (
    CannotOpen,
    CorruptBytes,
    CorruptFile,
    KafkavizError,
    RefusedSetting,
    translate_os_errors,
)
from kafkaviz.figures.error_text import describe, describe_part
from kafkaviz.log import archive
from kafkaviz.simulate.producers import workload

PACKAGE = phrases.ROOT / "kafkaviz"
OTHERS = [one for one in messages.LANGUAGES if one != messages.ENGLISH]
ENGLISH = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")  # a sentence, or part of one
# of CannotOpen: words for programs
KINDS = ("missing", "permission", "not-kafka", "archive", "file", "outside")
# asked for by the command line, by Spark's own users, or by nobody: no page shows what they raise
COMMANDS = (
    "cli",
    "report",
    "analysis/paths.py",
    "analysis/calibration.py",
    "analysis/replay_source.py",
    "format/coordinator_records.py",
    "format/remote_metadata.py",
    "pipeline/source.py",
    "pipeline/source_schema.py",
    "pipeline/source_reader.py",
    "pipeline/sql.py",
    "search/consumer.py",
    "search/profile.py",
)
KAFKAS = (  # what Kafka and Java say, as they say it
    "Malformed",
    "Invalid topic ID",
    "Invalid wrapper",
    "Invalid negative",
    "Found ",
    "Record ",
    "Snapshot ",
    "Unrecognized ",
    "Expected 7",
    "File ended",
    "Inner messages",
    "IndexOutOfBounds",
    "newLimit",
    "Unexpected aborted",
    "Last offset of aborted",
    "The file channel",
    "Unknown compression",
    "lz4: ",
    "java.",
    "Received request for offset ",
)


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of Chinese."""
    monkeypatch.setattr(messages, "_language_sources", [lambda: "zh"])


@cache
def sources() -> list[Path]:
    """Every file that may raise what a page shows."""
    found = [(file, file.relative_to(PACKAGE).as_posix()) for file in sorted(PACKAGE.rglob("*.py"))]
    return [
        file
        for file, name in found
        if not any(name == one or name.startswith(f"{one}/") for one in COMMANDS)
    ]


@cache
def errors() -> frozenset[str]:
    """The names of KafkavizError, of all that are made from it, and of what makes one."""
    found, before = {"KafkavizError"}, 0
    nodes = [
        node
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(phrases.code(file).tree)
        if isinstance(node, ast.ClassDef)
    ]
    while len(found) > before:
        before = len(found)
        found |= {
            node.name for node in nodes if any(phrases.called(base) in found for base in node.bases)
        }
    return frozenset(found | {"wrong"})


@cache
def raised() -> dict[str, str]:
    """Every part of an error, with a number for each value, and where it is raised."""
    found = {}
    for file in sources():
        for _, one, text in phrases.given(file, lambda call: phrases.called(call.func) in errors()):
            if re.search(r"[a-z]{2}", text) and text not in KINDS:
                found[text] = f"{file.relative_to(PACKAGE)}, line {one.lineno}"
    return found


def test_every_error_is_told(chinese):
    """Each part of it; Kafka's own words and what is put together of values alone stay."""
    filled = {text.replace(HOLE, "7"): place for text, place in raised().items()}
    left = {
        text: place
        for text, place in filled.items()
        if not text.startswith(KAFKAS) and ENGLISH.search(text) and describe_part(text) == text
    }
    assert len(filled) > 100 and left == {}


def test_no_error_is_told_in_part(chinese):
    """Nothing English is left where one was told."""
    filled = (text.replace(HOLE, "7") for text in raised())
    shown = [describe_part(text) for text in filled if not text.startswith(KAFKAS)]
    assert [
        text
        for text in shown
        if ENGLISH.search(text)
        and not re.search("kafkaviz ingest|pip install|The file channel", text)
    ] == []


@pytest.mark.parametrize("spoken", OTHERS)
def test_no_error_is_told_that_is_gone(spoken):
    """Each text of ours is raised somewhere; those of the system and of Python's readers are
    theirs.
    """
    keys = [
        key.removeprefix("errors.")
        for key in messages.catalogue(spoken)
        if key.startswith("errors.")
    ]
    said = [
        phrase.text
        for file in PACKAGE.rglob("*.py")
        if not {"cli", "app"} & set(file.parts)
        for phrase in phrases.said(file)
    ]
    known = [*said, *raised(), *theirs()]
    gone = [key for key in keys if not phrases.makes(known, key)]
    assert gone == []


def theirs() -> Iterator[str]:
    """What the system says, and what the readers of the standard library say of a TOML text and of
    an archive.
    """
    yield from (os.strerror(number).lower() for number in errno.errorcode)
    for module in (
        "tomllib/_parser.py",
        "tarfile.py",
        "zipfile.py",
        "zipfile/__init__.py",
        "gzip.py",
        "_compression.py",
    ):
        file = Path(os.__file__).parent / module
        if file.exists():
            tree = ast.parse(file.read_text(encoding="utf-8"))
            yield from (
                re.sub("%[rds]", HOLE, text)
                for node in ast.walk(tree)
                for text in phrases.alone(node)
            )
    yield from (
        "{} (at line {}, column {})",
        "{} (at end of document)",
        "Not a gzipped file ({})",
        "CRC check failed {}",
    )
    yield "Memory usage limit exceeded"  # of lzma, which is no Python


SYSTEM = (
    errno.ENOENT,
    errno.EACCES,
    errno.EPERM,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.ENOSPC,
    errno.EMFILE,
    errno.ENFILE,
    errno.EIO,
    errno.EROFS,
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.ESTALE,
    errno.EDQUOT,
    errno.EBUSY,
    errno.ENOMEM,
    errno.EFBIG,
    errno.ETIMEDOUT,
    errno.ENOTCONN,
)


@pytest.mark.parametrize("number", SYSTEM, ids=os.strerror)
def test_the_system_is_told(number, chinese, tmp_path):
    """What it says of a file, however that is wrapped."""
    with pytest.raises(CannotOpen) as caught, translate_os_errors(tmp_path):
        raise OSError(number, os.strerror(number))
    assert not ENGLISH.search(
        describe(caught.value).replace(str(tmp_path), "").replace("kafkaviz", "")
    )


BROKEN = (
    "x",
    "x = ",
    "[a",
    "[[a]",
    "x = 1\nx = 2",
    "x = [1",
    'x = "a',
    "x = 1 y = 2",
    "x = {a=1, a=2}",
    "a.b = 1\n[a]",
    'x = "\\q"',
    "x = 2026-99-99",
)


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_toml_is_told(text, chinese):
    """With the line and the column."""
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(text)
    with pytest.raises(KafkavizError) as caught:
        workload.load(text)
    assert describe(caught.value).startswith("workload：") and not ENGLISH.search(
        describe(caught.value)
    )


def test_a_workload_names_its_place(chinese):
    """The file, the phase and the key, then what is wrong there."""
    with pytest.raises(KafkavizError) as caught:
        workload.load(
            (
                '[[phase]]\nbatches_per_s = 5\nrecords = 10\n[[phase]]\nbatches_per_s = "x"\nrecords = '
                "10"
            ),
            "mine.toml",
        )
    assert describe(caught.value) == 'mine.toml：第 2 个 phase，batches_per_s："x" 不是数'


def test_a_refused_setting_is_told(chinese):
    """With its name and value."""
    with pytest.raises(RefusedSetting) as caught:
        parse("segment.bytes", "5", (4, 3))
    assert describe(caught.value) == "配置 segment.bytes 的值 5 无效：不能小于 1048576"


@pytest.mark.parametrize(
    "data",
    [b"", b"PK\x03\x04 no zip", b"\x1f\x8b\x08\x00cut", b"nothing" * 99],
    ids=["empty", "zip", "gzip", "none"],
)
@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz"])
def test_a_broken_archive_is_told(data, name, chinese, tmp_path, monkeypatch):
    """Whatever Python's reader says of it."""
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    (tmp_path / name).write_bytes(data)
    with pytest.raises(CannotOpen) as caught:
        archive.unpack_if_archive(tmp_path / name)
    assert not ENGLISH.search(describe(caught.value).replace(str(tmp_path), ""))


def test_where_it_is_comes_first(chinese, tmp_path):
    """A file and its byte; a path, what and what to do; what is not known stays."""
    torn = CorruptFile("a-0/0.log", 61, "the bytes end within a variable-length number")
    assert (
        describe(torn)
        == describe_part(str(torn))
        == "a-0/0.log，字节 61：字节在一个变长整数中间结束"
    )
    assert describe(CorruptBytes(4, "no batch in 3 bytes")) == "字节 4：3 字节中没有批次"
    missing = CannotOpen("/x", "is not there", "it was moved or removed")
    assert describe(missing) == "/x：不存在；它被移走或删除了"
    assert describe(CannotOpen("/x", "holds no .log")) == "/x：没有 .log"
    assert describe(KafkavizError("java.lang.Error: so")) == "java.lang.Error: so"


def test_english_is_the_error_itself():
    """To the letter."""
    fault = CannotOpen("/x", "is not there", "it was moved or removed")
    assert describe(fault) == str(fault) and describe_part("is not there") == "is not there"


@pytest.mark.parametrize("spoken", messages.LANGUAGES)
def test_no_folder_of_the_cache_is_told(spoken, clean, monkeypatch):
    """A fault in an archive's file names the archive, in every language."""
    monkeypatch.setattr(messages, "language", lambda: spoken)
    for fault in (
        CannotOpen(clean / "orders-0", "is not there"),
        CorruptFile(clean / "orders-0" / "0.log", 7, "batch length is -1"),
    ):
        assert "unpacked" not in describe(
            fault
        ) and f"kafka-4.3.1-clean.tar.gz{os.sep}orders-0" in describe(fault)


def test_a_recovery_that_ends_says_what_a_start_does_then(chinese):
    """Kafka's words as they are, and behind them the way out."""
    then = (
        "a start that recovers it fails: start again with the producer snapshots put back, if "
        "there is a copy"
    )
    fault = CannotOpen("a-0/0.log", "E: full (size = 84)", then)
    assert (
        describe(fault)
        == "a-0/0.log：E: full (size = 84)；恢复它的启动会失败：如果有备份，放回生产者快照后再次启动"
    )
