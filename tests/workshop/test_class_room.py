"""A class without its pages: seats, answers, who is stuck, and what a stranger cannot do."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kafkaviz.workshop import class_room
from kafkaviz.workshop.class_room import (
    CODE_LETTERS,
    EMPTY_SILENCE_S,
    MAX_ROOMS,
    MAX_SEATS,
    MAX_TRIES,
    PRESENT_S,
    ROOM_SILENCE_S,
    SEAT_SILENCE_S,
    SOLVED,
    STUCK_S,
    ClassFull,
    ClassRooms,
    StuckReason,
    StuckSeat,
)

STEP, NEXT_STEP = ("three-files", 1), ("three-files", 2)


class _Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock():
    return _Clock()


@pytest.fixture
def rooms(clock):
    return ClassRooms(clock)


@pytest.fixture
def room(rooms):
    room = rooms.open()
    room.show(STEP)
    return room


def test_a_code_is_short_and_reads_as_it_is(rooms):
    """Four letters, none that is taken for another."""
    codes = {rooms.open().code for _ in range(MAX_ROOMS)}
    assert len(codes) == MAX_ROOMS
    assert all(len(code) == 4 and set(code) <= set(CODE_LETTERS) for code in codes)
    assert not set("0O1I2Z5S8B") & set(CODE_LETTERS)


def test_a_code_is_found_as_people_type_it(rooms):
    room = rooms.open()
    assert rooms.find(f" {room.code[:2].lower()}-{room.code[2:].lower()} ") is room
    assert rooms.find("none") is None


def test_who_watches_a_room_is_told_of_each_revision(room):
    revisions = []
    with room.watched(lambda: revisions.append(room.position.revision)):
        for show in (room.show, room.reveal, room.show, room.reveal):
            show(STEP)
        room.take_seat()
        room.show(("time", 2))
        room.close()
    room.show(STEP)
    assert revisions == [2, 3, 4]


def test_who_watches_a_room_knows_its_end(rooms, room):
    is_closed = []
    with room.watched(lambda: is_closed.append(room.is_closed)):
        rooms.close(room)
    assert is_closed == [True]


def test_two_teachers_have_two_rooms(rooms):
    room, other = rooms.open(), rooms.open()
    assert room.is_teacher(room.secret)
    assert not room.is_teacher(other.secret)
    assert not room.is_teacher(room.take_seat().token)
    assert not room.is_teacher("ä")


def test_seats_are_numbered_and_kept(room):
    first, second = room.take_seat(), room.take_seat()
    assert (first.number, second.number) == (1, 2)
    assert room.seat(second.token) is second
    room.leave(first.token)
    assert room.seat(first.token) is None
    assert room.take_seat().number == 1
    assert len(second.token) >= 20


def test_a_room_has_so_many_seats(room, clock):
    seats = [room.take_seat() for _ in range(MAX_SEATS)]
    with pytest.raises(ClassFull, match="60 seats"):
        room.take_seat()
    clock.now_s += SEAT_SILENCE_S
    for seat in seats[1:]:
        room.seat(seat.token)
    assert room.take_seat().number == 1
    assert room.seat(seats[0].token) is None


def test_a_server_has_so_many_rooms(rooms):
    for _ in range(MAX_ROOMS):
        rooms.open()
    with pytest.raises(ClassFull, match="24 classes"):
        rooms.open()


def test_a_room_is_forgotten_after_silence(rooms, clock):
    empty, taught = rooms.open(), rooms.open()
    token = taught.take_seat().token
    clock.now_s += EMPTY_SILENCE_S
    assert rooms.find(empty.code) is None
    assert empty.is_closed
    clock.now_s += ROOM_SILENCE_S - 1
    taught.seat(token)
    clock.now_s += ROOM_SILENCE_S - 1
    assert rooms.find(taught.code) is taught
    clock.now_s += 1
    assert rooms.find(taught.code) is None


def test_the_room_of_the_server_is_emptied_and_stays(rooms, clock):
    """Its code was printed at the start."""
    room = rooms.open(is_permanent=True)
    token = room.take_seat().token
    room.show(STEP)
    clock.now_s += ROOM_SILENCE_S
    assert rooms.find(room.code) is room
    assert room.seat(token) is None
    assert room.position.step is None


def test_a_class_that_ends_is_gone(rooms, room):
    revision = room.position.revision
    rooms.close(room)
    assert rooms.find(room.code) is None
    assert room.is_closed
    assert room.position.revision > revision


def test_a_revision_counts_what_everybody_sees(room):
    token, revision = room.take_seat().token, room.position.revision
    room.answer(token, STEP, "a")
    room.show(STEP)
    assert room.position.revision == revision
    room.reveal(STEP)
    room.reveal(STEP)
    assert room.position.revision == revision + 1
    room.show(NEXT_STEP)
    assert room.position.revision == revision + 2
    room.show(NEXT_STEP, "short")
    assert room.position.revision == revision + 3


def test_answers_are_counted_by_letter(room):
    """The last one of a seat counts, until they are revealed; of a stranger's token none."""
    tokens = [room.take_seat().token for _ in range(4)]
    for token, letter in zip(tokens, "abb", strict=False):
        room.answer(token, STEP, letter)
    room.answer(tokens[0], STEP, "b")
    room.answer("no token", STEP, "c")
    assert room.tally(STEP).letters == {"b": 3}
    assert (room.tally(STEP).chosen, room.tally(STEP).seats) == (3, 4)
    room.reveal(STEP)
    room.answer(tokens[3], STEP, "c")
    assert room.tally(STEP).letters == {"b": 3}
    assert room.tally(NEXT_STEP).letters == {}


def test_a_task_is_solved_or_tried(room):
    tokens = [room.take_seat().token for _ in range(3)]
    room.answer(tokens[0], STEP, "a")
    room.fail(tokens[0], STEP, "1")
    room.answer(tokens[0], STEP, SOLVED)
    room.fail(tokens[1], STEP, "1")
    tally = room.tally(STEP)
    assert (tally.letters, tally.solved, tally.tried) == ({"a": 1}, 1, 1)


def test_who_went_away_counts_only_with_an_answer(room, clock):
    room.answer(room.take_seat().token, STEP, "a")
    room.take_seat()
    clock.now_s += PRESENT_S
    assert room.tally(STEP).seats == 1


def _stuck(room) -> list[StuckSeat]:
    return room.stuck_seats(has_question=True, has_task=False)


def test_a_raised_hand_is_seen_until_an_answer(room):
    token = room.take_seat().token
    for end in (
        lambda: room.raise_hand(token, is_raised=False),
        lambda: room.answer(token, STEP, "a"),
        lambda: room.show(NEXT_STEP),
    ):
        room.raise_hand(token, is_raised=True)
        assert _stuck(room) == [StuckSeat(1, StuckReason.HAND)]
        end()
        assert _stuck(room) == []


def test_wrong_answers_to_a_task_are_seen(room):
    """Three different ones; the same one again, as each run of a page says it, is one."""
    token = room.take_seat().token
    for text in ("1", "1", "2"):
        room.fail(token, STEP, text)
    assert room.stuck_seats(has_question=False, has_task=True) == []
    room.fail(token, STEP, "3")
    stuck = room.stuck_seats(has_question=False, has_task=True)
    assert stuck == [StuckSeat(1, StuckReason.TRIES, 3)]
    room.answer(token, STEP, SOLVED)
    assert room.stuck_seats(has_question=False, has_task=True) == []


def test_who_is_late_is_seen_when_half_have_answered(room, clock):
    """After a while at the step, not before; not when it is revealed; not who is away."""
    tokens = [room.take_seat().token for _ in range(4)]
    room.answer(tokens[0], STEP, "a")
    clock.now_s += STUCK_S
    for token in tokens[:3]:
        room.seat(token)
    assert _stuck(room) == []
    room.answer(tokens[1], STEP, "a")
    assert _stuck(room) == [StuckSeat(3, StuckReason.LATE)]
    room.reveal(STEP)
    assert _stuck(room) == []


def test_a_step_that_asks_nothing_leaves_nobody_late(room, clock):
    room.take_seat()
    clock.now_s += STUCK_S
    room.heartbeat()
    assert room.stuck_seats(has_question=False, has_task=False) == []


def test_tries_of_one_seat_are_bounded(room):
    """A learner who types a thousand answers fills nothing."""
    seat = room.take_seat()
    for number in range(1000):
        room.fail(seat.token, STEP, str(number))
        room.fail(seat.token, ("lesson", number), "1")
    assert len(seat.tries[STEP]) == MAX_TRIES
    assert len(seat.tries) == class_room.MAX_ANSWERS


def test_many_learners_at_once_lose_no_answer(room):
    """Each page runs in a thread of its own."""
    tokens = [room.take_seat().token for _ in range(20)]

    def answer(token: str) -> None:
        for number in range(50):
            room.answer(token, ("lesson", number), "ab"[number % 2])

    with ThreadPoolExecutor(len(tokens)) as threads:
        list(threads.map(answer, tokens))
    assert [room.tally(("lesson", number)).chosen for number in range(50)] == [20] * 50


def test_a_step_is_read_with_its_own_track(room):
    """While a teacher changes both, and ends the class."""
    before, seen = room.position, set()

    def lead() -> None:
        for number in range(3000):
            room.show(("lesson", number % 2), ("", "short")[number % 2])
        room.close()

    teacher = threading.Thread(target=lead)
    teacher.start()
    while teacher.is_alive():
        position = room.position
        seen.add((position.step, position.track))
    teacher.join()
    first = (before.step, before.track)
    assert seen <= {first, (None, ""), (("lesson", 0), ""), (("lesson", 1), "short")}
    assert room.position.revision == before.revision + 3001


def test_who_comes_at_once_sits_alone(room):
    """Sixty pages that take a seat together have sixty numbers, while a teacher counts them."""
    seats, tallies, start = [], [], threading.Barrier(MAX_SEATS + 1)

    def join() -> None:
        start.wait()
        seats.append(room.take_seat())

    def count() -> None:
        start.wait()
        while len(tallies) < 200:
            tallies.append(room.tally(STEP).seats)
            room.stuck_seats(has_question=True, has_task=True)

    with ThreadPoolExecutor(MAX_SEATS + 1) as threads:
        done = [threads.submit(visit) for visit in (count, *[join] * MAX_SEATS)]
    assert [visit.result() for visit in done] == [None] * len(done)
    assert sorted(seat.number for seat in seats) == [*range(1, MAX_SEATS + 1)]
    assert len({seat.token for seat in seats}) == MAX_SEATS
    assert tallies == sorted(tallies) and room.tally(STEP).seats == MAX_SEATS


class _School(RuleBasedStateMachine):
    """Whatever visitors do in whatever order, a server holds so much and no more."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = _Clock()
        self.rooms = ClassRooms(self.clock)
        self.room_list, self.tokens = [], {}

    @rule()
    def open(self):
        try:
            self.room_list.append(self.rooms.open())
        except ClassFull:
            assert len(self.rooms) == MAX_ROOMS

    @precondition(lambda self: self.room_list)
    @rule(data=strategies.data(), count=strategies.integers(1, 30))
    def join(self, data, count):
        room = data.draw(strategies.sampled_from(self.room_list))
        for _ in range(count):
            try:
                self.tokens[room.take_seat().token] = room
            except ClassFull:
                break

    @precondition(lambda self: self.tokens)
    @rule(data=strategies.data(), letter=strategies.sampled_from(["a", "b", SOLVED]))
    def answer(self, data, letter):
        token = data.draw(strategies.sampled_from(list(self.tokens)))
        self.tokens[token].answer(token, STEP, letter)

    @precondition(lambda self: self.room_list)
    @rule(data=strategies.data())
    def reveal(self, data):
        room = data.draw(strategies.sampled_from(self.room_list))
        revision, before = room.position.revision, room.tally(STEP).letters
        room.reveal(STEP)
        assert room.is_revealed(STEP)
        assert room.position.revision >= revision
        assert room.tally(STEP).letters == before

    @rule(seconds=strategies.sampled_from([1.0, PRESENT_S, SEAT_SILENCE_S, ROOM_SILENCE_S]))
    def wait(self, seconds):
        self.clock.now_s += seconds
        self.rooms.find("")

    @invariant()
    def is_bounded(self):
        assert len(self.rooms) <= MAX_ROOMS
        for room in self.room_list:
            tally = room.tally(STEP)
            assert tally.chosen <= tally.seats <= MAX_SEATS


TestSchool = _School.TestCase
TestSchool.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
