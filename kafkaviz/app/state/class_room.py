"""A class: a room with a code, its seats, the step that its teacher shows, and what was answered.

All of it in the server's memory alone. Nobody says a name: who comes takes a seat with a number and
a random token, and whoever has that token is at that seat, after a reload too. The teacher has the
room's secret, which no link of a learner holds.

    rooms = ClassRooms()
    room = rooms.open()
    room.show(("three-files", 1))
    seat = rooms.find(room.code).take_seat()
    room.answer(seat.token, ("three-files", 1), "a")
    room.tally(("three-files", 1)).letters      # {"a": 1}
    room.reveal(("three-files", 1))

Rooms and seats are counted, and silence frees both: a stranger cannot fill the memory with them.
"""

import hmac
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message

StepKey = tuple[str, int]  # the name of a lesson, and one of its steps, from 1
Clock = Callable[[], float]

CODE_LETTERS = "ACDEFGHJKLMNPQRTUVWXY34679"  # no 0 O, 1 I, 2 Z, 5 S, 8 B
CODE_LENGTH = 4
MAX_ROOMS, MAX_SEATS = 24, 60
MAX_ANSWERS, MAX_TRIES = 400, 20  # of a seat, and of a seat at one task
ROOM_SILENCE_S = 4 * 3600.0  # after so long a room is forgotten
EMPTY_SILENCE_S = 600.0  # and one that nobody has joined
SEAT_SILENCE_S = 900.0  # after so long a seat may go to somebody else, where all are taken
PRESENT_S = 40.0  # who was not heard of for so long is away
STUCK_TRIES, STUCK_S = 3, 90.0
SOLVED = "x"  # the answer to a task; that to a question is the letter of its choice


class ClassFull(KafkavizError):
    """There is no room, or no seat, for one more."""


class StuckReason(Enum):
    """Why somebody may need the teacher."""

    HAND = "hand"  # they say so
    TRIES = "tries"  # wrong answers to the task, STUCK_TRIES or more
    LATE = "late"  # no answer after STUCK_S, when half of the class has one


@dataclass(frozen=True)
class StuckSeat:
    """A seat at which somebody may need the teacher.

    Attributes:
        tries: wrong answers to the task of the step.
    """

    number: int
    reason: StuckReason
    tries: int = 0


@dataclass(kw_only=True)
class Seat:
    """What is known of somebody in a class.

    Attributes:
        token: whoever has it is at this seat.
        seen_at: when the room last heard of them.
    """

    number: int
    token: str
    seen_at: float
    has_raised_hand: bool = False
    answers: dict[tuple[str, int, bool], str] = field(default_factory=dict)
    tries: dict[StepKey, set[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class StepTally:
    """The answers of a class at one step.

    Attributes:
        letters: how many chose which.
        solved: how many solved the task.
        tried: how many gave it wrong answers alone.
        seats: of those who are present or have answered.
    """

    letters: dict[str, int]
    solved: int
    tried: int
    seats: int

    @property
    def chosen(self) -> int:
        """How many have chosen an answer to the question."""
        return sum(self.letters.values())


@dataclass(frozen=True)
class ClassPosition:
    """What a teacher shows; replaced as a whole, so that who reads it gets parts of one moment.

    Attributes:
        step: None before the first.
        track: of the lessons, "" of all steps.
        revision: counts what changes everybody's page: the step, what is revealed.
    """

    step: StepKey | None = None
    track: str = ""
    revision: int = 0


class ClassRoom:
    """One class.

    Attributes:
        position: what its teacher shows by now.
    """

    def __init__(self, code: str, clock: Clock, *, is_permanent: bool = False) -> None:
        """An empty room.

        Args:
            is_permanent: silence empties it, and does not close it.
        """
        self.code, self.secret = code, secrets.token_urlsafe(16)
        self.is_permanent = is_permanent
        self.position = ClassPosition()
        self.is_closed = False
        self._clock, self._lock = clock, threading.RLock()
        self._seats: dict[str, Seat] = {}
        self._revealed_steps: set[StepKey] = set()
        self._heard_at = self._step_since = clock()
        self._watchers: list[Callable[[], object]] = []

    # ---- who is there

    def is_teacher(self, token: str) -> bool:
        """Whether a token is the room's secret."""
        return hmac.compare_digest(token.encode(), self.secret.encode())

    def take_seat(self) -> Seat:
        """A seat of its own for somebody who comes.

        Raises:
            ClassFull: all are taken by people who were here a moment ago.
        """
        with self._lock:
            now = self._hear()
            if len(self._seats) >= MAX_SEATS:
                silent = min(self._seats.values(), key=lambda seat: seat.seen_at)
                if now - silent.seen_at < SEAT_SILENCE_S:
                    raise ClassFull(message("class.no_seat", seats=MAX_SEATS))
                del self._seats[silent.token]
            numbers = {seat.number for seat in self._seats.values()}
            number = next(number for number in range(1, MAX_SEATS + 1) if number not in numbers)
            seat = Seat(number=number, token=secrets.token_urlsafe(16), seen_at=now)
            self._seats[seat.token] = seat
            return seat

    def seat(self, token: str) -> Seat | None:
        """The seat of a token, which is now heard of; None where it is of no seat."""
        with self._lock:
            seat = self._seats.get(token)
            if seat is not None:
                seat.seen_at = self._hear()
            return seat

    def leave(self, token: str) -> None:
        """Gives a seat back."""
        with self._lock:
            self._seats.pop(token, None)

    def hear_teacher(self) -> None:
        """Keeps the room: its teacher is here."""
        with self._lock:
            self._hear()

    def silence_s(self) -> float:
        """For how long nobody was heard of."""
        return self._clock() - self._heard_at

    def clear(self) -> None:
        """Forgets all seats, answers and steps."""
        with self._lock:
            self._seats.clear()
            self._revealed_steps.clear()
            self._move(ClassPosition())

    def close(self) -> None:
        """Ends the class: whoever still has this room sees that it is closed."""
        with self._lock:
            self.is_closed = True
            self.clear()

    @property
    def has_seats(self) -> bool:
        """Whether anybody has joined."""
        return bool(self._seats)

    # ---- what is shown

    def show(self, step: StepKey, track: str = "") -> ClassPosition:
        """Leads the class to a step, of a track of the lessons."""
        with self._lock:
            self._hear()
            if step != self.position.step:
                self._step_since = self._clock()
                for seat in self._seats.values():
                    seat.has_raised_hand = False
            if (step, track) != (self.position.step, self.position.track):
                self._move(ClassPosition(step, track))
            return self.position

    def reveal(self, step: StepKey) -> None:
        """Shows the answers of a step to all, and takes no more of them."""
        with self._lock:
            self._hear()
            if step not in self._revealed_steps and len(self._revealed_steps) < MAX_ANSWERS:
                self._revealed_steps.add(step)
                self._move(self.position)

    def is_revealed(self, step: StepKey) -> bool:
        """Whether the class has seen the answers of a step."""
        return step in self._revealed_steps

    @contextmanager
    def watched(self, watcher: Callable[[], object]) -> Generator[None, None, None]:
        """Calls a watcher at each new revision, in the thread of whoever makes it."""
        with self._lock:
            self._watchers.append(watcher)
        try:
            yield
        finally:
            with self._lock:
                self._watchers.remove(watcher)

    def _move(self, position: ClassPosition) -> None:
        """Makes a position the next revision, and tells who watches."""
        self.position = replace(position, revision=self.position.revision + 1)
        for watcher in self._watchers:
            watcher()

    # ---- what is answered

    def answer(self, token: str, step: StepKey, answer: str) -> None:
        """Keeps an answer: the letter of a choice, or SOLVED.

        Another to the same question takes its place, until it is revealed.
        """
        with self._lock:
            seat, key = self.seat(token), (*step, answer == SOLVED)
            if seat is None or step in self._revealed_steps:
                return
            if key in seat.answers or len(seat.answers) < MAX_ANSWERS:
                seat.answers[key] = answer
                seat.has_raised_hand = False

    def fail(self, token: str, step: StepKey, text: str) -> None:
        """Counts a wrong answer to a task; the same one again is not counted anew."""
        with self._lock:
            seat = self.seat(token)
            if seat is None or (step not in seat.tries and len(seat.tries) >= MAX_ANSWERS):
                return
            tries = seat.tries.setdefault(step, set())
            if len(tries) < MAX_TRIES:
                tries.add(hash(text))

    def raise_hand(self, token: str, *, is_raised: bool) -> None:
        """Says that somebody is stuck, or is no longer."""
        with self._lock:
            seat = self.seat(token)
            if seat is not None:
                seat.has_raised_hand = is_raised

    def tally(self, step: StepKey) -> StepTally:
        """The answers at a step."""
        with self._lock:
            letters = Counter(
                seat.answers[(*step, False)]
                for seat in self._seats.values()
                if (*step, False) in seat.answers
            )
            solved = sum((*step, True) in seat.answers for seat in self._seats.values())
            tried = sum(
                bool(seat.tries.get(step)) and (*step, True) not in seat.answers
                for seat in self._seats.values()
            )
            seats = sum(
                self._is_present(seat) or self._has_answered(seat, step)
                for seat in self._seats.values()
            )
            return StepTally(dict(letters), solved, tried, seats)

    def stuck_seats(self, *, has_question: bool, has_task: bool) -> list[StuckSeat]:
        """Who may need the teacher at the step that is shown, hands first.

        Args:
            has_question: whether the step asks to choose.
            has_task: whether it has a task.
        """
        with self._lock:
            step = self.position.step
            if step is None:
                return []
            present = [seat for seat in self._seats.values() if self._is_present(seat)]
            needed = [(*step, False)] * has_question + [(*step, True)] * has_task
            done = {seat.number for seat in present if all(key in seat.answers for key in needed)}
            is_late = self._clock() - self._step_since >= STUCK_S and 2 * len(done) >= len(present)
            stuck = []
            for seat in present:
                tries = len(seat.tries.get(step, ())) if (*step, True) not in seat.answers else 0
                if seat.has_raised_hand:
                    stuck.append(StuckSeat(seat.number, StuckReason.HAND, tries))
                elif self.is_revealed(step) or seat.number in done:
                    continue
                elif tries >= STUCK_TRIES:
                    stuck.append(StuckSeat(seat.number, StuckReason.TRIES, tries))
                elif is_late:
                    stuck.append(StuckSeat(seat.number, StuckReason.LATE, tries))
            order = list(StuckReason)
            return sorted(stuck, key=lambda seat: (order.index(seat.reason), seat.number))

    def _is_present(self, seat: Seat) -> bool:
        return self._clock() - seat.seen_at < PRESENT_S

    @staticmethod
    def _has_answered(seat: Seat, step: StepKey) -> bool:
        return any((*step, is_task) in seat.answers for is_task in (False, True))

    def _hear(self) -> float:
        self._heard_at = self._clock()
        return self._heard_at


class ClassRooms:
    """The classes of a server, by their codes."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._rooms: dict[str, ClassRoom] = {}

    def __len__(self) -> int:
        return len(self._rooms)

    def open(self, *, is_permanent: bool = False) -> ClassRoom:
        """A new room with a code of its own.

        Args:
            is_permanent: it stays as long as the server runs.

        Raises:
            ClassFull: there are MAX_ROOMS already.
        """
        with self._lock:
            self._sweep()
            if len(self._rooms) >= MAX_ROOMS:
                raise ClassFull(message("class.no_room", rooms=MAX_ROOMS))
            while (code := _random_code()) in self._rooms:
                pass
            room = self._rooms[code] = ClassRoom(code, self._clock, is_permanent=is_permanent)
            return room

    def find(self, text: str) -> ClassRoom | None:
        """The room of a code as somebody typed it."""
        with self._lock:
            self._sweep()
            return self._rooms.get(clean_code(text))

    def close(self, room: ClassRoom) -> None:
        """Ends a class and forgets it."""
        with self._lock:
            if self._rooms.get(room.code) is room:
                del self._rooms[room.code]
        room.close()

    def _sweep(self) -> None:
        """Forgets rooms that have been silent for long."""
        for code, room in list(self._rooms.items()):
            silence_s = room.silence_s()
            if room.is_permanent:
                if silence_s >= ROOM_SILENCE_S and room.has_seats:
                    room.clear()
            elif silence_s >= (ROOM_SILENCE_S if room.has_seats else EMPTY_SILENCE_S):
                del self._rooms[code]
                room.close()


def clean_code(text: str) -> str:
    """A code as it is kept: capital letters, without what people type between them."""
    return "".join(text[:40].upper().replace("-", " ").split())


def _random_code() -> str:
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
