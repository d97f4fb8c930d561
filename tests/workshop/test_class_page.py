"""A class on the Workshop's page without a browser: what its teacher sees, and what learners see."""

import re

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from kafkaviz import workshop
from kafkaviz.app import access
from kafkaviz.messages import say
from kafkaviz.workshop import class_bar, class_seat, class_start
from kafkaviz.workshop.class_room import MAX_ROOMS, MAX_SEATS, ClassRooms, StuckReason, StuckSeat
from kafkaviz.workshop.class_seat import ClassFeed
from kafkaviz.workshop.lab import break_it
from kafkaviz.workshop.page import FOLLOWER
from tests.support.pages import assert_no_exception, open_page, page_html, press_button, query_value

VERDICTS = (">Right<", ">Not so<")


@pytest.fixture(autouse=True)
def rooms(monkeypatch) -> ClassRooms:
    """No class of another test."""
    rooms = ClassRooms()
    for module in (class_seat, class_bar):
        monkeypatch.setattr(module, "ROOMS", rooms)
    monkeypatch.setattr(ClassFeed, "is_served", True)
    return rooms


def taught(**query: str) -> AppTest:
    """The page of a teacher who has opened a class at this address."""
    return press_button(open_page("workshop", **query), "kv_class_teach")


def joined(teacher: AppTest, **query: str) -> AppTest:
    """The page of a learner who has taken a seat."""
    code = query_value(teacher, workshop.CLASS)
    return press_button(open_page("workshop", **{"class": code} | query), "kv_class_seat")


def again(at: AppTest) -> AppTest:
    """The page after a rerun, as the feed of the class or a timer asks for it."""
    return assert_no_exception(at.run())


def strip(at: AppTest) -> str:
    """Returns the text of the class above the step."""
    texts = re.findall(r'<div class="kv-class">(.*?)</div>', page_html(at))
    return re.sub(r"\s+", " ", re.sub(r"<svg.*?</svg>|<[^>]+>", " ", " ".join(texts))).strip()


def heading(at: AppTest) -> str:
    return re.search(r"<h1>(.*?)</h1>", page_html(at))[1]


def keys(at: AppTest) -> set[str]:
    return {button.key for button in at.button}


def test_learners_go_where_the_teacher_goes():
    """A page that is at no other step follows, with the teacher's track."""
    teacher = taught(lesson="last-offset", at="1", track="short")
    learner = joined(teacher)
    assert heading(learner) == "When does an entry appear?"
    assert strip(learner).endswith("You are at seat 1 · With the teacher")
    press_button(teacher, "kv_next")
    assert heading(again(learner)) == "What the entry says"
    assert query_value(learner, "track") == "short"


@pytest.mark.parametrize(
    ("address", "url", "may_teach"),
    [
        (None, "http://127.0.0.1:8501/workshop", True),
        ("192.168.1.30", "http://192.168.1.20:8501/workshop", False),
        (None, "https://class.example.com/workshop", False),  # behind a proxy of this machine
    ],
)
def test_learners_are_not_offered_to_teach(monkeypatch, address, url, may_teach):
    monkeypatch.setattr(type(st.context), "ip_address", property(lambda _context: address))
    monkeypatch.setattr(type(st.context), "url", property(lambda _context: url))
    assert {"kv_class_join", "kv_class_teach"} <= keys(open_page("workshop"))
    monkeypatch.setenv(access.CLASS, "en")
    served_keys = keys(open_page("workshop"))
    assert "kv_class_join" in served_keys and ("kv_class_teach" in served_keys) == may_teach


def test_windows_of_a_teacher_follow_the_class():
    """And not each other: without a class they tell each other where they are."""

    def components(at: AppTest) -> set[str]:
        return {element.key for element in at.get("bidi_component")}

    assert FOLLOWER in components(open_page("workshop", lesson="last-offset", at="1"))
    first = taught(lesson="last-offset", at="1")
    assert FOLLOWER not in components(first)
    second = open_page("workshop", **{"class": query_value(first, workshop.CLASS)}, notes="1")
    second.session_state[workshop.CLASS_TOKENS] = first.session_state[workshop.CLASS_TOKENS]
    press_button(first, "kv_next")
    assert query_value(again(second), workshop.PART) == "2"
    assert FOLLOWER not in components(second)


def test_a_learner_breaks_a_copy_while_others_go_on(monkeypatch):
    """The lab is in no part of the page that waits for its turn, nor calls for the page anew."""
    turns = []
    monkeypatch.setattr(
        break_it, "render", lambda *_, **__: turns.append(class_bar._drawing_lock.locked())
    )
    teacher = taught(lesson="last-offset", at="1")
    learner = joined(teacher)
    learner.query_params["break"] = "1"
    again(learner)
    assert turns == [False]


def test_a_learner_may_look_elsewhere_and_come_back():
    """Where they went they stay, whatever the class does; one button leads back."""
    teacher = taught(lesson="last-offset", at="1")
    learner = joined(teacher)
    press_button(learner, "kv_go_5")
    assert "You are at a different step" in strip(learner)
    press_button(teacher, "kv_next")
    assert heading(again(learner)) == heading(open_page("workshop", lesson="time"))
    press_button(learner, "kv_class_back")
    assert heading(learner) == "What the entry says" and "With the teacher" in strip(learner)


def test_who_reads_the_glossary_is_left_to_it():
    teacher = taught(lesson="last-offset", at="1")
    learner = joined(teacher)
    press_button(learner, "kv_glossary_open")
    press_button(teacher, "kv_next")
    assert heading(again(learner)) == "Glossary"
    press_button(learner, "kv_word_back")
    assert heading(learner) == "What the entry says"


def test_answers_are_bars_before_they_are_revealed():
    """To the teacher; a learner sees that the answer is in, and neither bars nor what is right."""
    teacher = taught(lesson="last-offset", at="1")
    learners = [joined(teacher) for _ in range(3)]
    for learner, letter in zip(learners, "220", strict=True):
        press_button(learner, f"kv_choice_{letter}")
    html = page_html(again(teacher))
    assert "3 of 3 answered" in strip(teacher)
    assert "<li>A: 1</li><li>B: 0</li><li>C: 2</li>" in html
    assert ".st-key-kv_choice_2 { --kv-share: 66.7%; --kv-count: '2'; }" in html
    assert not any(verdict in page_html(at) for at in (teacher, *learners) for verdict in VERDICTS)
    assert not any("kv-class-counts" in page_html(at) for at in learners)
    assert "Your answer is in. The teacher will show the right one." in [
        element.value for element in learners[0].markdown
    ]
    told = [element.value for element in teacher.markdown]
    assert "Learners choose now. “Reveal to all” shows them the right answer." in told


def test_a_reveal_shows_all_what_is_right():
    """With the bars; an answer that comes later is not counted."""
    teacher = taught(lesson="last-offset", at="1")
    first, second = joined(teacher), joined(teacher)
    press_button(first, "kv_choice_2")
    press_button(teacher, "kv_class_reveal")
    assert ">Right<" in page_html(again(first))
    assert "<li>C: 1</li>" in page_html(first) and "<li>C: 1</li>" in page_html(again(second))
    press_button(second, "kv_choice_0")
    assert "<li>A: 0</li>" in page_html(again(teacher))
    assert "kv_class_reveal" not in keys(teacher)


@pytest.mark.nightly
def test_bars_can_wait_for_the_reveal():
    teacher = taught(lesson="last-offset", at="1")
    press_button(joined(teacher), "kv_choice_0")
    assert_no_exception(teacher.toggle(key="kv_class_bars").set_value(False).run())
    assert "kv-class-counts" not in page_html(teacher)
    press_button(teacher, "kv_class_reveal")
    assert "<li>A: 1</li>" in page_html(teacher)


def test_a_raised_hand_is_a_number_to_the_teacher():
    teacher = taught(lesson="last-offset", at="1")
    joined(teacher)
    learner = joined(teacher)
    press_button(learner, "kv_class_stuck")
    assert strip(again(teacher)).endswith("seat 2 asks for help")
    press_button(learner, "kv_class_stuck")
    assert "asks for help" not in strip(again(teacher))


def test_a_wrong_answer_to_a_task_is_counted():
    teacher = taught(lesson="three-files", at="3")
    learner = joined(teacher)
    for text in ("1 1", "2 2", "2 2", "3 3"):
        field = learner.text_input(key="kv_given_three-files_3")
        assert_no_exception(field.input(text).run())
    assert strip(again(teacher)).endswith("seat 1: 3 wrong answers")
    field = learner.text_input(key="kv_given_three-files_3")
    assert_no_exception(field.input("10948 4179").run())
    assert strip(again(teacher)).endswith("1 of 1 solved it")


def test_a_class_that_ends_says_so_to_its_learners():
    teacher = taught(lesson="last-offset", at="1")
    learner = joined(teacher)
    code = query_value(teacher, "class")
    assert not learner.get("download_button")
    press_button(teacher, "kv_class_end_now")
    assert strip(teacher) == "" and query_value(teacher, "class") is None
    assert strip(again(learner)).startswith(f"This server has no class {code} The class is over")
    press_button(learner, "kv_class_leave")
    assert strip(learner) == "" and query_value(learner, "class") is None
    assert learner.get("download_button")


@pytest.mark.parametrize(
    "code",
    [
        "<script>alert(1)</script>",
        pytest.param("K" * 5000, marks=pytest.mark.nightly),
        pytest.param("%00\n", marks=pytest.mark.nightly),
    ],
)
def test_a_code_that_is_made_up_is_one_line(code):
    at = open_page("workshop", **{"class": code})
    assert strip(at).startswith("This server has no class ") and len(strip(at)) < 130
    assert "<script>alert" not in page_html(at).lower()
    assert "kv_class_seat" not in keys(at)


def test_a_code_that_was_typed_wrong_is_one_line():
    at = open_page("workshop")
    at.text_input(key="kv_class_code").input("zz zz")
    press_button(at, "kv_class_join")
    assert "This server has no class ZZZZ" in page_html(at)


def test_a_class_or_a_server_that_is_full_says_so(rooms):
    teacher = taught(lesson="last-offset", at="1")
    room = rooms.find(query_value(teacher, "class"))
    for _ in range(MAX_SEATS):
        room.take_seat()
    assert strip(joined(teacher)).endswith("All 60 seats of this class are taken")
    for _ in range(MAX_ROOMS - 1):
        rooms.open()
    assert "This server already has 24 classes" in page_html(taught())


@pytest.mark.nightly
def test_streamlits_own_command_opens_no_class(monkeypatch):
    monkeypatch.setattr(ClassFeed, "is_served", False)
    at = open_page("workshop")
    assert "kv_class_teach" not in keys(at)
    assert "To teach a class, start the app with `kafkaviz app`" in [
        element.value for element in at.markdown
    ]


@pytest.mark.nightly
def test_a_class_speaks_chinese(chinese):
    teacher = taught(lesson="last-offset", at="1", lang="zh")
    learner = joined(teacher, lang="zh")
    assert strip(learner).endswith("你在 1 号座 · 跟着老师")
    assert "1 个座位" in strip(again(teacher))


def code_dialog(at: AppTest) -> tuple[list[str], list[str]]:
    """Returns the texts and the addresses in the teacher's dialog."""
    press_button(at, "kv_class_show")
    return [element.value for element in at.markdown], [element.value for element in at.code]


def test_the_code_is_shown_with_the_address_that_learners_open(monkeypatch):
    url = "https://class.example.com/workshop?lesson=time"
    monkeypatch.setattr(type(st.context), "url", property(lambda _context: url))
    teacher = taught(lesson="last-offset", at="1")
    code = query_value(teacher, "class")
    texts, addresses = code_dialog(teacher)
    assert addresses == [f"https://class.example.com/workshop?class={code}"]
    assert say("class.code_words") in texts
    assert f'<div class="kv-class-code">{code}</div>' in page_html(teacher)
    assert f'src="{class_start.qr_uri(addresses[0])}"' in page_html(teacher)


def test_the_addresses_of_the_machine_are_those_of_a_local_teacher(monkeypatch):
    """With the port and path of the page; the picture is of the first."""
    url, reached = "http://localhost:8600/workshop", ["10.0.0.7", "10.1.0.7"]
    monkeypatch.setattr(type(st.context), "url", property(lambda _context: url))
    monkeypatch.setattr(access, "is_reached_by_others", lambda: True)
    monkeypatch.setattr(class_start, "reachable_addresses", lambda listening: reached)
    teacher = taught(lesson="last-offset", at="1")
    code = query_value(teacher, "class")
    _, addresses = code_dialog(teacher)
    assert addresses == [f"http://{each}:8600/workshop?class={code}" for each in reached]


def test_a_server_that_nobody_else_reaches_names_the_command():
    texts, addresses = code_dialog(taught(lesson="last-offset", at="1"))
    assert addresses == []
    assert say("class.code_alone", command=f"`{class_bar.COMMAND}`") in texts


def test_a_code_that_was_typed_takes_a_seat():
    """One, by the field and the button at once, however it was typed; an empty field does nothing."""
    teacher = taught(lesson="last-offset", at="1")
    code = query_value(teacher, "class")
    learner = press_button(open_page("workshop", lesson="last-offset", at="1"), "kv_class_join")
    assert query_value(learner, "class") is None
    learner.text_input(key="kv_class_code").input(f" {code[:2].lower()} {code[2:]}")
    press_button(learner, "kv_class_join")
    assert query_value(learner, "class") == code
    assert strip(learner).endswith("You are at seat 1 · With the teacher")


@pytest.mark.parametrize("is_known", [True, False])
def test_a_browser_that_was_reloaded_has_its_seat_by_its_token(monkeypatch, is_known):
    """The browser has it, the session that is new has not; one of another class is none."""
    teacher = taught(lesson="last-offset", at="1")
    code, tokens = query_value(teacher, "class"), joined(teacher).session_state
    token = tokens[workshop.CLASS_TOKENS][code] if is_known else "made-up"
    monkeypatch.setattr(class_bar, "_class_link", lambda **link: link["on_token_change"]())
    reloaded = open_page("workshop", **{"class": code, "lesson": "last-offset", "at": "1"})
    assert "kv_class_seat" in keys(reloaded)
    reloaded.session_state["kv_class_link"] = {"token": token}
    assert ("You are at seat 1" in strip(again(again(reloaded)))) == is_known
    assert (workshop.CLASS_TOKENS in reloaded.session_state) == is_known


def test_many_raised_hands_are_the_first_and_how_many_more():
    stuck = [StuckSeat(number, StuckReason.HAND) for number in range(1, 8)]
    text = class_bar._stuck_text(stuck)
    assert text.split(" · ") == [
        *(say("class.stuck_hand", number=number, tries=0) for number in range(1, 5)),
        say("class.stuck_more", count=3),
    ]


def test_a_learner_whose_class_is_over_sees_all_of_the_page_anew(monkeypatch):
    """A part of it could not say so: it has no way on."""
    reruns = []
    monkeypatch.setattr(class_seat, "current", lambda: None)
    monkeypatch.setattr(class_bar.st, "rerun", lambda *parts: reruns.append(parts))
    class_bar._run_part(lambda: None)
    assert reruns == [()]


@pytest.mark.parametrize(("is_learner", "reruns"), [(True, [(class_bar.PARTS,)]), (False, [])])
def test_a_class_that_goes_on_runs_the_parts_of_a_learner(monkeypatch, is_learner, reruns):
    """A teacher's page asks the room by itself."""
    calls = []
    monkeypatch.setattr(class_seat, "is_learner", lambda: is_learner)
    monkeypatch.setattr(class_bar.st, "rerun", lambda *parts: calls.append(parts))
    class_bar._rerun_parts()
    assert calls == reruns


def test_the_end_page_counts_the_right_answers_of_the_class():
    """Of two learners, one is right at 8.5; nobody has answered 1.1."""
    teacher = taught(lesson="after-a-crash", at="5", track="short")
    for choice in (0, 1):
        press_button(joined(teacher), f"kv_choice_{choice}")
    page = page_html(press_button(teacher, "kv_next"))
    rows = re.findall(r"<td[^>]*>(\d\.\d) [^<]*</td><td[^>]*>\w+</td><td[^>]*>(\d of \d)", page)
    assert len(rows) == 20
    assert dict(rows[:1]) == {"1.1": "0 of 2"}
    assert ("8.5", "1 of 2") in rows
