"""The Workshop page without a browser: its words, what a choice and an answer change, both
languages, a lesson that was dropped in.
"""

import re
from collections.abc import Sequence
from html import escape, unescape
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.messages import say, text_in
from kafkaviz.workshop import lessons
from kafkaviz.workshop.lessons import tasks
from kafkaviz.workshop.lessons.grammar import LessonBlock
from tests.support.pages import (
    ROOT,
    assert_no_exception,
    open_page,
    page_html,
    press_button,
    query_value,
)
from tests.workshop import lesson_text
from tests.workshop.lesson_text import GOOD

LANGUAGES = ["en", pytest.param("zh", marks=pytest.mark.nightly)]
# the stepper of these steps has another target, 21 and 3
OF_ANOTHER_TARGET = {("last-offset", 3, "838")} | {
    ("binary-search", 2, text) for text in ("byte 0", "字节 0")
}


def page(**query: str) -> AppTest:
    return open_page("workshop", **query)


def text(at: AppTest) -> str:
    """All Markdown of the page."""
    return "\n".join(element.value for element in at.markdown)


def give(at: AppTest, answer: str) -> AppTest:
    """Types or chooses an answer to the exercise."""
    controls = (*at.text_input, *at.segmented_control)
    control = next(control for control in controls if control.key.startswith("kv_given_"))
    return assert_no_exception(control.set_value(answer).run())


def place(at: AppTest) -> tuple[str | None, str | None]:
    """Returns the lesson and the step in the address."""
    return query_value(at, "lesson"), query_value(at, "at")


def test_the_page_as_it_opens():
    """The first step of the first lesson, all lessons above it, the figure before its answer."""
    at = page()
    assert "<h1>A log is cut into segments</h1>" in page_html(at)
    assert "Lesson 1 of 10, step 1 of 5" in page_html(at)
    labels = [at.button(key=f"kv_go_{number}").label for number in range(10)]
    assert labels == [lesson.short for lesson in lessons.lessons("en")[0]]
    assert "4 segments of heartbeat-0" in page_html(at)
    assert "✓ 20\u202f000" not in page_html(at)
    assert "Once you have answered: the segment that is searched" in page_html(at)
    assert at.button(key="kv_back").disabled and at.button(key="kv_next").disabled
    assert "Often said" not in page_html(at) and "**floor**" not in text(at)  # either would tell


def test_a_figure_waits_for_the_task():
    """The bytes are there to be decoded, and no field of them is named before."""
    at = page(lesson="three-files", at="3")
    assert "00 00 00 2b 00 00 10 53" in page_html(at)
    assert "Once you have solved the exercise: each field" in page_html(at)
    assert "Once you have solved" not in page_html(give(at, "10948 4179"))


def test_a_choice_reveals_and_is_kept_in_the_address():
    """Wrong first, then right; the figure comes, the next step is free."""
    at = press_button(page(), "kv_choice_1")
    assert "Not right" in page_html(at) and "✓ 20\u202f000" in page_html(at)
    assert "not above 20000 is 10905: the **floor**" in text(at)
    assert query_value(at, "answers") == "three-files.1b" and not at.button(key="kv_next").disabled
    at = press_button(at, "kv_choice_0")
    assert ">Right<" in page_html(at) and "1 of 67 answered" in page_html(at)
    assert query_value(at, "answers") == "three-files.1a"
    at = press_button(at, "kv_next")
    assert "<h1>Log, offset index, time index</h1>" in page_html(at)
    assert place(at) == ("three-files", "2")
    assert "<h1>A log is cut into segments</h1>" in page_html(press_button(at, "kv_back"))


def test_an_address_goes_on_where_it_was_copied():
    """A lesson, a step, and what was answered; what it does not know is passed over."""
    answers = "last-offset.2a three-files.1z nonsense last-offset.99h"
    at = page(lesson="last-offset", at="2", answers=answers)
    assert "<h1>What the entry says</h1>" in page_html(at) and "Key 22 is above 21" in text(at)
    at = page(lesson="no-such-lesson", at="77")
    assert "Lesson 1 of 10, step 5 of 5" in page_html(at)


def test_an_exercise_is_checked():
    """Empty, no number, wrong, right; right is kept and counted."""
    at = page(lesson="three-files", at="3")
    assert '<div class="kv-given">00 00 00 2b 00 00 10 53</div>' in page_html(at)
    assert "kv-judged" not in page_html(at)
    for answer, words in (
        ("43", "Give 2 numbers"),
        ("43 4179", "43 4179 is not right"),
        ("none", "Give 2 numbers"),
    ):
        at = give(at, answer)
        assert "Not yet" in page_html(at) and words in page_html(at)
        assert not query_value(at, "answers")
    at = give(at, "10,948 and 4179")
    assert "<b>Right</b>" in page_html(at) and query_value(at, "answers") == "three-files.3x"
    assert query_value(at, "given") == "10,948 and 4179"
    at = press_button(at, "kv_next")
    assert at.text_input(key="kv_given_three-files_4").value == ""
    assert "given" not in at.query_params
    assert "43 is not right" in page_html(page(lesson="three-files", at="4", given="43"))


RULE_STEP = {"lesson": "binary-search", "at": "3"}


def choose_piece(at: AppTest, place: str, piece: str) -> AppTest:
    """The page after a piece of the rule was chosen."""
    field = at.selectbox(key=f"kv_given_binary-search_3_{place}")
    return assert_no_exception(field.set_value(piece).run())


def test_the_ceiling_is_tried_on_every_slot():
    """The popular answer is wrong and says where; a rule with a gap is not judged; a right one is
    right, and is in the address.
    """
    at = choose_piece(page(**RULE_STEP), "else", "slot + 1")
    assert "Wrong for 7 of 16 targets, such as 6, whose ceiling is slot 0" in page_html(at)
    at = choose_piece(at, "if_0", "slot >= 0 and key(slot) = target")
    assert "kv-judged" not in page_html(at) and "given" not in at.query_params
    at = choose_piece(at, "then_0", "slot")
    assert "Wrong for 2 of 16 targets" in page_html(at)
    at = choose_piece(at, "if_1", "slot + 1 < entries")
    at = choose_piece(at, "then_1", "slot + 1")
    at = choose_piece(at, "else", "none")
    assert "<b>Right</b>" in page_html(at) and query_value(at, "answers") == "binary-search.3x"
    at = page(**RULE_STEP, given=query_value(at, "given"))
    assert "Your rule is right for all 16 targets" in page_html(at)
    assert at.selectbox(key="kv_given_binary-search_3_then_1").value == "slot + 1"


def test_the_rule_of_the_address_is_run_over_the_slots():
    text = page_html(page(given="slot + 1", **RULE_STEP))
    assert "Your rule is wrong for 7 of 16 targets: 5 of the 5 targets equal to a key" in text
    (chart,) = page(given="slot + 1", **RULE_STEP).get("plotly_chart")
    row = "Target: 6, What lookup returns: slot 0, Your rule: slot 1 ✗, Ceiling: slot 0;"
    assert row in chart.proto.alt
    for unread in ("", "slot +"):
        text = page_html(page(given=unread, **RULE_STEP))
        assert "16 targets: find the ceiling, starting at the slot that lookup returns" in text


def test_a_task_whose_answer_is_a_word():
    at = page(lesson="rolls", at="1")
    assert "Not yet" in page_html(give(at, "Size"))
    at = give(at, "Time index")
    assert "<b>Right</b>" in page_html(at)
    assert "The time index is at its limit first" in page_html(at)


def test_chinese():
    at = press_button(page(lesson="rolls", at="1"), "kv_lang_zh")
    assert query_value(at, "lang") == "zh"
    assert "第 7 课，共 10 课 · 第 1 步，共 5 步" in page_html(at)
    assert "<h1>滚动的五个原因</h1>" in page_html(at) and 'lang="zh"' in page_html(at)
    at = give(at, "时间索引")
    assert "<b>正确</b>" in page_html(at)
    at = press_button(at, "kv_lang_en")
    assert "lang" not in at.query_params and "Five reasons" in page_html(at)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_step_draws(language):
    at = page(lang=language)
    for lesson in lessons.lessons(language)[0]:
        for part, step in enumerate(lesson.steps, 1):
            at.query_params["lesson"], at.query_params["at"] = lesson.name, str(part)
            at.query_params["answers"] = f"{lesson.name}.{part}a {lesson.name}.{part}x"
            html = page_html(assert_no_exception(at.run()))
            assert f"<h1>{escape(step.title)}</h1>" in html, (lesson.name, part)
            assert "kv-state" not in html and "kv-reveals" not in html, (lesson.name, part)


def test_teachers_notes_and_timings():
    """The notes without the figure: what to say, from which minute, what comes next, the plan."""
    at = page(lesson="last-offset", at="2", notes="1")
    assert "minute 29.5 to 32 of 118, 2.5 min" in page_html(at)
    assert "KAFKA-6530" in text(at)
    assert "Stepping over batches" in page_html(at)
    assert not at.get("plotly_chart")
    assert [expander.label for expander in at.expander] == ["The whole session in 118 minutes"]
    assert not at.button(key="kv_next").disabled


def test_the_short_track_goes_from_step_to_step():
    """By its own numbers; a lesson from the strip, next, back, the plan and the hand-out have no
    other steps.
    """
    at = page(lesson="last-offset", at="3", track="short", notes="1")
    assert "Lesson 3 of 8, step 3 of 3" in page_html(at)
    assert "minute 15.5 to 18.5 of 45, 3 min" in page_html(at)
    assert [expander.label for expander in at.expander] == ["The whole session in 45 minutes"]
    at = press_button(press_button(at, "kv_notes"), "kv_next")
    assert place(at) == ("binary-search", "1")
    at = press_button(at, "kv_go_7")
    assert place(at) == ("after-a-crash", "5")
    assert "Lesson 8 of 8, step 1 of 1" in page_html(at)
    assert "0 of 20 answered" in page_html(at)
    at = press_button(at, "kv_back")
    assert place(at) == ("rolls", "3")
    at = press_button(at, "kv_paper")
    assert "Lesson 7 of 8 · 4.5 min" in page_html(at)
    assert "Time without a clock" not in page_html(at)


def test_a_link_past_the_short_track_goes_on_in_it():
    at = page(lesson="three-files", at="4", track="short", answers="three-files.4x")
    assert "Lesson 1 of 10, step 4 of 5" in page_html(at)
    at = press_button(at, "kv_next")
    assert place(at) == ("batches", "1")


@pytest.mark.parametrize(("track", "minutes"), [("nonsense", "118 min"), ("short", "45 min")])
def test_the_picker_says_how_long_the_track_is(track, minutes):
    at = page(track=track)
    picker = next(element for element in at if element.type == "menu_button")
    assert picker.label == minutes
    steps = sum(len(lesson.steps) for lesson in lessons.lessons("en")[0])
    assert picker.options == [f"All {steps} steps, 118 minutes", "Short: 18 steps, 45 minutes"]


def test_the_short_track_ends_with_a_page_of_its_own():
    """Four sentences, the homework, and each question of the track with its answer."""
    answers = "three-files.1b three-files.3x after-a-crash.5b"
    at = page(lesson="after-a-crash", at="5", track="short", answers=answers)
    at = press_button(at, "kv_next")
    assert query_value(at, "end") == "1"
    assert say("workshop.finish") in {each.proto.label for each in at.get("menu_button")}
    assert page_html(at).count("<li>") == 4
    row = r"<td[^>]*>(\d+\.\d+) [^<]*</td><td[^>]*>\w+</td><td[^>]*>([✓✗–])"
    rows = re.findall(row, page_html(at))
    assert len(rows) == 20
    assert [row for row in rows if row[1] != "–"] == [("1.1", "✗"), ("1.3", "✓"), ("8.5", "✓")]
    at = press_button(at, "kv_homework")
    assert place(at) == ("binary-search", "3")
    assert "end" not in at.query_params
    html = page_html(page(end="1"))
    assert say("workshop.no_answers") in html and "<td" not in html


def test_the_last_step_has_nothing_behind_it():
    at = page(lesson="still-there", at="10", notes="1")
    assert "The session ends here" in text(at)


def test_a_projector_keeps_the_question_and_holds_nobody_up():
    """By a link, and by a button that stands in the address; the next step is free."""
    at = page(lesson="last-offset", at="1", projector="1")
    assert at.button(key="kv_projector").help == "Leaves the projector view (press F or Esc)"
    assert not at.button(key="kv_next").disabled
    at = press_button(at, "kv_projector")
    assert "projector" not in at.query_params
    assert at.button(key="kv_projector").help.startswith("Enlarges the figure")
    assert query_value(press_button(at, "kv_projector"), "projector") == "1"


def test_the_list_of_pages_is_folded_until_it_is_asked_for():
    at = page()
    assert "kv-folded" in page_html(at)
    at = press_button(at, "kv_fold")
    assert "kv-folded" not in page_html(at)
    assert "kv-folded" in page_html(press_button(at, "kv_fold"))


def test_the_hand_out():
    """Every step of a lesson, boxes to tick, lines to write on; answers only at the end; the figure
    that tells an answer among them.
    """
    at = press_button(page(lesson="last-offset", at="2"), "kv_paper")
    sheet = page_html(at)
    titles = [step.title for step in lesson_text.lesson("last-offset").steps]
    assert all(f"{part} · {title}" in sheet for part, title in enumerate(titles, 1))
    assert sheet.count('class="kv-boxes"') == 2 and sheet.count("Your answer<i>") == 2
    before, _, after = sheet.partition(">Answers</h2>")
    answer = "above 4\u202f096: the offset index gets"
    assert answer in after and answer not in before
    assert "For the teacher" not in sheet and "For the teacher" in page_html(
        press_button(at, "kv_notes")
    )
    assert "<h1>What the entry says</h1>" in page_html(press_button(at, "kv_paper"))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sheet_tells_what_it_asks(language):
    """Of every step, what is printed above its question: not the answer of the exercise, not the
    right choice.
    """
    at = page(lang=language, paper="1")
    answers = []
    for lesson in lessons.lessons(language)[0]:
        at.query_params["lesson"] = lesson.name
        heading = f"\n{text_in(language, 'workshop.answers')}\n"
        sheet, _, _ = on_paper(assert_no_exception(at.run())).partition(heading)
        for part, step in enumerate(lesson.steps, 1):
            assert f"\n{part} · {plain(step.title)}" in sheet
            above = sheet.partition(f"\n{part} · ")[2].partition(f"\n{part + 1} · ")[0]
            for block in step.blocks("predict", "exercise"):
                before, separator, _ = above.partition(plain(block["ask"]))
                assert separator, (lesson.name, part)
                answers += [
                    (lesson.name, part, text)
                    for text in answers_of(block, language)
                    if re.search(rf"(?<!\d){text}(?!\d)", before)
                ]
    assert set(answers) <= OF_ANOTHER_TARGET


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_step_tells_what_it_asks(language):
    """Text, figure and the words of the glossary; and no link leads to a page that shows it."""
    at = page(lang=language)
    told, linked = [], []
    for lesson in lessons.lessons(language)[0]:
        for part, step in enumerate(lesson.steps, 1):
            at.query_params["lesson"], at.query_params["at"] = lesson.name, str(part)
            asks = step.blocks("predict", "exercise")
            shown = plain(unasked_text(assert_no_exception(at.run()), asks))
            told += [
                (lesson.name, part, answer)
                for block in asks
                for answer in answers_of(block, language)
                if re.search(rf"(?<!\d){answer}(?!\d)", shown, re.IGNORECASE)
            ]
            linked += [(lesson.name, part)] * bool(asks and onward_links(at))
    assert set(told) <= OF_ANOTHER_TARGET
    assert linked == []


def unasked_text(at: AppTest, asks: Sequence[LessonBlock]) -> str:
    """All that a step shows and explains, but for its questions and what a reader has to open."""
    to_open = {
        block[name] for block in asks if block.kind == "exercise" for name in ("hint", "solution")
    }
    to_open |= {text for block in asks for text in (block["ask"], f"**{block['ask']}**")}
    to_open |= {str(block["rule"]) for block in asks if block.kind == "exercise"}
    helps = [element.proto.help for element in at.markdown if element.proto.help]
    figures = [element.proto.alt for element in at.get("plotly_chart")]
    texts = [element.value for element in (*at.markdown, *at.code)]
    return "\n".join(
        [page_html(at), *helps, *figures, *(text for text in texts if text not in to_open)]
    )


def answers_of(block: LessonBlock, language: str) -> list[str]:
    """What would answer a question, as it would be printed: long numbers as such, small ones with
    what they count.
    """
    if block.kind == "predict":
        text = "".join(plain(text) for text, is_right in block.choices if is_right)
        others = plain(block["ask"]) + "".join(
            text for text, is_right in block.choices if not is_right
        )
        is_long = len(text) > 8  # a single word of the subject tells nothing
        return [re.escape(text)] * is_long + [
            number for number in re.findall(r"\d{3,}", text) if number not in others
        ]
    task = tasks.task(block)
    counts = {"probe": "slot", "floor": "slot", "time": "offset", "start": "byte"}
    if task.kind != tasks.NUMBERS:
        return [re.escape(str(block["rule"]))] if block["rule"] else []
    name = counts.get(block["of"])
    chinese = {"slot": "槽", "offset": "偏移量", "byte": "字节"}
    unit = name if language == "en" else chinese.get(name)
    return [
        f"{unit} {part}" if name and part < 100 else str(part)
        for part in task.answer
        if name or part >= 100
    ]


def on_paper(at: AppTest) -> str:
    """What is printed, as it is read: a line an element."""
    lines = []

    def walk(block) -> None:
        for child in block.children.values():
            if hasattr(child, "children"):
                walk(child)
            elif child.type in ("html", "markdown") and "kv-boxes" not in child.proto.body:
                lines.append(plain(child.proto.body))

    walk(at.main)
    return "\n".join(lines)


def plain(text: str) -> str:
    """Markdown or HTML without its marks, digits ungrouped."""
    bare = unescape(re.sub(r"<[^>]*>", " ", text)).replace("`", "").replace("**", "")
    return re.sub(r"(?<=\d)[ \u202f](?=\d{3}(?!\d))", "", bare).strip()


def test_start_again():
    """Asks first where there is something to forget, and says how much; then forgets everything."""
    assert all("Forget" not in button.label for button in page(lesson="time", at="3").button)
    at = page(lesson="time", at="3", answers="time.1b time.2x")
    assert at.button(key="kv_reset").label == "Forget them" and "Forget 2 answers?" in text(at)
    assert query_value(at, "answers") == "time.1b time.2x"
    at = press_button(at, "kv_reset")
    assert "Lesson 1 of 10, step 1" in page_html(at) and "0 of 67 answered" in page_html(at)
    assert "answers" not in at.query_params


def test_who_looks_at_another_page_comes_back_to_the_same_step():
    """By the link in the sidebar, which knows nothing of lessons; after starting again there is
    nothing to come back to.
    """
    at = page(lesson="time", at="3", answers="time.1b", lang="zh")
    assert_no_exception(at.switch_page(str(ROOT / "pages" / "health.py")).run())
    for name in ("lesson", "at", "answers"):
        del at.query_params[name]
    at = assert_no_exception(at.switch_page(str(ROOT / "pages" / "workshop.py")).run())
    assert "第 6 课，共 10 课 · 第 3 步" in page_html(at)
    assert (query_value(at, "answers"), query_value(at, "lang")) == ("time.1b", "zh")
    assert "第 1 课" in page_html(assert_no_exception(press_button(at, "kv_reset").run()))


def test_a_lesson_that_is_done_is_marked():
    first = "three-files.1a three-files.2a three-files.3x three-files.4x three-files.5a"
    for answers, label in ((first, "✓ Three files"), (first.replace("4x", "4a"), "Three files")):
        assert page(lesson="time", answers=answers).button(key="kv_go_0").label == label


def test_a_lesson_added_as_a_markdown_file_appears(tmp_path, monkeypatch):
    """While the page is open; a broken one says its line and does no harm."""
    monkeypatch.setenv(lessons.LESSONS, str(tmp_path))
    at = page()
    assert "Lesson 1 of 10" in page_html(at)
    (tmp_path / "tenth.en.md").write_text(GOOD, encoding="utf-8")
    at = press_button(assert_no_exception(at.run()), "kv_go_10")
    assert "Lesson 11 of 11, step 1 of 3" in page_html(at) and "<h1>First</h1>" in page_html(at)
    assert "Some text with `code`." in text(at)
    (tmp_path / "tenth.en.md").write_text(GOOD.replace("target: 21", "targt: 21"), encoding="utf-8")
    at = assert_no_exception(at.run())
    assert "A file is not a valid lesson" in page_html(at)
    assert at.code[0].value.startswith("tenth.en.md:11: a block stepper needs the key target")
    assert "Lesson 1 of 10" in page_html(at)


def test_an_added_lesson_without_short_steps_is_not_counted_in_the_short_track(
    tmp_path, monkeypatch
):
    monkeypatch.setenv(lessons.LESSONS, str(tmp_path))
    (tmp_path / "tenth.en.md").write_text(f"---\norder: 3{GOOD[3:]}", encoding="utf-8")
    crash = {"lesson": "after-a-crash", "at": "5"}
    assert "Lesson 9 of 11, step 5 of" in page_html(page(**crash))
    assert "Lesson 8 of 8, step 1 of 1" in page_html(page(**crash, track="short"))


def test_a_figure_that_cannot_be_drawn_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv(lessons.LESSONS, str(tmp_path))
    broken = GOOD.replace("set: five", "data: kafka-4.3.1-clean\ntp: gone-0")
    (tmp_path / "tenth.en.md").write_text(broken, encoding="utf-8")
    at = page(lesson="tenth")
    assert "This figure cannot be drawn" in page_html(at) and "gone-0" in page_html(at)
    assert "Some text with `code`." in text(at)


@pytest.mark.parametrize(
    ("lesson", "step", "address"),
    [
        ("rolls", 4, {"story": "A full time index", "step": "51"}),
        ("rolls", 1, {"of": "Simulated", "workload": "A day in ten minutes"}),
        ("warm-section", 1, {"pages": "14"}),
        ("warm-section", 3, {"pages": "40"}),
    ],
)
def test_a_figure_goes_on_elsewhere_as_it_is(lesson, step, address):
    """The link to its page has what the figure shows; a stepper that was moved goes on where it
    stands.
    """
    answered = {"lesson": lesson, "at": str(step), "answers": f"{lesson}.{step}a {lesson}.{step}x"}
    assert onward(page(**answered)) == address
    if "step" in address:
        assert onward(page(**answered, step=f"{lesson}_{step}_0.7"))["step"] == "7"
        # where another stepper stood
        assert onward(page(**answered, step=f"{lesson}_3_0.7")) == address


def onward(at: AppTest) -> dict[str, str]:
    """The address that the page of the figure is opened at."""
    (query,) = onward_links(at)
    return dict(parse_qsl(query))


def onward_links(at: AppTest) -> list[str]:
    """The address of each link to a page that shows the figure."""
    begins = ("Open in", "在")
    links = [element.proto for element in at.main.get("page_link")]
    return [link.query_string for link in links if link.label.startswith(begins)]
