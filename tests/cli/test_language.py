"""The language of the command line: where it comes from, and that nothing is in another."""

import html
import os
import re
import subprocess
import sys

import pytest

from kafkaviz.__main__ import main
from kafkaviz.cli.common import output
from kafkaviz.messages import verbatim
from tests.support.commands import refusal_of, text_of

HAN = re.compile("[\u4e00-\u9fff]")
ENGLISH = re.compile(r"[A-Za-z]{2,},? [a-z]{2,} [a-z]{2,}")  # a sentence, or part of one
KAFKAS = re.compile(  # as Kafka throws it
    r"Received request for offset.*|Snapshot failed schema validation|Last offset of aborted"
    r" transaction.* is less than start offset"
)
PATH = re.compile(r"(?:/[\w.-]+){2,}")
CLOSING = "，。；：、！？）」》”"
SHELL = ("LC_ALL", "LC_MESSAGES", "LANG")


def run_in_shell(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    inherited = {name: value for name, value in os.environ.items() if name not in SHELL}
    return subprocess.run(
        [sys.executable, "-m", "kafkaviz", *arguments],
        env=inherited | environment,
        capture_output=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("place", ["before", "behind", "assigned"])
def test_the_option_comes_before_the_command_or_after_it(place, clean):
    rest = ["lookup", str(clean / "refunds-0"), "--offset", "99999999"]
    arguments = {
        "before": ["--language", "zh", *rest],
        "behind": [*rest, "--language", "zh"],
        "assigned": [*rest, "--language=zh"],
    }[place]
    assert text_of(*arguments).startswith("refunds-0：偏移量 99999999，按 Kafka ")
    assert text_of(*rest).startswith("refunds-0: offset 99999999, as Kafka ")


def test_an_error_is_in_the_language(tmp_path):
    assert refusal_of("--language", "zh", "check", tmp_path / "gone") == (
        f"kafkaviz: {tmp_path / 'gone'}：不存在；请检查路径；它可能被移走或删除了\n"
    )
    for arguments, words in (
        (["nope"], "没有命令 nope；可用的有 app、"),
        (["lookup", "x", "--offset", "y"], "'y' 不是偏移量"),
        (["check", "x", "--bogus"], "无法识别的参数：--bogus；用法见 kafkaviz check --help"),
    ):
        assert words in refusal_of(*arguments, "--language", "zh")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--language", "fr", "check", "nowhere"],
        ["check", "nowhere", "--language", "fr"],
        ["--language=", "check", "nowhere"],
        ["check", "nowhere", "--language"],
    ],
)
def test_an_unknown_language_is_one_line(arguments):
    assert "argument --language: " in refusal_of(*arguments)


@pytest.mark.parametrize("name", SHELL)
def test_the_language_is_that_of_the_shell(name):
    error = run_in_shell("nope", PYTHONIOENCODING="utf-8", **{name: "zh_CN.UTF-8"})
    assert (error.returncode, error.stdout) == (2, b"")
    assert error.stderr.decode().startswith("kafkaviz: 没有命令 nope；")


def test_an_option_counts_more_than_the_shell():
    english = "kafkaviz: unknown command nope; "
    for arguments, environment in (
        (["--language", "en", "nope"], {"LANG": "zh_CN.UTF-8"}),
        (["nope"], {"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}),
        (["nope"], {"LANG": "fr_FR.UTF-8"}),
        (["nope"], {}),
    ):
        error = run_in_shell(*arguments, PYTHONIOENCODING="utf-8", **environment)
        assert error.stderr.decode().startswith(english)


def test_an_output_that_has_no_chinese_letters_gets_english():
    ascii_shell = {"LANG": "zh_CN.UTF-8", "PYTHONIOENCODING": "ascii"}
    assert run_in_shell("nope", **ascii_shell).stderr.startswith(b"kafkaviz: unknown command")
    result = run_in_shell("--language", "zh", "nope", **ascii_shell)
    assert result.returncode == 2 and rb"\u6ca1\u6709\u547d\u4ee4 nope" in result.stderr


# ---- lines


def display_width(text: str) -> int:
    return sum(2 if ord(letter) >= 0x2E80 else 1 for letter in text)


@pytest.mark.parametrize("shift", range(24))
def test_chinese_lines_end_where_they_may(shift):
    """No line is wider than the terminal, begins with a closing sign or ends with an opening one,
    and no character is lost.
    """
    text = (
        "。" * (shift % 2)
        + "甲" * shift
        + (
            "查找相信读到的内容：“主题-编号”，位置偏后（2.3 起）时，`kafkaviz rebuild` 会跳过它；"
            "《日志》、「段」！00000000000000000858.index，字节 24 至 31？是。"
        )
        * 6
    )
    lines = list(output.wrap(verbatim(text), "  提示  "))
    assert len(lines) > 3 and max(map(display_width, lines)) <= output.PIPED_WIDTH == 118
    assert lines[0].startswith("  提示  ") and all(line[:8] == " " * 8 for line in lines[1:])
    assert [line for line in lines[1:] if line.strip()[0] in CLOSING] == []
    assert [line for line in lines if line[-1] in "（「《“"] == []
    rest = "".join(line[6 if number == 0 else 8 :] for number, line in enumerate(lines))
    assert re.sub(" ", "", rest) == re.sub(" ", "", text)


def test_what_is_short_is_one_line():
    assert list(output.wrap("短", "a ")) == ["a 短"] and list(output.wrap("")) == []
    assert list(output.wrap("甲 " + "x" * 130 + " 乙")) == ["甲", "x" * 130, "乙"]


@pytest.mark.parametrize(
    ("columns", "width"), [("80", 80), ("20", output.MIN_WIDTH), ("500", output.MAX_WIDTH)]
)
def test_lines_are_as_wide_as_the_terminal(columns, width, monkeypatch):
    """Within bounds; COLUMNS gives the width, as for a terminal."""
    monkeypatch.setenv("COLUMNS", columns)
    lines = list(output.wrap("ab " * 400, "  "))
    assert width - 3 < max(map(len, lines)) <= width


def test_a_line_that_is_too_long_for_a_terminal_is_folded(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    text = "  " + "word " * 30
    output.say([text])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.say([text, "short"])
    piped, *folded, short = capsys.readouterr().out.splitlines()
    assert (piped.strip(), short) == (text.strip(), "short")
    assert [len(line) - len(line.lstrip()) for line in folded] == [2, 4]
    assert max(map(len, folded)) <= 80 and " ".join(folded).split() == text.split()


# ---- every command


def spoken(capsys, *arguments: str) -> str:
    assert main(["--language", "zh", *arguments]) in (0, 1)
    printed = capsys.readouterr()
    return printed.out + printed.err


def left_english(text: str) -> list[str]:
    lines = (KAFKAS.sub("", re.sub(r"\s+", " ", PATH.sub("", line))) for line in text.splitlines())
    return [line for line in lines if ENGLISH.search(line) or re.search(r"\b(the|of|is)\b", line)]


@pytest.mark.parametrize("sample", ["clean", "killed", "damaged"])
def test_check_speaks_chinese(sample, request, capsys):
    text = spoken(capsys, "check", str(request.getfixturevalue(sample)))
    # Kafka's own words may break anywhere
    assert left_english(re.sub(r"\n {11,}(?=[a-zA-Z])", " ", text)) == []
    lines = text.splitlines()
    assert any(line.startswith(("下次启动", "这里没有什么会阻止下次启动")) for line in lines)
    assert "保留策略" in lines
    body = lines[3:]
    assert max(map(display_width, body)) <= output.PIPED_WIDTH
    assert {line[: line.index("K")] for line in body if line.startswith("           参考")} <= {
        "           参考      "
    }


@pytest.mark.parametrize(
    ("partition", "options"),
    [
        ("refunds-0", ["--offset", "55"]),
        ("refunds-0", ["--timestamp", "max"]),
        ("payments-0", ["--timestamp", "1790000075793"]),
        ("refunds-0", ["--offset", "99999999"]),
    ],
)
def test_lookup_speaks_chinese(partition, options, clean, capsys):
    text = spoken(capsys, "lookup", str(clean / partition), *options)
    assert left_english(text) == []
    assert re.search("^(答案|错误) ", text, re.MULTILINE)


def test_rebuild_and_simulate_speak_chinese(killed, clean, tmp_path, capsys):
    text = spoken(capsys, "rebuild", str(killed / "clicks-zstd-0"), "--out", str(tmp_path / "a"))
    assert left_english(text) == [] and "恢复会截掉从字节 263795 起的 464 字节" in text
    text = spoken(
        capsys, "simulate", "--replay", str(clean / "refunds-0"), "--out", str(tmp_path / "b")
    )
    assert left_english(text) == [] and "5 个索引文件中有 5 个写出来逐字节相同" in text


def test_tune_speaks_chinese_in_columns(damaged, capsys):
    text = spoken(capsys, "tune", str(damaged / "bookings-0"), "--set", "segment.bytes=1048576")
    assert left_english(text) == []
    lines = text.splitlines()
    assert {line.split()[0] for line in lines if line.startswith("  ")} >= {"批次", "理由", "依据"}
    (head,) = (place for place, line in enumerate(lines) if line.split()[:1] == ["间隔"])
    ends = {display_width(re.match(r" *\S+ +\S+", line)[0]) for line in lines[head : head + 5]}
    assert len(ends) == 1


def test_report_speaks_chinese(killed, tmp_path, capsys):
    out = tmp_path / "report.html"
    text = spoken(capsys, "report", str(killed), "-o", str(out))
    assert left_english(text) == [] and "已读的文件不会阻止这个 broker 启动" in text
    page = out.read_text(encoding="utf-8")
    page = re.sub(r"<(script|style|svg)\b.*?</\1>", "\n", page, flags=re.DOTALL)
    visible = html.unescape(re.sub(r"<[^>]+>", "\n", page))
    assert len(HAN.findall(visible)) > 1000
    assert left_english(visible) == []
