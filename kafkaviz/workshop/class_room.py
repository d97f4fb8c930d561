"""A class: a room with a code, its seats, the teacher's current step, and the answers.

Everything is kept in the server's memory only. Learners give no name: each takes a seat with a
number and a random token. The token identifies the learner, also after a reload. The teacher has
the room's secret, which no learner's link contains.

    rooms = ClassRooms()
    room = rooms.open()
    room.show(("three-files", 1))
    seat = rooms.find(room.code).take_seat()
    room.answer(seat.token, ("three-files", 1), "a")
    room.tally(("three-files", 1)).letters      # {"a": 1}
    room.reveal(("three-files", 1))

Inactive rooms are closed; a permanent room is emptied instead. If a room is full, inactive seats
are reused.
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

StepKey = tuple[str, int]  # the name of a lesson and the number of a step, from 1
Clock = Callable[[], float]

# without characters that look similar: 0 O, 1 I, 2 Z, 5 S, 8 B
CODE_LETTERS = "ACDEFGHJKLMNPQRTUVWXY34679"
CODE_LENGTH = 4
MAX_ROOMS = 24
MAX_SEATS = 60
MAX_ANSWERS = 400  # per seat
MAX_TRIES = 20  # per seat and task
ROOM_SILENCE_S = 4 * 3600.0  # a room without activity for this time is closed
EMPTY_SILENCE_S = 600.0  # a room in which no seat is taken is closed after this time
# if all seats are taken, a seat without activity for this time is given to the next learner
SEAT_SILENCE_S = 900.0
PRESENT_S = 40.0  # after this time without activity, a learner counts as absent
STUCK_TRIES = 3
STUCK_S = 90.0
SOLVED = "x"  # the stored answer for a solved task; for a question it is a letter


class ClassFull(KafkavizError):
    """Raised if no room is free (MAX_ROOMS), or no seat in a room is free (MAX_SEATS)."""


class StuckReason(Enum):
    HAND = "hand"  # the learner raised a hand
    TRIES = "tries"  # STUCK_TRIES or more wrong answers to the task
    LATE = "late"  # no answer after STUCK_S, and at least half of the class has answered


@dataclass(frozen=True)
class StuckSeat:
    """A seat whose learner may need the teacher. `tries` counts different wrong answers."""

    number: int
    reason: StuckReason
    tries: int = 0


@dataclass(kw_only=True)
class Seat:
    """A learner's seat and answers."""

    number: int
    token: str
    seen_at: float
    has_raised_hand: bool = False
    # a letter or SOLVED, by (lesson, step number, whether it is a task)
    answers: dict[tuple[str, int, bool], str] = field(default_factory=dict)
    tries: dict[StepKey, set[int]] = field(default_factory=dict)  # hashes of wrong answers, by task


@dataclass(frozen=True)
class StepTally:
    """The answers of a class at one step, as numbers of learners."""

    letters: dict[str, int]  # learners per chosen letter
    solved: int
    tried: int  # learners with only wrong answers to the task
    seats: int  # learners who are present or have answered

    @property
    def chosen(self) -> int:
        return sum(self.letters.values())


@dataclass(frozen=True)
class ClassPosition:
    """The step that the teacher shows."""

    step: StepKey | None = None  # None until the teacher shows a step
    track: str = ""  # "short", or "" for the track of all steps
    revision: int = 0  # rises by 1 with each new step or track, and with each reveal of answers


class ClassRoom:
    def __init__(self, code: str, clock: Clock, *, is_permanent: bool = False) -> None:
        self.code = code
        self.secret = secrets.token_urlsafe(16)
        self.is_permanent = is_permanent
        self.position = ClassPosition()
        self.is_closed = False
        self._clock = clock
        self._lock = threading.RLock()
        self._seats: dict[str, Seat] = {}
        self._revealed_steps: set[StepKey] = set()
        self._active_at = self._step_since = clock()
        self._watchers: list[Callable[[], object]] = []

    # ---- seats

    def is_teacher(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.secret.encode())

    def take_seat(self) -> Seat:
        """Gives a new learner a free seat, or the seat that has been inactive for longest.

        Raises ClassFull if all seats are taken and were active within SEAT_SILENCE_S.
        """
        with self._lock:
            now = self._note_activity()
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
        """Returns the seat with this token, if any, and marks the seat as active."""
        with self._lock:
            seat = self._seats.get(token)
            if seat is not None:
                seat.seen_at = self._note_activity()
            return seat

    def leave(self, token: str) -> None:
        with self._lock:
            self._seats.pop(token, None)

    def heartbeat(self) -> None:
        with self._lock:
            self._note_activity()

    def idle_s(self) -> float:
        return self._clock() - self._active_at

    def clear(self) -> None:
        with self._lock:
            self._seats.clear()
            self._revealed_steps.clear()
            self._move(ClassPosition())

    def close(self) -> None:
        """Ends the class and sets `is_closed` for sessions that still hold this room."""
        with self._lock:
            self.is_closed = True
            self.clear()

    @property
    def has_seats(self) -> bool:
        return bool(self._seats)

    # ---- the position

    def show(self, step: StepKey, track: str = "") -> ClassPosition:
        with self._lock:
            self._note_activity()
            if step != self.position.step:
                self._step_since = self._clock()
                for seat in self._seats.values():
                    seat.has_raised_hand = False
            if (step, track) != (self.position.step, self.position.track):
                self._move(ClassPosition(step, track))
            return self.position

    def reveal(self, step: StepKey) -> None:
        """Shows the right answers of a step to all learners.

        From then on, the answers that learners give to this step are ignored.
        """
        with self._lock:
            self._note_activity()
            if step not in self._revealed_steps and len(self._revealed_steps) < MAX_ANSWERS:
                self._revealed_steps.add(step)
                self._move(self.position)

    def is_revealed(self, step: StepKey) -> bool:
        return step in self._revealed_steps

    @contextmanager
    def watched(self, watcher: Callable[[], object]) -> Generator[None, None, None]:
        """Calls `watcher` each time `position` is replaced, until the context ends.

        The thread that replaces `position` makes the call.
        """
        with self._lock:
            self._watchers.append(watcher)
        try:
            yield
        finally:
            with self._lock:
                self._watchers.remove(watcher)

    def _move(self, position: ClassPosition) -> None:
        self.position = replace(position, revision=self.position.revision + 1)
        for watcher in self._watchers:
            watcher()

    # ---- the answers

    def answer(self, token: str, step: StepKey, answer: str) -> None:
        """Stores an answer: the letter of a choice, or SOLVED.

        An answer replaces the learner's earlier answer to the same question. After the reveal,
        answers are ignored.
        """
        with self._lock:
            seat = self.seat(token)
            key = (*step, answer == SOLVED)
            if seat is None or step in self._revealed_steps:
                return
            if key in seat.answers or len(seat.answers) < MAX_ANSWERS:
                seat.answers[key] = answer
                seat.has_raised_hand = False

    def fail(self, token: str, step: StepKey, text: str) -> None:
        """Stores a wrong answer to a task. The same wrong answer counts once."""
        with self._lock:
            seat = self.seat(token)
            if seat is None or (step not in seat.tries and len(seat.tries) >= MAX_ANSWERS):
                return
            tries = seat.tries.setdefault(step, set())
            if len(tries) < MAX_TRIES:
                tries.add(hash(text))

    def raise_hand(self, token: str, *, is_raised: bool) -> None:
        with self._lock:
            seat = self.seat(token)
            if seat is not None:
                seat.has_raised_hand = is_raised

    def tally(self, step: StepKey) -> StepTally:
        with self._lock:
            seats = self._seats.values()
            question = (*step, False)
            task = (*step, True)
            letters = Counter(seat.answers[question] for seat in seats if question in seat.answers)
            return StepTally(
                letters=dict(letters),
                solved=sum(task in seat.answers for seat in seats),
                tried=sum(
                    bool(seat.tries.get(step)) and task not in seat.answers for seat in seats
                ),
                seats=sum(
                    self._is_present(seat) or not seat.answers.keys().isdisjoint((question, task))
                    for seat in seats
                ),
            )

    def stuck_seats(self, *, has_question: bool, has_task: bool) -> list[StuckSeat]:
        """Returns learners who may need help at the current step; raised hands come first."""
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

    def _note_activity(self) -> float:
        self._active_at = self._clock()
        return self._active_at


class ClassRooms:
    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rooms: dict[str, ClassRoom] = {}

    def __len__(self) -> int:
        return len(self._rooms)

    def open(self, *, is_permanent: bool = False) -> ClassRoom:
        """Opens a room with a new code. Raises ClassFull if there are already MAX_ROOMS rooms."""
        with self._lock:
            self._close_inactive()
            if len(self._rooms) >= MAX_ROOMS:
                raise ClassFull(message("class.no_room", rooms=MAX_ROOMS))
            code = ""
            while not code or code in self._rooms:
                code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
            room = self._rooms[code] = ClassRoom(code, self._clock, is_permanent=is_permanent)
            return room

    def find(self, text: str) -> ClassRoom | None:
        with self._lock:
            self._close_inactive()
            return self._rooms.get(clean_code(text))

    def close(self, room: ClassRoom) -> None:
        with self._lock:
            if self._rooms.get(room.code) is room:
                del self._rooms[room.code]
        room.close()

    def _close_inactive(self) -> None:
        for code, room in list(self._rooms.items()):
            idle_s = room.idle_s()
            if room.is_permanent:
                if idle_s >= ROOM_SILENCE_S and room.has_seats:
                    room.clear()
            elif idle_s >= (ROOM_SILENCE_S if room.has_seats else EMPTY_SILENCE_S):
                del self._rooms[code]
                room.close()


def clean_code(text: str) -> str:
    """Returns a typed code in capitals without spaces and hyphens: "KQ7R" for "kq-7r"."""
    return "".join(text[:40].upper().replace("-", " ").split())
