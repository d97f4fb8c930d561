"""The number of files that a reader opens to follow one lookup through the code."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import kafkaviz
from kafkaviz.app import frontend
from kafkaviz.app.pages import lookup_controls
from tests.support.pages import open_page

PACKAGE = Path(kafkaviz.__file__).parent
# tables of text and the language they are read in, what hands any component to the browser, and
# what runs when Python collects garbage
EVERYWHERE = {
    "messages/__init__.py",
    "app/state/session_language.py",
    "app/frontend/__init__.py",
    "app/scheduling.py",
}


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch, nothing_cached: None) -> set[str]:
    """Fills during a lookup: from the target in the address to the stepper."""
    called = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        is_body = event == "call" and frame.f_code.co_name != "<module>"
        if is_body and path.is_relative_to(PACKAGE):
            called.add(path.relative_to(PACKAGE).as_posix())

    def wrap(function: Callable, begins: bool) -> Callable:
        def wrapped(*arguments: Any, **keywords: Any) -> Any:
            if begins:
                sys.setprofile(note)
            result = function(*arguments, **keywords)
            if not begins:
                sys.setprofile(None)
            return result

        return wrapped

    monkeypatch.setattr(
        lookup_controls, "require_target", wrap(lookup_controls.require_target, begins=True)
    )
    monkeypatch.setattr(frontend, "stepper", wrap(frontend.stepper, begins=False))
    return called


@pytest.mark.slow
def test_a_lookup_passes_few_files(files, starts, clean):
    """Counts each file of kafkaviz, except those of EVERYWHERE, in which a function is called
    between the reading of the target from the address and the end of the stepper's first drawing.
    """
    open_page("lookup", dir=str(clean), set="full", target="1234567", tab="steps")
    assert len(files - EVERYWHERE) <= 36


@pytest.mark.slow
def test_a_lookup_on_disk_passes_six_more(files, starts, clean):
    """The files of log/ are added, those that find and allow a path, and the cache."""
    open_page("lookup", dir=str(clean), tp="dense-index-0", by="offset", target="2247", tab="steps")
    assert len(files - EVERYWHERE) <= 42
