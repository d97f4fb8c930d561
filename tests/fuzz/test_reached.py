"""Every module that reads a format is reached by the soak."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import FrameType

import pytest

import kafkaviz
from tests.fuzz import soak
from tests.fuzz.commanded import COMMANDED, TARGETS
from tests.fuzz.directories import ON_DISK

HOUSE = Path(kafkaviz.__file__).parent
# called by compiled loops alone, those of deep_scan, which no profile sees
COMPILED = HOUSE / "format" / "record_sizes.py"
FORMATS = [
    *({*(HOUSE / "format").glob("*.py")} - {COMPILED}),
    HOUSE / "binary" / "codec.py",
    HOUSE / "binary" / "varint.py",
    *(HOUSE / "log" / "archives" / name for name in ("archive.py", "members.py", "tar_reader.py")),
    HOUSE / "log" / "metadata_log.py",
    HOUSE / "log" / "settings.py",
    HOUSE / "simulate" / "producers" / "workload.py",
    HOUSE / "simulate" / "producers" / "toml_fields.py",
    *(HOUSE / "workshop" / "lessons" / name for name in ("grammar.py", "__init__.py")),
]
CASES, ON_DISK_CASES = 20, 3  # of each target


def reached(calls: Callable[[], object]) -> set[str]:
    """Returns our files with a called function; a compiled function counts by its Python callers."""
    reached: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            reached.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        calls()
    finally:
        sys.setprofile(before)
    return reached


def cases() -> Iterator[tuple]:
    """Returns a few cases of each target, always the same."""
    for target in TARGETS:
        for case in range(ON_DISK_CASES if target in (*ON_DISK, *COMMANDED) else CASES):
            yield target, *target.draw(draw := Random(case)), draw


@pytest.fixture(scope="module")
def soaked(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Returns the files that a few cases of each target reach while they read."""
    folder = tmp_path_factory.mktemp("fuzz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KAFKAVIZ_FUZZ", str(folder))
        patch.setenv("KAFKAVIZ_CACHE", str(folder / "cache"))
        drawn = list(cases())
        return reached(lambda: [target.read(*case) for target, *case in drawn])


@pytest.mark.parametrize(
    "module", sorted(FORMATS), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_module_that_reads_a_format_has_a_target(module, soaked):
    """The targets call something in it."""
    has_functions = "\ndef " in module.read_text() or "\n    def " in module.read_text()
    assert str(module) in soaked or not has_functions, "no target of tests/fuzz reaches it"


def test_a_module_that_nothing_reaches_is_noticed(soaked):
    """The writer of archives reads nothing."""
    assert str(HOUSE / "simulate" / "directory" / "packing.py") not in soaked
    assert len(soaked) > 60 and soak.TARGETS == "tests.fuzz.commanded:TARGETS"
