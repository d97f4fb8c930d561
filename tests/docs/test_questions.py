"""docs/questions.md: each of its commands runs on the samples, with the status that it states."""

import re
import shlex
from collections import defaultdict
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.log.archives.archive import unpack_if_archive
from tests.conftest import DATA, REPLICAS
from tests.support import ingest
from tests.support.console_blocks import BLOCK, commands, missing

PAGE = Path(__file__).parents[2] / "docs" / "questions.md"
TIERED = DATA / "kafka-4.3.1-tiered.tar.xz"
UNANSWERED = "What kafkaviz does not answer"
STATUS = re.compile(r" +# exit status (\d)$")


def questions() -> dict[str, dict[str, str]]:
    """Returns the text of each question, by group and heading."""
    groups: dict[str, dict[str, str]] = {}
    _, *parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for part in parts:
        group, *sections = re.split(r"^### ", part, flags=re.MULTILINE)
        headed = (section.partition("\n") for section in sections)
        groups[group.strip()] = {heading: text for heading, _, text in headed}
    return groups


def lines_by_command() -> dict[str, list[list[str]]]:
    """Returns the lines below each command, for each place where it stands."""
    places = defaultdict(list)
    for _, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        for command, expected in commands(block):
            places[command].append(expected)
    return places


@pytest.fixture(scope="module")
def samples(clean, killed, damaged, unstartable, disks, tmp_path_factory) -> Path:
    """Returns a folder with the samples under the names of the page."""
    folder = tmp_path_factory.mktemp("samples")
    places = {"broker": clean, "killed": killed, "damaged": damaged, "disks": disks}
    places["unstartable"] = unstartable
    archives = {"replica-1": REPLICAS[0], "replica-2": REPLICAS[1], "tiered": TIERED}
    for name, archive in archives.items():
        places[name] = unpack_if_archive(archive)
    for name, place in places.items():
        (folder / name).symlink_to(place)
    return folder


@pytest.mark.parametrize(("command", "places"), lines_by_command().items())
def test_a_command_runs_as_the_page_says(command, places, samples, tmp_path, monkeypatch, capsys):
    for path in samples.iterdir():
        (tmp_path / path.name).symlink_to(path.resolve())
    monkeypatch.chdir(tmp_path)
    ingest.without_spark(monkeypatch)
    status = STATUS.search(command)
    # what `tune` prints of a sample is not on the page, so a shorter one does
    shorter = STATUS.sub("", command).replace("--seconds 1", "--seconds 0.1")
    program, *arguments = shlex.split(shorter)
    assert program == "kafkaviz"
    assert main(arguments) == int(status[1] if status else 0)
    lines = capsys.readouterr().out.splitlines()
    assert [missing(expected, lines) for expected in places] == [[]] * len(places)


def test_every_question_has_a_command_and_a_page_or_another_place_to_look():
    groups = questions()
    unanswered = groups.pop(UNANSWERED)
    answered = {heading: text for group in groups.values() for heading, text in group.items()}
    assert len(answered) >= 60 and len(unanswered) >= 6
    assert [heading for heading, text in answered.items() if "$ kafkaviz " not in text] == []
    page = re.compile(r"Page:\s|No page shows it")
    assert [heading for heading, text in answered.items() if not page.search(text)] == []
    assert [heading for heading, text in unanswered.items() if "$ kafkaviz " in text] == []
