"""How a learner's browser learns of the next step: by a request that waits for it."""

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import pytest

from kafkaviz.workshop import class_seat
from kafkaviz.workshop.class_room import ClassRooms
from kafkaviz.workshop.class_seat import PATH, TOKEN_HEADER, ClassFeed


@pytest.fixture
def rooms(monkeypatch):
    rooms = ClassRooms()
    monkeypatch.setattr(class_seat, "ROOMS", rooms)
    monkeypatch.setattr(class_seat, "WAIT_S", 0.2)
    monkeypatch.setattr(ClassFeed, "is_served", False)
    return rooms


async def _application(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 418, "headers": []})


def ask(
    query: str, token: str, meanwhile=None, path: str = PATH, feed: ClassFeed | None = None
) -> tuple[int, dict]:
    """The status and the body of an answer; meanwhile is done while the request waits."""
    messages = []

    async def send(message) -> None:
        messages.append(message)

    async def act() -> None:
        await asyncio.sleep(0.03)
        if meanwhile:
            meanwhile()

    async def both() -> None:
        headers = [(TOKEN_HEADER.encode(), token.encode())]
        request = {"path": path, "query_string": query.encode(), "headers": headers}
        scope = {"type": "http", "method": "GET"} | request
        await asyncio.gather((feed or ClassFeed(_application))(scope, None, send), act())

    with ThreadPoolExecutor() as threads:  # a browser keeps an event loop in the tests' own
        threads.submit(asyncio.run, both()).result()
    body = b"".join(message.get("body", b"") for message in messages[1:])
    return messages[0]["status"], json.loads(body or "{}")


def test_a_step_of_another_thread_is_heard_of_at_once(rooms, monkeypatch):
    """As the script of a teacher's page runs in one; nobody waits for the request's end."""
    monkeypatch.setattr(class_seat, "WAIT_S", 60)
    room = rooms.open()
    token = room.take_seat().token
    teacher = Thread(target=room.show, args=(("time", 1),))
    start = time.monotonic()
    answer = ask(f"code={room.code}&revision=0", token, teacher.start)
    assert answer == (200, {"revision": 1})
    assert time.monotonic() - start < 30
    assert not room._watchers


def test_what_a_browser_has_missed_it_hears_at_once(rooms, monkeypatch):
    monkeypatch.setattr(class_seat, "WAIT_S", 60)
    room = rooms.open()
    room.show(("time", 1))
    start = time.monotonic()
    assert ask(f"code={room.code}&revision=0", room.secret) == (200, {"revision": 1})
    assert time.monotonic() - start < 30


def test_a_wait_has_an_end(rooms):
    room = rooms.open()
    assert ask(f"code={room.code}&revision=0", room.secret) == (200, {"revision": 0})


def test_a_class_that_ends_is_heard_of(rooms):
    room = rooms.open()
    token = room.take_seat().token
    query = f"code={room.code}&revision=0"
    assert ask(query, token, lambda: rooms.close(room))[1] == {"revision": -1}


@pytest.mark.parametrize("code", ["", "ZZZZ", "%00", "K" * 4000, "../../x"])
def test_who_has_no_seat_hears_nothing(rooms, code):
    """Neither with a code that is made up, nor with that of a class and a token that is."""
    room = rooms.open()
    room.take_seat()
    assert ask(f"code={code}&revision=0", "made-up")[1] == {"revision": -1}
    assert ask(f"code={room.code}&revision=0", "made-up")[1] == {"revision": -1}


def test_one_seat_waits_but_a_few_times_at_once(rooms, monkeypatch):
    """More are refused at once, which the browser tries again later."""
    monkeypatch.setattr(class_seat, "MAX_WAITS", 0)
    room = rooms.open()
    assert ask(f"code={room.code}&revision=0", room.take_seat().token) == (429, {"waits": 0})


def test_who_has_waited_may_wait_again(rooms, monkeypatch):
    monkeypatch.setattr(class_seat, "MAX_WAITS", 1)
    room = rooms.open()
    token, feed = room.take_seat().token, ClassFeed(_application)
    query = f"code={room.code}&revision=0"
    assert [ask(query, token, feed=feed)[0] for _ in range(2)] == [200, 200]
    assert not feed._waits


def test_other_requests_are_the_applications(rooms):
    """And whoever serves a feed can open classes."""
    assert ask("", "", path="/workshop")[0] == 418
    assert ClassFeed.is_served
