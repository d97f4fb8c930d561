"""Opens a class when `kafkaviz app --class` starts the server, and prints how to join it.

    Class KQ7R. Learners open
      http://192.168.1.20:8501/workshop?class=KQ7R
      (the same as a QR code, where a terminal can show it)
    You open, on this machine
      http://127.0.0.1:8501/workshop?class=KQ7R&track=short#teach=...
    Learners can open the samples, but no other files, and they cannot upload files.

The secret after # makes the browser's user the teacher. Browsers never send this part of the
address to a server, and the page removes it from the address bar.
"""

import ipaddress
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TextIO
from urllib.parse import urlencode

import segno
import streamlit as st

from kafkaviz import messages, workshop
from kafkaviz.app import access
from kafkaviz.messages import text_in
from kafkaviz.units import escape_line
from kafkaviz.workshop.class_room import ClassRoom
from kafkaviz.workshop.class_seat import ROOMS, join_query
from kafkaviz.workshop.lessons.grammar import SHORT

# an address reserved for documentation (RFC 5737); connecting a UDP socket to it sends nothing
NOWHERE = ("192.0.2.1", 9)
HALVES = " ▀▄█"  # index: 1 if the upper module is set, plus 2 if the lower one is


def addresses() -> list[str]:
    """Returns this machine's IPv4 addresses that other machines may reach, the likeliest first."""
    candidates: list[str] = []
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(NOWHERE)
        candidates.append(probe.getsockname()[0])
    with suppress(OSError):
        candidates += [
            str(address[4][0])
            for address in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        ]
    return [address for address in dict.fromkeys(candidates) if _is_of_network(address)]


def reachable_addresses(listening: str) -> list[str]:
    """Returns the addresses at which other machines reach a server that listens on `listening`."""
    if is_wildcard(listening):
        return addresses()
    return [listening] if _is_of_network(listening) else []


def is_wildcard(address: str) -> bool:
    """Returns whether `address` means all addresses of the machine, such as 0.0.0.0."""
    with suppress(ValueError):  # raised for a host name, which is not a wildcard
        return not address or ipaddress.ip_address(address).is_unspecified
    return False


def _is_of_network(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text != "localhost"
    return not (address.is_loopback or address.is_unspecified or address.is_multicast)


def qr_text(address: str) -> str:
    """Returns a QR code for a terminal. Each text line holds two rows of the code.

    The code is always dark on light, because phones often fail to read inverted codes.
    """
    rows = [list(map(bool, row)) for row in segno.make_qr(address).matrix_iter(border=2)]
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    lines = (
        "".join(HALVES[upper + 2 * lower] for upper, lower in zip(*pair, strict=True))
        for pair in zip(rows[::2], rows[1::2], strict=True)
    )
    return "\n".join(f"\x1b[30;107m{line}\x1b[0m" for line in lines)


def qr_uri(address: str) -> str:
    return segno.make_qr(address).svg_data_uri(scale=8, border=3, light="#fff")


OWN_ADDRESS = "127.0.0.1"
MAX_ADDRESSES = 3  # the announcement lists no more, although a machine may be in more networks
# the name of the secret in the teacher's link, after the #; class_link.js reads the secret there
TEACH = "teach"


@asynccontextmanager
async def open_class(_app: object) -> AsyncGenerator[None, None]:
    """Opens a permanent room and prints the links for joining it."""
    room = ROOMS.open(is_permanent=True)
    address = st.get_option("server.address") or ""
    port = int(st.get_option("server.port"))
    language = os.environ.get(access.CLASS, messages.ENGLISH)
    has_picture = shows_pictures(sys.stdout)
    print(announcement(room, address, port, language=language, has_picture=has_picture), flush=True)
    yield


def announcement(
    room: ClassRoom, address: str, port: int, *, language: str, has_picture: bool
) -> str:
    """Returns the text to print: room code, links, and which directories learners can open.

    `address` is the one that the server listens on. With `has_picture`, prints a QR code too.
    """
    origins = [_origin(name, port) for name in reachable_addresses(address)]
    links = [join_link(origin, room.code, language) for origin in origins[:MAX_ADDRESSES]]
    if links:
        title = text_in(language, "class.ready", code=room.code)
        lines = [title, *(f"  {link}" for link in links)]
    else:
        is_own = access.is_own_machine(address)
        lines = [
            text_in(language, "class.label", code=room.code),
            text_in(language, "class.own_machine" if is_own else "class.no_network"),
        ]
    if links and has_picture:
        lines += ["", *(f"  {line}" for line in qr_text(links[0]).split("\n"))]
    own_origin = _origin(OWN_ADDRESS if is_wildcard(address) else address, port)
    lines += [
        "",
        text_in(language, "class.ready_teacher"),
        f"  {teacher_link(own_origin, room, language)}",
        "",
        _scope_text(language),
    ]
    return "\n" + "\n".join(lines) + "\n"


def join_link(origin: str, code: str, language: str) -> str:
    """Returns the link that learners open. `origin` is, for example, http://192.168.1.20:8501."""
    return f"{origin}/workshop?{urlencode(join_query(code, language))}"


def teacher_link(origin: str, room: ClassRoom, language: str) -> str:
    """Returns the teacher's link, for a browser on the server's machine.

    It opens the short track of the Workshop: only the lesson steps about indexes.
    """
    query = join_query(room.code, language) | {workshop.TRACK: SHORT}
    return f"{origin}/workshop?{urlencode(query)}#{TEACH}={room.secret}"


def shows_pictures(out: TextIO) -> bool:
    """Returns whether `out` is a terminal that can print the characters of a QR code."""
    try:
        HALVES.encode(out.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return out.isatty()


def _origin(address: str, port: int) -> str:
    return f"http://{f'[{address}]' if ':' in address else address}:{port}"


def _scope_text(language: str) -> str:
    directories = [escape_line(str(root)) for root in access.roots() or ()]
    if not directories:
        return text_in(language, "class.ready_scope")
    return text_in(language, "class.ready_scope_directory", directories=directories)
