"""The output of `kafkaviz app --class`: links into the class, its QR code, and the served paths."""

import io
from pathlib import Path

import pytest
import segno

from kafkaviz.app import access
from kafkaviz.workshop import class_start
from kafkaviz.workshop.class_room import ClassRooms
from kafkaviz.workshop.class_start import announcement

LAN = "192.168.1.20"


@pytest.fixture
def room():
    return ClassRooms().open(is_permanent=True)


@pytest.fixture
def network_of_one(monkeypatch) -> None:
    """A machine with one address in a class_start, asked by nobody but a class."""
    monkeypatch.setattr(class_start, "addresses", lambda: [LAN])
    monkeypatch.setenv(access.CLASS, "en")
    for name in (access.ALLOW_ROOT, "KAFKAVIZ_DIR"):
        monkeypatch.delenv(name, raising=False)


def announced(room, address="0.0.0.0", *, language="en", has_picture=False) -> list[str]:
    text = announcement(room, address, 8600, language=language, has_picture=has_picture)
    return text.strip("\n").splitlines()


def test_the_ways_into_a_class(room, network_of_one):
    assert announced(room) == [
        f"Class {room.code}. Learners open",
        f"  http://{LAN}:8600/workshop?class={room.code}",
        "",
        "You open, on this machine",
        f"  http://127.0.0.1:8600/workshop?class={room.code}&track=short#teach={room.secret}",
        "",
        "Learners can open the samples, but no other files, and they cannot upload files.",
    ]


def test_links_go_on_in_the_language_of_the_shell(room, network_of_one):
    lines = announced(room, language="zh")
    assert lines[0] == f"班级 {room.code}。学员打开"
    assert lines[1] == f"  http://{LAN}:8600/workshop?class={room.code}&lang=zh"
    assert f"&lang=zh&track=short#teach={room.secret}" in lines[4]


def test_the_directory_of_a_class_is_named(room, network_of_one, monkeypatch):
    monkeypatch.setenv("KAFKAVIZ_DIR", "/srv/kafka")
    assert announced(room)[-1].startswith("Learners can open the samples and /srv/kafka, ")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_server_that_only_this_machine_reaches_says_so(room, network_of_one, address):
    """No link for learners, which would lead nowhere; the teacher's is of that address."""
    lines = announced(room, address, has_picture=True)
    assert lines[:2] == [
        f"Class {room.code}",
        "Only this machine can reach this server: leave out --host to let the class in",
    ]
    shown = f"[{address}]" if ":" in address else address
    assert f"  http://{shown}:8600/workshop?class={room.code}" in lines[4]
    assert "▀" not in "".join(lines)


def test_a_machine_without_a_network_says_so(room, network_of_one, monkeypatch):
    monkeypatch.setattr(class_start, "addresses", lambda: [])
    assert announced(room)[1] == ("This machine has no network address: learners cannot reach it")


def test_one_address_to_listen_on_is_the_only_one(room, network_of_one):
    """Of learners and of their teacher: 127.0.0.1 does not answer then."""
    links = [line.strip() for line in announced(room, "10.0.0.7") if "http" in line]
    assert [link.partition("/workshop")[0] for link in links] == ["http://10.0.0.7:8600"] * 2


def modules(text: str) -> list[list[int]]:
    """The dark modules of a QR code that was printed as text."""
    rows = []
    for line in text.split("\n"):
        cells = line.removeprefix("\x1b[30;107m").removesuffix("\x1b[0m")
        rows += [[int(cell in "▀█") for cell in cells], [int(cell in "▄█") for cell in cells]]
    return rows


def test_the_picture_in_a_terminal_is_the_code_of_the_link(room, network_of_one):
    """Module for module, with a light border; dark on light whatever the terminal's colours are."""
    link = f"http://{LAN}:8600/workshop?class={room.code}"
    lines = announced(room, has_picture=True)
    picture = "\n".join(line.removeprefix("  ") for line in lines if "\x1b" in line)
    expected = [list(row) for row in segno.make_qr(link).matrix_iter(border=2)]
    assert modules(picture)[: len(expected)] == expected
    assert all(line.startswith("\x1b[30;107m") for line in picture.split("\n"))


class _Output(io.StringIO):
    def __init__(self, encoding: str, *, is_terminal: bool) -> None:
        super().__init__()
        self._encoding, self._is_terminal = encoding, is_terminal

    encoding = property(lambda self: self._encoding)

    def isatty(self) -> bool:
        return self._is_terminal


def test_a_picture_is_for_terminals_that_have_its_characters():
    assert class_start.shows_pictures(_Output("utf-8", is_terminal=True))
    assert not class_start.shows_pictures(_Output("utf-8", is_terminal=False))
    assert not class_start.shows_pictures(_Output("ascii", is_terminal=True))


def test_a_class_opens_samples_alone(network_of_one):
    """A proxy before 127.0.0.1 lets others in, and the server cannot know it."""
    assert access.roots() == ()
    with pytest.raises(access.CannotOpen):
        access.require_allowed(Path("/etc/hostname"))


def test_this_machine_alone_reaches_its_own_address():
    assert "127.0.0.1" not in class_start.addresses()


@pytest.mark.parametrize(
    ("listening", "reached"),
    [
        ("", [LAN]),
        ("0.0.0.0", [LAN]),
        ("10.0.0.7", ["10.0.0.7"]),
        ("kafka.example.com", ["kafka.example.com"]),
        ("localhost", []),
        ("127.0.0.1", []),
    ],
)
def test_others_reach_the_address_that_is_listened_on(network_of_one, listening, reached):
    assert class_start.reachable_addresses(listening) == reached
