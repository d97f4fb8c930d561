"""The line of progress, on a terminal and without one."""

import sys

from kafkaviz.cli.common.progress import ProgressLine


def test_a_terminal_has_one_line_that_changes(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress = ProgressLine()
    progress.show("reading a", "plain")
    progress.show("reading \x1b b")
    progress.clear()
    assert capsys.readouterr().err == "\rreading a\x1b[K\rreading \\x1b b\x1b[K\r\x1b[K"


def test_nothing_is_cleared_that_was_not_shown(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    ProgressLine().clear()
    assert not capsys.readouterr().err


def test_elsewhere_a_plain_line_is_written_where_it_is_another(capsys):
    progress = ProgressLine()
    for plain_text in ("one", "one", "", "two"):
        progress.show("not this", plain_text)
    progress.clear()
    assert capsys.readouterr().err == "one\ntwo\n"
