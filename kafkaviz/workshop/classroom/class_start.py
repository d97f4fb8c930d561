"""The class of `kafkaviz app --class`, which is opened and announced when the server starts.

    Class KQ7R. Learners open
      http://192.168.1.20:8501/workshop?class=KQ7R
      (the same as a QR code, where a terminal can show it)
    You open, on this machine
      http://127.0.0.1:8501/workshop?class=KQ7R&track=short#teach=...
    Served to the class: the pages over the samples. No other file, no uploads.

The secret after # makes its reader the teacher. Browsers never send that part to a server, and the
page removes it from the address bar.
"""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TextIO
from urllib.parse import urlencode

import streamlit as st

from kafkaviz import messages
from kafkaviz.app import access
from kafkaviz.messages import text_in
from kafkaviz.units import escape_line
from kafkaviz.workshop import lesson_address
from kafkaviz.workshop.classroom import network
from kafkaviz.workshop.classroom.class_room import ClassRoom
from kafkaviz.workshop.classroom.class_seat import ROOMS, join_query
from kafkaviz.workshop.lessons.grammar import SHORT

OWN_ADDRESS = "127.0.0.1"
MAX_ADDRESSES = 3  # a machine in many networks may have more
# the name of the secret in the fragment of the teacher's link; class_link.js reads it there
TEACH = "teach"


@asynccontextmanager
async def open_class(_app: object) -> AsyncGenerator[None, None]:
    """Opens a room that lasts as long as the server, and prints the links into it.

    Args:
        _app: the Streamlit app, unused.
    """
    address = st.get_option("server.address") or ""
    port = int(st.get_option("server.port"))
    print(
        announcement(
            ROOMS.open(is_permanent=True),
            address,
            port,
            language=os.environ.get(access.CLASS, messages.ENGLISH),
            has_picture=shows_pictures(sys.stdout),
        ),
        flush=True,
    )
    yield


def announcement(
    room: ClassRoom, address: str, port: int, *, language: str, has_picture: bool
) -> str:
    """Returns the printed text: room code, links of learners and teacher, and the served paths.

    Args:
        address: the address the server listens on.
        has_picture: whether to add the first link of learners as a QR code.
    """
    origins = [_origin(name, port) for name in network.reachable_addresses(address)]
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
        lines += ["", *(f"  {line}" for line in network.qr_text(links[0]).split("\n"))]
    own_origin = _origin(OWN_ADDRESS if network.is_wildcard(address) else address, port)
    lines += [
        "",
        text_in(language, "class.ready_teacher"),
        f"  {teacher_link(own_origin, room, language)}",
        "",
        _scope_text(language),
    ]
    return "\n" + "\n".join(lines) + "\n"


def join_link(origin: str, code: str, language: str) -> str:
    """Returns the link that learners open.

    Args:
        origin: the server's origin, such as http://192.168.1.20:8501.
    """
    return f"{origin}/workshop?{urlencode(join_query(code, language))}"


def teacher_link(origin: str, room: ClassRoom, language: str) -> str:
    """Returns the teacher's link to the 45-minute track, for use on the server's machine."""
    query = join_query(room.code, language) | {lesson_address.TRACK: SHORT}
    return f"{origin}/workshop?{urlencode(query)}#{TEACH}={room.secret}"


def shows_pictures(out: TextIO) -> bool:
    """Returns whether an output is a terminal and can encode the characters of a QR code."""
    try:
        network.HALVES.encode(out.encoding or "ascii")
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
