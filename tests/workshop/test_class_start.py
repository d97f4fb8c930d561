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
    """The lines that are printed."""
    text = announcement(room, address, 8600, language=language, has_picture=has_picture)
    return text.strip("\n").splitlines()


def test_the_ways_into_a_class(room, network_of_one):
    """The link of learners, that of their teacher, and what both can open."""
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
    """For learners as for their teacher."""
    lines = announced(room, language="zh")
    assert lines[0] == f"班级 {room.code}。学员打开"
    assert lines[1] == f"  http://{LAN}:8600/workshop?class={room.code}&lang=zh"
    assert f"&lang=zh&track=short#teach={room.secret}" in lines[4]


def test_the_directory_of_a_class_is_named(room, network_of_one, monkeypatch):
    """It is what learners can open."""
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
    """Nobody else reaches it."""
    monkeypatch.setattr(class_start, "addresses", lambda: [])
    assert announced(room)[1] == ("This machine has no network address: learners cannot reach it")


def test_one_address_to_listen_on_is_the_only_one(room, network_of_one):
    """Of learners and of their teacher: 127.0.0.1 does not answer then."""
    lines = announced(room, "10.0.0.7")
    assert [line.partition("/workshop")[0] for line in lines if "http" in line] == [
        "  http://10.0.0.7:8600",
        "  http://10.0.0.7:8600",
    ]


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
    """Not for a log file, nor for one of ASCII."""
    outputs = [
        _Output(encoding, is_terminal=is_terminal)
        for encoding, is_terminal in (("utf-8", True), ("utf-8", False), ("ascii", True))
    ]
    assert [class_start.shows_pictures(output) for output in outputs] == [True, False, False]


def test_a_class_opens_samples_alone(network_of_one):
    """A proxy before 127.0.0.1 lets others in, and the server cannot know it."""
    assert access.roots() == ()
    with pytest.raises(access.CannotOpen):
        access.require_allowed(Path("/etc/hostname"))


def test_addresses_are_of_a_network():
    """Where others reach this machine: never its own address."""
    assert "127.0.0.1" not in class_start.addresses()
    assert class_start.reachable_addresses("127.0.0.1") == []
    assert class_start.reachable_addresses("10.0.0.7") == ["10.0.0.7"]


@pytest.mark.parametrize(
    ("listening", "reached"),
    [
        ("", [LAN]),
        ("0.0.0.0", [LAN]),
        ("kafka.example.com", ["kafka.example.com"]),
        ("localhost", []),
    ],
)
def test_who_listens_on_a_name_is_reached_by_it(network_of_one, listening, reached):
    """On all addresses by each of them."""
    assert class_start.reachable_addresses(listening) == reached
