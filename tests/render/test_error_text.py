"""Errors of every kind that a page can show, in another language."""

import errno
import os
import re
import tomllib

import pytest

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
from kafkaviz.log.archives import archive
from kafkaviz.messages import message, verbatim
from kafkaviz.render.sentences import describe_error, describe_error_sentence
from kafkaviz.simulate.producers import workload

OTHERS = [code for code in messages.LANGUAGES if code != messages.ENGLISH]
ENGLISH = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")  # a sentence, or part of one
# the rooms of error texts
ROOMS = (
    *("archive", "calibration", "codec", "corrupt", "errors", "query", "setting"),
    *("system", "toml", "toml_parser"),
)
COMMANDS = re.compile("kafkaviz [a-z]+|pip install|`[^`]+`")  # to be typed unchanged


@pytest.mark.parametrize("code", OTHERS)
def test_no_error_is_half_translated(code):
    """An error has no English text except names and commands."""
    texts = {
        key: re.sub(r"\{[^}]*\}", "7", text)
        for key, text in messages.catalogue(code).items()
        if key.partition(".")[0] in ROOMS
    }
    assert len(texts) > 100
    assert [key for key, text in texts.items() if ENGLISH.search(COMMANDS.sub("", text))] == []


SYSTEM = (
    *(errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.ENOSPC),
    *(errno.EMFILE, errno.ENFILE, errno.EIO, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP),
    *(errno.ESTALE, errno.EDQUOT, errno.EBUSY, errno.ENOMEM, errno.EFBIG, errno.ETIMEDOUT),
    errno.ENOTCONN,
)


@pytest.mark.parametrize("number", SYSTEM, ids=os.strerror)
def test_an_error_of_the_system_is_reported(number, chinese, tmp_path):
    with pytest.raises(CannotOpen) as caught, translate_os_errors(tmp_path):
        raise OSError(number, os.strerror(number))
    text = describe_error(caught.value).replace(str(tmp_path), "").replace("kafkaviz", "")
    assert not ENGLISH.search(text)


BROKEN = (
    *("x", "x = ", "[a", "[[a]", "x = 1\nx = 2", "x = [1", 'x = "a', "x = 1 y = 2"),
    *("x = {a=1, a=2}", "a.b = 1\n[a]", 'x = "\\q"', "x = 2026-99-99"),
)


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_toml_is_reported(text, chinese):
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(text)
    with pytest.raises(KafkavizError) as caught:
        workload.load(text)
    text = describe_error(caught.value)
    assert text.startswith("workload：")
    assert not ENGLISH.search(text)


def test_a_workload_names_its_place(chinese):
    phases = "".join(
        f"[[phase]]\nbatches_per_s = {speed}\nrecords = 10\n" for speed in ("5", '"x"')
    )
    with pytest.raises(KafkavizError) as caught:
        workload.load(phases, "mine.toml")
    assert describe_error(caught.value) == 'mine.toml：第 2 个 phase，batches_per_s："x" 不是数'


def test_a_refused_setting_is_reported(chinese):
    with pytest.raises(RefusedSetting) as caught:
        parse("segment.bytes", "5", (4, 3))
    assert describe_error(caught.value) == "配置 segment.bytes 的值 5 无效：不能小于 1048576"


@pytest.mark.parametrize(
    "data",
    [b"", b"PK\x03\x04 no zip", b"\x1f\x8b\x08\x00cut", b"nothing" * 99],
    ids=["empty", "zip", "gzip", "none"],
)
@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz"])
def test_a_broken_archive_is_reported(data, name, chinese, tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    (tmp_path / name).write_bytes(data)
    with pytest.raises(CannotOpen) as caught:
        archive.unpack_if_archive(tmp_path / name)
    assert not ENGLISH.search(describe_error(caught.value).replace(str(tmp_path), ""))


def test_where_it_is_comes_first(chinese):
    """The file and its byte, or the path, then the fault and the advice; Kafka's words stay."""
    torn = CorruptFile("a-0/0.log", 61, message("corrupt.varint_cut"))
    assert describe_error(torn) == "a-0/0.log，字节 61：字节在一个变长整数中间结束"
    assert describe_error_sentence(torn) == describe_error(torn) + "。"
    no_batch = CorruptBytes(4, message("corrupt.no_batch", size=3))
    assert describe_error(no_batch) == "字节 4：3 字节中没有批次"
    missing = CannotOpen("/x", message("errors.not_there"), message("errors.moved_or_removed"))
    assert describe_error(missing) == "/x：不存在；它被移走或删除了"
    assert describe_error(CannotOpen("/x", message("errors.holds_no_log"))) == "/x：没有 .log"
    assert describe_error(KafkavizError(verbatim("java.lang.Error: so"))) == "java.lang.Error: so"


def test_english_is_the_error_itself():
    """To the letter."""
    fault = CannotOpen("/x", message("errors.not_there"), message("errors.moved_or_removed"))
    assert describe_error(fault) == str(fault) == "/x: is not there; it was moved or removed"


@pytest.mark.parametrize("code", messages.LANGUAGES)
def test_no_folder_of_the_cache_is_named(code, clean):
    """An error about a file in an archive names the archive."""
    for fault in (
        CannotOpen(clean / "orders-0", message("errors.not_there")),
        CorruptFile(clean / "orders-0" / "0.log", 7, verbatim("batch length is -1")),
    ):
        with messages.speaking(code):
            text = describe_error(fault)
        assert "unpacked" not in text
        assert f"kafka-4.3.1-clean.tar.gz{os.sep}orders-0" in text


def test_a_recovery_that_ends_says_what_a_start_does_then(chinese):
    """Kafka's words come first, then the advice."""
    then = message("rebuild.start_fails", way_out=message("way_out.put_snapshots_back"))
    fault = CannotOpen("a-0/0.log", verbatim("E: full (size = 84)"), then)
    assert describe_error(fault) == (
        "a-0/0.log：E: full (size = 84)；恢复它的启动会失败：如果有备份，放回生产者快照后再次启动"
    )
